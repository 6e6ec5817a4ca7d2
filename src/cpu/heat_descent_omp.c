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

enum { FEW = 1 << 14 };

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
  int64_t begin, end, reach, n; /* n points of a line, beside two of its neighbours when kept */
  int step;                     /* 1; backwards -1 */
  double *ring, *tail;          /* [reach + 1], [reach] lines of n + 2 */
} share;

typedef struct work {
  const heat_level *l;
  const heat_descent *s;
  double *p, *x, *r;
  int stays; /* p does */
} work;

/* ---- lines ---- */

static int64_t reach_of(const heat_level *l) { return l->m.s.g.dims > 1 ? l->lines : 0; }

static int64_t lines_of(const heat_level *l) {
  return l->m.s.g.dims > 1 ? l->m.s.planes * l->lines : l->m.s.planes > 0;
}

/* Where line k of a field begins; of a field without its halo, too (halo planes count in 1-D). */
static int64_t line_at(const heat_level *l, int64_t k) {
  const heat_slab *s = &l->m.s;
  return s->g.dims > 1 ? s->halo * s->plane + k * s->g.n[0] : s->halo;
}

static double *kept_line(const share *h, int64_t k) {
  const int64_t room = h->n + 2;
  if (h->step > 0 && k >= h->end) return h->tail + (k - h->end) * room + 1;
  if (h->step < 0 && k < h->begin) return h->tail + (h->begin - 1 - k) * room + 1;
  return h->ring + (k + h->reach + 1) % (h->reach + 1) * room + 1;
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

/* out = A u at points [x, x + n) of a line whose neighbours in x are x_lo and x_hi away, and the
 * lower face a_lo. */
static inline void product(int dims, int varies, int even, const heat_level *l,
                           const heat_descent *s, const line *k, heat_near near, int64_t x,
                           int64_t n, double *restrict out) {
  const double *u = k->u + x, *x_lo = u + near.lo, *x_hi = u + near.hi;
  const double *y_lo = k->lo[1] + x, *y_hi = k->hi[1] + x;
  const double *z_lo = k->lo[2] + x, *z_hi = k->hi[2] + x;
  const double *fx_hi = k->face[0] + x, *fx_lo = fx_hi + near.a_lo;
  const double *fy_hi = k->face[1] + x, *fy_lo = fy_hi + k->below[1];
  const double *fz_hi = k->face[2] + x, *fz_lo = fz_hi + k->below[2];
  const int64_t gx = k->first + x;
  const double *x_low = l->m.lo[0] + gx, *x_high = l->m.hi[0] + gx, *x_robin = l->m.robin[0] + gx;
  const double y_low = k->low[1], y_high = k->high[1], z_low = k->low[2], z_high = k->high[2];
  const double rest = k->rest, mass = s->mass, scale = s->scale;
  for (int64_t i = 0; i < n; i++) {
    double lo = even ? fx_lo[i] : varies ? x_low[i] * fx_lo[i] : x_low[i];
    double hi = even ? fx_hi[i] : varies ? x_high[i] * fx_hi[i] : x_high[i];
    double t = heat_level_pull(lo, hi, u[i], x_lo[i], x_hi[i]);
    if (dims > 1) {
      lo = even ? fy_lo[i] : varies ? y_low * fy_lo[i] : y_low;
      hi = even ? fy_hi[i] : varies ? y_high * fy_hi[i] : y_high;
      t += heat_level_pull(lo, hi, u[i], y_lo[i], y_hi[i]);
    }
    if (dims > 2) {
      lo = even ? fz_lo[i] : varies ? z_low * fz_lo[i] : z_low;
      hi = even ? fz_hi[i] : varies ? z_high * fz_hi[i] : z_high;
      t += heat_level_pull(lo, hi, u[i], z_lo[i], z_hi[i]);
    }
    const double robin = even ? 0.0 + rest : x_robin[i] + rest;
    out[i] = heat_level_apply(mass, scale, fma(robin, u[i], t), u[i]);
  }
}

static void product_any(const heat_level *l, const heat_descent *s, const line *k, heat_near near,
                        int even, int64_t x, int64_t n, double *restrict out) {
  switch (3 * l->m.s.g.dims + (l->m.face[0] == NULL ? 0 : even ? 2 : 1)) {
  case 3:
    product(1, 0, 0, l, s, k, near, x, n, out);
    break;
  case 4:
    product(1, 1, 0, l, s, k, near, x, n, out);
    break;
  case 5:
    product(1, 1, 1, l, s, k, near, x, n, out);
    break;
  case 6:
    product(2, 0, 0, l, s, k, near, x, n, out);
    break;
  case 7:
    product(2, 1, 0, l, s, k, near, x, n, out);
    break;
  case 8:
    product(2, 1, 1, l, s, k, near, x, n, out);
    break;
  case 9:
    product(3, 0, 0, l, s, k, near, x, n, out);
    break;
  case 10:
    product(3, 1, 0, l, s, k, near, x, n, out);
    break;
  default:
    product(3, 1, 1, l, s, k, near, x, n, out);
    break;
  }
}

/* The same at [x, x + n), ends of the line included. */
static void product_line(const heat_level *l, const heat_descent *s, const line *k, int64_t x,
                         int64_t n, double *restrict out) {
  const heat_grid *g = &l->m.s.g;
  int64_t begin = x, end = x + n;
  if (k->held) {
    memset(out, 0, (size_t)n * sizeof *out);
    return;
  }
  for (int side = 0; side < 2 && begin < end; side++) {
    const int64_t at = side == 0 ? begin : end - 1, gx = at + k->first;
    if (gx != (side == 0 ? 0 : g->n[0] - 1)) continue;
    product_any(l, s, k, heat_level_near(g, 0, gx, 1), 0, at, 1, out + (at - x));
    if (g->face[side] == HEAT_HELD || (g->n[0] == 1 && g->face[1] == HEAT_HELD)) out[at - x] = 0.0;
    if (side == 0) begin++;
    if (side == 1) end--;
  }
  product_any(l, s, k, (heat_near){-1, 1, -1, 0}, k->even, begin, end - begin, out + (begin - x));
}

/* ---- sums ---- */

/* Sum over n points of share x y, those of x beginning a line or ending it. */
static double block_of(const heat_level *l, const line *k, int64_t x, int n, const double *a,
                       const double *b) {
  const heat_grid *g = &l->m.s.g;
  const int64_t gx = x + k->first;
  const int has_ends = g->n[0] > 1 && g->face[0] != HEAT_PERIODIC;
  const int begins = has_ends && gx == 0, ends = has_ends && gx + n == g->n[0];
  double q[BLOCK_MAX];
  if (k->share == 1.0 && !begins && !ends) return block_dot(a, b, n);
  for (int i = 0; i < n; i++) q[i] = k->share * a[i];
  if (begins) q[0] *= 0.5;
  if (ends) q[n - 1] *= 0.5;
  return block_dot(q, b, n);
}

static void sum_line(worker *me, const work *w, int64_t number, int even) {
  const heat_level *l = w->l;
  const line k = make_line(l, w->p, NULL, number, even);
  const int64_t length = level_length(&l->m.s);
  const double *r = w->r == NULL ? NULL : w->r + line_at(l, number);
  double q[BLOCK_MAX];
  for (int64_t x = 0; x < length; x += BLOCK_MAX) {
    const int n = length - x < BLOCK_MAX ? (int)(length - x) : BLOCK_MAX;
    product_line(l, w->s, &k, x, n, q);
    worker_add(me, 0, block_of(l, &k, x, n, k.u + x, q));
    if (r == NULL) continue;
    worker_add(me, 1, block_of(l, &k, x, n, q, q));
    worker_add(me, 2, block_of(l, &k, x, n, r + x, r + x));
  }
}

/* ---- a line of an iteration ---- */

/* All that changes on a line, of p as it was (k). */
static void change_line(const work *w, const line *k, int64_t number) {
  const heat_level *l = w->l;
  const int64_t at = line_at(l, number), length = level_length(&l->m.s);
  const double alpha = w->s->alpha, beta = w->s->beta;
  const double along = w->s->along, against = w->s->against;
  double q[BLOCK_MAX];
  if (k->held) return; /* all 0 */
  for (int64_t x = 0; x < length; x += BLOCK_MAX) {
    const int64_t n = length - x < BLOCK_MAX ? length - x : BLOCK_MAX;
    const double *restrict u = k->u + x;
    double *restrict p = w->p + at + x, *restrict r = w->r + at + x;
    product_line(l, w->s, k, x, n, q);
    if (w->x != NULL) {
      double *restrict to = w->x + at + x;
      for (int64_t i = 0; i < n; i++) {
        to[i] = heat_level_correct(to[i], along, u[i], against, r[i]);
      }
    }
    for (int64_t i = 0; i < n; i++) r[i] = heat_level_lessen(r[i], alpha, q[i]);
    if (w->stays) continue;
    for (int64_t i = 0; i < n; i++) p[i] = fma(beta, u[i], r[i]);
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
  h.begin = lines * i / count;
  h.end = lines * (i + 1) / count;
  h.ring = l->kept + (2 * reach + 1) * (n + 2) * i;
  h.tail = h.ring + (reach + 1) * (n + 2);
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
      sum_line(me, w, behind, even);
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
      sum_line(me, w, k, even);
    }
  }
}

/* ---- the operations ---- */

status heat_descend_omp(device *d, heat_level *l, const heat_descent *s, heat_field p, heat_field x,
                        heat_field r, int64_t from, int64_t to) {
  status rc = STATUS_OK;
  const work w = {.l = l, .s = s, .p = level_at(p), .x = level_at(x), .r = level_at(r)};
  const int count = shares_of(d, l), even = is_even(&l->m);
  const int64_t room = (2 * reach_of(l) + 1) * (level_length(&l->m.s) + 2);
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
        sum_line(me, w, k, even);
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
