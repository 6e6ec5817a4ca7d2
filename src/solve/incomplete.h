/* Incomplete factors without fill, in the order of colours: M = (D + L) D^-1 (D + U) with the
 * pattern of A, equal to A on it. For a symmetric matrix that is IC(0). */
#ifndef INCOMPLETE_H
#define INCOMPLETE_H

#include "colouring.h"
#include "comm.h"
#include "csr.h"
#include "ownership.h"

typedef struct incomplete {
  double *value; /* [entries] L, D and U in the places of A's entries */
  double *pivot; /* [rows] D */
  double shift;  /* A + shift diag(A) was factored; 0: A itself */
  gidx failed;   /* where shift > 0: the row whose pivot failed without it */
} incomplete;

/* a: this rank's rows, every diagonal entry there and not zero (positive with `positive`).
 * positive: a pivot must be positive, otherwise it must not vanish. A pivot below 1e-12 |a_ii| is a
 * breakdown: then the factors of A + shift diag(A) are tried, shift = 1e-3 and doubled until all
 * pivots are good. STATUS_DIVERGED where none is. Collective; all ranks leave with the same status.
 */
status incomplete_make(comm *c, const ownership *owned, const csr_block *a, const colouring *k,
                       int positive, int threads, incomplete *out);
void incomplete_release(incomplete *f); /* local */

#endif
