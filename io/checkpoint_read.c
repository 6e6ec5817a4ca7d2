/* Reading checkpoints (checkpoint_io.h). Rank 0 looks at the closing mark and, alone, at HDF5's
 * structures, which say where things lie; then all ranks read their runs, whatever ranks wrote
 * them, make the checksums again and compare: with the table block by block, to say where the
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

typedef struct reading {
  comm *c;
  const char *path;
  int descriptor; /* this rank's own */
  checkpoint_place places[CHECKPOINT_ITEMS_MAX];
  uint64_t expected, seal; /* the file's, and this rank's part of what is found */
} reading;

/* The mark says: ours, this layout, complete. */
static status check_mark(reading *r) {
  char mark[CHECKPOINT_USER_BLOCK + 1] = {0}, *end = NULL;
  const size_t words = sizeof CHECKPOINT_MARK - 1;
  int ours = bytes_read(r->descriptor, mark, CHECKPOINT_USER_BLOCK, 0) == 0;
  mark[strcspn(mark, "\n")] = '\0';
  if (!ours || strncmp(mark, CHECKPOINT_OURS, sizeof CHECKPOINT_OURS - 1) != 0) {
    return fail(STATUS_IO, "%s: no closing mark: not a checkpoint, or not a complete one", r->path);
  }
  if (strncmp(mark, CHECKPOINT_MARK, words) != 0) {
    return fail(STATUS_IO, "%s: format '%.40s', this halosweep reads '%.22s'", r->path, mark,
                CHECKPOINT_MARK);
  }
  r->expected = strtoull(mark + words, &end, 16);
  if (strlen(mark + words) == 16 && *end == '\0') return STATUS_OK;
  return fail(STATUS_IO, "%s: the closing mark is damaged", r->path);
}

