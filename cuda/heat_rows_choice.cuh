/* The kernels of heat_rows.cuh that are used, and the choice among them: for heat_rows.cu (steps)
 * and heat_rows_staged.cu (stages), which are compiled side by side. */
#ifndef HEAT_ROWS_CHOICE_CUH
#define HEAT_ROWS_CHOICE_CUH

#include "heat_rows.cuh"

enum { LANE = 4 };

template <int K, bool STAGED, bool VARIABLE, int SOURCE, bool EXACT, int W, int FACES>
static cudaError_t march(cudaStream_t s, heat_march_args *a, int processors) {
  constexpr int KEPT = WARP * LANE - (K + 1) / 2 * 4;
  const auto kernel = rows_march<K, LANE, STAGED, VARIABLE, SOURCE, EXACT, W, FACES, 8>;
  const size_t room = sizeof(strip_room<K, LANE, row_lines<STAGED, VARIABLE, SOURCE>::COUNT>);
  int fit = 0;
  cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)room);
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, WARP, room);
  }
  if (error != cudaSuccess) return error;
  a->strips[0] = (int32_t)((a->p.s.g.n[0] + KEPT - 1) / KEPT);
  heat_cut(a, a->strips[0], (int64_t)fit * processors);
  kernel<<<(unsigned)a->units, WARP, room, s>>>(*a);
  return cudaGetLastError();
}

/* The full number of steps, on lines of an even number of points, has kernels of its own. */
template <int K, bool STAGED, bool VARIABLE>
static cudaError_t choose(cudaStream_t s, heat_march_args *a, int processors) {
  constexpr int PLAIN = STAGED ? SOURCE_NUMBER : SOURCE_NONE;
  const heat_source source = heat_source_of(&a->p);
  const bool full = a->steps == K && a->p.s.g.n[0] % 2 == 0 && heat_is_regular(a);
  if (source == SOURCE_FIELD) {
    return march<K, STAGED, VARIABLE, SOURCE_FIELD, false, MAYBE_WIDE, FACES_ANY>(s, a, processors);
  }
  if (!full || (source == SOURCE_NUMBER && !STAGED)) {
    return march<K, STAGED, VARIABLE, SOURCE_NUMBER, false, MAYBE_WIDE, FACES_ANY>(s, a,
                                                                                   processors);
  }
  if (VARIABLE && !STAGED && heat_faces_of(&a->p.s.g) == FACES_HELD) {
    return march<K, STAGED, VARIABLE, PLAIN, true, WIDE, FACES_HELD>(s, a, processors);
  }
  return march<K, STAGED, VARIABLE, PLAIN, true, WIDE, FACES_ANY>(s, a, processors);
}

#endif
