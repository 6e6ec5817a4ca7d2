/* Kernel quad_members: many integrals of one family. The samples of a block are made once for all
 * members of a thread block, in shared memory. GPU_WIDE members are evaluated at once, all at the
 * same sample: their arguments are near each other, so they mostly take the same ways. These
 * members are the work of p.threads neighbouring lanes, few where there are members enough to fill
 * the GPU, since what a member costs beside its samples is the same for each of them. Thread j of T
 * does the lanes j, j + T, ... of each block_sum, at most LANES_MOST of them, in bit-reversed
 * order, so that the xor tree's first steps are additions of what it has just made; the last are
 * shuffles.
 *
 * QUAD_FIXED: parameters all members share, before the swept ones. */
#include "quad_points.cuh"

enum {
  AXES = FORMULA_INPUTS - QUAD_NDIMS - QUAD_FIXED,
  LEVELS = 3 /* of pairs of LANES_MOST lanes, and their sum */
};

/* A block of samples. */
struct shared_samples {
  double x[QUAD_NDIMS][BLOCK_MAX], weight[SUMS][BLOCK_MAX];
};

/* Samples [first, first + count), by all threads; whether they are whole (lanes_of_block). */
static __device__ inline bool make_samples(const quad_samples_args &a, int64_t first, int count,
                                           shared_samples *to) {
  bool whole = !QUAD_SINGLE;
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

/* Sums of GPU_WIDE members. */
struct member_sums {
  double at[GPU_WIDE][SUMS];
};

/* Lane `lane` of a block of samples. WHOLE: see lane_add. */
template <bool WHOLE>
static __device__ inline void lane_of_block(const shared_samples &s, int lane, int count,
                                            points_of *in, member_sums *out) {
  lane_sums l[GPU_WIDE];
#pragma unroll
  for (int m = 0; m < GPU_WIDE; m++) lane_clear(&l[m]);
#pragma unroll 1
  for (int i = lane; i < count; i += WARP) {
    points_of f;
    double weight[SUMS];
#pragma unroll
    for (int d = 0; d < QUAD_NDIMS; d++) in[d] = s.x[d][i];
#pragma unroll
    for (int k = 0; k < SUMS; k++) weight[k] = s.weight[k][i];
    formula_points(in, &f);
#pragma unroll
    for (int m = 0; m < GPU_WIDE; m++) lane_add<WHOLE>(&l[m], weight, points_at(f, m));
  }
#pragma unroll
  for (int m = 0; m < GPU_WIDE; m++) {
#pragma unroll
    for (int k = 0; k < SUMS; k++) out->at[m][k] = lane_value(l[m], k);
  }
}

/* to = low + to */
static __device__ inline void add_members(const member_sums &low, member_sums *to) {
#pragma unroll
  for (int m = 0; m < GPU_WIDE; m++) {
#pragma unroll
    for (int k = 0; k < SUMS; k++) to->at[m][k] = low.at[m][k] + to->at[m][k];
  }
}

/* A block's sums, by the threads of these members; in all of them. */
static __device__ inline void members_block(const quad_members_args &p, const shared_samples &s,
                                            int count, bool whole, points_of *in,
                                            member_sums *sum) {
  const int mine = (int)threadIdx.x & (p.threads - 1), lanes = p.width / p.threads;
  member_sums stack[LEVELS];
#pragma unroll 1
  for (int n = 0; n < lanes; n++) {
    const int lane = mine + p.threads * (int)(__brev((unsigned)n) >> 1 >> __clz(lanes));
    if (whole) {
      lane_of_block<true>(s, lane, count, in, sum);
    } else {
      lane_of_block<false>(s, lane, count, in, sum);
    }
    bool rising = true;
#pragma unroll
    for (int level = 0; level < LEVELS; level++) {
      if (!rising) continue;
      rising = (n >> level & 1) != 0; /* the upper half of a pair */
      if (rising) {
        add_members(stack[level], sum);
      } else {
        stack[level] = *sum;
      }
    }
  }
  for (int half = p.threads / 2; half >= 1; half /= 2) {
#pragma unroll
    for (int m = 0; m < GPU_WIDE; m++) {
#pragma unroll
      for (int k = 0; k < SUMS; k++) {
        sum->at[m][k] += __shfl_xor_sync(ALL_LANES, sum->at[m][k], half);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(QUAD_THREADS, QUAD_RESIDENT)
    quad_members(const __grid_constant__ quad_members_args p) {
  __shared__ shared_samples samples;
  const int64_t points = p.s.grid.points;
  /* members of a thread block at a time */
  const int64_t together = QUAD_THREADS / p.threads * GPU_WIDE;
  bool whole = false;
  points_of in[FORMULA_INPUTS + 1];
#pragma unroll
  for (int i = 0; i < QUAD_FIXED; i++) in[QUAD_NDIMS + i] = p.s.parameters[i];
  for (int64_t at = blockIdx.x * together; at < p.count; at += gridDim.x * together) {
    const int64_t i = at + (int64_t)(threadIdx.x / p.threads) * GPU_WIDE;
    member_sums total = {};
#pragma unroll
    for (int m = 0; m < GPU_WIDE; m++) {
      double swept[AXES + 1];
      member_values(p.swept, p.first + (i + m < p.count ? i + m : p.count - 1), swept);
#pragma unroll
      for (int k = 0; k < AXES; k++) points_at(in[QUAD_NDIMS + QUAD_FIXED + k], m) = swept[k];
    }
    for (int64_t first = 0; first < points; first += BLOCK_MAX) {
      const int count = (int)(points - first < BLOCK_MAX ? points - first : BLOCK_MAX);
      member_sums sum;
      if (points > BLOCK_MAX || at == blockIdx.x * together) { /* else they are there */
        __syncthreads();
        whole = make_samples(p.s, first, count, &samples);
      }
      members_block(p, samples, count, whole, in, &sum);
      add_members(total, &sum);
      total = sum;
    }
#pragma unroll
    for (int m = 0; m < GPU_WIDE; m++) {
      if (i + m < p.count && threadIdx.x % p.threads == 0) {
#pragma unroll
        for (int k = 0; k < SUMS; k++) p.sums[(i + m) * SUMS + k] = total.at[m][k];
      }
    }
  }
}
