/* Lines of points along x (heat_line.h). A line is its end points, whose neighbours are somewhere
 * else, and the piece between; both are the same code: a piece is told where its neighbours are.
 * What every point has (base, terms, differences) is one loop that vectorises, compiled for each
 * number of terms and of directions, with one alpha or coefficients per face; sources and fluxes
 * are added to a chunk that is still in the first-level cache. The bits are those of heat.h point
 * by point. */
#include "heat_line.h"

#include <string.h>

enum { CHUNK = 1024 };

/* Distances along one direction: from a point to its neighbours, and to the places of its
 * coefficients. */
typedef struct reach {
  int64_t lo, hi, a_lo, a_hi;
} reach;

/* `at` is the index of x = 0 (in 1-D that may lie outside the slab). */
typedef struct line {
  int64_t at, j[HEAT_DIMS];
  reach to[HEAT_DIMS]; /* of the directions beyond x */
  int holder;          /* the first face beyond x that holds it; -1: none */
  int faces;           /* flux faces beyond x that it lies on */
  int face[HEAT_FACES];
} line;

/* Points next to each other that have everything in common. */
typedef struct piece {
  double *out;
  const double *base, *u, *term[HEAT_TERMS];
  double weight[HEAT_TERMS];
  int directions; /* with neighbours */
  double scale, c[HEAT_DIMS];
  const double *lo[HEAT_DIMS], *hi[HEAT_DIMS], *a_lo[HEAT_DIMS], *a_hi[HEAT_DIMS];
} piece;

heat_job heat_job_of(const heat_work *w, const heat_stage *s) {
  heat_job k = {.w = w, .s = s};
  for (int d = 0; d < w->s.g.dims; d++) {
    k.c[d] = heat_coefficient(s->scale, w->m.alpha, w->s.g.spacing[d]);
    k.inflow[2 * d] = s->scale * heat_inflow(&w->s.g, 2 * d);
    k.inflow[2 * d + 1] = s->scale * heat_inflow(&w->s.g, 2 * d + 1);
  }
  return k;
}

heat_part heat_planes(const heat_slab *s, int64_t from, int64_t to) {
  heat_part p = {{0}, {s->g.n[0], s->g.n[1], s->g.n[2]}};
  p.from[s->g.dims - 1] = from;
  p.to[s->g.dims - 1] = to;
  return p;
}

/* ---- the loops ---- */

/* Inlined for each set of constants: what they rule out is not compiled. */
#define FOR_CONSTANTS static inline __attribute__((always_inline))

FOR_CONSTANTS double add_direction(const piece *q, int d, int variable, int64_t i, double out) {
  if (!variable) return heat_add(out, q->c[d], q->lo[d][i], q->u[i], q->hi[d][i]);
  return heat_add_faces(out, q->scale, q->a_lo[d][i], q->a_hi[d][i], q->lo[d][i], q->u[i],
                        q->hi[d][i]);
}

FOR_CONSTANTS double add_term(const piece *q, int k, double base, int64_t i, double out) {
  return fma(q->weight[k], q->term[k][i] - base, out);
}

FOR_CONSTANTS void update_point(const piece *q, int terms, int directions, int variable,
                                int64_t i) {
  const double base = q->base[i];
  double out = base;
  if (terms > 0) out = add_term(q, 0, base, i, out);
  if (terms > 1) out = add_term(q, 1, base, i, out);
  if (terms > 2) out = add_term(q, 2, base, i, out);
  if (directions > 0) out = add_direction(q, 0, variable, i, out);
  if (directions > 1) out = add_direction(q, 1, variable, i, out);
  if (directions > 2) out = add_direction(q, 2, variable, i, out);
  q->out[i] = out;
}

/* Fields are read at the place where `out` is written, or are others: no point waits for another.
 * The piece is a copy, so that nothing written can change it. The loop begins where a vector of out
 * does: then those of the other fields do not lie across cache lines either, but for x-neighbours
 * (measured: a third of the time). */
FOR_CONSTANTS void update(piece q, int64_t n, int terms, int directions, int variable) {
  const int64_t skew = -(int64_t)((uintptr_t)q.out / sizeof *q.out) & 3, head = skew < n ? skew : n;
  if (head > 0) update_point(&q, terms, directions, variable, 0);
  if (head > 1) update_point(&q, terms, directions, variable, 1);
  if (head > 2) update_point(&q, terms, directions, variable, 2);
#pragma GCC ivdep
  for (int64_t i = head; i < n; i++) update_point(&q, terms, directions, variable, i);
}

/* Stages that begin at their own u, or add a difference to it as their first term: what is read
 * twice otherwise is read once. */
