/* Euler steps in 2-D with constant alpha, faces that are held or periodic, and no source, the full
 * number of them: what heat_rows.cuh does, without lines, folding and fluxes, which cost registers.
 * Bits are the same. 6 operations a point and step, 16 bytes a point and pass. */
#include <cuda_pipeline.h>

#include "heat_point.cuh"
#include "passes.h"

namespace {

enum { LANE = 4, ROW_RING = 4, STEPS = ROWS_STEPS };

/* Where a warp is: columns [x0, x0 + 32 POINTS), rows [begin, end) to be made. */
struct strip_place {
  int64_t x0, begin, end;
  unsigned held; /* bit i: the lane's point i is held by an x-face */
};

/* A lane's part of a strip: row[l][.] are the last two rows of the input of step l + 1. */
template <int K, int POINTS> struct strip_rows { double row[K][2][POINTS]; };

/* One step of a row of POINTS points: next from the rows lo, u, hi; HELD: some may be held. */
template <int POINTS, bool HELD>
static __device__ inline void row_step(const heat_pass &p, const strip_place &w, int64_t r,
                                       const double *lo, const double *u, const double *hi,
                                       double *next) {
  const heat_slab &s = p.s;
  const double left = __shfl_up_sync(ALL_LANES, u[POINTS - 1], 1);
  const double right = __shfl_down_sync(ALL_LANES, u[0], 1);
  unsigned held = 0;
  if (HELD) {
    const bool all = heat_held_by(s.g, 1, heat_ends_at(s.g, 1, r + s.first));
    held = heat_fresh(all ? ~0u : w.held);
  }
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    const double before = i > 0 ? u[i - 1] : left, behind = i + 1 < POINTS ? u[i + 1] : right;
    double out = heat_add(u[i], p.c[0], before, u[i], behind);
    out = heat_add(out, p.c[1], lo[i], u[i], hi[i]);
    if (HELD && (held >> i & 1) != 0) out = u[i];
    next[i] = out;
  }
}

/* All steps as row y comes in as `now`; leaves row y - K in it. */
template <int K, int POINTS, bool HELD, int TURN>
static __device__ inline void all_steps(const heat_march_args &m, const strip_place &w, int64_t y,
                                        strip_rows<K, POINTS> &rows, double *now) {
#pragma unroll
  for (int l = 0; l < K; l++) {
    double *lo = rows.row[l][TURN], *u = rows.row[l][1 - TURN], next[POINTS];
    row_step<POINTS, HELD>(m.p, w, y - 1 - l, lo, u, now, next);
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
      lo[i] = now[i];
      now[i] = next[i];
    }
  }
}

/* Starts the copy of a row into a slot of the ring, single points or (WIDE_ROWS) pairs. */
template <int POINTS, bool WIDE_ROWS>
static __device__ inline void row_fetch(const double *row, const int *column, double *slot) {
  constexpr int AT_ONCE = WIDE_ROWS ? 2 : 1;
  const int lane = (int)threadIdx.x;
#pragma unroll
  for (int i = 0; i < POINTS / AT_ONCE; i++) {
    __pipeline_memcpy_async(slot + (lane + i * WARP) * AT_ONCE, row + column[i],
                            AT_ONCE * sizeof *row);
  }
}

/* Sends a row from a lane's registers out, through the slot it came in by; `to` is where column x0
 * of it goes. */
template <int K, int POINTS, bool WIDE_ROWS>
static __device__ inline void row_leave(double *to, int64_t room, double *slot, const double *now) {
  constexpr int AT_ONCE = WIDE_ROWS ? 2 : 1;
  const int lane = (int)threadIdx.x;
#pragma unroll
  for (int i = 0; i < POINTS; i++) slot[lane * POINTS + i] = now[i];
  __syncwarp();
#pragma unroll
  for (int i = 0; i < POINTS / AT_ONCE; i++) {
    const int x = (lane + i * WARP) * AT_ONCE;
    if (x < K || x >= WARP * POINTS - K || x >= room) continue;
    if (WIDE_ROWS) {
      *reinterpret_cast<double2 *>(to + x) = *reinterpret_cast<const double2 *>(slot + x);
    } else {
      to[x] = slot[x];
    }
  }
}

