/* Passes over vectors. A warp takes a tile of 256 elements at a time; lane l loads elements l,
 * l + 32, ... all at once and chains them itself, so sums need neither barrier nor shared terms.
 * Short vectors are spread over smaller thread blocks, to reach more multiprocessors. */
#include "passes.h"

enum { CHUNKS = TILE / WARP };

static __device__ inline void dot_tile(const vector_args &p, block_tally *t, lidx tile) {
  const int lane = (int)threadIdx.x % WARP;
  const lidx first = tile * TILE + lane;
  double x[CHUNKS], y[CHUNKS], sum = 0.0;
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    const bool there = p.rows - first > i * WARP;
    x[i] = there ? p.x[first + i * WARP] : 0.0;
    y[i] = there ? p.inverse[first + i * WARP] : 0.0;
  }
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    const bool there = p.rows - first > i * WARP;
    chain(t, 0, there ? p.scale * x[i] : 0.0, there ? p.scale * y[i] : 0.0, p.block, i, &sum);
  }
}

/* r = fma(-alpha, q, r); sums of (r, z) and (r, r). 32 bytes a row. */
static __device__ inline void residual_tile(const vector_args &p, block_tally *t, lidx tile,
                                            bool open, double alpha, double scale) {
  const int lane = (int)threadIdx.x % WARP;
  const lidx first = tile * TILE + lane;
  double q[CHUNKS], r[CHUNKS], d[CHUNKS], sum_z = 0.0, sum_r = 0.0;
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    if (p.rows - first <= i * WARP) continue;
    q[i] = p.x[first + i * WARP];
    r[i] = p.r[first + i * WARP];
    if (p.inverse != nullptr) d[i] = p.inverse[first + i * WARP];
  }
  if (!open) return; /* asked late: the answer has had time to come */
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    double u = 0.0, v = 0.0;
    if (p.rows - first > i * WARP) {
      const double next = fma(-alpha, q[i], r[i]);
      p.r[first + i * WARP] = next;
      u = scale * next;
      v = scale * (p.inverse != nullptr ? d[i] * next : next);
    }
    chain(t, 0, u, v, p.block, i, &sum_z);
    chain(t, 1, u, u, p.block, i, &sum_r);
  }
}

template <int PASS>
__global__ void __launch_bounds__(TILE) vectors_pass(const __grid_constant__ vector_args p) {
  __shared__ block_tally tally;
  __shared__ verdict_room room;
  const int warps = (int)blockDim.x / WARP;
  let_next_start();
  tally_zero(&tally);
  __syncthreads();
  wait_for_last();
  const bool open = state_open(p.state);
  const double alpha = PASS == VECTOR_CG_RESIDUAL ? p.state->alpha : 0.0;
  const double scale = PASS == VECTOR_CG_RESIDUAL ? p.state->scale : p.scale;
  for (lidx i = (lidx)(threadIdx.x / WARP + blockIdx.x * warps); i < p.tiles;
       i += (lidx)gridDim.x * warps) {
    const lidx tile = p.reverse ? p.tiles - 1 - i : i;
    if (PASS == VECTOR_DOT) {
      dot_tile(p, &tally, tile);
    } else {
      residual_tile(p, &tally, tile, open, alpha, scale);
    }
  }
  pass_end(p.end, &tally, &room);
}

static const void *const VECTOR_KERNELS[] = {(const void *)vectors_pass<VECTOR_DOT>,
                                             (const void *)vectors_pass<VECTOR_CG_RESIDUAL>};

extern "C" cudaError_t kernel_vectors(cudaStream_t s, vector_pass pass, const vector_args *a,
                                      int most_blocks, int processors) {
  vector_args args = *a;
  const int threads = a->tiles < 16 * processors ? 2 * WARP : TILE, warps = threads / WARP;
  const int blocks =
      blocks_for((a->tiles + warps - 1) / warps, (int64_t)most_blocks * TILE / threads);
  return launch(s, VECTOR_KERNELS[pass], blocks, threads, &args, a->early);
}

extern "C" cudaError_t kernel_vectors_fit(vector_pass pass, int *blocks) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, VECTOR_KERNELS[pass], TILE, 0);
}

/* x = fma(alpha, p, x); p = fma(beta, p, z). 48 bytes a row. Pairs of elements: 16-byte accesses.
 */
static __device__ inline void direct(double r, double d, double alpha, double beta, double *p,
                                     double *x) {
  *x = fma(alpha, *p, *x);
  *p = fma(beta, *p, d * r);
}

template <bool PRECONDITIONED>
__global__ void __launch_bounds__(TILE) direction_pass(const __grid_constant__ direction_args a) {
  const int64_t pairs = a.rows / 2, i = (int64_t)blockIdx.x * TILE + threadIdx.x;
  const int64_t at = a.reverse ? pairs - 1 - i : i;
  double2 r, p, x, d = make_double2(1.0, 1.0); /* 1 r is r, bit for bit */
  let_next_start();
  wait_for_last();
  if (i < pairs) {
    r = reinterpret_cast<const double2 *>(a.r)[at];
    if (PRECONDITIONED) d = reinterpret_cast<const double2 *>(a.inverse)[at];
    p = reinterpret_cast<const double2 *>(a.from)[at];
    x = reinterpret_cast<const double2 *>(a.x)[at];
  }
  const double alpha = a.state->alpha, beta = a.state->beta;
  if (!a.state->pending) return; /* asked late: the answer has had time to come */
  if (i < pairs) {
    direct(r.x, d.x, alpha, beta, &p.x, &x.x);
    direct(r.y, d.y, alpha, beta, &p.y, &x.y);
    reinterpret_cast<double2 *>(a.direction)[at] = p;
    reinterpret_cast<double2 *>(a.x)[at] = x;
  }
  if (i == 0 && a.rows % 2 != 0) {
    const lidx last = a.rows - 1;
    double to = a.from[last];
    direct(a.r[last], PRECONDITIONED ? a.inverse[last] : 1.0, alpha, beta, &to, &a.x[last]);
    a.direction[last] = to;
  }
}

extern "C" cudaError_t kernel_direction(cudaStream_t s, const direction_args *a) {
  direction_args args = *a;
  const int blocks = blocks_for(((int64_t)a->rows / 2 + TILE - 1) / TILE, INT32_MAX);
  const void *kernel = a->inverse != nullptr ? (const void *)direction_pass<true>
                                             : (const void *)direction_pass<false>;
  return launch(s, kernel, blocks, TILE, &args, a->early);
}
