/* Levels on the host, and the transfers between them by x-lines (heat_level_host.h), chunk by
 * chunk. Interpolation goes along x, then y, then z; restriction, its adjoint, sums over z, then y,
 * then x, with up to five weights each way, most of them 0 and skipped. */
#include "heat_level_host.h"

#include <string.h>

#include "alloc.h"

enum { CHUNK = 256, ROOM = 3 * CHUNK + HEAT_TAPS };

void heat_level_host_release(device *d, heat_level **l) {
  (void)d;
  if (*l == NULL) return;
  heat_level_map *m = &(*l)->m;
  alloc_free(&(*l)->kept);
  for (int k = 0; k < HEAT_DIMS; k++) {
    alloc_free(&m->lo[k]);
    alloc_free(&m->hi[k]);
    alloc_free(&m->robin[k]);
    alloc_free(&m->face[k]);
    alloc_free(&m->share[k]);
    alloc_free(&m->at[k]);
    alloc_free(&m->below[k]);
    alloc_free(&m->tap[k]);
    alloc_free(&m->part[k]);
  }
  alloc_free(l);
}

/* *to, NULL so far, = a copy of `count` eight-byte numbers; of none where `from` is NULL. */
static status copy(const void *from, int64_t count, void *to) {
  status rc = STATUS_OK;
  void *made = NULL;
  if (from == NULL) return STATUS_OK;
  TRY(alloc_array(&made, count, 8, "level of multigrid"));
  memcpy(made, from, (size_t)count * 8);
  memcpy(to, &made, sizeof made);
done:
  return rc;
}

status heat_level_host_create(device *d, const heat_level_map *m, heat_level **out) {
  status rc = STATUS_OK;
  int64_t stride = 1;
  TRY(alloc_zeroed(out, 1, sizeof **out, "level of multigrid"));
  heat_level *l = *out;
  l->m.s = m->s;
  for (int k = 0; k < m->s.g.dims; k++) {
    const int64_t n = m->s.g.n[k];
    l->stride[k] = stride;
    stride *= n;
    TRY(copy(m->lo[k], n, &l->m.lo[k]));
    TRY(copy(m->hi[k], n, &l->m.hi[k]));
    TRY(copy(m->robin[k], n, &l->m.robin[k]));
    TRY(copy(m->face[k], heat_points(&m->s), &l->m.face[k]));
    TRY(copy(m->share[k], heat_points(&m->s), &l->m.share[k]));
    TRY(copy(m->at[k], n + 1, &l->m.at[k]));
    TRY(copy(m->tap[k], HEAT_TAPS * n, &l->m.tap[k]));
    if (m->below[k] != NULL) {
      const int64_t fine = m->at[k][n]; /* fine points */
      TRY(copy(m->below[k], fine, &l->m.below[k]));
      TRY(copy(m->part[k], fine, &l->m.part[k]));
    }
  }
  l->lines = m->s.g.dims == 3 ? m->s.g.n[1] : 1;
done:
  if (rc != STATUS_OK) heat_level_host_release(d, out);
  return rc;
}

double heat_level_line_share(const heat_slab *s, int64_t line) {
  heat_grid g = s->g;
  const int last = g.dims - 1;
  int64_t j[HEAT_DIMS] = {0};
  if (last == 0) return 1.0;
  if (last == 2) j[1] = line % g.n[1];
  j[last] = (last == 2 ? line / g.n[1] : line) + s->first;
  g.n[0] = 1; /* as if it had no ends */
  return heat_share(&g, j);
}

/* ---- where things lie ---- */

/* The distance from a field's begin to coordinate j of direction d: in the halo beyond the ends of
 * the last one, around the ends of others. */
static int64_t place(const heat_level *l, int d, int64_t j) {
  const heat_slab *s = &l->m.s;
  if (d == s->g.dims - 1) return (j - s->first + s->halo) * l->stride[d];
  return heat_level_wrap(&s->g, d, j) * l->stride[d];
}

/* Of the fine points with which coarse coordinates J of directions [from, dims) coincide. */
static int64_t coincident(const heat_level *l, const heat_level *finer, const int64_t *J,
                          int from) {
  int64_t sum = 0;
  for (int d = from; d < l->m.s.g.dims; d++) sum += place(finer, d, l->m.at[d][J[d]]);
  return sum;
}

