/* What a group of ODE_LANES trajectories needs while it is advanced, and the arithmetic on it that
 * all kinds of steps share. Arrays of components are [component][lane], so that loops over lanes
 * are vectors on a CPU and single numbers, kept in registers, in a GPU thread.
 *
 * Who includes this defines ODE_SYSTEM_H before, and
 *   ODE_LANES                  how many trajectories side by side
 *   ODE_COMPONENTS(plan), ODE_SHARED(plan), ODE_PARAMETERS(plan), ODE_KIND(plan), ODE_VARIANT(plan)
 *                              those of the plan: constants where the compiler is to know them
 *   ode_call                   a type, and the functions of the system for all lanes at once:
 *   ode_rhs(call, t, y, dy)    dy[components][lanes] = f(t[lane], y, p)
 *   ode_event(call, t, y, g)   g[lanes]
 *   ode_noise(call, t, y, g)   g[lanes] of each value of the noise (ode_noisy.h), and
 *   ode_noise_jacobian(call, t, y, dg)  its derivatives; called for ODE_NOISY only
 *   ode_jacobian(call, t, y, j)  j[components][components][lanes]: d f_i / d y_j at
 *                              j[i * components + j]; called where plan->has_jacobian
 *   ode_time(call, t, y, ft)   ft[components][lanes]: d f_i / d t; called where plan->has_time
 * and, before ode_march.h,
 *   ode_steps(w, count), ode_try(w)  ode_steps_explicit and ode_attempt_explicit, or what does the
 *                              same with the system known to the compiler (ode_fused.h)
 * Every lane is worked on whether or not a trajectory is there: what is in the others is finite
 * or not, and of no consequence. */
#ifndef ODE_WORK_H
#define ODE_WORK_H

#include "brownian.h"
#include "elementary.h"
#include "ode_tableau.h"

#ifndef ODE_SYSTEM_H
#include "ode_alone.h"
#endif

typedef struct ode_work {
  const ode_plan *plan;
  const ode_call *call;
  double *p;      /* [shared + parameters][lanes] */
  double *y;      /* [components][lanes]: the state */
  double *u;      /* the same after the step that is tried */
  double *v;      /* the argument of a stage, or a state inside the step */
  double *k;      /* [ODE_SLOPES][components][lanes]: slopes; the first one is f(t, y) */
  double *end;    /* slopes at the end of the step tried: one of k */
  double *matrix; /* [components][components], of stiff methods: NULL for others */
  int *pivot;     /* [components], likewise */
  double t[ODE_LANES], h[ODE_LANES]; /* where the trajectories are; the step to try */
  double next[ODE_LANES];            /* where the step tried ends */
  double error[ODE_LANES]; /* square of its error estimate over the tolerance; NaN: not finite */
  double memory[ODE_LANES];
  double log_error[ODE_LANES], factor[ODE_LANES]; /* ode_judge */
  double event[ODE_LANES]; /* of the last state: the last value that was not zero */
  int64_t attempts[ODE_LANES], rejected[ODE_LANES], left[ODE_LANES];
  int64_t place[ODE_LANES]; /* in ode_states; negative: nobody is there */
  int32_t status[ODE_LANES];
  int32_t slope_known; /* k[0] is f(t, y) in all lanes */
  /* of ODE_NOISY alone (ode_noisy.h) */
  brownian paths;
  uint64_t trajectory[ODE_LANES];
  int64_t walked;        /* the step that `walk` is at; negative: at none */
  double *walk;          /* [brownian_stack()][lanes] */
  double *noise, *other; /* the noise at t, y; its derivatives there, or itself elsewhere */
} ode_work;

PORTABLE double *ode_slope(const ode_work *w, int stage) {
  return w->k + (int64_t)stage * ODE_COMPONENTS(w->plan) * ODE_LANES;
}

/* out = y + sum over j of h weight[j] k[j], for the weights that are not zero in their order: each
 * h weight[j] rounded, then one chain of fma from y. */
