/* Passes of the OpenMP backend over several vectors: what host-driven methods are made of. Tiles of
 * 256 rows, as in omp_passes.c; a tile of the vector that all others meet stays in the first cache.
 * Budgets in bytes per row: dots 8 (count + 1); combine 8 a term and 16; multiply 32; accumulate
 * 8 count + 16. */
#include <math.h>

#include "omp_team.h"

/* y times each x. */
static void dots_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)tile;
  const lidx n = end - begin;
  const double scale = p->scale;
  double a[TILE], b[TILE];
  for (lidx j = 0; j < n; j++) b[j] = scale * p->b[begin + j];
  for (int k = 0; k < p->count; k++) {
    const double *restrict x = vec_at(p->many[k]) + begin;
    for (lidx j = 0; j < n; j++) a[j] = scale * x[j];
    for (lidx j = 0; j < n; j += p->block) {
      worker_add(w, k, block_dot(a + j, b + j, n - j < p->block ? n - j : p->block));
    }
  }
}

status omp_dots(device *d, int count, const vec *x, vec y, double scale) {
  const pass p = {.many = x, .count = count, .b = vec_at(y), .scale = scale, .block = y.block};
  run_vector(d, y.rows, &p, dots_tile);
  return STATUS_OK;
}

static void combine_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  (void)tile;
  const double a = p->factor[0], b = p->factor[1];
  for (lidx i = begin; i < end; i++) p->y[i] = fma(a, p->x[i], b * p->b[i]);
}

static void scale_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  (void)tile;
  const double a = p->factor[0];
  for (lidx i = begin; i < end; i++) p->y[i] = a * p->x[i];
}

status omp_combine(device *d, double a, vec x, double b, vec y, vec out) {
  const int both = vec_at(x) != NULL && vec_at(y) != NULL, first = vec_at(x) != NULL;
  const double factor[] = {both || first ? a : b, b};
  const pass p = {.x = first ? vec_at(x) : vec_at(y),
                  .b = vec_at(y),
                  .factor = factor,
                  .y = vec_at(out),
                  .scale = 0.0};
  if (p.x == NULL) {
    for (lidx i = 0; i < out.rows; i++) p.y[i] = 0.0;
    return STATUS_OK;
  }
  run_vector(d, out.rows, &p, both ? combine_tile : scale_tile);
  return STATUS_OK;
}

static void multiply_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  (void)tile;
  for (lidx i = begin; i < end; i++) p->y[i] = p->weight[i] * p->x[i];
}

status omp_multiply(device *d, vec w, vec x, vec out) {
  const pass p = {.weight = vec_at(w), .x = vec_at(x), .y = vec_at(out)};
  run_vector(d, out.rows, &p, multiply_tile);
  return STATUS_OK;
}

static void accumulate_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  (void)tile;
  double *restrict out = p->y + begin;
  for (int k = 0; k < p->count; k++) {
    const double a = p->factor[k], *restrict x = vec_at(p->many[k]) + begin;
    for (lidx j = 0; j < end - begin; j++) out[j] = fma(a, x[j], out[j]);
  }
}

status omp_accumulate(device *d, int count, const double *a, const vec *x, vec out) {
  const pass p = {.many = x, .factor = a, .count = count, .y = vec_at(out)};
  run_vector(d, out.rows, &p, accumulate_tile);
  return STATUS_OK;
}