static int is_held(const heat_level *l, const int64_t *J, int64_t x) {
  const int64_t j[HEAT_DIMS] = {x, J[1], J[2]};
  return heat_holder(&l->m.s.g, j) >= 0;
}

/* ---- restriction ---- */

/* out = fine points [x, x + n) of a line, summed over directions d and beyond with the weights of
 * coarse J; `base`: where coordinates of directions in [1, d) put it. */
static void collect(const heat_level *l, const heat_level *finer, const double *u, int d,
                    int64_t base, const int64_t *J, int64_t x, int64_t n, double *restrict out) {
  const int last = l->m.s.g.dims - 1;
  const int64_t rest = coincident(l, finer, J, d + 1);
  const double *shares = finer->m.share[d];
  double sum[ROOM];
  for (int64_t i = 0; i < n; i++) out[i] = 0.0;
  for (int k = 0; k < HEAT_TAPS; k++) {
    const double tap = l->m.tap[d][HEAT_TAPS * J[d] + k];
    if (tap == 0.0) continue;
    const int64_t at = base + place(finer, d, l->m.at[d][J[d]] + k - HEAT_REACH);
    const double *from = u + at + x;
    if (d < last && d + 1 < HEAT_DIMS) {
      collect(l, finer, u, d + 1, at, J, x, n, sum);
      from = sum;
    }
    if (shares == NULL || k == HEAT_REACH) {
      for (int64_t i = 0; i < n; i++) out[i] = fma(tap, from[i], out[i]);
    } else {
      const double *share = shares + at + rest + x;
      const double a = k > HEAT_REACH ? 0.0 : 1.0, b = k > HEAT_REACH ? 1.0 : -1.0;
      for (int64_t i = 0; i < n; i++) {
        out[i] = fma(heat_level_tap(tap, a, b, share[i]), from[i], out[i]);
      }
    }
  }
}

/* Fine points [x, x + n) of the line that is J's but for x. */
static void fine_line(const heat_level *l, const heat_level *finer, const double *u,
                      const int64_t *J, int64_t x, int64_t n, double *out) {
  if (l->m.s.g.dims > 1) {
    collect(l, finer, u, 1, 0, J, x, n, out);
  } else {
    memcpy(out, u + place(finer, 0, x), (size_t)n * sizeof *out);
  }
}

/* One coarse point; line has fine points [from, until). Others are around the end of the line. */
static double take(const heat_level *l, const heat_level *finer, const double *u, const int64_t *J,
                   int64_t x, int64_t rest, const double *line, int64_t from, int64_t until) {
  const double *shares = finer->m.share[0];
  double sum = 0.0, one;
  for (int k = 0; k < HEAT_TAPS; k++) {
    double tap = l->m.tap[0][HEAT_TAPS * x + k];
    if (tap == 0.0) continue;
    int64_t at = l->m.at[0][x] + k - HEAT_REACH;
    const double *value = line + (at - from);
    if (at < from || at >= until) {
      at = heat_level_wrap(&finer->m.s.g, 0, at);
      fine_line(l, finer, u, J, at, 1, &one);
      value = &one;
    }
    if (shares != NULL && k != HEAT_REACH) {
      tap = heat_level_tap(tap, k > HEAT_REACH ? 0.0 : 1.0, k > HEAT_REACH ? 1.0 : -1.0,
                           shares[rest + place(finer, 0, at)]);
    }
    sum = fma(tap, *value, sum);
  }
  return sum;
}

