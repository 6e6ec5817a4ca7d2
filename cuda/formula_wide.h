/* A formula of several points at once. The text of a formula is scalar; compiled a second time with
 * `double` meaning gpu_lanes, GPU_WIDE points of one lane, it is what hides latency: the points'
 * operations are independent, and share coefficients and branches. Functions with several ways
 * take one together where all points of the lane agree, else each its own.
 *
 * A text that compares, converts or branches on its values does not compile like this; then it is
 * left scalar (rtc.h). The bits are the same: every point meets the same operations. */
#ifndef FORMULA_WIDE_H
#define FORMULA_WIDE_H

#include "formula_gpu.h"

struct gpu_lanes {
  double at[GPU_WIDE];
  __device__ inline gpu_lanes() {}
  __device__ inline gpu_lanes(double x) {
#pragma unroll
    for (int i = 0; i < GPU_WIDE; i++) at[i] = x;
  }
};

#define GPU_EACH(i) _Pragma("unroll") for (int i = 0; i < GPU_WIDE; i++)

#define GPU_OPERATOR(op)                                                                           \
  GPU_ONLY gpu_lanes operator op(const gpu_lanes &a, const gpu_lanes &b) {                         \
    gpu_lanes y;                                                                                   \
    GPU_EACH(i) y.at[i] = a.at[i] op b.at[i];                                                      \
    return y;                                                                                      \
  }                                                                                                \
  GPU_ONLY gpu_lanes operator op(double a, const gpu_lanes &b) {                                   \
    gpu_lanes y;                                                                                   \
    GPU_EACH(i) y.at[i] = a op b.at[i];                                                            \
    return y;                                                                                      \
  }                                                                                                \
  GPU_ONLY gpu_lanes operator op(const gpu_lanes &a, double b) {                                   \
    gpu_lanes y;                                                                                   \
    GPU_EACH(i) y.at[i] = a.at[i] op b;                                                            \
    return y;                                                                                      \
  }                                                                                                \
  GPU_ONLY gpu_lanes &operator op##=(gpu_lanes &a, const gpu_lanes &b) { return a = a op b; }

GPU_OPERATOR(+)
GPU_OPERATOR(-)
GPU_OPERATOR(*)
GPU_OPERATOR(/)

GPU_ONLY gpu_lanes operator-(const gpu_lanes &a) {
  gpu_lanes y;
  GPU_EACH(i) y.at[i] = -a.at[i];
  return y;
}

GPU_ONLY gpu_lanes fma(const gpu_lanes &a, const gpu_lanes &b, const gpu_lanes &c) {
  gpu_lanes y;
  GPU_EACH(i) y.at[i] = fma(a.at[i], b.at[i], c.at[i]);
  return y;
}

/* Point by point. */
#define GPU_ONE(name)                                                                              \
  GPU_ONLY gpu_lanes name(const gpu_lanes &x) {                                                    \
    gpu_lanes y;                                                                                   \
    GPU_EACH(i) y.at[i] = name(x.at[i]);                                                           \
    return y;                                                                                      \
  }
#define GPU_TWO(name)                                                                              \
  GPU_ONLY gpu_lanes name(const gpu_lanes &a, const gpu_lanes &b) {                                \
    gpu_lanes y;                                                                                   \
    GPU_EACH(i) y.at[i] = name(a.at[i], b.at[i]);                                                  \
    return y;                                                                                      \
  }

GPU_ONE(sqrt)
GPU_ONE(fabs)
GPU_ONE(floor)
GPU_ONE(ceil)
GPU_ONE(trunc)
GPU_ONE(round)
GPU_ONE(gpu_tan)
GPU_ONE(elementary_log)
GPU_ONE(elementary_log10)
GPU_ONE(elementary_cbrt)
GPU_ONE(elementary_asin)
GPU_ONE(elementary_acos)
GPU_ONE(elementary_atan)
GPU_ONE(elementary_sinh)
GPU_ONE(elementary_cosh)
GPU_ONE(elementary_tanh)
GPU_ONE(elementary_erf)
GPU_ONE(elementary_sign)
GPU_ONE(elementary_step)
GPU_TWO(elementary_pow)
GPU_TWO(elementary_power)
GPU_TWO(elementary_atan2)
GPU_TWO(elementary_min)
GPU_TWO(elementary_max)

GPU_ONLY gpu_lanes elementary_power_small(const gpu_lanes &x, int n) {
  gpu_lanes y;
  GPU_EACH(i) y.at[i] = elementary_power_small(x.at[i], n);
  return y;
}

/* The range of the points' sizes: what gpu_size() orders. */
struct gpu_range {
  uint32_t least, most;
};

