/* Passes over vectors. A warp takes a tile of 256 elements at a time; lane l loads elements l,
 * l + 32, ... all at once and chains them itself, so sums need neither barrier nor shared terms.
 * Short vectors are spread over smaller thread blocks, to reach more multiprocessors. */
#include "passes.h"

enum { CHUNKS = TILE / WARP };

static __device__ inline void dot_tile(const vector_args &p, block_tally *t, lidx tile) {
  const int lane = (int)threadIdx.x % WARP;
  const lidx first = tile * TILE + lane;
  const double *px = static_cast<const double *>(p.x), *py = static_cast<const double *>(p.inverse);
  double x[CHUNKS], y[CHUNKS], sum = 0.0;
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    const bool there = p.rows - first > i * WARP;
    x[i] = there ? px[first + i * WARP] : 0.0;
    y[i] = there ? py[first + i * WARP] : 0.0;
  }
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    const bool there = p.rows - first > i * WARP;
    chain(t, 0, there ? p.scale * x[i] : 0.0, there ? p.scale * y[i] : 0.0, p.block, i, &sum);
  }
}

/* r = fma(-alpha, q, r); sums of (r, z) and (r, r). 32 bytes a row, 16 in float. */
template <class REAL>
static __device__ inline void residual_tile(const vector_args &p, block_tally *t, lidx tile,
                                            bool open, REAL alpha, double scale) {
  const int lane = (int)threadIdx.x % WARP;
  const lidx first = tile * TILE + lane;
  const REAL *px = static_cast<const REAL *>(p.x), *pd = static_cast<const REAL *>(p.inverse);
  REAL *pr = static_cast<REAL *>(p.r);
  REAL q[CHUNKS], r[CHUNKS], d[CHUNKS];
  double sum_z = 0.0, sum_r = 0.0;
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    if (p.rows - first <= i * WARP) continue;
    q[i] = px[first + i * WARP];
    r[i] = pr[first + i * WARP];
    if (pd != nullptr) d[i] = pd[first + i * WARP];
  }
  if (!open) return; /* asked late: the answer has had time to come */
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    double u = 0.0, v = 0.0;
    if (p.rows - first > i * WARP) {
      const REAL next = fma(-alpha, q[i], r[i]);
      pr[first + i * WARP] = next;
      u = scale * next;
      v = scale * (pd != nullptr ? d[i] * next : next);
    }
    chain(t, 0, u, v, p.block, i, &sum_z);
    chain(t, 1, u, u, p.block, i, &sum_r);
  }
}

template <int PASS, class REAL>
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
      residual_tile(p, &tally, tile, open, static_cast<REAL>(alpha), scale);
    }
  }
  pass_end(p.end, &tally, &room);
}

static const void *const VECTOR_KERNELS[] = {(const void *)vectors_pass<VECTOR_DOT, double>,
                                             (const void *)vectors_pass<VECTOR_CG_RESIDUAL, double>,
                                             (const void *)vectors_pass<VECTOR_CG_RESIDUAL, float>};

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

/* x = fma(alpha, p, x); p = fma(beta, p, z). 48 bytes a row, 24 in float. Pairs of elements:
 * 16-byte accesses, 8 in float. */
template <class REAL>
static __device__ inline void direct(REAL r, REAL d, REAL alpha, REAL beta, REAL *p, REAL *x) {
  *x = fma(alpha, *p, *x);
  *p = fma(beta, *p, d * r);
}

/* The pair of a type. */
template <class REAL> struct pair_of { typedef double2 type; };
template <> struct pair_of<float> { typedef float2 type; };

template <bool PRECONDITIONED, class REAL>
__global__ void __launch_bounds__(TILE) direction_pass(const __grid_constant__ direction_args a) {
  typedef typename pair_of<REAL>::type pair;
  const int64_t pairs = a.rows / 2, i = (int64_t)blockIdx.x * TILE + threadIdx.x;
  const int64_t at = a.reverse ? pairs - 1 - i : i;
  pair r, p, x, d;
  d.x = d.y = 1; /* 1 r is r, bit for bit */
  let_next_start();
  wait_for_last();
  if (i < pairs) {
    r = static_cast<const pair *>(a.r)[at];
    if (PRECONDITIONED) d = static_cast<const pair *>(a.inverse)[at];
    p = static_cast<const pair *>(a.from)[at];
    x = static_cast<const pair *>(a.x)[at];
  }
  const REAL alpha = static_cast<REAL>(a.state->alpha), beta = static_cast<REAL>(a.state->beta);
  /* asked late: the answer has had time to come */
  if (!a.state->pending || (a.single && a.state->verdict != VERDICT_NONE)) return;
  if (i < pairs) {
    direct<REAL>(r.x, d.x, alpha, beta, &p.x, &x.x);
    direct<REAL>(r.y, d.y, alpha, beta, &p.y, &x.y);
    static_cast<pair *>(a.direction)[at] = p;
    static_cast<pair *>(a.x)[at] = x;
  }
  if (i == 0 && a.rows % 2 != 0) {
    const lidx last = a.rows - 1;
    const REAL one = 1, own = static_cast<const REAL *>(a.r)[last];
    REAL to = static_cast<const REAL *>(a.from)[last];
    direct<REAL>(own, PRECONDITIONED ? static_cast<const REAL *>(a.inverse)[last] : one, alpha,
                 beta, &to, static_cast<REAL *>(a.x) + last);
    static_cast<REAL *>(a.direction)[last] = to;
  }
}

extern "C" cudaError_t kernel_direction(cudaStream_t s, const direction_args *a) {
  static const void *const kernels[2][2] = {
      {(const void *)direction_pass<false, double>, (const void *)direction_pass<true, double>},
      {(const void *)direction_pass<false, float>, (const void *)direction_pass<true, float>}};
  direction_args args = *a;
  const int blocks = blocks_for(((int64_t)a->rows / 2 + TILE - 1) / TILE, INT32_MAX);
  return launch(s, kernels[a->single != 0][a->inverse != nullptr], blocks, TILE, &args, a->early);
}
