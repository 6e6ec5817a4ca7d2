/* The heat equation by plain serial loops, straight from heat.h: one point at a time, its
 * neighbours found by their coordinates. The oracle of the parity tests. */
#include "ref_device.h"

#include <string.h>

#include "block_sum.h"
#include "heat_host.h"

/* Where the neighbour of point j in direction d lies, from the point: +1 or -1 step, the mirror
 * image's, or around the end. The last direction's ends within the domain are in the halo. */
static int64_t neighbour(const heat_work *w, const int64_t *j, int d, int side, int *mirrored) {
  const heat_grid *g = &w->s.g;
  const int last = g->dims - 1;
  const int64_t here = d == last ? j[d] + w->s.first : j[d];
  const int64_t step = side != 0 ? w->stride[d] : -w->stride[d];
  const int at_end = here == (side != 0 ? g->n[d] - 1 : 0);
  *mirrored = at_end && g->face[2 * d + side] != HEAT_PERIODIC;
  if (*mirrored) return -step;
  if (!at_end) return step;
  return d == last ? step : -step * (g->n[d] - 1);
}

static double differences(const heat_work *w, double scale, const double *u, int64_t at,
                          const int64_t *j, double out) {
  const heat_grid *g = &w->s.g;
  for (int d = 0; d < g->dims; d++) {
    if (g->n[d] == 1) continue;
    int lo_mirrored, hi_mirrored;
    const int64_t lo = neighbour(w, j, d, 0, &lo_mirrored);
    const int64_t hi = neighbour(w, j, d, 1, &hi_mirrored);
    if (w->m.face[0] == NULL) {
      const double c = heat_coefficient(scale, w->m.alpha, g->spacing[d]);
      out = heat_add(out, c, u[at + lo], u[at], u[at + hi]);
      continue;
    }
    /* a coefficient is kept with the lower of its two points; a mirrored one is the other one's */
    const double *face = w->m.face[d];
    const double a_lo = face[lo_mirrored ? at : at + lo];
    const double a_hi = face[hi_mirrored ? at + hi : at];
    out = heat_add_faces(out, scale, a_lo, a_hi, u[at + lo], u[at], u[at + hi]);
  }
  return out;
}

/* Coordinates j of a point, the last one from the first owned plane; global ones of it. */
static void global(const heat_work *w, const int64_t *j, int64_t out[HEAT_DIMS]) {
  for (int d = 0; d < w->s.g.dims; d++) out[d] = j[d];
  out[w->s.g.dims - 1] += w->s.first;
}

static double inputs(const heat_work *w, const heat_stage *s, const double *u, int64_t at,
                     const int64_t *j, double out) {
  const heat_grid *g = &w->s.g;
  const heat_input *in = &s->input;
  int64_t there[HEAT_DIMS];
  global(w, j, there);
  if (in->source.data.at != NULL) {
    out = fma(s->scale, field_at(in->source)[at], out);
  } else if (in->source_value != 0.0) {
    out = fma(s->scale, in->source_value, out);
  }
  for (int f = 0; f < 2 * g->dims; f++) {
    if (g->face[f] != HEAT_FLUX || there[f / 2] != (f % 2 == 0 ? 0 : g->n[f / 2] - 1)) continue;
    double flux = in->flux[f];
    if (in->flux_at[f].data.at != NULL) flux = field_at(in->flux_at[f])[heat_face_at(&w->s, f, j)];
    if (w->m.is_robin[f]) flux = heat_robin(w->m.robin[f], flux, u[at]);
    out = fma(s->scale * heat_inflow(g, f), flux, out);
  }
  return out;
}

