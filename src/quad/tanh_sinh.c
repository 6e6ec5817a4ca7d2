/* tanh-sinh: the trapezoid rule after x = lower + width s(pi sinh u), s(v) = 1 / (1 + exp(-v)); the
 * transformed integrand falls off double-exponentially at both ends, whatever integrable
 * singularity f has there, and the trapezoid rule converges exponentially.
 *
 * u runs over [-U, U], U such that in one dimension the outermost nodes are 1e-307 of the width
 * away from the ends: x^-0.9 is truncated at 1e-31 of its integral. Nodes are distances from the
 * nearer end. One that rounds to the end itself has weight 0: f is not defined there, perhaps.
 *
 * Cost: half of the nodes are within 1e-17 of an end: those that matter only to singular ends. When
 * refining, h is halved and only the new points are evaluated.
 * When not to use it: smooth integrands (gauss-legendre is exact with far fewer points), anything
 * that happens inside the range (use breaks).
 * Source: Takahasi, Mori, Publ. RIMS Kyoto 9 (1974) 721; Bailey, Jeyabalan, Li, Exp. Math. 14
 * (2005) 317. */
#include <math.h>

#include "elementary.h"
#include "quad_run.h"

static const double PI = 3.14159265358979323846;

/* U in 1 .. 10 dimensions, pi sinh U = 706.6 / dims: the product of the outermost distances of all
 * directions is exp(-706.6) = 1e-307, so that 1 / sqrt(x y) does not overflow in a corner. */
static const double REACH[QUAD_DIMS + 1] = {0.0,    6.1088, 5.4157, 5.0103, 4.7226, 4.4995,
                                            4.3173, 4.1632, 4.0297, 3.9120, 3.8067};

/* Fraction from the nearer end, of u <= 0, and ds/du. */
static double place(double u, double *density) {
  const double e = elementary_exp(u), sinh = 0.5 * (e - 1.0 / e), cosh = 0.5 * (e + 1.0 / e);
  const double near = elementary_exp(PI * sinh), s = near / (1.0 + near);
  *density = PI * cosh * s / (1.0 + near);
  return s;
}

static status tanh_sinh_table(int64_t n, int dims, int new_only, double *node, double *weight,
                              double *coarse) {
  const double h = n > 1 ? 2.0 * REACH[dims] / (double)(n - 1) : 1.0;
  const int64_t count = new_only ? (n - 1) / 2 : n, centre = (n - 1) / 2;
  for (int64_t k = 0; k < count; k++) {
    const int64_t j = new_only ? 2 * k + 1 : k, far = n - 1 - j, near = j < far ? j : far;
    const double u = h * ((double)near - 0.5 * (double)(n - 1));
    double density;
    const double s = place(u, &density);
    node[k] = j == far ? 0.5 : j < far ? s : -s;
    weight[k] = density;
    coarse[k] = n > 1 && j % 2 == centre % 2 ? 2.0 * density : 0.0;
  }
  return STATUS_OK;
}

static status tanh_sinh_axis(int64_t n, int64_t panels, int dims, int new_only, quad_axis *a,
                             double *scale) {
  if (n > INT64_C(1) << 24) {
    return fail(STATUS_USAGE, "tanh-sinh: n = %lld points; expected at most 2^24", (long long)n);
  }
  a->kind = QUAD_TABLE;
  a->open = 1;
  a->panels = panels;
  a->per_panel = new_only ? (n - 1) / 2 : n;
  a->count = a->per_panel * panels;
  a->step = (a->upper - a->lower) / (double)panels;
  *scale = a->step * (n > 1 ? 2.0 * REACH[dims] / (double)(n - 1) : 1.0);
  return STATUS_OK;
}

static int64_t tanh_sinh_degree(int64_t n) {
  (void)n;
  return -1;
}

static int64_t tanh_sinh_level(int level, int dims, int64_t *panels) {
  *panels = 1;
  return level <= 19 ? ((dims <= 2 ? INT64_C(24) : 12) << level) + 1 : 0;
}

/* In u, within a panel. */
static double between(const quad_axis *a, int dims, int64_t i, double fraction, double *x) {
  const double h = 2.0 * REACH[dims] / (double)(a->per_panel - 1);
  const int64_t panel = i / a->per_panel, j = i % a->per_panel;
  const double u = h * ((double)j + fraction - 0.5 * (double)(a->per_panel - 1));
  const int first = panel == 0, last = panel == a->panels - 1;
  const double left = first ? a->lower : fma((double)panel, a->step, a->lower);
  const double right = last ? a->upper : fma((double)(panel + 1), a->step, a->lower);
  double density;
  const double s = a->step * place(-fabs(u), &density), t = u <= 0.0 ? left + s : right - s;
  *x = t;
  if (j == a->per_panel - 1 && fraction > 0.0) return 0.0; /* between panels */
  if (a->range == QUAD_FINITE) return t <= a->lower || t >= a->upper ? 0.0 : density;
  density *= quad_stretch(a, t, first && u <= 0.0 ? s : t - a->lower,
                          last && u > 0.0 ? s : a->upper - t, x);
  return isfinite(density) && isfinite(*x) ? density : 0.0;
}

const quad_rule RULE_tanh_sinh = {
    .name = "tanh-sinh",
    .help = "for integrands that are singular at the ends of the range",
    .source = "Takahasi, Mori (1974)",
    .flags = QUAD_RULE_FIXED | QUAD_RULE_PANELS | QUAD_RULE_NESTED | QUAD_RULE_OPEN,
    .dims_min = 1,
    .dims_max = QUAD_DIMS,
    .level = tanh_sinh_level,
    .degree = tanh_sinh_degree,
    .order = 0,
    .axis = tanh_sinh_axis,
    .table = tanh_sinh_table,
    .between = between,
    .run = quad_fixed,
};
