/* Robertson's problem for many triples of rates, as the benchmarks measure it: the expressions, the
 * start, the rates and the plan. Source: Robertson (1966); Hairer, Wanner, Solving Ordinary
 * Differential Equations II (1996), IV.1. */
#ifndef ROBERTSON_H
#define ROBERTSON_H

#include <math.h>

#include "function.h"
#include "ode_backend.h"

static const double ROBERTSON_END = 1e5;

/* f and, differentiated, its Jacobian and its derivative by t: what rodas4 asks for. */
typedef struct robertson {
  function *rhs, *jacobian, *time;
  ode_functions f;
} robertson;

static inline void robertson_release(robertson *r) {
  function_release(&r->rhs);
  function_release(&r->jacobian);
  function_release(&r->time);
}

/* `with` NULL: interpreted. Collective; released also after a failure. */
static inline status robertson_make(comm *c, compiler *with, robertson *out) {
  status rc = STATUS_OK;
  static const char *const names[] = {"t", "x", "y", "z", "k1", "k2", "k3", NULL};
  static const char *const texts[] = {"-k1*x + k3*y*z", "k1*x - k2*y^2 - k3*y*z", "k2*y^2"};
  static const char *const where[] = {"x", "y", "z"};
  const function_request r = {
      .texts = texts, .where = where, .names = names, .outputs = 3, .plain = with == NULL};
  *out = (robertson){0};
  TRY(function_create(c, with, &r, &out->rhs));
  TRY(function_jacobian(c, with, out->rhs, 1, 3, &out->jacobian));
  TRY(function_jacobian(c, with, out->rhs, 0, 1, &out->time));
  out->f = (ode_functions){.rhs = function_formula(out->rhs),
                           .jacobian = function_formula(out->jacobian),
                           .time = function_formula(out->time)};
done:
  return rc;
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

/* rodas4 with all derivatives. */
static inline ode_plan robertson_plan(double rtol, double atol) {
  return (ode_plan){.kind = ODE_ROSENBROCK,
                    .adaptive = 1,
                    .order = 4,
                    .components = 3,
                    .parameters = 3,
                    .has_jacobian = 1,
                    .has_time = 1,
                    .t_end = ROBERTSON_END,
                    .rtol = rtol,
                    .atol = atol,
                    .max_steps = 1000000};
}

#endif
