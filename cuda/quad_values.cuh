/* Kernel quad_values: the integrand at the points of regions, a thread a point. QUAD_RULE: the
 * frame's. The estimates are made of these by quad_estimates.cu. */
#include "quad_points.cuh"

enum {
  POINTS = QUAD_RULE == QUAD_KRONROD ? QUAD_KRONROD_POINTS
                                     : 1 + 2 * QUAD_NDIMS * (QUAD_NDIMS + 1) + (1 << QUAD_NDIMS)
};

/* quad_region_point, the codes of points read. */
static __device__ inline double region_point(const quad_values_args &p, const double *edge, int k,
                                             double *x) {
  double slope = 1.0, weight, gauss;
  if (QUAD_RULE == QUAD_KRONROD) {
    return quad_region_place(&p.frame, edge, 0, quad_kronrod(k, &weight, &gauss), x);
  }
#pragma unroll
  for (int d = 0; d < QUAD_NDIMS; d++) {
    const double node = quad_malik_node(p.code[d * POINTS + k]);
    slope *= quad_region_place(&p.frame, edge, d, node, &x[d]);
  }
  return slope;
}

extern "C" __global__ void __launch_bounds__(QUAD_THREADS)
    quad_values(const __grid_constant__ quad_values_args p) {
  const int64_t all = p.count * POINTS;
  double in[FORMULA_INPUTS + 1];
#pragma unroll
  for (int i = QUAD_NDIMS; i < FORMULA_INPUTS; i++) in[i] = p.parameters[i - QUAD_NDIMS];
  for (int64_t i = (int64_t)blockIdx.x * QUAD_THREADS + threadIdx.x; i < all;
       i += (int64_t)gridDim.x * QUAD_THREADS) {
    const int64_t region = i / POINTS;
    double f;
    const double slope =
        region_point(p, p.edge + region * 2 * QUAD_NDIMS, (int)(i - region * POINTS), in);
    formula_value(in, &f);
    p.g[i] = quad_region_term(slope, f);
  }
}
