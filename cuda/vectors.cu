/* Passes over vectors. A warp takes a tile of 256 elements at a time; lane l loads elements l,
 * l + 32, ... all at once and chains them itself, so sums need neither barrier nor shared terms.
 * Short vectors are spread over smaller thread blocks, to reach more multiprocessors. */
#include "passes.cuh"

enum { CHUNKS = TILE / WARP };

/* Adds this lane's term of chunk i to its chain, and a finished block's sum to the tally. */
static __device__ inline void chain(block_tally *t, int which, double u, double v, int block, int i,
                                    double *sum) {
  *sum = fma(u, v, *sum);
  if (((i + 1) * WARP & (block - 1)) != 0 && block > WARP) return;
  const int lanes = block < WARP ? block : WARP;
  const double total = lane_tree(*sum, lanes);
  if ((int)threadIdx.x % lanes == 0) tally_add_shared(t, which, total);
  *sum = 0.0;
}

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
                                            double alpha, double scale) {
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
__global__ void __launch_bounds__(TILE) vector_pass_kernel(const __grid_constant__ vector_args p) {
  __shared__ block_tally tally;
  __shared__ verdict_room room;
  const int warps = (int)blockDim.x / WARP;
  const bool open = state_open(p.state);
  double alpha = 0.0, scale = p.scale;
  if (PASS == VECTOR_CG_RESIDUAL) {
    alpha = p.state->alpha;
    scale = p.state->scale;
  }
  tally_zero(&tally);
  __syncthreads();
  for (lidx i = (lidx)(threadIdx.x / WARP + blockIdx.x * warps); open && i < p.tiles;
       i += (lidx)gridDim.x * warps) {
    const lidx tile = p.reverse ? p.tiles - 1 - i : i;
    if (PASS == VECTOR_DOT) {
      dot_tile(p, &tally, tile);
    } else {
      residual_tile(p, &tally, tile, alpha, scale);
    }
  }
  pass_end(p.end, &tally, &room);
}

extern "C" cudaError_t kernel_vectors(cudaStream_t s, vector_pass pass, const vector_args *a,
                                      int most_blocks, int processors) {
  const int threads = a->tiles < 16 * processors ? 2 * WARP : TILE, warps = threads / WARP;
  const int blocks =
      blocks_for((a->tiles + warps - 1) / warps, (int64_t)most_blocks * TILE / threads);
  if (pass == VECTOR_DOT) {
    vector_pass_kernel<VECTOR_DOT><<<blocks, threads, 0, s>>>(*a);
  } else {
    vector_pass_kernel<VECTOR_CG_RESIDUAL><<<blocks, threads, 0, s>>>(*a);
  }
  return cudaGetLastError();
}

extern "C" cudaError_t kernel_vectors_fit(vector_pass pass, int *blocks) {
  const void *const kernel[] = {(const void *)vector_pass_kernel<VECTOR_DOT>,
                                (const void *)vector_pass_kernel<VECTOR_CG_RESIDUAL>};
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel[pass], TILE, 0);
}

/* x = fma(alpha, p, x); p = fma(beta, p, z). 48 bytes a row. Pairs of elements: 16-byte accesses.
 */
static __device__ inline void direct(double r, double d, double alpha, double beta, double *p,
                                     double *x) {
  *x = fma(alpha, *p, *x);
  *p = fma(beta, *p, d * r);
}

template <bool PRECONDITIONED>
__global__ void __launch_bounds__(TILE)
    direction_kernel(lidx rows, const double *__restrict__ r, const double *__restrict__ inverse,
                     double *__restrict__ p, double *__restrict__ x,
                     const solve_state *__restrict__ state, int reverse) {
  const int64_t pairs = rows / 2, step = (int64_t)gridDim.x * TILE;
  const int64_t first = (int64_t)blockIdx.x * TILE + threadIdx.x;
  if (!state->pending) return;
  const double alpha = state->alpha, beta = state->beta;
  for (int64_t i = first; i < pairs; i += step) {
    const int64_t at = reverse ? pairs - 1 - i : i;
    const double2 rr = reinterpret_cast<const double2 *>(r)[at];
    double2 d = make_double2(1.0, 1.0); /* 1 r is r, bit for bit */
    if (PRECONDITIONED) d = reinterpret_cast<const double2 *>(inverse)[at];
    double2 pp = reinterpret_cast<double2 *>(p)[at], xx = reinterpret_cast<double2 *>(x)[at];
    direct(rr.x, d.x, alpha, beta, &pp.x, &xx.x);
    direct(rr.y, d.y, alpha, beta, &pp.y, &xx.y);
    reinterpret_cast<double2 *>(p)[at] = pp;
    reinterpret_cast<double2 *>(x)[at] = xx;
  }
  if (first == 0 && rows % 2 != 0) {
    direct(r[rows - 1], PRECONDITIONED ? inverse[rows - 1] : 1.0, alpha, beta, &p[rows - 1],
           &x[rows - 1]);
  }
}

extern "C" cudaError_t kernel_direction(cudaStream_t s, lidx rows, const double *r,
                                        const double *inverse, double *direction, double *x,
                                        const solve_state *state, int reverse) {
  const int blocks = blocks_for(((int64_t)rows / 2 + TILE - 1) / TILE, 1 << 20);
  if (inverse != nullptr) {
    direction_kernel<true><<<blocks, TILE, 0, s>>>(rows, r, inverse, direction, x, state, reverse);
  } else {
    direction_kernel<false><<<blocks, TILE, 0, s>>>(rows, r, inverse, direction, x, state, reverse);
  }
  return cudaGetLastError();
}
