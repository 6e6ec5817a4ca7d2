/* Several steps or stages in 3-D, in one pass over memory. A thread block marches along z over a
 * tile of x and y and makes K steps on its way: as it takes plane z in, step 1 makes plane z - 1,
 * step 2 plane z - 2 and so on, each from the three planes around it of the step before. A lane has
 * two points in x and ROWS rows of them; of each step's input two planes of these stay in
 * registers, the third one just came. Neighbours in x are in the lane or a shuffle away; in y in
 * the lane, or in shared memory, where each warp leaves its first and last row of the plane that
 * will be the middle one next time, so that one barrier a plane is enough. Tiles overlap by K
 * points on each side. Planes come ahead of time through shared memory (asynchronous copies, each
 * lane its own points).
 *
 * Whatever else a point needs (face coefficients, a source, the base and the first stage of a
 * scheme: "lines") comes the same way, once a pass, and stays in shared memory while K steps go by:
 * a thread block has as many warps as there is room for. Faces: as in 2-D, heat_rows.cuh.
 *
 * 9 operations a point and step (of 64 x ROWS WARPS points, (64 - 2 K) x (ROWS WARPS - 2 K) are
 * kept), 16 bytes a point and pass, those read more often by as much. Variable alpha: 18
 * operations, 40 bytes. Stages with terms: 15 operations, 48 bytes. Source: as for 2-D. */
#ifndef HEAT_PLANES_CUH
#define HEAT_PLANES_CUH

#include <cuda_pipeline.h>

#include "heat_point.cuh"
#include "passes.h"

enum {
  PLANE_POINTS = 2,
  PLANE_WIDTH = PLANE_POINTS * WARP,
  PLANE_RING = 2,
  PLANE_MOST = 64 /* rows of a tile */
};

/* Lines, in this order, as far as there are any. */
template <bool STAGED, bool VARIABLE, int SOURCE> struct plane_lines {
  static constexpr int AX = 0, AY = 1, AZ = 2, SOURCES = VARIABLE ? 3 : 0,
                       BASE = SOURCES + (SOURCE == SOURCE_FIELD), FIRST = BASE + 1,
                       BEFORE = BASE + 2, COUNT = BASE + (STAGED ? 3 : 0);
};

/* Columns and rows of a tile, folded; and those of face coefficients. */
struct tile_map {
  int column[PLANE_WIDTH], face_column[PLANE_WIDTH];
  int row[PLANE_MOST], face_row[PLANE_MOST];
};

/* A warp's part of shared memory. Lines: planes z - 1 .. z - K, the one on its way, and with
 * variable alpha one before them. shown: what other warps look at, its first and last row. */
template <int K, int ROWS, class LINES> struct warp_room {
  static constexpr int DEPTH = K + 1 + (LINES::SOURCES > 0);
  double ring[PLANE_RING][ROWS][PLANE_WIDTH];
  double line[LINES::COUNT > 0 ? LINES::COUNT : 1][LINES::COUNT > 0 ? DEPTH : 1]
             [LINES::COUNT > 0 ? ROWS : 1][PLANE_WIDTH];
  double shown[2][K][2][PLANE_WIDTH];
};

/* Where a thread block is: (x0, y0) is the tile's first point, planes [begin, end) are to be made.
 */
struct tile_place {
  int64_t x0, y0, begin, end;
  int64_t x;     /* of the lane's first point */
  bool wide;     /* rows consist of aligned pairs */
  unsigned edge; /* a bit a point of the lane: held by an x- or y-face; or (FACES_ANY) on one */
  unsigned kept; /* a bit a row of the lane: it is written */
  int64_t mine;  /* of the lane's first point, from the beginning of a plane */
};

template <int K, int ROWS> struct tile_planes { double plane[K][2][ROWS][PLANE_POINTS]; };

/* The rows before a lane's first and behind its last one. */
struct next_rows {
  double before[PLANE_POINTS], behind[PLANE_POINTS];
};

static __device__ inline void pair_read(const double *from, double *to) {
  const double2 v = *reinterpret_cast<const double2 *>(from + PLANE_POINTS * (threadIdx.x % WARP));
  to[0] = v.x;
  to[1] = v.y;
}

