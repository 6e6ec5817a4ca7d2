/* Between two levels, one thread a point: a coarse one gathers from up to five fine ones in each
 * direction (three as a rule), a fine one from the two coarse ones it lies between. Both go from
 * direction to direction as heat_level.h says; where alpha varies with each point's own shares.
 *
 * Traffic per fine point, 2-D: restriction 10 bytes, interpolation 18; the shares of variable alpha
 * 16 more. */
#include "heat_level.cuh"

/* Where coordinate j of direction D puts a point, from a field's begin: in the halo beyond the ends
 * of the last one, around the ends of others. */
template <int DIMS, int D>
static __device__ inline int64_t place(const heat_slab &s, int64_t j, int64_t stride) {
  return (D == DIMS - 1 ? j - s.first + s.halo : heat_level_wrap(&s.g, D, j)) * stride;
}

/* Of direction D + 1 in a field, for the stride of D. */
static __device__ inline int64_t next_stride(const heat_slab &s, int d, int64_t stride) {
  return stride * s.g.n[d];
}

/* Where the fine point that coincides with coarse J lies, as to directions from D on. */
template <int DIMS, int D>
static __device__ inline int64_t coincident(const heat_transfer_args &a, const int64_t *J,
                                            int64_t stride) {
  if constexpr (D < DIMS) {
    return place<DIMS, D>(a.finer.s, a.l.at[D][J[D]], stride) +
           coincident<DIMS, D + 1>(a, J, next_stride(a.finer.s, D, stride));
  }
  return 0;
}

/* Fine points summed over directions from D on, with the weights of coarse J; `base`: where the
 * directions before put them. */
template <int DIMS, int D, bool VARIES>
static __device__ inline double gather(const heat_transfer_args &a, const int64_t *J, int64_t base,
                                       int64_t stride) {
  if constexpr (D == DIMS) {
    return a.u[base];
  } else {
    const int64_t next = next_stride(a.finer.s, D, stride), middle = a.l.at[D][J[D]];
    const double *shares = a.finer.share[D], *taps = a.l.tap[D] + HEAT_TAPS * J[D];
    const int64_t rest = shares == nullptr ? 0 : coincident<DIMS, D + 1>(a, J, next);
    double sum = 0.0;
    /* the outermost are there near odd ends only */
    const int begin = !VARIES && taps[0] == 0.0;
    const int end = HEAT_TAPS - (!VARIES && taps[HEAT_TAPS - 1] == 0.0);
    for (int k = begin; k < end; k++) {
      double tap = taps[k];
      if (tap == 0.0) continue;
      const int64_t at = base + place<DIMS, D>(a.finer.s, middle + k - HEAT_REACH, stride);
      if (shares != nullptr && k != HEAT_REACH) {
        const bool above = k > HEAT_REACH;
        tap = heat_level_tap(tap, above ? 0.0 : 1.0, above ? 1.0 : -1.0, shares[at + rest]);
      }
      sum = fma(tap, gather<DIMS, D + 1, VARIES>(a, J, at, next), sum);
    }
    return sum;
  }
}

template <int DIMS, bool VARIES> struct restriction {
  const heat_transfer_args &a;
  bool held;

  __device__ inline void start(const int64_t *J) { held = level_line_is_held<DIMS>(a.l.s.g, J); }

  __device__ inline void point(int64_t at, const int64_t *J) {
    const bool none = held || level_holds(a.l.s.g, DIMS - 1, J[DIMS - 1]);
    a.out[at] = none ? 0.0 : gather<DIMS, 0, VARIES>(a, J, 0, 1);
  }
};

template <int DIMS, bool VARIES>
__global__ void __launch_bounds__(LEVEL_THREADS)
    restriction_pass(const __grid_constant__ heat_transfer_args a) {
  restriction<DIMS, VARIES> work = {a};
  let_next_start();
  wait_for_last();
  level_points<DIMS>(a.l.s, 0, a.l.s.planes, a.chunk, work);
}

/* Where a point and the fine ones it is made from lie, as to direction D. */
struct between {
  int64_t lo, hi;         /* coarse field */
  int64_t own_lo, own_hi; /* the fine points that coincide with those */
  int64_t here;           /* the fine point itself */
  double part;
};

