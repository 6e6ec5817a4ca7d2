/* Kernel coupled_sums: the sums of points [begin, end) over all points. A thread block has 32
 * points, a lane each; its warps take a block of 256 others each, which they read at once (one
 * access for all lanes, from the first-level cache), and warp m adds the blocks' sums number m in
 * their order. */
#include "coupled_thread.h"

enum { SLOTS = COUPLED_THREADS / COUPLED_ROW };

extern "C" __global__ void __launch_bounds__(COUPLED_THREADS, 3)
    coupled_sums(const __grid_constant__ coupled_sums_args a) {
  __shared__ double part[SLOTS][COUPLED_ANY_SUMS][COUPLED_ROW];
  const int lane = (int)threadIdx.x % COUPLED_ROW, slot = (int)threadIdx.x / COUPLED_ROW;
  const int64_t point = a.begin + (int64_t)blockIdx.x * COUPLED_ROW + lane;
  const gidx all = a.s.layout.n * a.s.layout.m;
  double in[COUPLED_IN_SUMS], sum[COUPLED_ANY_SUMS], total = 0.0;
  coupled_own(&a.s, (lidx)(point < a.end ? point : a.end - 1), in);
  for (gidx begin = 0; begin < all; begin += SLOTS * BLOCK_MAX) {
    const gidx mine = begin + slot * BLOCK_MAX;
    if (mine < all) {
      coupled_block(&a.s, in, mine, all - mine < BLOCK_MAX ? (int)(all - mine) : BLOCK_MAX, sum);
#pragma unroll
      for (int m = 0; m < COUPLED_N_SUMS; m++) part[slot][m][lane] = sum[m];
    }
    __syncthreads();
    for (int k = 0; slot < COUPLED_N_SUMS && k < SLOTS && begin + k * BLOCK_MAX < all; k++) {
      total += part[k][slot][lane];
    }
    __syncthreads();
  }
  if (slot < COUPLED_N_SUMS && point < a.end) a.sum[point * COUPLED_N_SUMS + slot] = total;
}
