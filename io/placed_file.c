/* Written under a temporary name, flushed, renamed (swap_file.h). */
#include "placed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "layout.h"
#include "result_internal.h"

static status io_failure(const char *path, const char *doing, int error) {
  return fail(STATUS_IO, "%s: %s: %s", path, doing, strerror(error));
}

/* Rank 0. */
static status begin(placed_file *f, const void *head, int64_t bytes) {
  status rc = STATUS_OK;
  int ours = 0;
  TRY(swap_open(f->path, &f->swap));
  if (access(f->swap.path, F_OK) == 0) {
    TRY(result_recognise(f->swap.path, &ours));
    if (!ours) {
      rc = fail(STATUS_USAGE, "%s: exists and was not written by halosweep: not replaced", f->path);
      goto done;
    }
  }
  if (snprintf(f->name, sizeof f->name, "%s", f->swap.temporary) >= (int)sizeof f->name) {
    rc = fail(STATUS_IO, "%s: the name is too long", f->path);
    goto done;
  }
  const int error = bytes_write(f->swap.descriptor, head, bytes, 0);
  if (error != 0) rc = io_failure(f->path, "cannot be written", error);
done:
  return rc;
}

status placed_create(comm *c, const char *path, const void *head, int64_t bytes, placed_file *f) {
  status rc = STATUS_OK;
  memset(f, 0, sizeof *f);
  f->c = c;
  f->path = path;
  f->descriptor = f->swap.descriptor = -1;
  TRY(comm_agree(c, comm_rank(c) == 0 ? begin(f, head, bytes) : STATUS_OK));
  TRY(comm_broadcast(c, f->name, sizeof f->name, 0));
  f->descriptor = open(f->name, O_WRONLY | O_CLOEXEC);
  if (f->descriptor < 0) rc = io_failure(path, "cannot be opened by all ranks", errno);
  rc = comm_agree(c, rc);
done:
  return rc;
}

status placed_write(const placed_file *f, const void *data, int64_t bytes, int64_t at) {
  const int error = bytes_write(f->descriptor, data, bytes, at);
  return error == 0 ? STATUS_OK : io_failure(f->path, "cannot be written", error);
}

status placed_commit(placed_file *f, status mine) {
  status rc = mine;
  if (rc == STATUS_OK && fsync(f->descriptor) != 0) {
    rc = io_failure(f->path, "cannot be flushed", errno);
  }
  TRY(comm_agree(f->c, rc));
  rc = comm_agree(f->c, comm_rank(f->c) == 0 ? swap_commit(&f->swap) : STATUS_OK);
done:
  return rc;
}

void placed_release(placed_file *f) {
  if (f->c == NULL) return;
  if (f->descriptor >= 0) close(f->descriptor);
  f->descriptor = -1;
  if (comm_rank(f->c) == 0) swap_discard(&f->swap);
}
