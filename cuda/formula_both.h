/* A formula that is evaluated at GPU_WIDE points of a lane at a time (formula_wide.h). */
#ifndef FORMULA_BOTH_H
#define FORMULA_BOTH_H

typedef gpu_lanes points_of;

static __device__ inline double &points_at(points_of &x, int i) { return x.at[i]; }
static __device__ inline void formula_points(const points_of *in, points_of *out) {
  several::formula_value(in, out);
}

#endif
