/* What one point of the heat equation does, shared by the kernels: heat.h's pieces in heat.h's
 * order. Coordinates are (x, y, z) with the last direction counted from the first owned plane. */
#ifndef HEAT_POINT_CUH
#define HEAT_POINT_CUH

#include "heat_args.h"

/* A number known to the compiler, as a value that can be passed on. */
template <int N> struct constant {
  static constexpr int value = N;
  __host__ __device__ constexpr operator int() const { return N; }
};

/* What a kernel is ready for: points on held faces just stay; on others there are fluxes, and
 * directions may have one point. */
enum heat_faces { FACES_HELD, FACES_ANY };

/* Where it is: clear of all faces; at faces of other directions than the one it marches along, or
 * at strips that are folded; anywhere. */
enum heat_where { INSIDE, BESIDE, ANYWHERE };

/* Rows of the grid consist of aligned pairs; or perhaps. */
enum heat_width { MAYBE_WIDE, WIDE };

enum heat_source { SOURCE_NONE, SOURCE_NUMBER, SOURCE_FIELD };

static inline heat_source heat_source_of(const heat_pass *p) {
  return p->source != nullptr ? SOURCE_FIELD : p->source_value != 0.0 ? SOURCE_NUMBER : SOURCE_NONE;
}

/* Whether points on faces need more than to be held. */
static inline heat_faces heat_faces_of(const heat_grid *g) {
  for (int f = 0; f < 2 * g->dims; f++) {
    if (g->face[f] == HEAT_FLUX || g->n[f / 2] == 1) return FACES_ANY;
  }
  return FACES_HELD;
}

/* Cuts the planes to be made into chunks for `slots` units at a time, of which there are `across`
 * beside each other: the whole work in units times planes, 2 steps more for each, is least. */
static inline void heat_cut(heat_march_args *a, int64_t across, int64_t slots) {
  const int64_t planes = a->p.to - a->p.from;
  int64_t best = INT64_MAX;
  if (slots < 1) slots = 1;
  for (int64_t waves = 3; waves <= 16; waves++) {
    int64_t pieces = waves * slots / across;
    pieces = pieces < 1 ? 1 : pieces < planes ? pieces : planes;
    const int64_t chunk = (planes + pieces - 1) / pieces;
    const int64_t rounds = (across * pieces + slots - 1) / slots;
    const int64_t cost = rounds * (chunk + 2 * a->steps);
    if (cost >= best) continue;
    best = cost;
    a->chunk = chunk;
    a->units = across * ((planes + chunk - 1) / chunk);
  }
}

/* A coordinate along a direction of n points that may lie outside: around the end, or the nearest
 * point, whose value then does not matter. */
static __device__ inline int heat_wrap(int64_t x, int64_t n, bool around) {
  if (x >= 0 && x < n) return (int)x;
  if (!around) return x < 0 ? 0 : (int)n - 1;
  x %= n;
  return (int)(x < 0 ? x + n : x);
}

/* Where coordinate x of direction d, which may lie outside, has its values from: around the end of
 * a periodic direction; the mirror image at a flux face, for there a stage is symmetric, bit for
 * bit, but for the flux that enters the points of the face; at a held face its point, which stays.
 */
static __device__ inline int64_t heat_fold(const heat_grid &g, int d, int64_t x) {
  const int64_t n = g.n[d];
  if (x >= 0 && x < n) return x;
  if (g.face[2 * d] == HEAT_PERIODIC) {
    x %= n;
    return x < 0 ? x + n : x;
  }
  while (n > 1 && (x < 0 || x >= n)) {
    if (g.face[x < 0 ? 2 * d : 2 * d + 1] != HEAT_FLUX) return x < 0 ? 0 : n - 1;
    x = x < 0 ? -x : 2 * (n - 1) - x;
  }
  return n > 1 ? x : 0;
}

