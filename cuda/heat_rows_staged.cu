/* Stages with a base and terms: the kernels of heat_rows.cuh for them. */
#include "heat_rows_choice.cuh"

extern "C" cudaError_t kernel_heat_rows_staged(cudaStream_t s, heat_march_args *a, int processors) {
  return a->p.face[0] != nullptr ? choose<ROWS_STAGES, true, true>(s, a, processors)
                                 : choose<ROWS_STAGES, true, false>(s, a, processors);
}
