/* Several steps or stages in 2-D, in one pass over memory. A warp marches along y over a strip of
 * 32 POINTS points, POINTS in a row a lane, and makes K steps on its way: as it takes row y in,
 * step 1 makes row y - 1, step 2 row y - 2 and so on, each from the three rows around it of the
 * step before. Of each step's input two rows stay in registers; the third one just came. Neighbours
 * in x are in the lane, or a shuffle away; a strip overlaps its neighbours by K points on each
 * side, and warps never wait for each other. Rows come ahead of time through shared memory
 * (asynchronous copies), and leave through it.
 *
 * Whatever else a point needs (face coefficients, a source, the base and the first stage of a
 * scheme: "lines") comes the same way, once a pass, and stays in shared memory while K steps go by;
 * a stage's own `before` is the row that the stage before it has just done with. Faces: rows and
 * columns outside are folded back inside (heat_fold), so only points on faces differ from others.
 *
 * 6 operations a point and step (of 32 POINTS points, 32 POINTS - 2 K are kept), 16 bytes a point
 * and pass. Variable alpha: 12 operations, 32 bytes. Stages with terms: 12 operations, 48 bytes.
 * Source: Nguyen et al., 3.5-D blocking optimization for stencil computations on modern CPUs and
 * GPUs (SC 2010), in registers. */
#ifndef HEAT_ROWS_CUH
#define HEAT_ROWS_CUH

#include <cuda_pipeline.h>

#include "heat_point.cuh"
#include "passes.h"

enum { ROW_RING = 4 };

/* Lines, in this order, as far as there are any. */
template <bool STAGED, bool VARIABLE, int SOURCE> struct row_lines {
  static constexpr int AX = 0, AY = 1, SOURCES = VARIABLE ? 2 : 0,
                       BASE = SOURCES + (SOURCE == SOURCE_FIELD), FIRST = BASE + 1,
                       BEFORE = BASE + 2, COUNT = BASE + (STAGED ? 3 : 0);
};

/* A row in shared memory: pair i of every lane, then pair i + 1 (with a gap, for the banks' sake).
 */
template <int POINTS> struct row_room {
  static constexpr int PART = 2 * WARP + 8, SPAN = POINTS / 2 * PART;
  double at[SPAN];
  static __device__ int place(int x) { return x % POINTS / 2 * PART + x / POINTS * 2 + x % 2; }
};

template <int K, int POINTS, int LINES> struct strip_room {
  static constexpr int DEPTH = K + ROW_RING;
  row_room<POINTS> ring[ROW_RING], line[LINES > 0 ? LINES : 1][LINES > 0 ? DEPTH : 1];
  int column[WARP * POINTS], face[WARP * POINTS]; /* folded */
};

/* Where a warp is: columns [x0, x0 + 32 POINTS), rows [begin, end) to be made. */
struct strip_place {
  int64_t x0, begin, end;
  bool wide;       /* rows consist of aligned pairs */
  int first, spot; /* what this lane copies: its first point, and where that is in a row_room */
  unsigned edge;   /* bit i: the lane's point i is held by an x-face; or (FACES_ANY) on one */
};

/* A lane's part of a strip: row[l][.] are the last two rows of the input of step l + 1. */
template <int K, int POINTS> struct strip_rows { double row[K][2][POINTS]; };

template <int POINTS>
static __device__ inline void row_read(const row_room<POINTS> &from, double *x) {
#pragma unroll
  for (int i = 0; i < POINTS; i += 2) {
    const double2 v = *reinterpret_cast<const double2 *>(
        &from.at[i / 2 * row_room<POINTS>::PART + 2 * (int)threadIdx.x]);
    x[i] = v.x;
    x[i + 1] = v.y;
  }
}

template <int POINTS>
static __device__ inline void row_write(row_room<POINTS> &to, const double *x) {
#pragma unroll
  for (int i = 0; i < POINTS; i += 2) {
    *reinterpret_cast<double2 *>(&to.at[i / 2 * row_room<POINTS>::PART + 2 * (int)threadIdx.x]) =
        make_double2(x[i], x[i + 1]);
  }
}

/* What stage l starts from at a row: base and terms. Without branches: what is not told is read
 * too, and not used. */
