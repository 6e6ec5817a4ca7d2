/* Steps: the kernels of heat_planes.cuh for them; the plainest have their own
 * (heat_planes_held.cu). */
#include "heat_planes_choice.cuh"

extern "C" cudaError_t kernel_heat_planes(cudaStream_t s, heat_march_args *a, int processors) {
  const bool variable = a->p.face[0] != nullptr;
  if (a->parts > 0) return kernel_heat_planes_staged(s, a, processors);
  if (!variable && a->steps == PLANES_STEPS && heat_source_of(&a->p) == SOURCE_NONE &&
      heat_faces_of(&a->p.s.g) == FACES_HELD) {
    return kernel_heat_planes_held(s, a, processors);
  }
  return variable ? choose<PLANES_STEPS_VARIABLE, false, true>(s, a, processors)
                  : choose<PLANES_STEPS, false, false>(s, a, processors);
}
