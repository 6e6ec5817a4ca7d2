/* The table of coupled systems on a GPU (coupled.c). */
#ifndef CUDA_COUPLED_CUDA_H
#define CUDA_COUPLED_CUDA_H

#include "coupled_backend.h"

extern const coupled_backend COUPLED_cuda;

#endif
