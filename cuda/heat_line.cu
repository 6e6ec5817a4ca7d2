/* Several steps or stages in 1-D, in one pass over memory. A warp takes LINE_POINTS points, `steps`
 * of them on each side for its neighbours' sake, into registers, LANE_POINTS in a row a lane; a
 * step is then arithmetic and two shuffles. Coefficients, source and what stages with terms start
 * from stay in registers too. Where `steps` is a quarter of the points a warp does twice the work
 * it keeps, hence LINE_STEPS. 3 operations a point and step; 16 bytes a point and pass (8 more for
 * alpha, and for a source field). Stages with terms: 9 operations, 48 bytes. */
#include "heat_point.cuh"
#include "passes.h"

enum { LANE_POINTS = 16, LINE_POINTS = WARP * LANE_POINTS, LINE_WARPS = 4 };

/* Points x0 .. of a field between memory, one after the other, and lanes, a run each: through
 * shared memory, a gap after each run so that runs fall on different banks. */
enum { RUN = LANE_POINTS + 1 };

static __device__ inline void line_load(const double *from, int64_t x0, int64_t begin, int64_t end,
                                        double *room, double *x) {
  const int lane = (int)threadIdx.x % WARP;
#pragma unroll
  for (int i = 0; i < LANE_POINTS; i++) {
    const int64_t at = x0 + lane + i * WARP;
    const int place = lane + i * WARP;
    room[place / LANE_POINTS * RUN + place % LANE_POINTS] = from[at < begin ? begin
                                                                 : at < end ? at
                                                                            : end - 1];
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < LANE_POINTS; i++) x[i] = room[lane * RUN + i];
  __syncwarp();
}

static __device__ inline void line_store(double *to, int64_t x0, int64_t begin, int64_t end,
                                         double *room, const double *x) {
  const int lane = (int)threadIdx.x % WARP;
#pragma unroll
  for (int i = 0; i < LANE_POINTS; i++) room[lane * RUN + i] = x[i];
  __syncwarp();
#pragma unroll
  for (int i = 0; i < LANE_POINTS; i++) {
    const int64_t at = x0 + lane + i * WARP;
    const int place = lane + i * WARP;
    if (at >= begin && at < end) to[at] = room[place / LANE_POINTS * RUN + place % LANE_POINTS];
  }
}

/* What a lane's run keeps beside the field: coefficients, source; base, first and `before` of
 * stages. */
template <bool STAGED, bool VARIABLE, int SOURCE> struct line_run {
  double a[VARIABLE ? LANE_POINTS : 1], source[SOURCE == SOURCE_FIELD ? LANE_POINTS : 1];
  double base[STAGED ? LANE_POINTS : 1], first[STAGED ? LANE_POINTS : 1];
  double before[STAGED ? LANE_POINTS : 1];
  double a_left;
};

/* Step l of a lane's run. x: coordinate of its first point from the first owned one. */
template <bool STAGED, bool VARIABLE, int SOURCE, bool INNER>
static __device__ inline void line_step(const heat_march_args &m, int l, int64_t x, double *u,
                                        line_run<STAGED, VARIABLE, SOURCE> &run) {
  const heat_pass &p = m.p;
  const heat_grid &g = p.s.g;
  const heat_part &part = m.part[STAGED ? l : 0];
  const double scale = STAGED ? part.scale : p.scale, c = STAGED ? part.c[0] : p.c[0];
  double lo = __shfl_up_sync(ALL_LANES, u[LANE_POINTS - 1], 1), a_before = run.a_left;
  const double right = __shfl_down_sync(ALL_LANES, u[0], 1);
#pragma unroll
  for (int i = 0; i < LANE_POINTS; i++) {
    const double here = u[i], hi = i + 1 < LANE_POINTS ? u[i + 1] : right;
    heat_ends e = {false, false};
    double out = here;
    if (STAGED) out = heat_start(part, true, run.base[i], here, run.before[i], run.first[i]);
    if (!INNER) e = heat_ends_at(g, 0, x + i + p.s.first);
    if (INNER || g.n[0] > 1) {
      out = VARIABLE ? heat_direction_faces(out, scale, e, a_before, run.a[i], lo, here, hi)
                     : heat_direction(out, c, e, lo, here, hi);
    }
    out = heat_add_source<STAGED, SOURCE>(m, l, SOURCE == SOURCE_FIELD ? run.source[i] : 0.0, out);
    if (!INNER && (e.low || e.high)) {
      out = heat_on_faces<1, STAGED>(m, l, &e, x + i, 0, 0, here, out);
    }
    lo = here;
    if (VARIABLE) a_before = run.a[i];
    if (STAGED) run.before[i] = here;
    u[i] = out;
  }
}

