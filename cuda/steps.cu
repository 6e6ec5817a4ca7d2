/* The small kernels: the end of a step that could not be the tail of a pass, filling, the largest
 * entry, packing, and the probe that shows the GPU runs our code at all. */
#include "passes.h"

static_assert(sizeof(solve_state) % sizeof(uint32_t) == 0, "a state is posted in 4-byte words");
static_assert(STATE_WORDS <= RING_WORDS && RING_WORDS <= TILE, "a state fits its slot");
static_assert((int)RING > (int)LAG + 4, "a posted state is looked at before it is overwritten");

__global__ void probe(uint32_t *out, uint32_t seed) {
  out[threadIdx.x] = seed * 2654435761u + threadIdx.x;
}

extern "C" cudaError_t kernel_probe(cudaStream_t s, uint32_t *out, uint32_t seed) {
  probe<<<1, WARP, 0, s>>>(out, seed);
  return cudaGetLastError();
}

__global__ void __launch_bounds__(TILE) judge_alone(const __grid_constant__ ending e) {
  __shared__ verdict_room room;
  apply_rule(e, &room);
}

extern "C" cudaError_t kernel_judge(cudaStream_t s, const ending *e) {
  judge_alone<<<1, TILE, 0, s>>>(*e);
  return cudaGetLastError();
}

/* Moves the first `sums` sums and the counters of the tally to pinned memory and clears them. */
__global__ void collect(int64_t *words, int sums, int64_t *out) {
  const int i = (int)(blockIdx.x * TILE + threadIdx.x);
  if (i >= sums * WIDE_WORDS + COUNTERS) return;
  int64_t *word = words + (i < sums * WIDE_WORDS ? i : i - sums * WIDE_WORDS + COUNTERS_AT);
  out[i] = *word;
  *word = 0;
}

extern "C" cudaError_t kernel_collect(cudaStream_t s, int64_t *words, int sums, int64_t *out) {
  collect<<<(sums * WIDE_WORDS + COUNTERS + TILE - 1) / TILE, TILE, 0, s>>>(words, sums, out);
  return cudaGetLastError();
}

__global__ void store_state(solve_state *to, const __grid_constant__ solve_state value) {
  *to = value;
}

extern "C" cudaError_t kernel_store_state(cudaStream_t s, solve_state *to,
                                          const solve_state *value) {
  store_state<<<1, 1, 0, s>>>(to, *value);
  return cudaGetLastError();
}

__global__ void fill(double *x, int64_t count, double value) {
  for (int64_t i = (int64_t)blockIdx.x * TILE + threadIdx.x; i < count;
       i += (int64_t)gridDim.x * TILE) {
    x[i] = value;
  }
}

extern "C" cudaError_t kernel_fill(cudaStream_t s, double *x, int64_t count, double value) {
  fill<<<blocks_for((count + TILE - 1) / TILE, 4096), TILE, 0, s>>>(x, count, value);
  return cudaGetLastError();
}

/* Bits of |x| rise with |x|, and those of a NaN are above all others. */
__global__ void __launch_bounds__(TILE) max_abs(const double *x, lidx rows, uint64_t *out) {
  unsigned long long largest = 0;
  for (lidx i = (lidx)(blockIdx.x * TILE + threadIdx.x); i < rows; i += (lidx)(gridDim.x * TILE)) {
    const unsigned long long bits = bits_of(x[i]) & (UINT64_MAX >> 1);
    if (bits > largest) largest = bits;
    if (rows - i <= (lidx)(gridDim.x * TILE)) break; /* i would overflow */
  }
  for (int half = WARP / 2; half >= 1; half /= 2) {
    const unsigned long long other = __shfl_xor_sync(ALL_LANES, largest, half);
    if (other > largest) largest = other;
  }
  if (threadIdx.x % WARP == 0) atomicMax(reinterpret_cast<unsigned long long *>(out), largest);
}

extern "C" cudaError_t kernel_max_abs(cudaStream_t s, const double *x, lidx rows, uint64_t *out,
                                      int processors) {
  cudaError_t error = cudaMemsetAsync(out, 0, sizeof *out, s);
  if (error != cudaSuccess) return error;
  max_abs<<<blocks_for(((int64_t)rows + TILE - 1) / TILE, 8 * processors), TILE, 0, s>>>(x, rows,
                                                                                         out);
  return cudaGetLastError();
}

__global__ void gather(const double *x, const lidx *row, lidx begin, lidx end, double *out) {
  const int64_t i = begin + (int64_t)blockIdx.x * TILE + threadIdx.x;
  if (i < end) out[i] = x[row[i]];
}

extern "C" cudaError_t kernel_gather(cudaStream_t s, const double *x, const lidx *row, lidx begin,
                                     lidx end, double *out) {
  const int blocks = blocks_for(((int64_t)end - begin + TILE - 1) / TILE, INT32_MAX);
  gather<<<blocks, TILE, 0, s>>>(x, row, begin, end, out);
  return cudaGetLastError();
}
