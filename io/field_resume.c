/* Saved times of the run that a checkpoint was written by, for the run that goes on (field_io.h).
 *
 * A killed run leaves its temporary, with all times that its last checkpoint counts on durable at
 * the places that field_place gives. A run that ended in order has left the file itself. Either is
 * read by plain calls, each rank its own planes, and never written to: copying keeps the old times
 * safe until the new file is complete. Every time is proved by its fingerprint. Cost: one read and
 * one write of the copied times. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "field_internal.h"
#include "fingerprint.h"
#include "h5.h"

/* The temporary lies beside the file that the path leads to. Rank 0 knows where that is. */
static status beside(const field_file *f, const char *partial, char **out) {
  const char *whole = f->result->file.swap.path;
  const char *slash = strrchr(whole, '/');
  const int folder = slash == NULL ? 0 : (int)(slash - whole) + 1;
  const size_t room = (size_t)folder + strlen(partial) + 1;
  status rc = alloc_array(out, (int64_t)room, 1, "file name");
  if (rc == STATUS_OK) snprintf(*out, room, "%.*s%s", folder, whole, partial);
  return rc;
}

/* What such a temporary's name looks like: nothing else is opened, whatever a checkpoint says. */
static int is_partial(const char *name) {
  const size_t length = strlen(name);
  return length > 6 && name[0] == '.' && strchr(name, '/') == NULL &&
         strcmp(name + length - 5, ".part") == 0;
}

/* Whether a file of ours has `count` or more times of this grid, where field_place expects them.
 * Rank 0. */
static int holds_times(const field_file *f, const char *path, int64_t count) {
  enum { FILE_, SET, SPACE, CREATE, IDS };
  const heat_grid *g = &f->grid;
  const int dims = 1 + field_directions(g);
  hid_t ids[IDS] = {-1, -1, -1, -1};
  hsize_t extent[DATASET_DIMS] = {0};
  int ours = 0, good = 0;
  if (result_recognise(path, &ours) == STATUS_OK && ours &&
      h5_open_alone(path, H5F_ACC_RDONLY, STATUS_IO, &ids[FILE_]) == STATUS_OK) {
    ids[SET] = H5Dopen2(ids[FILE_], FIELD_DATASET, H5P_DEFAULT);
    ids[SPACE] = ids[SET] < 0 ? -1 : H5Dget_space(ids[SET]);
    ids[CREATE] = ids[SET] < 0 ? -1 : H5Dget_create_plist(ids[SET]);
    good = ids[SPACE] >= 0 && ids[CREATE] >= 0 && H5Pget_layout(ids[CREATE]) == H5D_CONTIGUOUS &&
           H5Dget_offset(ids[SET]) == FIELD_PLACE &&
           H5Sget_simple_extent_ndims(ids[SPACE]) == dims &&
           H5Sget_simple_extent_dims(ids[SPACE], extent, NULL) >= 0 && extent[0] >= (hsize_t)count;
    for (int d = 1; d < dims; d++) good = good && extent[d] == (hsize_t)g->n[dims - 1 - d];
  }
  fail_clear();
  h5_close_all(ids, IDS);
  return good;
}

/* Opens a source on all ranks; *descriptor is -1 on all where any cannot. */
static status open_source(const field_file *f, const char *path, int *descriptor) {
  struct stat facts;
  int64_t bad;
  *descriptor = path[0] == '\0' ? -1 : open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  bad = *descriptor < 0 || fstat(*descriptor, &facts) != 0 || !S_ISREG(facts.st_mode);
  status rc = comm_max_i64(f->c, &bad, 1);
  if ((rc != STATUS_OK || bad) && *descriptor >= 0) {
    close(*descriptor);
    *descriptor = -1;
  }
  return rc;
}

