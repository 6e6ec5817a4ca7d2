/* Several Euler steps in 3-D, in one pass over memory. A thread block marches along z over a tile
 * of x and y and makes K steps on its way: as it takes plane z in, step 1 makes plane z - 1, step 2
 * plane z - 2 and so on, each from the three planes around it of the step before. A lane has two
 * points in x and four rows of them; of each step's input two planes of these stay in registers,
 * the third one just came. Neighbours in x are in the lane or a shuffle away; in y in the lane, or
 * in shared memory, where each warp leaves its first and last row of the plane that will be the
 * middle one next time, so that one barrier a plane is enough. Tiles overlap by K points on each
 * side. Planes come ahead of time through shared memory (asynchronous copies) and leave through it.
 *
 * 9 operations a point and step (of 64 x 4 WARPS points, (64 - 2 K) x (4 WARPS - 2 K) are kept), 16
 * bytes a point and pass, those read more often by as much. Source: as for 2-D, heat_rows.cuh. */
#ifndef HEAT_PLANES_CUH
#define HEAT_PLANES_CUH

#include <cuda_pipeline.h>

#include "heat_point.cuh"
#include "passes.h"

enum {
  PLANE_ROWS = 4, /* of a lane */
  PLANE_POINTS = 2,
  PLANE_WIDTH = PLANE_POINTS * WARP,
  PLANE_RING = 3,
  PLANE_MOST = 16 /* warps */
};

/* Where a thread block is: (x0, y0) is the tile's first point, planes [begin, end) are to be made;
 * y is the lane's first row. */
struct tile_place {
  int64_t x0, y0, begin, end, x, y;
  unsigned held; /* a bit a point of the lane: an x- or y-face holds it (FACES_HELD) */
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

/* One point of a tile, (x, y) in the tile and (gx, gy) in the grid. */
template <bool VARIABLE, int SOURCE, int FACES>
static __device__ inline double plane_point(const heat_pass &p, const tile_map &map, int x, int y,
                                            int64_t gx, int64_t gy, int64_t z, double west,
                                            double east, double south, double north, double lo,
                                            double u, double hi) {
  const heat_slab &s = p.s;
  const heat_grid &g = s.g;
  heat_ends ex = {false, false}, ey = {false, false}, ez = {false, false};
  double out = u;
  const int64_t plane = (z + s.halo) * s.plane;
  int64_t at = 0;
  if (VARIABLE || SOURCE == SOURCE_FIELD) at = plane + map.row[y] * g.n[0] + map.column[x];
  if (FACES == FACES_ANY) {
    ex = heat_ends_at(g, 0, gx);
    ey = heat_ends_at(g, 1, gy);
    ez = heat_ends_at(g, 2, z + s.first);
  }
  if (VARIABLE) {
    const int x_before = x > 0 ? x - 1 : 0, y_before = y > 0 ? y - 1 : 0;
    if (FACES != FACES_ANY || g.n[0] > 1) {
      const double *a = p.face[0];
      out = heat_direction_faces(out, p.scale, ex,
                                 __ldg(a + plane + map.row[y] * g.n[0] + map.column[x_before]),
                                 __ldg(a + at), west, u, east);
    }
    if (FACES != FACES_ANY || g.n[1] > 1) {
      const double *a = p.face[1];
      out = heat_direction_faces(out, p.scale, ey,
                                 __ldg(a + plane + map.row[y_before] * g.n[0] + map.column[x]),
                                 __ldg(a + at), south, u, north);
    }
    if (FACES != FACES_ANY || g.n[2] > 1) {
      const double *a = p.face[2];
      out =
          heat_direction_faces(out, p.scale, ez, __ldg(a + at - s.plane), __ldg(a + at), lo, u, hi);
    }
  } else {
    if (FACES != FACES_ANY || g.n[0] > 1) out = heat_direction(out, p.c[0], ex, west, u, east);
    if (FACES != FACES_ANY || g.n[1] > 1) out = heat_direction(out, p.c[1], ey, south, u, north);
    if (FACES != FACES_ANY || g.n[2] > 1) out = heat_direction(out, p.c[2], ez, lo, u, hi);
  }
  if (SOURCE == SOURCE_NUMBER) out = fma(p.scale, p.source_value, out);
  if (SOURCE == SOURCE_FIELD) out = fma(p.scale, __ldg(p.source + at), out);
  if (FACES == FACES_ANY && (ex.low || ex.high || ey.low || ey.high || ez.low || ez.high)) {
    const bool held = heat_held_by(g, 0, ex) || heat_held_by(g, 1, ey) || heat_held_by(g, 2, ez);
    out = held ? u : heat_add_fluxes(p, map.column[x], map.row[y], z, u, out);
  }
  return out;
}

/* A step of a lane's points of plane z: from the planes lo, u and the one that just came, `now`,
 * which takes lo's place and is replaced by the result. */
template <bool VARIABLE, int SOURCE, int FACES>
static __device__ inline void
plane_step(const heat_pass &p, const tile_place &w, const tile_map &map, const shown_rows *shown,
           int64_t z, double (*lo)[PLANE_POINTS], const double (*u)[PLANE_POINTS],
           double (*now)[PLANE_POINTS]) {
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  const int warps = (int)blockDim.x / WARP;
  const pair first = pair_at(&shown[warp > 0 ? warp - 1 : 0].row[1][lane * PLANE_POINTS]);
  const pair final =
      pair_at(&shown[warp + 1 < warps ? warp + 1 : warp].row[0][lane * PLANE_POINTS]);
  unsigned held = 0;
  if (FACES == FACES_HELD) {
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
      next[i] = plane_point<VARIABLE, SOURCE, FACES>(
          p, map, lane * PLANE_POINTS + i, warp * PLANE_ROWS + q, w.x + i, w.y + q, z,
          i == 0 ? left : u[q][0], i == 0 ? u[q][1] : right, q == 0 ? first.at[i] : u[q - 1][i],
          q + 1 == PLANE_ROWS ? final.at[i] : u[q + 1][i], lo[q][i], u[q][i], now[q][i]);
      if (FACES == FACES_HELD && (held >> (q * PLANE_POINTS + i) & 1) != 0) {
        next[i] = u[q][i];
      }
    }
#pragma unroll
    for (int i = 0; i < PLANE_POINTS; i++) {
      lo[q][i] = now[q][i];
      now[q][i] = next[i];
    }
  }
}

