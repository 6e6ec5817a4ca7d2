/* Several Euler steps in 2-D, in one pass over memory. A warp marches along y over a strip of
 * 32 POINTS points, POINTS in a row a lane, and makes K steps on its way: as it takes row y in,
 * step 1 makes row y - 1, step 2 row y - 2 and so on, each from the three rows around it of the
 * step before. Of each step's input two rows stay in registers; the third one just came. Neighbours
 * in x are in the lane, or a shuffle away; a strip overlaps its neighbours by K points on each
 * side, and warps never wait for each other. Rows come ahead of time through shared memory
 * (asynchronous copies), one point after the other whatever the strip's alignment, and leave
 * through it.
 *
 * 6 operations a point and step (of 32 POINTS points, 32 POINTS - 2 K are kept), 16 bytes a point
 * and pass. Variable alpha: 12 operations, 32 bytes. Source: Nguyen et al., 3.5-D blocking
 * optimization for stencil computations on modern CPUs and GPUs (SC 2010), in registers. */
#ifndef HEAT_ROWS_CUH
#define HEAT_ROWS_CUH

#include <cuda_pipeline.h>

#include "heat_point.cuh"
#include "passes.h"

enum { ROW_RING = 4 };

/* Where a warp is: columns [x0, x0 + 32 POINTS), rows [begin, end) to be made. */
struct strip_place {
  int64_t x0, begin, end;
  unsigned held; /* bit i: the lane's point i is held by an x-face (FACES_HELD) */
};

/* A lane's part of a strip: row[l][.] are the last two rows of the input of step l + 1. */
template <int K, int POINTS> struct strip_rows { double row[K][2][POINTS]; };

/* Coefficients of a row for a lane: its own points' and the one before. */
template <int POINTS>
static __device__ inline void row_coefficients(const double *from, int64_t row, int64_t n,
                                               const int *column, double *a, double *before) {
  const double *at = from + row * n;
#pragma unroll
  for (int i = 0; i < POINTS; i++) a[i] = __ldg(at + column[i + 1]);
  if (before != nullptr) *before = __ldg(at + column[0]);
}

/* One step of a row of POINTS points: next from the rows lo, u, hi. */
template <int POINTS, bool VARIABLE, int SOURCE, int FACES>
static __device__ inline void row_step(const heat_pass &p, const strip_place &w, int64_t r,
                                       const int *column, const double *lo, const double *u,
                                       const double *hi, double *next) {
  const heat_slab &s = p.s;
  const int64_t n = s.g.n[0], row = r + s.halo;
  const int lane = (int)threadIdx.x;
  const double left = __shfl_up_sync(ALL_LANES, u[POINTS - 1], 1);
  const double right = __shfl_down_sync(ALL_LANES, u[0], 1);
  double ax[VARIABLE ? POINTS : 1], ay[VARIABLE ? POINTS : 1], ay_before[VARIABLE ? POINTS : 1];
  double ax_before = 0.0;
  heat_ends ex = {false, false}, ey = {false, false};
  if (VARIABLE) {
    row_coefficients<POINTS>(p.face[0], row, n, column, ax, &ax_before);
    row_coefficients<POINTS>(p.face[1], row, n, column, ay, nullptr);
    row_coefficients<POINTS>(p.face[1], row - 1, n, column, ay_before, nullptr);
  }
  unsigned held = 0;
  if (FACES == FACES_HELD) {
    const bool all = heat_held_by(s.g, 1, heat_ends_at(s.g, 1, r + s.first));
    held = heat_fresh(all ? ~0u : w.held);
  }
  if (FACES == FACES_ANY) ey = heat_ends_at(s.g, 1, r + s.first);
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    const int64_t x = w.x0 + lane * POINTS + i;
    const double before = i > 0 ? u[i - 1] : left, behind = i + 1 < POINTS ? u[i + 1] : right;
    double out = u[i];
    if (FACES == FACES_ANY) ex = heat_ends_at(s.g, 0, x);
    if (FACES != FACES_ANY || n > 1) {
      out = VARIABLE ? heat_direction_faces(out, p.scale, ex, i > 0 ? ax[i - 1] : ax_before, ax[i],
                                            before, u[i], behind)
                     : heat_direction(out, p.c[0], ex, before, u[i], behind);
    }
    if (FACES != FACES_ANY || s.g.n[1] > 1) {
      out = VARIABLE
                ? heat_direction_faces(out, p.scale, ey, ay_before[i], ay[i], lo[i], u[i], hi[i])
                : heat_direction(out, p.c[1], ey, lo[i], u[i], hi[i]);
    }
    if (SOURCE == SOURCE_NUMBER) out = fma(p.scale, p.source_value, out);
    if (SOURCE == SOURCE_FIELD) out = fma(p.scale, __ldg(p.source + row * n + column[i + 1]), out);
    if (FACES == FACES_HELD && (held >> i & 1) != 0) out = u[i];
    if (FACES == FACES_ANY && (ex.low || ex.high || ey.low || ey.high)) {
      const bool held = heat_held_by(s.g, 0, ex) || heat_held_by(s.g, 1, ey);
      out =
          held ? u[i]
               : heat_add_fluxes(p, heat_wrap(x, n, s.g.face[0] == HEAT_PERIODIC), r, 0, u[i], out);
    }
    next[i] = out;
  }
}