/* The same for what lies between x and x + 1. */
static __device__ inline int64_t heat_fold_face(const heat_grid &g, int d, int64_t x) {
  const int64_t here = heat_fold(g, d, x);
  return g.face[2 * d] == HEAT_PERIODIC ? here : min(here, heat_fold(g, d, x + 1));
}

/* And for planes of a slab, counted from its first one: those of a periodic direction come in the
 * halo. */
static __device__ inline int64_t heat_fold_plane(const heat_slab &s, int64_t z) {
  const int last = s.g.dims - 1;
  if (s.g.face[2 * last] == HEAT_PERIODIC && s.g.n[last] > 1) return z;
  return heat_fold(s.g, last, z + s.first) - s.first;
}

static __device__ inline int64_t heat_fold_plane_face(const heat_slab &s, int64_t z) {
  const int64_t here = heat_fold_plane(s, z);
  return s.g.face[2 * s.g.dims - 2] == HEAT_PERIODIC ? here : min(here, heat_fold_plane(s, z + 1));
}

static __device__ inline bool heat_is_there(const heat_slab &s, int64_t z) {
  return z >= -s.halo && z < s.planes + s.halo;
}

/* Where a point lies in a direction: on its low or high end, with faces there. */
struct heat_ends {
  bool low, high;
};

static __device__ inline heat_ends heat_ends_at(const heat_grid &g, int d, int64_t here) {
  const bool closed = g.face[2 * d] != HEAT_PERIODIC;
  return {closed && here == 0, closed && here == g.n[d] - 1};
}

static __device__ inline bool heat_held_by(const heat_grid &g, int d, heat_ends e) {
  return (e.low && g.face[2 * d] == HEAT_HELD) || (e.high && g.face[2 * d + 1] == HEAT_HELD);
}

/* The same number, of which the compiler knows nothing: it would make all tests of its bits ahead
 * of a loop, and run out of predicates. */
static __device__ inline unsigned heat_fresh(unsigned bits) {
  asm volatile("" : "+r"(bits));
  return bits;
}

/* Adds the fluxes of all faces that the point lies on. A call: it is rare, and the kernels have
 * many places for it. */
static __device__ __noinline__ double heat_add_fluxes(const heat_pass &p, int64_t x, int64_t y,
                                                      int64_t z, double u, double out) {
  const heat_grid &g = p.s.g;
  const int64_t j[HEAT_DIMS] = {x, y, z};
#pragma unroll 1
  for (int f = 0; f < 2 * g.dims; f++) {
    int64_t here = f < 2 ? x : f < 4 ? y : z;
    if (f / 2 == g.dims - 1) here += p.s.first;
    if (g.face[f] != HEAT_FLUX || here != (f % 2 == 0 ? 0 : g.n[f / 2] - 1)) continue;
    double flux = p.flux_at[f] == nullptr ? p.flux[f] : p.flux_at[f][heat_face_at(&p.s, f, j)];
    if (p.is_robin[f]) flux = heat_robin(p.robin[f], flux, u);
    out = fma(p.inflow[f], flux, out);
  }
  return out;
}

/* Unit number i of `pieces` chunks times nx by ny tiles: those at the border first, for they take
 * longer, and nobody should wait for them in the end. */
struct heat_unit {
  int64_t x, y, chunk;
};

static __device__ inline heat_unit heat_unit_of(int64_t i, int64_t nx, int64_t ny, int64_t pieces) {
  const int64_t inside = (nx > 2 ? nx - 2 : 0) * (ny > 2 ? ny - 2 : ny == 1 ? 1 : 0);
  const int64_t border = nx * ny - inside;
  if (i >= border * pieces) {
    i -= border * pieces;
    const int64_t at = i % inside;
    return {1 + at % (nx - 2), ny == 1 ? 0 : 1 + at / (nx - 2), i / inside};
  }
  const int64_t at = i % border, chunk = i / border;
  if (inside == 0) return {at % nx, at / nx, chunk};
  if (ny == 1) return {at == 0 ? 0 : nx - 1, 0, chunk};
  if (at < 2 * nx) return {at % nx, at < nx ? 0 : ny - 1, chunk};
  return {(at - 2 * nx) % 2 == 0 ? 0 : nx - 1, 1 + (at - 2 * nx) / 2, chunk};
}

