/* BACKEND_cuda with matrices stored plainly, no slices packed (sell.h): for tests and benchmarks of
 * that form on matrices that would be packed. The bits are the same. */
#ifndef CUDA_PLAIN_H
#define CUDA_PLAIN_H

#include "backend.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const backend BACKEND_cuda_plain;

#ifdef __cplusplus
}
#endif

#endif
