/* Euler steps in 3-D with constant alpha, faces that are held or periodic, and no source, the full
 * number of them: what heat_planes.cuh does, without lines, folding and fluxes, which cost
 * registers. Bits are the same. 9 operations a point and step, 16 bytes a point and pass. */
#include <cuda_pipeline.h>

#include "heat_point.cuh"
#include "passes.h"

namespace {

enum {
  PLANE_ROWS = 4, /* of a lane */
  PLANE_POINTS = 2,
  PLANE_WIDTH = PLANE_POINTS * WARP,
  PLANE_RING = 3,
  PLANE_MOST = 16, /* warps */
  TILE_WARPS = 8,
  STEPS = PLANES_STEPS
};

/* Where a thread block is: (x0, y0) is the tile's first point, planes [begin, end) are to be made;
 * y is the lane's first row. */
struct tile_place {
  int64_t x0, y0, begin, end, x, y;
  unsigned held; /* a bit a point of the lane: an x- or y-face holds it */
};

template <int K> struct tile_planes { double plane[K][2][PLANE_ROWS][PLANE_POINTS]; };

/* Columns and rows of a tile, within the grid. */
struct tile_map {
  int column[PLANE_WIDTH];
  int row[PLANE_MOST * PLANE_ROWS];
};

/* What a warp shows the others: its first and last row. */
struct shown_rows {
  double row[2][PLANE_WIDTH];
};

struct pair {
  double at[PLANE_POINTS];
};

static __device__ inline pair pair_at(const double *from) {
  const double2 v = *reinterpret_cast<const double2 *>(from);
  return {{v.x, v.y}};
}

static __device__ inline void pair_put(double *to, const double *from) {
  *reinterpret_cast<double2 *>(to) = make_double2(from[0], from[1]);
}

/* A step of a lane's points of plane z: from the planes lo, u and the one that just came, `now`,
 * which takes lo's place and is replaced by the result. */
template <bool HELD>
static __device__ inline void
plane_step(const heat_pass &p, const tile_place &w, const shown_rows *shown, int64_t z,
           double (*lo)[PLANE_POINTS], const double (*u)[PLANE_POINTS],
           double (*now)[PLANE_POINTS]) {
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  const int warps = (int)blockDim.x / WARP;
  const pair first = pair_at(&shown[warp > 0 ? warp - 1 : 0].row[1][lane * PLANE_POINTS]);
  const pair final =
      pair_at(&shown[warp + 1 < warps ? warp + 1 : warp].row[0][lane * PLANE_POINTS]);
  unsigned held = 0;
  if (HELD) {
    const bool all = heat_held_by(p.s.g, 2, heat_ends_at(p.s.g, 2, z + p.s.first));
    held = heat_fresh(all ? ~0u : w.held);
  }
#pragma unroll
  for (int q = 0; q < PLANE_ROWS; q++) {
    const double left = __shfl_up_sync(ALL_LANES, u[q][1], 1);
    const double right = __shfl_down_sync(ALL_LANES, u[q][0], 1);
    double next[PLANE_POINTS];
#pragma unroll
    for (int i = 0; i < PLANE_POINTS; i++) {
      const double west = i == 0 ? left : u[q][0], east = i == 0 ? u[q][1] : right;
      const double south = q == 0 ? first.at[i] : u[q - 1][i];
      const double north = q + 1 == PLANE_ROWS ? final.at[i] : u[q + 1][i];
      double out = heat_add(u[q][i], p.c[0], west, u[q][i], east);
      out = heat_add(out, p.c[1], south, u[q][i], north);
      out = heat_add(out, p.c[2], lo[q][i], u[q][i], now[q][i]);
      if (HELD && (held >> (q * PLANE_POINTS + i) & 1) != 0) out = u[q][i];
      next[i] = out;
    }
#pragma unroll
    for (int i = 0; i < PLANE_POINTS; i++) {
      lo[q][i] = now[q][i];
      now[q][i] = next[i];
    }
  }
}

/* All steps as plane z comes in as `now`; leaves plane z - K in it. */
template <int K, bool HELD, int TURN>
static __device__ inline void tile_steps(const heat_march_args &m, const tile_place &w,
                                         shown_rows *shown, int64_t z, tile_planes<K> &planes,
                                         double (*now)[PLANE_POINTS]) {
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  const int warps = (int)blockDim.x / WARP;
#pragma unroll
  for (int l = 0; l < K; l++) {
    shown_rows *next = shown + ((1 - TURN) * K + l) * warps + warp;
    pair_put(&next->row[0][lane * PLANE_POINTS], now[0]);
    pair_put(&next->row[1][lane * PLANE_POINTS], now[PLANE_ROWS - 1]);
    plane_step<HELD>(m.p, w, shown + (TURN * K + l) * warps, z - 1 - l, planes.plane[l][TURN],
                     planes.plane[l][1 - TURN], now);
  }
}

/* Starts the copy of a warp's rows of a plane, single points or (WIDE_ROWS) pairs. */
template <bool WIDE_ROWS>
static __device__ inline void plane_fetch(const double *plane, int64_t n, const tile_map &map,
                                          double (*slot)[PLANE_WIDTH]) {
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
#pragma unroll
  for (int q = 0; q < PLANE_ROWS; q++) {
    const double *row = plane + map.row[warp * PLANE_ROWS + q] * n;
#pragma unroll
    for (int i = 0; i < (WIDE_ROWS ? 1 : PLANE_POINTS); i++) {
      const int x = WIDE_ROWS ? 2 * lane : lane + i * WARP;
      const int column = WIDE_ROWS ? map.column[x] & ~1 : map.column[x];
      __pipeline_memcpy_async(&slot[q][x], row + column, (WIDE_ROWS ? 2 : 1) * sizeof *row);
    }
  }
}

/* Sends a warp's rows of a plane out: pairs at once, or through the slot they came in by. `to` is
 * where row y0 and column x0 of the plane go. */
template <int MARGIN, bool WIDE_ROWS>
static __device__ inline void plane_leave(const heat_grid &g, const tile_place &w, double *to,
                                          double (*slot)[PLANE_WIDTH],
                                          const double (*now)[PLANE_POINTS]) {
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  const int rows = (int)blockDim.x / WARP * PLANE_ROWS;
  if (!WIDE_ROWS) {
#pragma unroll
    for (int q = 0; q < PLANE_ROWS; q++) pair_put(&slot[q][lane * PLANE_POINTS], now[q]);
    __syncwarp();
  }
#pragma unroll
  for (int q = 0; q < PLANE_ROWS; q++) {
    const int y = warp * PLANE_ROWS + q;
    if (y < MARGIN || y >= rows - MARGIN || w.y0 + y >= g.n[1]) continue;
    double *row = to + y * g.n[0];
#pragma unroll
    for (int i = 0; i < (WIDE_ROWS ? 1 : PLANE_POINTS); i++) {
      const int x = WIDE_ROWS ? 2 * lane : lane + i * WARP;
      if (x < MARGIN || x >= PLANE_WIDTH - MARGIN || w.x0 + x >= g.n[0]) continue;
      if (WIDE_ROWS) {
        pair_put(row + x, now[q]);
      } else {
        row[x] = slot[q][x];
      }
    }
  }
}

template <int K> static __host__ __device__ inline int64_t planes_room(int warps) {
  return (int64_t)sizeof(tile_map) + 2 * K * warps * (int64_t)sizeof(shown_rows) +
         (int64_t)warps * PLANE_RING * PLANE_ROWS * PLANE_WIDTH * (int64_t)sizeof(double);
}

/* Points at the border of a tile that are not kept: K, an even number for pairs. */
template <int K> static __host__ __device__ constexpr int planes_margin() {
  return (K + 1) / 2 * 2;
}

template <int K, bool WIDE_ROWS, int WARPS_MOST>
__global__ void __launch_bounds__(WARP *WARPS_MOST, 1)
    held_planes_march(const __grid_constant__ heat_march_args m) {
  constexpr int MARGIN = planes_margin<K>();
  extern __shared__ __align__(16) unsigned char room[];
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  const int warps = (int)blockDim.x / WARP, rows = warps * PLANE_ROWS;
  tile_map &map = *reinterpret_cast<tile_map *>(room);
  shown_rows *shown = reinterpret_cast<shown_rows *>(room + sizeof(tile_map));
  auto ring = reinterpret_cast<double(*)[PLANE_ROWS][PLANE_WIDTH]>(shown + 2 * K * warps) +
              warp * PLANE_RING;
  const heat_slab &s = m.p.s;
  const heat_grid &g = s.g;
  constexpr int steps = K;
  const int64_t tiles = (int64_t)m.strips[0] * m.strips[1], tile = blockIdx.x % tiles;
  tile_place w;
  w.x0 = tile % m.strips[0] * (PLANE_WIDTH - 2 * MARGIN) - MARGIN;
  w.y0 = tile / m.strips[0] * (rows - 2 * MARGIN) - MARGIN;
  w.begin = m.p.from + blockIdx.x / tiles * m.chunk;
  w.end = min(w.begin + m.chunk, m.p.to);
  w.x = w.x0 + lane * PLANE_POINTS;
  w.y = w.y0 + warp * PLANE_ROWS;
  const bool around_x = g.face[0] == HEAT_PERIODIC, around_y = g.face[2] == HEAT_PERIODIC;
  const bool around_z = g.face[4] == HEAT_PERIODIC && g.n[2] > 1;
  const bool inner = g.n[0] > 1 && g.n[1] > 1 && g.n[2] > 1 &&
                     (around_x || (w.x0 > 0 && w.x0 + PLANE_WIDTH < g.n[0])) &&
                     (around_y || (w.y0 > 0 && w.y0 + rows < g.n[1]));
  w.held = 0;
#pragma unroll
  for (int i = 0; i < PLANE_ROWS * PLANE_POINTS; i++) {
    const heat_ends ex = heat_ends_at(g, 0, w.x + i % PLANE_POINTS);
    const heat_ends ey = heat_ends_at(g, 1, w.y + i / PLANE_POINTS);
    w.held |= (unsigned)(heat_held_by(g, 0, ex) || heat_held_by(g, 1, ey)) << i;
  }
  for (int i = (int)threadIdx.x; i < PLANE_WIDTH; i += (int)blockDim.x) {
    map.column[i] = heat_wrap(w.x0 + i, g.n[0], around_x);
  }
  for (int i = (int)threadIdx.x; i < rows; i += (int)blockDim.x) {
    map.row[i] = heat_wrap(w.y0 + i, g.n[1], around_y);
  }
  __syncthreads();
  /* planes are counted from the first that comes in; those outside the slab do not; with [plain,
   * plain_end) as the newest one, steps make planes inside the domain only */
  const int64_t top = w.begin - steps;
  const int planes_in = (int)(w.end + steps - top);
  const int64_t low = around_z ? 0 : steps + 1 - s.first - top;
  const int64_t high = around_z ? planes_in : g.n[2] - s.first - top;
  int plain = (int)max(low, (int64_t)0), ahead = 0, slot = 0, i = 0;
  const int plain_end = inner ? (int)min(high, (int64_t)planes_in) : 0;
  plain = (plain + 1) / 2 * 2;
  const int there = (int)max((int64_t)0, -s.halo - top);
  const int there_end = (int)min((int64_t)planes_in, s.planes + s.halo - top);
  const double *from = m.p.u + (top + s.halo) * s.plane;
  double *to = m.p.out + (top - steps + s.halo) * s.plane + w.y0 * g.n[0] + w.x0;
  tile_planes<K> planes = {};
  double now[PLANE_ROWS][PLANE_POINTS];
  auto fetch = [&](int into) {
    if (ahead >= there && ahead < there_end) plane_fetch<WIDE_ROWS>(from, g.n[0], map, ring[into]);
    __pipeline_commit();
    ahead++;
    from += s.plane;
  };
  auto march = [&](auto turn, auto faces, int at) {
    __pipeline_wait_prior(PLANE_RING - 2);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < PLANE_ROWS; q++) {
      const pair v = pair_at(&ring[slot][q][lane * PLANE_POINTS]);
      now[q][0] = v.at[0];
      now[q][1] = v.at[1];
    }
    tile_steps<K, decltype(faces)::value == ANYWHERE, decltype(turn)::value>(m, w, shown, top + at,
                                                                             planes, now);
    fetch((slot + PLANE_RING - 1) % PLANE_RING);
    if (at >= 2 * steps && at < planes_in) {
      plane_leave<MARGIN, WIDE_ROWS>(g, w, to, ring[slot], now);
    }
    to += s.plane;
    slot = (slot + 1) % PLANE_RING;
  };
  auto two = [&](auto faces, int at) {
    march(constant<0>(), faces, at);
    march(constant<1>(), faces, at + 1);
  };
  for (int k = 0; k < PLANE_RING - 1; k++) fetch(k);
#pragma unroll 1
  for (; i < planes_in && (i < plain || plain >= plain_end); i += 2) {
    two(constant<ANYWHERE>(), i);
  }
#pragma unroll 1
  for (; i + 2 <= plain_end; i += 2) two(constant<INSIDE>(), i);
#pragma unroll 1
  for (; i < planes_in; i += 2) two(constant<ANYWHERE>(), i);
}

