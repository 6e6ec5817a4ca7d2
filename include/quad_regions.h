/* Regions of adaptive quadrature: an interval or a box, its points, its value and its error.
 * Written once for every backend; regions are lists on the host, points are made where they are
 * used.
 *
 * A region of `dims` directions is 2 dims doubles: low and high of direction 0, of direction 1 ...
 * They are places in t (quad.h): a place is the distance from the axis's lower end, or, where it is
 * negative, from its upper end; so places next to an end, where integrands are singular or x goes
 * to infinity, keep all their digits. Both edges of a region are measured from the same end.
 *
 * Kronrod (1-D): the 15 points of Gauss-Kronrod 7/15, numbered from low to high from 1 on; exact up
 * to degree 22, its error judged by the 7-point Gauss rule inside. Points 0 and 16 have no weight:
 * they lie close to the edges, where a jump would hide between the last node and the edge. Source:
 * Piessens, de Doncker-Kapenga, Ueberhuber, Kahaner, QUADPACK (1983), routine QK15: nodes, weights,
 * estimate.
 *
 * Malik (2-D to 10-D): 1 + 4 n + 2 n (n - 1) + 2^n points in n directions, exact up to degree 7,
 * its error the difference from the rule of degree 5 inside. Points by number: the centre; +-l2 in
 * one direction; +-l3 in one direction; +-l3 in two directions; the corners +-l5. Source: Genz,
 * Malik, An adaptive algorithm for numerical integration over an n-dimensional rectangular region,
 * J. Comput. Appl. Math. 6 (1980) 295-302.
 *
 * Sums have block_sum's order: lane l of 32 adds the terms l, l + 32, ... from +0.0, then the tree.
 * So one thread and 32 lanes of a warp get the same bits. */
#ifndef QUAD_REGIONS_H
#define QUAD_REGIONS_H

#include "quad.h"

typedef enum quad_region_rule { QUAD_KRONROD, QUAD_MALIK } quad_region_rule;

enum { QUAD_KRONROD_POINTS = 17, QUAD_MALIK_POINTS = 1245 /* in 10 directions, the most */ };

/* What the regions of an integral share. */
typedef struct quad_frame {
  int32_t dims, rule;
  quad_axis axis[QUAD_DIMS]; /* range, lower, upper, anchor */
} quad_frame;

typedef struct quad_estimate {
  double value, error;
  double low, high; /* smallest and largest of f dx/dt at its points */
  int32_t axis;     /* the direction to halve; QUAD_WHOLE: halving does not help */
  int32_t unused;
} quad_estimate;

enum { QUAD_WHOLE = -1 };

/* Where the edge points of an interval are, of [-1, 1]. */
#define QUAD_EDGE (1.0 - 0x1p-16)

/* The part of half an interval between the last node and an edge. */
#define QUAD_SLIVER 0.0085446288791873608

/* Off the polynomial by this part of what g spans is off for certain. */
#define QUAD_OFF 0.001

/* Rounding: a sum of |weight f| is taken to be known to this part of itself. */
#define QUAD_ROUNDING (16.0 * 0x1p-52)

/* A direction is not halved where its edges, in t or in x, agree to this part (512 of the 2^53
 * steps of a double are left: points stay apart, and off the ends). */
#define QUAD_NARROW 0x1p-42

PORTABLE int quad_region_points(const quad_frame *f) {
  return f->rule == QUAD_KRONROD ? QUAD_KRONROD_POINTS
                                 : 1 + 2 * f->dims * (f->dims + 1) + (1 << f->dims);
}

/* x at a place of an axis, measured from its upper end or not; the result is dx/dt. At infinity: 0,
 * with some finite x. */
PORTABLE double quad_place(const quad_axis *a, int from_upper, double place, double *x) {
  const double width = a->upper - a->lower;
  const double t = from_upper ? a->upper + place : a->lower + place;
  *x = t;
  if (a->range == QUAD_FINITE) return 1.0;
  const double below = from_upper ? width + place : place;
  const double above = from_upper ? -place : width - place;
  const double slope = quad_stretch(a, t, below, above, x);
  if (isfinite(slope) && isfinite(*x)) return slope;
  *x = a->anchor;
  return 0.0;
}

/* Point k of [-1, 1]: a Kronrod node (or an edge point, of weight 0), its weight, and its weight in
 * the Gauss rule (0: not one of its nodes). */
