/* Rules on equally spaced points: trapezoid (order 2; faster for periodic integrands) and Simpson
 * (order 4). Points are computed, never stored.
 *
 * Source: Davis, Rabinowitz, Methods of Numerical Integration (1984), sections 2.1 and 2.2. */
#include "quad_run.h"

static status uniform_axis(quad_axis_kind kind, int64_t n, quad_axis *a, double *scale) {
  a->kind = kind;
  a->count = n;
  a->panels = 1;
  a->step = (a->upper - a->lower) / (double)(n - 1);
  *scale = kind == QUAD_SIMPSON ? a->step / 3.0 : a->step;
  return STATUS_OK;
}

static status trapezoid_axis(int64_t n, int64_t panels, quad_axis *a, double *scale) {
  (void)panels;
  return uniform_axis(QUAD_TRAPEZOID, n, a, scale);
}

static status simpson_axis(int64_t n, int64_t panels, quad_axis *a, double *scale) {
  (void)panels;
  return uniform_axis(QUAD_SIMPSON, n, a, scale);
}

static int64_t degree_one(int64_t n) { return n >= 2 ? 1 : -1; }
static int64_t degree_three(int64_t n) { return n >= 3 ? 3 : degree_one(n); }

const quad_rule RULE_trapezoid = {
    .name = "trapezoid",
    .help = "equally spaced points, ends included; the best for smooth periodic integrands",
    .source = "Davis, Rabinowitz (1984), 2.1",
    .flags = QUAD_RULE_FIXED,
    .dims_min = 1,
    .dims_max = QUAD_DIMS,
    .n_first = 33,
    .degree = degree_one,
    .order = 2,
    .axis = trapezoid_axis,
    .run = quad_fixed,
};

const quad_rule RULE_simpson = {
    .name = "simpson",
    .help = "equally spaced points, ends included; an even number of them ends with the 3/8 rule",
    .source = "Davis, Rabinowitz (1984), 2.2",
    .flags = QUAD_RULE_FIXED,
    .dims_min = 1,
    .dims_max = QUAD_DIMS,
    .n_first = 33,
    .degree = degree_three,
    .order = 4,
    .axis = simpson_axis,
    .run = quad_fixed,
};