template <bool WIDE_ROWS> cudaError_t march(cudaStream_t s, heat_march_args *a, int processors) {
  constexpr int MARGIN = planes_margin<STEPS>();
  constexpr int KEPT = PLANE_WIDTH - 2 * MARGIN, ROWS = TILE_WARPS * PLANE_ROWS - 2 * MARGIN;
  const auto kernel = held_planes_march<STEPS, WIDE_ROWS, TILE_WARPS>;
  const size_t room = (size_t)planes_room<STEPS>(TILE_WARPS);
  const heat_grid *g = &a->p.s.g;
  int fit = 0;
  cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)room);
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, WARP * TILE_WARPS, room);
  }
  if (error != cudaSuccess) return error;
  a->strips[0] = (int32_t)((g->n[0] + KEPT - 1) / KEPT);
  a->strips[1] = (int32_t)((g->n[1] + ROWS - 1) / ROWS);
  heat_cut(a, (int64_t)a->strips[0] * a->strips[1], (int64_t)fit * processors);
  kernel<<<(unsigned)a->units, WARP * TILE_WARPS, room, s>>>(*a);
  return cudaGetLastError();
}

} // namespace

extern "C" cudaError_t kernel_heat_planes_held(cudaStream_t s, heat_march_args *a, int processors) {
  return a->p.s.g.n[0] % 2 == 0 ? march<true>(s, a, processors) : march<false>(s, a, processors);
}