static __device__ inline bool is_made(const heat_slab &s, int64_t r, int64_t least) {
  const bool inside = r + s.first >= 0 && r + s.first < s.g.n[1];
  return r >= least && (inside || (s.g.face[2] == HEAT_PERIODIC && s.g.n[1] > 1));
}

/* All steps as row y comes in as `now`; leaves row y - steps in it. */
template <int K, int POINTS, bool VARIABLE, int SOURCE, bool EXACT, int FACES, int TURN>
static __device__ inline void all_steps(const heat_march_args &m, const strip_place &w, int64_t y,
                                        const int *column, strip_rows<K, POINTS> &rows,
                                        double *now) {
  constexpr bool GUARDED = FACES != FACES_NONE && (VARIABLE || SOURCE == SOURCE_FIELD);
#pragma unroll
  for (int l = 0; l < K; l++) {
    if (!EXACT && l >= m.steps) break;
    double *lo = rows.row[l][TURN], *u = rows.row[l][1 - TURN], next[POINTS] = {};
    /* where a row needs fields, it is made only if it is in the domain and hangs on what came in */
    if (!GUARDED || is_made(m.p.s, y - 1 - l, w.begin - m.steps + l + 1)) {
      row_step<POINTS, VARIABLE, SOURCE, FACES>(m.p, w, y - 1 - l, column, lo, u, now, next);
    }
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
      lo[i] = now[i];
      now[i] = next[i];
    }
  }
}

/* Starts the copy of a row into a slot of the ring, single points or (WIDE) pairs. */
template <int POINTS, bool WIDE>
static __device__ inline void row_fetch(const double *row, const int *column, double *slot) {
  constexpr int AT_ONCE = WIDE ? 2 : 1;
  const int lane = (int)threadIdx.x;
#pragma unroll
  for (int i = 0; i < POINTS / AT_ONCE; i++) {
    __pipeline_memcpy_async(slot + (lane + i * WARP) * AT_ONCE, row + column[i],
                            AT_ONCE * sizeof *row);
  }
}

/* Sends a row from a lane's registers out, through the slot it came in by; `to` is where column x0
 * of it goes. */