template <int POINTS, class LINES, class ROOM>
static __device__ inline void row_start(const heat_part &part, const ROOM &room, int slot,
                                        const double *u, const double *before, bool is_first,
                                        bool any, double *next) {
  double base[POINTS], first[POINTS], old[POINTS];
  row_read<POINTS>(room.line[LINES::BASE][slot], base);
  row_read<POINTS>(room.line[LINES::FIRST][slot], first);
  if (is_first) row_read<POINTS>(room.line[LINES::BEFORE][slot], old);
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    next[i] = heat_start(part, any, base[i], u[i], is_first ? old[i] : before[i], first[i]);
  }
}

/* Step l of a row of POINTS points: next from the rows lo, u, hi; lines are at `slot`. */
template <int POINTS, bool STAGED, bool VARIABLE, int SOURCE, bool EXACT, int FACES, int WHERE,
          class ROOM>
static __device__ inline void row_step(const heat_march_args &m, const strip_place &w,
                                       const ROOM &room, int l, int64_t r, int slot,
                                       const double *lo, const double *u, const double *hi,
                                       const double *before, double *next) {
  using lines = row_lines<STAGED, VARIABLE, SOURCE>;
  const heat_pass &p = m.p;
  const heat_grid &g = p.s.g;
  const double left = __shfl_up_sync(ALL_LANES, u[POINTS - 1], 1);
  const double right = __shfl_down_sync(ALL_LANES, u[0], 1);
  const double scale = STAGED ? m.part[l].scale : p.scale;
  const double c0 = STAGED ? m.part[l].c[0] : p.c[0], c1 = STAGED ? m.part[l].c[1] : p.c[1];
  double ax[POINTS], ay[POINTS], ay_before[POINTS], source[POINTS], ax_before = 0.0;
  if (VARIABLE) {
    row_read<POINTS>(room.line[lines::AX][slot], ax);
    row_read<POINTS>(room.line[lines::AY][slot], ay);
    row_read<POINTS>(room.line[lines::AY][slot > 0 ? slot - 1 : ROOM::DEPTH - 1], ay_before);
    ax_before = __shfl_up_sync(ALL_LANES, ax[POINTS - 1], 1);
  }
  if (SOURCE == SOURCE_FIELD) row_read<POINTS>(room.line[lines::SOURCES][slot], source);
  if (STAGED)
    row_start<POINTS, lines>(m.part[l], room, slot, u, before, l == 0, !EXACT || l == 0, next);
  unsigned edge = 0;
  int64_t row = r;
  heat_ends e[2] = {};
  if (WHERE == ANYWHERE) {
    row = heat_fold_plane(p.s, r);
    e[1] = heat_ends_at(g, 1, row + p.s.first);
  }
  if (WHERE != INSIDE) {
    const bool all = FACES == FACES_HELD ? heat_held_by(g, 1, e[1]) : e[1].low || e[1].high;
    edge = heat_fresh(all ? ~0u : w.edge);
  }
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    const double west = i > 0 ? u[i - 1] : left, east = i + 1 < POINTS ? u[i + 1] : right;
    double out = STAGED ? next[i] : u[i];
    if (FACES != FACES_ANY || WHERE == INSIDE || g.n[0] > 1) {
      out = VARIABLE
                ? heat_add_faces(out, scale, i > 0 ? ax[i - 1] : ax_before, ax[i], west, u[i], east)
                : heat_add(out, c0, west, u[i], east);
    }
    if (FACES != FACES_ANY || WHERE != ANYWHERE || g.n[1] > 1) {
      out = VARIABLE ? heat_add_faces(out, scale, ay_before[i], ay[i], lo[i], u[i], hi[i])
                     : heat_add(out, c1, lo[i], u[i], hi[i]);
    }
    out = heat_add_source<STAGED, SOURCE>(m, l, SOURCE == SOURCE_FIELD ? source[i] : 0.0, out);
    const bool is_edge = WHERE != INSIDE && (edge >> i & 1) != 0;
    if (FACES == FACES_HELD && is_edge) out = u[i];
    if (FACES == FACES_ANY && is_edge) {
      const int64_t x = room.column[(int)threadIdx.x * POINTS + i];
      e[0] = heat_ends_at(g, 0, x);
      out = heat_on_faces<2, STAGED>(m, l, e, x, row, 0, u[i], out);
    }
    next[i] = out;
  }
}

