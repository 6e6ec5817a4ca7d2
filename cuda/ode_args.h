/* What the kernel of trajectories (ode_advance.cuh) is given: by value, so that a launch is all
 * there is, and what all trajectories share comes from constant memory. */
#ifndef CUDA_ODE_ARGS_H
#define CUDA_ODE_ARGS_H

#include "ode_tableau.h"

enum {
  ODE_THREADS = 128, /* of a thread block: a warp for each scheduler of a multiprocessor */
  ODE_COMMON = 256   /* shared parameters at most */
};

/* Of ODE_NOISE_IS (ode_define.h). */
enum {
  ODE_NOISE_DIAGONAL = 1,
  ODE_NOISE_ADDITIVE = 2,
  ODE_NOISE_KNOWN = 4, /* its derivatives are */
  ODE_NOISE_STRATONOVICH = 8,
  ODE_NOISE_ANTITHETIC = 16,
  ODE_NOISE_LEVEL = 32 /* times the levels of the paths */
};

typedef struct ode_advance_args {
  ode_plan plan;
  ode_states states;
  int64_t begin, end; /* trajectories */
  int64_t attempts;   /* of each, at most */
  int64_t *running;   /* how many are still on their way is added */
  double common[ODE_COMMON];
  ode_tableau step; /* of Runge-Kutta methods with fixed steps: times dt */
} ode_advance_args;

/* The method's part of the arguments. */
PORTABLE ode_tableau ode_args_step(const ode_plan *plan) {
  const ode_tableau m = ode_tableau_of(plan->variant);
  return ode_tableau_times(&m, plan->dt);
}

#endif
