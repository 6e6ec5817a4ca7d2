/* One grid of the multigrid hierarchy under the implicit heat schemes, and what one of its points
 * does, written once for every backend.
 *
 * A level is a tensor grid: direction d has n[d] points, whose distances may differ near its end
 * (three fine intervals make one coarse one where their number is odd). Its operator is
 *
 *   A u = mass u + scale (sum over d of [lo (u - u_lo) + hi (u - u_hi)] + robin u)
 *
 * lo and hi are the coefficients to the neighbours of a point: those of its coordinate, times the
 * value of the face between where alpha varies. A is self-adjoint in the inner product weighted by
 * the part of a cell each point owns, and restriction is the adjoint of interpolation in it: full
 * weighting, mirrored at flux faces. Interpolation is linear in each direction, x then y then z;
 * where alpha varies, linear in the resistance between the coarse points instead of the distance,
 * so that no value is carried across a face that conducts badly. Held points are no unknowns:
 * fields are 0 there.
 *
 * Order of a point's operations: t_d = fma(lo, u - u_lo, hi (u - u_hi)) for x, y, z, added in this
 * order; + robin u by fma; A u = fma(scale, sum, mass u). A coarse entry is three nested chains of
 * fma from +0.0 in the order of coordinates, over x of those over y of those over z. Where there is
 * no neighbour in y or z its coefficient is 0 and the point itself stands for it; in x, whatever
 * lies next in memory, which is finite.
 *
 * Source: Trottenberg, Oosterlee, Schueller, Multigrid (2001), ch. 2, 5.4, 7.7. */
#ifndef HEAT_LEVEL_H
#define HEAT_LEVEL_H

#include "heat.h"

enum { HEAT_REACH = 2, HEAT_TAPS = 2 * HEAT_REACH + 1 };

typedef struct heat_level_map {
  heat_slab s;                                 /* g.spacing is not used */
  const double *lo[HEAT_DIMS], *hi[HEAT_DIMS]; /* [n[d]]; 0 where there is no neighbour */
  const double *robin[HEAT_DIMS];              /* [n[d]] */
  const double *face[HEAT_DIMS];               /* of the slab, between a point and the next in d; 0
                                                  beyond the domain. NULL: constant alpha */
  /* To the next coarser level, where alpha varies: what a point takes of the lower of the two
     coarse points of direction d it lies between, the rest of the upper one. NULL: `part` there. */
  const double *share[HEAT_DIMS];
  /* To the next finer level, in its coordinates (NULL on the finest). Coarse point J lies at fine
     coordinate at[d][J] and takes weight tap[d][HEAT_TAPS J + k] of fine at[d][J] + k - HEAT_REACH;
     times heat_level_tap()'s share where alpha varies; fine point j lies between coarse
     below[d][j], of which it takes part[d][j], and the next, of which it takes 1 - part.
     at[d][n[d]] is the number of fine points. */
  const int64_t *at[HEAT_DIMS], *below[HEAT_DIMS];
  const double *tap[HEAT_DIMS], *part[HEAT_DIMS];
} heat_level_map;

/* Distances from a point to its neighbours in memory, and to the places of the faces. */
typedef struct heat_near {
  int64_t lo, hi, a_lo, a_hi;
} heat_near;

/* In direction d at coordinate `here`; `step` is the distance of points in d. */
PORTABLE heat_near heat_level_near(const heat_grid *g, int d, int64_t here, int64_t step) {
  heat_near near = {-step, step, -step, 0};
  const int64_t n = g->n[d];
  if (n == 1) {
    near.lo = near.hi = near.a_lo = 0;
    return near;
  }
  if (d == g->dims - 1 && g->face[2 * d] == HEAT_PERIODIC) return near; /* in the halo */
  if (g->face[2 * d] == HEAT_PERIODIC) {
    if (here == 0) near.lo = near.a_lo = step * (n - 1);
    if (here == n - 1) near.hi = -step * (n - 1);
  } else if (d > 0) {
    if (here == 0) near.lo = near.a_lo = 0;
    if (here == n - 1) near.hi = 0;
  }
  return near;
}

PORTABLE double heat_level_pull(double lo, double hi, double u, double u_lo, double u_hi) {
  return fma(lo, u - u_lo, hi * (u - u_hi));
}

PORTABLE double heat_level_apply(double mass, double scale, double sum, double u) {
  return fma(scale, sum, mass * u);
}

