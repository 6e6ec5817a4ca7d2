/* Who owns which global rows: rank r owns [first[r], first[r + 1]), first has size + 1 entries,
 * every boundary is a multiple of `block`, the sum block (block_sum.h) unless said otherwise, so
 * that a block is never shared, and empty ranks are legal. */
#ifndef OWNERSHIP_H
#define OWNERSHIP_H

#include "comm.h"
#include "index.h"

typedef struct ownership {
  gidx rows;  /* global */
  gidx block; /* what boundaries are multiples of */
  int rank;   /* ours */
  int size;
  gidx *first; /* size + 1 */
} ownership;

#ifdef __cplusplus
extern "C" {
#endif

/* Cuts the row blocks into `size` runs of about equal weight. `weight` has one value per block
 * (ceil(rows / block)), this rank's share of it: the shares are summed here. A row counts one entry
 * besides its own, so that empty rows weigh something. The cut depends on the summed weights and
 * the size alone. Collective. */
status ownership_by_weight(comm *c, gidx rows, int64_t *weight, ownership *out);

/* The same for blocks of equal weight. Local. */
status ownership_even(comm *c, gidx rows, ownership *out);

/* The same with boundaries at multiples of `block`: 1 for planes of a grid. Local. */
status ownership_aligned(comm *c, gidx rows, gidx block, ownership *out);

void ownership_release(ownership *o);

#ifdef __cplusplus
}
#endif

/* The first row, the one past the last, and the number of rows of the calling rank. Local. */
static inline gidx ownership_begin(const ownership *o) { return o->first[o->rank]; }
static inline gidx ownership_end(const ownership *o) { return o->first[o->rank + 1]; }

/* The rank that owns global row gi (0 <= gi < rows), by bisection. Local. */
static inline int ownership_owner(const ownership *o, gidx gi) {
  int low = 0, high = o->size; /* first[low] <= gi < first[high] */
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (o->first[middle] <= gi) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

#endif
