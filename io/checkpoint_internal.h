/* What the writer and the reader of checkpoints share. */
#ifndef CHECKPOINT_INTERNAL_H
#define CHECKPOINT_INTERNAL_H

#include "checkpoint_blocks.h"
#include "checkpoint_io.h"
#include "layout.h"

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

/* The data set of an item's checksums. */
void checkpoint_sums_name(const char *item, char out[CHECKPOINT_NAME]);

/* Where the items of an existing file lie; replicated items' lengths are taken from it. Local, rank
 * 0. */
status checkpoint_find(const char *path, checkpoint_item *items, int count,
                       checkpoint_place *places);

#endif
