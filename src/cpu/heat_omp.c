/* The heat equation on all cores: single stages, halo planes and totals. Lines are in heat_line.c,
 * several stages in one pass over memory in heat_pass.c.
 *
 * Traffic of an Euler stage: 16 bytes per point (u read once where three planes fit the cache, out
 * written), and 8 more per coefficient field, source, base and term that is another field. */
#include "omp_team.h"

#include <string.h>

#include "block_sum.h"
#include "heat_pass.h"

enum { SEGMENT = 4096 /* points of a piece of a 1-D line */ };

/* Threads take runs of lines, of segments in 1-D. */
void heat_job_spread(device *d, const heat_job *k, int64_t from, int64_t to) {
  const heat_slab *s = &k->w->s;
  const int dims = s->g.dims;
  const int64_t rows = dims == 3 ? s->g.n[1] : 1;
  const int64_t parts = dims == 1 ? (to - from + SEGMENT - 1) / SEGMENT : (to - from) * rows;
  const int team = (to - from) * s->plane > 4 * SEGMENT ? d->threads : 1;
#pragma omp parallel for num_threads(team) schedule(static)
  for (int64_t i = 0; i < parts; i++) {
    heat_part p = heat_planes(s, from + i / rows, from + i / rows + 1);
    if (dims == 3) {
      p.from[1] = i % rows;
      p.to[1] = i % rows + 1;
    } else if (dims == 1) {
      p.from[0] = from + i * SEGMENT;
      p.to[0] = p.from[0] + SEGMENT < to ? p.from[0] + SEGMENT : to;
    }
    heat_job_run(k, &p);
  }
}

static status stage(device *d, heat_work *w, const heat_stage *s, int64_t from, int64_t to) {
  const heat_job k = heat_job_of(w, s);
  heat_job_spread(d, &k, from, to);
  return STATUS_OK;
}

/* ---- halo and totals ---- */

static status pack(device *d, heat_work *w, const halo *h, heat_field u) {
  const size_t plane = (size_t)w->s.plane;
  const int team = h->sends * w->s.plane > 4 * SEGMENT ? d->threads : 1;
#pragma omp parallel for num_threads(team) schedule(static)
  for (lidx i = 0; i < h->sends; i++) {
    memcpy(h->send_buffer + (size_t)i * plane, heat_owned_plane(w, u, h->send_row[i]),
           plane * sizeof(double));
  }
  return STATUS_OK;
}

static status unpack(device *d, heat_work *w, const halo *h, heat_field u) {
  const size_t plane = (size_t)w->s.plane;
  const int team = h->ghosts * w->s.plane > 4 * SEGMENT ? d->threads : 1;
#pragma omp parallel for num_threads(team) schedule(static)
  for (lidx i = 0; i < h->ghosts; i++) {
    memcpy(heat_ghost_plane(w, h, u, i), h->ghost_buffer + (size_t)i * plane,
           plane * sizeof(double));
  }
  return STATUS_OK;
}

typedef struct extremes {
  double low, high;
  int nan;
} extremes;

/* Points [x, x + n) of the line that begins at index `row` of the owned ones; `share` is that of
 * points inside the line. */
static void block_totals(const heat_slab *s, const double *u, int64_t x, int n, double share,
                         worker *me, extremes *e) {
  double q[BLOCK_MAX];
  const heat_grid *g = &s->g;
  for (int i = 0; i < n; i++) q[i] = share * u[i];
  const int has_ends = g->n[0] > 1 && g->face[0] != HEAT_PERIODIC;
  if (has_ends && x == 0) q[0] = 0.5 * share * u[0];
  if (has_ends && x + n == g->n[0]) q[n - 1] = 0.5 * share * u[n - 1];
  for (int i = 0; i < n; i++) {
    e->low = u[i] < e->low ? u[i] : e->low;
    e->high = u[i] > e->high ? u[i] : e->high;
    e->nan |= u[i] != u[i];
  }
  worker_add(me, 0, block_sum(q, n));
}

/* The share that the directions beyond x leave of a line's points. */
static double line_share(const heat_slab *s, int64_t i) {
  heat_grid g = s->g;
  const int last = g.dims - 1;
  int64_t j[HEAT_DIMS] = {0};
  if (last == 0) return 1.0;
  if (last == 2) j[1] = i % g.n[1];
  j[last] = (last == 2 ? i / g.n[1] : i) + s->first;
  g.n[0] = 1; /* as if it had no ends */
  return heat_share(&g, j);
}

static status totals(device *d, heat_work *w, heat_field u, double *minimum, double *maximum) {
  const heat_slab *s = &w->s;
  const double *at = heat_owned_plane(w, u, 0);
  const int64_t length = s->g.dims == 1 ? s->planes : s->g.n[0], owned = heat_owned(s);
  const int64_t blocks = (length + BLOCK_MAX - 1) / BLOCK_MAX;
  const int64_t lines = length > 0 ? owned / length : 0;
  const int team = owned > 4 * SEGMENT ? d->threads : 1;
  extremes all = {INFINITY, -INFINITY, 0};
#pragma omp parallel for num_threads(team) schedule(static)
  for (int t = 0; t < d->threads; t++) {
    extremes mine = {INFINITY, -INFINITY, 0};
    const int64_t begin = lines * blocks * t / d->threads;
    const int64_t end = lines * blocks * (t + 1) / d->threads;
    for (int64_t i = begin; i < end; i++) {
      const int64_t row = i / blocks, x = i % blocks * BLOCK_MAX;
      const int n = length - x < BLOCK_MAX ? (int)(length - x) : BLOCK_MAX;
      block_totals(s, at + row * length + x, s->g.dims == 1 ? x + s->first : x, n,
                   line_share(s, row), &d->worker[t], &mine);
    }
    worker_settle(&d->worker[t]);
#pragma omp critical(heat_totals)
    {
      if (mine.low < all.low) all.low = mine.low;
      if (mine.high > all.high) all.high = mine.high;
      all.nan |= mine.nan;
    }
  }
  *minimum = all.nan ? NAN : all.low + 0.0; /* one of two zeros */
  *maximum = all.nan ? NAN : all.high + 0.0;
  return STATUS_OK;
}

const heat_backend HEAT_omp = {.create = heat_host_create,
                               .release = heat_host_release,
                               .stage = stage,
                               .pass = heat_pass_omp,
                               .depth = heat_depth_omp,
                               .pack = pack,
                               .unpack = unpack,
                               .totals = totals,
                               .levels = &HEAT_LEVEL_omp};