FOR_CONSTANTS void update_shared(piece q, int64_t n, int terms, int directions, int variable) {
  if (terms == 0 && q.base == q.u) {
    q.base = q.u;
    update(q, n, terms, directions, variable);
  } else if (terms > 0 && q.term[0] == q.u) {
    q.term[0] = q.u;
    update(q, n, terms, directions, variable);
  } else {
    update(q, n, terms, directions, variable);
  }
}

FOR_CONSTANTS void update_terms(const piece *q, int64_t n, int directions, int variable,
                                int terms) {
  switch (terms) {
  case 0:
    update_shared(*q, n, 0, directions, variable);
    break;
  case 1:
    update_shared(*q, n, 1, directions, variable);
    break;
  case 2:
    update_shared(*q, n, 2, directions, variable);
    break;
  default:
    update_shared(*q, n, 3, directions, variable);
  }
}

FOR_CONSTANTS void update_directions(const piece *q, int64_t n, int terms, int variable) {
  switch (q->directions) {
  case 0:
    update_terms(q, n, 0, variable, terms);
    break;
  case 1:
    update_terms(q, n, 1, variable, terms);
    break;
  case 2:
    update_terms(q, n, 2, variable, terms);
    break;
  default:
    update_terms(q, n, 3, variable, terms);
  }
}

static void update_constant(const piece *q, int64_t n, int terms) {
  update_directions(q, n, terms, 0);
}

static void update_variable(const piece *q, int64_t n, int terms) {
  update_directions(q, n, terms, 1);
}

/* ---- a chunk of a piece ---- */

static void add_source(const heat_stage *s, int64_t at, int64_t n, double *restrict out) {
  const double scale = s->scale, value = s->input.source_value;
  if (s->input.source.data.at != NULL) {
    const double *source = field_at(s->input.source) + at;
    for (int64_t i = 0; i < n; i++) out[i] = fma(scale, source[i], out[i]);
  } else if (value != 0.0) {
    for (int64_t i = 0; i < n; i++) out[i] = fma(scale, value, out[i]);
  }
}

/* The first value of face f for points x, x + 1, ... of a line. */
static const double *face_values(const heat_work *w, const line *l, heat_field f, int face,
                                 int64_t x) {
  if (f.data.at == NULL) return NULL;
  int64_t j[HEAT_DIMS];
  memcpy(j, l->j, sizeof j);
  if (w->s.g.dims > 1) j[0] = x;
  return field_at(f) + heat_face_at(&w->s, face, j);
}

/* The flux through face f into points x, x + 1, ... of a line. */
static void add_flux(const heat_job *k, const line *l, int f, int64_t x, int64_t n, const double *u,
                     double *restrict out) {
  const heat_work *w = k->w;
  const heat_input *in = &k->s->input;
  const double *values = face_values(w, l, in->flux_at[f], f, x);
  const double *g = values == NULL ? &in->flux[f] : values, factor = k->inflow[f];
  const int64_t step = values == NULL || f < 2 ? 0 : 1;
  if (w->m.is_robin[f]) {
    const double h = w->m.robin[f];
    for (int64_t i = 0; i < n; i++) {
      out[i] = fma(factor, heat_robin(h, g[i * step], u[i]), out[i]);
    }
  } else {
    for (int64_t i = 0; i < n; i++) out[i] = fma(factor, g[i * step], out[i]);
  }
}

static void add_neighbours(const heat_job *k, piece *q, int d, const reach *to, int64_t at) {
  const int i = q->directions;
  if (k->w->s.g.n[d] == 1) return;
  q->lo[i] = q->u + to->lo;
  q->hi[i] = q->u + to->hi;
  q->c[i] = k->c[d];
  if (k->w->m.face[0] != NULL) {
    q->a_lo[i] = k->w->m.face[d] + at + to->a_lo;
    q->a_hi[i] = k->w->m.face[d] + at + to->a_hi;
  }
  q->directions++;
}

/* Points [x, x + n) of a line, n <= CHUNK, none of them held; their x-neighbours are at `along`,
 * and they lie on the flux faces on[0], on[1] of x. */
static void chunk(const heat_job *k, const line *l, const reach *along, const int on[2], int64_t x,
                  int64_t n) {
  const heat_work *w = k->w;
  const heat_stage *s = k->s;
  const int64_t at = l->at + x;
  piece q;
  q.u = field_at(s->u) + at;
  q.base = field_at(s->base) + at;
  q.out = field_at(s->out) + at;
  q.scale = s->scale;
  q.directions = 0;
  for (int i = 0; i < s->terms; i++) {
    q.term[i] = field_at(s->term[i]) + at;
    q.weight[i] = s->weight[i];
  }
  add_neighbours(k, &q, 0, along, at);
  for (int d = 1; d < w->s.g.dims; d++) add_neighbours(k, &q, d, &l->to[d], at);
  if (w->m.face[0] == NULL) {
    update_constant(&q, n, s->terms);
  } else {
    update_variable(&q, n, s->terms);
  }
  add_source(s, at, n, q.out);
  for (int side = 0; side < 2; side++) {
    if (on[side]) add_flux(k, l, side, x, n, q.u, q.out);
  }
  for (int i = 0; i < l->faces; i++) add_flux(k, l, l->face[i], x, n, q.u, q.out);
}

