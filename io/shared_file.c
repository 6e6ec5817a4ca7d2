/* Files written by all ranks (shared_file.h).
 *
 * Rank 0 makes the temporary and lays the file out in memory (layout.c): every data set gets its
 * place when it is added, and its room is reserved before. Then each rank writes its runs to their
 * places by plain calls. When all agree that their bytes are on disk, rank 0 adds HDF5's structures
 * and renames. No call that all ranks must make together touches the disk, so a rank that cannot
 * write keeps nobody waiting (a collective HDF5 write would: Open MPI 4.1, measured).
 * Cost: one pass over the data; two small broadcasts per data set. */
#include "shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"

/* Room for HDF5's structures: of the file, and of a data set or an attribute with its groups. */
enum { HEAD = 1 << 16, SLACK = 1 << 14 };

static status say(const shared_file *f, int why, const char *what) {
  return fail(STATUS_IO, "%s: cannot %s: %s", f->path, what, strerror(why));
}

/* Rank 0. */
static status make_room(shared_file *f) {
  if (f->wanted <= f->reserved) return STATUS_OK;
  f->reserved = f->wanted;
  return swap_reserve(&f->swap, f->reserved);
}

/* Rank 0. The room comes first: nothing is laid out that cannot be written. */
static status make_temporary(shared_file *f, int64_t user_block) {
  status rc = STATUS_OK;
  TRY(swap_open(f->path, &f->swap));
  f->wanted = HEAD + user_block;
  TRY(make_room(f));
  TRY(layout_open(f->path, user_block, &f->layout));
done:
  return rc;
}

static status open_own(shared_file *f, const char *temporary) {
  f->descriptor = open(temporary, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (f->descriptor >= 0) return STATUS_OK;
  return fail(STATUS_IO, "%s: cannot be opened here: %s (is the folder one that all nodes share?)",
              f->path, strerror(errno));
}

status shared_create(comm *c, const char *path, int64_t user_block, shared_file *f) {
  status rc = STATUS_OK;
  char *temporary = NULL;
  int64_t bytes = 0;
  *f = (shared_file){.c = c, .descriptor = -1, .swap = {.descriptor = -1}};
  rc = alloc_text(&f->path, path, "file name");
  if (rc == STATUS_OK && comm_rank(c) == 0) rc = make_temporary(f, user_block);
  TRY(comm_agree(c, rc));
  if (comm_rank(c) == 0) bytes = (int64_t)strlen(f->swap.temporary) + 1;
  TRY(comm_broadcast(c, &bytes, sizeof bytes, 0));
  TRY(comm_agree(c, alloc_array(&temporary, bytes, 1, "file name")));
  if (comm_rank(c) == 0) memcpy(temporary, f->swap.temporary, (size_t)bytes);
  TRY(comm_broadcast(c, temporary, bytes, 0));
  TRY(comm_agree(c, open_own(f, temporary)));
done:
  alloc_free(&temporary);
  return rc;
}

status shared_reserve(shared_file *f, int64_t bytes, int64_t sets) {
  status rc = STATUS_OK;
  if (comm_rank(f->c) == 0) {
    const int64_t wanted = f->wanted;
    f->wanted += bytes + sets * SLACK;
    rc = make_room(f);
    f->wanted = wanted; /* they are counted when they are added */
  }
  return comm_agree(f->c, rc);
}

status shared_add_at(shared_file *f, const dataset *set, int64_t at) {
  status rc = STATUS_OK;
  if (comm_rank(f->c) == 0) {
    f->wanted += at + dataset_count(set) * (int64_t)dataset_width(set->type) + SLACK;
    rc = make_room(f);
    layout_release(&f->layout);
    if (rc == STATUS_OK) rc = layout_open_at(f->path, set, at, &f->layout);
  }
  return comm_agree(f->c, rc);
}

status shared_add(shared_file *f, const dataset *set, int64_t *place) {
  status rc = STATUS_OK;
  *place = 0;
  if (comm_rank(f->c) == 0) {
    f->wanted += dataset_count(set) * (int64_t)dataset_width(set->type) + SLACK;
    rc = make_room(f);
    if (rc == STATUS_OK) rc = layout_add(f->layout, set, place);
  }
  TRY(comm_agree(f->c, rc));
  TRY(comm_broadcast(f->c, place, sizeof *place, 0));
done:
  return rc;
}

status shared_attributes(shared_file *f, const attribute *all, int count) {
  status rc = STATUS_OK;
  if (comm_rank(f->c) == 0) {
    f->wanted += (int64_t)count * SLACK;
    rc = make_room(f);
    for (int i = 0; i < count && rc == STATUS_OK; i++) rc = layout_attribute(f->layout, &all[i]);
  }
  return comm_agree(f->c, rc);
}

status shared_text(shared_file *f, const char *name, const char *text) {
  status rc = STATUS_OK;
  if (comm_rank(f->c) == 0) {
    f->wanted += (int64_t)strlen(text) + SLACK;
    rc = make_room(f);
    if (rc == STATUS_OK) rc = layout_text(f->layout, name, text);
  }
  return comm_agree(f->c, rc);
}

status shared_write(const shared_file *f, int64_t place, size_t width, int64_t first, int64_t count,
                    const void *data) {
  const int64_t size = (int64_t)width;
  const int why = bytes_write(f->descriptor, data, count * size, place + first * size);
  return why == 0 ? STATUS_OK : say(f, why, "write");
}

/* EINVAL: a file system that keeps no such promise. */
static int sync_own(const shared_file *f) {
  return fsync(f->descriptor) != 0 && errno != EINVAL ? errno : 0;
}

status shared_sync(const shared_file *f) {
  const int why = sync_own(f);
  return why == 0 ? STATUS_OK : say(f, why, "make durable");
}

status shared_settle(shared_file *f) {
  int why = sync_own(f);
  if (close(f->descriptor) != 0 && why == 0) why = errno;
  f->descriptor = -1;
  return comm_agree(f->c, why == 0 ? STATUS_OK : say(f, why, "make durable"));
}

status shared_close(shared_file *f) {
  status rc = STATUS_OK;
  int64_t size = 0;
  TRY(layout_finish(f->layout, &size));
  f->wanted = size;
  TRY(make_room(f));
  if (ftruncate(f->swap.descriptor, size) != 0) {
    rc = say(f, errno, "write");
    goto done;
  }
  TRY(layout_copy(f->layout, f->swap.descriptor));
done:
  return rc;
}

void shared_release(shared_file *f) {
  if (f->c == NULL) return;
  if (f->descriptor >= 0) close(f->descriptor);
  layout_release(&f->layout);
  if (comm_rank(f->c) == 0) swap_discard(&f->swap);
  alloc_free(&f->path);
  *f = (shared_file){.descriptor = -1};
}
