/* Levels on the host, and the transfers between them by x-lines (heat_level_host.h). A transfer
 * first adds lines of planes and of y into a line, chunk by chunk, then goes along x; restriction
 * reads up to five lines each way, most of whose weights are 0 and skipped. */
#include "heat_level_host.h"

#include <string.h>

#include "alloc.h"
#include "host.h"

enum { CHUNK = 256, ROOM = 3 * CHUNK + HEAT_TAPS };

void heat_level_host_release(device *d, heat_level **l) {
  (void)d;
  if (*l == NULL) return;
  heat_level_map *m = &(*l)->m;
  for (int k = 0; k < HEAT_DIMS; k++) {
    alloc_free(&m->lo[k]);
    alloc_free(&m->hi[k]);
    alloc_free(&m->robin[k]);
    alloc_free(&m->face[k]);
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
  if (count * 8 > 1 << 21) host_large_pages(made, count * 8);
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

/* ---- lines to add ---- */

typedef struct rows {
  int count;
  int64_t at[HEAT_TAPS * HEAT_TAPS]; /* where x = 0 of each lies */
  double weight[HEAT_TAPS * HEAT_TAPS];
} rows;

/* Fine coordinates that coarse J of direction d takes from: the slab's own numbering in the last
 * direction, around the end in others. */
static int taps(const heat_level *l, const heat_level *finer, int d, int64_t gj, int64_t *at,
                double *weight) {
  const heat_slab *f = &finer->m.s;
  const int last = d == f->g.dims - 1;
  int count = 0;
  for (int k = 0; k < HEAT_TAPS; k++) {
    const double w = l->m.tap[d][HEAT_TAPS * gj + k];
    const int64_t j = l->m.at[d][gj] + k - HEAT_REACH;
    if (w == 0.0) continue;
    at[count] = last ? j - f->first : heat_level_wrap(&f->g, d, j);
    weight[count++] = w;
  }
  return count;
}

/* Coarse coordinates fine j of direction d lies between. */
static int parts(const heat_level *l, int d, int64_t gj, int64_t *at, double *weight) {
  const heat_slab *c = &l->m.s;
  const int last = d == c->g.dims - 1;
  int count = 0;
  for (int k = 0; k < 2; k++) {
    const double w = k == 0 ? l->m.part[d][gj] : 1.0 - l->m.part[d][gj];
    const int64_t j = l->m.below[d][gj] + k;
    if (w == 0.0) continue;
    at[count] = last ? j - c->first : heat_level_wrap(&c->g, d, j);
    weight[count++] = w;
  }
  return count;
}

/* All lines of a level `from` that make a line: planes, then y. */
static void find_rows(const heat_level *from, const int64_t *plane, const double *w, int planes,
                      const int64_t *y, const double *v, int ys, rows *r) {
  const heat_slab *s = &from->m.s;
  r->count = 0;
  for (int p = 0; p < planes; p++) {
    for (int i = 0; i < ys; i++) {
      r->at[r->count] = (plane[p] + s->halo) * s->plane + y[i] * s->g.n[0];
      r->weight[r->count++] = w[p] * v[i];
    }
  }
}

static void add_rows(const rows *r, const double *u, int64_t x, int64_t n, double *restrict out) {
  for (int64_t i = 0; i < n; i++) out[i] = 0.0;
  for (int k = 0; k < r->count; k++) {
    const double *row = u + r->at[k] + x, w = r->weight[k];
    for (int64_t i = 0; i < n; i++) out[i] = fma(w, row[i], out[i]);
  }
}

/* The lines for plane p at y; in 1-D the slab itself, x = 0 at its place. */
static void rows_of(const heat_level *l, const heat_level *finer, int64_t p, int64_t y, int up,
                    rows *r) {
  const int dims = l->m.s.g.dims;
  int64_t plane[HEAT_TAPS], row[HEAT_TAPS] = {0};
  double w[HEAT_TAPS], v[HEAT_TAPS] = {1.0};
  int planes, ys = 1;
  if (dims == 1) {
    const heat_slab *s = up ? &l->m.s : &finer->m.s;
    *r = (rows){.count = 1, .at = {s->halo - s->first}, .weight = {1.0}};
    return;
  }
  if (up) {
    planes = parts(l, dims - 1, p + finer->m.s.first, plane, w);
    if (dims == 3) ys = parts(l, 1, y, row, v);
    find_rows(l, plane, w, planes, row, v, ys, r);
  } else {
    planes = taps(l, finer, dims - 1, p + l->m.s.first, plane, w);
    if (dims == 3) ys = taps(l, finer, 1, y, row, v);
    find_rows(finer, plane, w, planes, row, v, ys, r);
  }
}

/* ---- along x ---- */

static int is_held(const heat_level *l, int64_t p, int64_t y, int64_t x) {
  const int last = l->m.s.g.dims - 1;
  int64_t j[HEAT_DIMS] = {x, y, 0};
  j[last] = last == 0 ? x : p + l->m.s.first;
  return heat_holder(&l->m.s.g, j) >= 0;
}

void heat_level_restrict_line(const heat_level *l, const heat_level *finer, const double *u,
                              double *out, int64_t p, int64_t y) {
  const heat_slab *c = &l->m.s, *f = &finer->m.s;
  const int flat = c->g.dims == 1;
  const int64_t first = flat ? c->first : 0, n = level_length(c);
  const int64_t to = flat ? c->halo : level_plane(l, p) + y * c->g.n[0] * (c->g.dims > 2);
  double line[ROOM];
  rows r;
  rows_of(l, finer, p, y, 0, &r);
  for (int64_t begin = 0; begin < n; begin += CHUNK) {
    const int64_t end = begin + CHUNK < n ? begin + CHUNK : n;
    const int64_t *at = l->m.at[0] + first;
    /* ends, which may reach around a periodic line, have lines of their own */
    int64_t from = at[begin] - HEAT_REACH, until = at[end - 1] + HEAT_REACH + 1;
    if (!flat && from < 0) from = 0;
    if (!flat && until > f->g.n[0]) until = f->g.n[0];
    add_rows(&r, u, from, until - from, line);
    for (int64_t x = begin; x < end; x++) {
      const int64_t lowest = at[x] - HEAT_REACH, highest = at[x] + HEAT_REACH;
      double sum = 0.0;
      if (is_held(l, p, y, first + x)) {
        out[to + x] = 0.0;
        continue;
      }
      const double *tap = l->m.tap[0] + HEAT_TAPS * (first + x);
      if (flat || (lowest >= 0 && highest < f->g.n[0])) {
        for (int k = 0; k < HEAT_TAPS; k++) {
          if (tap[k] != 0.0) sum = fma(tap[k], line[lowest + k - from], sum);
        }
      } else {
        double one;
        for (int k = 0; k < HEAT_TAPS; k++) {
          if (tap[k] == 0.0) continue;
          add_rows(&r, u, heat_level_wrap(&f->g, 0, lowest + k), 1, &one);
          sum = fma(tap[k], one, sum);
        }
      }
      out[to + x] = sum;
    }
  }
}

void heat_level_interpolate_line(const heat_level *l, const heat_level *finer, const double *u,
                                 double *out, int64_t p, int64_t y) {
  const heat_slab *c = &l->m.s, *f = &finer->m.s;
  const int flat = c->g.dims == 1;
  const int64_t first = flat ? f->first : 0, n = level_length(f);
  const int64_t to = flat ? f->halo : level_plane(finer, p) + y * f->g.n[0] * (f->g.dims > 2);
  const int64_t *below = l->m.below[0] + first;
  const double *share = l->m.part[0] + first;
  double line[CHUNK + 2];
  rows r;
  rows_of(l, finer, p, y, 1, &r);
  for (int64_t begin = 0; begin < n; begin += CHUNK) {
    const int64_t end = begin + CHUNK < n ? begin + CHUNK : n;
    const int64_t from = below[begin], most = below[end - 1] + 2;
    const int64_t until = flat || most <= c->g.n[0] ? most : c->g.n[0];
    add_rows(&r, u, from, until - from, line);
    if (until < most) add_rows(&r, u, 0, 1, line + (until - from)); /* around the end, or unused */
    for (int64_t x = begin; x < end; x++) {
      const double lo = line[below[x] - from], hi = line[below[x] - from + 1], w = share[x];
      if (w == 1.0) {
        out[to + x] += lo;
      } else {
        out[to + x] += fma(1.0 - w, hi, w * lo);
      }
    }
  }
}