static __device__ inline void pair_write_here(double *to, const double *from) {
  *reinterpret_cast<double2 *>(to) = make_double2(from[0], from[1]);
}

static __device__ inline void pair_write(double *to, const double *from) {
  pair_write_here(to + PLANE_POINTS * (threadIdx.x % WARP), from);
}

template <int TURN, class ROOM>
static __device__ inline next_rows rows_beside(const ROOM *rooms, int l) {
  const int warp = (int)threadIdx.x / WARP, warps = (int)blockDim.x / WARP;
  next_rows r;
  pair_read(rooms[warp > 0 ? warp - 1 : 0].shown[TURN][l][1], r.before);
  pair_read(rooms[warp + 1 < warps ? warp + 1 : warp].shown[TURN][l][0], r.behind);
  return r;
}

/* What stage l starts from at a lane's row q: base and terms. Without branches: what is not told is
 * read too, and not used. */
template <class LINES, class ROOM>
static __device__ inline void pair_start(const heat_part &part, const ROOM &room, int slot, int q,
                                         const double *u, const double *before, bool is_first,
                                         bool any, double *out) {
  double base[PLANE_POINTS], first[PLANE_POINTS], old[PLANE_POINTS] = {before[0], before[1]};
  pair_read(room.line[LINES::BASE][slot][q], base);
  pair_read(room.line[LINES::FIRST][slot][q], first);
  if (is_first) pair_read(room.line[LINES::BEFORE][slot][q], old);
#pragma unroll
  for (int i = 0; i < PLANE_POINTS; i++) {
    out[i] = heat_start(part, any, base[i], u[i], old[i], first[i]);
  }
}

/* Step l of a lane's points of plane z: from the planes lo, u and the one that just came, `now`,
 * which takes lo's place and is replaced by the result. `old` is lo of the step before, and then
 * this one's. Lines are at `slot`. */
template <int ROWS, bool STAGED, bool VARIABLE, int SOURCE, bool EXACT, int FACES, int WHERE,
          class ROOM>