/* One step of smoothing: out = c0 z + c1 before + c2 (r - A z) / diagonal. */
PORTABLE double heat_level_relax(double z, double before, double residual, double diagonal,
                                 double c0, double c1, double c2) {
  return fma(c2, residual / diagonal, fma(c1, before, c0 * z));
}

/* The weight of a fine point in a coarse one: a + b share, share what it takes of the lower of its
 * two; a = 0, b = 1 above the coarse point, a = 1, b = -1 below. */
PORTABLE double heat_level_tap(double tap, double a, double b, double share) {
  return tap * fma(b, share, a);
}

/* The value of a fine point that takes w of the lower coarse one. */
PORTABLE double heat_level_between(double w, double lo, double hi) {
  return fma(1.0 - w, hi, w * lo);
}

/* An error over what is allowed. */
PORTABLE double heat_level_error(double error, double u, double v, double rtol, double atol) {
  const double a = fabs(u), b = fabs(v);
  return error / fma(rtol, a > b ? a : b, atol);
}

/* CG: what a point of x gets, and its new residual; q = A p. (+ 0.0: as combine() has it.) */
PORTABLE double heat_level_correct(double x, double along, double p, double against, double r) {
  return fma(along, p, against == 0.0 ? x + 0.0 : fma(against, r, x));
}

PORTABLE double heat_level_lessen(double r, double alpha, double q) {
  return fma(-alpha, q, r + 0.0);
}

/* Neighbouring coordinate `at` of direction d, around the end of a periodic one. */
PORTABLE int64_t heat_level_wrap(const heat_grid *g, int d, int64_t at) {
  const int64_t n = g->n[d];
  return at < 0 ? at + n : at >= n ? at - n : at;
}

/* What a coordinate of one direction brings to the operator at its points: where the neighbours
 * are, and their coefficients. */
typedef struct heat_level_part {
  heat_near near;
  double lo, hi, robin;
} heat_level_part;

/* `step`: the distance of points in d. */
PORTABLE heat_level_part heat_level_part_at(const heat_level_map *m, int d, int64_t j,
                                            int64_t step) {
  heat_level_part p;
  p.near = heat_level_near(&m->s.g, d, j, step);
  p.lo = m->lo[d][j];
  p.hi = m->hi[d][j];
  p.robin = m->robin[d][j];
  return p;
}

/* The sum over the `dims` directions of the operator at a point, from their parts; `at`: its place
 * in the slab; face NULL: alpha is constant. *diagonal: what multiplies u itself in it. u NULL: the
 * diagonal alone. (Where dims and face are known when this is compiled, loops and tests go.) */
PORTABLE double heat_level_sum_of(const heat_level_part *of, int dims, const double *const *face,
                                  const double *u, int64_t at, double *diagonal) {
  double sum = 0.0, own = 0.0, robin = 0.0, rest = 0.0;
  for (int d = 0; d < dims; d++) {
    const heat_near near = of[d].near;
    double lo = of[d].lo, hi = of[d].hi;
    if (face != 0) {
      lo *= face[d][at + near.a_lo];
      hi *= face[d][at + near.a_hi];
    }
    const double t =
        u == 0 ? 0.0 : heat_level_pull(lo, hi, u[at], u[at + near.lo], u[at + near.hi]);
    sum = d == 0 ? t : sum + t;
    own = d == 0 ? lo + hi : own + (lo + hi);
    if (d > 0) {
      rest += of[d].robin;
    } else {
      robin = of[d].robin;
    }
  }
  robin += rest;
  *diagonal = own + robin;
  return u == 0 ? 0.0 : fma(robin, u[at], sum);
}

/* The same from the map: j global coordinates. */
PORTABLE double heat_level_sum(const heat_level_map *m, const double *u, int64_t at,
                               const int64_t *j, double *diagonal) {
  heat_level_part of[HEAT_DIMS];
  int64_t step = 1;
  for (int d = 0; d < m->s.g.dims; d++) {
    of[d] = heat_level_part_at(m, d, j[d], step);
    step *= m->s.g.n[d];
  }
  return heat_level_sum_of(of, m->s.g.dims, m->face[0] == 0 ? 0 : m->face, u, at, diagonal);
}

/* The rate of a Robin term at a point: x, then the others. */
PORTABLE double heat_level_robin(const heat_level_map *m, const int64_t *j) {
  double rest = 0.0;
  for (int d = 1; d < m->s.g.dims; d++) rest += m->robin[d][j[d]];
  return m->robin[0][j[0]] + rest;
}

#endif
