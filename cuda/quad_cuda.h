/* The table of quadrature on a GPU (quad.c), and its kernel that needs no formula. */
#ifndef CUDA_QUAD_CUDA_H
#define CUDA_QUAD_CUDA_H

#include <cuda_runtime_api.h>

#include "quad_args.h"
#include "quad_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const quad_backend QUAD_cuda;

/* Estimates of `count` regions from the integrand at their points (quad_estimates.cu). */
cudaError_t kernel_quad_estimates(cudaStream_t s, const quad_estimates_args *a);

#ifdef __cplusplus
}
#endif

#endif
