/* The fused operations of CG on all cores (heat_backend.h): sums with the operator in the same
 * pass, and plain CG as one pass an iteration.
 *
 * descend() changes p where it stands, though a point's operator needs its neighbours as they were.
 * So every share of the lines goes through them in order, keeping copies of the last ones: as many
 * lines as a point's neighbours are away (1 in 2-D, a plane in 3-D). What it needs of other shares
 * it copies beforehand. The sums of the new p follow those lines behind, from cache; those of the
 * first and last lines of a share wait until all shares are done. Every other pass goes backwards,
 * and meets what the last one left in cache.
 *
 * Traffic per point, 2-D with variable alpha: p and r read and written 32 bytes, two faces 16, x,
 * where it is touched, 16: 64 and 48 by turns, where apply, two dots and three combines have 120
 * and more. curvature() 24 (32 with r), advance() 56. */
#include "omp_team.h"

#include <string.h>

#include "alloc.h"
#include "block_sum.h"
#include "heat_level_host.h"
#include "lanes.h"

enum { FEW = 1 << 14, PIECE = 2048, PAD = 8 /* a kept line's neighbours, and its alignment */ };

/* One x-line of a field p, and the operator on it. Pointers are those of x = 0. */
typedef struct line {
  const double *u, *lo[HEAT_DIMS], *hi[HEAT_DIMS]; /* lines beside it; of x not used */
  const double *face[HEAT_DIMS];
  int64_t below[HEAT_DIMS]; /* from a face to the lower one */
  double low[HEAT_DIMS], high[HEAT_DIMS], rest, share;
  int64_t first;  /* coordinate of x = 0: of a slab in 1-D */
  int held, even; /* even: faces count as they are between the ends */
} line;

/* A run of lines [begin, end), counted over planes from the first owned one, and where lines of p
 * as they were are kept. */
typedef struct share {
  const heat_level *l;
  double *p;
  int64_t begin, end, reach, n;
  int step;            /* 1; backwards -1 */
  double *ring, *tail; /* [reach + 1], [reach] lines of `room` */
  int64_t room;
} share;

typedef struct work {
  const heat_level *l;
  const heat_descent *s;
  double *p, *x, *r;
  int stays; /* p does */
} work;

/* ---- lines ---- */

static int64_t reach_of(const heat_level *l) { return l->m.s.g.dims > 1 ? l->lines : 0; }

static int64_t room_of(const heat_level *l) {
  return (level_length(&l->m.s) + 3 * PAD) / PAD * PAD;
}

static int64_t lines_of(const heat_level *l) {
  return l->m.s.g.dims > 1 ? l->m.s.planes * l->lines : l->m.s.planes > 0;
}

/* Where line k of a field begins; of a field without its halo, too (halo planes count in 1-D). */
static int64_t line_at(const heat_level *l, int64_t k) {
  const heat_slab *s = &l->m.s;
  return s->g.dims > 1 ? s->halo * s->plane + k * s->g.n[0] : s->halo;
}

static double *kept_line(const share *h, int64_t k) {
  if (h->step > 0 && k >= h->end) return h->tail + (k - h->end) * h->room + PAD;
  if (h->step < 0 && k < h->begin) return h->tail + (h->begin - 1 - k) * h->room + PAD;
  return h->ring + (k + h->reach + 1) % (h->reach + 1) * h->room + PAD;
}

/* Line k as it was, while the share works on line `now`. */
static const double *old_line(const share *h, int64_t now, int64_t k) {
  const int ahead = (k - now) * h->step > 0;
  if (ahead && k >= h->begin && k < h->end) return h->p + line_at(h->l, k);
  return kept_line(h, k);
}

static void keep_line(const share *h, int64_t k) {
  const int64_t ends = h->reach == 0; /* 1-D: the points in the halo, too */
  memcpy(kept_line(h, k) - ends, h->p + line_at(h->l, k) - ends,
         (size_t)(h->n + 2 * ends) * sizeof(double));
}

