/* A trajectory by one GPU thread: ode_march.h with one lane, whose arrays are the thread's own, of
 * constant sizes and at constant places once loops are unrolled, so that those of small systems
 * live in registers. Valid C too: a test compiles the same text for the host
 * (tests/unit/ode_kernel_text.c).
 *
 * Fixed steps of Runge-Kutta methods that nobody asks about go by ode_steps_fused: of Lorenz by RK4
 * the loop is 45 double operations a step and one other; t vanishes where f does not use it.
 *
 * Who includes this defines before, as constants (ode_define.h),
 *   ODE_N, ODE_N_SHARED, ODE_N_OWN, ODE_THE_KIND, ODE_THE_VARIANT   those of the plan
 *   ODE_IS_ADAPTIVE, ODE_HAS_EVENT, ODE_HAS_SAVES, ODE_HAS_JACOBIAN, ODE_HAS_TIME
 *                                                                   likewise, 0 or 1
 *   ODE_TOGETHER                                                    see ode_fused.h
 *   ODE_N_NOISES, ODE_NOISE_IS                                      of kind ODE_NOISY
 * and the functions of the system,
 *   ode_value(in, out), ode_event_value(in, out), ode_time_value(in, out),
 *   ode_noise_value(in, out), and
 *   ode_jacobian_value(in, out), which is that of the noise where there is noise  (formula.h)
 * Systems of more than ODE_N_FUSED components stay in loops, whose arrays are local memory: else
 * their text would be compiled for minutes. */
#ifndef CUDA_ODE_THREAD_H
#define CUDA_ODE_THREAD_H

#include "ode_args.h"

#define ODE_SYSTEM_H
#define ODE_LANES            1
#define ODE_COMPONENTS(plan) (ODE_N <= ODE_N_FUSED ? ODE_N : (plan)->components)
#define ODE_SHARED(plan)     ODE_N_SHARED
#define ODE_PARAMETERS(plan) ODE_N_OWN
#define ODE_KIND(plan)       ODE_THE_KIND
#define ODE_VARIANT(plan)    ODE_THE_VARIANT
#define ODE_STEP(w)          ((w)->call->step)

enum {
  ODE_N_FUSED = 16,
  ODE_P = ODE_N_SHARED + ODE_N_OWN,
  ODE_IN = 1 + ODE_N + ODE_P,
  ODE_N_STIFF = ODE_THE_KIND == ODE_ROSENBROCK || ODE_THE_KIND == ODE_IMPLICIT ? ODE_N : 1
};

/* Numbers of the noise, one at least: the walk's, the noise's, and its derivatives' or others. */
enum {
  ODE_NOISY_HERE = ODE_THE_KIND == ODE_NOISY,
  ODE_N_WALK =
      ODE_NOISY_HERE ? (ODE_NOISE_IS / ODE_NOISE_LEVEL + 1) * ((ODE_N_NOISES + 1) / 2 * 2) : 1,
  ODE_N_NOISE = !ODE_NOISY_HERE                       ? 1
                : (ODE_NOISE_IS & ODE_NOISE_DIAGONAL) ? ODE_N
                                                      : ODE_N * ODE_N_NOISES,
  ODE_N_OTHER =
      ODE_N_NOISE *
      ((ODE_NOISE_IS & ODE_NOISE_KNOWN) && !(ODE_NOISE_IS & ODE_NOISE_DIAGONAL) ? ODE_N : 1)
};

typedef struct ode_call {
  const double *p; /* [ODE_P] */
  const ode_tableau *step;
} ode_call;

#include "ode_fused.h"

/* The inputs of the system's functions. */
PORTABLE void ode_inputs(const ode_call *call, const double *t, const double *y, double *in) {
  in[0] = t[0];
  for (int c = 0; c < ODE_N; c++) in[1 + c] = y[c];
  for (int j = 0; j < ODE_P; j++) in[1 + ODE_N + j] = call->p[j];
}

/* Where much text would be there many times: once. */
GPU_FAR void ode_value_far(const double *in, double *dy) { ode_value(in, dy); }

