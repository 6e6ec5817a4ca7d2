/* Regions of adaptive quadrature by plain serial loops: one point at a time, straight from
 * quad_regions.h. */
#include "ref_device.h"

#include "quad_host.h"

status quad_ref_regions(device *d, quad_work *w, const quad_frame *f, const double *parameters,
                        int64_t count, const double *edge, quad_estimate *out) {
  (void)d;
  double x[QUAD_DIMS], g[QUAD_MALIK_POINTS], value, *to = &value;
  formula_input in[QUAD_INPUTS];
  for (int i = 0; i < w->f->inputs; i++) {
    in[i].at = i < w->dims ? &x[i] : &parameters[i - w->dims];
    in[i].step = 0;
  }
  for (int64_t r = 0; r < count; r++, edge += 2 * f->dims) {
    for (int k = 0; k < quad_region_points(f); k++) {
      const double slope = quad_region_point(f, edge, k, x);
      w->f->batch(w->f->context, 1, in, &to);
      g[k] = quad_region_term(slope, value);
    }
    quad_region_estimate(f, edge, g, &out[r]);
  }
  return STATUS_OK;
}