/* Whether a direction's coefficients between its ends are 1, and have no Robin term. */
static int is_even(const heat_level_map *m) {
  int even = m->face[0] != NULL;
  for (int64_t i = 1; even && i + 1 < m->s.g.n[0]; i++) {
    even = m->lo[0][i] == 1.0 && m->hi[0][i] == 1.0 && m->robin[0][i] == 0.0;
  }
  return even;
}

/* Line k of p; h: as it was, while the share works on it. */
static line make_line(const heat_level *l, const double *p, const share *h, int64_t k, int even) {
  const heat_level_map *m = &l->m;
  const heat_grid *g = &m->s.g;
  const int last = g->dims - 1;
  const int64_t at = line_at(l, k), n = g->n[0];
  line out = {.even = even, .share = heat_level_line_share(&m->s, k)};
  out.u = h == NULL ? p + at : kept_line(h, k);
  out.first = last == 0 ? m->s.first : 0;
  for (int d = 0; d < HEAT_DIMS; d++) {
    out.lo[d] = out.hi[d] = out.u;
    out.face[d] = d > last || m->face[d] == NULL ? out.u : m->face[d] + at;
  }
  out.below[0] = -1;
  for (int d = 1; d <= last; d++) {
    const int64_t j = d == last ? k / l->lines + m->s.first : k % l->lines;
    const heat_near near = heat_level_near(g, d, j, l->stride[d]);
    const int64_t lo = k + near.lo / n, hi = k + near.hi / n;
    if (near.lo != 0) out.lo[d] = h == NULL ? p + line_at(l, lo) : old_line(h, k, lo);
    if (near.hi != 0) out.hi[d] = h == NULL ? p + line_at(l, hi) : old_line(h, k, hi);
    out.below[d] = near.a_lo;
    out.low[d] = m->lo[d][j];
    out.high[d] = m->hi[d][j];
    out.rest += m->robin[d][j];
    out.held |= j == 0 && g->face[2 * d] == HEAT_HELD;
    out.held |= j == g->n[d] - 1 && g->face[2 * d + 1] == HEAT_HELD;
    out.even &= out.low[d] == 1.0 && out.high[d] == 1.0;
  }
  return out;
}

/* ---- the operator ---- */

/* Points [x, x + n) of a line: where their neighbours and coefficients begin. */
typedef struct view {
  const double *u, *x_lo, *x_hi, *y_lo, *y_hi, *z_lo, *z_hi;
  const double *fx_lo, *fx_hi, *fy_lo, *fy_hi, *fz_lo, *fz_hi;
  const double *x_low, *x_high, *x_robin;
  double y_low, y_high, z_low, z_high, rest, mass, scale;
} view;

static inline view view_of(const heat_level *l, const heat_descent *s, const line *k,
                           heat_near near, int64_t x) {
  const double *u = k->u + x, *fx = k->face[0] + x, *fy = k->face[1] + x, *fz = k->face[2] + x;
  const int64_t gx = k->first + x;
  return (view){u,
                u + near.lo,
                u + near.hi,
                k->lo[1] + x,
                k->hi[1] + x,
                k->lo[2] + x,
                k->hi[2] + x,
                fx + near.a_lo,
                fx,
                fy + k->below[1],
                fy,
                fz + k->below[2],
                fz,
                l->m.lo[0] + gx,
                l->m.hi[0] + gx,
                l->m.robin[0] + gx,
                k->low[1],
                k->high[1],
                k->low[2],
                k->high[2],
                k->rest,
                s->mass,
                s->scale};
}

