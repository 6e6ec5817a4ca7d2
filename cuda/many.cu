/* Passes over several vectors. dots: a warp takes a tile of 256 elements at a time, keeps its y in
 * registers and chains the products with each x as vectors.cu does; the sums of a thread block are
 * in shared memory, as many as there are vectors. The others are one thread an element. Budgets in
 * bytes per row: dots 8 (count + 1); combine 8 a term and 8; multiply 24; accumulate 8 count + 16.
 */
#include "passes.h"

enum { CHUNKS = TILE / WARP };

static __device__ inline void dots_tile(const many_args &p, int64_t *words, lidx tile) {
  const int lane = (int)threadIdx.x % WARP, lanes = p.block < WARP ? p.block : WARP;
  const lidx first = tile * TILE + lane;
  double y[CHUNKS], x[CHUNKS];
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    y[i] = p.rows - first > i * WARP ? p.scale * p.y[first + i * WARP] : 0.0;
  }
  for (int k = 0; k < p.count; k++) {
    double sum = 0.0;
#pragma unroll
    for (int i = 0; i < CHUNKS; i++) {
      x[i] = p.rows - first > i * WARP ? p.scale * p.x[k][first + i * WARP] : 0.0;
    }
#pragma unroll
    for (int i = 0; i < CHUNKS; i++) {
      sum = fma(x[i], y[i], sum);
      if (((i + 1) * WARP & (p.block - 1)) != 0 && p.block > WARP) continue;
      const double total = lane_tree(sum, lanes);
      if (lane % lanes == 0) words_add_shared(words + k * WIDE_WORDS, total);
      sum = 0.0;
    }
  }
}

__global__ void __launch_bounds__(TILE) dots_pass(const __grid_constant__ many_args p) {
  extern __shared__ int64_t words[];
  const int warps = (int)blockDim.x / WARP, used = p.count * WIDE_WORDS;
  for (int i = (int)threadIdx.x; i < used; i += (int)blockDim.x) words[i] = 0;
  __syncthreads();
  for (lidx i = (lidx)(threadIdx.x / WARP + blockIdx.x * warps); i < p.tiles;
       i += (lidx)gridDim.x * warps) {
    dots_tile(p, words, p.reverse ? p.tiles - 1 - i : i);
  }
  __syncthreads();
  for (int i = (int)threadIdx.x; i < used; i += (int)blockDim.x) {
    if (words[i] != 0) add_shared(p.words + i, words[i]);
  }
}

extern "C" cudaError_t kernel_dots(cudaStream_t s, const many_args *a, int processors) {
  enum { BLOCKS_EACH = 4 }; /* 32 warps a multiprocessor, as their registers allow */
  const int threads = a->tiles < 16 * processors ? 2 * WARP : TILE, warps = threads / WARP;
  const int blocks = blocks_for((a->tiles + warps - 1) / warps,
                                (int64_t)BLOCKS_EACH * processors * TILE / threads);
  const size_t room = (size_t)a->count * WIDE_WORDS * sizeof(int64_t);
  dots_pass<<<blocks, threads, room, s>>>(*a);
  return cudaGetLastError();
}

static __device__ inline int64_t element(void) { return (int64_t)blockIdx.x * TILE + threadIdx.x; }

__global__ void __launch_bounds__(TILE) combine_pass(const __grid_constant__ many_args p) {
  const int64_t i = element();
  if (i >= p.rows) return;
  const double a = p.factor[0], b = p.factor[1];
  const double *x = p.x[0], *y = p.x[1];
  p.out[i] = x == nullptr   ? (y == nullptr ? 0.0 : b * y[i])
             : y == nullptr ? a * x[i]
                            : fma(a, x[i], b * y[i]);
}

__global__ void __launch_bounds__(TILE) multiply_pass(const __grid_constant__ many_args p) {
  const int64_t i = element();
  if (i < p.rows) p.out[i] = p.x[0][i] * p.x[1][i];
}

__global__ void __launch_bounds__(TILE) accumulate_pass(const __grid_constant__ many_args p) {
  const int64_t i = element();
  if (i >= p.rows) return;
  double sum = p.out[i];
#pragma unroll 4
  for (int k = 0; k < p.count; k++) sum = fma(p.factor[k], p.x[k][i], sum);
  p.out[i] = sum;
}

static int element_blocks(const many_args *a) {
  return blocks_for(((int64_t)a->rows + TILE - 1) / TILE, INT32_MAX);
}

extern "C" cudaError_t kernel_combine(cudaStream_t s, const many_args *a) {
  combine_pass<<<element_blocks(a), TILE, 0, s>>>(*a);
  return cudaGetLastError();
}

extern "C" cudaError_t kernel_multiply(cudaStream_t s, const many_args *a) {
  multiply_pass<<<element_blocks(a), TILE, 0, s>>>(*a);
  return cudaGetLastError();
}

extern "C" cudaError_t kernel_accumulate(cudaStream_t s, const many_args *a) {
  accumulate_pass<<<element_blocks(a), TILE, 0, s>>>(*a);
  return cudaGetLastError();
}
