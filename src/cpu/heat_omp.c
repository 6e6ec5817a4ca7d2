/* The heat equation on all cores. A stage goes over x-lines; threads take runs of lines (of points
 * in 1-D). A line is its end points, whose neighbours are somewhere else, and the piece between;
 * both are the same code: a piece is given the places of its neighbours, and works in chunks that
 * stay in the first-level cache, one kind of term after the other, each a loop that vectorises. The
 * bits are those of heat.h point by point.
 *
 * Traffic of an Euler stage: 16 bytes per point (u read once where three planes fit the cache, out
 * written), and 8 more per coefficient field, source, base and term that is another field. */
#include "omp_team.h"

#include <string.h>

#include "block_sum.h"
#include "heat_host.h"

enum { CHUNK = 512, SEGMENT = 4096 /* points of a piece of a 1-D line */ };

/* A stage, with what is the same for all its points. */
typedef struct job {
  const heat_work *w;
  const heat_stage *s;
  double c[HEAT_DIMS];
  double inflow[HEAT_FACES];
} job;

/* An x-line: where it lies and what its points have in common. `at` is the index of x = 0 (in 1-D
 * that may lie outside the slab); the others are distances from a point to its neighbours, and to
 * the places of its coefficients, in directions beyond x. */
typedef struct line {
  int64_t at, j[HEAT_DIMS];
  int64_t lo[HEAT_DIMS], hi[HEAT_DIMS];
  int64_t a_lo[HEAT_DIMS], a_hi[HEAT_DIMS];
  int holder; /* the first face beyond x that holds it; -1: none */
  int faces;  /* flux faces beyond x that it lies on */
  int face[HEAT_FACES];
} line;

/* Distances of direction d, at coordinate `here` of it. */
static void find_neighbours(const heat_work *w, int d, int64_t here, line *l) {
  const heat_grid *g = &w->s.g;
  const int64_t step = w->stride[d], n = g->n[d];
  const int around = g->face[2 * d] == HEAT_PERIODIC;
  const int64_t wrap = d == g->dims - 1 ? step : -step * (n - 1);
  l->lo[d] = here > 0 ? -step : around ? -wrap : step;
  l->hi[d] = here < n - 1 ? step : around ? wrap : -step;
  l->a_lo[d] = here > 0 || around ? l->lo[d] : 0;
  l->a_hi[d] = here < n - 1 || around ? 0 : l->hi[d];
}

static void note_faces(const heat_grid *g, int d, int64_t here, line *l) {
  for (int side = 0; side < 2; side++) {
    const int f = 2 * d + side;
    if (here != (side == 0 ? 0 : g->n[d] - 1)) continue;
    if (g->face[f] == HEAT_HELD && l->holder < 0) l->holder = f;
    if (g->face[f] == HEAT_FLUX) l->face[l->faces++] = f;
  }
}

/* The line in plane p (from the first owned one) at y. */
static void make_line(const heat_work *w, int64_t p, int64_t y, line *l) {
  const heat_slab *s = &w->s;
  const int last = s->g.dims - 1;
  memset(l, 0, sizeof *l);
  l->holder = -1;
  if (last == 0) {
    l->at = s->halo - s->first;
    return;
  }
  l->j[1] = y;
  l->j[last] = p;
  l->at = (p + s->halo) * s->plane + y * s->g.n[0] * (last > 1);
  for (int d = 1; d <= last; d++) {
    const int64_t here = d == last ? p + s->first : y;
    find_neighbours(w, d, here, l);
    note_faces(&s->g, d, here, l);
  }
}

/* ---- a chunk of a piece ---- */

static void start(const heat_stage *s, int64_t at, int64_t n, double *restrict acc) {
  const double *base = field_at(s->base) + at;
  for (int64_t i = 0; i < n; i++) acc[i] = base[i];
  for (int k = 0; k < s->terms; k++) {
    const double *term = field_at(s->term[k]) + at;
    const double weight = s->weight[k];
    for (int64_t i = 0; i < n; i++) acc[i] = fma(weight, term[i] - base[i], acc[i]);
  }
}

