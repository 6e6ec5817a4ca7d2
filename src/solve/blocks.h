/* The inverse of the block diagonal of a matrix, as a matrix on a backend: blocks of `size`
 * consecutive global rows, the last may be shorter, whoever owns them. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "linear.h"
#include "preconditioner.h"

typedef struct blocks {
  linear_system inverse; /* shares kernels, place, world with the system it was made for */
  vec copy;              /* of r, with room for ghosts: where blocks are split over ranks */
} blocks;

/* STATUS_INPUT naming the rows of a block that is singular. Collective; all ranks leave with the
 * same status. */
status blocks_open(linear_system *s, const preconditioner_request *q, blocks *out);
void blocks_close(linear_system *s, blocks *b); /* local */

/* z = B^-1 r, or where `add`: z += B^-1 r. Collective. */
status blocks_apply(linear_system *s, blocks *b, vec r, int add, vec z);

#endif
