/* Writing result files (result_io.h): a shared file (shared_file.c) with datasets and texts. After
 * a failure, which is the same on all ranks, every later call does nothing but fail, and
 * result_close throws the temporary away. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "alloc.h"
#include "result_internal.h"

static void release(result_file **f) {
  if (*f == NULL) return;
  shared_release(&(*f)->file);
  alloc_free(&(*f)->sets);
  alloc_free(f);
}

status result_create(comm *c, const char *path, result_file **out) {
  status rc = STATUS_OK;
  result_file *f = NULL;
  *out = NULL;
  TRY(comm_agree(c, alloc_zeroed(&f, 1, sizeof *f, "result file")));
  f->c = c;
  TRY(shared_create(c, path, 0, &f->file));
  *out = f;
  f = NULL;
done:
  release(&f);
  return rc;
}

static status make_set(result_file *f, const dataset *shape) {
  status rc = STATUS_OK;
  int64_t place;
  if (f->set_count == f->set_room) {
    const int room = 2 * f->set_room + 8;
    TRY(comm_agree(f->c, alloc_grow(&f->sets, f->set_count, room, sizeof *f->sets, "datasets")));
    f->set_room = room;
  }
  TRY(shared_add(&f->file, shape, &place));
  f->sets[f->set_count++] = (opened_set){place, dataset_count(shape), dataset_width(shape->type)};
done:
  return rc;
}

status result_dataset(result_file *f, const dataset *shape, int *set) {
  if (f->failed == STATUS_OK) f->failed = make_set(f, shape);
  *set = f->failed == STATUS_OK ? f->set_count - 1 : -1;
  return f->failed;
}

static status write_run(const result_file *f, int set, int64_t first, int64_t count,
                        const void *values) {
  const opened_set *s = &f->sets[set];
  if (count == 0) return STATUS_OK;
  if (first < 0 || count < 0 || first > s->count || count > s->count - first) {
    return fail(STATUS_BUG, "%s: elements [%lld, %lld) of a dataset of %lld", f->file.path,
                (long long)first, (long long)(first + count), (long long)s->count);
  }
  return shared_write(&f->file, s->place, s->width, first, count, values);
}

status result_run(result_file *f, int set, int64_t first, int64_t count, const void *values) {
  if (f->failed == STATUS_OK) f->failed = comm_agree(f->c, write_run(f, set, first, count, values));
  return f->failed;
}

status result_table(result_file *f, const char *name, dataset_type type, int64_t rows,
                    int64_t width, int64_t first, int64_t count, const void *values) {
  const int64_t each = width == 0 ? 1 : width;
  const dataset shape = {
      .name = name, .type = type, .dims = width == 0 ? 1 : 2, .extent = {rows, width}};
  int set;
  status rc = result_dataset(f, &shape, &set);
  return rc == STATUS_OK ? result_run(f, set, first * each, count * each, values) : rc;
}

status result_vector(result_file *f, const char *name, const ownership *owned,
                     const double *values) {
  const gidx begin = ownership_begin(owned);
  return result_table(f, name, DATASET_F64, owned->rows, 0, begin, ownership_end(owned) - begin,
                      values);
}

status result_text(result_file *f, const char *name, const char *text) {
  if (f->failed == STATUS_OK) f->failed = shared_text(&f->file, name, text);
  return f->failed;
}

/* The work took long: what stands there now may no longer be what result_check saw. */
static status may_replace(const char *path) {
  struct stat found;
  int ours = 0;
  if (lstat(path, &found) != 0) return STATUS_OK;
  status rc = result_recognise(path, &ours);
  if (rc != STATUS_OK || ours) return rc;
  return fail(STATUS_IO, "%s: a file that halosweep did not write has appeared there", path);
}

/* Rank 0. */
static status commit(result_file *f) {
  status rc = shared_close(&f->file);
  if (rc == STATUS_OK) rc = may_replace(f->file.swap.path);
  return rc == STATUS_OK ? swap_commit(&f->file.swap) : rc;
}

static status finish(result_file *f) {
  status rc = f->failed;
  TRY(rc);
  TRY(shared_text(&f->file, RESULT_MARK, RESULT_MARK_TEXT));
  TRY(shared_settle(&f->file));
  TRY(comm_agree(f->c, comm_rank(f->c) == 0 ? commit(f) : STATUS_OK));
done:
  return rc;
}

status result_close(result_file **file, int keep) {
  result_file *f = *file;
  if (f == NULL) return STATUS_OK;
  *file = NULL;
  status rc = keep ? finish(f) : STATUS_OK;
  release(&f);
  return rc;
}
