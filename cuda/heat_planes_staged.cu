/* Stages with a base and terms: the kernels of heat_planes.cuh for them. */
#include "heat_planes_choice.cuh"

extern "C" cudaError_t kernel_heat_planes_staged(cudaStream_t s, heat_march_args *a,
                                                 int processors) {
  return a->p.face[0] != nullptr ? choose<PLANES_STAGES, true, true>(s, a, processors)
                                 : choose<PLANES_STAGES, true, false>(s, a, processors);
}