/* One time: read, proved, written. *good: the same on all ranks. */
static status copy_time(field_file *f, int descriptor, int64_t k, uint64_t print, double *buffer,
                        int64_t *good) {
  status rc = STATUS_OK;
  const int64_t plane = field_plane(&f->grid), count = f->planes * plane;
  int64_t word[2] = {0, 0};
  if (count > 0 && bytes_read(descriptor, buffer, count * (int64_t)sizeof *buffer,
                              field_place(&f->grid, k, f->first)) != 0) {
    word[0] = 1; /* shorter than it should be */
  } else {
    word[1] = (int64_t)fingerprint_of(buffer, f->first * plane, count);
  }
  TRY(comm_sum_i64(f->c, word, 2));
  *good = word[0] == 0 && (uint64_t)word[1] == print;
  if (*good) rc = field_save(f, k, buffer);
done:
  return rc;
}

static status copy_from(field_file *f, const char *path, int64_t count, const uint64_t *print,
                        double *buffer, int *taken) {
  status rc = STATUS_OK;
  int descriptor = -1;
  int64_t good = 1;
  TRY(open_source(f, path, &descriptor));
  if (descriptor < 0) goto done;
  for (int64_t k = 0; k < count && good; k++) {
    TRY(copy_time(f, descriptor, k, print[k], buffer, &good));
  }
  *taken = (int)good;
done:
  if (descriptor >= 0) close(descriptor);
  return rc;
}

/* Rank 0's file name to all; "" where it has none. */
static status share_path(comm *c, char **name) {
  status rc = STATUS_OK;
  int64_t bytes = comm_rank(c) == 0 && *name != NULL ? (int64_t)strlen(*name) + 1 : 1;
  TRY(comm_broadcast(c, &bytes, sizeof bytes, 0));
  if (*name == NULL) rc = alloc_zeroed(name, bytes, 1, "file name");
  TRY(comm_agree(c, rc));
  TRY(comm_broadcast(c, *name, bytes, 0));
done:
  return rc;
}

status field_resume(field_file *f, const char *partial, int64_t count, const uint64_t *print,
                    int *taken) {
  status rc = STATUS_OK;
  char *temporary = NULL, *standing = NULL;
  double *buffer = NULL;
  *taken = count == 0;
  if (count == 0) return STATUS_OK;
  rc = alloc_array(&buffer, f->planes * field_plane(&f->grid), sizeof *buffer, "saved field");
  if (rc == STATUS_OK && comm_rank(f->c) == 0) {
    if (is_partial(partial)) rc = beside(f, partial, &temporary);
    if (rc == STATUS_OK && holds_times(f, f->result->file.swap.path, count)) {
      rc = alloc_text(&standing, f->result->file.swap.path, "file name");
    }
  }
  TRY(comm_agree(f->c, rc));
  TRY(share_path(f->c, &temporary));
  TRY(share_path(f->c, &standing));
  TRY(copy_from(f, temporary, count, print, buffer, taken));
  if (*taken) {
    snprintf(f->copied, sizeof f->copied, "%s", partial);
  } else {
    TRY(copy_from(f, standing, count, print, buffer, taken));
  }
done:
  alloc_free(&temporary);
  alloc_free(&standing);
  alloc_free(&buffer);
  return rc;
}

/* Rank 0 alone; the file is complete, so nothing depends on it: failures are passed over. */
void field_remove_copied(const field_file *f) {
  char *name = NULL, *target = NULL;
  if (comm_rank(f->c) == 0 && swap_resolve(f->path, &target) == STATUS_OK) {
    const char *slash = strrchr(target, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - target) + 1;
    const size_t room = (size_t)folder + FIELD_NAME;
    if (alloc_array(&name, (int64_t)room, 1, "file name") == STATUS_OK) {
      snprintf(name, room, "%.*s%s", folder, target, f->copied);
      const int descriptor = open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
      if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0) unlink(name);
      if (descriptor >= 0) close(descriptor);
    }
  }
  fail_clear();
  alloc_free(&target);
  alloc_free(&name);
}
