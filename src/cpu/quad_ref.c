/* Quadrature by plain serial loops: one sample at a time, straight from quad.h. */
#include "ref_device.h"

#include "quad_host.h"

/* f at sample s, its weight and that of the coarser rule. */
static double value_at(const quad_work *w, const quad_grid *g, const double *parameters, int64_t s,
                       double *weight, double *coarse) {
  int64_t digit[QUAD_DIMS];
  double x[QUAD_DIMS], value, *out = &value;
  formula_input in[QUAD_INPUTS];
  for (int i = 0; i < w->f->inputs; i++) {
    in[i].at = i < w->dims ? &x[i] : &parameters[i - w->dims];
    in[i].step = 0;
  }
  quad_digits(g, s, digit);
  *weight = quad_point(g, digit, x, g->estimate ? coarse : NULL);
  for (int d = 0; g->single && d < g->dims; d++) x[d] = (float)x[d];
  w->f->batch(w->f->context, 1, in, &out);
  return value;
}

/* Samples [first, first + count) as one block: its sums. */
static void block_sums(const quad_work *w, const quad_grid *g, const double *parameters,
                       int64_t first, int count, double sums[2]) {
  double q[2][BLOCK_MAX];
  float single[2][BLOCK_MAX];
  for (int i = 0; i < count; i++) {
    double weight[2];
    const double f = value_at(w, g, parameters, first + i, &weight[0], &weight[1]);
    for (int k = 0; k <= g->estimate; k++) {
      q[k][i] = quad_term(weight[k], f);
      if (g->single) single[k][i] = quad_term_single(weight[k], f);
    }
  }
  for (int k = 0; k <= g->estimate; k++) {
    sums[k] = g->single ? quad_block_single(single[k], count) : block_sum(q[k], count);
  }
}

static status sum(device *d, quad_work *w, const quad_grid *g, const double *parameters,
                  int64_t first, int64_t last) {
  const int64_t size = block_size(g->points);
  for (int64_t block = first; block < last; block++) {
    const int64_t at = block * size, left = g->points - at;
    double sums[2];
    block_sums(w, g, parameters, at, (int)(left < size ? left : size), sums);
    for (int k = 0; k <= g->estimate; k++) tally_add(&d->sums, k, sums[k]);
  }
  for (int k = 0; k <= g->estimate; k++) wide_normalise(&d->sums.sum[k]);
  return STATUS_OK;
}

static status collect(device *d, comm *c, int count, wide *out) {
  return quad_host_collect(&d->sums, c, count, out);
}

static status members(device *d, quad_work *w, const quad_grid *g, const quad_family *family,
                      int64_t first, int64_t count, dptr sums) {
  double parameters[QUAD_INPUTS];
  (void)d;
  for (int k = 0; k < family->fixed_count; k++) parameters[k] = family->fixed[k];
  for (int64_t i = 0; i < count; i++) {
    double total[2] = {0.0, 0.0};
    sweep_member(&family->swept, first + i, parameters + family->fixed_count);
    for (int64_t at = 0; at < g->points; at += BLOCK_MAX) {
      const int64_t left = g->points - at;
      double block[2];
      block_sums(w, g, parameters, at, (int)(left < BLOCK_MAX ? left : BLOCK_MAX), block);
      for (int k = 0; k <= g->estimate; k++) total[k] += block[k];
    }
    for (int k = 0; k <= g->estimate; k++) {
      ((double *)sums.at)[i * (1 + g->estimate) + k] = total[k];
    }
  }
  return STATUS_OK;
}

const quad_backend QUAD_ref = {.create = quad_host_create,
                               .release = quad_host_release,
                               .sum = sum,
                               .collect = collect,
                               .members = members,
                               .regions = quad_ref_regions};
