/* Reading checkpoints (checkpoint_io.h). Rank 0 looks at the file alone first, so that a wrong file
 * is one rank's plain error and not a failing collective; then all read their parts, whatever ranks
 * wrote them, make the checksums again and compare: with the table block by block, to say where the
 * damage is, and all together with the seal. HDF5's plug-ins are off (h5_start): a file cannot name
 * code to be loaded. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "checkpoint_internal.h"
#include "h5.h"
#include "result_internal.h"

enum { TEXT_MAX = 1024 };

status checkpoint_settle(comm *c, status mine) {
  status rc = STATUS_OK;
  int64_t failing = mine == STATUS_OK ? 0 : comm_size(c) - comm_rank(c);
  char text[TEXT_MAX];
  TRY(comm_max_i64(c, &failing, 1));
  if (failing == 0) goto done;
  const int root = comm_size(c) - (int)failing;
  int64_t code = mine;
  snprintf(text, sizeof text, "%s", fail_text());
  TRY(comm_broadcast(c, &code, sizeof code, root));
  TRY(comm_broadcast(c, text, sizeof text, root));
  fail_clear();
  return fail((status)code, "%s", text);
done:
  return rc;
}

/* Damage is an I/O failure, whatever the layer below called it. */
static status damaged(status rc) { return rc == STATUS_INPUT ? STATUS_IO : rc; }

/* The mark says: ours, this layout, complete. */
static status check_mark(hid_t file, const char *path, uint64_t *seal) {
  static const char ours[] = "halosweep checkpoint ";
  char *mark = NULL, *end;
  status rc = h5_read_text(file, path, RESULT_MARK, &mark);
  if (rc != STATUS_OK) {
    fail_clear();
    rc = fail(STATUS_IO, "%s: no closing mark: not a checkpoint, or not a complete one", path);
  } else if (strncmp(mark, ours, sizeof ours - 1) != 0) {
    rc = fail(STATUS_IO, "%s: not a checkpoint (its format is '%.40s')", path, mark);
  } else if (strncmp(mark, CHECKPOINT_MARK, sizeof CHECKPOINT_MARK - 1) != 0) {
    rc = fail(STATUS_IO, "%s: format '%.40s', this halosweep reads '%.22s'", path, mark,
              CHECKPOINT_MARK);
  } else {
    const char *digits = mark + sizeof CHECKPOINT_MARK - 1;
    *seal = strtoull(digits, &end, 16);
    if (strlen(digits) != 16 || *end != '\0') {
      rc = fail(STATUS_IO, "%s: the closing mark is damaged", path);
    }
  }
  alloc_free(&mark);
  return rc;
}

/* Names, types and sizes, by rank 0; replicated items get their length. */
static status check_items(hid_t file, const char *path, checkpoint_item *items, int count) {
  char sums[CHECKPOINT_NAME];
  for (int i = 0; i < count; i++) {
    checkpoint_item *item = &items[i];
    const int64_t length = h5_length(file, item->name, checkpoint_h5_type(item->type));
    if (length < 0) return fail(STATUS_IO, "%s: %s is missing or damaged", path, item->name);
    if (item->replicated) item->length = length;
    if (length != item->length) {
      return fail(STATUS_IO, "%s: %s has %lld numbers, expected %lld", path, item->name,
                  (long long)length, (long long)item->length);
    }
    checkpoint_sums_name(item->name, sums);
    if (h5_length(file, sums, H5_I64) != block_sums_count(length)) {
      return fail(STATUS_IO, "%s: the checksums of %s are missing or damaged", path, item->name);
    }
  }
  return STATUS_OK;
}

static status examine(const char *path, checkpoint_item *items, int count, uint64_t *seal) {
  struct stat found;
  hid_t file = -1;
  status rc = STATUS_OK;
  if (stat(path, &found) != 0) return fail(STATUS_IO, "%s: %s", path, strerror(errno));
  if (!S_ISREG(found.st_mode)) return fail(STATUS_IO, "%s: not a regular file", path);
  TRY(h5_start());
  TRY(h5_open_alone(path, H5F_ACC_RDONLY, STATUS_IO, &file));
  TRY(check_mark(file, path, seal));
  TRY(check_items(file, path, items, count));
done:
  if (file >= 0) H5Fclose(file);
  return damaged(rc);
}

/* Every rank must be able to open the file before all do so together (h5_open). */
static status can_open(const char *path) {
  status rc = h5_start();
  int descriptor = rc == STATUS_OK ? open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC) : -1;
  if (rc == STATUS_OK && descriptor < 0) {
    rc = fail(STATUS_IO, "%s: cannot be opened: %s", path, strerror(errno));
  }
  if (descriptor >= 0) close(descriptor);
  return rc;
}

/* Rank 0's look, its findings to all, and the file opened by all. */
static status open_together(comm *c, const char *path, checkpoint_item *items, int count,
                            uint64_t *seal, hid_t *file) {
  status rc = STATUS_OK;
  *file = -1;
  TRY(checkpoint_settle(c, comm_rank(c) == 0 ? examine(path, items, count, seal) : can_open(path)));
  TRY(comm_broadcast(c, seal, sizeof *seal, 0));
  for (int i = 0; i < count; i++) {
    if (items[i].replicated) {
      TRY(comm_broadcast(c, &items[i].length, sizeof items[i].length, 0));
    }
  }
  TRY(checkpoint_settle(c, damaged(h5_open(c, path, file))));
done:
  return rc;
}