static void differ(const double *u, const double *lo, const double *hi, double c, int64_t n,
                   double *restrict acc) {
  for (int64_t i = 0; i < n; i++) acc[i] = heat_add(acc[i], c, lo[i], u[i], hi[i]);
}

static void differ_faces(const double *u, const double *lo, const double *hi, const double *a_lo,
                         const double *a_hi, double scale, int64_t n, double *restrict acc) {
  for (int64_t i = 0; i < n; i++) {
    acc[i] = heat_add_faces(acc[i], scale, a_lo[i], a_hi[i], lo[i], u[i], hi[i]);
  }
}

static void add_source(const heat_stage *s, int64_t at, int64_t n, double *restrict acc) {
  const double scale = s->scale, value = s->input.source_value;
  if (s->input.source.data.at != NULL) {
    const double *source = field_at(s->input.source) + at;
    for (int64_t i = 0; i < n; i++) acc[i] = fma(scale, source[i], acc[i]);
  } else if (value != 0.0) {
    for (int64_t i = 0; i < n; i++) acc[i] = fma(scale, value, acc[i]);
  }
}

/* The flux through face f into points x, x + 1, ... of a line. */
static void add_flux(const job *k, const line *l, int f, int64_t x, int64_t n, const double *u,
                     double *restrict acc) {
  const heat_work *w = k->w;
  const heat_input *in = &k->s->input;
  const double *values = field_at(in->flux_at[f]), factor = k->inflow[f], h = w->m.robin[f];
  int64_t j[HEAT_DIMS];
  memcpy(j, l->j, sizeof j);
  if (w->s.g.dims > 1) j[0] = x;
  const double *g = values == NULL ? &in->flux[f] : values + heat_face_at(&w->s, f, j);
  const int64_t step = values == NULL || f < 2 ? 0 : 1;
  if (w->m.is_robin[f]) {
    for (int64_t i = 0; i < n; i++) {
      acc[i] = fma(factor, heat_robin(h, g[i * step], u[i]), acc[i]);
    }
  } else {
    for (int64_t i = 0; i < n; i++) acc[i] = fma(factor, g[i * step], acc[i]);
  }
}

/* Where the x-neighbours of a piece lie, from its points, and its coefficients; the x-faces its
 * points lie on. */
typedef struct ends {
  int64_t lo, hi, a_lo, a_hi;
  int on[2];
} ends;

/* Points [x, x + n) of a line, n <= CHUNK, none of them held. */
static void chunk(const job *k, const line *l, const ends *e, int64_t x, int64_t n) {
  double acc[CHUNK];
  const heat_work *w = k->w;
  const heat_grid *g = &w->s.g;
  const heat_stage *s = k->s;
  const int64_t at = l->at + x;
  const double *u = field_at(s->u) + at;
  start(s, at, n, acc);
  for (int d = 0; d < g->dims; d++) {
    if (g->n[d] == 1) continue;
    const int64_t lo = d == 0 ? e->lo : l->lo[d], hi = d == 0 ? e->hi : l->hi[d];
    if (w->m.face[0] == NULL) {
      differ(u, u + lo, u + hi, k->c[d], n, acc);
    } else {
      const double *a = w->m.face[d] + at;
      differ_faces(u, u + lo, u + hi, a + (d == 0 ? e->a_lo : l->a_lo[d]),
                   a + (d == 0 ? e->a_hi : l->a_hi[d]), s->scale, n, acc);
    }
  }
  add_source(s, at, n, acc);
  for (int side = 0; side < 2; side++) {
    if (e->on[side]) add_flux(k, l, side, x, n, u, acc);
  }
  for (int i = 0; i < l->faces; i++) add_flux(k, l, l->face[i], x, n, u, acc);
  memcpy(field_at(s->out) + at, acc, (size_t)n * sizeof *acc);
}

/* ---- a line ---- */

/* Held points [x, x + n): the values of face f, else those of u. */
static void hold(const job *k, const line *l, int f, int64_t x, int64_t n) {
  const double *values = field_at(k->s->held[f]);
  const int64_t at = l->at + x;
  double *out = field_at(k->s->out) + at;
  int64_t j[HEAT_DIMS];
  memcpy(j, l->j, sizeof j);
  if (k->w->s.g.dims > 1) j[0] = x;
  if (values == NULL) {
    memcpy(out, field_at(k->s->u) + at, (size_t)n * sizeof *out);
  } else {
    memcpy(out, values + heat_face_at(&k->w->s, f, j), (size_t)n * sizeof *out);
  }
}

