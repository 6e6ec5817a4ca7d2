/* Robertson's problem for many triples of rates, as the benchmarks measure it: the expressions, the
 * start, the rates and the plan. Source: Robertson (1966); Hairer, Wanner, Solving Ordinary
 * Differential Equations II (1996), IV.1. */
#ifndef ROBERTSON_H
#define ROBERTSON_H

#include <math.h>

#include "function.h"
#include "ode.h"

static const double ROBERTSON_END = 1e5;

static inline function_request robertson_request(void) {
  static const char *const names[] = {"t", "x", "y", "z", "k1", "k2", "k3", NULL};
  static const char *const texts[] = {"-k1*x + k3*y*z", "k1*x - k2*y^2 - k3*y*z", "k2*y^2"};
  static const char *const where[] = {"x", "y", "z"};
  return (function_request){.texts = texts, .where = where, .names = names, .outputs = 3};
}

static inline uint64_t robertson_scramble(uint64_t z) {
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* y and p as ode_states has them, of zeros: the start (1, 0, 0); rates within a factor of 2 of
 * 0.04, 3e7, 1e4, those of trajectory i the same whatever the count. */
static inline void robertson_start(int64_t count, double *y, double *p) {
  static const double rate[] = {0.04, 3e7, 1e4};
  for (int64_t i = 0; i < count; i++) {
    y[i] = 1.0;
    for (int j = 0; j < 3; j++) {
      const uint64_t word =
          robertson_scramble((uint64_t)(3 * i + j) + UINT64_C(0x9e3779b97f4a7c15));
      p[j * count + i] = rate[j] * exp2(2.0 * (double)(word >> 11) * 0x1p-53 - 1.0);
    }
  }
}

/* rodas4 with the Jacobian. */
static inline ode_plan robertson_plan(double rtol, double atol) {
  return (ode_plan){.kind = ODE_ROSENBROCK,
                    .adaptive = 1,
                    .order = 4,
                    .components = 3,
                    .parameters = 3,
                    .has_jacobian = 1,
                    .t_end = ROBERTSON_END,
                    .rtol = rtol,
                    .atol = atol,
                    .max_steps = 1000000};
}

#endif
