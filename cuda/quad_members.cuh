/* Kernel quad_members: many integrals of one family. The samples of a block are made once for all
 * members of a thread block, in shared memory. A member is the work of p.threads neighbouring
 * lanes: as few as fill the GPU, since what a member costs beside its samples is the same for each
 * of them. Thread j of T does the lanes j, j + T, ... of each block_sum, in bit-reversed order, so
 * that the xor tree's first steps are additions of what it has just made (a stack of five); the
 * last ones are shuffles. LANES of them at a time (QUAD_LANES, a power of two).
 *
 * QUAD_FIXED: parameters all members share, before the swept ones. */
#include "quad_points.cuh"

enum {
  AXES = FORMULA_INPUTS - QUAD_NDIMS - QUAD_FIXED,
  LEVELS = 6,
  LANES = GPU_WIDE == 1 ? 1 : QUAD_LANES,
  EACH = GPU_WIDE / LANES /* samples of a lane at a time */
};

/* A block of samples. */
struct shared_samples {
  double x[QUAD_NDIMS][BLOCK_MAX], weight[SUMS][BLOCK_MAX];
};

/* Samples [first, first + count), by all threads; whether they are whole (lanes_of_block). */
static __device__ inline bool make_samples(const quad_samples_args &a, int64_t first, int count,
                                           shared_samples *to) {
  bool whole = count % (WARP * EACH) == 0 && !QUAD_SINGLE;
  for (int i = (int)threadIdx.x; i < count; i += QUAD_THREADS) {
    double x[QUAD_NDIMS], weight[SUMS];
    if (QUAD_KIND == QUAD_SOBOL) {
      sobol_lane lane;
      sobol_begin(a.grid, a.grid.first + first + i, &lane);
      sobol_place(a.grid, lane, 0, x, weight);
    } else {
      product_point(a, first + i, x, weight);
    }
    round_single(x);
#pragma unroll
    for (int d = 0; d < QUAD_NDIMS; d++) to->x[d][i] = x[d];
#pragma unroll
    for (int k = 0; k < SUMS; k++) {
      to->weight[k][i] = weight[k];
      whole = whole && weight[k] != 0.0;
    }
  }
  return __syncthreads_and(whole) != 0;
}

static __device__ __noinline__ double value_far(const sweep_axis *a, int64_t i) {
  return sweep_value(a, i);
}

static __device__ inline int64_t quotient(int64_t m, int64_t count) {
  if (((m | count) >> 32) == 0) return (uint32_t)m / (uint32_t)count;
  return m / count;
}

/* sweep_member. */
static __device__ inline void member_values(const sweep_grid &g, int64_t m, double *out) {
#pragma unroll
  for (int k = AXES - 1; k >= 0; k--) {
    const sweep_axis &a = g.axis[k];
    const int64_t rest = k > 0 ? quotient(m, a.count) : 0, i = m - rest * a.count;
    out[k] = a.kind == SWEEP_LINSPACE && i != 0 && i != a.count - 1 ? fma((double)i, a.step, a.low)
                                                                     : value_far(&a, i);
    m = rest;
  }
}

/* LANES lanes of a block of samples, from turned number n on, EACH samples of
 * each at a time: their sums added, as the tree's first steps do. `whole`: all samples of every
 * lane are there, and no weight is 0; else those that are not there add +0.0. */
