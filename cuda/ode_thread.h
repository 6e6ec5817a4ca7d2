/* A trajectory by one GPU thread: ode_march.h with one lane, whose arrays are the thread's own, of
 * constant sizes and at constant places once loops are unrolled, so that those of small systems
 * live in registers. Valid C too: a test compiles the same text for the host
 * (tests/unit/ode_kernel_text.c).
 *
 * Fixed steps of Runge-Kutta methods that nobody asks about go by ode_steps_fused: of Lorenz by RK4
 * the loop is 45 double operations a step and 2 others; t vanishes where f does not use it.
 *
 * Who includes this defines before, as constants (ode_define.h),
 *   ODE_N, ODE_N_SHARED, ODE_N_OWN, ODE_THE_KIND, ODE_THE_VARIANT   those of the plan
 *   ODE_IS_ADAPTIVE, ODE_HAS_EVENT, ODE_HAS_SAVES                   likewise, 0 or 1
 * and the functions of the system,
 *   ode_value(in, out), ode_event_value(in, out)                    (formula.h)
 * Systems of more than ODE_N_FUSED components are left in loops: their arrays are local memory. */
#ifndef CUDA_ODE_THREAD_H
#define CUDA_ODE_THREAD_H

#include "ode_args.h"

#define ODE_SYSTEM_H
#define ODE_LANES            1
#define ODE_COMPONENTS(plan) ODE_N
#define ODE_SHARED(plan)     ODE_N_SHARED
#define ODE_PARAMETERS(plan) ODE_N_OWN
#define ODE_KIND(plan)       ODE_THE_KIND
#define ODE_VARIANT(plan)    ODE_THE_VARIANT

enum { ODE_N_FUSED = 16, ODE_P = ODE_N_SHARED + ODE_N_OWN, ODE_IN = 1 + ODE_N + ODE_P };

typedef struct ode_call {
  const double *p; /* [ODE_P] */
} ode_call;

#include "ode_fused.h"

/* The inputs of the system's functions. */
PORTABLE void ode_inputs(const ode_call *call, const double *t, const double *y, double *in) {
  in[0] = t[0];
  for (int c = 0; c < ODE_N; c++) in[1 + c] = y[c];
  for (int j = 0; j < ODE_P; j++) in[1 + ODE_N + j] = call->p[j];
}

PORTABLE void ode_rhs(const ode_call *call, const double *t, const double *y, double *dy) {
  double in[ODE_IN];
  ode_inputs(call, t, y, in);
  ode_value(in, dy);
}

PORTABLE void ode_event(const ode_call *call, const double *t, const double *y, double *g) {
  double in[ODE_IN];
  ode_inputs(call, t, y, in);
  ode_event_value(in, g);
}

#include "ode_explicit.h"

PORTABLE void ode_steps(ode_work *w, int64_t count) {
  if (ODE_N <= ODE_N_FUSED) {
    ode_steps_fused(w, count);
  } else {
    ode_steps_explicit(w, count);
  }
}

PORTABLE void ode_try(ode_work *w) {
  if (ODE_N <= ODE_N_FUSED && ODE_IS_ADAPTIVE) {
    ode_attempt_fused(w);
  } else if (ODE_N <= ODE_N_FUSED) {
    ode_attempt_fixed_fused(w);
  } else {
    ode_attempt_explicit(w);
  }
}

#include "ode_march.h"

/* Advances trajectory i; whether it is still on its way. */
PORTABLE int ode_thread(const ode_advance_args *a, int64_t i) {
  double y[ODE_N], u[ODE_N], v[ODE_N], k[ODE_SLOPES * ODE_N], p[ODE_P + 1];
  ode_plan plan = a->plan;
  ode_call call;
  ode_work w;
  plan.adaptive = ODE_IS_ADAPTIVE;
  plan.has_event = ODE_HAS_EVENT;
  plan.saves = ODE_HAS_SAVES ? plan.saves : 0;
  call.p = p;
  w.plan = &plan;
  w.call = &call;
  w.p = p;
  w.y = y;
  w.u = u;
  w.v = v;
  w.k = k;
  w.end = k;
  for (int j = 0; j < ODE_N_SHARED; j++) p[j] = a->common[j];
  ode_march(&w, &a->states, i, i + 1, a->attempts);
  return ((const unsigned char *)a->states.status.at)[i] == ODE_RUNNING;
}

#endif
