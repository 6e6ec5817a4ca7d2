/* Conjugate gradients on the OpenMP backend. One operation after another (direction, product,
 * residual), as a start, a check or a redone step needs them; and in two passes (advance, reduce),
 * as iterations are made. Budgets as in omp_passes.c.
 *
 * advance, where the matrix is kept by its rows' shapes, updates x and p and multiplies in one go:
 * a worker makes the new p of its tiles as far ahead as the next tile's rows refer to (`ahead`),
 * then multiplies that tile while its p is in the cache. What other workers' rows refer to
 * (`early`) is made before any tile is multiplied. x 16, p 16, r 8, and 16 for q where it is
 * stored. Other matrices have streams enough of their own: there it is slower than two operations
 * (measured).
 *
 * reduce may make A p again rather than read it: p 8, r 16, against q 8, r 16 and the 16 of storing
 * it. Which is faster depends on how many threads share how much bandwidth, and is tried out: the
 * first iterations take turns, then the faster stays. The bits are the same. */
#include <math.h>
#include <omp.h>

#include "alloc.h"
#include "lanes.h"
#include "omp_team.h"

/* Iterations of each kind that are timed, and bytes of matrix a row above which nothing is tried.
 */
enum { TRIALS = 4, TRIED_BYTES = 4 };

typedef struct cg_trial {
  int count;             /* iterations timed so far */
  double start, best[2]; /* seconds: A p stored, A p made twice */
} cg_trial;

/* Whether A p of this iteration is made twice. */
static int made_twice(const matrix *m) {
  const cg_trial *t = m->cg;
  if (t == NULL) return 0;
  return t->count < 2 * TRIALS ? t->count % 2 : t->best[1] < t->best[0];
}

static void trial_ends(const matrix *m) {
  cg_trial *t = m->cg;
  if (t == NULL || t->start == 0.0 || t->count >= 2 * TRIALS) return;
  const double spent = omp_get_wtime() - t->start;
  double *best = &t->best[t->count % 2];
  if (t->count < 2 || spent < *best) *best = spent;
  t->start = 0.0;
  t->count++;
}

/* q = A p and p.q: p 8, q 16. */
static void cg_product_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  const double *restrict direction = p->x + begin;
  double *restrict q = p->y + begin;
  const double scale = p->scale;
  double sum[TILE], other[TILE];
  const lidx n = end - begin;
  lanes_ask_for(q, n);
  tile_product(p->m, tile, p->x, sum);
  for (lidx j = 0; j < n; j++) {
    q[j] = sum[j];
    sum[j] = scale * sum[j];
    other[j] = scale * direction[j];
  }
  add_blocks(w, 0, other, sum, n, p->block);
}

status omp_cg_product(device *d, const matrix *m, part which, vec direction, vec q, dptr state) {
  const solve_state *s = state_at(state);
  const pass p = {
      .m = m, .x = vec_at(direction), .y = vec_at(q), .scale = s->scale, .block = direction.block};
  if (s->verdict != VERDICT_NONE) return STATUS_OK;
  run_matrix(d, which, &p, 0, cg_product_tile);
  return STATUS_OK;
}

/* r -= alpha q, z = D^-1 r, r.z and r.r: q 8, D^-1 8, r 16. z is not stored. */
static void cg_residual_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)tile;
  const double *restrict q = p->x + begin;
  double *restrict r = p->y + begin;
  const double alpha = p->state->alpha, scale = p->scale;
  double a[TILE], b[TILE];
  const lidx n = end - begin;
  if (p->weight == NULL) {
    for (lidx j = 0; j < n; j++) {
      r[j] = fma(-alpha, q[j], r[j]);
      a[j] = scale * r[j];
    }
    add_blocks(w, 0, a, a, n, p->block);
  } else {
    const double *restrict inverse = p->weight + begin;
    for (lidx j = 0; j < n; j++) {
      r[j] = fma(-alpha, q[j], r[j]);
      a[j] = scale * r[j];
      b[j] = scale * (inverse[j] * r[j]);
    }
    add_blocks(w, 0, a, b, n, p->block);
  }
  add_blocks(w, 1, a, a, n, p->block);
}

status omp_cg_residual(device *d, vec q, vec inverse_diagonal, vec r, dptr state) {
  const solve_state *s = state_at(state);
  const pass p = {.state = s,
                  .x = vec_at(q),
                  .weight = vec_at(inverse_diagonal),
                  .y = vec_at(r),
                  .scale = s->scale,
                  .block = r.block};
  if (s->verdict != VERDICT_NONE) return STATUS_OK;
  run_vector(d, r.rows, &p, cg_residual_tile);
  return STATUS_OK;
}

