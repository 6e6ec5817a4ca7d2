/* Rules on equally spaced points: trapezoid (order 2; faster for periodic integrands) and Simpson
 * (order 4). Points are computed, never stored. Panels mean nothing to them: n is the whole count.
 *
 * An even number of points has an odd number of intervals: Simpson sums the last three of them by
 * the 3/8 rule, which keeps the order; of a single interval it makes a trapezoid.
 *
 * Source: Davis, Rabinowitz, Methods of Numerical Integration (1984), sections 2.1 and 2.2. */
#include <math.h>

#include "quad_run.h"

static status uniform_axis(quad_axis_kind kind, int64_t n, int new_only, quad_axis *a,
                           double *scale) {
  a->panels = 1;
  if (n < 2) return fail(STATUS_USAGE, "n = 1: a rule whose points include both ends needs 2");
  a->step = (a->upper - a->lower) / (double)(n - 1);
  if (!isfinite(a->step)) a->step = a->upper / (double)(n - 1) - a->lower / (double)(n - 1);
  *scale = kind == QUAD_SIMPSON ? a->step / 3.0 : a->step;
  a->kind = kind;
  a->count = n;
  if (new_only) {
    a->kind = QUAD_MIDPOINT;
    a->count = (n - 1) / 2;
    a->step *= 2.0;
  }
  return STATUS_OK;
}

static status trapezoid_axis(int64_t n, int64_t panels, int dims, int new_only, quad_axis *a,
                             double *scale) {
  (void)panels;
  (void)dims;
  return uniform_axis(QUAD_TRAPEZOID, n, new_only, a, scale);
}

static status simpson_axis(int64_t n, int64_t panels, int dims, int new_only, quad_axis *a,
                           double *scale) {
  (void)panels;
  (void)dims;
  return uniform_axis(QUAD_SIMPSON, n, new_only, a, scale);
}

static int64_t degree_one(int64_t n) { return n >= 2 ? 1 : -1; }
static int64_t degree_three(int64_t n) { return n >= 3 ? 3 : degree_one(n); }

/* Intervals double. */
static int64_t level_points(int level, int dims, int64_t *panels) {
  const int64_t first = dims == 1 ? 32 : dims == 2 ? 16 : dims == 3 ? 8 : dims <= 6 ? 4 : 2;
  *panels = 1;
  return level < 52 ? (first << level) + 1 : 0;
}

static double between(const quad_axis *a, int dims, int64_t i, double fraction, double *x) {
  (void)dims;
  const double t = fma((double)i + fraction, a->step, a->lower);
  *x = t;
  return a->range == QUAD_FINITE ? 1.0 : quad_stretch(a, t, t - a->lower, a->upper - t, x);
}

const quad_rule RULE_trapezoid = {
    .name = "trapezoid",
    .help = "equally spaced points, ends included; the best for smooth periodic integrands",
    .source = "Davis, Rabinowitz (1984), 2.1",
    .flags = QUAD_RULE_FIXED | QUAD_RULE_NESTED,
    .dims_min = 1,
    .dims_max = QUAD_DIMS,
    .level = level_points,
    .degree = degree_one,
    .order = 2,
    .axis = trapezoid_axis,
    .between = between,
    .run = quad_fixed,
};

const quad_rule RULE_simpson = {
    .name = "simpson",
    .help = "equally spaced points, ends included; an even number of them ends with the 3/8 rule",
    .source = "Davis, Rabinowitz (1984), 2.2",
    .flags = QUAD_RULE_FIXED | QUAD_RULE_ROMBERG,
    .dims_min = 1,
    .dims_max = QUAD_DIMS,
    .level = level_points,
    .degree = degree_three,
    .order = 4,
    .axis = simpson_axis,
    .between = between,
    .run = quad_fixed,
};
