/* The heat equation on a backend (backend.h): fields are slabs of planes (heat.h). Functions are
 * local; sums go to the device's current sums. */
#ifndef HEAT_BACKEND_H
#define HEAT_BACKEND_H

#include "backend.h"
#include "heat.h"
#include "heat_level.h"

typedef struct heat_work heat_work; /* a slab made ready on a device */

/* A field in the backend's memory: heat_points() doubles; or values on a face: heat_face_points().
 */
typedef struct heat_field {
  dptr data;
} heat_field;

/* What does not change in time. Arrays are host memory, of the slab with its halo (as a field), and
 * may be freed after create(). */
typedef struct heat_medium {
  double alpha;                  /* constant, where face[0] is NULL */
  const double *face[HEAT_DIMS]; /* face[d][i]: alpha / spacing^2 between point i and the next in d
                                    (the last of a periodic direction within a plane: and the
                                    first); what lies beyond the domain is not read */
  int32_t is_robin[HEAT_FACES];
  double robin[HEAT_FACES]; /* h of a Robin face */
} heat_medium;

/* What a stage adds beside the differences, at its time. NULL or 0: nothing. */
typedef struct heat_input {
  heat_field source;              /* s at every point of the slab; else source_value */
  double source_value;            /* where it is one number */
  double flux[HEAT_FACES];        /* g, or ambient of a Robin face, where it is one number */
  heat_field flux_at[HEAT_FACES]; /* or per point of the face */
} heat_input;

enum { HEAT_TERMS = 3 };

/* out = base + sum over i of weight[i] (term[i] - base) + scale * rate(u), at the points that are
 * not held (heat.h has the order); a held point gets the value of held[f] where f is the first face
 * that holds it, and with NULL data u's value. */
typedef struct heat_stage {
  heat_field base;
  int terms;
  double weight[HEAT_TERMS];
  heat_field term[HEAT_TERMS];
  double scale;
  heat_field u, out;
  heat_input input;
  heat_field held[HEAT_FACES]; /* values on the face */
  int32_t fleeting;            /* out is read by stages of the same pass only */
} heat_stage;

typedef struct heat_level heat_level; /* a grid of the hierarchy (heat_level.h) on a device */

/* An iteration of CG without a preconditioner, in one pass (heat_level.h has a point's part). */
typedef struct heat_descent {
  double mass, scale;    /* A */
  double alpha, beta;    /* r -= alpha A p; then p = r + beta p */
  double along, against; /* x += along p + against r, both as they were before */
} heat_descent;

/* The levels of implicit schemes. Fields are of the level's slab, halo included, finite, and 0 at
 * held points, where these operations leave them 0. Ranges are those of a stage. */
typedef struct heat_level_backend {
  /* Arrays of the map are host memory and may be freed after create(). */
  status (*create)(device *d, const heat_level_map *m, heat_level **out);
  void (*release)(device *d, heat_level **l);

  /* r.data NULL: out = A u, else out = r - A u. */
  status (*apply)(device *d, heat_level *l, double mass, double scale, heat_field u, heat_field r,
                  heat_field out, int64_t from, int64_t to);

  /* out = c0 z + c1 out + c2 (r - A z) / diagonal of A. z.data NULL: z is 0, out = c2 r / diagonal.
   * c1 0: out is not read. */
  status (*relax)(device *d, heat_level *l, double mass, double scale, heat_field z, heat_field r,
                  heat_field out, const double c[3], int64_t from, int64_t to);

  /* out, of level l, = the restriction of u of the next finer one; and fine += the interpolation of
   * u. Owned planes; u has its halo. */
  status (*restriction)(device *d, heat_level *l, heat_level *finer, heat_field u, heat_field out);
  status (*interpolate)(device *d, heat_level *l, heat_level *finer, heat_field u, heat_field out);

  /* out = a x + (b y + c) on the owned planes; NULL data of x or y: that term is 0. */
  status (*combine)(device *d, heat_level *l, double a, heat_field x, double b, heat_field y,
                    double c, heat_field out);

  /* On the finest level. Sum 0: share x y over the owned points, by blocks of up to 256 of one
   * x-line; and the mean's: share (x / (atol + rtol max(|u|, |v|)))^2. */
  status (*dot)(device *d, heat_level *l, heat_field x, heat_field y);
  status (*weigh)(device *d, heat_level *l, heat_field x, heat_field u, heat_field v, double rtol,
                  double atol);

  /* Fused operations of CG on the finest level; all three NULL: the solver does with those above,
   * with the same bits (and has no plain CG). p has its halo.
   *
   * curvature: sum 0: share p A p over the planes [from, to), in blocks as in dot; r.data not NULL:
   * sums 1 and 2, share (A p)^2 and share r r, too. In 1-D the range is whole or empty.
   * advance: x += alpha p, r -= alpha A p; sum 0: share r r.
   * descend: all of *s on the owned planes, in place, whose p then lacks its halo; and curvature
   * over [from, to), which are such as need no halo. x.data NULL: x stays. */
  status (*curvature)(device *d, heat_level *l, double mass, double scale, heat_field p,
                      heat_field r, int64_t from, int64_t to);
  status (*advance)(device *d, heat_level *l, double mass, double scale, double alpha, heat_field p,
                    heat_field x, heat_field r);
  status (*descend)(device *d, heat_level *l, const heat_descent *s, heat_field p, heat_field x,
                    heat_field r, int64_t from, int64_t to);
} heat_level_backend;

typedef struct heat_backend {
  status (*create)(device *d, const heat_slab *s, const heat_medium *m, heat_work **out);
  void (*release)(device *d, heat_work **w);

  /* One stage over the planes [from, to) counted from the first owned one (negative: halo). u is
   * valid in [from - 1, to + 1). out is not u; it may be the base or a term, which are read at the
   * point itself only. An empty range does nothing. */
  status (*stage)(device *d, heat_work *w, const heat_stage *s, int64_t from, int64_t to);

  /* `count` stages in one pass over memory, with the bits of stage() for each in turn: stage i over
   * the planes [-r, planes + r), r = count - 1 - i, that are in the domain. What a stage reads and
   * no earlier one of the pass writes is valid that far into the halo, its u one plane further; a
   * slab without ghost planes takes any count. Several stages may have the same `out`.
   * PART_INTERIOR does what needs no ghost plane (or nothing), PART_BOUNDARY after it the rest,
   * PART_ALL both. Afterwards nothing is said about an `out` that is fleeting. */
  status (*pass)(device *d, heat_work *w, const heat_stage *s, int count, part which);

  /* How many stages a pass does best with, on a slab of so many planes, alpha constant or not. At
   * least 1. */
  int (*depth)(const device *d, const heat_grid *g, int variable, int64_t planes);

  /* Halo: planes h->send_row[] of u into the plan's send buffer; its ghost buffer into the ghost
   * planes h->ghost_row[] (counted over both sides: [0, halo) before, [halo, 2 halo) behind). */
  status (*pack)(device *d, heat_work *w, const halo *h, heat_field u);
  status (*unpack)(device *d, heat_work *w, const halo *h, heat_field u);

  /* Sum 0: share * u over owned points, by blocks of up to 256 points of one x-line; and the
   * extremes of the owned points: both NaN when an entry is, (inf, -inf) when there is none. */
  status (*totals)(device *d, heat_work *w, heat_field u, double *minimum, double *maximum);

  const heat_level_backend *levels;
} heat_backend;

#endif