static __device__ inline void
plane_step(const heat_march_args &m, const tile_place &w, const tile_map &map, ROOM *rooms, int l,
           int64_t z, int slot, const next_rows &beside, double (*lo)[PLANE_POINTS],
           const double (*u)[PLANE_POINTS], double (*now)[PLANE_POINTS],
           double (*old)[PLANE_POINTS]) {
  using lines = plane_lines<STAGED, VARIABLE, SOURCE>;
  const heat_pass &p = m.p;
  const heat_grid &g = p.s.g;
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  const ROOM &room = rooms[warp], &above = rooms[warp > 0 ? warp - 1 : 0];
  const double scale = STAGED ? m.part[l].scale : p.scale;
  const double c0 = STAGED ? m.part[l].c[0] : p.c[0], c1 = STAGED ? m.part[l].c[1] : p.c[1];
  const double c2 = STAGED ? m.part[l].c[2] : p.c[2];
  const int slot_before = slot > 0 ? slot - 1 : ROOM::DEPTH - 1;
  double north[PLANE_POINTS] = {0.0, 0.0}; /* of a_y */
  if (VARIABLE) pair_read(above.line[lines::AY][slot][ROWS - 1], north);
  unsigned edge = 0;
  int64_t plane = z;
  heat_ends e[3] = {};
  if (WHERE == ANYWHERE) {
    plane = heat_fold_plane(p.s, z);
    e[2] = heat_ends_at(g, 2, plane + p.s.first);
  }
  if (WHERE != INSIDE) {
    const bool all = FACES == FACES_HELD ? heat_held_by(g, 2, e[2]) : e[2].low || e[2].high;
    edge = heat_fresh(all ? ~0u : w.edge);
  }
#pragma unroll
  for (int q = 0; q < ROWS; q++) {
    const double left = __shfl_up_sync(ALL_LANES, u[q][1], 1);
    const double right = __shfl_down_sync(ALL_LANES, u[q][0], 1);
    double ax[PLANE_POINTS], ay[PLANE_POINTS], az[PLANE_POINTS], az_before[PLANE_POINTS];
    double next[PLANE_POINTS], source[PLANE_POINTS], ax_before = 0.0;
    if (VARIABLE) {
      pair_read(room.line[lines::AX][slot][q], ax);
      pair_read(room.line[lines::AY][slot][q], ay);
      pair_read(room.line[lines::AZ][slot][q], az);
      pair_read(room.line[lines::AZ][slot_before][q], az_before);
      ax_before = __shfl_up_sync(ALL_LANES, ax[1], 1);
    }
    if (SOURCE == SOURCE_FIELD) pair_read(room.line[lines::SOURCES][slot][q], source);
    if (STAGED)
      pair_start<lines>(m.part[l], room, slot, q, u[q], old[q], l == 0, !EXACT || l == 0, next);
#pragma unroll
    for (int i = 0; i < PLANE_POINTS; i++) {
      const double west = i == 0 ? left : u[q][0], east = i == 0 ? u[q][1] : right;
      const double south = q == 0 ? beside.before[i] : u[q - 1][i];
      const double past = q + 1 == ROWS ? beside.behind[i] : u[q + 1][i];
      double out = STAGED ? next[i] : u[q][i];
      if (FACES != FACES_ANY || WHERE == INSIDE || g.n[0] > 1) {
        out = VARIABLE ? heat_add_faces(out, scale, i == 0 ? ax_before : ax[0], ax[i], west,
                                        u[q][i], east)
                       : heat_add(out, c0, west, u[q][i], east);
      }
      if (FACES != FACES_ANY || WHERE == INSIDE || g.n[1] > 1) {
        out = VARIABLE ? heat_add_faces(out, scale, north[i], ay[i], south, u[q][i], past)
                       : heat_add(out, c1, south, u[q][i], past);
      }
      if (FACES != FACES_ANY || WHERE != ANYWHERE || g.n[2] > 1) {
        out = VARIABLE
                  ? heat_add_faces(out, scale, az_before[i], az[i], lo[q][i], u[q][i], now[q][i])
                  : heat_add(out, c2, lo[q][i], u[q][i], now[q][i]);
      }
      out = heat_add_source<STAGED, SOURCE>(m, l, SOURCE == SOURCE_FIELD ? source[i] : 0.0, out);
      const bool is_edge = WHERE != INSIDE && (edge >> (q * PLANE_POINTS + i) & 1) != 0;
      if (FACES == FACES_HELD && is_edge) out = u[q][i];
      if (FACES == FACES_ANY && is_edge) {
        const int64_t x = map.column[lane * PLANE_POINTS + i], y = map.row[warp * ROWS + q];
        e[0] = heat_ends_at(g, 0, x);
        e[1] = heat_ends_at(g, 1, y);
        out = heat_on_faces<3, STAGED>(m, l, e, x, y, plane, u[q][i], out);
      }
      next[i] = out;
    }
#pragma unroll
    for (int i = 0; i < PLANE_POINTS; i++) {
      if (VARIABLE) north[i] = ay[i];
      if (STAGED) old[q][i] = lo[q][i];
      lo[q][i] = now[q][i];
      now[q][i] = next[i];
    }
  }
}

template <int W> static __device__ inline bool is_wide(const tile_place &w) {
  return W == WIDE || w.wide;
}

/* Sends a lane's rows out; `to` is where its first point goes. */
template <int ROWS, int W>
static __device__ inline void plane_leave(const heat_grid &g, const tile_place &w, double *to,
                                          const double (*now)[PLANE_POINTS]) {
#pragma unroll
  for (int q = 0; q < ROWS; q++, to += g.n[0]) {
    if ((w.kept >> q & 1) == 0) continue;
    if (is_wide<W>(w)) {
      pair_write_here(to, now[q]);
    } else {
      to[0] = now[q][0];
      if (w.x + 1 < g.n[0]) to[1] = now[q][1];
    }
  }
}

/* Keeps what a stage made of plane z, where that is wanted. */
template <int ROWS, int W>
static __device__ inline void plane_keep(const heat_march_args &m, const tile_place &w, int what,
                                         int64_t z, const double (*made)[PLANE_POINTS]) {
  const heat_slab &s = m.p.s;
  if (m.keep[what] == nullptr) return;
  const int64_t from = w.begin == m.p.from ? m.keep_from[what] : w.begin;
  const int64_t to = w.end == m.p.to ? m.keep_to[what] : w.end;
  if (z < from || z >= to) return;
  plane_leave<ROWS, W>(s.g, w, m.keep[what] + (z + s.halo) * s.plane + w.mine, made);
}

