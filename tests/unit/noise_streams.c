/* Case 161: streams of neighbouring paths and of neighbouring seeds neither overlap nor correlate.
 * The first 1e5 normals of 100 paths and of 100 seeds. */
#include <stdlib.h>

#include "brownian.h"
#include "test.h"

/* Runs of three are compared where 4 bits of their hash are 0: of an overlap of n numbers all but
 * (15/16)^n are seen. */
enum { LENGTH = 100000, STREAMS = 100, KEPT = 12, SIEVE = 16, RUNS = 2 * STREAMS * LENGTH / 14 };

static double kept[KEPT][LENGTH], newest[LENGTH];
static uint64_t run[RUNS];
static int runs;

/* One stream: a path of one component with an odd number of steps of length 1, so its increments
 * are its normals as they come. */
static void stream(uint64_t seed, uint64_t path, double *dw) {
  const brownian b = brownian_make(seed, LENGTH + 1, 1.0, 1, 0);
  double stack[2];
  assert_int_equal(brownian_stack(&b), 2);
  brownian_begin(&b, 1, &path, 0, stack);
  dw[0] = *brownian_step(&b, 1, stack);
  for (uint64_t k = 1; k < LENGTH; k++) {
    brownian_advance(&b, 1, &path, k - 1, stack);
    dw[k] = *brownian_step(&b, 1, stack);
  }
}

static uint64_t mixed(uint64_t a, double x) {
  a = (a ^ bits_of(x)) * UINT64_C(0x9E3779B97F4A7C15);
  return a ^ a >> 29;
}

static void note_runs(const double *dw) {
  for (int k = 0; k + 2 < LENGTH; k++) {
    const uint64_t hash = mixed(mixed(mixed(0, dw[k]), dw[k + 1]), dw[k + 2]);
    if (hash % SIEVE != 0) continue;
    assert_true(runs < RUNS);
    run[runs++] = hash;
  }
}

static void correlation(int i, int j, const double *x, const double *y) {
  double xy[8] = {0.0}, xx = 0.0, yy = 0.0, sum = 0.0;
  for (int k = 0; k < LENGTH; k += 8) {
    for (int l = 0; l < 8; l++) xy[l] += x[k + l] * y[k + l];
  }
  for (int k = 0; k < LENGTH; k += 8) xx += x[k] * x[k], yy += y[k] * y[k];
  for (int l = 0; l < 8; l++) sum += xy[l];
  const double found = sum / (8.0 * sqrt(xx * yy));
  if (!(fabs(found) < 0.02)) fail_msg("streams %d and %d: correlation %.4f", i, j, found);
}

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Stream i is compared with the KEPT before it. */
static void streams(int of_seeds) {
  for (int i = 0; i < STREAMS; i++) {
    stream(of_seeds ? 2 + (uint64_t)i : 1, of_seeds ? 0 : (uint64_t)i, newest);
    note_runs(newest);
    for (int j = i < KEPT ? 0 : i - KEPT; j < i; j++) correlation(i, j, newest, kept[j % KEPT]);
    for (int k = 0; k < LENGTH; k++) kept[i % KEPT][k] = newest[k];
  }
}

static void neighbours(void **state) {
  (void)state;
  streams(0);
  streams(1);
  assert_true(runs > RUNS * 8 / 10);
  qsort(run, (size_t)runs, sizeof *run, ascending);
  for (int i = 1; i < runs; i++) assert_true(run[i] != run[i - 1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(neighbours)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
