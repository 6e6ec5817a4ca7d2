/* The system that the headers of trajectories' steps (ode_work.h and on) are about where nobody has
 * named one: y' = 0 in one component, so that they can be read and compiled on their own. Who has a
 * system defines what is here, and ODE_SYSTEM_H, instead. */
#ifndef ODE_SYSTEM_H
#define ODE_SYSTEM_H

#include "portable.h"

#define ODE_LANES            1
#define ODE_N                1
#define ODE_COMPONENTS(plan) 1
#define ODE_SHARED(plan)     0
#define ODE_PARAMETERS(plan) 0
#define ODE_KIND(plan)       0
#define ODE_VARIANT(plan)    0
#define ODE_STEP(w)          ((const ode_tableau *)0)
#define ODE_TOGETHER         1

typedef struct ode_call {
  int nothing;
} ode_call;

PORTABLE void ode_value(const double *in, double *out) { out[0] = 0.0 * in[1]; }

PORTABLE void ode_rhs(const ode_call *call, const double *t, const double *y, double *dy) {
  dy[0] = 0.0 * (call->nothing + t[0] + y[0]);
}

PORTABLE void ode_event(const ode_call *call, const double *t, const double *y, double *g) {
  g[0] = 1.0 + 0.0 * (call->nothing + t[0] + y[0]);
}

PORTABLE void ode_noise(const ode_call *call, const double *t, const double *y, double *g) {
  g[0] = 1.0 + 0.0 * (call->nothing + t[0] + y[0]);
}

PORTABLE void ode_noise_jacobian(const ode_call *call, const double *t, const double *y,
                                 double *dg) {
  dg[0] = 0.0 * (call->nothing + t[0] + y[0]);
}

PORTABLE void ode_jacobian(const ode_call *call, const double *t, const double *y, double *j) {
  j[0] = 0.0 * (call->nothing + t[0] + y[0]);
}

PORTABLE void ode_time(const ode_call *call, const double *t, const double *y, double *ft) {
  ft[0] = 0.0 * (call->nothing + t[0] + y[0]);
}

#define ode_steps(w, count) ode_steps_explicit(w, count)
#define ode_try(w)          ode_attempt_explicit(w)

#endif
