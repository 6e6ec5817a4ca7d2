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

/* Consecutive row blocks. */
typedef struct block_share {
  gidx first, count;
} block_share;

#ifdef __cplusplus
extern "C" {
#endif

/* The row blocks that rank `rank` of `size` weighs: an even run of all ceil(rows / block) of them,
 * in rank order. Local. */
block_share ownership_share(gidx rows, int rank, int size);

/* Cuts the row blocks into `size` runs of about equal weight. weight[b] is the whole weight
 * (entries) of block share.first + b; the ranks' shares cover all blocks, each once, in rank order.
 * A row counts one entry besides its own, so that empty rows weigh something. The cut depends on
 * the weights and the size alone. Collective; memory and messages are of `size` words. */
status ownership_by_weight(comm *c, gidx rows, block_share share, const int64_t *weight,
                           ownership *out);

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
