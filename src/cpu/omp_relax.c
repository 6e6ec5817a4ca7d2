/* out = y + c w (b - A x): smoothing steps, residuals without norms, corrections from coarser
 * levels. A tile's rows times x stay in the first cache; 8 bytes per row and vector given, 16 for
 * out, beside the matrix. */
#include <math.h>

#include "lanes.h"
#include "omp_team.h"

static void relax_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  const double *restrict b = p->b, *restrict weight = p->weight;
  const double c = p->scale;
  double r[TILE];
  const lidx n = end - begin;
  if (b != NULL) lanes_ask_for(b + begin, n);
  if (weight != NULL) lanes_ask_for(weight + begin, n);
  if (p->z != NULL) lanes_ask_for(p->z + begin, n);
  if (p->x != NULL) {
    tile_product(p->m, tile, p->x, r);
  } else {
    for (lidx j = 0; j < n; j++) r[j] = 0.0;
  }
  if (b != NULL) {
    for (lidx j = 0; j < n; j++) r[j] = b[begin + j] - r[j];
  } else {
    for (lidx j = 0; j < n; j++) r[j] = -r[j];
  }
  if (p->z == NULL) {
    for (lidx j = 0; j < n; j++) {
      p->y[begin + j] = (weight == NULL ? c : c * weight[begin + j]) * r[j];
    }
  } else {
    for (lidx j = 0; j < n; j++) {
      const double factor = weight == NULL ? c : c * weight[begin + j];
      p->y[begin + j] = fma(factor, r[j], p->z[begin + j]);
    }
  }
}

status omp_relax(device *d, const matrix *m, part which, vec x, double c, vec w, vec b, vec y,
                 vec out) {
  const pass p = {.m = m,
                  .x = vec_at(x),
                  .b = vec_at(b),
                  .weight = vec_at(w),
                  .y = vec_at(out),
                  .z = vec_at(y),
                  .scale = c};
  run_matrix(d, which, &p, 0, relax_tile);
  return STATUS_OK;
}

/* Entries are apart from each other (every second one, for red and black): 64 bytes a row move for
 * each of x, b, weight where other colours do not use the rest of the lines soon. */
static void set_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  const lidx *restrict set = p->set + begin;
  double sum[TILE];
  tile_product(p->m, tile, p->x, sum);
  for (lidx j = 0; j < end - begin; j++) {
    const lidx i = set[j];
    p->y[i] = fma(p->weight[i], (p->b == NULL ? 0.0 : p->b[i]) - sum[j], p->count ? p->y[i] : 0.0);
  }
}

status omp_relax_set(device *d, const matrix *m, part which, dptr set, vec w, vec b, int keep,
                     vec x) {
  const pass p = {.m = m,
                  .x = vec_at(x),
                  .b = vec_at(b),
                  .weight = vec_at(w),
                  .set = set.at,
                  .y = vec_at(x),
                  .count = keep};
  run_matrix(d, which, &p, 0, set_tile);
  return STATUS_OK;
}
