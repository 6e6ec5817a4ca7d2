/* A package of a device that factorises a whole matrix on the host, densely and without pivoting:
 * small pivots are replaced and counted, as cuDSS does. What it was asked and given is kept. */
#ifndef FAKE_DIRECT_H
#define FAKE_DIRECT_H

#include <math.h>

#include "alloc.h"
#include "direct_package.h"
#include "test.h"

static const double FAKE_SMALL = 1e-13;

static struct {
  int missing, no_memory; /* to be answered */
  int entries;            /* of the last matrix */
  int held;               /* factors not closed yet */
  double least, most;     /* of its rows' and columns' largest entries */
} fake;

typedef struct fake_factors {
  lidx rows;
  double *lu; /* [rows][rows] */
} fake_factors;

static status fake_find(void) {
  if (!fake.missing) return STATUS_OK;
  return fail(STATUS_UNAVAILABLE, "Fake (libfake.so) was not found; install fake-dev");
}

static void fake_close(void **made) {
  fake_factors *f = *made;
  if (f == NULL) return;
  fake.held--;
  alloc_free(&f->lu);
  alloc_free(made);
}

static void fake_measure(lidx n, const double *lu) {
  fake.least = INFINITY;
  fake.most = 0.0;
  for (lidx i = 0; i < n; i++) {
    double row = 0.0, column = 0.0;
    for (lidx j = 0; j < n; j++) {
      row = fmax(row, fabs(lu[i * n + j]));
      column = fmax(column, fabs(lu[j * n + i]));
    }
    fake.least = fmin(fake.least, fmin(row, column));
    fake.most = fmax(fake.most, fmax(row, column));
  }
}

static void fake_spread(const direct_matrix *a, double *lu) {
  const lidx n = a->rows;
  fake.entries = a->offset[n];
  for (lidx i = 0; i < n; i++) {
    for (int32_t e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const lidx j = a->column[e];
      assert_true(e == a->offset[i] || a->column[e - 1] < j);
      assert_true(j >= 0 && j < (a->symmetric ? i + 1 : n));
      lu[i * n + j] = a->value[e];
      if (a->symmetric) lu[j * n + i] = a->value[e];
    }
  }
  fake_measure(n, lu);
}

static status fake_open(device *d, const direct_matrix *a, void **out, int64_t *replaced,
                        char broke[DIRECT_TEXT]) {
  status rc = STATUS_OK;
  fake_factors *f = NULL;
  const lidx n = a->rows;
  (void)d, (void)broke;
  if (fake.no_memory) return fail(STATUS_UNAVAILABLE, "not enough memory on Fake 0");
  TRY(alloc_zeroed(&f, 1, sizeof *f, "fake"));
  fake.held++;
  f->rows = n;
  TRY(alloc_zeroed(&f->lu, n * n, sizeof *f->lu, "fake"));
  fake_spread(a, f->lu);
  for (lidx k = 0; k < n; k++) {
    double *row = f->lu + k * n;
    if (fabs(row[k]) < FAKE_SMALL) {
      row[k] = FAKE_SMALL;
      ++*replaced;
    }
    for (lidx i = k + 1; i < n; i++) {
      double *below = f->lu + i * n;
      below[k] /= row[k];
      for (lidx j = k + 1; j < n; j++) below[j] -= below[k] * row[j];
    }
  }
  *out = f;
  f = NULL;
done:
  fake_close((void **)&f);
  return rc;
}

static status fake_solve(void *made, double *x) {
  const fake_factors *f = made;
  const lidx n = f->rows;
  for (lidx i = 0; i < n; i++) {
    for (lidx j = 0; j < i; j++) x[i] -= f->lu[i * n + j] * x[j];
  }
  for (lidx i = n - 1; i >= 0; i--) {
    for (lidx j = i + 1; j < n; j++) x[i] -= f->lu[i * n + j] * x[j];
    x[i] /= f->lu[i * n + i];
  }
  return STATUS_OK;
}

static const direct_package FAKE = {
    .name = "Fake", .find = fake_find, .open = fake_open, .solve = fake_solve, .close = fake_close};

#endif
