/* The coarsest level of multigrid (multigrid.h): a dense matrix that every rank has whole, and
 * factors and solves in the same fixed order. Weighted by the volumes of cells it is symmetric; a
 * held point is a row of the identity; where constants are its null space, the mean is pinned by a
 * rank-one term. At most HEAT_DENSE_MAX points, as a rule about a hundred: a solve costs points^2
 * operations (dense.h). */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "dense.h"
#include "multigrid.h"

static heat_stratum *coarsest(heat_multigrid *m) { return &m->level[m->levels - 1]; }

/* A field's owned points, from all ranks: each brings the bits of its own. */
static status gather(heat_run *run, heat_multigrid *m, const double *owned, double *whole) {
  status rc = STATUS_OK;
  const heat_slab *s = &coarsest(m)->slab;
  heat_dense *e = &m->dense;
  memset(e->words, 0, (size_t)e->points * sizeof *e->words);
  memcpy(e->words + s->first * s->plane, owned, (size_t)heat_owned(s) * sizeof *owned);
  if (comm_size(run->world) > 1) TRY(comm_sum_i64(run->world, e->words, e->points));
  memcpy(whole, e->words, (size_t)e->points * sizeof *whole);
done:
  return rc;
}

status heat_dense_open(heat_run *run, heat_multigrid *m) {
  status rc = STATUS_OK;
  const heat_stratum *s = coarsest(m);
  const heat_grid *g = &s->slab.g;
  heat_dense *e = &m->dense;
  const int64_t points = g->n[0] * g->n[1] * g->n[2];
  e->points = (int)points;
  if (points > HEAT_DENSE_MAX) {
    rc = fail(STATUS_UNAVAILABLE, "the coarsest grid has %lld points, more than %d",
              (long long)points, HEAT_DENSE_MAX);
    goto done;
  }
  TRY(alloc_zeroed(&e->factor, points * points, sizeof *e->factor, "coarsest matrix"));
  TRY(alloc_zeroed(&e->volume, points, sizeof *e->volume, "coarsest matrix"));
  TRY(alloc_zeroed(&e->b, points, sizeof *e->b, "coarsest matrix"));
  TRY(alloc_zeroed(&e->words, points, sizeof *e->words, "coarsest matrix"));
  TRY(alloc_zeroed(&m->host, heat_points(&s->slab), sizeof *m->host, "coarsest field"));
  for (int d = 0; d < g->dims; d++) {
    TRY(alloc_zeroed(&e->face[d], points, sizeof **e->face, "coarsest matrix"));
  }
done:
  rc = comm_agree(run->world, rc);
  e->varies = s->face[0] != NULL;
  for (int d = 0; rc == STATUS_OK && e->varies && d < g->dims; d++) {
    rc = gather(run, m, s->face[d] + s->slab.halo * s->slab.plane, e->face[d]);
  }
  return rc;
}

void heat_dense_close(heat_multigrid *m) {
  heat_dense *e = &m->dense;
  alloc_free(&e->factor);
  alloc_free(&e->volume);
  alloc_free(&e->b);
  alloc_free(&e->words);
  for (int d = 0; d < HEAT_DIMS; d++) alloc_free(&e->face[d]);
  alloc_free(&m->host);
}

static double *row_of(heat_dense *e, int64_t i) { return e->factor + i * e->points; }

static void coordinates(const heat_grid *g, int64_t i, int64_t j[HEAT_DIMS]) {
  j[0] = i % g->n[0];
  j[1] = i / g->n[0] % g->n[1];
  j[2] = i / (g->n[0] * g->n[1]);
}

/* Row i of the lower triangle, as a column of the upper one. A face is kept with the lower of its
 * two points. */
