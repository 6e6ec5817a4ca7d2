/* The operator of a level and a step of smoothing, one thread a point, straight from heat_level.h;
 * vectors; sums.
 *
 * Traffic per point, 2-D, constant and variable alpha (3-D: 8 bytes more for its third face): a
 * product 16 and 32 bytes, a residual 24 and 40; smoothing 32 and 48, from zero 16 and 32, the step
 * after that 24 and 40. combine: 8 for each field, dot 16, weigh 24. */
#include "block_sum.h"
#include "heat_level.cuh"

/* Where alpha is constant a thread keeps from plane to plane what its coordinates bring. Where it
 * varies that costs registers which loads under way need more (measured: 20 % slower in 3-D). */
template <int DIMS, bool VARIES, bool RELAXES> struct operation {
  const heat_level_args &a;
  heat_level_part of[DIMS];
  bool held;

  /* Directions up to `end`. */
  __device__ inline void look(const int64_t *j, int end) {
    int64_t step = 1;
    held = false;
#pragma unroll
    for (int d = 0; d < DIMS; d++) {
      if (d >= end) continue;
      of[d] = heat_level_part_at(&a.m, d, j[d], step);
      held |= level_holds(a.m.s.g, d, j[d]);
      step *= a.m.s.g.n[d];
    }
  }

  __device__ inline void start(const int64_t *j) {
    if (!VARIES) look(j, DIMS - 1);
  }

  __device__ inline double value(int64_t at) const {
    double own;
    const double sum = heat_level_sum_of(of, DIMS, VARIES ? a.m.face : nullptr, a.u, at, &own);
    if (!RELAXES) {
      const double product = heat_level_apply(a.mass, a.scale, sum, a.u[at]);
      return a.r == nullptr ? product : a.r[at] - product;
    }
    const double diagonal = fma(a.scale, own, a.mass), r = a.r[at];
    if (a.u == nullptr) return a.c[2] * (r / diagonal);
    const double here = a.u[at];
    const double residual = r - heat_level_apply(a.mass, a.scale, sum, here);
    return heat_level_relax(here, a.c[1] == 0.0 ? 0.0 : a.out[at], residual, diagonal, a.c[0],
                            a.c[1], a.c[2]);
  }

  __device__ inline void point(int64_t at, const int64_t *j) {
    constexpr int LAST = DIMS - 1;
    if (VARIES) look(j, DIMS);
    bool none = held;
    if (!VARIES) {
      of[LAST] = heat_level_part_at(&a.m, LAST, j[LAST], a.m.s.plane);
      none |= level_holds(a.m.s.g, LAST, j[LAST]);
    }
    a.out[at] = none ? 0.0 : value(at);
  }
};

template <int DIMS, bool VARIES, bool RELAXES>
__global__ void __launch_bounds__(LEVEL_THREADS)
    level_pass(const __grid_constant__ heat_level_args a) {
  operation<DIMS, VARIES, RELAXES> work = {a};
  let_next_start();
  wait_for_last();
  level_points<DIMS>(a.m.s, a.from, a.to, a.chunk, work);
}

#define KERNELS(dims)                                                                              \
  {                                                                                                \
    {(const void *)level_pass<dims, false, false>, (const void *)level_pass<dims, false, true>}, { \
      (const void *)level_pass<dims, true, false>, (const void *)level_pass<dims, true, true>      \
    }                                                                                              \
  }

extern "C" cudaError_t kernel_level(cudaStream_t s, heat_level_args *a, int processors) {
  static const void *const kernels[HEAT_DIMS][2][2] = {KERNELS(1), KERNELS(2), KERNELS(3)};
  const level_grid g = level_grid_of(&a->m.s, a->to - a->from, processors);
  const void *kernel = kernels[a->m.s.g.dims - 1][a->m.face[0] != nullptr][a->relaxes != 0];
  a->chunk = g.chunk;
  return level_launch(s, kernel, g.blocks, g.threads, a, a->early);
}

/* ---- vectors ---- */

__global__ void __launch_bounds__(TILE) combine_pass(const __grid_constant__ heat_combine_args a) {
  let_next_start();
  wait_for_last();
  const int64_t step = (int64_t)gridDim.x * TILE;
  for (int64_t i = (int64_t)blockIdx.x * TILE + threadIdx.x; i < a.count; i += step) {
    const double rest = a.y == nullptr ? a.c : a.b * a.y[i] + a.c;
    a.out[i] = a.x == nullptr ? rest : fma(a.a, a.x[i], rest);
  }
}

extern "C" cudaError_t kernel_heat_combine(cudaStream_t s, const heat_combine_args *a) {
  heat_combine_args args = *a;
  return launch(s, (const void *)combine_pass, blocks_for((a->count + TILE - 1) / TILE, 1 << 30),
                TILE, &args, a->early);
}

/* ---- sums ---- */

/* Up to 256 points of an x-line by a warp: lane l chains points l, l + 32, ... */
static __device__ inline double line_dot(const heat_dot_args &a, int64_t unit) {
  const heat_slab &s = a.s;
  const int lane = (int)threadIdx.x % WARP, dims = s.g.dims;
  const int64_t line = unit / a.blocks, x = unit % a.blocks * BLOCK_MAX;
  const int64_t rows = dims == 3 ? s.g.n[1] : 1, end = min(x + BLOCK_MAX, a.length);
  const int64_t last = dims == 3 ? line / rows : line, begin = dims == 1 ? s.first : 0;
  double share = 1.0, sum = 0.0;
  if (dims == 3 && level_is_half(s.g, 1, line % rows)) share *= 0.5;
  if (dims > 1 && level_is_half(s.g, dims - 1, last + s.first)) share *= 0.5;
#pragma unroll 4
  for (int64_t i = x + lane; i < end; i += WARP) {
    const int64_t at = line * a.length + i;
    const double own = level_is_half(s.g, 0, i + begin) ? 0.5 * share : share;
    const double e =
        a.y != nullptr ? a.x[at] : heat_level_error(a.x[at], a.u[at], a.v[at], a.rtol, a.atol);
    sum = fma(own * e, a.y != nullptr ? a.y[at] : e, sum);
  }
  return lane_tree(sum, WARP);
}

__global__ void __launch_bounds__(TILE) level_dot_pass(const __grid_constant__ heat_dot_args a) {
  __shared__ block_tally tally;
  let_next_start();
  tally_zero(&tally);
  __syncthreads();
  wait_for_last();
  const int64_t warps = (int64_t)gridDim.x * (TILE / WARP);
  for (int64_t i = blockIdx.x * (int64_t)(TILE / WARP) + threadIdx.x / WARP; i < a.units;
       i += warps) {
    const double sum = line_dot(a, i);
    if (threadIdx.x % WARP == 0) tally_add_shared(&tally, 0, sum);
  }
  __syncthreads();
  tally_flush(&tally, 1, a.words);
}

extern "C" cudaError_t kernel_level_dot(cudaStream_t s, const heat_dot_args *a, int processors) {
  heat_dot_args args = *a;
  const int warps = TILE / WARP;
  return launch(s, (const void *)level_dot_pass,
                blocks_for((a->units + warps - 1) / warps, 8 * processors), TILE, &args, a->early);
}
