/* Passes over rows that are kept by their shape (pattern.h). A warp takes a tile of 256 rows; lane
 * l makes rows l, l + 32, ... and chains their terms itself, so sums need neither barrier nor
 * shared terms. Where all rows of a tile have one shape its offsets and values are loaded once, the
 * same for all lanes; neighbours of a row are then straight loads. Tiles of several shapes look
 * each row's up.
 *
 * A thread block has a run of the list of tiles, whose order the host has chosen (matrix.c): tiles
 * that refer to each other come one after the other, so that x is read from the cache of the
 * multiprocessor and not once for each row of the grid that touches it.
 *
 * Traffic of a row: one or two bytes where shapes differ, else nothing, and 8 for each vector.
 * Conjugate gradients in two passes (solve_backend.h): advance makes p at every neighbour anew from
 * r and the old p (r, p, x read, p, x written: 40), reduce multiplies once more (p, r read, r
 * written: 24). */
#include "passes.h"

enum { PER_LANE = TILE / WARP, AT_ONCE = 4, SOME = 4 };

/* Whether there is a product at all. */
template <int PASS> static __device__ inline bool multiplies(const shapes_args &p) {
  return PASS != SHAPES_RELAX || p.x != nullptr;
}

/* What a pass reads at column j of its product. */
template <int PASS, bool VECTOR>
static __device__ inline double source(const shapes_args &p, double beta, int64_t j) {
  if (PASS != SHAPES_CG_ADVANCE) return p.x[j];
  return fma(beta, p.x[j], (VECTOR ? p.inverse[j] : p.diagonal) * p.r[j]);
}

/* Adds entries [first, first + N) of a shape to AT_ONCE rows, 32 apart. */
template <int PASS, bool VECTOR, int N>
static __device__ inline void add_entries(const shapes_args &p, double beta, int first, int64_t row,
                                          double *s, double *sa) {
  double y[N][AT_ONCE], a[N];
#pragma unroll
  for (int k = 0; k < N; k++) {
    const int64_t at = row + p.m.offset[first + k];
    a[k] = p.m.value[first + k];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) y[k][u] = source<PASS, VECTOR>(p, beta, at + u * WARP);
  }
#pragma unroll
  for (int k = 0; k < N; k++) {
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      s[u] = fma(a[k], y[k][u], s[u]);
      if (PASS == SHAPES_RESIDUAL) sa[u] = fma(fabs(a[k]), fabs(y[k][u]), sa[u]);
    }
  }
}

/* The products of AT_ONCE rows of one shape. */
template <int PASS, bool VECTOR>
static __device__ inline void one_shape(const shapes_args &p, double beta, int shape, int64_t row,
                                        double *s, double *sa) {
  int first = p.m.first[shape];
  const int end = p.m.first[shape + 1];
  if (end - first == 5) {
    add_entries<PASS, VECTOR, 5>(p, beta, first, row, s, sa);
    return;
  }
  if (end - first == 7) {
    add_entries<PASS, VECTOR, 7>(p, beta, first, row, s, sa);
    return;
  }
  for (; end - first >= SOME; first += SOME) {
    add_entries<PASS, VECTOR, SOME>(p, beta, first, row, s, sa);
  }
  for (; first < end; first++) add_entries<PASS, VECTOR, 1>(p, beta, first, row, s, sa);
}

/* The product of one row of any shape. */
template <int PASS, bool VECTOR>
static __device__ inline void any_shape(const shapes_args &p, double beta, int shape, int64_t row,
                                        double *s, double *sa) {
  const int end = p.m.first[shape + 1];
  for (int e = p.m.first[shape]; e < end; e++) {
    const double a = p.m.value[e], y = source<PASS, VECTOR>(p, beta, row + p.m.offset[e]);
    *s = fma(a, y, *s);
    if (PASS == SHAPES_RESIDUAL) *sa = fma(fabs(a), fabs(y), *sa);
  }
}