/* A u at point i of v. shape: 3 dims + 0: constant alpha, + 1: variable, + 2: and even. */
static inline double operate(int shape, const view *v, int64_t i) {
  const int dims = shape / 3, varies = shape % 3 > 0, even = shape % 3 == 2;
  double lo = even ? v->fx_lo[i] : varies ? v->x_low[i] * v->fx_lo[i] : v->x_low[i];
  double hi = even ? v->fx_hi[i] : varies ? v->x_high[i] * v->fx_hi[i] : v->x_high[i];
  double t = heat_level_pull(lo, hi, v->u[i], v->x_lo[i], v->x_hi[i]);
  if (dims > 1) {
    lo = even ? v->fy_lo[i] : varies ? v->y_low * v->fy_lo[i] : v->y_low;
    hi = even ? v->fy_hi[i] : varies ? v->y_high * v->fy_hi[i] : v->y_high;
    t += heat_level_pull(lo, hi, v->u[i], v->y_lo[i], v->y_hi[i]);
  }
  if (dims > 2) {
    lo = even ? v->fz_lo[i] : varies ? v->z_low * v->fz_lo[i] : v->z_low;
    hi = even ? v->fz_hi[i] : varies ? v->z_high * v->fz_hi[i] : v->z_high;
    t += heat_level_pull(lo, hi, v->u[i], v->z_lo[i], v->z_hi[i]);
  }
  const double robin = even ? 0.0 + v->rest : v->x_robin[i] + v->rest;
  return heat_level_apply(v->mass, v->scale, fma(robin, v->u[i], t), v->u[i]);
}

static inline void product(int shape, view v, int64_t n, double *restrict out) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) out[i] = operate(shape, &v, i);
}

/* All that changes at a line's points: x, where it is given, r, and p unless it stays. */
static inline __attribute__((always_inline)) void change(int shape, view v, int64_t n,
                                                         const heat_descent *s, int stays,
                                                         double *restrict x, double *restrict r,
                                                         double *restrict p) {
  const double alpha = s->alpha, beta = s->beta, along = s->along, against = s->against;
  if (x == NULL) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) {
      r[i] = heat_level_lessen(r[i], alpha, operate(shape, &v, i));
      p[i] = fma(beta, v.u[i], r[i]);
    }
  } else if (stays) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) {
      x[i] = heat_level_correct(x[i], along, v.u[i], against, r[i]);
      r[i] = heat_level_lessen(r[i], alpha, operate(shape, &v, i));
    }
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) {
      x[i] = heat_level_correct(x[i], along, v.u[i], against, r[i]);
      r[i] = heat_level_lessen(r[i], alpha, operate(shape, &v, i));
      p[i] = fma(beta, v.u[i], r[i]);
    }
  }
}

/* What is compiled for each shape by itself. */
#define FOR_SHAPE(shape, call)                                                                     \
  switch (shape) {                                                                                 \
  case 3:                                                                                          \
    call(3);                                                                                       \
    break;                                                                                         \
  case 4:                                                                                          \
    call(4);                                                                                       \
    break;                                                                                         \
  case 5:                                                                                          \
    call(5);                                                                                       \
    break;                                                                                         \
  case 6:                                                                                          \
    call(6);                                                                                       \
    break;                                                                                         \
  case 7:                                                                                          \
    call(7);                                                                                       \
    break;                                                                                         \
  case 8:                                                                                          \
    call(8);                                                                                       \
    break;                                                                                         \
  case 9:                                                                                          \
    call(9);                                                                                       \
    break;                                                                                         \
  case 10:                                                                                         \
    call(10);                                                                                      \
    break;                                                                                         \
  default:                                                                                         \
    call(11);                                                                                      \
    break;                                                                                         \
  }

static int shape_of(const heat_level *l, int even) {
  return 3 * l->m.s.g.dims + (l->m.face[0] == NULL ? 0 : even ? 2 : 1);
}

/* A u at the point of a line's end on a side, if that is in [x, x + n): *at counts from x. */
static int end_value(const heat_level *l, const heat_descent *s, const line *k, int side, int64_t x,
                     int64_t n, int64_t *at, double *value) {
  const heat_grid *g = &l->m.s.g;
  const int64_t gx = side == 0 ? 0 : g->n[0] - 1, i = gx - k->first - x;
  const int held = g->face[side] == HEAT_HELD || (gx == 0 && g->face[0] == HEAT_HELD);
  if (i < 0 || i >= n || (side == 1 && gx == 0)) return 0;
  const view v = view_of(l, s, k, heat_level_near(g, 0, gx, 1), x);
  *at = i;
  if (held || (g->n[0] == 1 && g->face[1] == HEAT_HELD)) {
    *value = 0.0;
    return 1;
  }
#define CALL(shape) *value = operate(shape, &v, i)
  FOR_SHAPE(shape_of(l, 0), CALL)
#undef CALL
  return 1;
}