/* Keeps what a stage made, where that is wanted; [mine, most) is what this warp makes. */
static __device__ inline void line_keep(const heat_march_args &m, int what, int64_t x0,
                                        int64_t mine, int64_t most, double *room, const double *u) {
  if (m.keep[what] == nullptr) return;
  const int64_t from = mine == m.p.from ? m.keep_from[what] : mine;
  const int64_t to = most >= m.p.to ? m.keep_to[what] : most;
  line_store(m.keep[what] + m.p.s.halo, x0, from, to, room, u);
  __syncwarp();
}

template <bool STAGED, bool VARIABLE, int SOURCE, bool INNER>
static __device__ inline void line_steps(const heat_march_args &m, int64_t x0, double *room,
                                         double *u, line_run<STAGED, VARIABLE, SOURCE> &run) {
  const int64_t x = x0 + (int64_t)(threadIdx.x % WARP) * LANE_POINTS;
  const int64_t mine = x0 + m.steps, most = x0 + LINE_POINTS - m.steps;
#pragma unroll 1
  for (int l = 0; l < m.steps; l++) {
    line_step<STAGED, VARIABLE, SOURCE, INNER>(m, l, x, u, run);
    if (STAGED && l == 0) {
      line_keep(m, KEPT_FIRST, x0, mine, most, room, u);
#pragma unroll
      for (int i = 0; i < LANE_POINTS; i++) {
        if (m.makes_first) run.first[i] = u[i];
      }
    }
    if (STAGED && l + 2 == m.steps) line_keep(m, KEPT_BEFORE, x0, mine, most, room, u);
  }
}

template <bool STAGED, bool VARIABLE, int SOURCE>
__global__ void __launch_bounds__(WARP *LINE_WARPS)
    line_pass(const __grid_constant__ heat_march_args m) {
  __shared__ double rooms[LINE_WARPS][WARP * RUN];
  const heat_pass &p = m.p;
  const heat_slab &s = p.s;
  const int warp = (int)threadIdx.x / WARP;
  const int64_t unit = (int64_t)blockIdx.x * LINE_WARPS + warp;
  const int64_t x0 = p.from + unit * (LINE_POINTS - 2 * m.steps) - m.steps;
  const int64_t begin = -s.halo, end = s.planes + s.halo;
  double u[LANE_POINTS], *room = rooms[warp];
  line_run<STAGED, VARIABLE, SOURCE> run;
  if (unit >= m.units) return;
  line_load(p.u + s.halo, x0, begin, end, room, u);
  if (VARIABLE) line_load(p.face[0] + s.halo, x0, begin, end, room, run.a);
  run.a_left = VARIABLE ? __shfl_up_sync(ALL_LANES, run.a[VARIABLE ? LANE_POINTS - 1 : 0], 1) : 0.0;
  if (SOURCE == SOURCE_FIELD) line_load(p.source + s.halo, x0, begin, end, room, run.source);
  if (STAGED) {
    /* what is not told is not used */
    line_load((m.base != nullptr ? m.base : p.u) + s.halo, x0, begin, end, room, run.base);
    line_load((m.first != nullptr ? m.first : p.u) + s.halo, x0, begin, end, room, run.first);
    line_load((m.before != nullptr ? m.before : p.u) + s.halo, x0, begin, end, room, run.before);
  }
  const bool around = s.g.face[0] == HEAT_PERIODIC && s.g.n[0] > 1;
  if (around || (x0 + s.first > 0 && x0 + LINE_POINTS + s.first < s.g.n[0])) {
    line_steps<STAGED, VARIABLE, SOURCE, true>(m, x0, room, u, run);
  } else {
    line_steps<STAGED, VARIABLE, SOURCE, false>(m, x0, room, u, run);
  }
  const int64_t mine = x0 + m.steps, most = x0 + LINE_POINTS - m.steps;
  line_store(p.out + s.halo, x0, mine, most < p.to ? most : p.to, room, u);
}

template <bool STAGED, bool VARIABLE> static const void *line_kernel(const heat_march_args *a) {
  switch (heat_source_of(&a->p)) {
  case SOURCE_FIELD:
    return (const void *)line_pass<STAGED, VARIABLE, SOURCE_FIELD>;
  case SOURCE_NUMBER:
    return (const void *)line_pass<STAGED, VARIABLE, SOURCE_NUMBER>;
  default:
    return (const void *)line_pass < STAGED, VARIABLE, STAGED ? SOURCE_NUMBER : SOURCE_NONE > ;
  }
}

extern "C" cudaError_t kernel_heat_line(cudaStream_t s, heat_march_args *a) {
  const bool variable = a->p.face[0] != nullptr;
  const void *kernel = a->parts > 0
                           ? variable ? line_kernel<true, true>(a) : line_kernel<true, false>(a)
                       : variable ? line_kernel<false, true>(a)
                                  : line_kernel<false, false>(a);
  const int kept = LINE_POINTS - 2 * a->steps;
  a->units = (a->p.to - a->p.from + kept - 1) / kept;
  const int64_t blocks = (a->units + LINE_WARPS - 1) / LINE_WARPS;
  return launch(s, kernel, (int)blocks, WARP * LINE_WARPS, a, 0);
}
