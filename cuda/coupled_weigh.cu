/* The error norm of coupled systems (coupled_backend.h): a warp takes a tile of 256 elements at a
 * time and chains them as vectors.cu does. 24 bytes a row; 8 without an error. */
#include <float.h>

#include "passes.h"

enum { CHUNKS = TILE / WARP };

static __device__ inline double scaled(const weigh_args &p, double e, double y, double u) {
  const double a = fabs(y), b = fabs(u), scale = fma(p.rtol, a > b ? a : b, p.atol);
  return e / (scale > DBL_MIN ? scale : DBL_MIN) + 0.0 * u;
}

static __device__ inline void weigh_tile(const weigh_args &p, block_tally *t, lidx tile) {
  const lidx first = tile * TILE + (int)threadIdx.x % WARP;
  double e[CHUNKS], y[CHUNKS], u[CHUNKS], sum = 0.0;
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    const bool there = p.rows - first > i * WARP;
    u[i] = there ? p.u[first + i * WARP] : 0.0;
    e[i] = there && p.e != nullptr ? p.e[first + i * WARP] : 0.0;
    y[i] = there && p.e != nullptr ? p.y[first + i * WARP] : 0.0;
  }
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    const bool there = p.rows - first > i * WARP;
    const double q = !there ? 0.0 : p.e == nullptr ? 0.0 * u[i] : scaled(p, e[i], y[i], u[i]);
    chain(t, 0, q, q, p.block, i, &sum);
  }
}

__global__ void __launch_bounds__(TILE) weigh_pass(const __grid_constant__ weigh_args p) {
  __shared__ block_tally tally;
  __shared__ verdict_room room;
  const int warps = (int)blockDim.x / WARP;
  tally_zero(&tally);
  __syncthreads();
  for (lidx i = (lidx)(threadIdx.x / WARP + blockIdx.x * warps); i < p.tiles;
       i += (lidx)gridDim.x * warps) {
    weigh_tile(p, &tally, p.reverse ? p.tiles - 1 - i : i);
  }
  pass_end(p.end, &tally, &room);
}

extern "C" cudaError_t kernel_weigh(cudaStream_t s, const weigh_args *a, int processors) {
  enum { BLOCKS_EACH = 4 };
  const int threads = a->tiles < 16 * processors ? 2 * WARP : TILE, warps = threads / WARP;
  const int blocks = blocks_for((a->tiles + warps - 1) / warps,
                                (int64_t)BLOCKS_EACH * processors * TILE / threads);
  weigh_pass<<<blocks, threads, 0, s>>>(*a);
  return cudaGetLastError();
}
