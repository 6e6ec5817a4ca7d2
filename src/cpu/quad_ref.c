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

static status sum(device *d, quad_work *w, const quad_grid *g, const double *parameters,
                  int64_t first, int64_t last) {
  const int64_t size = block_size(g->points);
  double q[2][BLOCK_MAX];
  float single[2][BLOCK_MAX];
  for (int64_t block = first; block < last; block++) {
    int count = 0;
    for (int64_t s = block * size; s < g->points && count < size; s++, count++) {
      double weight[2];
      const double f = value_at(w, g, parameters, s, &weight[0], &weight[1]);
      for (int k = 0; k <= g->estimate; k++) {
        q[k][count] = quad_term(weight[k], f);
        if (g->single) single[k][count] = quad_term_single(weight[k], f);
      }
    }
    for (int k = 0; k <= g->estimate; k++) {
      wide_add(&d->sums.sum[k],
               g->single ? quad_block_single(single[k], count) : block_sum(q[k], count));
    }
  }
  for (int k = 0; k <= g->estimate; k++) wide_normalise(&d->sums.sum[k]);
  return STATUS_OK;
}

static status collect(device *d, comm *c, int count, wide *out) {
  return quad_host_collect(&d->sums, c, count, out);
}

static double member_sum(const quad_work *w, const quad_grid *g, const double *parameters) {
  double q[BLOCK_MAX], sum = 0.0;
  for (int64_t s = 0; s < g->points;) {
    int count = 0;
    while (count < BLOCK_MAX && s < g->points) {
      double weight, coarse;
      const double f = value_at(w, g, parameters, s++, &weight, &coarse);
      q[count++] = quad_term(weight, f);
    }
    sum += block_sum(q, count);
  }
  return sum;
}

static status members(device *d, quad_work *w, const quad_grid *g, const quad_family *family,
                      int64_t first, int64_t count, dptr which, dptr sums) {
  double parameters[QUAD_INPUTS];
  (void)d;
  for (int k = 0; k < family->fixed_count; k++) parameters[k] = family->fixed[k];
  for (int64_t i = 0; i < count; i++) {
    sweep_member(&family->swept, quad_member(which.at, first, i), parameters + family->fixed_count);
    ((double *)sums.at)[i] = member_sum(w, g, parameters);
  }
  return STATUS_OK;
}

const quad_backend QUAD_ref = {.create = quad_host_create,
                               .release = quad_host_release,
                               .sum = sum,
                               .collect = collect,
                               .members = members,
                               .regions = quad_ref_regions};
