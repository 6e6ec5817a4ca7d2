/* What the writer and the reader of checkpoints share. */
#ifndef CHECKPOINT_INTERNAL_H
#define CHECKPOINT_INTERNAL_H

#include "checkpoint_blocks.h"
#include "checkpoint_io.h"

/* The closing mark, in the user block in front of the HDF5 structures: these words and the seal in
 * 16 hex digits, then a line end and zeros. Another layout gets another number. */
#define CHECKPOINT_OURS "halosweep checkpoint "
#define CHECKPOINT_MARK CHECKPOINT_OURS "1 complete "
enum { CHECKPOINT_USER_BLOCK = 512, CHECKPOINT_NAME = 200, CHECKPOINT_ITEMS_MAX = 64 };

/* Where an item and its checksums begin in the file, in bytes. */
typedef struct checkpoint_place {
  int64_t data, sums, length;
} checkpoint_place;

/* An item's part of the seal beside its blocks: name, type, length. */
uint64_t checkpoint_seal_item(const checkpoint_item *item);

/* This rank's run of an item: all of a replicated one on rank 0, nothing on others. */
block_span checkpoint_span(const comm *c, const checkpoint_item *item);

/* checkpoint_layout.c; local, rank 0.
 * layout_make: HDF5's structures for these items, in a file in memory that has holes where the data
 * go; *memory is its descriptor, *size the file's size. layout_find: the same places in an existing
 * file; replicated items' lengths are taken from it. */
status layout_make(const char *path, const checkpoint_item *items, int count,
                   checkpoint_place *places, int *memory, int64_t *size);
status layout_find(const char *path, checkpoint_item *items, int count, checkpoint_place *places);

/* Whole transfers at a place of an open file; 0, or errno. Local. */
int bytes_write(int descriptor, const void *data, int64_t bytes, int64_t at);
int bytes_read(int descriptor, void *data, int64_t bytes, int64_t at);

#endif