/* What a pass knows beside its arguments. */
struct shapes_state {
  double scale, alpha, beta;
  int update, sums; /* terms are wanted */
};

/* A row's own numbers: all are loaded before anything is stored. */
struct own_row {
  double a, b, w, x;
};

template <int PASS, bool VECTOR>
static __device__ inline own_row load_own(const shapes_args &p, int shape, int64_t row) {
  own_row o = {0.0, 0.0, 0.0, 0.0};
  if (PASS == SHAPES_RESIDUAL || PASS == SHAPES_SWEEP) o.b = p.b[row];
  if (PASS == SHAPES_SWEEP) o.w = VECTOR ? p.weight[row] : p.m.weight[shape];
  if (PASS == SHAPES_SWEEP || PASS == SHAPES_CG_PRODUCT || PASS == SHAPES_CG_ADVANCE) {
    o.a = p.x[row];
  }
  if (PASS == SHAPES_RELAX) {
    if (p.b != nullptr) o.b = p.b[row];
    if (p.y != nullptr) o.a = p.y[row];
    if (p.weight != nullptr) o.w = p.weight[row];
  }
  if (PASS == SHAPES_CG_ADVANCE) {
    o.b = p.r[row];
    o.x = p.solution[row];
  }
  if (PASS == SHAPES_CG_REDUCE) o.a = p.out[row];
  if (PASS == SHAPES_CG_ADVANCE || PASS == SHAPES_CG_REDUCE) {
    o.w = VECTOR ? p.inverse[row] : p.diagonal;
  }
  return o;
}

/* What a row leaves: its result, and the terms of sums. */
template <int PASS>
static __device__ inline void finish(const shapes_args &p, const shapes_state &g, const own_row &o,
                                     int64_t row, double s, double sa, double *u, double *v,
                                     int *changed) {
  if (PASS == SHAPES_PRODUCT) {
    p.out[row] = s;
  } else if (PASS == SHAPES_RESIDUAL) {
    const double r = o.b - s;
    if (p.out != nullptr) p.out[row] = r;
    *u = g.scale * r;
    *v = g.scale * sa;
  } else if (PASS == SHAPES_SWEEP) {
    const double r = o.b - s, next = fma(o.w, r, o.a);
    p.out[row] = next;
    *changed += bits_of(next) != bits_of(o.a);
    *u = g.scale * (g.update ? next - o.a : r);
    *v = g.scale * next;
  } else if (PASS == SHAPES_RELAX) {
    const double r = p.b == nullptr ? -s : o.b - s;
    const double factor = p.weight == nullptr ? g.scale : g.scale * o.w;
    p.out[row] = p.y == nullptr ? factor * r : fma(factor, r, o.a);
  } else if (PASS == SHAPES_CG_PRODUCT) {
    p.out[row] = s;
    *u = g.scale * o.a;
    *v = g.scale * s;
  } else if (PASS == SHAPES_CG_ADVANCE) {
    const double to = fma(g.beta, o.a, o.w * o.b);
    p.solution[row] = fma(g.alpha, o.a, o.x);
    p.out[row] = to;
    *u = g.scale * to;
    *v = g.scale * s;
  } else {
    const double r = fma(-g.alpha, s, o.a);
    p.out[row] = r;
    *u = g.scale * r;
    *v = g.scale * (o.w * r);
  }
}

/* The chains of a lane: sum 0 of u times v or u, sum 1 as the pass has it. */
template <int PASS>
static __device__ inline void add_terms(const shapes_args &p, const shapes_state &g, block_tally *t,
                                        int i, double u, double v, double *sum) {
  constexpr bool MIXED =
      PASS == SHAPES_CG_PRODUCT || PASS == SHAPES_CG_ADVANCE || PASS == SHAPES_CG_REDUCE;
  chain(t, 0, u, MIXED ? v : u, p.block, i, &sum[0]);
  if (PASS == SHAPES_CG_REDUCE) chain(t, 1, u, u, p.block, i, &sum[1]);
  if (PASS == SHAPES_RESIDUAL || (PASS == SHAPES_SWEEP && g.update)) {
    chain(t, 1, v, v, p.block, i, &sum[1]);
  }
}

