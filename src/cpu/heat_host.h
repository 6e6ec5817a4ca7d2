/* What the CPU backends share of the heat equation: a slab with its medium, copied. */
#ifndef HEAT_HOST_H
#define HEAT_HOST_H

#include "heat_backend.h"

struct heat_work {
  heat_slab s;
  heat_medium m; /* m.face[] are the copies below */
  double *face[HEAT_DIMS];
  int64_t stride[HEAT_DIMS]; /* from a point to the next one in each direction */
};

static inline double *field_at(heat_field f) { return f.data.at; }

status heat_host_create(device *d, const heat_slab *s, const heat_medium *m, heat_work **out);
void heat_host_release(device *d, heat_work **w);

/* The planes that a stage goes over with `margin` planes of the halo on each side: those that are
 * in the domain; none where the slab has none. */
void heat_host_range(const heat_slab *s, int margin, int64_t *from, int64_t *to);

/* A pass the plain way: its stages one after the other, all of them as PART_BOUNDARY. */
status heat_host_pass(device *d, heat_work *w, const heat_backend *by, const heat_stage *s,
                      int count, part which);

/* The part of the halo plane that received plane number i goes to, and where it lies. */
static inline double *heat_ghost_plane(const heat_work *w, const halo *h, heat_field u, lidx i) {
  const int64_t row = h->ghost_row[i];
  const int64_t plane = row < w->s.halo ? row : row + w->s.planes;
  return field_at(u) + plane * w->s.plane;
}

static inline double *heat_owned_plane(const heat_work *w, heat_field u, int64_t plane) {
  return field_at(u) + (plane + w->s.halo) * w->s.plane;
}

#endif
