/* Of a run with noise (ode_noisy.h), what the plan alone says: the paths, what a step needs besides
 * f and g dW, and how many numbers that takes. */
#ifndef ODE_PATHS_H
#define ODE_PATHS_H

#include "brownian.h"
#include "ode.h"

/* What a step takes besides f and s = g dW. */
typedef enum ode_noise_way {
  ODE_NOISE_PLAIN, /* nothing */
  ODE_NOISE_HEUN,  /* g again, behind s */
  ODE_NOISE_DERIVATIVES,
  ODE_NOISE_DIFFERENCES
} ode_noise_way;

PORTABLE ode_noise_way ode_noise_way_of(const ode_plan *plan) {
  if (plan->additive) return ODE_NOISE_PLAIN;
  if (plan->variant == ODE_EULER_MARUYAMA) {
    return plan->stratonovich ? ODE_NOISE_HEUN : ODE_NOISE_PLAIN;
  }
  if (plan->has_noise_jacobian) return ODE_NOISE_DERIVATIVES;
  return plan->stratonovich ? ODE_NOISE_HEUN : ODE_NOISE_DIFFERENCES;
}

PORTABLE brownian ode_paths(const ode_plan *plan) {
  return brownian_make(plan->seed, (uint64_t)plan->steps, plan->dt, plan->noises, plan->antithetic);
}

/* Values of the noise function. */
PORTABLE int64_t ode_noise_values(const ode_plan *plan) {
  return plan->diagonal ? plan->components : (int64_t)plan->components * plan->noises;
}

/* Other values a step keeps: derivatives of the noise, or the noise at another state. */
PORTABLE int64_t ode_noise_others(const ode_plan *plan) {
  const ode_noise_way way = ode_noise_way_of(plan);
  if (way == ODE_NOISE_PLAIN) return 0;
  return ode_noise_values(plan) *
         (way == ODE_NOISE_DERIVATIVES && !plan->diagonal ? plan->components : 1);
}

/* The numbers of a lane's walk, noise and other values; 0 for other kinds. */
PORTABLE int64_t ode_noise_numbers(const ode_plan *plan) {
  if (plan->kind != ODE_NOISY) return 0;
  const brownian paths = ode_paths(plan);
  return brownian_stack(&paths) + ode_noise_values(plan) + ode_noise_others(plan);
}

#endif