/* All steps as plane z comes in as `now`; leaves plane z - steps in it. Lines of plane z - 1 are at
 * `line`. */
template <int K, int ROWS, bool STAGED, bool VARIABLE, int SOURCE, bool EXACT, int W, int FACES,
          int WHERE, int TURN, class ROOM>
static __device__ inline void
tile_steps(const heat_march_args &m, const tile_place &w, const tile_map &map, ROOM *rooms,
           int64_t z, int line, tile_planes<K, ROWS> &planes, double (*now)[PLANE_POINTS]) {
  using lines = plane_lines<STAGED, VARIABLE, SOURCE>;
  ROOM &room = rooms[threadIdx.x / WARP];
  double old[ROWS][PLANE_POINTS] = {};
  next_rows beside = rows_beside<TURN>(rooms, 0);
#pragma unroll
  for (int l = 0; l < K; l++) {
    if (!EXACT && l >= m.steps) break;
    const int at = line >= l ? line - l : line - l + ROOM::DEPTH;
    const next_rows mine = beside;
    if (l + 1 < K) beside = rows_beside<TURN>(rooms, l + 1); /* in time */
    pair_write(room.shown[1 - TURN][l][0], now[0]);
    pair_write(room.shown[1 - TURN][l][1], now[ROWS - 1]);
    plane_step<ROWS, STAGED, VARIABLE, SOURCE, EXACT, FACES, WHERE>(
        m, w, map, rooms, l, z - 1 - l, at, mine, planes.plane[l][TURN], planes.plane[l][1 - TURN],
        now, old);
    if (STAGED && l == 0 && m.makes_first) {
#pragma unroll
      for (int q = 0; q < ROWS; q++) pair_write(room.line[lines::FIRST][at][q], now[q]);
    }
    if (STAGED && l == 0) plane_keep<ROWS, W>(m, w, KEPT_FIRST, z - 1, now);
    if (STAGED && l + 2 == (EXACT ? K : m.steps))
      plane_keep<ROWS, W>(m, w, KEPT_BEFORE, z - 1 - l, now);
  }
}

/* Starts the copy of a lane's rows of a plane: of the tile as it lies (PLAIN), or of these columns
 * and rows. */
template <int ROWS, int W, bool PLAIN>
static __device__ inline void plane_fetch(const double *plane, const tile_place &w, int64_t n,
                                          const int *column, const int *row,
                                          double (*to)[PLANE_WIDTH]) {
  const int warp = (int)threadIdx.x / WARP, x = (int)threadIdx.x % WARP * PLANE_POINTS;
  if (PLAIN) {
    const double *from = plane + w.mine;
#pragma unroll
    for (int q = 0; q < ROWS; q++, from += n) {
      if (is_wide<W>(w)) {
        __pipeline_memcpy_async(&to[q][x], from, 2 * sizeof *from);
      } else {
        __pipeline_memcpy_async(&to[q][x], from, sizeof *from);
        __pipeline_memcpy_async(&to[q][x + 1], from + 1, sizeof *from);
      }
    }
    return;
  }
  const int2 c = *reinterpret_cast<const int2 *>(column + x);
  const bool paired = is_wide<W>(w) && c.y == c.x + 1;
#pragma unroll
  for (int q = 0; q < ROWS; q++) {
    const double *from = plane + row[warp * ROWS + q] * n;
    if (paired) {
      __pipeline_memcpy_async(&to[q][x], from + c.x, 2 * sizeof *from);
    } else {
      __pipeline_memcpy_async(&to[q][x], from + c.x, sizeof *from);
      __pipeline_memcpy_async(&to[q][x + 1], from + c.y, sizeof *from);
    }
  }
}

/* The field's plane that begins at offset `here`, and the lines' one before it, at `behind`, their
 * z-faces at `face`. A negative offset: not in the slab. */
