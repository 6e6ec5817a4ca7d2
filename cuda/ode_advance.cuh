/* Kernel ode_advance: trajectories [begin, end), a thread each. ODE_BLOCKS: see ode_define.h. */
#include "ode_thread.h"

extern "C" __global__ void __launch_bounds__(ODE_THREADS, ODE_BLOCKS)
    ode_advance(const __grid_constant__ ode_advance_args a) {
  const int64_t i = a.begin + (int64_t)blockIdx.x * ODE_THREADS + threadIdx.x;
  const int running = __syncthreads_count(i < a.end && ode_thread(&a, i));
  if (threadIdx.x == 0 && running > 0) {
    atomicAdd((unsigned long long *)a.running, (unsigned long long)running);
  }
}