static status open_own(reading *r) {
  struct stat found;
  r->descriptor = open(r->path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (r->descriptor < 0) {
    return fail(STATUS_IO, "%s: cannot be opened: %s", r->path, strerror(errno));
  }
  if (fstat(r->descriptor, &found) == 0 && S_ISREG(found.st_mode)) return STATUS_OK;
  return fail(STATUS_IO, "%s: not a regular file", r->path);
}

/* Opens the file on all ranks and tells all where its items lie. */
static status open_together(reading *r, checkpoint_item *items, int count) {
  status rc = STATUS_OK;
  comm *c = r->c;
  TRY(checkpoint_settle(c, open_own(r)));
  if (comm_rank(c) == 0) rc = check_mark(r);
  if (comm_rank(c) == 0 && rc == STATUS_OK) rc = checkpoint_find(r->path, items, count, r->places);
  TRY(checkpoint_settle(c, rc == STATUS_INPUT ? STATUS_IO : rc));
  TRY(comm_broadcast(c, r->places, sizeof r->places, 0));
  TRY(comm_broadcast(c, &r->expected, sizeof r->expected, 0));
  for (int i = 0; i < count; i++) {
    checkpoint_item *item = &items[i];
    const int64_t length = r->places[i].length;
    if (item->resize != NULL) {
      TRY(checkpoint_settle(c, item->resize(item->context, item, length)));
    }
    if (item->replicated || item->resize != NULL) item->length = length;
  }
done:
  return rc;
}

static status get(const reading *r, const checkpoint_item *item, const block_span *span,
                  size_t size, void *data, int64_t place) {
  const int64_t width = (int64_t)size;
  const int why = bytes_read(r->descriptor, data, span->count * width, place + span->first * width);
  if (why == 0) return STATUS_OK;
  return fail(STATUS_IO, "%s: cannot read %s: %s", r->path, item->name, strerror(why));
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

/* Reads this rank's run into `data` and proves it. */
static status read_part(reading *r, const checkpoint_item *item, const checkpoint_place *place,
                        void *data) {
  status rc = STATUS_OK;
  const block_span span = checkpoint_span(r->c, item);
  const size_t size = checkpoint_size(item->type);
  block_sums sums = {.sum = NULL};
  int64_t *stored = NULL;
  TRY(checkpoint_settle(r->c, get(r, item, &span, size, data, place->data)));
  TRY(block_sums_make(r->c, &span, size, data, &sums));
  rc = alloc_array(&stored, sums.span.count, sizeof *stored, "checksums");
  if (rc == STATUS_OK) rc = get(r, item, &sums.span, sizeof *stored, stored, place->sums);
  if (rc == STATUS_OK) rc = compare(r->path, item, &sums, stored);
  TRY(checkpoint_settle(r->c, rc));
  if (comm_rank(r->c) == 0) r->seal += checkpoint_seal_item(item);
  r->seal += block_sums_seal(&sums, checkpoint_seal_item(item));
done:
  alloc_free(&stored);
  block_sums_release(&sums);
  return rc;
}

/* A replicated item: an array of its own on every rank (a text gets its end), read by rank 0. */
static status read_replicated(reading *r, checkpoint_item *item, const checkpoint_place *place) {
  status rc = STATUS_OK;
  const size_t size = checkpoint_size(item->type);
  item->data = NULL;
  TRY(checkpoint_settle(r->c, alloc_zeroed(&item->data, item->length + 1, size, item->name)));
  TRY(read_part(r, item, place, item->data));
  TRY(comm_broadcast(r->c, item->data, item->length * (int64_t)size, 0));
done:
  return rc;
}

static status read_distributed(reading *r, const checkpoint_item *item,
                               const checkpoint_place *place, void *buffer) {
  status rc = STATUS_OK;
  TRY(read_part(r, item, place, item->move != NULL ? buffer : item->data));
  if (item->move != NULL) {
    rc = checkpoint_settle(r->c, item->move(item->context, buffer, 0));
  }
done:
  return rc;
}

static status check_seal(const reading *r) {
  int64_t sum = (int64_t)r->seal;
  status rc = comm_sum_i64(r->c, &sum, 1);
  if (rc != STATUS_OK || (uint64_t)sum == r->expected) return rc;
  return fail(STATUS_IO, "%s: the seal does not fit its content", r->path);
}

static status start(comm *c, const char *path, reading **out) {
  status rc = checkpoint_settle(c, alloc_zeroed(out, 1, sizeof **out, "checkpoint"));
  if (rc != STATUS_OK) return rc;
  (*out)->c = c;
  (*out)->path = path;
  (*out)->descriptor = -1;
  return rc;
}

static void end(reading **r) {
  if (*r != NULL && (*r)->descriptor >= 0) close((*r)->descriptor);
  alloc_free(r);
}

status checkpoint_read(comm *c, const char *path, checkpoint_item *items, int count, void *buffer) {
  status rc = STATUS_OK;
  reading *r = NULL;
  for (int i = 0; i < count; i++) {
    if (items[i].replicated) items[i].data = NULL;
  }
  if (count > CHECKPOINT_ITEMS_MAX) return fail(STATUS_BUG, "too many items in a checkpoint");
  TRY(start(c, path, &r));
  TRY(open_together(r, items, count));
  for (int i = 0; i < count; i++) {
    if (items[i].replicated) {
      TRY(read_replicated(r, &items[i], &r->places[i]));
    } else {
      TRY(read_distributed(r, &items[i], &r->places[i], buffer));
    }
  }
  TRY(check_seal(r));
done:
  end(&r);
  for (int i = 0; rc != STATUS_OK && i < count; i++) {
    if (items[i].replicated) alloc_free(&items[i].data);
  }
  return rc;
}

status checkpoint_text(comm *c, const char *path, const char *name, char **text) {
  status rc = STATUS_OK;
  reading *r = NULL;
  checkpoint_item item = {.name = name, .type = CHECKPOINT_BYTES, .replicated = 1};
  *text = NULL;
  TRY(start(c, path, &r));
  TRY(open_together(r, &item, 1));
  TRY(read_replicated(r, &item, &r->places[0]));
  *text = item.data;
  item.data = NULL;
done:
  end(&r);
  alloc_free(&item.data);
  return rc;
}

status checkpoint_recognise(comm *c, const char *path, int *yes) {
  char mark[sizeof CHECKPOINT_OURS] = {0};
  int64_t found = 0;
  FILE *file = comm_rank(c) == 0 ? fopen(path, "rb") : NULL;
  if (file != NULL) {
    found = fread(mark, 1, sizeof mark - 1, file) == sizeof mark - 1 &&
            strcmp(mark, CHECKPOINT_OURS) == 0;
    fclose(file);
  }
  status rc = comm_broadcast(c, &found, sizeof found, 0);
  *yes = found != 0;
  return rc;
}
