/* Gauss-Legendre: n points per panel, exact for polynomials of degree 2 n - 1.
 *
 * Nodes are the zeros of P_n, by Newton's method on the three-term recurrence
 *   P_{k+1} = x P_k + k / (k + 1) (x P_k - P_{k-1}),
 * first in double precision from Tricomi's approximation, then in double-double (pairs of doubles,
 * about 31 digits), so that nodes and weights are rounded once: to the last bit in all cases that
 * tests/exact/gauss_mpfr.c has looked at. The recurrence cannot overflow. Weights are
 * 2 (1 - x^2) / (n P_{n-1}(x))^2. Nodes are kept as distances from the nearer end.
 *
 * The coarser rule for the error estimate leaves out what Legendre coefficients n - 1 and n - 2 of
 * the integrand say: w (1 - (n - 1/2) P_{n-1} - (n - 3/2) P_{n-2}), exact up to degree n - 3.
 *
 * Cost: n^2 / 2 steps of the recurrence, some 28 ns each (six passes of the recurrence, three of
 * them in double-double, in lanes of 8): 1.4 s of one core at n = 10000, 15 ms at 1000.
 * Sources: Davis, Rabinowitz (1984), 2.7; Lether, J. Comput. Appl. Math. 4 (1978) 47 (weights);
 * Hida, Li, Bailey (ARITH-15, 2001) (double-double); Berntsen, Espelid, ACM TOMS 17 (1991) 233
 * (null rules). */
#include <math.h>

#include "alloc.h"
#include "elementary.h"
#include "quad_run.h"

enum { LANES = 8, NODES_MAX = 10000, ROUGH_STEPS = 3, FINE_STEPS = 2 };

typedef struct pair {
  double hi, lo;
} pair;

static inline pair fast_sum(double a, double b) {
  const double s = a + b;
  return (pair){s, b - (s - a)};
}

static inline pair pair_add(pair a, pair b) {
  const double s = a.hi + b.hi, v = s - a.hi, e = (a.hi - (s - v)) + (b.hi - v);
  const double t = a.lo + b.lo, w = t - a.lo, f = (a.lo - (t - w)) + (b.lo - w);
  const pair first = fast_sum(s, e + t);
  return fast_sum(first.hi, first.lo + f);
}

static inline pair pair_minus(pair a) { return (pair){-a.hi, -a.lo}; }

static inline pair pair_times(pair a, pair b) {
  const double p = a.hi * b.hi, e = fma(a.hi, b.hi, -p);
  return fast_sum(p, fma(a.hi, b.lo, fma(a.lo, b.hi, e)));
}

static inline pair pair_over(pair a, pair b) {
  const double q = a.hi / b.hi;
  const pair rest = pair_add(a, pair_minus(pair_times(b, (pair){q, 0.0})));
  const double r = rest.hi / b.hi;
  const pair again = pair_add(rest, pair_minus(pair_times(b, (pair){r, 0.0})));
  const pair two = fast_sum(q, r);
  return pair_add(two, (pair){again.hi / b.hi, 0.0});
}

/* P_n and P_{n-1} at LANES places. ratio[k] = k / (k + 1). */
static void legendre(int64_t n, const pair *ratio, const pair *x, pair *p, pair *before) {
  for (int l = 0; l < LANES; l++) {
    before[l] = (pair){1.0, 0.0};
    p[l] = x[l];
  }
  for (int64_t k = 1; k < n; k++) {
    for (int l = 0; l < LANES; l++) {
      const pair t = pair_times(x[l], p[l]);
      const pair u = pair_times(ratio[k], pair_add(t, pair_minus(before[l])));
      before[l] = p[l];
      p[l] = pair_add(t, u);
    }
  }
}

static void newton_rough(int64_t n, const pair *ratio, pair *x) {
  double p[LANES], before[LANES];
  for (int l = 0; l < LANES; l++) {
    before[l] = 1.0;
    p[l] = x[l].hi;
  }
  for (int64_t k = 1; k < n; k++) {
    for (int l = 0; l < LANES; l++) {
      const double t = x[l].hi * p[l], next = fma(ratio[k].hi, t - before[l], t);
      before[l] = p[l];
      p[l] = next;
    }
  }
  for (int l = 0; l < LANES; l++) {
    const double y = x[l].hi;
    x[l].hi = y - p[l] * (1.0 - y) * (1.0 + y) / ((double)n * (before[l] - y * p[l]));
  }
}

/* x -= P_n / P_n', with (1 - x^2) P_n' = n (P_{n-1} - x P_n). */
static void newton_fine(int64_t n, const pair *ratio, pair *x) {
  const pair one = {1.0, 0.0}, count = {(double)n, 0.0};
  pair p[LANES], before[LANES];
  legendre(n, ratio, x, p, before);
  for (int l = 0; l < LANES; l++) {
    const pair square = pair_times(pair_add(one, pair_minus(x[l])), pair_add(one, x[l]));
    const pair slope = pair_times(count, pair_add(before[l], pair_minus(pair_times(x[l], p[l]))));
    x[l] = pair_add(x[l], pair_minus(pair_over(pair_times(p[l], square), slope)));
  }
}

