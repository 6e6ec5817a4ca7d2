/* vector_write (matrix_io.h). Every line has the same length (25 bytes), so each rank writes its
 * own part where it belongs, a mebibyte at a time; nothing is gathered. Written under a temporary
 * name, flushed, renamed (swap_file.h): the target is complete or untouched. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "file_name.h"
#include "matrix_io.h"
#include "swap_file.h"

enum { LINE_BYTES = 25, BLOCK_LINES = 40000, HEAD_BYTES = 160, NAME_BYTES = 4096 };

static const char our_mark[] = "written by halosweep";

/* What all ranks need to know to write. */
typedef struct target {
  char name[NAME_BYTES]; /* temporary */
  int64_t head_bytes;
} target;

static status io_failure(const char *path, const char *doing) {
  return fail(STATUS_IO, "%s: %s: %s", path, doing, strerror(errno));
}

static status write_all(int file, const char *path, const char *text, int64_t count, int64_t at) {
  while (count > 0) {
    ssize_t n = pwrite(file, text, (size_t)count, at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_failure(path, "cannot be written");
    text += n;
    count -= n;
    at += n;
  }
  return STATUS_OK;
}

/* An existing file is replaced only if it is one of ours. */
static status check_replace(const char *path) {
  char head[HEAD_BYTES + 1] = "";
  struct stat facts;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENOENT) return STATUS_OK;
  if (file < 0) return io_failure(path, "cannot be replaced");
  ssize_t n = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) ? read(file, head, HEAD_BYTES) : 0;
  close(file);
  if (n > 0 && strstr(head, our_mark) != NULL) return STATUS_OK;
  return fail(STATUS_USAGE, "%s: exists and was not written by halosweep: not replaced", path);
}

/* Rank 0: the temporary file with its head. */
static status begin(const char *path, gidx rows, swap_file *swap, target *out) {
  status rc = STATUS_OK;
  char head[HEAD_BYTES];
  TRY(swap_open(path, swap));
  TRY(check_replace(swap->path));
  int length = file_name_ends(path, ".mtx")
                   ? snprintf(head, sizeof head,
                              "%%%%MatrixMarket matrix array real general\n%% %s\n%" PRId64 " 1\n",
                              our_mark, rows)
                   : snprintf(head, sizeof head, "# %s\n", our_mark);
  out->head_bytes = length;
  length = snprintf(out->name, sizeof out->name, "%s", swap->temporary);
  if (length >= (int)sizeof out->name) {
    rc = fail(STATUS_IO, "%s: the name is too long", path);
    goto done;
  }
  rc = write_all(swap->descriptor, path, head, out->head_bytes, 0);
done:
  return rc;
}

static status write_part(const char *path, const target *t, const ownership *owned,
                         const double *values) {
  status rc = STATUS_OK;
  const gidx first = ownership_begin(owned), rows = ownership_end(owned) - first;
  char *text = NULL;
  int file = open(t->name, O_WRONLY | O_CLOEXEC);
  if (file < 0) {
    rc = io_failure(path, "cannot be opened by all ranks");
    goto done;
  }
  TRY(alloc_array(&text, BLOCK_LINES * LINE_BYTES + 1, 1, "text to write"));
  for (gidx at = 0; at < rows; at += BLOCK_LINES) {
    int64_t lines = rows - at < BLOCK_LINES ? rows - at : BLOCK_LINES;
    for (int64_t i = 0; i < lines; i++) {
      snprintf(text + i * LINE_BYTES, LINE_BYTES + 1, "%24.17g\n", values[at + i]);
    }
    TRY(write_all(file, path, text, lines * LINE_BYTES, t->head_bytes + (first + at) * LINE_BYTES));
  }
  if (fsync(file) != 0) rc = io_failure(path, "cannot be flushed");
done:
  if (file >= 0 && close(file) != 0 && rc == STATUS_OK) rc = io_failure(path, "cannot be closed");
  alloc_free(&text);
  return rc;
}

status vector_write(comm *c, const char *path, const ownership *owned, const double *values) {
  status rc = STATUS_OK;
  target t;
  swap_file swap = {.descriptor = -1};
  const int speaks = comm_rank(c) == 0;
  memset(&t, 0, sizeof t);
  if (speaks) rc = begin(path, owned->rows, &swap, &t);
  TRY(comm_agree(c, rc));
  TRY(comm_broadcast(c, &t, sizeof t, 0));
  rc = write_part(path, &t, owned, values);
  TRY(comm_agree(c, rc));
  rc = comm_agree(c, speaks ? swap_commit(&swap) : STATUS_OK);
done:
  if (speaks) swap_discard(&swap);
  return rc;
}
