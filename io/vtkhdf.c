/* Saved times of a field as VTKHDF ImageData (field_io.h).
 *
 * How many times there will be is known at the end only (a run may be stopped, or choose its own
 * steps), so the file is laid out last: u lies contiguous at FIELD_PLACE, where each rank writes
 * its planes of a time as one run, by plain calls; field_finish gives HDF5 a data set of that many
 * times at that place, and its structures come behind. Nothing is moved. Contiguous: no chunk is
 * too large, none is larger than the field, and a viewer may map the file.
 *
 * Bytes depend on grid, times and values alone, not on the ranks. Cost: one pass over the data; per
 * time two agreements.
 * Source: VTKHDF 2.0, docs.vtk.org, "VTKHDF format specification" (image data, temporal data). */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "alloc.h"
#include "field_internal.h"

static const char GROUP[] = "/VTKHDF", STEPS[] = "/VTKHDF/Steps";

/* Below 2^62, so that sums of places and lengths are in range too. */
int64_t field_place(const heat_grid *g, int64_t k, int64_t plane) {
  int64_t points = 1, at, skipped;
  for (int d = 0; d < HEAT_DIMS; d++) {
    if (__builtin_mul_overflow(points, g->n[d], &points)) return -1;
  }
  if (__builtin_mul_overflow(points, k, &at) ||
      __builtin_mul_overflow(points / g->n[g->dims - 1], plane, &skipped) ||
      __builtin_add_overflow(at, skipped, &at) ||
      __builtin_mul_overflow(at, (int64_t)sizeof(double), &at)) {
    return -1;
  }
  return at < INT64_MAX / 2 ? at + FIELD_PLACE : -1;
}

static status too_large(const field_file *f, int64_t count) {
  const heat_grid *g = &f->grid;
  return fail(STATUS_IO, "%s: %lld times of %lld x %lld x %lld points are more than a file holds",
              f->path, (long long)count, (long long)g->n[0], (long long)g->n[1],
              (long long)g->n[2]);
}

/* Rank 0's lock tells others that the temporary is in use (field_resume.c); it dies with us. */
static void mark_in_use(const field_file *f) {
  if (f->result->file.swap.descriptor >= 0) {
    (void)flock(f->result->file.swap.descriptor, LOCK_EX | LOCK_NB);
  }
}

static status share_name(field_file *f) {
  if (comm_rank(f->c) == 0) {
    const char *whole = f->result->file.swap.temporary, *slash = strrchr(whole, '/');
    snprintf(f->partial, sizeof f->partial, "%s", slash == NULL ? whole : slash + 1);
  }
  return comm_broadcast(f->c, f->partial, sizeof f->partial, 0);
}

static status reserve(field_file *f, int64_t count) {
  const int64_t bytes = field_place(&f->grid, count, 0);
  if (bytes < 0) return comm_agree(f->c, too_large(f, count));
  return shared_reserve(&f->result->file, bytes, 0);
}

status field_create(comm *c, const char *path, const heat_grid *g, int64_t first, int64_t planes,
                    int64_t expected, field_file **out) {
  status rc = STATUS_OK;
  field_file *f = NULL;
  *out = NULL;
  rc = alloc_zeroed(&f, 1, sizeof *f, "field file");
  if (rc == STATUS_OK) rc = alloc_text(&f->path, path, "file name");
  TRY(comm_agree(c, rc));
  f->c = c;
  f->grid = *g;
  f->first = first;
  f->planes = planes;
  TRY(result_create(c, path, &f->result));
  mark_in_use(f);
  TRY(share_name(f));
  if (expected > 0) TRY(reserve(f, expected));
  *out = f;
  f = NULL;
done:
  if (f != NULL) field_close(&f, 0);
  return rc;
}

const char *field_partial(const field_file *f) { return f->partial; }

result_file *field_result(field_file *f) { return f->result; }

static status write_planes(const field_file *f, int64_t k, const double *values) {
  if (f->planes == 0) return STATUS_OK;
  return shared_write(&f->result->file, field_place(&f->grid, k, f->first), sizeof *values, 0,
                      f->planes * field_plane(&f->grid), values);
}

status field_save(field_file *f, int64_t k, const double *values) {
  status *failed = &f->result->failed;
  if (*failed == STATUS_OK) *failed = reserve(f, k + 1);
  if (*failed == STATUS_OK) *failed = comm_agree(f->c, write_planes(f, k, values));
  return *failed;
}

status field_sync(field_file *f) {
  return f->result->failed == STATUS_OK ? shared_sync(&f->result->file) : f->result->failed;
}

/* ---- HDF5's structures ---- */

/* A direction that the grid lacks has one point: any spacing will do, but for 0. */
static status describe(field_file *f, int64_t count) {
  static const int64_t version[] = {2, 0};
  static const double direction[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const heat_grid *g = &f->grid;
  int64_t extent[2 * HEAT_DIMS];
  double origin[HEAT_DIMS], spacing[HEAT_DIMS];
  for (int d = 0; d < HEAT_DIMS; d++) {
    extent[2 * d] = 0;
    extent[2 * d + 1] = g->n[d] - 1;
    origin[d] = d < g->dims ? g->origin[d] : 0.0;
    spacing[d] = d < g->dims ? g->spacing[d] : 1.0;
  }
  const attribute all[] = {
      {GROUP, "Version", DATASET_I64, 2, version, NULL},
      {GROUP, "Type", DATASET_BYTES, 0, NULL, "ImageData"},
      {GROUP, "WholeExtent", DATASET_I64, 2 * HEAT_DIMS, extent, NULL},
      {GROUP, "Origin", DATASET_F64, HEAT_DIMS, origin, NULL},
      {GROUP, "Spacing", DATASET_F64, HEAT_DIMS, spacing, NULL},
      {GROUP, "Direction", DATASET_F64, 3 * HEAT_DIMS, direction, NULL},
      {STEPS, "NSteps", DATASET_I64, 0, &count, NULL},
  };
  return shared_attributes(&f->result->file, all, sizeof all / sizeof *all);
}

status field_finish(field_file *f, int64_t count, const double *time) {
  status rc = STATUS_OK;
  int64_t *offset = NULL;
  result_file *r = f->result;
  const heat_grid *g = &f->grid;
  dataset u = {FIELD_DATASET, DATASET_F64, 1 + field_directions(g), {count}};
  const int64_t mine = comm_rank(f->c) == 0 ? count : 0;
  for (int d = 1; d < u.dims; d++) u.extent[d] = g->n[u.dims - 1 - d];
  TRY(r->failed);
  r->failed = comm_agree(f->c, alloc_array(&offset, count, sizeof *offset, "time steps"));
  TRY(r->failed);
  for (int64_t k = 0; k < count; k++) offset[k] = k;
  TRY(r->failed = shared_add_at(&r->file, &u, FIELD_PLACE));
  TRY(r->failed = describe(f, count));
  TRY(result_table(r, "/VTKHDF/Steps/Values", DATASET_F64, count, 0, 0, mine, time));
  TRY(result_table(r, "/VTKHDF/Steps/PointDataOffsets/u", DATASET_I64, count, 0, 0, mine, offset));
done:
  alloc_free(&offset);
  return rc;
}

status field_close(field_file **file, int keep) {
  field_file *f = *file;
  if (f == NULL) return STATUS_OK;
  *file = NULL;
  status rc = result_close(&f->result, keep);
  if (keep && rc == STATUS_OK && f->copied[0] != '\0') field_remove_copied(f);
  alloc_free(&f->path);
  alloc_free(&f);
  return rc;
}