static const heat_near BESIDE = {-1, 1, -1, 0};

/* A u on [x, x + n), ends of the line included: done again after the rest, so that the long loop
 * starts where a line does. */
static void product_line(const heat_level *l, const heat_descent *s, const line *k, int64_t x,
                         int64_t n, double *restrict out) {
  const view v = view_of(l, s, k, BESIDE, x);
  if (k->held) {
    memset(out, 0, (size_t)n * sizeof *out);
    return;
  }
#define CALL(shape) product(shape, v, n, out)
  FOR_SHAPE(shape_of(l, k->even), CALL)
#undef CALL
  for (int side = 0; side < 2; side++) {
    int64_t at;
    double value;
    if (end_value(l, s, k, side, x, n, &at, &value)) out[at] = value;
  }
}

/* ---- sums ---- */

/* Sum over n points of share x y, those of x beginning a line or ending it. */
static double block_of(const heat_level *l, const line *k, int64_t x, int n, const double *a,
                       const double *b) {
  const heat_grid *g = &l->m.s.g;
  const int64_t gx = x + k->first;
  const int has_ends = g->n[0] > 1 && g->face[0] != HEAT_PERIODIC;
  const int begins = has_ends && gx == 0, ends = has_ends && gx + n == g->n[0];
  _Alignas(64) double q[BLOCK_MAX];
  if (k->share != 1.0 || begins || ends) {
    for (int i = 0; i < n; i++) q[i] = k->share * a[i];
    if (begins) q[0] *= 0.5;
    if (ends) q[n - 1] *= 0.5;
    a = q;
  }
  return n % BLOCK_LANES == 0 ? lanes_dot(a, b, n) : block_dot(a, b, n);
}

/* Asks for what points [x, x + n) of line k will want, the first to come of them p. */
static void ask_for(const work *w, int64_t k, int64_t p, int64_t x, int64_t n) {
  const heat_level *l = w->l;
  const int64_t at = line_at(l, k) + x;
  lanes_ask_for(w->p + line_at(l, p) + x, (lidx)n);
  lanes_ask_for(w->r + at, (lidx)n);
  if (w->x != NULL) lanes_ask_for(w->x + at, (lidx)n);
  for (int d = 0; d < l->m.s.g.dims && l->m.face[0] != NULL; d++) {
    lanes_ask_for(l->m.face[d] + at, (lidx)n);
  }
}

/* next: the line that is to come, and the first of p not yet seen; NULL: none. */
static void sum_line(worker *me, const work *w, int64_t number, int even, const int64_t *next) {
  const heat_level *l = w->l;
  const line k = make_line(l, w->p, NULL, number, even);
  const int64_t length = level_length(&l->m.s);
  const double *r = w->r == NULL ? NULL : w->r + line_at(l, number);
  _Alignas(64) double q[BLOCK_MAX];
  for (int64_t x = 0; x < length; x += BLOCK_MAX) {
    const int n = length - x < BLOCK_MAX ? (int)(length - x) : BLOCK_MAX;
    if (next != NULL) ask_for(w, next[0], next[1], x, n);
    product_line(l, w->s, &k, x, n, q);
    worker_add(me, 0, block_of(l, &k, x, n, k.u + x, q));
    if (r == NULL) continue;
    worker_add(me, 1, block_of(l, &k, x, n, q, q));
    worker_add(me, 2, block_of(l, &k, x, n, r + x, r + x));
  }
}

/* ---- a line of an iteration ---- */

/* Its part for the end of a line, where that is in [x, x + n); *old is the point before. */
typedef struct corner {
  double x, r;
} corner;