template <int K, int POINTS, bool WIDE>
static __device__ inline void row_leave(double *to, int64_t room, double *slot, const double *now) {
  constexpr int AT_ONCE = WIDE ? 2 : 1;
  const int lane = (int)threadIdx.x;
#pragma unroll
  for (int i = 0; i < POINTS; i++) slot[lane * POINTS + i] = now[i];
  __syncwarp();
#pragma unroll
  for (int i = 0; i < POINTS / AT_ONCE; i++) {
    const int x = (lane + i * WARP) * AT_ONCE;
    if (x < K || x >= WARP * POINTS - K || x >= room) continue;
    if (WIDE) {
      *reinterpret_cast<double2 *>(to + x) = *reinterpret_cast<const double2 *>(slot + x);
    } else {
      to[x] = slot[x];
    }
  }
}

/* EXACT: K steps, else m.steps, at most K. WIDE: lines have an even number of points, and K is
 * even. FACES: what is to be expected of faces. */
template <int K, int POINTS, bool VARIABLE, int SOURCE, bool EXACT, bool WIDE, int FACES,
          int LEAST_BLOCKS>
__global__ void __launch_bounds__(WARP, LEAST_BLOCKS)
    rows_march(const __grid_constant__ heat_march_args m) {
  constexpr int WIDTH = WARP * POINTS, KEPT = WIDTH - 2 * K;
  constexpr bool FIELDS = VARIABLE || SOURCE == SOURCE_FIELD;
  __shared__ __align__(16) double room[ROW_RING][WIDTH];
  const heat_slab &s = m.p.s;
  const int64_t n = s.g.n[0];
  const int lane = (int)threadIdx.x;
  const int64_t unit = blockIdx.x; /* a warp is a block: what is alike in a warp is seen to be */
  const int steps = EXACT ? K : m.steps;
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
  int fetched[POINTS], column[FIELDS ? POINTS + 1 : 1];
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    fetched[i] = WIDE ? heat_wrap(w.x0 + 2 * (lane + i * WARP), n, around) & ~1
                      : heat_wrap(w.x0 + lane + i * WARP, n, around);
  }
  if (FIELDS) {
#pragma unroll
    for (int i = 0; i <= POINTS; i++) {
      column[i] = heat_wrap(w.x0 + lane * POINTS + i - 1, n, around);
    }
  }
  /* rows are counted from the first that comes in; those outside the slab do not; with [plain,
   * plain_end) as the newest one, steps make rows inside the domain only */
  const int64_t top = w.begin - steps;
  const int rows_in = (int)(w.end + steps - top);
  const int64_t low = around_y ? 0 : steps + 1 - s.first - top;
  const int64_t high = around_y ? rows_in : s.g.n[1] - s.first - top;
  int plain = (int)max(low, FIELDS ? 2 * (int64_t)steps : 0), ahead = 0, slot = 0, i = 0;
  const int plain_end = inner ? (int)min(high, (int64_t)rows_in) : 0;
  plain = (plain + 1) / 2 * 2;
  const int there = (int)max((int64_t)0, -s.halo - top);
  const int there_end = (int)min((int64_t)rows_in, s.planes + s.halo - top);
  const double *from = m.p.u + (top + s.halo) * n;
  double *to = m.p.out + (top - steps + s.halo) * n + w.x0;
  strip_rows<K, POINTS> rows = {};
  double now[POINTS];
  auto fetch = [&](int into) {
    if (ahead >= there && ahead < there_end) row_fetch<POINTS, WIDE>(from, fetched, room[into]);
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
    all_steps<K, POINTS, VARIABLE, SOURCE, EXACT, decltype(faces)::value, decltype(turn)::value>(
        m, w, top + at, column, rows, now);
    if (at >= 2 * steps && at < rows_in) {
      row_leave<K, POINTS, WIDE>(to, n - w.x0, room[slot], now);
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
    two(constant<FACES>(), i);
  }
#pragma unroll 1
  for (; i + 2 <= plain_end; i += 2) two(constant<FACES_NONE>(), i);
#pragma unroll 1
  for (; i < rows_in; i += 2) two(constant<FACES>(), i);
}

#endif
