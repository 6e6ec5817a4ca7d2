/* Kernel quad_sum: the sums of blocks of samples. A warp takes a block at a time, lane l its
 * samples l, l + 32, ...; block sums go to the thread block's exact sums in shared memory, those
 * once to device memory. Nothing but the samples' tables is read.
 *
 * Inner blocks of equally spaced points have weights 1, and for the coarser rule of a trapezoid 2
 * and 0 in turn, whose sum is in the xor tree before its last addition. Their numbers, as doubles,
 * have one exponent (a block is aligned), so the next one is an integer addition away. */
#include "quad_points.cuh"

/* The lane's sum of an inner block; `first` is sample 0's number. shared[i]: parameters. */
static __device__ inline double plain_lane(const quad_sum_args &p, int64_t first,
                                           const double *shared) {
  const quad_axis &a = p.s.grid.axis[0];
  const double begin = (double)first + (a.kind == QUAD_MIDPOINT ? 0.5 : 0.0);
  uint64_t number = bits_of(begin + (double)(threadIdx.x % WARP));
  const uint64_t next = (uint64_t)WARP << (1075 - (int)(number >> 52));
  double sum = 0.0;
#pragma unroll 1
  for (int k = 0; k < BLOCK_MAX / WARP / GPU_WIDE; k++) {
    points_of in[FORMULA_INPUTS + 1], f;
#pragma unroll
    for (int i = QUAD_NDIMS; i < FORMULA_INPUTS; i++) in[i] = shared[i];
#pragma unroll
    for (int i = 0; i < GPU_WIDE; i++) {
      points_at(in[0], i) = fma(double_of(number), a.step, a.lower);
      number += next;
    }
    formula_points(in, &f);
#pragma unroll
    for (int i = 0; i < GPU_WIDE; i++) sum += points_at(f, i);
  }
  return sum;
}

static __device__ inline void plain_block(const quad_sum_args &p, int64_t first,
                                          const double *shared, double *sum) {
  double half = plain_lane(p, first, shared);
#pragma unroll
  for (int step = 16; step >= 2; step /= 2) half += __shfl_xor_sync(ALL_LANES, half, step);
  sum[0] = half + __shfl_xor_sync(ALL_LANES, half, 1);
  if (QUAD_ESTIMATE) sum[SUMS - 1] = 2.0 * __shfl_sync(ALL_LANES, half, 0);
}

/* The sums of any block, in every lane. */
static __device__ inline void any_block(const quad_sum_args &p, int64_t first, int count,
                                        double *in, double *sum) {
  const int lane = (int)(threadIdx.x % WARP);
  const int64_t number = p.s.grid.first + first;
  const bool aligned = (number & (p.block - 1)) == 0 || count <= WARP;
  lane_sums l;
  sobol_lane sobol;
  lane_clear(&l);
  if (QUAD_KIND == QUAD_SOBOL) sobol_begin(p.s.grid, number + lane, &sobol);
#pragma unroll 1
  for (int i = lane, k = 0; i < count; i += WARP, k++) {
    double weight[SUMS], f;
    if (QUAD_KIND == QUAD_SOBOL) {
      if (!aligned) sobol_begin(p.s.grid, number + i, &sobol);
      sobol_place(p.s.grid, sobol, aligned ? k : 0, in, weight);
    } else {
      product_point(p.s, first + i, in, weight);
    }
    round_single(in);
    formula_value(in, &f);
    lane_add<false>(&l, weight, f);
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < SUMS; k++) sum[k] = lane_tree(lane_value(l, k), WARP);
}

/* A block's sums, for a lane to keep; all lanes' go to the tally when each has some. */
static __device__ inline void keep_sums(block_tally *t, const double *sum, double *kept,
                                        int *blocks) {
  const bool mine = (int)(threadIdx.x % WARP) == *blocks;
#pragma unroll
  for (int k = 0; k < SUMS; k++) kept[k] = mine ? sum[k] : kept[k];
  if (++*blocks < WARP) return;
  *blocks = 0;
#pragma unroll
  for (int k = 0; k < SUMS; k++) {
    tally_add_warp(t, k, kept[k]);
    kept[k] = 0.0;
  }
}

extern "C" __global__ void __launch_bounds__(QUAD_THREADS, QUAD_RESIDENT)
    quad_sum(const __grid_constant__ quad_sum_args p) {
  __shared__ block_tally tally;
  const int64_t warps = (int64_t)gridDim.x * (QUAD_THREADS / WARP);
  double in[FORMULA_INPUTS + 1];
#pragma unroll
  for (int i = QUAD_NDIMS; i < FORMULA_INPUTS; i++) in[i] = p.s.parameters[i - QUAD_NDIMS];
  tally_zero(&tally);
  __syncthreads();
  double kept[SUMS] = {}; /* lane l: the sums of the l-th of the last blocks */
  int blocks = 0;
  for (int64_t b = p.first + (int64_t)blockIdx.x * (QUAD_THREADS / WARP) + threadIdx.x / WARP;
       b < p.last; b += warps) {
    const int64_t first = b * p.block, left = p.s.grid.points - first;
    double sum[SUMS];
    if (QUAD_NDIMS == 1 && p.plain && first > 0 && left > BLOCK_MAX) {
      plain_block(p, first, in, sum);
    } else {
      any_block(p, first, (int)(left < p.block ? left : p.block), in, sum);
    }
    keep_sums(&tally, sum, kept, &blocks);
  }
  for (int k = 0; k < SUMS; k++) tally_add_warp(&tally, k, kept[k]);
  __syncthreads();
  tally_flush(&tally, SUMS, p.words);
}