/* WIDE_ROWS: lines have an even number of points. */
template <int K, int POINTS, bool WIDE_ROWS, int LEAST_BLOCKS>
__global__ void __launch_bounds__(WARP, LEAST_BLOCKS)
    held_rows_march(const __grid_constant__ heat_march_args m) {
  constexpr int WIDTH = WARP * POINTS, KEPT = WIDTH - 2 * K;
  __shared__ __align__(16) double room[ROW_RING][WIDTH];
  const heat_slab &s = m.p.s;
  const int64_t n = s.g.n[0];
  const int lane = (int)threadIdx.x;
  const int64_t unit = blockIdx.x; /* a warp is a block: what is alike in a warp is seen to be */
  constexpr int steps = K;
  strip_place w;
  w.x0 = unit % m.strips[0] * KEPT - K;
  w.begin = m.p.from + unit / m.strips[0] * m.chunk;
  w.end = min(w.begin + m.chunk, m.p.to);
  const bool around = s.g.face[0] == HEAT_PERIODIC,
             around_y = s.g.face[2] == HEAT_PERIODIC && s.g.n[1] > 1;
  const bool inner = n > 1 && s.g.n[1] > 1 && (around || (w.x0 > 0 && w.x0 + WIDTH < n));
  w.held = 0;
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    const heat_ends e = heat_ends_at(s.g, 0, w.x0 + lane * POINTS + i);
    w.held |= (unsigned)heat_held_by(s.g, 0, e) << i;
  }
  int fetched[POINTS];
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    fetched[i] = WIDE_ROWS ? heat_wrap(w.x0 + 2 * (lane + i * WARP), n, around) & ~1
                           : heat_wrap(w.x0 + lane + i * WARP, n, around);
  }
  /* rows are counted from the first that comes in; those outside the slab do not; with [plain,
   * plain_end) as the newest one, steps make rows inside the domain only */
  const int64_t top = w.begin - steps;
  const int rows_in = (int)(w.end + steps - top);
  const int64_t low = around_y ? 0 : steps + 1 - s.first - top;
  const int64_t high = around_y ? rows_in : s.g.n[1] - s.first - top;
  int plain = (int)max(low, (int64_t)0), ahead = 0, slot = 0, i = 0;
  const int plain_end = inner ? (int)min(high, (int64_t)rows_in) : 0;
  plain = (plain + 1) / 2 * 2;
  const int there = (int)max((int64_t)0, -s.halo - top);
  const int there_end = (int)min((int64_t)rows_in, s.planes + s.halo - top);
  const double *from = m.p.u + (top + s.halo) * n;
  double *to = m.p.out + (top - steps + s.halo) * n + w.x0;
  strip_rows<K, POINTS> rows = {};
  double now[POINTS];
  auto fetch = [&](int into) {
    if (ahead >= there && ahead < there_end)
      row_fetch<POINTS, WIDE_ROWS>(from, fetched, room[into]);
    __pipeline_commit();
    ahead++;
    from += n;
  };
  auto march = [&](auto turn, auto faces, int at) {
    __pipeline_wait_prior(ROW_RING - 2);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < POINTS; k++) now[k] = room[slot][lane * POINTS + k];
    fetch((slot + ROW_RING - 1) % ROW_RING);
    all_steps<K, POINTS, decltype(faces)::value == ANYWHERE, decltype(turn)::value>(m, w, top + at,
                                                                                    rows, now);
    if (at >= 2 * steps && at < rows_in) {
      row_leave<K, POINTS, WIDE_ROWS>(to, n - w.x0, room[slot], now);
    }
    to += n;
    slot = (slot + 1) % ROW_RING;
  };
  auto two = [&](auto faces, int at) {
    march(constant<0>(), faces, at);
    march(constant<1>(), faces, at + 1);
  };
  for (int k = 0; k < ROW_RING - 1; k++) fetch(k);
#pragma unroll 1
  for (; i < rows_in && (i < plain || plain >= plain_end); i += 2) {
    two(constant<ANYWHERE>(), i);
  }
#pragma unroll 1
  for (; i + 2 <= plain_end; i += 2) two(constant<INSIDE>(), i);
#pragma unroll 1
  for (; i < rows_in; i += 2) two(constant<ANYWHERE>(), i);
}

template <bool WIDE_ROWS> cudaError_t march(cudaStream_t s, heat_march_args *a, int processors) {
  constexpr int KEPT = WARP * LANE - 2 * STEPS;
  const auto kernel = held_rows_march<STEPS, LANE, WIDE_ROWS, 8>;
  int fit = 0;
  cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, WARP, 0);
  if (error != cudaSuccess) return error;
  a->strips[0] = (int32_t)((a->p.s.g.n[0] + KEPT - 1) / KEPT);
  heat_cut(a, a->strips[0], (int64_t)fit * processors);
  kernel<<<(unsigned)a->units, WARP, 0, s>>>(*a);
  return cudaGetLastError();
}

} // namespace

extern "C" cudaError_t kernel_heat_rows_held(cudaStream_t s, heat_march_args *a, int processors) {
  return a->p.s.g.n[0] % 2 == 0 ? march<true>(s, a, processors) : march<false>(s, a, processors);
}
