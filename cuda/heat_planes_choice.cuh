/* The kernels of heat_planes.cuh that are used, and the choice among them: for heat_planes.cu
 * (steps) and heat_planes_staged.cu (stages), which are compiled side by side. */
#ifndef HEAT_PLANES_CHOICE_CUH
#define HEAT_PLANES_CHOICE_CUH

#include "heat_planes.cuh"

enum {
  TILE_WARPS = 8,
  TILE_ROWS = 4,
  ROOM_MOST = 227 * 1024 /* shared memory of a thread block */
};

template <int K, bool STAGED, bool VARIABLE, int SOURCE, bool EXACT, int W, int FACES>
static cudaError_t march(cudaStream_t s, heat_march_args *a, int processors) {
  constexpr int TILE_ROWS = STAGED || VARIABLE ? 3 : 4; /* of a lane */
  constexpr int EACH = sizeof(warp_room<K, TILE_ROWS, plane_lines<STAGED, VARIABLE, SOURCE>>);
  constexpr int MOST = (ROOM_MOST - (int)sizeof(tile_map)) / EACH;
  constexpr int WARPS = MOST < TILE_WARPS ? MOST : TILE_WARPS;
  static_assert(WARPS * TILE_ROWS > 2 * K, "no room for a tile");
  const auto kernel = planes_march<K, TILE_ROWS, STAGED, VARIABLE, SOURCE, EXACT, W, FACES, WARPS>;
  const size_t room = sizeof(tile_map) + (size_t)WARPS * EACH;
  const heat_grid *g = &a->p.s.g;
  int fit = 0;
  cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)room);
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, WARP * WARPS, room);
  }
  if (error != cudaSuccess) return error;
  const int kept = PLANE_WIDTH - 2 * planes_margin(K), rows = WARPS * TILE_ROWS - 2 * K;
  a->strips[0] = (int32_t)((g->n[0] + kept - 1) / kept);
  a->strips[1] = (int32_t)((g->n[1] + rows - 1) / rows);
  heat_cut(a, (int64_t)a->strips[0] * a->strips[1], (int64_t)fit * processors);
  kernel<<<(unsigned)a->units, WARP * WARPS, room, s>>>(*a);
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
