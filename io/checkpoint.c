/* Writing checkpoints (checkpoint_io.h).
 *
 * Rank 0 lays the file out in memory (checkpoint_layout.c), makes the temporary, reserves all of
 * its room, writes HDF5's structures; then every rank writes its run of every item, and of the
 * checksums, to its place: one contiguous piece each. All agree that this is safe on disk before
 * rank 0 writes the closing mark, with the seal, and renames. No call that all ranks must make
 * together touches the disk, so a rank that cannot write keeps nobody waiting.
 * Cost: one pass for the checksums, one for the data. */
#define _GNU_SOURCE /* SEEK_DATA */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "checkpoint_internal.h"
#include "crc32c.h"
#include "fingerprint.h"
#include "swap_file.h"

/* SLACK: room for HDF5's structures, per item. */
enum { PIECE = 1 << 30, COPY = 1 << 16, SLACK = 1 << 14 };

size_t checkpoint_size(checkpoint_type type) { return type == CHECKPOINT_BYTES ? 1 : 8; }

uint64_t checkpoint_seal_item(const checkpoint_item *item) {
  const uint64_t name = crc32c(item->name, strlen(item->name));
  return fingerprint_mix(fingerprint_mix(name << 8 | (uint64_t)item->type) ^
                         (uint64_t)item->length);
}

block_span checkpoint_span(const comm *c, const checkpoint_item *item) {
  if (!item->replicated) return (block_span){item->length, item->first, item->count};
  return (block_span){item->length, 0, comm_rank(c) == 0 ? item->length : 0};
}

