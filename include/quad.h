/* The samples of fixed quadrature rules: which point and weight belong to a number. Written once,
 * for every backend: samples are never stored, each is made where it is used.
 *
 * A grid is a product of up to ten axes. An axis is a one-dimensional rule: uniform (trapezoid,
 * Simpson; points computed) or a table of nodes and weights repeated over equal panels (Gauss,
 * tanh-sinh). Sample s of a grid is a mixed-radix number, axis 0 fastest; the weight of a sample is
 * the product of its axes' weights, axis 0 first. The integral is grid.scale times the sum of
 * weight * f over all samples; scale takes what all weights share (the step of a uniform axis, half
 * a panel), so uniform weights are exact small numbers.
 *
 * Infinite ranges: the axis lives in t and x = x(t). Nodes are kept as distances from the nearer
 * end of their panel, so that x is exact close to a singular end, and t close to infinity.
 *   [a, inf):    x = a + t / (1 - t),         dx = dt / (1 - t)^2,                t in [0, 1)
 *   (-inf, b]:   x = b - (1 - t) / t,         dx = dt / t^2,                      t in (0, 1]
 *   (-inf, inf): x = t / ((1 - t) (1 + t)),   dx = (1 + t^2) / ((1 - t)(1 + t))^2 dt, t in (-1, 1)
 * (QUADPACK, Piessens et al. 1983, section 2.2.2 for the half lines.) A point at infinity has
 * weight 0, and the integrand's value there is not used.
 *
 * Error estimates without more evaluations: where grid.estimate is set a sample has a second
 * weight, that of a coarser rule on some of the same points (trapezoid and Simpson: every other
 * point; tables bring their own), and sum 1 is that rule's. For an inner block of a trapezoid these
 * are 2 and 0 in turn: its sum 1 is twice what the xor tree has in lane 0 before its last addition.
 *
 * Single precision (grid.single): x and f are rounded to float, weights too; terms are float
 * products, summed by quad_block_single.
 *
 * A grid of kind QUAD_SOBOL has no rules on its axes: sample s is point first + s of one replicate
 * of a randomised Sobol sequence (quad_sobol.h), all weights are 1, and the axes say where the unit
 * cube goes: x = lower + step u when finite, else the maps above.
 *
 * Sums: blocks of block_size(points) consecutive samples (block_sum.h), block sums into a wide
 * accumulator. */
#ifndef QUAD_H
#define QUAD_H

#include <math.h>

#include "block_sum.h"
#include "portable.h"
#include "quad_sobol.h"
#include "space.h"

/* Directions; and coordinates and parameters of an integrand together, at most. */
enum { QUAD_DIMS = 10, QUAD_INPUTS = 74 };

/* Sample numbers stay exact as doubles. */
#define QUAD_POINTS_MAX (INT64_C(1) << 53)

typedef enum quad_range {
  QUAD_FINITE,
  QUAD_UPWARD,   /* [anchor, inf) */
  QUAD_DOWNWARD, /* (-inf, anchor] */
  QUAD_LINE      /* (-inf, inf) */
} quad_range;

typedef enum quad_axis_kind {
  QUAD_TRAPEZOID,
  QUAD_SIMPSON,
  QUAD_MIDPOINT, /* the points that halving a trapezoid's step adds */
  QUAD_TABLE
} quad_axis_kind;

typedef struct quad_axis {
  int32_t kind, range;
  double lower, upper; /* of t; of x itself when finite. lower < upper */
  double anchor;       /* the finite end of a half line */
  double step;         /* uniform: between points; table: width of a panel */
  int64_t count;       /* points in all */
  int64_t panels;
  int64_t per_panel; /* table: nodes in a panel */
  /* [per_panel] in the backend's memory. A node is its distance from the panel's lower end, in
   * panel widths, or, where that is above 1/2, minus that from the upper end. */
  dptr node, weight, coarse; /* coarse: read where grid.estimate is set */
  /* table: the rule has no point at the ends; one that rounds to an end has weight 0 */
  int32_t open;
} quad_axis;

typedef enum quad_grid_kind { QUAD_PRODUCT, QUAD_SOBOL } quad_grid_kind;

typedef struct quad_grid {
  int32_t kind, dims, estimate, single;
  int64_t points; /* product: of the counts, at most QUAD_POINTS_MAX */
  double scale;
  int64_t first; /* sobol: the point that is sample 0 */
  dptr table;    /* sobol: [replicate][dims][SOBOL_STRIDE] words in the backend's memory */
  int32_t replicate;
  quad_axis axis[QUAD_DIMS];
} quad_grid;