PORTABLE double quad_kronrod(int k, double *weight, double *gauss) {
  const double node[8] = {0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
                          0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
                          0.586087235467691130294144838258730, 0.405845151377397166906606412076961,
                          0.207784955007898467600689403773245, 0.0};
  const double wide[8] = {0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
                          0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
                          0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
                          0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
  const double few[4] = {0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
                         0.381830050505118944950369775488975, 0.417959183673469387755102040816327};
  if (k == 0 || k == QUAD_KRONROD_POINTS - 1) {
    *weight = *gauss = 0.0;
    return k == 0 ? -QUAD_EDGE : QUAD_EDGE;
  }
  const int j = k < 9 ? k - 1 : 15 - k;
  *weight = wide[j];
  *gauss = j % 2 == 1 ? few[j / 2] : 0.0;
  return k < 9 ? -node[j] : node[j];
}

/* How far g at the edge point next to -1 (upper = 0) or 1 is from the polynomial through the 15
 * nodes; 0 where it is not finite: ends are not looked at. The factors are the Lagrange polynomials
 * at QUAD_EDGE (their sizes sum to 3.8). */
PORTABLE double quad_kronrod_off(const double *g, int upper) {
  const double factor[15] = {0.006223486070202925,  -0.018407088974010766, 0.030364931326066116,
                             -0.043146575425824486, 0.05758005686511315,   -0.07360131590527386,
                             0.09146667172277623,   -0.11265772967465958,  0.13944799814986578,
                             -0.17415255910224836,  0.2206491059793202,    -0.290730952079967,
                             0.4190784755112357,    -0.7051760632627213,   1.4530615588001252};
  const double edge = upper ? g[16] : g[0];
  double there = 0.0;
  for (int j = 0; j < 15; j++) there = fma(factor[j], upper ? g[1 + j] : g[15 - j], there);
  return isfinite(edge - there) ? fabs(edge - there) : 0.0;
}

/* Where point k of Malik's rule is in direction d: 0 the centre; 1, 2 +-l2; 3, 4 +-l3; 5, 6 +-l5 */
PORTABLE int quad_malik_code(int dims, int k, int d) {
  const int one = 2 * dims, pairs = dims * (dims - 1) / 2;
  if (k == 0) return 0;
  k -= 1;
  if (k < one) return k / 2 == d ? 1 + k % 2 : 0;
  k -= one;
  if (k < one) return k / 2 == d ? 3 + k % 2 : 0;
  k -= one;
  if (k < 4 * pairs) {
    int i = 0, j = k / 4;
    for (; j >= dims - 1 - i; i++) j -= dims - 1 - i;
    return d == i ? 3 + k % 2 : d == i + 1 + j ? 3 + k / 2 % 2 : 0;
  }
  return 5 + ((k - 4 * pairs) >> d & 1);
}

/* On [-1, 1]: l2 = sqrt(9/70), l3 = sqrt(9/10), l5 = sqrt(9/19). */
PORTABLE double quad_malik_node(int code) {
  const double node[7] = {0.0,
                          0.358568582800318091990645153907938,
                          -0.358568582800318091990645153907938,
                          0.948683298050513799599668063329816,
                          -0.948683298050513799599668063329816,
                          0.688247201611685297721628734293623,
                          -0.688247201611685297721628734293623};
  return node[code];
}

/* Points of the same weights: group 0 the centre ... 4 the corners. First point of a group (of
 * group 5: the number of points). */
PORTABLE int quad_malik_first(int dims, int group) {
  return group == 0   ? 0
         : group <= 3 ? 1 + 2 * dims * (group - 1)
         : group == 4 ? 1 + 2 * dims * (dims + 1)
                      : 1 + 2 * dims * (dims + 1) + (1 << dims);
}

/* Weights of a group in the rules of degree 7 and 5, for a box of volume 1. */
PORTABLE double quad_malik_weight(int dims, int group, double *five) {
  const double n = (double)dims;
  switch (group) {
  case 0:
    *five = (729.0 - 950.0 * n + 50.0 * n * n) / 729.0;
    return (12824.0 - 9120.0 * n + 400.0 * n * n) / 19683.0;
  case 1:
    *five = 245.0 / 486.0;
    return 980.0 / 6561.0;
  case 2:
    *five = (265.0 - 100.0 * n) / 1458.0;
    return (1820.0 - 400.0 * n) / 19683.0;
  case 3:
    *five = 25.0 / 729.0;
    return 200.0 / 19683.0;
  default:
    *five = 0.0;
    return 6859.0 / 19683.0 / (double)(1 << dims);
  }
}

/* Direction d of a region at `node` of [-1, 1]: x; the result is dx/dt. */
PORTABLE double quad_region_place(const quad_frame *f, const double *edge, int d, double node,
                                  double *x) {
  const double low = edge[2 * d], high = edge[2 * d + 1];
  return quad_place(&f->axis[d], low < 0.0, fma(0.5 * (high - low), node, 0.5 * (low + high)), x);
}

/* Point k of a region: x[dims]; the result is dx/dt, over all directions, direction 0 first. */
PORTABLE double quad_region_point(const quad_frame *f, const double *edge, int k, double *x) {
  double weight, gauss, slope = 1.0;
  if (f->rule == QUAD_KRONROD) {
    return quad_region_place(f, edge, 0, quad_kronrod(k, &weight, &gauss), x);
  }
  for (int d = 0; d < f->dims; d++) {
    slope *= quad_region_place(f, edge, d, quad_malik_node(quad_malik_code(f->dims, k, d)), &x[d]);
  }
  return slope;
}

/* Whether direction d of a region may be halved (QUAD_NARROW). Towards infinity it ends before
 * dx/dt overflows. */
PORTABLE int quad_region_halves(const quad_frame *f, const double *edge, int d) {
  const double low = edge[2 * d], high = edge[2 * d + 1], width = high - low;
  double left, right;
  if (!(width > (f->axis[d].range == QUAD_FINITE ? 0x1p-1000 : 0x1p-480))) return 0;
  if (!(width > QUAD_NARROW * fmax(fabs(low), fabs(high)))) return 0;
  const double a = quad_place(&f->axis[d], low < 0.0, low, &left);
  const double b = quad_place(&f->axis[d], low < 0.0, high, &right);
  if (a == 0.0 || b == 0.0) return 1; /* reaches to infinity */
  return fabs(right - left) > QUAD_NARROW * fmax(fabs(left), fabs(right));
}

/* The direction in which a region is longest, relative to the range; the lowest of several. */
PORTABLE int quad_region_longest(const quad_frame *f, const double *edge) {
  int axis = QUAD_WHOLE;
  double most = 0.0;
  for (int d = 0; d < f->dims; d++) {
    const double length = (edge[2 * d + 1] - edge[2 * d]) / (f->axis[d].upper - f->axis[d].lower);
    if (length > most && quad_region_halves(f, edge, d)) {
      most = length;
      axis = d;
    }
  }
  return axis;
}

PORTABLE void quad_extremes(const double *g, int count, quad_estimate *out) {
  out->low = out->high = g[0];
  for (int k = 1; k < count; k++) {
    out->low = g[k] < out->low ? g[k] : out->low;
    out->high = g[k] > out->high ? g[k] : out->high;
  }
}

/* The error that the edges add: what g is off there, over the sliver; little where g is off by much
 * less than it spans, as where the rule resolves it. `spread`: of g at the nodes. */
PORTABLE double quad_kronrod_edges(const double *g, double spread) {
  double sum = 0.0;
  for (int upper = 0; upper < 2; upper++) {
    const double off = quad_kronrod_off(g, upper), much = off / (QUAD_OFF * spread);
    sum += QUAD_SLIVER * off * (much < 1.0 ? much * much : 1.0);
  }
  return sum;
}

/* Value and error from g[17], f dx/dt at the points. QK15's estimate: with d the difference of the
 * rules and s the integral of |g - mean|, s min(1, (200 d / s)^1.5): pessimistic where the rules
 * disagree, close to the truth where both resolve g; at least the rounding of the sum. */
PORTABLE void quad_kronrod_estimate(const quad_frame *f, const double *edge, const double *g,
                                    quad_estimate *out) {
  double term[4][QUAD_KRONROD_POINTS], weight[QUAD_KRONROD_POINTS];
  const double half = 0.5 * (edge[1] - edge[0]);
  for (int k = 0; k < QUAD_KRONROD_POINTS; k++) {
    double gauss;
    quad_kronrod(k, &weight[k], &gauss);
    term[0][k] = weight[k] != 0.0 ? weight[k] * g[k] : 0.0;
    term[1][k] = gauss != 0.0 ? gauss * g[k] : 0.0;
    term[2][k] = fabs(term[0][k]);
  }
  const double sum = block_sum(term[0], QUAD_KRONROD_POINTS), mean = 0.5 * sum;
  for (int k = 0; k < QUAD_KRONROD_POINTS; k++) {
    term[3][k] = weight[k] != 0.0 ? weight[k] * fabs(g[k] - mean) : 0.0;
  }
  const double size = half * block_sum(term[2], QUAD_KRONROD_POINTS);
  const double spread = half * block_sum(term[3], QUAD_KRONROD_POINTS);
  const double least = QUAD_ROUNDING * size;
  double error = half * fabs(sum - block_sum(term[1], QUAD_KRONROD_POINTS));
  if (spread > 0.0 && error > 0.0) {
    const double ratio = 200.0 * (error / spread);
    error = ratio < 1.0 ? spread * (ratio * sqrt(ratio)) : spread;
  }
  quad_extremes(g + 1, QUAD_KRONROD_POINTS - 2, out);
  error += half * quad_kronrod_edges(g, out->high - out->low);
  for (int k = 0; k < QUAD_KRONROD_POINTS; k += QUAD_KRONROD_POINTS - 1) {
    if (!isfinite(g[k])) continue;
    out->low = g[k] < out->low ? g[k] : out->low;
    out->high = g[k] > out->high ? g[k] : out->high;
  }
  out->value = half * sum;
  out->error = error > least ? error : least + 0.0 * error; /* a NaN stays one */
  out->axis = error > least && quad_region_halves(f, edge, 0) ? 0 : QUAD_WHOLE;
  out->unused = 0;
}

/* The direction of the largest fourth difference, the lowest of equal ones; the longest one where
 * all differences are rounding. `size`: mean of |g|. */
PORTABLE int quad_malik_axis(const quad_frame *f, const double *edge, const double *g,
                             double size) {
  const int n = f->dims;
  const double centre = g[0] + g[0];
  double most = QUAD_ROUNDING * size;
  int axis = QUAD_WHOLE;
  for (int d = 0; d < n; d++) {
    const double near = g[1 + 2 * d] + g[2 + 2 * d] - centre;
    const double far = g[1 + 2 * (n + d)] + g[2 + 2 * (n + d)] - centre;
    const double difference = fabs(near - far * (1.0 / 7.0)); /* (l2 / l3)^2 */
    if (difference > most && quad_region_halves(f, edge, d)) {
      most = difference;
      axis = d;
    }
  }
  return axis == QUAD_WHOLE ? quad_region_longest(f, edge) : axis;
}

/* Value and error from g[points]. */
PORTABLE void quad_malik_estimate(const quad_frame *f, const double *edge, const double *g,
                                  quad_estimate *out) {
  double seven[BLOCK_LANES], five[BLOCK_LANES], size[BLOCK_LANES], volume = 1.0;
  for (int l = 0; l < BLOCK_LANES; l++) seven[l] = five[l] = size[l] = 0.0;
  for (int d = 0; d < f->dims; d++) volume *= edge[2 * d + 1] - edge[2 * d];
  for (int group = 0; group < 5; group++) {
    double w5;
    const double w7 = quad_malik_weight(f->dims, group, &w5);
    const int end = quad_malik_first(f->dims, group + 1);
    for (int k = quad_malik_first(f->dims, group); k < end;) {
      const int lane = k % BLOCK_LANES;
      const int run = end - k < BLOCK_LANES - lane ? end - k : BLOCK_LANES - lane;
      for (int l = 0; l < run; l++) {
        seven[lane + l] += w7 * g[k + l];
        five[lane + l] += w5 * g[k + l];
        size[lane + l] += fabs(w7 * g[k + l]);
      }
      k += run;
    }
  }
  const double sum = block_tree(seven), mean = block_tree(size), other = block_tree(five);
  const double error = volume * fabs(sum - other), least = QUAD_ROUNDING * (volume * mean);
  quad_extremes(g, quad_region_points(f), out);
  out->value = volume * sum;
  out->error = error > least ? error : least + 0.0 * error;
  out->axis = error > least ? quad_malik_axis(f, edge, g, mean) : QUAD_WHOLE;
  out->unused = 0;
}

PORTABLE void quad_region_estimate(const quad_frame *f, const double *edge, const double *g,
                                   quad_estimate *out) {
  if (f->rule == QUAD_KRONROD) {
    quad_kronrod_estimate(f, edge, g, out);
  } else {
    quad_malik_estimate(f, edge, g, out);
  }
}

/* What a point adds: nothing where dx/dt is 0 (infinity), whatever f is there. */
PORTABLE double quad_region_term(double slope, double f) { return slope != 0.0 ? slope * f : 0.0; }

#endif