static void fill_row(heat_multigrid *m, int64_t i) {
  const heat_stratum *s = coarsest(m);
  const heat_grid *g = &s->slab.g;
  heat_dense *e = &m->dense;
  double *row = row_of(e, i), own = 0.0, volume = 1.0;
  int64_t j[HEAT_DIMS], there[HEAT_DIMS], step = 1;
  coordinates(g, i, j);
  memset(row + i, 0, (size_t)(e->points - i) * sizeof *row);
  e->volume[i] = 0.0;
  row[i] = 1.0;
  if (heat_holder(g, j) >= 0) return;
  for (int d = 0; d < g->dims; d++) volume *= s->width[d][j[d]];
  for (int d = 0; d < g->dims; d++) {
    own += s->robin[d][j[d]];
    for (int side = 0; side < 2; side++) {
      double k = side == 0 ? s->lo[d][j[d]] : s->hi[d][j[d]];
      if (k == 0.0) continue;
      const int64_t to = heat_level_wrap(g, d, j[d] + (side == 0 ? -1 : 1));
      const int64_t other = i + (to - j[d]) * step;
      if (e->varies) k *= e->face[d][side == 0 ? other : i];
      coordinates(g, other, there);
      own += k;
      if (other < i && heat_holder(g, there) < 0) row_of(e, other)[i] -= volume * m->scale * k;
    }
    step *= g->n[d];
  }
  row[i] = volume * fma(m->scale, own, m->mass);
  e->volume[i] = volume;
}

/* A volume times itself of each pair, so that the mean of a solution is 0; of the size of the
 * diagonal. */
static void pin(heat_dense *e) {
  double trace = 0.0, square = 0.0;
  for (int64_t i = 0; i < e->points; i++) {
    trace += row_of(e, i)[i];
    square = fma(e->volume[i], e->volume[i], square);
  }
  const double factor = trace / (double)e->points / square;
  for (int64_t i = 0; i < e->points; i++) {
    for (int64_t k = 0; k <= i; k++) {
      double *entry = row_of(e, k) + i;
      *entry = fma(factor * e->volume[i], e->volume[k], *entry);
    }
  }
}

status heat_dense_factor(heat_multigrid *m) {
  heat_dense *e = &m->dense;
  for (int64_t i = 0; i < e->points; i++) fill_row(m, i);
  if (m->singular && m->mass == 0.0) pin(e);
  if (dense_cholesky(e->factor, e->points) < e->points) {
    return fail(STATUS_DIVERGED, "the coarsest grid's matrix is not positive definite");
  }
  return STATUS_OK;
}

/* The slab of a rank, halo included, from the whole. */
static void spread(const heat_slab *s, const double *whole, double *out) {
  const int last = s->g.dims - 1, around = s->g.face[2 * last] == HEAT_PERIODIC;
  const int64_t n = s->g.n[last];
  for (int64_t p = -s->halo; p < s->planes + s->halo; p++) {
    int64_t at = s->first + p;
    double *to = out + (p + s->halo) * s->plane;
    if (around) at = (at + 4 * n) % n;
    if (at < 0 || at >= n) {
      memset(to, 0, (size_t)s->plane * sizeof *to);
    } else {
      memcpy(to, whole + at * s->plane, (size_t)s->plane * sizeof *to);
    }
  }
}

status heat_dense_solve(heat_run *run, heat_multigrid *m) {
  status rc = STATUS_OK;
  const heat_stratum *s = coarsest(m);
  heat_dense *e = &m->dense;
  const int64_t begin = s->slab.halo * s->slab.plane, owned = heat_owned(&s->slab);
  HEAT_ATTEMPT(run, run->kernels->copy_out(run->place, (hptr){m->host},
                                           (dptr){(double *)s->r.data.at + begin},
                                           owned * (int64_t)sizeof(double)));
  TRY(gather(run, m, m->host, e->b));
  for (int64_t i = 0; i < e->points; i++) e->b[i] *= e->volume[i];
  dense_cholesky_solve(e->factor, e->points, e->b);
  spread(&s->slab, e->b, m->host);
  HEAT_ATTEMPT(run, run->kernels->copy_in(run->place, s->z.data, (hptr){m->host},
                                          heat_points(&s->slab) * (int64_t)sizeof(double)));
done:
  return rc;
}
