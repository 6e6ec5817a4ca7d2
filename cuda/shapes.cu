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

/* Inside advance, where the direction is made already: its product alone. */
enum { SHAPES_CG_MADE = SHAPES_PASSES };

/* What is read once: it is not to push out of the cache what neighbours read again. */
static __device__ inline double load_once(const double *at) {
  double value;
  asm volatile("ld.global.L1::no_allocate.f64 %0, [%1];" : "=d"(value) : "l"(at));
  return value;
}

/* What a pass reads at column j of its product. */
template <int PASS, bool VECTOR>
static __device__ inline double source(const shapes_args &p, double beta, int64_t j) {
  if (PASS == SHAPES_CG_MADE) return p.out[j];
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
  for (; end - first >= SOME; first += SOME) {
    add_entries<PASS, VECTOR, SOME>(p, beta, first, row, s, sa);
  }
  for (; first < end; first++) add_entries<PASS, VECTOR, 1>(p, beta, first, row, s, sa);
}

/* The same of rows of any shapes; absent rows have length 0. */
template <int PASS, bool VECTOR>
static __device__ inline void any_shapes(const shapes_args &p, double beta, const int *first,
                                         const int *length, int64_t row, double *s, double *sa) {
  enum { STEP = 2 };
  int longest = 0;
#pragma unroll
  for (int u = 0; u < AT_ONCE; u++) longest = max(longest, length[u]);
  for (int k = 0; k < longest; k += STEP) {
    double a[STEP][AT_ONCE], y[STEP][AT_ONCE];
    int at[STEP][AT_ONCE];
#pragma unroll
    for (int v = 0; v < STEP * AT_ONCE; v++) {
      const int e = v / AT_ONCE, u = v % AT_ONCE;
      if (k + e >= length[u]) continue;
      at[e][u] = p.m.offset[first[u] + k + e];
      a[e][u] = p.m.value[first[u] + k + e];
    }
#pragma unroll
    for (int v = 0; v < STEP * AT_ONCE; v++) {
      const int e = v / AT_ONCE, u = v % AT_ONCE;
      if (k + e < length[u]) y[e][u] = source<PASS, VECTOR>(p, beta, row + u * WARP + at[e][u]);
    }
#pragma unroll
    for (int v = 0; v < STEP * AT_ONCE; v++) {
      const int e = v / AT_ONCE, u = v % AT_ONCE;
      if (k + e >= length[u]) continue;
      s[u] = fma(a[e][u], y[e][u], s[u]);
      if (PASS == SHAPES_RESIDUAL) sa[u] = fma(fabs(a[e][u]), fabs(y[e][u]), sa[u]);
    }
  }
}

/* What a pass knows beside its arguments. */
struct shapes_state {
  double scale, alpha, beta;
  int update, sums; /* terms are wanted */
  int made;         /* the direction is there already */
};

/* A row's own numbers: all are loaded before anything is stored. */
struct own_row {
  double a, b, w, x;
};

template <int PASS, bool VECTOR>
static __device__ inline own_row load_own(const shapes_args &p, int shape, int64_t row) {
  own_row o = {0.0, 0.0, 0.0, 0.0};
  if (PASS == SHAPES_RESIDUAL || PASS == SHAPES_SWEEP) o.b = load_once(p.b + row);
  if (PASS == SHAPES_SWEEP) o.w = VECTOR ? load_once(p.weight + row) : p.m.weight[shape];
  if (PASS == SHAPES_SWEEP || PASS == SHAPES_CG_PRODUCT || PASS == SHAPES_CG_ADVANCE) {
    o.a = p.x[row];
  }
  if (PASS == SHAPES_RELAX) {
    if (p.b != nullptr) o.b = load_once(p.b + row);
    if (p.y != nullptr) o.a = load_once(p.y + row);
    if (p.weight != nullptr) o.w = load_once(p.weight + row);
  }
  if (PASS == SHAPES_CG_ADVANCE) {
    o.b = p.r[row];
    o.x = load_once(p.solution + row);
  }
  if (PASS == SHAPES_CG_REDUCE) o.a = load_once(p.out + row);
  if (PASS == SHAPES_CG_MADE) o.a = p.out[row];
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
  } else if (PASS == SHAPES_CG_MADE) {
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
  constexpr bool MIXED = PASS == SHAPES_CG_PRODUCT || PASS == SHAPES_CG_ADVANCE ||
                         PASS == SHAPES_CG_MADE || PASS == SHAPES_CG_REDUCE;
  chain(t, 0, u, MIXED ? v : u, p.block, i, &sum[0]);
  if (PASS == SHAPES_CG_REDUCE) chain(t, 1, u, u, p.block, i, &sum[1]);
  if (PASS == SHAPES_RESIDUAL || (PASS == SHAPES_SWEEP && g.update)) {
    chain(t, 1, v, v, p.block, i, &sum[1]);
  }
}

