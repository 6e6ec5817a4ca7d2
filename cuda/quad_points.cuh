/* Device code: the samples of a grid. Compiled at run time, around a formula (rtc.h). Known then:
 *   FORMULA_INPUTS, QUAD_NDIMS   inputs of the formula, the first of them coordinates
 *   QUAD_ESTIMATE, QUAD_SINGLE, QUAD_KIND   the grid's estimate, single and kind
 * The arithmetic is quad.h's; here is only what makes it cheap on a GPU: loops over directions have
 * constant bounds, so that coordinates stay in registers. */
#ifndef CUDA_QUAD_POINTS_H
#define CUDA_QUAD_POINTS_H

#include "block_sum.h"
#include "block_tally.h"
#include "quad_args.h"

enum { SUMS = 1 + QUAD_ESTIMATE };

/* s / count and its rest, for s < 2^53: a product with the inverse is off by one at most. */
static __device__ inline int64_t divide(int64_t s, int64_t count, double inverse, int64_t *rest) {
  int64_t q = (int64_t)((double)s * inverse), r = s - q * count;
  while (r < 0) {
    q--;
    r += count;
  }
  while (r >= count) {
    q++;
    r -= count;
  }
  *rest = r;
  return q;
}

/* Sample s of a product grid: x[QUAD_NDIMS], its weight and that of the coarser rule. */
static __device__ inline void product_point(const quad_samples_args &a, int64_t s, double *x,
                                            double *weight) {
#pragma unroll
  for (int d = 0; d < QUAD_NDIMS; d++) {
    int64_t i = s;
    double second = 0.0;
    if (d + 1 < QUAD_NDIMS) s = divide(s, a.grid.axis[d].count, a.inverse[d], &i);
    const double first =
        quad_axis_point(&a.grid.axis[d], i, &x[d], QUAD_ESTIMATE ? &second : (double *)0);
    weight[0] = d == 0 ? first : weight[0] * first;
    if (QUAD_ESTIMATE) weight[SUMS - 1] = d == 0 ? second : weight[SUMS - 1] * second;
  }
}

/* Sobol points of one block: `digits` of the lane's first point, whose number is a multiple of 32
 * plus the lane; later ones of an aligned block differ in the bits 5, 6 and 7 of the number. */
struct sobol_lane {
  uint64_t digits[QUAD_NDIMS];
};

static __device__ inline void sobol_begin(const quad_grid &g, int64_t number, sobol_lane *lane) {
#pragma unroll
  for (int d = 0; d < QUAD_NDIMS; d++) {
    lane->digits[d] = sobol_digits(quad_sobol_table(&g, d), (uint64_t)number);
  }
}

static __device__ inline void sobol_place(const quad_grid &g, const sobol_lane &lane, int k,
                                          double *x, double *weight) {
  weight[0] = 1.0;
#pragma unroll
  for (int d = 0; d < QUAD_NDIMS; d++) {
    const uint64_t *table = quad_sobol_table(&g, d);
    uint64_t digits = lane.digits[d];
    if ((k & 1) != 0) digits ^= table[5];
    if ((k & 2) != 0) digits ^= table[6];
    if ((k & 4) != 0) digits ^= table[7];
    weight[0] *= quad_axis_place(&g.axis[d], sobol_uniform(digits), &x[d]);
  }
}

static __device__ inline void round_single(double *x) {
  if (!QUAD_SINGLE) return;
#pragma unroll
  for (int d = 0; d < QUAD_NDIMS; d++) x[d] = (float)x[d];
}

/* What a lane of a block has summed so far, and its result: quad_block_single's or block_sum's. */
struct lane_sums {
  double sum[SUMS];
  float single[SUMS], error[SUMS];
};

static __device__ inline void lane_clear(lane_sums *l) {
#pragma unroll
  for (int k = 0; k < SUMS; k++) {
    l->sum[k] = 0.0;
    l->single[k] = l->error[k] = 0.0f;
  }
}

/* WHOLE: no weight is 0, and not single. */
template <bool WHOLE>
static __device__ inline void lane_add(lane_sums *l, const double *weight, double f) {
#pragma unroll
  for (int k = 0; k < SUMS; k++) {
    if (WHOLE) {
      l->sum[k] += weight[k] * f;
    } else if (QUAD_SINGLE) {
      quad_add_single(&l->single[k], &l->error[k], quad_term_single(weight[k], f));
    } else {
      l->sum[k] += quad_term(weight[k], f);
    }
  }
}

static __device__ inline double lane_value(const lane_sums &l, int k) {
  if (!QUAD_SINGLE) return l.sum[k];
  const float sum = l.single[k];
  return isfinite(sum) ? (double)sum + (double)l.error[k] : (double)sum;
}

#endif