GPU_ONLY gpu_range gpu_sizes(const gpu_lanes &x) {
  gpu_range r = {gpu_size(x.at[0]), gpu_size(x.at[0])};
  GPU_EACH(i) {
    const uint32_t size = gpu_size(x.at[i]);
    r.least = size < r.least ? size : r.least;
    r.most = size > r.most ? size : r.most;
  }
  return r;
}

/* elementary_reduce of all; `turn` is added to the quadrants. */
GPU_ONLY void gpu_reduce_all(const gpu_lanes &x, uint32_t most, uint64_t turn,
                             elementary_angle *a) {
  double r[GPU_WIDE], n[GPU_WIDE], shifted[GPU_WIDE];
  int clear = most < GPU_SIZE_NEAR;
  GPU_EACH(i) r[i] = gpu_remainder(x.at[i], &n[i], &shifted[i]);
  if (!clear) {
    clear = 1;
    GPU_EACH(i) clear &= gpu_is_clear(r[i]);
  }
  if (clear) {
    GPU_EACH(i) a[i] = gpu_angle(r[i], n[i], shifted[i], 1);
  } else {
    GPU_EACH(i) a[i] = gpu_angle(r[i], n[i], shifted[i], 0);
  }
  GPU_EACH(i) a[i].quadrant += turn;
}

/* sin of angles whose quadrants are even, cos of those that are odd: together where they agree. */
GPU_ONLY gpu_lanes gpu_sin_of_angles(const elementary_angle *a) {
  uint32_t all = ~(uint32_t)0, any = 0;
  gpu_lanes y;
  GPU_EACH(i) {
    all &= (uint32_t)a[i].quadrant;
    any |= (uint32_t)a[i].quadrant;
  }
  if ((all & 1) != 0) {
    GPU_EACH(i) y.at[i] = gpu_cos_of(a[i].high, a[i].low);
  } else if ((any & 1) == 0) {
    GPU_EACH(i) y.at[i] = gpu_sin_of(a[i].high, a[i].low);
  } else {
    GPU_EACH(i) {
      if ((a[i].quadrant & 1) != 0) {
        y.at[i] = gpu_cos_of(a[i].high, a[i].low);
      } else {
        y.at[i] = gpu_sin_of(a[i].high, a[i].low);
      }
    }
  }
  GPU_EACH(i) y.at[i] = double_of(bits_of(y.at[i]) ^ (a[i].quadrant & 2) << 62);
  return y;
}

GPU_ONLY gpu_lanes gpu_sin(const gpu_lanes &x) {
  const gpu_range r = gpu_sizes(x);
  gpu_lanes y;
  if (r.most < GPU_SIZE_EIGHTH) {
    GPU_EACH(i) y.at[i] = gpu_sin_small(x.at[i]);
  } else if (gpu_is_one(r.least, r.most)) {
    GPU_EACH(i) y.at[i] = gpu_sin_one(x.at[i]);
  } else if (gpu_is_two(r.least, r.most)) {
    GPU_EACH(i) y.at[i] = gpu_sin_two(x.at[i]);
  } else if (r.most < GPU_SIZE_LARGE && r.least > 0) {
    elementary_angle a[GPU_WIDE];
    gpu_reduce_all(x, r.most, 0, a);
    y = gpu_sin_of_angles(a);
  } else {
    GPU_EACH(i) y.at[i] = gpu_sin_far(x.at[i]); /* or 0, whose sign the reduction may lose */
  }
  return y;
}

GPU_ONLY gpu_lanes gpu_cos(const gpu_lanes &x) {
  const gpu_range r = gpu_sizes(x);
  gpu_lanes y;
  if (r.most < GPU_SIZE_EIGHTH) {
    GPU_EACH(i) y.at[i] = gpu_cos_of(x.at[i], 0.0);
  } else if (gpu_is_one(r.least, r.most)) {
    GPU_EACH(i) y.at[i] = gpu_cos_one(x.at[i]);
  } else if (gpu_is_two(r.least, r.most)) {
    GPU_EACH(i) y.at[i] = gpu_cos_two(x.at[i]);
  } else if (r.most < GPU_SIZE_LARGE) {
    elementary_angle a[GPU_WIDE];
    gpu_reduce_all(x, r.most, 1, a);
    y = gpu_sin_of_angles(a);
  } else {
    GPU_EACH(i) y.at[i] = gpu_cos_far(x.at[i]);
  }
  return y;
}

GPU_ONLY gpu_lanes gpu_exp(const gpu_lanes &x) {
  const uint32_t most = gpu_sizes(x).most;
  gpu_lanes y;
  if (most < GPU_SIZE_SMALL) {
    GPU_EACH(i) y.at[i] = gpu_exp_small(x.at[i]);
  } else if (most < GPU_SIZE_ORDINARY) {
    GPU_EACH(i) y.at[i] = gpu_exp_ordinary(x.at[i]);
  } else {
    GPU_EACH(i) y.at[i] = gpu_exp_far(x.at[i]);
  }
  return y;
}

#endif