template <int ROWS, int W, bool PLAIN, class LINES, bool VARIABLE, bool STAGED, class ROOM>
static __device__ inline void planes_fetch(const heat_march_args &m, const tile_place &w,
                                           const tile_map &map, ROOM &room, int64_t here,
                                           int64_t behind, int64_t face, int into, int slot) {
  const int64_t n = m.p.s.g.n[0];
  auto get = [&](const double *field, int64_t plane, const int *column, const int *row,
                 double(*to)[PLANE_WIDTH]) {
    if (field != nullptr) plane_fetch<ROWS, W, PLAIN>(field + plane, w, n, column, row, to);
  };
  if (here >= 0) get(m.p.u, here, map.column, map.row, room.ring[into]);
  if (LINES::COUNT == 0 || behind < 0) return;
  if (VARIABLE) {
    get(m.p.face[0], behind, map.face_column, map.row, room.line[LINES::AX][slot]);
    get(m.p.face[1], behind, map.column, map.face_row, room.line[LINES::AY][slot]);
    get(m.p.face[2], face, map.column, map.row, room.line[LINES::AZ][slot]);
  }
  if (LINES::BASE > LINES::SOURCES) {
    get(m.p.source, behind, map.column, map.row, room.line[LINES::SOURCES][slot]);
  }
  if (STAGED) {
    get(m.base, behind, map.column, map.row, room.line[LINES::BASE][slot]);
    get(m.first, behind, map.column, map.row, room.line[LINES::FIRST][slot]);
    get(m.before, behind, map.column, map.row, room.line[LINES::BEFORE][slot]);
  }
}

/* Points at the border of a tile, in x, that are not kept: K, an even number for pairs. */
static __host__ __device__ constexpr int planes_margin(int steps) { return (steps + 1) / 2 * 2; }

template <int K, int ROWS, bool STAGED, bool VARIABLE, int SOURCE, bool EXACT, int W, int FACES,
          int WARPS_MOST>