template <int W> static __device__ inline bool is_wide(const strip_place &w) {
  return W == WIDE || w.wide;
}

/* Starts the copy of a row: aligned pairs or single points (PLAIN), or single points of these
 * columns. */
template <int POINTS, int W, bool PLAIN>
static __device__ inline void row_fetch(const double *row, const strip_place &w, const int *column,
                                        row_room<POINTS> &to) {
  if (PLAIN && is_wide<W>(w)) {
    const double *from = row + w.x0 + w.first;
#pragma unroll
    for (int i = 0; i < POINTS / 2; i++) {
      __pipeline_memcpy_async(&to.at[w.spot + i * (4 * WARP / POINTS)], from + i * (2 * WARP),
                              2 * sizeof *row);
    }
    return;
  }
  if (is_wide<W>(w)) {
#pragma unroll
    for (int i = 0; i < POINTS / 2; i++) {
      const int2 c = *reinterpret_cast<const int2 *>(column + w.first + i * (2 * WARP));
      double *slot = &to.at[w.spot + i * (4 * WARP / POINTS)];
      if (c.y == c.x + 1) {
        __pipeline_memcpy_async(slot, row + c.x, 2 * sizeof *row);
      } else {
        __pipeline_memcpy_async(slot, row + c.x, sizeof *row);
        __pipeline_memcpy_async(slot + 1, row + c.y, sizeof *row);
      }
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    const int x = (int)threadIdx.x + i * WARP;
    const int64_t at = PLAIN ? w.x0 + x : column[x];
    __pipeline_memcpy_async(&to.at[to.place(x)], row + at, sizeof *row);
  }
}

/* The field's row that begins at offset `here`, and the lines' one before it, at `behind`, their
 * y-faces at `face`. A negative offset: not in the slab. */
template <int POINTS, int W, bool PLAIN, class LINES, bool VARIABLE, bool STAGED, class ROOM>
static __device__ inline void rows_fetch(const heat_march_args &m, const strip_place &w, ROOM &room,
                                         int64_t here, int64_t behind, int64_t face, int into,
                                         int slot) {
  auto get = [&](const double *field, int64_t row, const int *column, row_room<POINTS> &to) {
    if (field != nullptr) row_fetch<POINTS, W, PLAIN>(field + row, w, column, to);
  };
  if (here >= 0) get(m.p.u, here, room.column, room.ring[into]);
  if (LINES::COUNT == 0 || behind < 0) return;
  if (VARIABLE) {
    get(m.p.face[0], behind, room.face, room.line[LINES::AX][slot]);
    get(m.p.face[1], face, room.column, room.line[LINES::AY][slot]);
  }
  if (LINES::BASE > LINES::SOURCES) {
    get(m.p.source, behind, room.column, room.line[LINES::SOURCES][slot]);
  }
  if (STAGED) {
    get(m.base, behind, room.column, room.line[LINES::BASE][slot]);
    get(m.first, behind, room.column, room.line[LINES::FIRST][slot]);
    get(m.before, behind, room.column, room.line[LINES::BEFORE][slot]);
  }
}

/* Sends a row from a lane's registers out, through `slot`; `to` is where column x0 of it goes. */
template <int MARGIN, int POINTS, int W>
static __device__ inline void row_leave(double *to, const strip_place &w, int64_t n,
                                        row_room<POINTS> &slot, const double *now) {
  const int room = (int)min(n - w.x0, (int64_t)(WARP * POINTS - MARGIN));
  __syncwarp();
  row_write<POINTS>(slot, now);
  __syncwarp();
  if (is_wide<W>(w)) {
#pragma unroll
    for (int i = 0; i < POINTS / 2; i++) {
      const int x = w.first + i * (2 * WARP);
      if (x < MARGIN || x >= room) continue;
      *reinterpret_cast<double2 *>(to + x) =
          *reinterpret_cast<const double2 *>(&slot.at[w.spot + i * (4 * WARP / POINTS)]);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    const int x = (int)threadIdx.x + i * WARP;
    if (x < MARGIN || x >= room) continue;
    to[x] = slot.at[slot.place(x)];
  }
}

/* Keeps what stage l made of row r, where that is wanted. */
template <int MARGIN, int POINTS, int W, class ROOM>
static __device__ inline void row_keep(const heat_march_args &m, const strip_place &w, ROOM &room,
                                       int what, int64_t r, int slot, const double *next) {
  const heat_slab &s = m.p.s;
  if (m.keep[what] == nullptr) return;
  const int64_t from = w.begin == m.p.from ? m.keep_from[what] : w.begin;
  const int64_t to = w.end == m.p.to ? m.keep_to[what] : w.end;
  if (r < from || r >= to) return;
  row_leave<MARGIN, POINTS, W>(m.keep[what] + (r + s.halo) * s.g.n[0] + w.x0, w, s.g.n[0],
                               room.ring[slot], next);
}

/* All steps as row y comes in as `now` by way of `slot`; leaves row y - steps in it. Lines of row y
 * - 1 are at `line`. */
template <int K, int POINTS, int MARGIN, bool STAGED, bool VARIABLE, int SOURCE, bool EXACT, int W,
          int FACES, int WHERE, int TURN, class ROOM>
static __device__ inline void all_steps(const heat_march_args &m, const strip_place &w, ROOM &room,
                                        int64_t y, int slot, int line, strip_rows<K, POINTS> &rows,
                                        double *now) {
  using lines = row_lines<STAGED, VARIABLE, SOURCE>;
  double old[POINTS] = {};
#pragma unroll
  for (int l = 0; l < K; l++) {
    if (!EXACT && l >= m.steps) break;
    double *lo = rows.row[l][TURN], *u = rows.row[l][1 - TURN], next[POINTS];
    const int at = line >= l ? line - l : line - l + ROOM::DEPTH;
    row_step<POINTS, STAGED, VARIABLE, SOURCE, EXACT, FACES, WHERE>(m, w, room, l, y - 1 - l, at,
                                                                    lo, u, now, old, next);
    if (STAGED && l == 0 && m.makes_first) row_write<POINTS>(room.line[lines::FIRST][at], next);
    if (STAGED && l == 0) {
      row_keep<MARGIN, POINTS, W>(m, w, room, KEPT_FIRST, y - 1, slot, next);
    }
    if (STAGED && l + 2 == (EXACT ? K : m.steps)) {
      row_keep<MARGIN, POINTS, W>(m, w, room, KEPT_BEFORE, y - 1 - l, slot, next);
    }
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
      if (STAGED) old[i] = lo[i];
      lo[i] = now[i];
      now[i] = next[i];
    }
  }
}

/* EXACT: K steps (stages: heat_is_regular), else m.steps, at most K. FACES: what is to be expected
 * of faces. */
template <int K, int POINTS, bool STAGED, bool VARIABLE, int SOURCE, bool EXACT, int W, int FACES,
          int LEAST_BLOCKS>
__global__ void __launch_bounds__(WARP, LEAST_BLOCKS)
    rows_march(const __grid_constant__ heat_march_args m) {
  constexpr int MARGIN = (K + 1) / 2 * 2, WIDTH = WARP * POINTS, KEPT = WIDTH - 2 * MARGIN;
  using lines = row_lines<STAGED, VARIABLE, SOURCE>;
  using strip = strip_room<K, POINTS, lines::COUNT>;
  extern __shared__ __align__(16) unsigned char bytes[];
  strip &room = *reinterpret_cast<strip *>(bytes);
  const heat_slab &s = m.p.s;
  const int64_t n = s.g.n[0];
  const int lane = (int)threadIdx.x;
  /* a warp is a block: what is alike in a warp is seen to be */
  const heat_unit unit = heat_unit_of(blockIdx.x, m.strips[0], 1, m.units / m.strips[0]);
  const int steps = EXACT ? K : m.steps;
  strip_place w;
  w.x0 = unit.x * KEPT - MARGIN;
  w.begin = m.p.from + unit.chunk * m.chunk;
  w.end = min(w.begin + m.chunk, m.p.to);
  w.wide = n % 2 == 0;
  w.first = is_wide<W>(w) ? 2 * lane : lane;
  w.spot = row_room<POINTS>::place(w.first);
  const bool around_y = s.g.face[2] == HEAT_PERIODIC && s.g.n[1] > 1;
  const bool inner = s.g.n[1] > 1 && w.x0 > 0 && w.x0 + WIDTH < n;
  w.edge = 0;
#pragma unroll
  for (int i = 0; i < POINTS; i++) {
    const int64_t column = heat_fold(s.g, 0, w.x0 + lane * POINTS + i);
    const heat_ends e = heat_ends_at(s.g, 0, column);
    w.edge |= (unsigned)(FACES == FACES_ANY ? e.low || e.high : heat_held_by(s.g, 0, e)) << i;
    room.column[lane * POINTS + i] = (int)column;
    room.face[lane * POINTS + i] = (int)heat_fold_face(s.g, 0, w.x0 + lane * POINTS + i);
  }
  __syncwarp();
  /* rows are counted from the first that comes in; with [plain, plain_end) as the newest one, steps
   * make rows inside the domain only, and what is fetched needs no folding */
  const int64_t top = w.begin - steps;
  const int rows_in = (int)(w.end + steps - top);
  const int64_t low = around_y ? 1 : max(steps + 1 - s.first - top, (int64_t)1);
  const int64_t high = around_y ? rows_in : s.g.n[1] - s.first - top;
  const int64_t there = min((int64_t)rows_in, s.planes + s.halo - top);
  const int plain = (int)low, plain_end = (int)(high < there ? high - (ROW_RING - 1) : there);
  int ahead = 0, slot = 0, line = 0, line_ahead = 0, i = 0;
  int64_t next = (top + s.halo) * n; /* of the row to be fetched */
  double *to = m.p.out + (top - steps + s.halo) * n + w.x0;
  strip_rows<K, POINTS> rows = {};
  double now[POINTS];
  auto offset = [&](int64_t r) { return heat_is_there(s, r) ? (r + s.halo) * n : (int64_t)-1; };
  auto fetch = [&](auto where, int into) {
    constexpr int WHERE = decltype(where)::value;
    if (WHERE != ANYWHERE && ahead < rows_in) {
      rows_fetch<POINTS, W, WHERE == INSIDE, lines, VARIABLE, STAGED>(m, w, room, next, next - n,
                                                                      next - n, into, line_ahead);
    }
    if (WHERE == ANYWHERE && ahead < rows_in) {
      const int64_t r = top + ahead;
      rows_fetch<POINTS, W, false, lines, VARIABLE, STAGED>(
          m, w, room, offset(heat_fold_plane(s, r)), offset(heat_fold_plane(s, r - 1)),
          VARIABLE ? offset(heat_fold_plane_face(s, r - 1)) : 0, into, line_ahead);
    }
    __pipeline_commit();
    ahead++;
    next += n;
    if (lines::COUNT > 0) line_ahead = line_ahead + 1 < strip::DEPTH ? line_ahead + 1 : 0;
  };
  auto march = [&](auto turn, auto where, int newest) {
    constexpr int TURN = decltype(turn)::value, WHERE = decltype(where)::value;
    __pipeline_wait_prior(ROW_RING - 2);
    __syncwarp();
    row_read<POINTS>(room.ring[slot], now);
    fetch(where, (slot + ROW_RING - 1) % ROW_RING);
    all_steps<K, POINTS, MARGIN, STAGED, VARIABLE, SOURCE, EXACT, W, FACES, WHERE, TURN>(
        m, w, room, top + newest, slot, line, rows, now);
    if (newest >= 2 * steps && newest < rows_in) {
      row_leave<MARGIN, POINTS, W>(to, w, n, room.ring[slot], now);
    }
    to += n;
    slot = (slot + 1) % ROW_RING;
    if (lines::COUNT > 0) line = line + 1 < strip::DEPTH ? line + 1 : 0;
  };
  auto two = [&](auto where, int newest) {
    march(constant<0>(), where, newest);
    march(constant<1>(), where, newest + 1);
  };
  for (int k = 0; k < ROW_RING - 1; k++) fetch(constant<ANYWHERE>(), k);
#pragma unroll 1
  while (i < rows_in) {
#pragma unroll 1
    for (; i < rows_in && (i < plain || i + 2 > plain_end); i += 2) two(constant<ANYWHERE>(), i);
    if (inner) {
#pragma unroll 1
      for (; i + 2 <= plain_end; i += 2) two(constant<INSIDE>(), i);
    } else {
#pragma unroll 1
      for (; i + 2 <= plain_end; i += 2) two(constant<BESIDE>(), i);
    }
  }
}

#endif
