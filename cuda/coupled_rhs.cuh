/* Kernel coupled_rhs: derivatives at near points, a group a thread, then at far ones, one a thread.
 */
#include "coupled_thread.h"

extern "C" __global__ void __launch_bounds__(COUPLED_THREADS)
    coupled_rhs(const __grid_constant__ coupled_rhs_args a) {
  const int64_t block = blockIdx.x;
  if (block < a.blocks) {
    coupled_near_points(&a, block, (int)threadIdx.x);
    return;
  }
  const int64_t k = (block - a.blocks) * COUPLED_THREADS + threadIdx.x;
  if (k < a.far_count) coupled_far_point(&a, a.far[k]);
}
