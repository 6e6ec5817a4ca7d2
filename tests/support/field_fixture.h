/* Fields that are functions of place and time, and files of them: shared by the tests of field
 * files. Planes are dealt out evenly; with more ranks than planes some have none. */
#ifndef FIELD_FIXTURE_H
#define FIELD_FIXTURE_H

#include "field_io.h"
#include "fingerprint.h"
#include "result_folder.h"

/* Case 106: i + 10 j + 100 k, and 1000 for each time. */
static inline double field_value(const heat_grid *g, int64_t point, int64_t k) {
  const int64_t i = point % g->n[0], j = point / g->n[0] % g->n[1], l = point / g->n[0] / g->n[1];
  return (double)(i + 10 * j + 100 * l + 1000 * k);
}

static inline heat_grid field_grid(int dims, int64_t nx, int64_t ny, int64_t nz) {
  return (heat_grid){.dims = dims,
                     .n = {nx, ny, nz},
                     .origin = {0.5, -1.0, 2.0},
                     .spacing = {0.25, 0.125, 0.0625}};
}

/* This rank's planes. */
static inline void field_share(const heat_grid *g, int64_t *first, int64_t *planes) {
  const int64_t n = g->n[g->dims - 1], rank = comm_rank(world), size = comm_size(world);
  *first = n * rank / size;
  *planes = n * (rank + 1) / size - *first;
}

/* This rank's part of time k; freed with alloc_free. */
static inline double *field_part(const heat_grid *g, int64_t k) {
  int64_t first, planes;
  double *values;
  field_share(g, &first, &planes);
  assert_ok(alloc_array(&values, planes * field_plane(g), sizeof *values, "field"));
  for (int64_t i = 0; i < planes * field_plane(g); i++)
    values[i] = field_value(g, first * field_plane(g) + i, k);
  return values;
}

static inline field_file *field_start(const char *where, const heat_grid *g, int64_t expected) {
  int64_t first, planes;
  field_file *f;
  field_share(g, &first, &planes);
  assert_ok(field_create(world, where, g, first, planes, expected, &f));
  return f;
}

static inline status field_put(field_file *f, const heat_grid *g, int64_t k) {
  double *values = field_part(g, k);
  status rc = field_save(f, k, values);
  alloc_free(&values);
  return rc;
}

static inline uint64_t field_print(const heat_grid *g, int64_t k) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < field_points(g); i++) sum += fingerprint_element(i, field_value(g, i, k));
  return sum;
}

enum { FIELD_TIMES = 5 };
static const double FIELD_TIME[FIELD_TIMES] = {0.0, 0.1, 0.30000000000000004, 1.0, 1e300};

static inline status field_end(field_file **f, int64_t count) {
  status rc = field_finish(*f, count, FIELD_TIME);
  if (rc == STATUS_OK) rc = result_text(field_result(*f), "command", "heat");
  if (rc != STATUS_OK) {
    (void)field_close(f, 0);
    return rc;
  }
  return field_close(f, 1);
}

static inline void field_write(const char *where, const heat_grid *g, int64_t count,
                               int64_t expected) {
  field_file *f = field_start(where, g, expected);
  for (int64_t k = 0; k < count; k++) assert_ok(field_put(f, g, k));
  assert_ok(field_end(&f, count));
}

#endif