static void change_end(const work *w, const line *k, int64_t number, int side, int64_t x, int64_t n,
                       corner old) {
  const heat_descent *s = w->s;
  const int64_t begin = line_at(w->l, number) + x;
  int64_t i;
  double q;
  if (!end_value(w->l, s, k, side, x, n, &i, &q)) return;
  const double u = k->u[x + i];
  if (w->x != NULL) w->x[begin + i] = heat_level_correct(old.x, s->along, u, s->against, old.r);
  w->r[begin + i] = heat_level_lessen(old.r, s->alpha, q);
  if (!w->stays) w->p[begin + i] = fma(s->beta, u, w->r[begin + i]);
}

/* All that changes at points [x, x + n) of line `number`, of p as it was (k). The first point of a
 * line again after the rest, so that the long loop starts where the line does; the last by itself.
 */
static void change_piece(const work *w, const line *k, int64_t number, int64_t x, int64_t n) {
  const int64_t begin = line_at(w->l, number) + x, last = begin + n - 1;
  double *to = w->x == NULL ? NULL : w->x + begin, *r = w->r + begin, *p = w->p + begin;
  const corner first = {to == NULL ? 0.0 : *to, *r};
  const int ends = x + n + k->first == w->l->m.s.g.n[0] && n > 1;
  const view v = view_of(w->l, w->s, k, BESIDE, x);
#define CALL(shape) change(shape, v, n - ends, w->s, w->stays, to, r, p)
  FOR_SHAPE(shape_of(w->l, k->even), CALL)
#undef CALL
  change_end(w, k, number, 0, x, n, first);
  if (ends) change_end(w, k, number, 1, x, n, (corner){to == NULL ? 0.0 : w->x[last], w->r[last]});
}

static void change_line(const work *w, const line *k, int64_t number) {
  const int64_t length = level_length(&w->l->m.s);
  if (k->held) return; /* all 0 */
  for (int64_t x = 0; x < length; x += PIECE) {
    change_piece(w, k, number, x, length - x < PIECE ? length - x : PIECE);
  }
}

/* ---- shares ---- */

static int shares_of(const device *d, const heat_level *l) {
  const int64_t reach = reach_of(l), most = reach == 0 ? 1 : lines_of(l) / (2 * reach);
  if (heat_owned(&l->m.s) <= FEW || most < 2) return 1;
  return most < d->threads ? (int)most : d->threads;
}

static share make_share(const heat_level *l, double *p, int i, int count) {
  const int64_t lines = lines_of(l), reach = reach_of(l), n = level_length(&l->m.s);
  share h = {.l = l, .p = p, .reach = reach, .n = n, .step = l->backwards ? -1 : 1};
  h.room = room_of(l);
  h.begin = lines * i / count;
  h.end = lines * (i + 1) / count;
  h.ring = l->kept + (2 * reach + 1) * h.room * i;
  h.tail = h.ring + (reach + 1) * h.room;
  return h;
}

static void keep_borders(const share *h) {
  for (int64_t k = h->begin - h->reach; k < h->begin; k++) keep_line(h, k);
  for (int64_t k = h->end; k < h->end + h->reach; k++) keep_line(h, k);
}

/* Sums of line k are wanted by descend(). */
static int in_range(const heat_level *l, int64_t k, int64_t from, int64_t to) {
  if (l->m.s.g.dims == 1) return from < to;
  return k >= from * l->lines && k < to * l->lines;
}

static void pass_through(worker *me, const work *w, const share *h, int64_t from, int64_t to,
                         int even) {
  for (int64_t i = 0; i < h->end - h->begin; i++) {
    const int64_t k = h->step > 0 ? h->begin + i : h->end - 1 - i, behind = k - h->step * h->reach;
    keep_line(h, k);
    const line old = make_line(w->l, w->p, h, k, even);
    change_line(w, &old, k);
    if (behind >= h->begin + h->reach && behind < h->end - h->reach && h->reach > 0 &&
        in_range(w->l, behind, from, to)) {
      const int64_t next[2] = {k + h->step, k + h->step * (1 + h->reach)};
      sum_line(me, w, behind, even, next);
    }
  }
}

