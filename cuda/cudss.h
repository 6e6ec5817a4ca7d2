/* The package of the CUDA backend's table that factorises matrices on its GPU (cudss.c). */
#ifndef CUDA_CUDSS_H
#define CUDA_CUDSS_H

#include "direct_package.h"

extern const direct_package DIRECT_cudss;

#endif
