/* Checksums of a distributed array by blocks of its global index. */
#ifndef CHECKPOINT_BLOCKS_H
#define CHECKPOINT_BLOCKS_H

#include <stddef.h>

#include "comm.h"

/* Elements per checksum: half a MiB of doubles. Part of the file format. */
enum { CHECKSUM_BLOCK = 1 << 16 };

/* This rank's run of an array: elements [first, first + count) of `length`. */
typedef struct block_span {
  int64_t length, first, count;
} block_span;

/* The blocks whose first element this rank holds: a contiguous run of all blocks. */
typedef struct block_sums {
  block_span span; /* of the blocks */
  int64_t *sum;    /* [span.count] CRC-32C of the whole block */
} block_sums;

/* Blocks of an array of so many elements. Local. */
int64_t block_sums_count(int64_t length);

/* Makes the sums of the array of which this rank holds `data`. Collective: all ranks leave with the
 * same status. */
status block_sums_make(comm *c, const block_span *span, size_t size, const void *data,
                       block_sums *out);
void block_sums_release(block_sums *b);

/* The part of a file's seal that this rank's blocks make: to be added over ranks, modulo 2^64.
 * Local. */
uint64_t block_sums_seal(const block_sums *b, uint64_t array);

#endif
