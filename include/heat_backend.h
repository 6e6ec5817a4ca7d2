/* The heat equation on a backend (backend.h): fields are slabs of planes (heat.h). Functions are
 * local; sums go to the device's current sums. */
#ifndef HEAT_BACKEND_H
#define HEAT_BACKEND_H

#include "backend.h"
#include "heat.h"

typedef struct heat_work heat_work; /* a slab made ready on a device */

/* A field in the backend's memory. */
typedef struct heat_field {
  dptr data;
} heat_field;

/* What does not change in time. Arrays are host memory, of the slab with its halo (as a field), and
 * may be freed after create(). */
typedef struct heat_medium {
  double alpha;                  /* constant, where face[0] is NULL */
  const double *face[HEAT_DIMS]; /* face[d][i]: coefficient between point i and the next in d */
  double robin[HEAT_FACES];      /* h of a Robin face, 0: Neumann */
} heat_medium;

/* What a stage adds beside the differences, at its time. NULL or 0: nothing. */
typedef struct heat_input {
  heat_field source;              /* s at every point of the slab */
  double flux[HEAT_FACES];        /* g, or ambient of a Robin face, where it is one number */
  heat_field flux_at[HEAT_FACES]; /* or per point: a field whose values on the face count */
} heat_input;

enum { HEAT_TERMS = 4 };

/* out = sum over i of weight[i] term[i] (fma chain from weight[0] * term[0]) + scale * rate(u), at
 * the points that are not held; held points get `held`'s value (NULL data: that of u). */
typedef struct heat_stage {
  int terms;
  double weight[HEAT_TERMS];
  heat_field term[HEAT_TERMS];
  double scale;
  heat_field u, out, held;
  heat_input input;
} heat_stage;

typedef struct heat_totals {
  double heat;             /* sum 0: share * u (of a cell's volume) */
  double minimum, maximum; /* NaN when an entry is */
} heat_totals;

typedef struct heat_backend {
  status (*create)(device *d, const heat_slab *s, const heat_medium *m, heat_work **out);
  void (*release)(device *d, heat_work **w);

  /* One stage over the planes [from, to) counted from the first owned one (negative: halo). u is
   * valid in [from - 1, to + 1). out is neither u nor a term, unless term i is read at the point
   * itself only. */
  status (*stage)(device *d, heat_work *w, const heat_stage *s, int64_t from, int64_t to);

  /* `steps` <= halo explicit Euler steps of dt in one pass over memory: out = u after them, on the
   * owned planes; u is valid in all of its halo and used up. Held points stay; input is that of all
   * steps. Same bits as `steps` stages. */
  status (*steps)(device *d, heat_work *w, heat_field u, heat_field out, double dt,
                  const heat_input *input, int steps);

  /* Halo: planes h->send_row[] of u into the plan's send buffer; its ghost buffer into the ghost
   * planes h->ghost_row[] (counted over both sides: [0, halo) before, [halo, 2 halo) behind). */
  status (*pack)(device *d, heat_work *w, const halo *h, heat_field u);
  status (*unpack)(device *d, heat_work *w, const halo *h, heat_field u);

  /* Sum 0: share * u over owned points, by blocks of up to 256 points of one x-line; and the
   * extremes, into *out. */
  status (*totals)(device *d, heat_work *w, heat_field u, heat_totals *out);
} heat_backend;

#endif
