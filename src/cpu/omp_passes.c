/* The fused passes of the OpenMP backend. Each works on one tile: the tile's rows times x go into a
 * buffer on the stack (2 KiB, stays in the first cache), then straight vector loops update and make
 * the terms of the sums, which are added block by block (block_sum.h) and enter the worker's
 * accumulator, one exact addition per block. Arrays are streamed once per pass; the budget of each
 * is in its comment, in bytes per row beside the matrix (sell.h), with 8 of a store for reading the
 * line first. */
#include <math.h>

#include "lanes.h"
#include "omp_team.h"

/* x.y of two vectors: 16. */
static void dot_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)tile;
  const double *restrict x = p->x + begin, *restrict y = p->b + begin;
  double a[TILE], b[TILE];
  const lidx n = end - begin;
  for (lidx j = 0; j < n; j++) {
    a[j] = p->scale * x[j];
    b[j] = p->scale * y[j];
  }
  add_blocks(w, 0, a, b, n, p->block);
}

status omp_dot(device *d, vec x, vec y, double scale) {
  const pass p = {.x = vec_at(x), .b = vec_at(y), .scale = scale, .block = x.block};
  run_vector(d, x.rows, &p, dot_tile);
  return STATUS_OK;
}

/* y = A x: x 8, y 16. */
static void product_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  double sum[TILE];
  tile_product(p->m, tile, p->x, sum);
  for (lidx j = 0; j < end - begin; j++) p->y[begin + j] = sum[j];
}

status omp_product(device *d, const matrix *m, part which, vec x, vec y) {
  const pass p = {.m = m, .x = vec_at(x), .y = vec_at(y)};
  run_matrix(d, which, &p, 0, product_tile);
  return STATUS_OK;
}

/* r = b - A x and the sizes of r and |A||x|: x 8, b 8, r 16; the matrix twice. */
static void residual_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  const double *restrict b = p->b + begin;
  double sum[TILE], size[TILE];
  const lidx n = end - begin;
  lanes_ask_for(b, n);
  tile_product(p->m, tile, p->x, sum);
  tile_product_absolute(p->m, tile, p->x, size);
  for (lidx j = 0; j < n; j++) sum[j] = b[j] - sum[j];
  if (p->y != NULL) {
    for (lidx j = 0; j < n; j++) p->y[begin + j] = sum[j];
  }
  for (lidx j = 0; j < n; j++) {
    sum[j] = p->scale * sum[j];
    size[j] = p->scale * size[j];
  }
  add_blocks(w, 0, sum, sum, n, p->block);
  add_blocks(w, 1, size, size, n, p->block);
}

status omp_residual(device *d, const matrix *m, part which, vec x, vec b, vec r, double scale) {
  const pass p = {
      .m = m, .x = vec_at(x), .b = vec_at(b), .y = vec_at(r), .scale = scale, .block = x.block};
  run_matrix(d, which, &p, 1, residual_tile);
  return STATUS_OK;
}

/* next = x + weight (b - A x), the residual's norm: x 8, b 8, weight 8, next 16. */
static void sweep_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  const double *restrict x = p->x + begin, *restrict b = p->b + begin;
  double *restrict next = p->y + begin;
  const double scale = p->scale;
  double sum[TILE], room[TILE];
  const double *weight = tile_weights(p->m, tile, p->weight, room);
  const lidx n = end - begin;
  int64_t changed = 0;
  lanes_ask_for(b, n);
  if (weight == p->weight + begin) lanes_ask_for(weight, n);
  lanes_ask_for(next, n);
  tile_product(p->m, tile, p->x, sum);
  for (lidx j = 0; j < n; j++) {
    const double r = b[j] - sum[j], to = fma(weight[j], r, x[j]);
    next[j] = to;
    sum[j] = scale * r;
    changed += bits_of(to) != bits_of(x[j]);
  }
  add_blocks(w, 0, sum, sum, n, p->block);
  w->sums.counter[COUNTER_CHANGED] += changed;
}

/* The same with the sizes of the update and of the new iterate. */
static void sweep_update_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  const double *restrict x = p->x + begin, *restrict b = p->b + begin;
  double *restrict next = p->y + begin;
  const double scale = p->scale;
  double sum[TILE], size[TILE], room[TILE];
  const double *weight = tile_weights(p->m, tile, p->weight, room);
  const lidx n = end - begin;
  int64_t changed = 0;
  lanes_ask_for(b, n);
  if (weight == p->weight + begin) lanes_ask_for(weight, n);
  lanes_ask_for(next, n);
  tile_product(p->m, tile, p->x, sum);
  for (lidx j = 0; j < n; j++) {
    const double r = b[j] - sum[j], to = fma(weight[j], r, x[j]);
    next[j] = to;
    sum[j] = scale * (to - x[j]);
    size[j] = scale * to;
    changed += bits_of(to) != bits_of(x[j]);
  }
  add_blocks(w, 0, sum, sum, n, p->block);
  add_blocks(w, 1, size, size, n, p->block);
  w->sums.counter[COUNTER_CHANGED] += changed;
}

status omp_sweep(device *d, const matrix *m, part which, vec x, vec b, vec weight, vec next,
                 dptr state) {
  const solve_state *s = state_at(state);
  const pass p = {.m = m,
                  .x = vec_at(x),
                  .b = vec_at(b),
                  .weight = vec_at(weight),
                  .y = vec_at(next),
                  .scale = s->monitor_update ? s->update_scale : s->scale,
                  .block = x.block};
  if (s->verdict != VERDICT_NONE) return STATUS_OK;
  run_matrix(d, which, &p, 0, s->monitor_update ? sweep_update_tile : sweep_tile);
  return STATUS_OK;
}
