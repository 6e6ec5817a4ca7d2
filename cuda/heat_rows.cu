/* Steps: the kernels of heat_rows.cuh for them; the plainest have their own (heat_rows_held.cu). */
#include "heat_rows_choice.cuh"

extern "C" cudaError_t kernel_heat_rows(cudaStream_t s, heat_march_args *a, int processors) {
  const bool variable = a->p.face[0] != nullptr;
  if (a->parts > 0) return kernel_heat_rows_staged(s, a, processors);
  if (!variable && a->steps == ROWS_STEPS && heat_source_of(&a->p) == SOURCE_NONE &&
      heat_faces_of(&a->p.s.g) == FACES_HELD) {
    return kernel_heat_rows_held(s, a, processors);
  }
  return variable ? choose<ROWS_STEPS_VARIABLE, false, true>(s, a, processors)
                  : choose<ROWS_STEPS, false, false>(s, a, processors);
}