/* ---- a line ---- */

/* Along direction d, at coordinate `here` of it. */
static reach find_neighbours(const heat_work *w, int d, int64_t here) {
  const heat_grid *g = &w->s.g;
  const int64_t step = w->stride[d], n = g->n[d];
  const int around = g->face[2 * d] == HEAT_PERIODIC;
  const int64_t wrap = d == g->dims - 1 ? step : -step * (n - 1);
  reach to;
  to.lo = here > 0 ? -step : around ? -wrap : step;
  to.hi = here < n - 1 ? step : around ? wrap : -step;
  to.a_lo = here > 0 || around ? to.lo : 0;
  to.a_hi = here < n - 1 || around ? 0 : to.hi;
  return to;
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
  l->holder = -1;
  l->faces = 0;
  l->j[0] = l->j[1] = l->j[2] = 0;
  l->at = s->halo - s->first;
  if (last == 0) return;
  l->j[1] = y;
  l->j[last] = p;
  l->at = (p + s->halo) * s->plane + y * s->g.n[0] * (last > 1);
  for (int d = 1; d <= last; d++) {
    const int64_t here = d == last ? p + s->first : y;
    l->to[d] = find_neighbours(w, d, here);
    note_faces(&s->g, d, here, l);
  }
}

/* Held points [x, x + n): the values of face f, else those of u. */
static void hold(const heat_job *k, const line *l, int f, int64_t x, int64_t n) {
  const int64_t at = l->at + x;
  const double *values = face_values(k->w, l, k->s->held[f], f, x);
  double *out = field_at(k->s->out) + at;
  if (values == NULL) values = field_at(k->s->u) + at;
  if (n == 1) {
    *out = *values;
  } else {
    memcpy(out, values, (size_t)n * sizeof *values);
  }
}

static void end_point(const heat_job *k, const line *l, int64_t x) {
  const heat_grid *g = &k->w->s.g;
  const int low = x == 0, high = x == g->n[0] - 1;
  const int holder = low && g->face[0] == HEAT_HELD    ? 0
                     : high && g->face[1] == HEAT_HELD ? 1
                                                       : l->holder;
  if (holder >= 0) {
    hold(k, l, holder, x, 1);
  } else {
    const reach along = find_neighbours(k->w, 0, x);
    const int on[2] = {low && g->face[0] == HEAT_FLUX, high && g->face[1] == HEAT_FLUX};
    chunk(k, l, &along, on, x, 1);
  }
}

/* Points [x, end) of a line, all of them inside it. */
static void inner_points(const heat_job *k, const line *l, int64_t x, int64_t end) {
  static const reach along = {-1, 1, -1, 0};
  static const int on[2] = {0, 0};
  if (x >= end) return;
  if (l->holder >= 0) {
    hold(k, l, l->holder, x, end - x);
    return;
  }
  for (; x < end; x += CHUNK) chunk(k, l, &along, on, x, end - x < CHUNK ? end - x : CHUNK);
}

/* Points [x, end) of a line. In 1-D a periodic line has no ends: its halo goes around them. */
static void run_line(const heat_job *k, const line *l, int64_t x, int64_t end) {
  const heat_grid *g = &k->w->s.g;
  const int64_t n = g->n[0];
  if (x >= end) return;
  if (g->dims == 1 && g->face[0] == HEAT_PERIODIC && n > 1) {
    inner_points(k, l, x, end);
    return;
  }
  const int low = x == 0, high = end == n && n > 1;
  if (low) end_point(k, l, 0);
  inner_points(k, l, x + low, end - high);
  if (high) end_point(k, l, n - 1);
}

void heat_job_run(const heat_job *k, const heat_part *p) {
  const heat_slab *s = &k->w->s;
  const int last = s->g.dims - 1;
  line l;
  if (last == 0) {
    make_line(k->w, 0, 0, &l);
    run_line(k, &l, s->first + p->from[0], s->first + p->to[0]);
    return;
  }
  for (int64_t i = p->from[last]; i < p->to[last]; i++) {
    const int64_t begin = last == 1 ? 0 : p->from[1], end = last == 1 ? 1 : p->to[1];
    for (int64_t y = begin; y < end; y++) {
      if (y > begin && y > 1 && y < s->g.n[1] - 1) { /* as the line before, one further */
        l.at += s->g.n[0];
        l.j[1] = y;
      } else {
        make_line(k->w, i, y, &l);
      }
      run_line(k, &l, p->from[0], p->to[0]);
    }
  }
}