/* x += alpha p; p = D^-1 r + beta p: r 8, D^-1 8, x 16, p 16. */
static void cg_direction_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  (void)tile;
  const double *restrict r = p->x + begin;
  double *restrict direction = p->y + begin, *restrict x = p->z + begin;
  const double alpha = p->state->alpha, beta = p->state->beta;
  const lidx n = end - begin;
  for (lidx j = 0; j < n; j++) x[j] = fma(alpha, direction[j], x[j]);
  if (p->weight == NULL) {
    for (lidx j = 0; j < n; j++) direction[j] = fma(beta, direction[j], r[j]);
  } else {
    const double *restrict inverse = p->weight + begin;
    for (lidx j = 0; j < n; j++) direction[j] = fma(beta, direction[j], inverse[j] * r[j]);
  }
}

status omp_cg_direction(device *d, vec r, vec inverse_diagonal, vec direction, vec x, dptr state) {
  const solve_state *s = state_at(state);
  const pass p = {.state = s,
                  .x = vec_at(r),
                  .weight = vec_at(inverse_diagonal),
                  .y = vec_at(direction),
                  .z = vec_at(x)};
  if (!s->pending) return STATUS_OK;
  run_vector(d, r.rows, &p, cg_direction_tile);
  return STATUS_OK;
}

/* ---- in two passes ---- */

/* x += alpha p; p = D^-1 r + beta p on one tile. r: b, p: y, x: z of the pass. */
static inline void direct_tile(const pass *p, lidx tile) {
  const lidx begin = tile * TILE, n = sell_row_end(&p->m->s, tile) - begin;
  const double *restrict r = p->b + begin;
  double *restrict direction = p->y + begin, *restrict x = p->z + begin;
  const double alpha = p->state->alpha, beta = p->state->beta;
  double room[TILE];
  const double *inverse = tile_weights(p->m, tile, p->weight, room);
  if (inverse == NULL) {
    for (lidx j = 0; j < n; j++) {
      const double old = direction[j];
      x[j] = fma(alpha, old, x[j]);
      direction[j] = fma(beta, old, r[j]);
    }
  } else {
    for (lidx j = 0; j < n; j++) {
      const double old = direction[j];
      x[j] = fma(alpha, old, x[j]);
      direction[j] = fma(beta, old, inverse[j] * r[j]);
    }
  }
}

/* p.A p of a tile whose p, and all it refers to, is made. */
static inline void multiply_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  const double *restrict direction = p->y + begin;
  const double scale = p->scale;
  double sum[TILE], other[TILE];
  const lidx n = end - begin;
  if (p->q != NULL) lanes_ask_for(p->q + begin, n);
  tile_product(p->m, tile, p->y, sum);
  if (p->q != NULL) {
    double *restrict q = p->q + begin;
    for (lidx j = 0; j < n; j++) q[j] = sum[j];
  }
  for (lidx j = 0; j < n; j++) {
    sum[j] = scale * sum[j];
    other[j] = scale * direction[j];
  }
  add_blocks(w, 0, other, sum, n, p->block);
}

/* What direct_tile is to read of a tile, on its way while another tile is multiplied. */
static void ask_for_tile(const pass *p, lidx tile) {
  const lidx begin = tile * TILE, n = sell_row_end(&p->m->s, tile) - begin;
  lanes_ask_for(p->b + begin, n);
  lanes_ask_for(p->y + begin, n);
  lanes_ask_for(p->z + begin, n);
}

static void advance_worker(worker *w, part which, const pass *p, int multiply) {
  const matrix *m = p->m;
  const lidx begin = m->cut[w->number], end = m->cut[w->number + 1];
  lidx made = begin;
  for (lidx t = begin; t < end; t++) {
    for (; made < m->ahead[t]; made++) {
      if (!m->early[made]) direct_tile(p, made);
    }
    if (made < end) ask_for_tile(p, made);
    if (multiply && part_has(which, m->s.boundary[t])) {
      multiply_tile(w, p, t, t * TILE, sell_row_end(&m->s, t));
    }
  }
}

/* Own rows: `early` tiles first; there is a barrier between. */
static void advance_rows(device *d, part which, const pass *p, int multiply) {
  const matrix *m = p->m;
  const int team = team_size(d, m->s.tiles);
  if (d->threads > 1) {
#pragma omp parallel for num_threads(team) schedule(static)
    for (int t = 0; t < d->threads; t++) {
      for (lidx i = m->cut[t]; i < m->cut[t + 1]; i++) {
        if (m->early[i]) direct_tile(p, i);
      }
    }
  }
#pragma omp parallel for num_threads(team) schedule(static)
  for (int t = 0; t < d->threads; t++) {
    advance_worker(&d->worker[t], which, p, multiply);
    worker_settle(&d->worker[t]);
  }
}

/* The ghosts of p, from those of r and D^-1. */
static void direct_ghosts(const pass *p, lidx begin, lidx end) {
  const double beta = p->state->beta;
  for (lidx j = begin; j < end; j++) {
    const double z = p->weight == NULL ? p->b[j] : p->weight[j] * p->b[j];
    p->y[j] = fma(beta, p->y[j], z);
  }
}