template <int PASS, bool VECTOR>
static __device__ inline void uniform_tile(const shapes_args &p, const shapes_state &g,
                                           block_tally *t, lidx tile, int shape, int *changed) {
  const int64_t first = (int64_t)tile * TILE + threadIdx.x % WARP;
  double sum[2] = {0.0, 0.0};
#pragma unroll
  for (int h = 0; h < PER_LANE; h += AT_ONCE) {
    const int64_t row = first + h * WARP;
    double s[AT_ONCE] = {}, sa[AT_ONCE] = {};
    own_row own[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) own[u] = load_own<PASS, VECTOR>(p, shape, row + u * WARP);
    if (multiplies<PASS>(p)) one_shape<PASS, VECTOR>(p, g.beta, shape, row, s, sa);
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      double a = 0.0, b = 0.0;
      finish<PASS>(p, g, own[u], row + u * WARP, s[u], sa[u], &a, &b, changed);
      if (g.sums) add_terms<PASS>(p, g, t, h + u, a, b, sum);
    }
  }
}

template <int PASS, bool VECTOR>
static __device__ inline void mixed_tile(const shapes_args &p, const shapes_state &g,
                                         block_tally *t, lidx tile, int *changed) {
  const int64_t first = (int64_t)tile * TILE + threadIdx.x % WARP;
  double sum[2] = {0.0, 0.0};
  for (int i = 0; i < PER_LANE; i++) {
    const int64_t row = first + i * WARP;
    double s = 0.0, sa = 0.0, u = 0.0, v = 0.0;
    if (row < p.m.rows) {
      const int shape = p.m.code1 != nullptr ? p.m.code1[row] : p.m.code2[row];
      const own_row own = load_own<PASS, VECTOR>(p, shape, row);
      if (multiplies<PASS>(p)) any_shape<PASS, VECTOR>(p, g.beta, shape, row, &s, &sa);
      finish<PASS>(p, g, own, row, s, sa, &u, &v, changed);
    }
    if (g.sums) add_terms<PASS>(p, g, t, i, u, v, sum);
  }
}

/* False: nothing is to be done. */
template <int PASS> static __device__ inline bool begin(const shapes_args &p, shapes_state *g) {
  const solve_state *s = p.state;
  bool open = state_open(s);
  *g = {p.scale, 0.0, 0.0, 0, PASS != SHAPES_PRODUCT && PASS != SHAPES_RELAX};
  if (s == nullptr) return open;
  g->scale = s->scale;
  if (PASS == SHAPES_SWEEP && s->monitor_update) {
    g->update = 1;
    g->scale = s->update_scale;
  }
  if (PASS == SHAPES_CG_ADVANCE || PASS == SHAPES_CG_REDUCE) {
    g->alpha = s->alpha;
    g->beta = s->beta;
  }
  if (PASS == SHAPES_CG_ADVANCE) {
    g->sums = open;
    open = s->pending != 0;
  }
  return open;
}

