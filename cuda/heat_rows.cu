/* The kernels of heat_rows.cuh that are used, and the choice among them. */
#include "heat_rows.cuh"

enum { LANE = 4 };

template <int K, bool STAGED, bool VARIABLE, int SOURCE, bool EXACT, int FACES>
static cudaError_t march(cudaStream_t s, heat_march_args *a, int processors) {
  constexpr int KEPT = WARP * LANE - (K + 1) / 2 * 4;
  const auto kernel = rows_march<K, LANE, STAGED, VARIABLE, SOURCE, EXACT, FACES, 8>;
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

template <int K, bool VARIABLE>
static cudaError_t choose(cudaStream_t s, heat_march_args *a, int processors) {
  const heat_source source = heat_source_of(&a->p);
  if (source == SOURCE_FIELD) {
    return march<K, false, VARIABLE, SOURCE_FIELD, false, FACES_ANY>(s, a, processors);
  }
  if (source == SOURCE_NUMBER || a->steps != K) {
    return march<K, false, VARIABLE, SOURCE_NUMBER, false, FACES_ANY>(s, a, processors);
  }
  if (heat_faces_of(&a->p.s.g) == FACES_HELD) {
    return march<K, false, VARIABLE, SOURCE_NONE, true, FACES_HELD>(s, a, processors);
  }
  return march<K, false, VARIABLE, SOURCE_NONE, true, FACES_ANY>(s, a, processors);
}

template <bool VARIABLE>
static cudaError_t choose_staged(cudaStream_t s, heat_march_args *a, int processors) {
  constexpr int K = ROWS_STAGES;
  if (a->p.source != nullptr) {
    return march<K, true, VARIABLE, SOURCE_FIELD, false, FACES_ANY>(s, a, processors);
  }
  return march<K, true, VARIABLE, SOURCE_NUMBER, false, FACES_ANY>(s, a, processors);
}

extern "C" cudaError_t kernel_heat_rows(cudaStream_t s, heat_march_args *a, int processors) {
  const bool variable = a->p.face[0] != nullptr;
  if (a->parts > 0) {
    return variable ? choose_staged<true>(s, a, processors)
                    : choose_staged<false>(s, a, processors);
  }
  if (variable) return choose<ROWS_STEPS_VARIABLE, true>(s, a, processors);
  return choose<ROWS_STEPS, false>(s, a, processors);
}
