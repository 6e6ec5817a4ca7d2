/* The kernels of heat_rows.cuh that are used, and the choice among them. */
#include "heat_rows.cuh"

enum { LANE = 4 };

template <int K, bool VARIABLE, int SOURCE, bool EXACT, bool WIDE, int FACES>
static cudaError_t march(cudaStream_t s, heat_march_args *a, int processors) {
  constexpr int KEPT = WARP * LANE - 2 * K;
  const auto kernel = rows_march<K, LANE, VARIABLE, SOURCE, EXACT, WIDE, FACES, 8>;
  int fit = 0;
  cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, WARP, 0);
  if (error != cudaSuccess) return error;
  a->strips[0] = (int32_t)((a->p.s.g.n[0] + KEPT - 1) / KEPT);
  heat_cut(a, a->strips[0], (int64_t)fit * processors);
  kernel<<<(unsigned)a->units, WARP, 0, s>>>(*a);
  return cudaGetLastError();
}

template <int K, bool VARIABLE>
static cudaError_t choose(cudaStream_t s, heat_march_args *a, int processors) {
  const heat_source source = heat_source_of(&a->p);
  if (source == SOURCE_NONE && a->steps == K) {
    const bool wide = a->p.s.g.n[0] % 2 == 0, held = heat_faces_of(&a->p.s.g) == FACES_HELD;
    if (held && wide) {
      return march<K, VARIABLE, SOURCE_NONE, true, true, FACES_HELD>(s, a, processors);
    }
    if (held) return march<K, VARIABLE, SOURCE_NONE, true, false, FACES_HELD>(s, a, processors);
    return march<K, VARIABLE, SOURCE_NONE, true, false, FACES_ANY>(s, a, processors);
  }
  switch (source) {
  case SOURCE_NUMBER:
    return march<K, VARIABLE, SOURCE_NUMBER, false, false, FACES_ANY>(s, a, processors);
  case SOURCE_FIELD:
    return march<K, VARIABLE, SOURCE_FIELD, false, false, FACES_ANY>(s, a, processors);
  default:
    return march<K, VARIABLE, SOURCE_NONE, false, false, FACES_ANY>(s, a, processors);
  }
}

extern "C" cudaError_t kernel_heat_rows(cudaStream_t s, heat_march_args *a, int processors) {
  if (a->p.face[0] != nullptr) return choose<ROWS_STEPS_VARIABLE, true>(s, a, processors);
  return choose<ROWS_STEPS, false>(s, a, processors);
}
