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
static void make_uniform(const quad_axis *a, int estimate, quad_samples *out) {
  const double first = (double)out->first + (a->kind == QUAD_MIDPOINT ? 0.5 : 0.0);
  const int last = out->first + out->count == a->count && a->kind != QUAD_MIDPOINT;
  double *x = out->x[0], *weight = out->weight, *coarse = out->coarse;
  for (int i = 0; i < out->count; i++) x[i] = fma(first + (double)i, a->step, a->lower);
  if (last) x[out->count - 1] = a->upper;
  if (a->kind == QUAD_SIMPSON) {
    for (int i = 0; i < out->count; i++) {
      weight[i] = quad_simpson_weight(out->first + i, a->count);
      if (estimate) coarse[i] = quad_simpson_coarse(out->first + i, a->count);
    }
    return;
  }
  for (int i = 0; i < out->count; i++) weight[i] = 1.0;
  if (a->kind == QUAD_MIDPOINT) return;
  if (out->first == 0) weight[0] = 0.5;
  if (last) weight[out->count - 1] = 0.5;
  for (int i = 0; estimate && i < out->count; i++) {
    coarse[i] = quad_trapezoid_coarse(out->first + i, a->count);
  }
}

static void make_any(const quad_grid *g, quad_samples *out) {
  int64_t digit[QUAD_DIMS];
  double x[QUAD_DIMS];
  quad_digits(g, out->first, digit);
  for (int i = 0; i < out->count; i++) {
    out->weight[i] = quad_point(g, digit, x, g->estimate ? &out->coarse[i] : NULL);
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
    make_uniform(a, g->estimate, out);
  } else {
    make_any(g, out);
  }
  if (!g->single) return;
  for (int d = 0; d < g->dims; d++) {
    for (int i = 0; i < out->count; i++) out->x[d][i] = (float)out->x[d][i];
  }
}

double quad_terms_sum(const quad_grid *g, int count, const double *weight, const double *value) {
  if (g->single) {
    float term[BLOCK_MAX];
    for (int i = 0; i < count; i++) term[i] = quad_term_single(weight[i], value[i]);
    return quad_block_single(term, count);
  }
  double term[BLOCK_MAX];
  for (int i = 0; i < count; i++) term[i] = quad_term(weight[i], value[i]);
  return block_sum(term, count);
}

/* Whether the block's coarser rule is 2 0 2 0 ... on weights 1: then its sum is in the xor tree. */
static int alternates(const quad_grid *g, const quad_samples *s) {
  const quad_axis *a = &g->axis[0];
  return g->kind == QUAD_PRODUCT && g->dims == 1 && a->kind == QUAD_TRAPEZOID &&
         a->range == QUAD_FINITE && !g->single && s->count == BLOCK_MAX && s->first > 0 &&
         s->first + s->count < a->count - 1;
}

void quad_samples_sum(const quad_grid *g, const quad_samples *s, double sum[2]) {
  if (g->estimate && alternates(g, s)) {
    double even;
    sum[0] = block_sum_even(s->value, s->count, &even);
    sum[1] = 2.0 * even;
    return;
  }
  sum[0] = quad_terms_sum(g, s->count, s->weight, s->value);
  if (g->estimate) sum[1] = quad_terms_sum(g, s->count, s->coarse, s->value);
}

status quad_host_collect(tally *t, comm *c, int count, wide *out) {
  for (int i = 0; i < count; i++) {
    wide_normalise(&t->sum[i]);
    out[i] = t->sum[i];
  }
  tally_clear(t);
  return comm_sum_i64(c, out[0].word, (int64_t)count * WIDE_WORDS);
}
