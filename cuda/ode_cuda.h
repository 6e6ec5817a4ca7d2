/* The table of trajectories on a GPU (ode.c). */
#ifndef CUDA_ODE_CUDA_H
#define CUDA_ODE_CUDA_H

#include "ode_backend.h"

extern const ode_backend ODE_cuda;

#endif
