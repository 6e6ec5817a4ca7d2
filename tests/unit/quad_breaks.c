/* The first level of adaptive rules: it covers the range once, is cut at breaks, and never at
 * places that share a period. */
#include "adaptive.h"
#include "alloc.h"
#include "test.h"

#include <math.h>
#include <string.h>

enum { BREAKS = 3 };

static double x_at(const quad_frame *f, const double *edge, int which) {
  double x;
  const quad_axis *a = &f->axis[0];
  if (edge[0] < 0.0 && edge[which] == 0.0) {
    return a->range == QUAD_FINITE ? a->upper : a->range == QUAD_DOWNWARD ? a->anchor : INFINITY;
  }
  if (edge[which] == 0.0 && a->range != QUAD_FINITE && a->range != QUAD_UPWARD) return -INFINITY;
  quad_place(a, edge[0] < 0.0, edge[which], &x);
  return x;
}

static void pieces_meet_at_the_breaks(void **state) {
  (void)state;
  static const struct {
    double lower, upper, breaks[BREAKS];
    int count;
  } cases[] = {{0.0, 1.0, {0.0}, 0},
               {-3.0, 2.0, {-2.5, 0.1, 1.9999}, 3},
               {1.0, INFINITY, {1.0625, 7.0, 1e9}, 3},
               {-INFINITY, 2.0, {-1e6, 0.3, 1.5}, 3},
               {-INFINITY, INFINITY, {0.0}, 0},
               {-INFINITY, INFINITY, {0.0}, 1},
               {-INFINITY, INFINITY, {-1e7, -0.125, 3e5}, 3}};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    quad_run run;
    quad_frame f;
    double *edge = NULL;
    int64_t count;
    memset(&run, 0, sizeof run);
    memset(&f, 0, sizeof f);
    run.integral = (quad_integral){.dims = 1,
                                   .lower = {cases[c].lower},
                                   .upper = {cases[c].upper},
                                   .breaks = cases[c].breaks,
                                   .break_count = cases[c].count};
    f.dims = 1;
    quad_axis_range(&run.integral, 0, &f.axis[0]);
    assert_ok(adaptive_first_level(&run, &f, &edge, &count));
    assert_in_range(count, 8, 16);
    int met = 0;
    double widths = 0.0;
    for (int64_t i = 0; i < count; i++) {
      const double *e = edge + 2 * i, low = x_at(&f, e, 0), high = x_at(&f, e, 1);
      assert_true(low < high && e[0] < e[1]);
      assert_true(e[0] >= 0.0 || e[1] <= 0.0);
      assert_true(e[0] < 0.5 * (f.axis[0].upper - f.axis[0].lower)); /* the nearer end */
      widths += e[1] - e[0];
      if (i == 0) assert_true(low == cases[c].lower);
      if (i == count - 1) assert_true(high == cases[c].upper);
      if (i < count - 1) {
        const double next = x_at(&f, e + 2, 0);
        assert_true(fabs(next - high) <= 1e-14 * (1.0 + fabs(high)) * (1.0 + fabs(high)));
      }
      for (int b = 0; b < cases[c].count; b++) {
        const double at = cases[c].breaks[b];
        met += fabs(high - at) <= 1e-14 * fmax(fabs(at), 1.0);
      }
    }
    assert_int_equal(met, cases[c].count);
    assert_true(fabs(widths - (f.axis[0].upper - f.axis[0].lower)) < 1e-14);
    alloc_free(&edge);
  }
}

static void cuts_are_irregular(void **state) {
  (void)state;
  quad_run run;
  quad_frame f;
  double *edge = NULL;
  int64_t count;
  memset(&run, 0, sizeof run);
  memset(&f, 0, sizeof f);
  run.integral = (quad_integral){.dims = 1, .upper = {1.0}};
  f.dims = 1;
  quad_axis_range(&run.integral, 0, &f.axis[0]);
  assert_ok(adaptive_first_level(&run, &f, &edge, &count));
  for (int64_t i = 0; i < count; i++) {
    for (int64_t j = 0; j < i; j++) {
      const double wi = edge[2 * i + 1] - edge[2 * i], wj = edge[2 * j + 1] - edge[2 * j];
      assert_true(fabs(wi - wj) > 1e-4);
    }
  }
  alloc_free(&edge);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_meet_at_the_breaks),
                                     cmocka_unit_test(cuts_are_irregular)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
