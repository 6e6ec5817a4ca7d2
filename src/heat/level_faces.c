/* Coefficients of the faces of multigrid's levels, and the weights of interpolation that follow
 * from them (levels.c). A coarse face is the fine ones between its points in series (harmonic),
 * averaged over the neighbouring lines with the weights of restriction (arithmetic), so jumps of
 * the conductivity survive. Made on the host from two planes around what a rank owns; all of it is
 * a function of the grid. Cost: once a run, a few operations a point and level. */
#include <string.h>

#include "alloc.h"
#include "levels.h"

static int last_of(const heat_run *run) { return run->slab.g.dims - 1; }

/* Ghost planes of a host field. */
static status exchange_host(heat_stratum *s, double *u) {
  status rc = STATUS_OK;
  const halo *h = &s->far;
  const heat_slab *b = &s->slab;
  const size_t bytes = (size_t)b->plane * sizeof *u;
  for (lidx i = 0; i < h->sends; i++) {
    memcpy(h->send_buffer + i * b->plane, u + (h->send_row[i] + b->halo) * b->plane, bytes);
  }
  TRY(halo_begin(&s->far));
  TRY(halo_end(&s->far));
  for (lidx i = 0; i < h->ghosts; i++) {
    const int64_t row = h->ghost_row[i], at = row < b->halo ? row : row + b->planes;
    memcpy(u + at * b->plane, h->ghost_buffer + i * b->plane, bytes);
  }
done:
  return rc;
}

/* The place of fine coordinate j of direction d in the slab's array, in points. */
static int64_t offset_of(const heat_stratum *f, int d, int64_t j) {
  const heat_grid *g = &f->slab.g;
  const int64_t stride[HEAT_DIMS] = {1, g->n[0], g->n[0] * g->n[1]};
  if (d == g->dims - 1) return (j - f->slab.first + f->slab.halo) * stride[d];
  return heat_level_wrap(g, d, j) * stride[d];
}

/* The resistance of fine faces [from, to) of direction d on the line at `rest`. */
static double resistance(const heat_stratum *f, int d, int64_t from, int64_t to, int64_t rest) {
  double sum = 0.0;
  for (int64_t j = from; j < to; j++) sum += 1.0 / f->face[d][rest + offset_of(f, d, j)];
  return sum;
}

/* What fine faces of direction d on the lines next to coarse J give to its own: the weight of tap k
 * of direction e, in the mean over the first fine points of the interval (two planes behind its own
 * is as far as a rank sees). `at`: the line, from there. */
static double line_weight(const heat_stratum *c, const heat_stratum *f, int d, int e,
                          const int64_t *J, int k, int64_t at) {
  const double tap = c->tap[e][HEAT_TAPS * J[e] + k];
  const int64_t from = c->at[d][J[d]], next = c->at[d][J[d] + 1];
  const int64_t to = next - from > HEAT_REACH ? from + HEAT_REACH : next;
  double sum = 0.0;
  if (tap == 0.0 || k == HEAT_REACH) return tap;
  for (int64_t j = from; j <= to; j++) {
    const double share = f->share[e][at + offset_of(f, d, j)];
    sum += k > HEAT_REACH ? share : 1.0 - share;
  }
  return tap * sum / (double)(to - from + 1);
}

/* The coarse face of direction d behind the point with global coordinates J. */
static double coarse_face(const heat_stratum *c, const heat_stratum *f, int d, const int64_t *J) {
  const heat_grid *g = &c->slab.g;
  const int e[2] = {d == 0 ? 1 : 0, d == 2 ? 1 : 2}; /* the other directions */
  const int64_t n = g->n[d];
  const int y = e[0] < g->dims, z = e[1] < g->dims;
  if (n == 1 || (!level_is_around(g, d) && J[d] == n - 1)) return 0.0;
  const int64_t from = c->at[d][J[d]], to = c->at[d][J[d] + 1];
  const int64_t own_y = y ? offset_of(f, e[0], c->at[e[0]][J[e[0]]]) : 0;
  double sum = 0.0;
  for (int k = 0; k < HEAT_TAPS; k++) {
    if (!z && k != HEAT_REACH) continue;
    const int64_t plane = z ? offset_of(f, e[1], c->at[e[1]][J[e[1]]] + k - HEAT_REACH) : 0;
    const double w = z ? line_weight(c, f, d, e[1], J, k, plane + own_y) : 1.0;
    if (w == 0.0) continue;
    for (int i = 0; i < HEAT_TAPS; i++) {
      if (!y && i != HEAT_REACH) continue;
      const int64_t row = y ? offset_of(f, e[0], c->at[e[0]][J[e[0]]] + i - HEAT_REACH) : 0;
      const double v = y ? line_weight(c, f, d, e[0], J, i, plane + row) : 1.0;
      if (v != 0.0) sum = fma(w * v, 1.0 / resistance(f, d, from, to, plane + row), sum);
    }
  }
  return sum;
}