int bytes_write(int descriptor, const void *data, int64_t bytes, int64_t at) {
  const char *p = data;
  while (bytes > 0) {
    const ssize_t done = pwrite(descriptor, p, (size_t)(bytes < PIECE ? bytes : PIECE), at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done == 0 || errno == 0 ? EIO : errno;
    p += done;
    at += done;
    bytes -= done;
  }
  return 0;
}

int bytes_read(int descriptor, void *data, int64_t bytes, int64_t at) {
  char *p = data;
  while (bytes > 0) {
    const ssize_t done = pread(descriptor, p, (size_t)(bytes < PIECE ? bytes : PIECE), at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done == 0 || errno == 0 ? EIO : errno;
    p += done;
    at += done;
    bytes -= done;
  }
  return 0;
}

typedef struct writing {
  comm *c;
  const char *path;
  swap_file swap; /* rank 0 */
  char temporary[CHECKPOINT_PATH + 64];
  int descriptor; /* of the temporary, this rank's own */
  checkpoint_place places[CHECKPOINT_ITEMS_MAX];
  uint64_t seal; /* this rank's part */
} writing;

static status say(const writing *w, int why, const char *what) {
  return fail(STATUS_IO, "%s: cannot %s: %s", w->path, what, strerror(why));
}

/* HDF5's structures: what of the file in memory is no hole. */
static status copy_structures(const writing *w, int memory) {
  char buffer[COPY];
  off_t at = lseek(memory, 0, SEEK_DATA);
  while (at >= 0) {
    const off_t end = lseek(memory, at, SEEK_HOLE);
    while (at < end) {
      const int64_t bytes = end - at < COPY ? end - at : COPY;
      int why = bytes_read(memory, buffer, bytes, at);
      if (why == 0) why = bytes_write(w->swap.descriptor, buffer, bytes, at);
      if (why != 0) return say(w, why, "write");
      at += bytes;
    }
    at = lseek(memory, at, SEEK_DATA);
  }
  return errno == ENXIO ? STATUS_OK : say(w, errno, "write");
}

/* Rank 0. */
static status prepare(writing *w, const checkpoint_item *items, int count) {
  status rc = STATUS_OK;
  int memory = -1;
  int64_t size = CHECKPOINT_USER_BLOCK;
  TRY(swap_open(w->path, &w->swap));
  snprintf(w->temporary, sizeof w->temporary, "%s", w->swap.temporary);
  /* the data's room first: the layout is not made of what cannot be written */
  for (int i = 0; i < count; i++) {
    size += items[i].length * (int64_t)checkpoint_size(items[i].type) + SLACK;
  }
  TRY(swap_reserve(&w->swap, size));
  TRY(layout_make(w->path, items, count, w->places, &memory, &size));
  TRY(swap_reserve(&w->swap, size));
  if (ftruncate(w->swap.descriptor, size) != 0) {
    rc = say(w, errno, "write");
    goto done;
  }
  TRY(copy_structures(w, memory));
done:
  if (memory >= 0) close(memory);
  return rc;
}

static status open_own(writing *w) {
  w->descriptor = open(w->temporary, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (w->descriptor >= 0) return STATUS_OK;
  return fail(STATUS_IO, "%s: cannot be opened here: %s (is the folder one that all nodes share?)",
              w->path, strerror(errno));
}

static status put(const writing *w, const block_span *span, size_t size, const void *data,
                  int64_t place) {
  const int64_t width = (int64_t)size;
  const int why =
      bytes_write(w->descriptor, data, span->count * width, place + span->first * width);
  return why == 0 ? STATUS_OK : say(w, why, "write");
}

static status write_item(writing *w, const checkpoint_item *item, const checkpoint_place *place,
                         void *buffer) {
  status rc = STATUS_OK;
  block_sums sums = {.sum = NULL};
  const size_t size = checkpoint_size(item->type);
  const block_span span = checkpoint_span(w->c, item);
  const void *data = item->data;
  if (item->move != NULL) {
    data = buffer;
    TRY(comm_agree(w->c, item->move(item->context, buffer, 1)));
  }
  TRY(block_sums_make(w->c, &span, size, data, &sums));
  rc = put(w, &span, size, data, place->data);
  if (rc == STATUS_OK) rc = put(w, &sums.span, sizeof *sums.sum, sums.sum, place->sums);
  TRY(comm_agree(w->c, rc));
  if (comm_rank(w->c) == 0) w->seal += checkpoint_seal_item(item); /* an empty one counts too */
  w->seal += block_sums_seal(&sums, checkpoint_seal_item(item));
done:
  block_sums_release(&sums);
  return rc;
}

/* This rank's bytes are on disk. */
static status settle_own(writing *w) {
  int why = fsync(w->descriptor) != 0 && errno != EINVAL ? errno : 0;
  if (close(w->descriptor) != 0 && why == 0) why = errno;
  w->descriptor = -1;
  return why == 0 ? STATUS_OK : say(w, why, "make durable");
}

/* Rank 0: the closing mark, last. swap_commit syncs, renames, syncs the folder. */
static status close_file(writing *w, uint64_t seal) {
  char mark[CHECKPOINT_USER_BLOCK] = {0};
  snprintf(mark, sizeof mark, CHECKPOINT_MARK "%016" PRIx64 "\n", seal);
  const int why = bytes_write(w->swap.descriptor, mark, sizeof mark, 0);
  return why == 0 ? swap_commit(&w->swap) : say(w, why, "write");
}

status checkpoint_write(comm *c, const char *path, const checkpoint_item *items, int count,
                        void *buffer) {
  status rc = STATUS_OK;
  writing *w = NULL;
  TRY(comm_agree(c, count > CHECKPOINT_ITEMS_MAX
                        ? fail(STATUS_BUG, "too many items in a checkpoint")
                        : alloc_zeroed(&w, 1, sizeof *w, "checkpoint")));
  w->c = c;
  w->path = path;
  w->descriptor = w->swap.descriptor = -1;
  TRY(comm_agree(c, comm_rank(c) == 0 ? prepare(w, items, count) : STATUS_OK));
  TRY(comm_broadcast(c, w->temporary, sizeof w->temporary, 0));
  TRY(comm_broadcast(c, w->places, sizeof w->places, 0));
  TRY(comm_agree(c, open_own(w)));
  for (int i = 0; i < count; i++) TRY(write_item(w, &items[i], &w->places[i], buffer));
  TRY(comm_agree(c, settle_own(w)));
  int64_t seal = (int64_t)w->seal;
  TRY(comm_sum_i64(c, &seal, 1));
  rc = comm_agree(c, comm_rank(c) == 0 ? close_file(w, (uint64_t)seal) : STATUS_OK);
done:
  if (w != NULL) {
    if (w->descriptor >= 0) close(w->descriptor);
    if (comm_rank(c) == 0) swap_discard(&w->swap);
  }
  alloc_free(&w);
  return rc;
}