void heat_level_restrict_line(const heat_level *l, const heat_level *finer, const double *u,
                              double *out, int64_t p, int64_t y) {
  const heat_slab *c = &l->m.s;
  const int flat = c->g.dims == 1, last = c->g.dims - 1;
  const int64_t first = flat ? c->first : 0, n = first + level_length(c), *at = l->m.at[0];
  int64_t J[HEAT_DIMS] = {0, y, 0};
  if (!flat) J[last] = p + c->first;
  const int64_t rest = coincident(l, finer, J, 1);
  const int64_t to = flat ? c->halo - c->first : level_plane(l, p) + (last > 1 ? y : 0) * n;
  double line[ROOM];
  for (int64_t begin = first; begin < n; begin += CHUNK) {
    const int64_t end = begin + CHUNK < n ? begin + CHUNK : n;
    int64_t from = at[begin] - HEAT_REACH, until = at[end - 1] + HEAT_REACH + 1;
    if (!flat && from < 0) from = 0;
    if (!flat && until > finer->m.s.g.n[0]) until = finer->m.s.g.n[0];
    fine_line(l, finer, u, J, from, until - from, line);
    for (int64_t x = begin; x < end; x++) {
      out[to + x] = is_held(l, J, x) ? 0.0 : take(l, finer, u, J, x, rest, line, from, until);
    }
  }
}

/* ---- interpolation ---- */

/* What a line of fine points is made from: its coordinates, and the field. */
typedef struct spreading {
  const heat_level *l, *finer;
  const double *u;
  int64_t j[HEAT_DIMS];
} spreading;

/* out = values at fine points [x, x + n) of a line, from the coarse line at `base`; the fine points
 * that coincide with it lie at `own`. */
static void along_x(const spreading *s, int64_t base, int64_t own, int64_t x, int64_t n,
                    double *restrict out) {
  const heat_level *l = s->l;
  const int64_t *below = l->m.below[0];
  const double *parts = l->m.part[0], *shares = s->finer->m.share[0];
  for (int64_t i = 0; i < n; i++) {
    const int64_t b = below[x + i];
    const double lo = s->u[base + place(l, 0, b)];
    double w = parts[x + i];
    if (w == 1.0) {
      out[i] = lo;
      continue;
    }
    if (shares != NULL) w = shares[own + place(s->finer, 0, x + i)];
    out[i] = heat_level_between(w, lo, s->u[base + place(l, 0, b + 1)]);
  }
}

/* The same from a coarse field, of directions up to d; `base` and `own`: where the coordinates
 * beyond d put it, and the fine points that coincide with those. */
static void spread(const spreading *s, int d, int64_t base, int64_t own, int64_t x, int64_t n,
                   double *restrict out) {
  double hi[CHUNK];
  const heat_level *l = s->l, *f = s->finer;
  if (d == 0) {
    along_x(s, base, own, x, n, out);
    return;
  }
  const int64_t j = s->j[d], b = l->m.below[d][j];
  const double own_part = l->m.part[d][j], *shares = f->m.share[d];
  spread(s, d - 1, base + place(l, d, b), own + place(f, d, l->m.at[d][b]), x, n, out);
  if (own_part == 1.0) return;
  spread(s, d - 1, base + place(l, d, b + 1), own + place(f, d, l->m.at[d][b + 1]), x, n, hi);
  if (shares == NULL) {
    for (int64_t i = 0; i < n; i++) out[i] = heat_level_between(own_part, out[i], hi[i]);
    return;
  }
  int64_t at = own + x;
  for (int e = 1; e <= d; e++) at += place(f, e, s->j[e]);
  for (int64_t i = 0; i < n; i++) out[i] = heat_level_between(shares[at + i], out[i], hi[i]);
}

void heat_level_interpolate_line(const heat_level *l, const heat_level *finer, const double *u,
                                 double *out, int64_t p, int64_t y) {
  const heat_slab *f = &finer->m.s;
  const int flat = f->g.dims == 1, last = f->g.dims - 1;
  const int64_t first = flat ? f->first : 0, n = first + level_length(f);
  const int64_t to = flat ? f->halo - f->first : level_plane(finer, p) + (last > 1 ? y : 0) * n;
  spreading s = {.l = l, .finer = finer, .u = u, .j = {0, y, 0}};
  if (!flat) s.j[last] = p + f->first;
  double line[CHUNK];
  for (int64_t x = first; x < n; x += CHUNK) {
    const int64_t count = n - x < CHUNK ? n - x : CHUNK;
    double *here = out + to + x;
    spread(&s, last, 0, 0, x, count, line);
    for (int64_t i = 0; i < count; i++) here[i] += line[i];
  }
}