template <int PASS, bool VECTOR>
__global__ void __launch_bounds__(TILE, 3) shapes_pass(const __grid_constant__ shapes_args p) {
  constexpr bool SUMS = PASS != SHAPES_PRODUCT && PASS != SHAPES_RELAX;
  __shared__ block_tally tally;
  __shared__ verdict_room room;
  const int warps = (int)blockDim.x / WARP;
  const lidx begin_at = (lidx)((int64_t)p.m.list_count * blockIdx.x / gridDim.x);
  const lidx end_at = (lidx)((int64_t)p.m.list_count * (blockIdx.x + 1) / gridDim.x);
  shapes_state g;
  int changed = 0;
  let_next_start();
  if (SUMS) {
    tally_zero(&tally);
    __syncthreads();
  }
  wait_for_last();
  if (begin<PASS>(p, &g)) {
    for (lidx i = begin_at + (lidx)threadIdx.x / WARP; i < end_at; i += warps) {
      const lidx tile = p.m.list[p.reverse ? p.m.list_count - 1 - i : i];
      const int shape = p.m.uniform[tile];
      if (shape >= 0) {
        uniform_tile<PASS, VECTOR>(p, g, &tally, tile, shape, &changed);
      } else {
        mixed_tile<PASS, VECTOR>(p, g, &tally, tile, &changed);
      }
    }
  }
  if (!SUMS) return;
  if (PASS == SHAPES_SWEEP) {
    for (int half = WARP / 2; half >= 1; half /= 2) {
      changed += __shfl_xor_sync(ALL_LANES, changed, half);
    }
    if (threadIdx.x % WARP == 0 && changed != 0) {
      add_shared(&tally.word[BLOCK_WORDS - 1], changed);
    }
  }
  pass_end(p.end, &tally, &room);
}

/* By pass, and by whether the diagonal is a vector. */
static const void *const SHAPES_KERNELS[][2] = {
    {(const void *)shapes_pass<SHAPES_PRODUCT, false>,
     (const void *)shapes_pass<SHAPES_PRODUCT, false>},
    {(const void *)shapes_pass<SHAPES_RESIDUAL, false>,
     (const void *)shapes_pass<SHAPES_RESIDUAL, false>},
    {(const void *)shapes_pass<SHAPES_SWEEP, false>, (const void *)shapes_pass<SHAPES_SWEEP, true>},
    {(const void *)shapes_pass<SHAPES_CG_PRODUCT, false>,
     (const void *)shapes_pass<SHAPES_CG_PRODUCT, false>},
    {(const void *)shapes_pass<SHAPES_RELAX, false>,
     (const void *)shapes_pass<SHAPES_RELAX, false>},
    {(const void *)shapes_pass<SHAPES_CG_ADVANCE, false>,
     (const void *)shapes_pass<SHAPES_CG_ADVANCE, true>},
    {(const void *)shapes_pass<SHAPES_CG_REDUCE, false>,
     (const void *)shapes_pass<SHAPES_CG_REDUCE, true>}};

extern "C" cudaError_t kernel_shapes(cudaStream_t s, shapes_pass_kind pass, const shapes_args *a,
                                     int most_blocks, int processors) {
  shapes_args args = *a;
  const int threads = a->m.list_count < 16 * processors ? 2 * WARP : TILE, warps = threads / WARP;
  const int blocks =
      blocks_for((a->m.list_count + warps - 1) / warps, (int64_t)most_blocks * TILE / threads);
  return launch(s, SHAPES_KERNELS[pass][a->vector != 0], blocks, threads, &args, a->early);
}

extern "C" cudaError_t kernel_shapes_fit(shapes_pass_kind pass, int *blocks) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, SHAPES_KERNELS[pass][1], TILE, 0);
}

/* to = fma(beta, from, z) at ghosts [begin, begin + count). */
__global__ void advance_ghosts(const __grid_constant__ shapes_args p, lidx begin, lidx count) {
  const int64_t k = (int64_t)blockIdx.x * TILE + threadIdx.x, j = begin + k;
  if (k >= count || !p.state->pending) return;
  const double d = p.inverse != nullptr ? p.inverse[j] : 1.0;
  p.out[j] = fma(p.state->beta, p.x[j], d * p.r[j]);
}

extern "C" cudaError_t kernel_advance_ghosts(cudaStream_t s, const shapes_args *a, lidx begin,
                                             lidx count) {
  advance_ghosts<<<blocks_for(((int64_t)count + TILE - 1) / TILE, INT32_MAX), TILE, 0, s>>>(
      *a, begin, count);
  return cudaGetLastError();
}