/* AT_ONCE rows of a lane, of the shapes given: all the same (`shape` of every lane's), or looked up
 * one by one; -1: there is no such row. `h`: how many rows of the tile's come before. */
template <int PASS, bool VECTOR>
static __device__ inline void some_rows(const shapes_args &p, const shapes_state &g, block_tally *t,
                                        int64_t row, int h, bool same, const int *shape,
                                        double *sum, int *changed) {
  double s[AT_ONCE] = {}, sa[AT_ONCE] = {};
  own_row own[AT_ONCE];
#pragma unroll
  for (int u = 0; u < AT_ONCE; u++) {
    if (same || shape[u] >= 0) own[u] = load_own<PASS, VECTOR>(p, shape[u], row + u * WARP);
  }
  if (!multiplies<PASS>(p)) {
    /* s = 0 */
  } else if (same) {
    one_shape<PASS, VECTOR>(p, g.beta, shape[0], row, s, sa);
  } else {
    int first[AT_ONCE], length[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      first[u] = shape[u] >= 0 ? p.m.first[shape[u]] : 0;
      length[u] = shape[u] >= 0 ? p.m.first[shape[u] + 1] - first[u] : 0;
    }
    any_shapes<PASS, VECTOR>(p, g.beta, first, length, row, s, sa);
  }
#pragma unroll
  for (int u = 0; u < AT_ONCE; u++) {
    double a = 0.0, b = 0.0;
    if (same || shape[u] >= 0) {
      finish<PASS>(p, g, own[u], row + u * WARP, s[u], sa[u], &a, &b, changed);
    }
    if (g.sums) add_terms<PASS>(p, g, t, h + u, a, b, sum);
  }
}

/* Rows of one shape, all of them. */
template <int PASS, bool VECTOR>
static __device__ inline void uniform_tile(const shapes_args &p, const shapes_state &g,
                                           block_tally *t, lidx tile, int only, int *changed) {
  const int64_t first = (int64_t)tile * TILE + threadIdx.x % WARP;
  const int shape[AT_ONCE] = {only, only, only, only};
  double sum[2] = {0.0, 0.0};
#pragma unroll
  for (int h = 0; h < PER_LANE; h += AT_ONCE) {
    some_rows<PASS, VECTOR>(p, g, t, first + h * WARP, h, true, shape, sum, changed);
  }
}

/* Rows of several shapes: most of them have one, as a grid's lines between their ends. */
template <int PASS, bool VECTOR>
static __device__ inline void mixed_tile(const shapes_args &p, const shapes_state &g,
                                         block_tally *t, lidx tile, int *changed) {
  const int64_t first = (int64_t)tile * TILE + threadIdx.x % WARP;
  double sum[2] = {0.0, 0.0};
  int shape[PER_LANE];
#pragma unroll
  for (int i = 0; i < PER_LANE; i++) {
    const int64_t row = first + i * WARP;
    shape[i] = -1;
    if (row < p.m.rows) shape[i] = p.m.code1 != nullptr ? p.m.code1[row] : p.m.code2[row];
  }
#pragma unroll
  for (int h = 0; h < PER_LANE; h += AT_ONCE) {
    const int one = __shfl_sync(ALL_LANES, shape[h], 0);
    bool mine = one >= 0;
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) mine = mine && shape[h + u] == one;
    const bool same = __all_sync(ALL_LANES, mine);
    some_rows<PASS, VECTOR>(p, g, t, first + h * WARP, h, same, shape + h, sum, changed);
  }
}