static void end_point(const job *k, const line *l, int64_t x) {
  const heat_grid *g = &k->w->s.g;
  const int low = x == 0, high = x == g->n[0] - 1;
  line here = {.holder = -1};
  ends e;
  if (low && g->face[0] == HEAT_HELD) {
    hold(k, l, 0, x, 1);
    return;
  }
  if (high && g->face[1] == HEAT_HELD) {
    hold(k, l, 1, x, 1);
    return;
  }
  if (l->holder >= 0) {
    hold(k, l, l->holder, x, 1);
    return;
  }
  find_neighbours(k->w, 0, x, &here);
  e = (ends){.lo = here.lo[0], .hi = here.hi[0], .a_lo = here.a_lo[0], .a_hi = here.a_hi[0]};
  e.on[0] = low && g->face[0] == HEAT_FLUX;
  e.on[1] = high && g->face[1] == HEAT_FLUX;
  chunk(k, l, &e, x, 1);
}

/* Points [begin, end) of a line. */
static void run_line(const job *k, const line *l, int64_t begin, int64_t end) {
  const int64_t n = k->w->s.g.n[0];
  const ends e = {.lo = -1, .hi = 1, .a_lo = -1};
  /* in 1-D the halo goes around the ends of a periodic line */
  if (begin < 0 || end > n) {
    for (int64_t x = begin; x < end && x < 0; x++) chunk(k, l, &e, x, 1);
    for (int64_t x = begin > n ? begin : n; x < end; x++) chunk(k, l, &e, x, 1);
    begin = begin < 0 ? 0 : begin;
    end = end > n ? n : end;
  }
  if (begin >= end) return;
  if (begin == 0) end_point(k, l, begin++);
  const int at_end = end == n && begin < end;
  if (at_end) end--;
  if (l->holder >= 0 && begin < end) {
    hold(k, l, l->holder, begin, end - begin);
  } else {
    for (int64_t x = begin; x < end; x += CHUNK) {
      chunk(k, l, &e, x, end - x < CHUNK ? end - x : CHUNK);
    }
  }
  if (at_end) end_point(k, l, end);
}

static status stage(device *d, heat_work *w, const heat_stage *s, int64_t from, int64_t to) {
  const heat_slab *slab = &w->s;
  const int dims = slab->g.dims;
  job k = {.w = w, .s = s};
  for (int i = 0; i < dims; i++) {
    k.c[i] = heat_coefficient(s->scale, w->m.alpha, slab->g.spacing[i]);
    k.inflow[2 * i] = s->scale * heat_inflow(&slab->g, 2 * i);
    k.inflow[2 * i + 1] = s->scale * heat_inflow(&slab->g, 2 * i + 1);
  }
  const int64_t rows = dims == 3 ? slab->g.n[1] : 1;
  const int64_t lines = dims == 1 ? (to - from + SEGMENT - 1) / SEGMENT : (to - from) * rows;
  const int team = (to - from) * slab->plane > 4 * SEGMENT ? d->threads : 1;
#pragma omp parallel for num_threads(team) schedule(static)
  for (int64_t i = 0; i < lines; i++) {
    line l;
    make_line(w, from + i / rows, i % rows, &l);
    if (dims == 1) {
      const int64_t begin = from + i * SEGMENT, end = begin + SEGMENT < to ? begin + SEGMENT : to;
      run_line(&k, &l, slab->first + begin, slab->first + end);
    } else {
      run_line(&k, &l, 0, slab->g.n[0]);
    }
  }
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

static status steps(device *d, heat_work *w, heat_field u, heat_field out, double dt,
                    const heat_input *input, int count) {
  return heat_host_steps(d, w, &HEAT_omp, u, out, dt, input, count);
}

const heat_backend HEAT_omp = {.create = heat_host_create,
                               .release = heat_host_release,
                               .stage = stage,
                               .steps = steps,
                               .pack = pack,
                               .unpack = unpack,
                               .totals = totals,
                               .levels = &HEAT_LEVEL_omp};