/* t and its distances from both ends of the axis, to x; the result is dx/dt. */
PORTABLE double quad_stretch(const quad_axis *a, double t, double below, double above, double *x) {
  if (a->range == QUAD_UPWARD) {
    *x = a->anchor + below / above;
    return 1.0 / (above * above);
  }
  if (a->range == QUAD_DOWNWARD) {
    *x = a->anchor - above / below;
    return 1.0 / (below * below);
  }
  const double both = below * above;
  *x = t / both;
  return fma(t, t, 1.0) / (both * both);
}

/* Simpson's weights times 3: 1 4 2 4 ... 4 1. With an odd number of intervals the last three are
 * summed by the 3/8 rule (Davis, Rabinowitz, Methods of Numerical Integration, 1984, 2.2), whose
 * weights times 3 are 9/8 27/8 27/8 9/8; a single interval is a trapezoid (3/2 3/2). */
PORTABLE double quad_simpson_weight(int64_t i, int64_t count) {
  const int64_t intervals = count - 1;
  if (intervals == 1) return 1.5;
  const int64_t even = intervals % 2 == 0 ? intervals : intervals - 3; /* by Simpson */
  if (i < even) return i == 0 ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
  if (even == intervals) return 1.0;
  const double joined = even > 0 ? 1.0 : 0.0;
  return i == even ? 1.125 + joined : i == intervals ? 1.125 : 3.375;
}

/* The coarser rule of a trapezoid: step 2h; one interval too many is a trapezoid of step h. Of a
 * single interval: its lower end. */
PORTABLE double quad_trapezoid_coarse(int64_t i, int64_t count) {
  const int64_t intervals = count - 1, even = intervals - intervals % 2;
  if (intervals == 1) return i == 0 ? 1.0 : 0.0;
  double weight = 0.0;
  if (i % 2 == 0 && i <= even) weight = i == 0 || i == even ? 1.0 : 2.0;
  return even < intervals && i >= even ? weight + 0.5 : weight;
}

/* The coarser rule of Simpson's, times 3: step 2h on the intervals that are summed by Simpson, the
 * three of the 3/8 rule as they are; of three intervals in all: trapezoids. */
PORTABLE double quad_simpson_coarse(int64_t i, int64_t count) {
  const int64_t intervals = count - 1;
  if (intervals == 1) return i == 0 ? 3.0 : 0.0;
  if (intervals == 3) return i == 0 || i == 3 ? 1.5 : 3.0;
  const int64_t even = intervals % 2 == 0 ? intervals : intervals - 3;
  double weight = 0.0;
  if (i <= even && i % 2 == 0) weight = 2.0 * quad_simpson_weight(i / 2, even / 2 + 1);
  if (even == intervals || i < even) return weight;
  return weight + (i == even || i == intervals ? 1.125 : 3.375);
}

/* t of point j of a table's panel, and its distances from both ends of the axis. */
PORTABLE double quad_table_place(const quad_axis *a, int64_t panel, int64_t j, double *below,
                                 double *above) {
  const double node = ((const double *)a->node.at)[j];
  const int last = panel + 1 == a->panels;
  const double left = panel == 0 ? a->lower : fma((double)panel, a->step, a->lower);
  const double right = last ? a->upper : fma((double)(panel + 1), a->step, a->lower);
  const double t = node >= 0.0 ? fma(a->step, node, left) : fma(a->step, node, right);
  *below = panel == 0 && node >= 0.0 ? a->step * node : t - a->lower;
  *above = last && node < 0.0 ? -(a->step * node) : a->upper - t;
  return t;
}

/* Point i of an axis: its x; the result is its weight, without what grid.scale holds. The weight of
 * the coarser rule goes to *coarse, unless that is a null pointer. */
PORTABLE double quad_axis_point(const quad_axis *a, int64_t i, double *x, double *coarse) {
  double weight, second = 0.0, t, below, above;
  if (a->kind == QUAD_TABLE) {
    const int64_t panel = i / a->per_panel, j = i - panel * a->per_panel;
    t = quad_table_place(a, panel, j, &below, &above);
    weight = ((const double *)a->weight.at)[j];
    if (coarse) second = ((const double *)a->coarse.at)[j];
    if (a->open && a->range == QUAD_FINITE && (t <= a->lower || t >= a->upper)) {
      weight = second = 0.0;
    }
  } else if (a->kind == QUAD_MIDPOINT) {
    t = fma((double)i + 0.5, a->step, a->lower);
    below = t - a->lower;
    above = a->upper - t;
    weight = 1.0;
  } else {
    const int end = i == 0 || i == a->count - 1, simpson = a->kind == QUAD_SIMPSON;
    weight = simpson ? quad_simpson_weight(i, a->count) : end ? 0.5 : 1.0;
    if (coarse) {
      second = simpson ? quad_simpson_coarse(i, a->count) : quad_trapezoid_coarse(i, a->count);
    }
    t = i == a->count - 1 ? a->upper : fma((double)i, a->step, a->lower);
    below = t - a->lower;
    above = a->upper - t;
  }
  *x = t;
  if (a->range != QUAD_FINITE) {
    const double stretch = quad_stretch(a, t, below, above, x);
    weight *= stretch;
    second *= stretch;
    if (!isfinite(weight) || !isfinite(second) || !isfinite(*x)) {
      *x = a->anchor;
      weight = second = 0.0;
    }
  }
  if (coarse) *coarse = second;
  return weight;
}