static void direction_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  (void)begin;
  (void)end;
  direct_tile(p, tile);
}

status omp_cg_advance(device *d, const matrix *m, part which, vec r, vec inverse_diagonal, vec from,
                      vec to, vec x, vec q, dptr state) {
  const solve_state *s = state_at(state);
  const int multiply = s->verdict == VERDICT_NONE;
  (void)from; /* one vector with `to` */
  const pass p = {.m = m,
                  .state = s,
                  .x = vec_at(to), /* for run_matrix */
                  .b = vec_at(r),
                  .weight = vec_at(inverse_diagonal),
                  .y = vec_at(to),
                  .z = vec_at(x),
                  .q = made_twice(m) ? NULL : vec_at(q),
                  .scale = s->scale,
                  .block = r.block};
  if (m->cg != NULL && multiply && which != PART_BOUNDARY) m->cg->start = omp_get_wtime();
  if (s->pending && which != PART_INTERIOR) direct_ghosts(&p, r.rows, r.rows + r.ghosts);
  if (s->pending && which != PART_BOUNDARY) {
    if (m->cg != NULL) {
      advance_rows(d, which, &p, multiply);
      return STATUS_OK;
    }
    run_vector(d, r.rows, &p, direction_tile);
  }
  if (multiply) run_matrix(d, which, &p, 0, multiply_tile);
  return STATUS_OK;
}

/* r -= alpha q, r.z and r.r on one tile, whose q is at `q`. r: y of the pass. */
static inline void reduce_rows(worker *w, const pass *p, const double *q, lidx tile, lidx begin,
                               lidx n) {
  double *restrict r = p->y + begin;
  const double alpha = p->state->alpha, scale = p->scale;
  double a[TILE], b[TILE], room[TILE];
  const double *inverse = tile_weights(p->m, tile, p->weight, room);
  for (lidx j = 0; j < n; j++) {
    r[j] = fma(-alpha, q[j], r[j]);
    a[j] = scale * r[j];
    b[j] = inverse == NULL ? a[j] : scale * (inverse[j] * r[j]);
  }
  add_blocks(w, 0, a, b, n, p->block);
  add_blocks(w, 1, a, a, n, p->block);
}

static void reduce_stored_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  reduce_rows(w, p, p->q + begin, tile, begin, end - begin);
}

static void reduce_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  double q[TILE];
  lanes_ask_for(p->y + begin, end - begin);
  tile_product(p->m, tile, p->x, q);
  reduce_rows(w, p, q, tile, begin, end - begin);
}

status omp_cg_reduce(device *d, const matrix *m, vec direction, vec q, vec inverse_diagonal, vec r,
                     dptr state) {
  const solve_state *s = state_at(state);
  const pass p = {.m = m,
                  .state = s,
                  .x = vec_at(direction),
                  .weight = vec_at(inverse_diagonal),
                  .y = vec_at(r),
                  .q = vec_at(q),
                  .scale = s->scale,
                  .block = r.block};
  if (s->verdict != VERDICT_NONE) return STATUS_OK;
  if (made_twice(m)) {
    run_matrix(d, PART_ALL, &p, 0, reduce_tile);
  } else {
    run_matrix(d, PART_ALL, &p, 0, reduce_stored_tile);
  }
  trial_ends(m);
  return STATUS_OK;
}

/* What worker t's rows refer to: how far ahead in its own tiles, and which of others. */
static void look_at_columns(const csr_block *a, matrix *m, lidx begin, lidx end) {
  lidx last = begin;
  for (lidx t = begin; t < end; t++) {
    if (last < t + 1) last = t + 1;
    for (eidx e = a->offset[t * TILE]; e < a->offset[sell_row_end(&m->s, t)]; e++) {
      const lidx c = a->column[e] / TILE;
      if (a->column[e] >= m->s.columns) continue; /* a ghost */
      if (c >= begin && c < end) {
        if (c >= last) last = c + 1;
      } else {
#pragma omp atomic write
        m->early[c] = 1;
      }
    }
    m->ahead[t] = last;
  }
}

status omp_cg_prepare(device *d, const csr_block *a, matrix *m) {
  status rc = STATUS_OK;
  if (a->columns != a->rows) goto done;
  TRY(alloc_array(&m->ahead, m->s.tiles, sizeof *m->ahead, "tiles"));
  TRY(alloc_zeroed(&m->early, m->s.tiles, 1, "tiles"));
#pragma omp parallel for num_threads(d->threads) schedule(static, 1)
  for (int t = 0; t < d->threads; t++) look_at_columns(a, m, m->cut[t], m->cut[t + 1]);
  if (m->rows.offset == NULL && m->segments == 0 &&
      sell_sweep_bytes(&m->s) <= (int64_t)TRIED_BYTES * m->s.rows) {
    TRY(alloc_zeroed(&m->cg, 1, sizeof *m->cg, "matrix"));
  }
done:
  return rc;
}