static __device__ inline bool is_made(const heat_slab &s, int64_t z, int64_t least) {
  const bool inside = z + s.first >= 0 && z + s.first < s.g.n[2];
  return z >= least && (inside || (s.g.face[4] == HEAT_PERIODIC && s.g.n[2] > 1));
}

/* All steps as plane z comes in as `now`; leaves plane z - steps in it. */
template <int K, bool VARIABLE, int SOURCE, bool EXACT, int FACES, int TURN>
static __device__ inline void tile_steps(const heat_march_args &m, const tile_place &w,
                                         const tile_map &map, shown_rows *shown, int64_t z,
                                         tile_planes<K> &planes, double (*now)[PLANE_POINTS]) {
  constexpr bool GUARDED = FACES != FACES_NONE && (VARIABLE || SOURCE == SOURCE_FIELD);
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  const int warps = (int)blockDim.x / WARP;
#pragma unroll
  for (int l = 0; l < K; l++) {
    if (!EXACT && l >= m.steps) break;
    shown_rows *next = shown + ((1 - TURN) * K + l) * warps + warp;
    pair_put(&next->row[0][lane * PLANE_POINTS], now[0]);
    pair_put(&next->row[1][lane * PLANE_POINTS], now[PLANE_ROWS - 1]);
    /* where a plane needs fields, it is made only if it is in the domain and hangs on what came in
     */
    if (!GUARDED || is_made(m.p.s, z - 1 - l, w.begin - m.steps + l + 1)) {
      plane_step<VARIABLE, SOURCE, FACES>(m.p, w, map, shown + (TURN * K + l) * warps, z - 1 - l,
                                          planes.plane[l][TURN], planes.plane[l][1 - TURN], now);
    } else {
#pragma unroll
      for (int q = 0; q < PLANE_ROWS; q++) {
        planes.plane[l][TURN][q][0] = now[q][0];
        planes.plane[l][TURN][q][1] = now[q][1];
      }
    }
  }
}