static void coordinates(const heat_slab *s, int64_t i, int64_t j[HEAT_DIMS]) {
  j[0] = i % s->g.n[0];
  j[1] = i / s->g.n[0] % s->g.n[1];
  j[2] = 0;
  j[s->g.dims - 1] = i / s->plane + s->first;
}

/* What fine points take of the lower coarse one in each direction. */
status heat_stratum_make_shares(heat_run *run, heat_stratum *f, const heat_stratum *c) {
  status rc = STATUS_OK;
  const heat_slab *s = &f->slab;
  int64_t j[HEAT_DIMS];
  if (!heat_alpha_varies(run->problem)) return rc;
  for (int d = 0; d < s->g.dims; d++) {
    TRY(alloc_zeroed(&f->share[d], heat_points(s), sizeof **f->share, "weights of a level"));
    for (int64_t i = 0; i < heat_owned(s); i++) {
      const int64_t at = i + s->halo * s->plane;
      coordinates(s, i, j);
      f->share[d][at] = c->part[d][j[d]];
      if (c->part[d][j[d]] == 1.0) continue;
      const int64_t b = c->below[d][j[d]], rest = at - offset_of(f, d, j[d]);
      const double before = resistance(f, d, c->at[d][b], j[d], rest);
      const double behind = resistance(f, d, j[d], c->at[d][b + 1], rest);
      f->share[d][at] = behind / (before + behind);
    }
  }
done:
  rc = comm_agree(run->world, rc);
  for (int d = 0; rc == STATUS_OK && d < s->g.dims; d++) rc = exchange_host(f, f->share[d]);
  return rc;
}

status heat_stratum_make_faces(heat_run *run, heat_stratum *c, const heat_stratum *f) {
  status rc = STATUS_OK;
  const heat_slab *s = &c->slab;
  int64_t J[HEAT_DIMS];
  if (!heat_alpha_varies(run->problem)) return rc;
  for (int d = 0; d < s->g.dims; d++) {
    TRY(alloc_zeroed(&c->face[d], heat_points(s), sizeof **c->face, "face coefficients"));
    for (int64_t i = 0; i < heat_owned(s); i++) {
      coordinates(s, i, J);
      c->face[d][i + s->halo * s->plane] = coarse_face(c, f, d, J);
    }
  }
done:
  rc = comm_agree(run->world, rc);
  for (int d = 0; rc == STATUS_OK && d < s->g.dims; d++) rc = exchange_host(c, c->face[d]);
  return rc;
}

/* Faces of the finest level: those of the run, 0 beyond the domain. */
status heat_stratum_take_faces(heat_run *run, heat_stratum *s) {
  status rc = STATUS_OK;
  const heat_slab *b = &s->slab;
  const int last = last_of(run);
  if (!heat_alpha_varies(run->problem)) return rc;
  TRY(heat_faces(run, s->face));
  for (int d = 0; d < b->g.dims; d++) {
    const int64_t n = b->g.n[d];
    int64_t step = 1;
    for (int k = 0; k < d; k++) step *= b->g.n[k];
    if (level_is_around(&b->g, d) && n > 1) continue;
    for (int64_t i = 0; i < heat_points(b); i++) {
      const int64_t j = d == last ? i / b->plane - b->halo + b->first : i / step % n;
      if (j < 0 || j >= n - 1) s->face[d][i] = 0.0;
    }
  }
done:
  return comm_agree(run->world, rc);
}

/* The largest sum of a point's coefficients to its neighbours. */
status heat_stratum_find_reach(heat_run *run, heat_stratum *s) {
  const heat_slab *b = &s->slab;
  const int dims = b->g.dims;
  heat_level_map m = {.s = *b};
  int64_t j[HEAT_DIMS];
  for (int d = 0; d < dims; d++) {
    m.lo[d] = s->lo[d];
    m.hi[d] = s->hi[d];
    m.face[d] = s->face[d];
    m.robin[d] = s->robin[d];
  }
  for (int64_t i = 0; i < heat_owned(b); i++) {
    double own;
    coordinates(b, i, j);
    heat_level_sum(&m, NULL, i + b->halo * b->plane, j, &own);
    own -= heat_level_robin(&m, j);
    if (own > s->reach) s->reach = own;
  }
  return comm_max_f64(run->world, &s->reach, 1);
}