static double point(const heat_work *w, const heat_stage *s, int64_t at, const int64_t *j) {
  const double *u = field_at(s->u);
  int64_t there[HEAT_DIMS];
  global(w, j, there);
  const int holder = heat_holder(&w->s.g, there);
  if (holder >= 0) {
    const double *held = field_at(s->held[holder]);
    return held == NULL ? u[at] : held[heat_face_at(&w->s, holder, j)];
  }
  const double base = field_at(s->base)[at];
  double out = base;
  for (int i = 0; i < s->terms; i++) {
    out = fma(s->weight[i], field_at(s->term[i])[at] - base, out);
  }
  out = differences(w, s->scale, u, at, j, out);
  return inputs(w, s, u, at, j, out);
}

static status stage(device *d, heat_work *w, const heat_stage *s, int64_t from, int64_t to) {
  (void)d;
  const heat_slab *slab = &w->s;
  const int last = slab->g.dims - 1;
  for (int64_t p = from; p < to; p++) {
    for (int64_t i = 0; i < slab->plane; i++) {
      const int64_t at = (p + slab->halo) * slab->plane + i;
      int64_t j[HEAT_DIMS] = {0};
      if (last > 0) j[0] = i % slab->g.n[0];
      if (last > 1) j[1] = i / slab->g.n[0];
      j[last] = p;
      field_at(s->out)[at] = point(w, s, at, j);
    }
  }
  return STATUS_OK;
}

static status pack(device *d, heat_work *w, const halo *h, heat_field u) {
  (void)d;
  const size_t plane = (size_t)w->s.plane;
  for (lidx i = 0; i < h->sends; i++) {
    memcpy(h->send_buffer + (size_t)i * plane, heat_owned_plane(w, u, h->send_row[i]),
           plane * sizeof(double));
  }
  return STATUS_OK;
}

static status unpack(device *d, heat_work *w, const halo *h, heat_field u) {
  (void)d;
  const size_t plane = (size_t)w->s.plane;
  for (lidx i = 0; i < h->ghosts; i++) {
    memcpy(heat_ghost_plane(w, h, u, i), h->ghost_buffer + (size_t)i * plane,
           plane * sizeof(double));
  }
  return STATUS_OK;
}

static status totals(device *d, heat_work *w, heat_field u, double *minimum, double *maximum) {
  const heat_slab *s = &w->s;
  const double *x = heat_owned_plane(w, u, 0);
  const int64_t line = s->g.dims == 1 ? s->planes : s->g.n[0], owned = heat_owned(s);
  double q[BLOCK_MAX];
  int nan = 0;
  *minimum = INFINITY;
  *maximum = -INFINITY;
  for (int64_t begin = 0; begin < owned;) {
    int count = 0;
    do {
      const int64_t i = begin + count;
      int64_t j[HEAT_DIMS] = {i % s->g.n[0], i / s->g.n[0] % s->g.n[1], i / s->plane + s->first};
      j[s->g.dims - 1] = i / s->plane + s->first;
      if (x[i] < *minimum) *minimum = x[i];
      if (x[i] > *maximum) *maximum = x[i];
      nan |= x[i] != x[i];
      q[count++] = heat_share(&s->g, j) * x[i];
    } while (count < BLOCK_MAX && (begin + count) % line != 0);
    tally_add(&d->sums, 0, block_sum(q, count));
    begin += count;
  }
  wide_normalise(&d->sums.sum[0]);
  *minimum = nan ? NAN : *minimum + 0.0; /* one of two zeros */
  *maximum = nan ? NAN : *maximum + 0.0;
  return STATUS_OK;
}

static status pass(device *d, heat_work *w, const heat_stage *s, int count, part which) {
  return heat_host_pass(d, w, &HEAT_ref, s, count, which);
}

static int depth(const device *d, const heat_grid *g, int variable, int64_t planes) {
  (void)d, (void)g, (void)variable, (void)planes;
  return 1;
}

const heat_backend HEAT_ref = {.create = heat_host_create,
                               .release = heat_host_release,
                               .stage = stage,
                               .pass = pass,
                               .depth = depth,
                               .pack = pack,
                               .unpack = unpack,
                               .totals = totals,
                               .levels = &HEAT_LEVEL_ref};
