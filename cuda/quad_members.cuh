/* Kernel quad_members: many integrals of one family. The samples of a block are made once for all
 * members of a thread block, in shared memory. A member is the work of p.threads neighbouring
 * lanes: as few as fill the GPU, since what a member costs beside its samples is the same for each
 * of them. Thread j of T does the lanes j, j + T, ... of each block_sum, in bit-reversed order, so
 * that the xor tree's first steps are additions of what it has just made (a stack of five); the
 * last ones are shuffles.
 *
 * QUAD_FIXED: parameters all members share, before the swept ones. */
#include "quad_points.cuh"

enum { AXES = FORMULA_INPUTS - QUAD_NDIMS - QUAD_FIXED, LEVELS = 6 };

/* A block of samples. */
struct shared_samples {
  double x[QUAD_NDIMS][BLOCK_MAX], weight[SUMS][BLOCK_MAX];
};

/* Samples [first, first + count), by all threads. */
static __device__ inline void make_samples(const quad_samples_args &a, int64_t first, int count,
                                           shared_samples *to) {
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
    for (int k = 0; k < SUMS; k++) to->weight[k][i] = weight[k];
  }
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

/* Lane `lane` of a block of samples, GPU_WIDE of them at a time; those that are not there add +0.0.
 */
static __device__ inline void lane_of_block(const shared_samples &s, int lane, int count,
                                            const points_of *shared, double *out) {
  lane_sums l;
  lane_clear(&l);
#pragma unroll 1
  for (int i = lane; i < count; i += WARP * GPU_WIDE) {
    points_of in[FORMULA_INPUTS + 1], f;
#pragma unroll
    for (int k = QUAD_NDIMS; k < FORMULA_INPUTS; k++) in[k] = shared[k];
#pragma unroll
    for (int k = 0; k < GPU_WIDE; k++) {
      const int at = i + WARP * k < count ? i + WARP * k : i;
#pragma unroll
      for (int d = 0; d < QUAD_NDIMS; d++) points_at(in[d], k) = s.x[d][at];
    }
    formula_points(in, &f);
#pragma unroll
    for (int k = 0; k < GPU_WIDE; k++) {
      const int at = i + WARP * k;
      double weight[SUMS];
#pragma unroll
      for (int j = 0; j < SUMS; j++) weight[j] = at < count ? s.weight[j][at] : 0.0;
      lane_add(&l, weight, points_at(f, k));
    }
  }
#pragma unroll
  for (int k = 0; k < SUMS; k++) out[k] = lane_value(l, k);
}

/* A block's sums, by the threads of a member; in all of them. */
static __device__ inline void member_block(const quad_members_args &p, const shared_samples &s,
                                           int count, const points_of *shared,
                                           double *sum) {
  const int mine = (int)threadIdx.x & (p.threads - 1), lanes = p.width / p.threads;
  double stack[LEVELS][SUMS];
#pragma unroll 1
  for (int n = 0; n < lanes; n++) {
    const int turned = (int)(__brev((unsigned)n) >> 1 >> __clz(lanes));
    lane_of_block(s, mine + p.threads * turned, count, shared, sum);
#pragma unroll
    for (int level = 0; level < LEVELS; level++) {
      if ((n >> level & 1) == 0) { /* the lower half of a pair: kept */
#pragma unroll
        for (int k = 0; k < SUMS; k++) stack[level][k] = sum[k];
        break;
      }
#pragma unroll
      for (int k = 0; k < SUMS; k++) sum[k] = stack[level][k] + sum[k];
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
        make_samples(p.s, first, count, &samples);
        __syncthreads();
      }
      member_block(p, samples, count, shared, sum);
#pragma unroll
      for (int k = 0; k < SUMS; k++) total[k] += sum[k];
    }
    if (i < p.count && threadIdx.x % p.threads == 0) {
#pragma unroll
      for (int k = 0; k < SUMS; k++) p.sums[i * SUMS + k] = total[k];
    }
  }
}
