/* Several Euler steps in 1-D, in one pass over memory. A warp takes LINE_POINTS points, `steps` of
 * them on each side for its neighbours' sake, into registers, LANE_POINTS in a row a lane; a step
 * is then arithmetic and two shuffles. Coefficients and source stay in registers too. Where `steps`
 * is a quarter of the points a warp does twice the work it keeps, hence LINE_STEPS. 3 operations a
 * point and step; 16 bytes a point and pass (8 more for alpha, and for a source field). */
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

/* A step of a lane's run. x: coordinate of its first point from the first owned one. */
template <bool VARIABLE, int SOURCE, bool INNER>
static __device__ inline void line_step(const heat_pass &p, int64_t x, double *u, const double *a,
                                        double a_left, const double *source) {
  const heat_grid &g = p.s.g;
  double lo = __shfl_up_sync(ALL_LANES, u[LANE_POINTS - 1], 1), before = a_left;
  const double right = __shfl_down_sync(ALL_LANES, u[0], 1);
#pragma unroll
  for (int i = 0; i < LANE_POINTS; i++) {
    const double here = u[i], hi = i + 1 < LANE_POINTS ? u[i + 1] : right;
    heat_ends e = {false, false};
    double out = here;
    if (!INNER) e = heat_ends_at(g, 0, x + i + p.s.first);
    if (INNER || g.n[0] > 1) {
      out = VARIABLE ? heat_direction_faces(out, p.scale, e, before, a[i], lo, here, hi)
                     : heat_direction(out, p.c[0], e, lo, here, hi);
    }
    if (SOURCE == SOURCE_NUMBER) out = fma(p.scale, p.source_value, out);
    if (SOURCE == SOURCE_FIELD) out = fma(p.scale, source[i], out);
    if (!INNER && (e.low || e.high)) {
      out = heat_held_by(g, 0, e) ? here : heat_add_fluxes(p, x + i, 0, 0, here, out);
    }
    lo = here;
    if (VARIABLE) before = a[i];
    u[i] = out;
  }
}

template <bool VARIABLE, int SOURCE>
__global__ void __launch_bounds__(WARP *LINE_WARPS)
    line_pass(const __grid_constant__ heat_march_args m) {
  __shared__ double rooms[LINE_WARPS][WARP * RUN];
  const heat_pass &p = m.p;
  const heat_slab &s = p.s;
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  const int64_t unit = (int64_t)blockIdx.x * LINE_WARPS + warp;
  const int64_t x0 = p.from + unit * (LINE_POINTS - 2 * m.steps) - m.steps;
  const int64_t begin = -s.halo, end = s.planes + s.halo, x = x0 + lane * LANE_POINTS;
  double u[LANE_POINTS], a[VARIABLE ? LANE_POINTS : 1],
      source[SOURCE == SOURCE_FIELD ? LANE_POINTS : 1];
  double a_left = 0.0, *room = rooms[warp];
  if (unit >= m.units) return;
  line_load(p.u + s.halo, x0, begin, end, room, u);
  if (VARIABLE) {
    line_load(p.face[0] + s.halo, x0, begin, end, room, a);
    a_left = __shfl_up_sync(ALL_LANES, a[LANE_POINTS - 1], 1);
  }
  if (SOURCE == SOURCE_FIELD) line_load(p.source + s.halo, x0, begin, end, room, source);
  const bool around = s.g.face[0] == HEAT_PERIODIC && s.g.n[0] > 1;
  if (around || (x0 + s.first > 0 && x0 + LINE_POINTS + s.first < s.g.n[0])) {
#pragma unroll 1
    for (int i = 0; i < m.steps; i++) {
      line_step<VARIABLE, SOURCE, true>(p, x, u, a, a_left, source);
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < m.steps; i++) {
      line_step<VARIABLE, SOURCE, false>(p, x, u, a, a_left, source);
    }
  }
  const int64_t mine = x0 + m.steps, most = x0 + LINE_POINTS - m.steps;
  line_store(p.out + s.halo, x0, mine, most < p.to ? most : p.to, room, u);
}

extern "C" cudaError_t kernel_heat_line(cudaStream_t s, heat_march_args *a) {
  static const void *const kernels[][3] = {
      {(const void *)line_pass<false, SOURCE_NONE>, (const void *)line_pass<false, SOURCE_NUMBER>,
       (const void *)line_pass<false, SOURCE_FIELD>},
      {(const void *)line_pass<true, SOURCE_NONE>, (const void *)line_pass<true, SOURCE_NUMBER>,
       (const void *)line_pass<true, SOURCE_FIELD>}};
  const int kept = LINE_POINTS - 2 * a->steps;
  a->units = (a->p.to - a->p.from + kept - 1) / kept;
  const int64_t blocks = (a->units + LINE_WARPS - 1) / LINE_WARPS;
  return launch(s, kernels[a->p.face[0] != nullptr][heat_source_of(&a->p)], (int)blocks,
                WARP * LINE_WARPS, a, 0);
}
