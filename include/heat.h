/* The heat equation du/dt = div(alpha grad u) + s on a line, rectangle or box, discretised in
 * space: what one grid point does, written once for every backend.
 *
 * Vertex-centred finite volumes. Direction d has n[d] points at origin[d] + j spacing[d], the
 * boundary's points included; a periodic direction has no repeated point (spacing = length / n).
 * x is fastest. A direction of one point has no neighbours and adds nothing.
 *
 * Faces (xmin, xmax, ymin, ...) are
 *   held      Dirichlet: points on it are values, not unknowns; at edges held wins over all else
 *   flux      Neumann and Robin: the point owns half a cell, so the missing neighbour is the mirror
 *             image of the other one, and the flux enters over half a cell: 2 g / spacing, where
 *             g = alpha du/dn (positive heats), or g = h (ambient - u)
 *   periodic  both faces of a direction
 *
 * The rate of a point, in this order: sum over d of alpha_d second difference, + s, + fluxes of
 * xmin, xmax, ymin, ... A stage of a time scheme starts from a base and adds weighted differences
 * of earlier stages to it, then `scale` times the rate:
 *
 *   base             out = base
 *   earlier stages   out = fma(weight[i], term[i] - base, out)
 *   constant alpha   out = fma(c[d], fma(-2, u, lo + hi), out),  c[d] = scale alpha / spacing[d]^2
 *   variable alpha   out = fma(scale, (a_hi (hi - u)) + (a_lo (lo - u)), out)
 *   source           out = fma(scale, s, out)
 *   flux             out = fma(scale * (2 / spacing), g, out)
 *
 * with a_hi, a_lo the face coefficients alpha / spacing^2 (harmonic mean of the two points). lo and
 * hi enter symmetrically, so mirrored problems have mirrored bits; a constant field stays as it is,
 * bit for bit, under every scheme: all that is added is a difference.
 *
 * A direction of one point has spacing = length and, with flux faces, owns a whole cell.
 *
 * Source: Versteeg, Malalasekera, An Introduction to Computational Fluid Dynamics (2007), ch. 4. */
#ifndef HEAT_H
#define HEAT_H

#include <math.h>

#include "portable.h"

enum { HEAT_DIMS = 3, HEAT_FACES = 6 };

typedef enum heat_face { HEAT_HELD, HEAT_FLUX, HEAT_PERIODIC } heat_face;

typedef struct heat_grid {
  int32_t dims;
  int32_t face[HEAT_FACES]; /* heat_face; face 2 d is the low side of direction d */
  int64_t n[HEAT_DIMS];     /* 1 beyond dims */
  double origin[HEAT_DIMS], spacing[HEAT_DIMS];
} heat_grid;

/* A rank's part: planes [first, first + planes) of the last direction (points in 1-D), with `halo`
 * planes of others' points before and behind them. A field is an array of (planes + 2 halo) * plane
 * doubles; owned point 0 is at halo * plane. */
typedef struct heat_slab {
  heat_grid g;
  int64_t first, planes;
  int64_t plane; /* points of a plane: n[0] in 2-D, n[0] n[1] in 3-D, 1 in 1-D */
  int64_t halo;
} heat_slab;

/* Where coordinate j of direction d lies. */
PORTABLE double heat_at(const heat_grid *g, int d, int64_t j) {
  return fma((double)j, g->spacing[d], g->origin[d]);
}

/* The first face, in order, that holds the point; -1: none does. */
PORTABLE int heat_holder(const heat_grid *g, const int64_t *j) {
  for (int d = 0; d < g->dims; d++) {
    if (j[d] == 0 && g->face[2 * d] == HEAT_HELD) return 2 * d;
    if (j[d] == g->n[d] - 1 && g->face[2 * d + 1] == HEAT_HELD) return 2 * d + 1;
  }
  return -1;
}

/* The part of a cell that a point owns, in cells: 1/2 for each flux or held face it lies on. Total
 * heat is the sum of u times this times the cell's volume. */
PORTABLE double heat_share(const heat_grid *g, const int64_t *j) {
  double share = 1.0;
  for (int d = 0; d < g->dims; d++) {
    if (g->n[d] == 1 || g->face[2 * d] == HEAT_PERIODIC) continue;
    if (j[d] == 0 || j[d] == g->n[d] - 1) share *= 0.5;
  }
  return share;
}

/* What a flux through `face` is multiplied with to be a rate: 1 over the part of a cell it enters.
 */
PORTABLE double heat_inflow(const heat_grid *g, int face) {
  return (g->n[face / 2] == 1 ? 1.0 : 2.0) / g->spacing[face / 2];
}

/* Values on a face are arrays with one number per point of it, x before y before z. The last
 * direction counts the slab's planes, halo included (unless it is the face's own). Where the point
 * j (j[last] counted from the first owned plane) is in there: */
PORTABLE int64_t heat_face_at(const heat_slab *s, int face, const int64_t *j) {
  const int own = face / 2, last = s->g.dims - 1;
  int64_t at = 0, stride = 1;
  for (int d = 0; d <= last; d++) {
    if (d == own) continue;
    at += (d == last ? j[d] + s->halo : j[d]) * stride;
    stride *= d == last ? s->planes + 2 * s->halo : s->g.n[d];
  }
  return at;
}

/* The length of such an array. */
PORTABLE int64_t heat_face_points(const heat_slab *s, int face) {
  const int own = face / 2, last = s->g.dims - 1;
  int64_t points = 1;
  for (int d = 0; d <= last; d++) {
    if (d == own) continue;
    points *= d == last ? s->planes + 2 * s->halo : s->g.n[d];
  }
  return points;
}

/* The points of a slab's field, halo included, and of its owned part. */
PORTABLE int64_t heat_points(const heat_slab *s) { return (s->planes + 2 * s->halo) * s->plane; }
PORTABLE int64_t heat_owned(const heat_slab *s) { return s->planes * s->plane; }

/* c[d] of a stage. */
PORTABLE double heat_coefficient(double scale, double alpha, double spacing) {
  return scale * alpha / (spacing * spacing);
}

PORTABLE double heat_second(double lo, double u, double hi) { return fma(-2.0, u, lo + hi); }

/* One direction of a stage, constant alpha. c = scale * alpha / spacing^2. */
PORTABLE double heat_add(double out, double c, double lo, double u, double hi) {
  return fma(c, heat_second(lo, u, hi), out);
}

/* One direction of a stage, variable alpha. */
PORTABLE double heat_add_faces(double out, double scale, double a_lo, double a_hi, double lo,
                               double u, double hi) {
  return fma(scale, a_hi * (hi - u) + a_lo * (lo - u), out);
}

/* The flux through a Robin face. */
PORTABLE double heat_robin(double h, double ambient, double u) { return h * (ambient - u); }

/* The coefficient of a face between points of conductivity p and q: the harmonic mean. */
PORTABLE double heat_mean(double p, double q) { return p == q ? p : 2.0 * p * q / (p + q); }

#endif
