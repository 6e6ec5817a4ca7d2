/* Writing checkpoints (checkpoint_io.h): a shared file (shared_file.c) in which every item has its
 * data and the checksums of its blocks, and a closing mark in front. Every rank writes its run of
 * each; when all agree that this is safe on disk, rank 0 adds the structures and the mark with the
 * seal, and renames. Cost: one pass for the checksums, one for the data. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "checkpoint_internal.h"
#include "crc32c.h"
#include "fingerprint.h"
#include "shared_file.h"

size_t checkpoint_size(checkpoint_type type) { return dataset_width((dataset_type)type); }

uint64_t checkpoint_seal_item(const checkpoint_item *item) {
  const uint64_t name = crc32c(item->name, strlen(item->name));
  return fingerprint_mix(fingerprint_mix(name << 8 | (uint64_t)item->type) ^
                         (uint64_t)item->length);
}

block_span checkpoint_span(const comm *c, const checkpoint_item *item) {
  if (!item->replicated) return (block_span){item->length, item->first, item->count};
  return (block_span){item->length, 0, comm_rank(c) == 0 ? item->length : 0};
}

typedef struct writing {
  comm *c;
  shared_file file;
  uint64_t seal; /* this rank's part */
} writing;

/* A new data set, and this rank's run of it. */
static status put(writing *w, const char *name, dataset_type type, const block_span *span,
                  const void *data) {
  status rc = STATUS_OK;
  int64_t place;
  const dataset set = {.name = name, .type = type, .dims = 1, .extent = {span->length}};
  TRY(shared_add(&w->file, &set, &place));
  TRY(comm_agree(
      w->c, shared_write(&w->file, place, dataset_width(type), span->first, span->count, data)));
done:
  return rc;
}

static status write_item(writing *w, const checkpoint_item *item, void *buffer) {
  status rc = STATUS_OK;
  char name[CHECKPOINT_NAME];
  block_sums sums = {.sum = NULL};
  const block_span span = checkpoint_span(w->c, item);
  const void *data = item->data;
  if (item->move != NULL) {
    data = buffer;
    TRY(comm_agree(w->c, item->move(item->context, buffer, 1)));
  }
  TRY(block_sums_make(w->c, &span, checkpoint_size(item->type), data, &sums));
  TRY(put(w, item->name, (dataset_type)item->type, &span, data));
  checkpoint_sums_name(item->name, name);
  TRY(put(w, name, DATASET_I64, &sums.span, sums.sum));
  if (comm_rank(w->c) == 0) w->seal += checkpoint_seal_item(item); /* an empty one counts too */
  w->seal += block_sums_seal(&sums, checkpoint_seal_item(item));
done:
  block_sums_release(&sums);
  return rc;
}

/* Rank 0: the closing mark, last. swap_commit syncs, renames, syncs the folder. */
static status close_file(writing *w, uint64_t seal) {
  status rc = STATUS_OK;
  char mark[CHECKPOINT_USER_BLOCK] = {0};
  snprintf(mark, sizeof mark, CHECKPOINT_MARK "%016" PRIx64 "\n", seal);
  TRY(shared_close(&w->file));
  const int why = bytes_write(w->file.swap.descriptor, mark, sizeof mark, 0);
  if (why != 0) return fail(STATUS_IO, "%s: cannot write: %s", w->file.path, strerror(why));
  rc = swap_commit(&w->file.swap);
done:
  return rc;
}

/* The room of all items at once. */
static status reserve(writing *w, const checkpoint_item *items, int count) {
  int64_t bytes = 0;
  for (int i = 0; i < count; i++) {
    bytes += items[i].length * (int64_t)checkpoint_size(items[i].type) +
             block_sums_count(items[i].length) * (int64_t)sizeof(int64_t);
  }
  return shared_reserve(&w->file, bytes, 2 * (int64_t)count);
}

status checkpoint_write(comm *c, const char *path, const checkpoint_item *items, int count,
                        void *buffer) {
  status rc = STATUS_OK;
  writing w = {.c = c};
  TRY(shared_create(c, path, CHECKPOINT_USER_BLOCK, &w.file));
  TRY(reserve(&w, items, count));
  for (int i = 0; i < count; i++) TRY(write_item(&w, &items[i], buffer));
  TRY(shared_settle(&w.file));
  int64_t seal = (int64_t)w.seal;
  TRY(comm_sum_i64(c, &seal, 1));
  rc = comm_agree(c, comm_rank(c) == 0 ? close_file(&w, (uint64_t)seal) : STATUS_OK);
done:
  shared_release(&w.file);
  return rc;
}
