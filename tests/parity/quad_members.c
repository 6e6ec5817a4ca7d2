/* The members of a sweep on every CPU backend: the same bits for awkward numbers of points, members
 * and threads, with estimates and in single precision; and their sums against the single
 * integral's. */
#include <stdio.h>

#include "alloc.h"
#include "quad_try.h"
#include "sobol.h"

static comm *world;

static const char *const names[] = {"x", "k", "a", "b", NULL};
static double list[] = {0.5, -1.0, 3.0};

static quad_family family_of(const double *fixed) {
  quad_family f = {.fixed = fixed, .fixed_count = 1};
  f.swept.axes = 2;
  f.swept.axis[0] = (sweep_axis){SWEEP_LINSPACE, 401, -1.0, 1.0, 2.0 / 400.0, {NULL}};
  f.swept.axis[1] = (sweep_axis){SWEEP_LIST, 3, 0.0, 0.0, 0.0, {list}};
  f.swept.members = 1203;
  return f;
}

static quad_grid grid_of(int64_t points, int kind) {
  static uint64_t table[SOBOL_STRIDE];
  quad_grid g = {.kind = kind, .dims = 1, .points = points, .scale = 1.0, .table = {table}};
  if (kind == QUAD_SOBOL) sobol_scramble(1, 0, 0, table);
  g.axis[0] =
      (quad_axis){.kind = QUAD_TRAPEZOID,
                  .range = QUAD_FINITE,
                  .lower = 0.0,
                  .upper = 1.0,
                  .step = kind == QUAD_SOBOL || points < 2 ? 1.0 : 1.0 / (double)(points - 1),
                  .count = points,
                  .panels = 1};
  return g;
}

/* Member sums; elements nobody writes stay as they were. */
static void sums_of(quad_try *t, const quad_grid *g, int64_t first, int64_t count, double *sums) {
  const quad_family f = family_of(t->parameters);
  const int64_t written = count * (1 + g->estimate);
  for (int64_t i = 0; i < written + 1; i++) sums[i] = NAN;
  assert_ok(
      t->run.kernels->quad->members(t->run.place, t->run.work, g, &f, first, count, (dptr){sums}));
  assert_true(isnan(sums[written]));
}

static void same_bits(void **state) {
  (void)state;
  static const int64_t points[] = {1, 2, 5, 64, 128, 129, 255, 256, 257, 1000};
  static const int64_t counts[] = {0, 1, 2, 255, 256, 257, 700};
  static double want[1401], got[1401];
  quad_try ref, omp[3];
  quad_try_open(&ref, &BACKEND_ref, world, 1, "sin(a*x) + b*exp(-k*x)", 1, names);
  ref.parameters[0] = 0.05;
  for (int t = 0; t < 3; t++) {
    quad_try_open(&omp[t], &BACKEND_omp, world, t + 1, "sin(a*x) + b*exp(-k*x)", 1, names);
    omp[t].parameters[0] = 0.05;
  }
  for (int p = 0; p < 10; p++) {
    for (int c = 0; c < 7; c++) {
      if (points[p] * counts[c] > 100000) continue;
      quad_grid g = grid_of(points[p], QUAD_PRODUCT);
      g.estimate = points[p] > 1 && (p + c) % 3 != 0;
      g.single = (p + c) % 4 == 1;
      sums_of(&ref, &g, 11, counts[c], want);
      for (int t = 0; t < 3; t++) {
        sums_of(&omp[t], &g, 11, counts[c], got);
        for (int64_t i = 0; i < counts[c] * (1 + g.estimate); i++) {
          if (bits_of(want[i]) != bits_of(got[i])) {
            fail_msg("%d points, %d members, %d threads: member %d: %.17g and %.17g",
                     (int)points[p], (int)counts[c], t + 1, (int)i, want[i], got[i]);
          }
        }
      }
    }
  }
  for (int t = 0; t < 3; t++) quad_try_close(&omp[t]);
  quad_try_close(&ref);
}

/* A member alone and among others: the same bits; and the value of the integral with its
 * parameters. */
static void alone(void **state) {
  (void)state;
  static double run[301], one[2];
  for (int kind = QUAD_PRODUCT; kind <= QUAD_SOBOL; kind++) {
    quad_try t;
    const quad_grid g = grid_of(kind == QUAD_SOBOL ? 512 : 301, kind);
    quad_try_open(&t, &BACKEND_omp, world, 2, "sin(a*x) + b*exp(-k*x)", 1, names);
    t.parameters[0] = 0.05;
    sums_of(&t, &g, 600, 300, run);
    for (int64_t m = 600; m < 900; m += 13) {
      const quad_family f = family_of(t.parameters);
      double single;
      sums_of(&t, &g, m, 1, one);
      assert_same_bits(one[0], run[m - 600]);
      sweep_member(&f.swept, m, t.parameters + 1);
      assert_ok(quad_sum_grid(&t.run, &g, &single));
      assert_true(fabs(single - one[0]) <= 1e-14 * (double)g.points);
      assert_true(fabs(single) > 1.0); /* not a comparison of zeros */
    }
    quad_try_close(&t);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(alone)};
  assert_ok(comm_open(&argc, &argv, &world));
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