PORTABLE void ode_rhs(const ode_call *call, const double *t, const double *y, double *dy) {
  double in[ODE_IN];
  ode_inputs(call, t, y, in);
  if (ODE_N <= ODE_N_FUSED) {
    ode_value(in, dy);
  } else {
    ode_value_far(in, dy);
  }
}

PORTABLE void ode_event(const ode_call *call, const double *t, const double *y, double *g) {
  double in[ODE_IN];
  ode_inputs(call, t, y, in);
  ode_event_value(in, g);
}

PORTABLE void ode_jacobian(const ode_call *call, const double *t, const double *y, double *j) {
  double in[ODE_IN];
  ode_inputs(call, t, y, in);
  ode_jacobian_value(in, j);
}

PORTABLE void ode_time(const ode_call *call, const double *t, const double *y, double *ft) {
  double in[ODE_IN];
  ode_inputs(call, t, y, in);
  ode_time_value(in, ft);
}

PORTABLE void ode_noise(const ode_call *call, const double *t, const double *y, double *g) {
  double in[ODE_IN];
  ode_inputs(call, t, y, in);
  ode_noise_value(in, g);
}

PORTABLE void ode_noise_jacobian(const ode_call *call, const double *t, const double *y,
                                 double *dg) {
  ode_jacobian(call, t, y, dg);
}

#include "ode_explicit.h"
#include "ode_noisy.h"

PORTABLE void ode_steps(ode_work *w, int64_t count) {
  if (ODE_NOISY_HERE) {
    ode_steps_noisy(w, count);
  } else if (ODE_N <= ODE_N_FUSED) {
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

/* What is known of the noise, and where its numbers are. */
PORTABLE void ode_thread_noise(ode_plan *plan, ode_work *w, double *walk, double *noise,
                               double *other) {
  plan->kind = ODE_THE_KIND;
  plan->variant = ODE_THE_VARIANT;
  plan->components = ODE_N;
  plan->noises = ODE_N_NOISES;
  plan->diagonal = (ODE_NOISE_IS & ODE_NOISE_DIAGONAL) != 0;
  plan->additive = (ODE_NOISE_IS & ODE_NOISE_ADDITIVE) != 0;
  plan->has_noise_jacobian = (ODE_NOISE_IS & ODE_NOISE_KNOWN) != 0;
  plan->stratonovich = (ODE_NOISE_IS & ODE_NOISE_STRATONOVICH) != 0;
  plan->antithetic = (ODE_NOISE_IS & ODE_NOISE_ANTITHETIC) != 0;
  w->walk = walk;
  w->noise = noise;
  w->other = other;
}

/* Advances trajectory i; whether it is still on its way. */
PORTABLE int ode_thread(const ode_advance_args *a, int64_t i) {
  double y[ODE_N], u[ODE_N], v[ODE_N], k[ODE_SLOPES * ODE_N], p[ODE_P + 1];
  double walk[ODE_N_WALK], noise[ODE_N_NOISE], other[ODE_N_OTHER];
  double matrix[ODE_N_STIFF * ODE_N_STIFF];
  int pivot[ODE_N_STIFF];
  ode_plan plan = a->plan;
  ode_call call;
  ode_work w;
  plan.adaptive = ODE_IS_ADAPTIVE;
  plan.has_event = ODE_HAS_EVENT;
  plan.has_jacobian = ODE_HAS_JACOBIAN;
  plan.has_time = ODE_HAS_TIME;
  plan.saves = ODE_HAS_SAVES ? plan.saves : 0;
  call.p = p;
  call.step = &a->step;
  w.plan = &plan;
  w.call = &call;
  w.p = p;
  w.y = y;
  w.u = u;
  w.v = v;
  w.k = k;
  w.end = k;
  if (ODE_NOISY_HERE) ode_thread_noise(&plan, &w, walk, noise, other);
  w.matrix = matrix;
  w.pivot = pivot;
  for (int j = 0; j < ODE_N_SHARED; j++) p[j] = a->common[j];
  ode_march(&w, &a->states, i, i + 1, a->attempts);
  return ((const unsigned char *)a->states.status.at)[i] == ODE_RUNNING;
}

#endif