/* The next place of a block's run of the list, for the whole warp. */
static __device__ inline int take(int *next) {
  int at = 0;
  if (threadIdx.x % WARP == 0) at = atomicAdd(next, 1);
  return __shfl_sync(ALL_LANES, at, 0);
}

static __device__ inline shaped_tile tile_at(const shapes_args &p, lidx i, lidx end) {
  if (i >= end) return {0, 0};
  return p.m.list[p.reverse ? p.m.list_count - 1 - i : i];
}

/* False: nothing is to be done. */
template <int PASS> static __device__ inline bool begin(const shapes_args &p, shapes_state *g) {
  const solve_state *s = p.state;
  bool open = state_open(s);
  *g = {p.scale, 0.0, 0.0, 0, PASS != SHAPES_PRODUCT && PASS != SHAPES_RELAX, 0};
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
  if (PASS == SHAPES_CG_ADVANCE) { /* x and the direction are made whatever the verdict */
    g->sums = open;
    g->made = s->pending == 0;
    open = open || s->pending != 0;
  }
  return open;
}

/* The tiles of a block: those of several shapes take longer, who is done takes the next. */
template <int PASS, bool VECTOR>
static __device__ inline void run_tiles(const shapes_args &p, const shapes_state &g, block_tally *t,
                                        lidx i, lidx end, shaped_tile here, int *next,
                                        int *changed) {
  while (i < end) {
    const lidx after = take(next);
    const shaped_tile there = tile_at(p, after, end);
    if (here.shape >= 0) {
      uniform_tile<PASS, VECTOR>(p, g, t, here.tile, here.shape, changed);
    } else {
      mixed_tile<PASS, VECTOR>(p, g, t, here.tile, changed);
    }
    i = after;
    here = there;
  }
}

template <int PASS, bool VECTOR>
__global__ void __launch_bounds__(TILE, 2) shapes_pass(const __grid_constant__ shapes_args p) {
  constexpr bool SUMS = PASS != SHAPES_PRODUCT && PASS != SHAPES_RELAX;
  __shared__ block_tally tally;
  __shared__ verdict_room room;
  __shared__ int next; /* of the block's run */
  const lidx first = (lidx)((int64_t)p.m.list_count * blockIdx.x / gridDim.x);
  const lidx end = (lidx)((int64_t)p.m.list_count * (blockIdx.x + 1) / gridDim.x);
  const lidx i = first + (lidx)threadIdx.x / WARP;
  shapes_state g;
  int changed = 0;
  let_next_start();
  if (SUMS) tally_zero(&tally);
  if (threadIdx.x == 0) next = first + (int)blockDim.x / WARP;
  const shaped_tile here = tile_at(p, i, end); /* the matrix does not change: no need to wait */
  __syncthreads();
  wait_for_last();
  if (begin<PASS>(p, &g)) {
    if (PASS == SHAPES_CG_ADVANCE && g.made) {
      run_tiles<SHAPES_CG_MADE, false>(p, g, &tally, i, end, here, &next, &changed);
    } else {
      run_tiles<PASS, VECTOR>(p, g, &tally, i, end, here, &next, &changed);
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

/* Little shared memory is asked for: the rest is cache, which neighbours' rows are to be found in.
 */
extern "C" cudaError_t kernel_shapes_fit(shapes_pass_kind pass, int *blocks) {
  enum { SHARED_PERCENT = 10 };
  for (int v = 0; v < 2; v++) {
    const cudaError_t error = cudaFuncSetAttribute(
        SHAPES_KERNELS[pass][v], cudaFuncAttributePreferredSharedMemoryCarveout, SHARED_PERCENT);
    if (error != cudaSuccess) return error;
  }
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