static status compare(const char *path, const checkpoint_item *item, const block_sums *made,
                      const int64_t *stored) {
  for (int64_t k = 0; k < made->span.count; k++) {
    if (made->sum[k] == stored[k]) continue;
    const int64_t begin = (made->span.first + k) * CHECKSUM_BLOCK;
    const int64_t end = begin + CHECKSUM_BLOCK;
    return fail(STATUS_IO, "%s: %s is damaged: wrong checksum of elements %lld to %lld", path,
                item->name, (long long)begin, (long long)(end < item->length ? end : item->length));
  }
  return STATUS_OK;
}

/* Reads this rank's part into `data` and proves it. */
static status read_part(comm *c, hid_t file, const char *path, const checkpoint_item *item,
                        const h5_span *span, void *data, uint64_t *seal) {
  status rc = STATUS_OK;
  const h5_type type = checkpoint_h5_type(item->type);
  char name[CHECKPOINT_NAME];
  block_sums sums = {.sum = NULL};
  int64_t *stored = NULL;
  TRY(checkpoint_settle(c, h5_read_span(file, path, item->name, type, span, data, H5_ROUND)));
  TRY(block_sums_make(c, span, checkpoint_size(item->type), data, &sums));
  TRY(checkpoint_settle(c, alloc_array(&stored, sums.span.count, sizeof *stored, "checksums")));
  checkpoint_sums_name(item->name, name);
  TRY(checkpoint_settle(c, h5_read_span(file, path, name, H5_I64, &sums.span, stored, H5_ROUND)));
  TRY(checkpoint_settle(c, compare(path, item, &sums, stored)));
  *seal += block_sums_seal(&sums, checkpoint_seal_item(item));
done:
  alloc_free(&stored);
  block_sums_release(&sums);
  return damaged(rc);
}

/* A replicated item: an array of its own on every rank (a text gets its end), read by rank 0. */
static status read_replicated(comm *c, hid_t file, const char *path, checkpoint_item *item,
                              uint64_t *seal) {
  status rc = STATUS_OK;
  const size_t size = checkpoint_size(item->type);
  h5_span span;
  item->data = NULL;
  TRY(checkpoint_settle(c, alloc_zeroed(&item->data, item->length + 1, size, item->name)));
  TRY(checkpoint_span(c, item, &span));
  TRY(read_part(c, file, path, item, &span, item->data, seal));
  TRY(comm_broadcast(c, item->data, item->length * (int64_t)size, 0));
done:
  return rc;
}

static status read_distributed(comm *c, hid_t file, const char *path, const checkpoint_item *item,
                               void *buffer, uint64_t *seal) {
  status rc = STATUS_OK;
  h5_span span;
  TRY(checkpoint_span(c, item, &span));
  TRY(read_part(c, file, path, item, &span, item->move != NULL ? buffer : item->data, seal));
  if (item->move != NULL) TRY(checkpoint_settle(c, item->move(item->context, buffer, 0)));
done:
  return rc;
}

static status check_seal(comm *c, const char *path, uint64_t mine, uint64_t expected) {
  int64_t sum = (int64_t)mine;
  status rc = comm_sum_i64(c, &sum, 1);
  if (rc != STATUS_OK || (uint64_t)sum == expected) return rc;
  return fail(STATUS_IO, "%s: the seal does not fit its content", path);
}

status checkpoint_read(comm *c, const char *path, checkpoint_item *items, int count, void *buffer) {
  status rc = STATUS_OK;
  hid_t file = -1;
  uint64_t expected = 0, seal = 0;
  for (int i = 0; i < count; i++) {
    if (items[i].replicated) items[i].data = NULL;
  }
  TRY(open_together(c, path, items, count, &expected, &file));
  for (int i = 0; i < count; i++) {
    if (items[i].replicated) {
      TRY(read_replicated(c, file, path, &items[i], &seal));
    } else {
      TRY(read_distributed(c, file, path, &items[i], buffer, &seal));
    }
  }
  TRY(check_seal(c, path, seal, expected));
done:
  if (file >= 0) H5Fclose(file);
  for (int i = 0; rc != STATUS_OK && i < count; i++) {
    if (items[i].replicated) alloc_free(&items[i].data);
  }
  return rc;
}

status checkpoint_text(comm *c, const char *path, const char *name, char **text) {
  status rc = STATUS_OK;
  hid_t file = -1;
  uint64_t expected = 0, seal = 0;
  checkpoint_item item = {.name = name, .type = CHECKPOINT_BYTES, .replicated = 1};
  *text = NULL;
  TRY(open_together(c, path, &item, 1, &expected, &file));
  TRY(read_replicated(c, file, path, &item, &seal));
  *text = item.data;
  item.data = NULL;
done:
  if (file >= 0) H5Fclose(file);
  alloc_free(&item.data);
  return rc;
}