template <int DIMS, int D>
static __device__ inline between between_of(const heat_transfer_args &a, int64_t j,
                                            int64_t coarse_stride, int64_t fine_stride) {
  const int64_t b = a.l.below[D][j];
  between t;
  t.part = a.l.part[D][j];
  t.lo = place<DIMS, D>(a.l.s, b, coarse_stride);
  t.own_lo = place<DIMS, D>(a.finer.s, a.l.at[D][b], fine_stride);
  t.hi = t.lo;
  t.own_hi = t.own_lo;
  t.here = place<DIMS, D>(a.finer.s, j, fine_stride);
  if (t.part == 1.0) return t;
  t.hi = place<DIMS, D>(a.l.s, b + 1, coarse_stride);
  t.own_hi = place<DIMS, D>(a.finer.s, a.l.at[D][b + 1], fine_stride);
  return t;
}

/* The value between coarse points as to directions up to D; `base` and `own`: where the directions
 * beyond put these, and the fine points that coincide with them; `here`: directions up to D of the
 * fine point. */
template <int D>
static __device__ inline double spread(const heat_transfer_args &a, const between *t, int64_t base,
                                       int64_t own, int64_t here) {
  if constexpr (D < 0) {
    return a.u[base];
  } else {
    const int64_t before = here - t[D].here;
    const double lo = spread<D - 1>(a, t, base + t[D].lo, own + t[D].own_lo, before);
    double w = t[D].part;
    if (w == 1.0) return lo;
    if (a.finer.share[D] != nullptr) w = a.finer.share[D][own + here];
    return heat_level_between(w, lo,
                              spread<D - 1>(a, t, base + t[D].hi, own + t[D].own_hi, before));
  }
}

/* As the operator (heat_level.cu), it keeps what a line has in common where alpha is constant. */
template <int DIMS, bool VARIES> struct interpolation {
  const heat_transfer_args &a;
  between t[DIMS];
  int64_t line; /* where all directions but the last put the fine point */

  __device__ inline void look(const int64_t *j) {
    line = 0;
    if constexpr (DIMS > 1) {
      t[0] = between_of<DIMS, 0>(a, j[0], 1, 1);
      line += t[0].here;
    }
    if constexpr (DIMS > 2) {
      t[1] = between_of<DIMS, 1>(a, j[1], a.l.s.g.n[0], a.finer.s.g.n[0]);
      line += t[1].here;
    }
  }

  __device__ inline void start(const int64_t *j) {
    if (!VARIES) look(j);
  }

  __device__ inline void point(int64_t at, const int64_t *j) {
    constexpr int LAST = DIMS - 1;
    if (VARIES) look(j);
    t[LAST] = between_of<DIMS, LAST>(a, j[LAST], a.l.s.plane, a.finer.s.plane);
    a.out[at] += spread<LAST>(a, t, 0, 0, line + t[LAST].here);
  }
};

template <int DIMS, bool VARIES>
__global__ void __launch_bounds__(LEVEL_THREADS)
    interpolation_pass(const __grid_constant__ heat_transfer_args a) {
  interpolation<DIMS, VARIES> work = {a};
  let_next_start();
  wait_for_last();
  level_points<DIMS>(a.finer.s, 0, a.finer.s.planes, a.chunk, work);
}

#define KERNELS(pass)                                                                              \
  {                                                                                                \
    {(const void *)pass<1, false>, (const void *)pass<1, true>},                                   \
        {(const void *)pass<2, false>, (const void *)pass<2, true>},                               \
        {(const void *)pass<3, false>, (const void *)pass<3, true>},                               \
  }

static cudaError_t run(cudaStream_t s, const void *const kernels[HEAT_DIMS][2],
                       heat_transfer_args *a, const heat_slab *points, int processors) {
  const level_grid g = level_grid_of(points, points->planes, processors);
  const void *kernel = kernels[points->g.dims - 1][a->finer.share[0] != nullptr];
  a->chunk = g.chunk;
  return level_launch(s, kernel, g.blocks, g.threads, a, a->early);
}

extern "C" cudaError_t kernel_restriction(cudaStream_t s, heat_transfer_args *a, int processors) {
  static const void *const kernels[HEAT_DIMS][2] = KERNELS(restriction_pass);
  return run(s, kernels, a, &a->l.s, processors);
}

extern "C" cudaError_t kernel_interpolation(cudaStream_t s, heat_transfer_args *a, int processors) {
  static const void *const kernels[HEAT_DIMS][2] = KERNELS(interpolation_pass);
  return run(s, kernels, a, &a->finer.s, processors);
}
