/* A formula as expressions are printed (but for the device alone: nvcc compiles for the host too),
 * for the check of the kernels' texts at build time. */
#ifndef SAMPLE_FORMULA_H
#define SAMPLE_FORMULA_H

GPU_ONLY void formula_value(const double *in, double *out) {
  const double t0 = elementary_sin(in[0]);
  const double t1 = fma(-0.05, in[1], elementary_cos(t0));
  out[0] = elementary_exp(t1) + sqrt(fabs(t0 / 3.0)) * elementary_power_small(t1, 3);
}

#endif