/* The lines that pass_through() left out. */
static void catch_up(worker *me, const work *w, const share *h, int64_t from, int64_t to,
                     int even) {
  for (int64_t k = h->begin; k < h->end; k++) {
    if (h->reach > 0 && k >= h->begin + h->reach && k < h->end - h->reach) {
      k = h->end - h->reach - 1;
    } else if (in_range(w->l, k, from, to)) {
      sum_line(me, w, k, even, NULL);
    }
  }
}

/* ---- the operations ---- */

status heat_descend_omp(device *d, heat_level *l, const heat_descent *s, heat_field p, heat_field x,
                        heat_field r, int64_t from, int64_t to) {
  status rc = STATUS_OK;
  const work w = {.l = l, .s = s, .p = level_at(p), .x = level_at(x), .r = level_at(r)};
  const int count = shares_of(d, l), even = is_even(&l->m);
  const int64_t room = (2 * reach_of(l) + 1) * room_of(l);
  if (l->kept == NULL) {
    TRY(alloc_zeroed(&l->kept, room * d->threads, sizeof *l->kept, "lines of a solve"));
  }
  l->backwards = !l->backwards;
#pragma omp parallel for num_threads(count) schedule(static)
  for (int i = 0; i < count; i++) {
    const share h = make_share(l, w.p, i, count);
    keep_borders(&h);
  }
#pragma omp parallel for num_threads(count) schedule(static)
  for (int i = 0; i < count; i++) {
    const share h = make_share(l, w.p, i, count);
    pass_through(&d->worker[i], &w, &h, from, to, even);
  }
#pragma omp parallel for num_threads(count) schedule(static)
  for (int i = 0; i < count; i++) {
    const share h = make_share(l, w.p, i, count);
    catch_up(&d->worker[i], &w, &h, from, to, even);
    worker_settle(&d->worker[i]);
  }
done:
  return rc;
}

/* p stays: no line has to wait for another. */
static void advance_line(worker *me, const work *w, int64_t number, int even) {
  const heat_level *l = w->l;
  const line k = make_line(l, w->p, NULL, number, even);
  const int64_t length = level_length(&l->m.s);
  const double *r = w->r + line_at(l, number);
  change_line(w, &k, number);
  for (int64_t x = 0; x < length; x += BLOCK_MAX) {
    const int n = length - x < BLOCK_MAX ? (int)(length - x) : BLOCK_MAX;
    worker_add(me, 0, block_of(l, &k, x, n, r + x, r + x));
  }
}

/* Lines [begin, end), evenly over the threads: w->stays: advanced, else sums alone. */
static void run_lines(device *d, const work *w, int64_t begin, int64_t end) {
  const int even = is_even(&w->l->m);
  const int count = heat_owned(&w->l->m.s) > FEW ? d->threads : 1;
  const int64_t lines = end - begin;
#pragma omp parallel for num_threads(count) schedule(static)
  for (int i = 0; i < count; i++) {
    worker *me = &d->worker[i];
    for (int64_t k = begin + lines * i / count; k < begin + lines * (i + 1) / count; k++) {
      if (w->stays) {
        advance_line(me, w, k, even);
      } else {
        sum_line(me, w, k, even, NULL);
      }
    }
    worker_settle(me);
  }
}

status heat_curvature_omp(device *d, heat_level *l, double mass, double scale, heat_field p,
                          heat_field r, int64_t from, int64_t to) {
  const heat_descent s = {.mass = mass, .scale = scale};
  const work w = {.l = l, .s = &s, .p = level_at(p), .r = level_at(r)};
  const int flat = l->m.s.g.dims == 1;
  run_lines(d, &w, flat ? 0 : from * l->lines, flat ? from < to : to * l->lines);
  return STATUS_OK;
}

status heat_advance_omp(device *d, heat_level *l, double mass, double scale, double alpha,
                        heat_field p, heat_field x, heat_field r) {
  const heat_descent s = {.mass = mass, .scale = scale, .alpha = alpha, .along = alpha};
  const work w = {
      .l = l, .s = &s, .p = level_at(p), .x = level_at(x), .r = level_at(r), .stays = 1};
  run_lines(d, &w, 0, lines_of(l));
  return STATUS_OK;
}