/* sobol: the words of direction d. */
PORTABLE const uint64_t *quad_sobol_table(const quad_grid *g, int d) {
  return (const uint64_t *)g->table.at + ((int64_t)g->replicate * g->dims + d) * SOBOL_STRIDE;
}

/* A place u in (0, 1) on an axis: its x; the result is its weight. */
PORTABLE double quad_axis_place(const quad_axis *a, double u, double *x) {
  if (a->range == QUAD_FINITE) {
    *x = fma(u, a->step, a->lower);
    return 1.0;
  }
  const double t = fma(u, a->step, a->lower);
  const double weight = quad_stretch(a, t, a->step * u, a->step * (1.0 - u), x);
  if (isfinite(weight) && isfinite(*x)) return weight;
  *x = a->anchor;
  return 0.0;
}

/* Point i of a sobol grid's sequence: x[dims]; the result is its weight. */
PORTABLE double quad_sobol_point(const quad_grid *g, int64_t i, double *x) {
  double weight = 1.0;
  for (int d = 0; d < g->dims; d++) {
    const double u = sobol_uniform(sobol_digits(quad_sobol_table(g, d), (uint64_t)i));
    weight *= quad_axis_place(&g->axis[d], u, &x[d]);
  }
  return weight;
}

/* The digits of sample s: digit[d] < axis[d].count; sobol: digit[0] is the point's number. */
PORTABLE void quad_digits(const quad_grid *g, int64_t s, int64_t *digit) {
  if (g->kind == QUAD_SOBOL) {
    digit[0] = g->first + s;
    return;
  }
  for (int d = 0; d < g->dims; d++) {
    const int64_t count = g->axis[d].count, rest = s / count;
    digit[d] = s - rest * count;
    s = rest;
  }
}

/* Sample with these digits: x[dims]; the result is its weight, *coarse (may be a null pointer) that
 * of the coarser rule. */
PORTABLE double quad_point(const quad_grid *g, const int64_t *digit, double *x, double *coarse) {
  if (g->kind == QUAD_SOBOL) return quad_sobol_point(g, digit[0], x); /* has no coarser rule */
  double weight = quad_axis_point(&g->axis[0], digit[0], &x[0], coarse);
  for (int d = 1; d < g->dims; d++) {
    double second;
    weight *= quad_axis_point(&g->axis[d], digit[d], &x[d], coarse ? &second : 0);
    if (coarse) *coarse *= second;
  }
  return weight;
}

/* What a sample adds to its block: nothing where the weight is 0, whatever f is there. */
PORTABLE double quad_term(double weight, double f) { return weight != 0.0 ? weight * f : 0.0; }

/* The same in single precision. */
PORTABLE float quad_term_single(double weight, double f) {
  return weight != 0.0 ? (float)weight * (float)f : 0.0f;
}

/* One addition with its error kept (Neumaier, ZAMM 54 (1974) 39-51). */
PORTABLE void quad_add_single(float *sum, float *error, float x) {
  const float t = *sum + x;
  *error += fabsf(*sum) >= fabsf(x) ? (*sum - t) + x : (x - t) + *sum;
  *sum = t;
}

/* A block of float terms: lane l adds terms l, l + 32, ... in float with the errors kept; sum plus
 * error of each lane, now doubles, go through the xor tree. A term that is not finite spoils the
 * block as it should (its error would be NaN: it is left out then). */
PORTABLE double quad_block_single(const float *q, int count) {
  float sum[BLOCK_LANES], error[BLOCK_LANES];
  double lane[BLOCK_LANES];
  for (int l = 0; l < BLOCK_LANES; l++) sum[l] = error[l] = 0.0f;
  int at = 0;
  for (; at + BLOCK_LANES <= count; at += BLOCK_LANES) {
    for (int l = 0; l < BLOCK_LANES; l++) quad_add_single(&sum[l], &error[l], q[at + l]);
  }
  for (int l = 0; l < count - at; l++) quad_add_single(&sum[l], &error[l], q[at + l]);
  for (int l = 0; l < BLOCK_LANES; l++) {
    lane[l] = isfinite(sum[l]) ? (double)sum[l] + (double)error[l] : (double)sum[l];
  }
  return block_tree(lane);
}

/* Blocks of a grid, and the samples [first, end) of one. */
PORTABLE int64_t quad_blocks(const quad_grid *g) {
  const int64_t size = block_size(g->points);
  return g->points / size + (g->points % size != 0);
}

#endif
