/* Colours of the rows of a matrix: rows that refer to each other, one way or the other, have
 * different colours, so that the rows of one colour can be relaxed, eliminated or solved for at
 * once. Colours are functions of the pattern and of global indices: the same on any number of
 * ranks, threads. */
#ifndef COLOURING_H
#define COLOURING_H

#include "comm.h"
#include "csr.h"
#include "ownership.h"

typedef struct colouring {
  int32_t colours; /* 1 .. longest row of the symmetrised pattern; 0: there are no rows */
  int red_black;   /* by the parity of grid coordinates */
  int32_t *colour; /* [rows + ghosts] of the block: in [0, colours) */
} colouring;

/* a: this rank's rows. symmetric: the pattern is known to be its own transpose. Collective; all
 * ranks leave with the same status. */
status colouring_make(comm *c, const ownership *owned, const csr_block *a, int symmetric,
                      colouring *out);
void colouring_release(colouring *k); /* local */

#endif
