/* The fused operations of CG: the operator of heat_level.h is applied to p and used at once, for
 * sums or for x and r, by warps that take sum blocks: up to 256 points of an x-line, lane l points
 * l, l + 32, ... The warps of a thread block take the same piece of lines that follow each other,
 * so that neighbours in y are in the first-level cache.
 *
 * Traffic per point, 2-D, constant and variable alpha: curvature 8 and 24 bytes, advance 40 and
 * 56 (3-D: 8 more for the third face). */
#include "block_sum.h"
#include "heat_level.cuh"

enum { WARPS = TILE / WARP };

/* What a warp adds to the tally. */
struct descent_sums {
  double first, second;
};

/* One point at `at`; `own`: its share. */
template <int DIMS, bool VARIES, bool CHANGES>
static __device__ inline void descend_point(const heat_descent_args &a, const heat_level_part *of,
                                            int64_t at, bool held, double own, descent_sums *sum) {
  const double p = a.p[at];
  double diagonal, q = 0.0;
  if (!held) {
    q = heat_level_apply(
        a.mass, a.scale,
        heat_level_sum_of(of, DIMS, VARIES ? a.m.face : nullptr, a.p, at, &diagonal), p);
  }
  if (!CHANGES) {
    sum->first = fma(own * p, q, sum->first);
    sum->second = fma(own * q, q, sum->second);
    return;
  }
  const double before = a.r[at], r = heat_level_lessen(before, a.alpha, q);
  if (a.x != nullptr) a.x[at] = heat_level_correct(a.x[at], a.along, p, a.against, before);
  a.r[at] = r;
  sum->first = fma(own * r, r, sum->first);
}

/* Sum block `block` of line number `line` of the planes. */
template <int DIMS, bool VARIES, bool CHANGES>
static __device__ inline descent_sums descend_block(const heat_descent_args &a, int64_t line,
                                                    int64_t block) {
  const heat_slab &s = a.m.s;
  const int64_t rows = DIMS == 3 ? s.g.n[1] : 1, x = block * BLOCK_MAX;
  const int64_t plane = a.from + (DIMS == 1 ? 0 : line / rows);
  const int64_t begin = (plane + s.halo) * s.plane + (DIMS == 3 ? line % rows * s.g.n[0] : 0);
  const int64_t first = DIMS == 1 ? s.first + a.from : 0; /* coordinate of the line's begin */
  const int64_t j[HEAT_DIMS] = {0, DIMS == 3 ? line % rows : plane + s.first, plane + s.first};
  const int64_t end = min(x + BLOCK_MAX, a.length);
  heat_level_part of[DIMS];
  descent_sums sum = {0.0, 0.0};
  bool held = false;
  double share = 1.0;
  int64_t step = s.g.n[0];
#pragma unroll
  for (int d = 1; d < DIMS; d++) {
    of[d] = heat_level_part_at(&a.m, d, j[d], step);
    held |= level_holds(s.g, d, j[d]);
    if (level_is_half(s.g, d, j[d])) share *= 0.5;
    step *= s.g.n[d];
  }
#pragma unroll 1
  for (int64_t i = x + threadIdx.x % WARP; i < end; i += WARP) {
    const int64_t here = first + i;
    of[0] = heat_level_part_at(&a.m, 0, here, 1);
    descend_point<DIMS, VARIES, CHANGES>(a, of, begin + i, held || level_holds(s.g, 0, here),
                                         level_is_half(s.g, 0, here) ? 0.5 * share : share, &sum);
  }
  sum.first = lane_tree(sum.first, WARP);
  if (!CHANGES && a.sums > 1) sum.second = lane_tree(sum.second, WARP);
  return sum;
}

template <int DIMS, bool VARIES, bool CHANGES>
__global__ void __launch_bounds__(TILE, 3)
    descent_pass(const __grid_constant__ heat_descent_args a) {
  __shared__ block_tally tally;
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  const int64_t lines = DIMS == 1 ? 1 : (a.to - a.from) * (a.m.s.plane / a.m.s.g.n[0]);
  let_next_start();
  tally_zero(&tally);
  __syncthreads();
  wait_for_last();
  for (int64_t i = blockIdx.x; i < a.groups; i += gridDim.x) {
    /* in 1-D warps share out the blocks of the one line */
    const int64_t line = DIMS == 1 ? 0 : i / a.blocks * WARPS + warp;
    const int64_t block = DIMS == 1 ? i * WARPS + warp : i % a.blocks;
    if (line >= lines || block >= a.blocks) continue;
    const descent_sums sum = descend_block<DIMS, VARIES, CHANGES>(a, line, block);
    if (lane == 0 && a.sums > 0) tally_add_shared(&tally, 0, sum.first);
    if (lane == 0 && a.sums > 1) tally_add_shared(&tally, 1, sum.second);
  }
  __syncthreads();
  tally_flush(&tally, a.sums, a.words);
}

#define KERNELS(dims)                                                                              \
  {                                                                                                \
    {(const void *)descent_pass<dims, false, false>,                                               \
     (const void *)descent_pass<dims, false, true>},                                               \
    {                                                                                              \
      (const void *)descent_pass<dims, true, false>, (const void *)descent_pass<dims, true, true>  \
    }                                                                                              \
  }

extern "C" cudaError_t kernel_descent(cudaStream_t s, heat_descent_args *a, int processors) {
  static const void *const kernels[HEAT_DIMS][2][2] = {KERNELS(1), KERNELS(2), KERNELS(3)};
  const heat_slab *b = &a->m.s;
  const void *kernel = kernels[b->g.dims - 1][a->m.face[0] != nullptr][a->changes != 0];
  const int64_t planes = a->to - a->from;
  a->length = b->g.dims == 1 ? planes : b->g.n[0];
  a->blocks = (a->length + BLOCK_MAX - 1) / BLOCK_MAX;
  const int64_t lines = b->g.dims == 1 ? a->blocks : planes * (b->plane / b->g.n[0]);
  a->groups = (lines + WARPS - 1) / WARPS * (b->g.dims == 1 ? 1 : a->blocks);
  return launch(s, kernel, blocks_for(a->groups, 16 * (int64_t)processors), TILE, a, a->early);
}
