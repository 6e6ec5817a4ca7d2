/* What the CPU backends share of the levels of implicit heat schemes: the map, copied, and the
 * transfers of whole x-lines, whose order is that of heat_level.h point by point. */
#ifndef HEAT_LEVEL_HOST_H
#define HEAT_LEVEL_HOST_H

#include "heat_backend.h"

struct heat_level {
  heat_level_map m; /* its arrays are copies */
  int64_t stride[HEAT_DIMS];
  int64_t lines; /* x-lines of a plane; 1-D: the slab is one line of `planes` points */
  /* of descend() on all cores (heat_descent_omp.c) */
  double *kept; /* lines of p as they were */
  int backwards;
};

static inline double *level_at(heat_field f) { return f.data.at; }

/* Where owned point 0 of plane p lies. */
static inline int64_t level_plane(const heat_level *l, int64_t p) {
  return (p + l->m.s.halo) * l->m.s.plane;
}

status heat_level_host_create(device *d, const heat_level_map *m, heat_level **out);
void heat_level_host_release(device *d, heat_level **l);

/* The line of coarse points in plane p, at y; of fine ones. */
void heat_level_restrict_line(const heat_level *l, const heat_level *finer, const double *u,
                              double *out, int64_t p, int64_t y);
void heat_level_interpolate_line(const heat_level *l, const heat_level *finer, const double *u,
                                 double *out, int64_t p, int64_t y);

/* The share of the points of a line, apart from its ends. */
double heat_level_line_share(const heat_slab *s, int64_t line);

/* Points of x-lines: of an owned line, and the first coordinate of it. */
static inline int64_t level_length(const heat_slab *s) {
  return s->g.dims == 1 ? s->planes : s->g.n[0];
}

#endif
