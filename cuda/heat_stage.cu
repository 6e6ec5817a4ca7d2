/* One stage of the heat equation, one thread a point; and the totals of a field. Traffic of an
 * Euler stage: 16 bytes a point (neighbours come from the caches), and 8 more per coefficient
 * field, source, base and term that is another field. */
#include "heat_point.cuh"
#include "passes.h"

enum { STAGE_THREADS = 256, GRID_MOST = 65535 };

/* Neighbours of direction d, as distances. */
static __device__ inline int64_t step_before(const heat_slab &s, int d, int64_t here,
                                             int64_t stride) {
  const bool inside = d == s.g.dims - 1 || here > 0;
  return inside ? -stride : stride * (s.g.n[d] - 1);
}

static __device__ inline int64_t step_behind(const heat_slab &s, int d, int64_t here,
                                             int64_t stride) {
  const bool inside = d == s.g.dims - 1 || here < s.g.n[d] - 1;
  return inside ? stride : -stride * (s.g.n[d] - 1);
}

template <int DIMS>
static __device__ inline double differences(const heat_pass &p, int64_t at, const int64_t *there,
                                            double out) {
  const heat_grid &g = p.s.g;
  const double u = p.u[at];
  int64_t stride = 1;
#pragma unroll
  for (int d = 0; d < DIMS; d++) {
    if (g.n[d] > 1) {
      const heat_ends e = heat_ends_at(g, d, there[d]);
      const int64_t before = step_before(p.s, d, there[d], stride);
      const int64_t behind = step_behind(p.s, d, there[d], stride);
      const double lo = e.low ? 0.0 : p.u[at + before], hi = e.high ? 0.0 : p.u[at + behind];
      if (p.face[0] == nullptr) {
        out = heat_direction(out, p.c[d], e, lo, u, hi);
      } else {
        const double *a = p.face[d];
        out = heat_direction_faces(out, p.scale, e, e.low ? 0.0 : a[at + before],
                                   e.high ? 0.0 : a[at], lo, u, hi);
      }
    }
    stride *= g.n[d];
  }
  return out;
}

template <int DIMS>
static __device__ inline double stage_point(const heat_stage_args &a, int64_t at,
                                            const int64_t *j) {
  const heat_pass &p = a.p;
  int64_t there[HEAT_DIMS] = {j[0], j[1], j[2]};
  there[DIMS - 1] += p.s.first;
  bool edge = false;
#pragma unroll
  for (int d = 0; d < DIMS; d++) edge |= there[d] == 0 || there[d] == p.s.g.n[d] - 1;
  const int holder = edge ? heat_holder(&p.s.g, there) : -1;
  if (holder >= 0) {
    const double *held = a.held[holder];
    return held == nullptr ? p.u[at] : held[heat_face_at(&p.s, holder, j)];
  }
  const double base = a.base[at];
  double out = base;
  for (int i = 0; i < a.terms; i++) out = fma(a.weight[i], a.term[i][at] - base, out);
  out = differences<DIMS>(p, at, there, out);
  if (p.source != nullptr) {
    out = fma(p.scale, p.source[at], out);
  } else if (p.source_value != 0.0) {
    out = fma(p.scale, p.source_value, out);
  }
  return edge ? heat_add_fluxes(p, j[0], j[1], j[2], p.u[at], out) : out;
}

/* Blocks of x-lines by blockIdx.x; y by blockIdx.y (3-D); planes by blockIdx.z. */
template <int DIMS>
__global__ void __launch_bounds__(STAGE_THREADS)
    stage_pass(const __grid_constant__ heat_stage_args a) {
  const heat_slab &s = a.p.s;
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (DIMS == 1) {
    const int64_t j[HEAT_DIMS] = {a.p.from + i, 0, 0};
    if (j[0] < a.p.to) a.p.out[j[0] + s.halo] = stage_point<1>(a, j[0] + s.halo, j);
    return;
  }
  if (i >= s.g.n[0]) return;
  const int64_t rows = DIMS == 3 ? s.g.n[1] : 1;
  for (int64_t plane = a.p.from + blockIdx.z; plane < a.p.to; plane += gridDim.z) {
    for (int64_t y = blockIdx.y; y < rows; y += gridDim.y) {
      const int64_t j[HEAT_DIMS] = {i, DIMS == 3 ? y : plane, DIMS == 3 ? plane : 0};
      const int64_t at = (plane + s.halo) * s.plane + y * s.g.n[0] + i;
      a.p.out[at] = stage_point<DIMS>(a, at, j);
    }
  }
}