template <bool WHOLE>
static __device__ inline void lanes_of_block(const shared_samples &s, const int *lane, int count,
                                             const points_of *shared, double *out) {
  lane_sums l[LANES];
#pragma unroll
  for (int j = 0; j < LANES; j++) lane_clear(&l[j]);
#pragma unroll 1
  for (int step = 0; step < count; step += WARP * EACH) {
    points_of in[FORMULA_INPUTS + 1], f;
#pragma unroll
    for (int k = QUAD_NDIMS; k < FORMULA_INPUTS; k++) in[k] = shared[k];
#pragma unroll
    for (int k = 0; k < GPU_WIDE; k++) {
      const int i = lane[k / EACH] + step + WARP * (k % EACH);
      const int at = WHOLE || i < count ? i : 0;
#pragma unroll
      for (int d = 0; d < QUAD_NDIMS; d++) points_at(in[d], k) = s.x[d][at];
    }
    formula_points(in, &f);
#pragma unroll
    for (int k = 0; k < GPU_WIDE; k++) {
      const int i = lane[k / EACH] + step + WARP * (k % EACH);
      double weight[SUMS];
#pragma unroll
      for (int j = 0; j < SUMS; j++) weight[j] = WHOLE || i < count ? s.weight[j][i] : 0.0;
      lane_add<WHOLE>(&l[k / EACH], weight, points_at(f, k));
    }
  }
#pragma unroll
  for (int k = 0; k < SUMS; k++) {
    double part[LANES];
#pragma unroll
    for (int j = 0; j < LANES; j++) part[j] = lane_value(l[j], k);
#pragma unroll
    for (int pair = 1; pair < LANES; pair *= 2) {
#pragma unroll
      for (int j = 0; j < LANES; j += 2 * pair) part[j] += part[j + pair];
    }
    out[k] = part[0];
  }
}

/* A block's sums, by the threads of a member; in all of them. */
static __device__ inline void member_block(const quad_members_args &p, const shared_samples &s,
                                           int count, bool whole, const points_of *shared,
                                           double *sum) {
  const int mine = (int)threadIdx.x & (p.threads - 1), lanes = p.width / p.threads;
  double stack[LEVELS][SUMS];
#pragma unroll 1
  for (int n = 0; n < lanes; n += LANES) {
    int lane[LANES];
#pragma unroll
    for (int j = 0; j < LANES; j++) {
      lane[j] = mine + p.threads * (int)(__brev((unsigned)(n + j)) >> 1 >> __clz(lanes));
    }
    if (whole) {
      lanes_of_block<true>(s, lane, count, shared, sum);
    } else {
      lanes_of_block<false>(s, lane, count, shared, sum);
    }
    bool rising = true;
#pragma unroll
    for (int level = 0; level < LEVELS; level++) {
      if (!rising) continue;
      rising = ((n / LANES) >> level & 1) != 0; /* the upper half of a pair */
#pragma unroll
      for (int k = 0; k < SUMS; k++) {
        if (rising) {
          sum[k] = stack[level][k] + sum[k];
        } else {
          stack[level][k] = sum[k];
        }
      }
    }
  }
  for (int half = p.threads / 2; half >= 1; half /= 2) {
#pragma unroll
    for (int k = 0; k < SUMS; k++) sum[k] += __shfl_xor_sync(ALL_LANES, sum[k], half);
  }
}

extern "C" __global__ void __launch_bounds__(QUAD_THREADS, QUAD_RESIDENT)
    quad_members(const __grid_constant__ quad_members_args p) {
  __shared__ shared_samples samples;
  const int64_t points = p.s.grid.points;
  const int64_t together = QUAD_THREADS / p.threads; /* members of a thread block at a time */
  double swept[AXES + 1];
  bool whole = false;
  points_of shared[FORMULA_INPUTS + 1];
#pragma unroll
  for (int i = 0; i < QUAD_FIXED; i++) shared[QUAD_NDIMS + i] = p.s.parameters[i];
  for (int64_t at = blockIdx.x * together; at < p.count; at += gridDim.x * together) {
    const int64_t i = at + threadIdx.x / p.threads, real = i < p.count ? i : p.count - 1;
    double total[SUMS] = {};
    member_values(p.swept, p.first + real, swept);
#pragma unroll
    for (int k = 0; k < AXES; k++) shared[QUAD_NDIMS + QUAD_FIXED + k] = swept[k];
    for (int64_t first = 0; first < points; first += BLOCK_MAX) {
      const int count = (int)(points - first < BLOCK_MAX ? points - first : BLOCK_MAX);
      double sum[SUMS];
      if (points > BLOCK_MAX || at == blockIdx.x * together) { /* else they are there */
        __syncthreads();
        whole = make_samples(p.s, first, count, &samples);
      }
      member_block(p, samples, count, whole, shared, sum);
#pragma unroll
      for (int k = 0; k < SUMS; k++) total[k] += sum[k];
    }
    if (i < p.count && threadIdx.x % p.threads == 0) {
#pragma unroll
      for (int k = 0; k < SUMS; k++) p.sums[i * SUMS + k] = total[k];
    }
  }
}
