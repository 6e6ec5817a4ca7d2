/* Quadrature by plain serial loops: one sample at a time, straight from quad.h. */
#include "ref_device.h"

#include "quad_host.h"

/* weight * f of sample s. */
static double term(const quad_work *w, const quad_grid *g, const double *parameters, int64_t s) {
  int64_t digit[QUAD_DIMS];
  double x[QUAD_DIMS], value, *out = &value;
  formula_input in[QUAD_INPUTS];
  for (int i = 0; i < w->f->inputs; i++) {
    in[i].at = i < w->dims ? &x[i] : &parameters[i - w->dims];
    in[i].step = 0;
  }
  quad_digits(g, s, digit);
  const double weight = quad_point(g, digit, x);
  w->f->batch(w->f->context, 1, in, &out);
  return quad_term(weight, value);
}

static status sum(device *d, quad_work *w, const quad_grid *g, const double *parameters,
                  int64_t first, int64_t last) {
  const int64_t size = block_size(g->points);
  double q[BLOCK_MAX];
  for (int64_t block = first; block < last; block++) {
    int count = 0;
    for (int64_t s = block * size; s < g->points && count < size; s++) {
      q[count++] = term(w, g, parameters, s);
    }
    wide_add(&d->sums.sum[0], block_sum(q, count));
  }
  wide_normalise(&d->sums.sum[0]);
  return STATUS_OK;
}

static double member_sum(const quad_work *w, const quad_grid *g, const double *parameters) {
  double q[BLOCK_MAX], sum = 0.0;
  for (int64_t s = 0; s < g->points;) {
    int count = 0;
    while (count < BLOCK_MAX && s < g->points) q[count++] = term(w, g, parameters, s++);
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
                               .members = members,
                               .regions = quad_ref_regions};