/* Nodes k = first .. first + LANES - 1, counted from the end x = 1, of which there are `half`. */
static void make_nodes(int64_t n, int64_t first, int64_t half, const pair *ratio, double *node,
                       double *weight, double *coarse) {
  const pair one = {1.0, 0.0}, count = {(double)n, 0.0};
  const double m = (double)n;
  pair x[LANES], p[LANES], before[LANES];
  for (int l = 0; l < LANES; l++) {
    const int64_t k = first + l < half ? first + l : half - 1;
    const double angle = 3.14159265358979323846 * ((double)k + 0.75) / (m + 0.5);
    x[l] = (pair){(1.0 - (m - 1.0) / (8.0 * m * m * m)) * elementary_cos(angle), 0.0};
  }
  for (int i = 0; i < ROUGH_STEPS; i++) newton_rough(n, ratio, x);
  for (int l = 0; l < LANES; l++) {
    if (n % 2 == 1 && (first + l < half ? first + l : half - 1) == n / 2) x[l] = (pair){0.0, 0.0};
  }
  for (int i = 0; i < FINE_STEPS; i++) newton_fine(n, ratio, x);
  legendre(n, ratio, x, p, before);
  for (int l = 0; l < LANES && first + l < half; l++) {
    const int64_t k = first + l;
    const int middle = n % 2 == 1 && k == n / 2;
    const pair to_end = pair_add(one, pair_minus(x[l]));
    const pair square = pair_times(to_end, pair_add(one, x[l]));
    const pair np = pair_times(count, before[l]);
    const double w = pair_over(square, pair_times(np, np)).hi; /* half of the weight on [-1, 1] */
    const double distance = 0.5 * to_end.hi;
    node[k] = distance;
    node[n - 1 - k] = middle ? 0.5 : -distance;
    weight[k] = weight[n - 1 - k] = w;
    /* P_{n-2} from the recurrence, where P_n = 0 */
    const double q1 = before[l].hi, q2 = n > 1 ? (2.0 * m - 1.0) / (m - 1.0) * x[l].hi * q1 : 0.0;
    const double even = n % 2 == 1 ? (m - 0.5) * q1 : n > 2 ? (m - 1.5) * q2 : 0.0;
    const double odd = n % 2 == 1 ? (n > 2 ? (m - 1.5) * q2 : 0.0) : (m - 0.5) * q1;
    /* node k from the lower end is at -x */
    coarse[k] = w * (1.0 - (even - odd));
    coarse[n - 1 - k] = w * (1.0 - (even + odd));
  }
}

static status gauss_table(int64_t n, int dims, int new_only, double *node, double *weight,
                          double *coarse) {
  (void)dims;
  (void)new_only;
  status rc = STATUS_OK;
  const int64_t half = (n + 1) / 2;
  pair *ratio = NULL;
  TRY(alloc_array(&ratio, n + 1, sizeof *ratio, "recurrence of Legendre polynomials"));
  for (int64_t k = 0; k <= n; k++) {
    ratio[k] = pair_over((pair){(double)k, 0.0}, (pair){(double)(k + 1), 0.0});
  }
  for (int64_t k = 0; k < half; k += LANES) {
    make_nodes(n, k, half, ratio, node, weight, coarse);
  }
done:
  alloc_free(&ratio);
  return rc;
}

static status gauss_axis(int64_t n, int64_t panels, int dims, int new_only, quad_axis *a,
                         double *scale) {
  (void)dims;
  (void)new_only;
  if (n > NODES_MAX) {
    return fail(STATUS_USAGE,
                "gauss-legendre: n = %lld points per panel; expected at most %d (more "
                "points: more panels)",
                (long long)n, NODES_MAX);
  }
  a->kind = QUAD_TABLE;
  a->open = 0;
  a->panels = panels;
  a->per_panel = n;
  a->count = n * panels;
  a->step = (a->upper - a->lower) / (double)panels;
  *scale = a->step;
  return STATUS_OK;
}

static int64_t gauss_degree(int64_t n) { return 2 * n - 1; }

/* 1-D: n doubles up to 640, then panels do. Above, n grows by half at a time. */
static int64_t gauss_level(int level, int dims, int64_t *panels) {
  int64_t n = dims == 1 ? 10 : dims == 2 ? 8 : dims <= 4 ? 6 : dims <= 6 ? 4 : 3;
  *panels = 1;
  for (int i = 0; i < level; i++) {
    if (dims == 1 && n == 640)
      *panels *= 2;
    else
      n += dims == 1 ? n : n / 2;
    if (n > NODES_MAX || *panels > INT64_C(1) << 40) return 0;
  }
  return n;
}

/* Linear in t between neighbouring nodes. */
static double between(const quad_axis *a, int dims, int64_t i, double fraction, double *x) {
  (void)dims;
  double below, above;
  const double low = quad_table_place(a, i / a->per_panel, i % a->per_panel, &below, &above);
  const double high =
      quad_table_place(a, (i + 1) / a->per_panel, (i + 1) % a->per_panel, &below, &above);
  const double t = fma(high - low, fraction, low), density = (high - low) / a->step;
  *x = t;
  if (a->range == QUAD_FINITE) return density;
  return density * quad_stretch(a, t, t - a->lower, a->upper - t, x);
}

const quad_rule RULE_gauss_legendre = {
    .name = "gauss-legendre",
    .help = "n points per panel, up to 10000; the best for smooth integrands",
    .source = "Davis, Rabinowitz (1984), 2.7",
    .flags = QUAD_RULE_FIXED | QUAD_RULE_PANELS,
    .dims_min = 1,
    .dims_max = QUAD_DIMS,
    .level = gauss_level,
    .degree = gauss_degree,
    .order = 0,
    .axis = gauss_axis,
    .table = gauss_table,
    .between = between,
    .run = quad_fixed,
};
