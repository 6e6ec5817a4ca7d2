/* The estimates of regions, a thread a region, by quad_regions.h as it stands. A region's values
 * lie together: the lanes of a warp read different lines, each of them several times. */
#include "quad_cuda.h"

enum { ESTIMATE_THREADS = 64 };

static __global__ void __launch_bounds__(ESTIMATE_THREADS)
    estimates(const __grid_constant__ quad_estimates_args p) {
  const int points = quad_region_points(&p.frame);
  const int64_t i = (int64_t)blockIdx.x * ESTIMATE_THREADS + threadIdx.x;
  quad_estimate out;
  if (i >= p.count) return;
  quad_region_estimate(&p.frame, p.edge + i * 2 * p.frame.dims, p.g + i * points, &out);
  p.out[i] = out;
}

extern "C" cudaError_t kernel_quad_estimates(cudaStream_t s, const quad_estimates_args *a) {
  const int64_t blocks = (a->count + ESTIMATE_THREADS - 1) / ESTIMATE_THREADS;
  estimates<<<(unsigned)blocks, ESTIMATE_THREADS, 0, s>>>(*a);
  return cudaGetLastError();
}
