/* Integrands and blocks of samples on the host (quad_host.h). */
#include "quad_host.h"

#include "alloc.h"

status quad_host_create(struct device *d, const formula *f, int dims, quad_work **out) {
  (void)d;
  status rc = alloc_zeroed(out, 1, sizeof **out, "integrand");
  if (rc != STATUS_OK) return rc;
  (*out)->f = f;
  (*out)->dims = dims;
  return STATUS_OK;
}

void quad_host_release(struct device *d, quad_work **w) {
  (void)d;
  alloc_free(w);
}

/* A finite uniform axis: no lookups, weights 1 but for the ends, and the loop vectorises (the
 * number is split so that only a 32-bit integer is converted; both parts and their sum are exact).
 */
static void make_uniform(const quad_axis *a, quad_samples *out) {
  const double first = (double)out->first;
  double *x = out->x[0], *weight = out->weight;
  for (int i = 0; i < out->count; i++) x[i] = fma(first + (double)i, a->step, a->lower);
  if (out->first + out->count == a->count) x[out->count - 1] = a->upper;
  if (a->kind == QUAD_TRAPEZOID) {
    for (int i = 0; i < out->count; i++) weight[i] = 1.0;
    if (out->first == 0) weight[0] = 0.5;
    if (out->first + out->count == a->count) weight[out->count - 1] = 0.5;
  } else {
    for (int i = 0; i < out->count; i++) {
      weight[i] = quad_simpson_weight(out->first + i, a->count);
    }
  }
}

static void make_any(const quad_grid *g, quad_samples *out) {
  int64_t digit[QUAD_DIMS];
  double x[QUAD_DIMS];
  quad_digits(g, out->first, digit);
  for (int i = 0; i < out->count; i++) {
    out->weight[i] = quad_point(g, digit, x);
    for (int d = 0; d < g->dims; d++) out->x[d][i] = x[d];
    for (int d = 0; d < g->dims && ++digit[d] == g->axis[d].count; d++) digit[d] = 0;
  }
}

/* Places on one axis from their digits. */
static void make_places(const quad_axis *a, int count, const uint64_t *digits, double *x,
                        double *weight) {
  if (a->range == QUAD_FINITE) {
    for (int i = 0; i < count; i++) x[i] = fma(sobol_uniform(digits[i]), a->step, a->lower);
    return;
  }
  for (int i = 0; i < count; i++) {
    weight[i] *= quad_axis_place(a, sobol_uniform(digits[i]), &x[i]);
  }
}

/* A block of Sobol points begins at a multiple of its size: the digits of its first point serve
 * all, and those of 2^(j + 1) points are those of 2^j points, and these with column j. */
static void make_sobol(const quad_grid *g, quad_samples *out) {
  uint64_t digits[BLOCK_MAX];
  for (int i = 0; i < out->count; i++) out->weight[i] = 1.0;
  for (int d = 0; d < g->dims; d++) {
    const uint64_t *table = quad_sobol_table(g, d);
    digits[0] = sobol_digits(table, (uint64_t)(g->first + out->first));
    for (int j = 0, half = 1; half < out->count; j++, half *= 2) {
      for (int i = 0; i < half; i++) digits[half + i] = digits[i] ^ table[j];
    }
    make_places(&g->axis[d], out->count, digits, out->x[d], out->weight);
  }
}

void quad_samples_make(const quad_grid *g, int64_t block, quad_samples *out) {
  const int64_t size = block_size(g->points), first = block * size;
  quad_samples_run(g, first, (int)(g->points - first < size ? g->points - first : size), out);
}

void quad_samples_run(const quad_grid *g, int64_t first, int count, quad_samples *out) {
  const quad_axis *a = &g->axis[0];
  out->first = first;
  out->count = count;
  if (g->kind == QUAD_SOBOL) {
    make_sobol(g, out);
  } else if (g->dims == 1 && a->kind != QUAD_TABLE && a->range == QUAD_FINITE) {
    make_uniform(a, out);
  } else {
    make_any(g, out);
  }
}

double quad_samples_sum(const quad_samples *s) {
  double term[BLOCK_MAX];
  for (int i = 0; i < s->count; i++) term[i] = quad_term(s->weight[i], s->value[i]);
  return block_sum(term, s->count);
}
