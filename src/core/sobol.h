/* The tables of randomised Sobol sequences. */
#ifndef SOBOL_H
#define SOBOL_H

#include "quad_sobol.h"

enum { SOBOL_DIMS = 10, SOBOL_REPLICATES = 16 };

/* Columns of direction d before any scrambling: column[SOBOL_COLUMNS]. Local. */
void sobol_directions(int d, uint64_t *column);

/* The words of one direction of one replicate: scrambled columns, then the shift;
 * table[SOBOL_STRIDE]. A function of (seed, replicate, d). Local. */
void sobol_scramble(uint64_t seed, int replicate, int d, uint64_t *table);

#endif