/* A flux that is a field. */
static __device__ __noinline__ double heat_flux_at(const heat_pass &p, int face, int64_t x,
                                                   int64_t y, int64_t z) {
  const int64_t j[HEAT_DIMS] = {x, y, z};
  return __ldg(p.flux_at[face] + heat_face_at(&p.s, face, j));
}

/* What faces make of a point that lies on some, e[d] in direction d, in stage l. Coordinates are
 * folded ones. */
template <int DIMS, bool STAGED>
static __device__ inline double heat_on_faces(const heat_march_args &m, int l, const heat_ends *e,
                                              int64_t x, int64_t y, int64_t z, double u,
                                              double out) {
  const heat_grid &g = m.p.s.g;
  bool held = false;
#pragma unroll
  for (int d = 0; d < DIMS; d++) held |= heat_held_by(g, d, e[d]);
  if (held) return u;
#pragma unroll
  for (int f = 0; f < 2 * DIMS; f++) {
    if (!(f % 2 == 0 ? e[f / 2].low : e[f / 2].high) || g.face[f] != HEAT_FLUX) continue;
    double flux = STAGED ? m.part[l].flux[f] : m.p.flux[f];
    if (m.p.flux_at[f] != nullptr) flux = heat_flux_at(m.p, f, x, y, z);
    if (m.p.is_robin[f]) flux = heat_robin(m.p.robin[f], flux, u);
    out = fma(STAGED ? m.part[l].inflow[f] : m.p.inflow[f], flux, out);
  }
  return out;
}

/* What a stage starts from at a point: base and terms, by selection where it may be any stage
 * (`any`), else that of a stage with a base and terms, not swapped. */
static __device__ inline double heat_start(const heat_part &part, bool any, double base, double u,
                                           double before, double first) {
  const double t0 = any && part.swapped ? first : u, t2 = any && part.swapped ? u : first;
  double out = fma(part.weight[0], t0 - base, base);
  out = fma(part.weight[1], before - base, out);
  out = fma(part.weight[2], t2 - base, out);
  if (any) out = part.terms > 0 ? out : base;
  return any && part.own_base ? u : out;
}

/* Whether all stages but the first have a base and terms, not swapped. */
static inline bool heat_is_regular(const heat_march_args *a) {
  bool regular = true;
  for (int i = 1; i < a->parts; i++) {
    regular &= a->part[i].terms > 0 && !a->part[i].swapped && !a->part[i].own_base;
  }
  return regular;
}

/* The source at a point of stage l, its value where it is a field. */
template <bool STAGED, int SOURCE>
static __device__ inline double heat_add_source(const heat_march_args &m, int l, double value,
                                                double out) {
  if (SOURCE == SOURCE_NONE) return out;
  const double scale = STAGED ? m.part[l].scale : m.p.scale;
  if (SOURCE == SOURCE_FIELD) return fma(scale, value, out);
  const double number = STAGED ? m.part[l].source_value : m.p.source_value;
  return number != 0.0 ? fma(scale, number, out) : out;
}

/* One direction at a point, constant alpha. */
static __device__ inline double heat_direction(double out, double c, heat_ends e, double lo,
                                               double u, double hi) {
  return heat_add(out, c, e.low ? hi : lo, u, e.high ? lo : hi);
}

/* Variable alpha: a_before lies between the point before and this one, a_behind between this one
 * and the next. */
static __device__ inline double heat_direction_faces(double out, double scale, heat_ends e,
                                                     double a_before, double a_behind, double lo,
                                                     double u, double hi) {
  return heat_add_faces(out, scale, e.low ? a_behind : a_before, e.high ? a_before : a_behind,
                        e.low ? hi : lo, u, e.high ? lo : hi);
}

#endif