__global__ void __launch_bounds__(WARP *WARPS_MOST, 1)
    planes_march(const __grid_constant__ heat_march_args m) {
  constexpr int MARGIN = planes_margin(K);
  using lines = plane_lines<STAGED, VARIABLE, SOURCE>;
  using room_of = warp_room<K, ROWS, lines>;
  extern __shared__ __align__(16) unsigned char bytes[];
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  const int rows = (int)blockDim.x / WARP * ROWS;
  tile_map &map = *reinterpret_cast<tile_map *>(bytes);
  room_of *rooms = reinterpret_cast<room_of *>(bytes + sizeof map), &room = rooms[warp];
  const heat_slab &s = m.p.s;
  const heat_grid &g = s.g;
  const int steps = EXACT ? K : m.steps;
  const heat_unit unit = heat_unit_of(blockIdx.x, m.strips[0], m.strips[1],
                                      m.units / ((int64_t)m.strips[0] * m.strips[1]));
  tile_place w;
  w.x0 = unit.x * (PLANE_WIDTH - 2 * MARGIN) - MARGIN;
  w.y0 = unit.y * (rows - 2 * K) - K;
  w.begin = m.p.from + unit.chunk * m.chunk;
  w.end = min(w.begin + m.chunk, m.p.to);
  w.wide = g.n[0] % 2 == 0;
  const bool around_z = g.face[4] == HEAT_PERIODIC && g.n[2] > 1;
  const bool inner =
      g.n[2] > 1 && w.x0 > 0 && w.x0 + PLANE_WIDTH < g.n[0] && w.y0 > 0 && w.y0 + rows < g.n[1];
  for (int i = (int)threadIdx.x; i < PLANE_WIDTH; i += (int)blockDim.x) {
    map.column[i] = (int)heat_fold(g, 0, w.x0 + i);
    map.face_column[i] = (int)heat_fold_face(g, 0, w.x0 + i);
  }
  for (int i = (int)threadIdx.x; i < rows; i += (int)blockDim.x) {
    map.row[i] = (int)heat_fold(g, 1, w.y0 + i);
    map.face_row[i] = (int)heat_fold_face(g, 1, w.y0 + i);
  }
  __syncthreads();
  w.x = w.x0 + lane * PLANE_POINTS;
  w.mine = (w.y0 + warp * ROWS) * g.n[0] + w.x;
  w.edge = w.kept = 0;
#pragma unroll
  for (int i = 0; i < ROWS * PLANE_POINTS; i++) {
    const heat_ends ex = heat_ends_at(g, 0, map.column[lane * PLANE_POINTS + i % PLANE_POINTS]);
    const heat_ends ey = heat_ends_at(g, 1, map.row[warp * ROWS + i / PLANE_POINTS]);
    const bool on = FACES == FACES_ANY ? ex.low || ex.high || ey.low || ey.high
                                       : heat_held_by(g, 0, ex) || heat_held_by(g, 1, ey);
    w.edge |= (unsigned)on << i;
  }
#pragma unroll
  for (int q = 0; q < ROWS; q++) {
    const int x = lane * PLANE_POINTS, y = warp * ROWS + q;
    const bool kept = x >= MARGIN && x < PLANE_WIDTH - MARGIN && w.x < g.n[0] && y >= K &&
                      y < rows - K && w.y0 + y < g.n[1];
    w.kept |= (unsigned)kept << q;
  }
  /* planes are counted from the first that comes in; with [plain, plain_end) as the newest one,
   * steps make planes inside the domain only, and what is fetched needs no folding */
  const int64_t top = w.begin - steps;
  const int planes_in = (int)(w.end + steps - top);
  const int64_t low = around_z ? 1 : max(steps + 1 - s.first - top, (int64_t)1);
  const int64_t high = around_z ? planes_in : g.n[2] - s.first - top;
  const int64_t there = min((int64_t)planes_in, s.planes + s.halo - top);
  const int plain = (int)low, plain_end = (int)(high < there ? high - PLANE_RING : there);
  int ahead = 0, line = 0, line_ahead = 0, i = 0;
  int64_t at = (top + s.halo) * s.plane; /* of the plane to be fetched */
  double *to = m.p.out + (top - steps + s.halo) * s.plane + w.mine;
  tile_planes<K, ROWS> planes = {};
  double now[ROWS][PLANE_POINTS];
  auto offset = [&](int64_t z) {
    return heat_is_there(s, z) ? (z + s.halo) * s.plane : (int64_t)-1;
  };
  auto fetch = [&](auto where, int into) {
    constexpr int WHERE = decltype(where)::value;
    if (WHERE != ANYWHERE && ahead < planes_in) {
      planes_fetch<ROWS, W, WHERE == INSIDE, lines, VARIABLE, STAGED>(
          m, w, map, room, at, at - s.plane, at - s.plane, into, line_ahead);
    }
    if (WHERE == ANYWHERE && ahead < planes_in) {
      const int64_t z = top + ahead;
      planes_fetch<ROWS, W, false, lines, VARIABLE, STAGED>(
          m, w, map, room, offset(heat_fold_plane(s, z)), offset(heat_fold_plane(s, z - 1)),
          VARIABLE ? offset(heat_fold_plane_face(s, z - 1)) : 0, into, line_ahead);
    }
    __pipeline_commit();
    ahead++;
    at += s.plane;
    if (lines::COUNT > 0) line_ahead = line_ahead + 1 < room_of::DEPTH ? line_ahead + 1 : 0;
  };
  auto march = [&](auto turn, auto where, int newest) {
    constexpr int TURN = decltype(turn)::value, WHERE = decltype(where)::value;
    __pipeline_wait_prior(PLANE_RING - 1);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < ROWS; q++) pair_read(room.ring[TURN][q], now[q]);
    tile_steps<K, ROWS, STAGED, VARIABLE, SOURCE, EXACT, W, FACES, WHERE, TURN>(
        m, w, map, rooms, top + newest, line, planes, now);
    fetch(where, TURN);
    if (newest >= 2 * steps && newest < planes_in) plane_leave<ROWS, W>(g, w, to, now);
    to += s.plane;
    if (lines::COUNT > 0) line = line + 1 < room_of::DEPTH ? line + 1 : 0;
  };
  auto two = [&](auto where, int newest) {
    march(constant<0>(), where, newest);
    march(constant<1>(), where, newest + 1);
  };
  for (int k = 0; k < PLANE_RING; k++) fetch(constant<ANYWHERE>(), k);
#pragma unroll 1
  while (i < planes_in) {
#pragma unroll 1
    for (; i < planes_in && (i < plain || i + 2 > plain_end); i += 2) two(constant<ANYWHERE>(), i);
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
