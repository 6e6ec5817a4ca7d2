/* The kernels of heat_planes.cuh that are used, and the choice among them. */
#include "heat_planes.cuh"

enum { TILE_WARPS = 8 };

template <int K, bool VARIABLE, int SOURCE, bool EXACT, bool WIDE, int FACES>
static cudaError_t march(cudaStream_t s, heat_march_args *a, int processors) {
  constexpr int MARGIN = planes_margin<K>();
  constexpr int KEPT = PLANE_WIDTH - 2 * MARGIN, ROWS = TILE_WARPS * PLANE_ROWS - 2 * MARGIN;
  const auto kernel = planes_march<K, VARIABLE, SOURCE, EXACT, WIDE, FACES, TILE_WARPS>;
  const size_t room = (size_t)planes_room<K>(TILE_WARPS);
  const heat_grid *g = &a->p.s.g;
  int fit = 0;
  cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)room);
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, WARP * TILE_WARPS, room);
  }
  if (error != cudaSuccess) return error;
  a->strips[0] = (int32_t)((g->n[0] + KEPT - 1) / KEPT);
  a->strips[1] = (int32_t)((g->n[1] + ROWS - 1) / ROWS);
  heat_cut(a, (int64_t)a->strips[0] * a->strips[1], (int64_t)fit * processors);
  kernel<<<(unsigned)a->units, WARP * TILE_WARPS, room, s>>>(*a);
  return cudaGetLastError();
}

template <int K, bool VARIABLE>
static cudaError_t choose(cudaStream_t s, heat_march_args *a, int processors) {
  const heat_source source = heat_source_of(&a->p);
  if (source == SOURCE_NONE && a->steps == K && heat_faces_of(&a->p.s.g) == FACES_HELD) {
    if (a->p.s.g.n[0] % 2 == 0) {
      return march<K, VARIABLE, SOURCE_NONE, true, true, FACES_HELD>(s, a, processors);
    }
    return march<K, VARIABLE, SOURCE_NONE, true, false, FACES_HELD>(s, a, processors);
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

extern "C" cudaError_t kernel_heat_planes(cudaStream_t s, heat_march_args *a, int processors) {
  if (a->p.face[0] != nullptr) return choose<PLANES_STEPS_VARIABLE, true>(s, a, processors);
  return choose<PLANES_STEPS, false>(s, a, processors);
}
