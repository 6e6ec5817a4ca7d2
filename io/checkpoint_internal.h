/* What the writer and the reader of checkpoints share. */
#ifndef CHECKPOINT_INTERNAL_H
#define CHECKPOINT_INTERNAL_H

#include "checkpoint_blocks.h"
#include "checkpoint_io.h"

/* The closing mark: the root attribute `format`, these words and the seal in 16 hex digits. Another
 * layout gets another number. */
#define CHECKPOINT_MARK "halosweep checkpoint 1 complete "

enum { CHECKPOINT_NAME = 200 };

/* Where the checksums of an item are. */
void checkpoint_sums_name(const char *item, char out[CHECKPOINT_NAME]);

h5_type checkpoint_h5_type(checkpoint_type type);

/* An item's part of the seal beside its blocks: name, type, length. */
uint64_t checkpoint_seal_item(const checkpoint_item *item);

/* This rank's run of an item: all of a replicated one on rank 0, nothing on others. Collective. */
status checkpoint_span(comm *c, const checkpoint_item *item, h5_span *out);

#endif
