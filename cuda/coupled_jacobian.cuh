/* Kernel coupled_jacobian: the rows of points [begin, end), those of a point a thread. */
#include "coupled_thread.h"

extern "C" __global__ void __launch_bounds__(COUPLED_THREADS)
    coupled_jacobian(const __grid_constant__ coupled_jacobian_args a) {
  const int64_t q = a.begin + (int64_t)blockIdx.x * COUPLED_THREADS + threadIdx.x;
  if (q < a.end) coupled_rows(&a, (lidx)q);
}