/* Starts the copy of a warp's rows of a plane, single points or (WIDE) pairs. */
template <bool WIDE>
static __device__ inline void plane_fetch(const double *plane, int64_t n, const tile_map &map,
                                          double (*slot)[PLANE_WIDTH]) {
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
#pragma unroll
  for (int q = 0; q < PLANE_ROWS; q++) {
    const double *row = plane + map.row[warp * PLANE_ROWS + q] * n;
#pragma unroll
    for (int i = 0; i < (WIDE ? 1 : PLANE_POINTS); i++) {
      const int x = WIDE ? 2 * lane : lane + i * WARP;
      const int column = WIDE ? map.column[x] & ~1 : map.column[x];
      __pipeline_memcpy_async(&slot[q][x], row + column, (WIDE ? 2 : 1) * sizeof *row);
    }
  }
}

/* Sends a warp's rows of a plane out: pairs at once, or through the slot they came in by. `to` is
 * where row y0 and column x0 of the plane go. */
template <int MARGIN, bool WIDE>
static __device__ inline void plane_leave(const heat_grid &g, const tile_place &w, double *to,
                                          double (*slot)[PLANE_WIDTH],
                                          const double (*now)[PLANE_POINTS]) {
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  const int rows = (int)blockDim.x / WARP * PLANE_ROWS;
  if (!WIDE) {
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
    for (int i = 0; i < (WIDE ? 1 : PLANE_POINTS); i++) {
      const int x = WIDE ? 2 * lane : lane + i * WARP;
      if (x < MARGIN || x >= PLANE_WIDTH - MARGIN || w.x0 + x >= g.n[0]) continue;
      if (WIDE) {
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

/* Points at the border of a tile that are not kept: K, an even number for WIDE. */
template <int K> static __host__ __device__ constexpr int planes_margin() {
  return (K + 1) / 2 * 2;
}

template <int K, bool VARIABLE, int SOURCE, bool EXACT, bool WIDE, int FACES, int WARPS_MOST>
__global__ void __launch_bounds__(WARP *WARPS_MOST, 1)
    planes_march(const __grid_constant__ heat_march_args m) {
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
  const int steps = EXACT ? K : m.steps;
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
  const bool fields = VARIABLE || SOURCE == SOURCE_FIELD;
  int plain = (int)max(low, fields ? 2 * (int64_t)steps : 0), ahead = 0, slot = 0, i = 0;
  const int plain_end = inner ? (int)min(high, (int64_t)planes_in) : 0;
  plain = (plain + 1) / 2 * 2;
  const int there = (int)max((int64_t)0, -s.halo - top);
  const int there_end = (int)min((int64_t)planes_in, s.planes + s.halo - top);
  const double *from = m.p.u + (top + s.halo) * s.plane;
  double *to = m.p.out + (top - steps + s.halo) * s.plane + w.y0 * g.n[0] + w.x0;
  tile_planes<K> planes = {};
  double now[PLANE_ROWS][PLANE_POINTS];
  auto fetch = [&](int into) {
    if (ahead >= there && ahead < there_end) plane_fetch<WIDE>(from, g.n[0], map, ring[into]);
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
    tile_steps<K, VARIABLE, SOURCE, EXACT, decltype(faces)::value, decltype(turn)::value>(
        m, w, map, shown, top + at, planes, now);
    fetch((slot + PLANE_RING - 1) % PLANE_RING);
    if (at >= 2 * steps && at < planes_in) {
      plane_leave<MARGIN, WIDE>(g, w, to, ring[slot], now);
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
    two(constant<FACES>(), i);
  }
#pragma unroll 1
  for (; i + 2 <= plain_end; i += 2) two(constant<FACES_NONE>(), i);
#pragma unroll 1
  for (; i < planes_in; i += 2) two(constant<FACES>(), i);
}

#endif