PORTABLE void ode_combine(const ode_work *w, int stages, const double *weight, double *out) {
  const int n = ODE_COMPONENTS(w->plan);
  double scaled[ODE_STAGES][ODE_LANES];
  const double *slope[ODE_STAGES];
  int terms = 0;
  for (int j = 0; j < stages; j++) {
    if (weight[j] == 0.0) continue;
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) scaled[terms][l] = w->h[l] * weight[j];
    slope[terms++] = ode_slope(w, j);
  }
#define ODE_TERM(j) s = fma(scaled[j][l], slope[j][at + l], s)
#define ODE_CHAIN(...)                                                                             \
  for (int c = 0; c < n; c++) {                                                                    \
    const int at = c * ODE_LANES;                                                                  \
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) {                                                \
      double s = w->y[at + l];                                                                     \
      __VA_ARGS__;                                                                                 \
      out[at + l] = s;                                                                             \
    }                                                                                              \
  }
  switch (terms) {
  case 0:
    ODE_CHAIN((void)0) break;
  case 1:
    ODE_CHAIN(ODE_TERM(0)) break;
  case 2:
    ODE_CHAIN(ODE_TERM(0), ODE_TERM(1)) break;
  case 3:
    ODE_CHAIN(ODE_TERM(0), ODE_TERM(1), ODE_TERM(2)) break;
  case 4:
    ODE_CHAIN(ODE_TERM(0), ODE_TERM(1), ODE_TERM(2), ODE_TERM(3)) break;
  case 5:
    ODE_CHAIN(ODE_TERM(0), ODE_TERM(1), ODE_TERM(2), ODE_TERM(3), ODE_TERM(4)) break;
  case 6:
    ODE_CHAIN(ODE_TERM(0), ODE_TERM(1), ODE_TERM(2), ODE_TERM(3), ODE_TERM(4), ODE_TERM(5))
    break;
  default:
    ODE_CHAIN(ODE_TERM(0), ODE_TERM(1), ODE_TERM(2), ODE_TERM(3), ODE_TERM(4), ODE_TERM(5),
              ODE_TERM(6))
  }
#undef ODE_CHAIN
#undef ODE_TERM
}

/* The scale errors of a component are measured by; never 0, so that a component that stays 0 has no
 * error where atol is 0. */
PORTABLE double ode_scale(const ode_plan *plan, double before, double after) {
  const double a = fabs(before), b = fabs(after);
  const double scale = fma(plan->rtol, a > b ? a : b, plan->atol);
  return scale > 0x1p-1022 ? scale : 0x1p-1022;
}

/* error = mean over components of (e / scale)^2, where e = sum h weight[j] k[j]; NaN or infinite
 * where the new state is not finite. */
PORTABLE void ode_measure(ode_work *w, int stages, const double *weight) {
  const int n = ODE_COMPONENTS(w->plan);
  for (int l = 0; l < ODE_LANES; l++) w->error[l] = 0.0;
  for (int c = 0; c < n; c++) {
    const int at = c * ODE_LANES;
    double e[ODE_LANES];
    for (int l = 0; l < ODE_LANES; l++) e[l] = 0.0;
    for (int j = 0; j < stages; j++) {
      const double *k = ode_slope(w, j) + at;
      if (weight[j] == 0.0) continue;
      EACH_LANE for (int l = 0; l < ODE_LANES; l++) e[l] = fma(weight[j], k[l], e[l]);
    }
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
      const double q = w->h[l] * e[l] / ode_scale(w->plan, w->y[at + l], w->u[at + l]);
      w->error[l] = fma(q, q, w->error[l]) + 0.0 * w->u[at + l];
    }
  }
  EACH_LANE for (int l = 0; l < ODE_LANES; l++) w->error[l] /= (double)n;
}

/* error = 0, or NaN where the new state is not finite: steps without an estimate. */
PORTABLE void ode_look(ode_work *w) {
  const int n = ODE_COMPONENTS(w->plan);
  for (int l = 0; l < ODE_LANES; l++) w->error[l] = 0.0;
  for (int c = 0; c < n; c++) {
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
      w->error[l] = fma(0.0, w->u[c * ODE_LANES + l], w->error[l]);
    }
  }
}

#endif