extern "C" cudaError_t kernel_heat_stage(cudaStream_t s, const heat_stage_args *a) {
  const heat_grid *g = &a->p.s.g;
  const int64_t planes = a->p.to - a->p.from, rows = g->dims == 3 ? g->n[1] : 1;
  const int64_t line = g->dims == 1 ? planes : g->n[0];
  int threads = WARP;
  while (threads < line && threads < STAGE_THREADS) threads *= 2;
  dim3 grid((unsigned)((line + threads - 1) / threads));
  if (g->dims > 1) grid.y = (unsigned)(rows < GRID_MOST ? rows : GRID_MOST);
  if (g->dims > 1) grid.z = (unsigned)(planes < GRID_MOST ? planes : GRID_MOST);
  if (g->dims == 1) stage_pass<1><<<grid, threads, 0, s>>>(*a);
  if (g->dims == 2) stage_pass<2><<<grid, threads, 0, s>>>(*a);
  if (g->dims == 3) stage_pass<3><<<grid, threads, 0, s>>>(*a);
  return cudaGetLastError();
}

/* ---- totals ---- */

/* Doubles as integers of the same order, -0.0 just below +0.0. */
static __device__ inline unsigned long long ordered(double x) {
  const uint64_t bits = bits_of(x);
  return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

struct extremes {
  unsigned long long least, greatest;
  bool nan;
};

static __device__ inline void look_at(extremes *e, double x) {
  const unsigned long long key = ordered(x);
  if (x != x) {
    e->nan = true;
  } else {
    e->least = min(e->least, key);
    e->greatest = max(e->greatest, key);
  }
}

/* Up to 256 points of an x-line by a warp, its `count` points at u; lane l chains points l, l + 32,
 * ... of their shares. */
static __device__ inline double line_block(const heat_totals_args &a, int64_t unit, extremes *e) {
  const heat_slab &s = a.s;
  const int lane = (int)threadIdx.x % WARP, last = s.g.dims - 1;
  const int64_t line = unit / a.blocks, x = unit % a.blocks * BLOCK_MAX;
  const int64_t rows = last == 2 ? s.g.n[1] : 1;
  int64_t j[HEAT_DIMS] = {0, line % rows, 0};
  if (last > 0) j[last] = line / rows + s.first;
  double sum = 0.0;
  for (int64_t i = x + lane; i < min(x + BLOCK_MAX, a.length); i += WARP) {
    const double u = a.u[line * a.length + i];
    j[0] = last == 0 ? i + s.first : i;
    look_at(e, u);
    sum += heat_share(&s.g, j) * u;
  }
  return lane_tree(sum, WARP);
}

static __device__ inline void note_extremes(const heat_totals_args &a, extremes e) {
  unsigned long long *to = reinterpret_cast<unsigned long long *>(a.extreme);
  for (int half = WARP / 2; half >= 1; half /= 2) {
    e.least = min(e.least, __shfl_xor_sync(ALL_LANES, e.least, half));
    e.greatest = max(e.greatest, __shfl_xor_sync(ALL_LANES, e.greatest, half));
  }
  const bool nan = __any_sync(ALL_LANES, e.nan);
  if (threadIdx.x % WARP != 0) return;
  atomicMin(to, e.least);
  atomicMax(to + 1, e.greatest);
  if (nan) atomicMax(to + 2, 1ull);
}

__global__ void __launch_bounds__(TILE) totals_pass(const __grid_constant__ heat_totals_args a) {
  __shared__ block_tally tally;
  __shared__ verdict_room room;
  extremes e = {~0ull, 0, false};
  tally_zero(&tally);
  __syncthreads();
  const int64_t warps = (int64_t)gridDim.x * (TILE / WARP);
  for (int64_t i = blockIdx.x * (int64_t)(TILE / WARP) + threadIdx.x / WARP; i < a.units;
       i += warps) {
    const double sum = line_block(a, i, &e);
    if (threadIdx.x % WARP == 0) tally_add_shared(&tally, 0, sum);
  }
  note_extremes(a, e);
  pass_end(a.end, &tally, &room);
}

extern "C" cudaError_t kernel_heat_totals(cudaStream_t s, const heat_totals_args *a,
                                          int processors) {
  static const uint64_t none[] = {UINT64_MAX, 0, 0};
  cudaError_t error = cudaMemsetAsync(a->extreme, 0, sizeof none, s);
  if (error == cudaSuccess) error = cudaMemsetAsync(a->extreme, 0xff, sizeof none[0], s);
  if (error != cudaSuccess) return error;
  const int warps = TILE / WARP;
  totals_pass<<<blocks_for((a->units + warps - 1) / warps, 8 * processors), TILE, 0, s>>>(*a);
  return cudaGetLastError();
}
