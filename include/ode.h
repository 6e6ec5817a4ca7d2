/* Ensembles of initial value problems y' = f(t, y, p): what all trajectories share, where the
 * trajectories are kept, and the instants of a run.
 *
 * A trajectory is advanced from any state to any later one, so a run may stop and go on between two
 * step attempts: everything a later attempt depends on is in ode_states. The steps themselves are
 * in ode_explicit.h, ode_noisy.h and ode_implicit.h, the loop around them in ode_march.h; they are
 * written once, for `lanes` trajectories side by side (64 on CPUs, 1 in a GPU thread and in the
 * reference), and a trajectory's bits depend on neither the lanes nor its neighbours. */
#ifndef ODE_H
#define ODE_H

#include <math.h>

#include "portable.h"
#include "space.h"

/* Stages of a step at most, slopes that are kept of one, trajectories that stay together. */
enum { ODE_STAGES = 7, ODE_SLOPES = ODE_STAGES + 2, ODE_BLOCK = 256 };

/* How a trajectory stands. */
typedef enum ode_status {
  ODE_RUNNING,
  ODE_DONE,           /* at t_end */
  ODE_EVENT,          /* its event ended it: a success */
  ODE_STEP_LIMIT,     /* max_steps attempts, and not at the end */
  ODE_STEP_TOO_SMALL, /* the error estimate asks for steps below dt_min, or below the spacing of t
                       */
  ODE_NOT_FINITE,     /* a state, or every step however small, is NaN or infinite */
  ODE_STATUSES
} ode_status;

/* The kinds of steps there are; each has its own attempt function. */
typedef enum ode_kind {
  ODE_RUNGE_KUTTA, /* explicit, by tableau */
  ODE_VERLET,
  ODE_ROSENBROCK,
  ODE_IMPLICIT, /* backward Euler, tr-bdf2 */
  ODE_NOISY     /* Euler-Maruyama, Milstein */
} ode_kind;

/* The variants of ODE_IMPLICIT; those of ODE_RUNGE_KUTTA are in ode_tableau.h. */
typedef enum ode_implicit_variant { ODE_BACKWARD_EULER, ODE_TR_BDF2 } ode_implicit_variant;

/* Those of ODE_NOISY. */
typedef enum ode_noisy_variant { ODE_EULER_MARUYAMA, ODE_MILSTEIN } ode_noisy_variant;

/* Kinds whose steps factor a matrix: one lane (ODE_LANES 1) only. */
PORTABLE int ode_is_stiff(int kind) { return kind == ODE_ROSENBROCK || kind == ODE_IMPLICIT; }

/* Explicit Runge-Kutta methods, as text and as data (ode_tableau.h). */
typedef struct ode_tableau {
  int32_t stages, order;
  int32_t first_same; /* the last stage is f at the new state: the next step's first */
  double c[ODE_STAGES];
  double a[ODE_STAGES][ODE_STAGES];
  double b[ODE_STAGES];
  double e[ODE_STAGES]; /* b minus the weights of the embedded method; zeros: there is none */
  /* b at the fraction x of the step is x (d0 + x (d1 + x (d2 + x d3))); zeros: cubic Hermite */
  double dense[ODE_STAGES][4];
} ode_tableau;

/* What all trajectories of a run share. Steps have the sign of t_end - t_start. */
typedef struct ode_plan {
  int32_t kind;     /* ode_kind */
  int32_t variant;  /* which method of its kind */
  int32_t adaptive; /* the step follows the error estimate */
  int32_t order;    /* of the error estimate plus one: the error of a step is about h^order */
  int32_t components;
  int32_t shared, parameters; /* of p: values all trajectories share, then each one's own */
  int32_t has_event, has_jacobian, has_time; /* which functions there are besides f */
  int32_t noises;                            /* independent Brownian motions */
  int32_t diagonal; /* each component has its own; else every one may have all */
  int32_t additive; /* the noise does not depend on y */
  int32_t has_noise_jacobian;
  int32_t stratonovich, antithetic;
  double t_start, t_end;
  double dt; /* fixed steps: their length. Adaptive: of the first one, 0: to be estimated */
  double dt_min, rtol, atol;
  int64_t steps;     /* fixed steps: how many there are, the last one shorter if need be */
  int64_t max_steps; /* attempts a trajectory may make */
  int64_t saves;     /* instants to be saved, in the order they are met */
  int64_t together;  /* trajectories advanced at once, about; 0: not known */
  uint64_t seed;
  dptr save_at; /* [saves], in the backend's memory */
  dptr common;  /* [shared], likewise */
} ode_plan;

/* A run of trajectories first .. first + count, in one memory; arrays of several values are
 * [value][count]. */
typedef struct ode_states {
  int64_t first, count;
  dptr y;        /* double [components][count] */
  dptr p;        /* double [parameters][count] */
  dptr t, h;     /* double [count]; h: the next step to try, 0: not estimated yet */
  dptr memory;   /* double [count]: the controller's last error (ode_march.h) */
  dptr attempts; /* int64 [count]: steps tried */
  dptr rejected; /* int64 [count]: of those, steps thrown away */
  dptr status;   /* unsigned char [count] */
  dptr saved;    /* double [saves][components][count]; instants never met: not written */
} ode_states;

/* How many steps of length dt there are from t_start to t_end: a remainder of less than 1e-10 of a
 * step is rounding of dt, not a step. 0: dt is not a step that gets there. Local. */
PORTABLE int64_t ode_step_count(double t_start, double t_end, double dt) {
  const double span = t_end - t_start, whole = floor(span / dt);
  if (!(span / dt > 0.0) || !(span / dt < 4503599627370496.0)) return 0;
  const double rest = span / dt - whole;
  if (rest > 1e-10 * (whole > 1.0 ? 1.0 : whole)) return (int64_t)whole + 1;
  return (int64_t)whole;
}

/* The same for steps that are all of one length, on the way to a later t_end (noise): 0 where dt,
 * up to rounding, is not a whole part of the span, or there would be more than 2^48 steps. Local.
 */
PORTABLE int64_t ode_noise_steps(double t_start, double t_end, double dt) {
  const double parts = (t_end - t_start) / dt, whole = floor(parts + 0.5);
  if (!(dt > 0.0) || !(whole >= 1.0) || !(whole <= 281474976710656.0)) return 0;
  return fabs(parts - whole) <= fma(whole, 0x1p-51, 1e-10) ? (int64_t)whole : 0;
}

/* The instant step number k of fixed steps begins, k in [0, steps]. */
PORTABLE double ode_instant(const ode_plan *plan, int64_t k) {
  if (k >= plan->steps) return plan->t_end;
  return fma((double)k, plan->dt, plan->t_start);
}

/* The length of fixed step number k: dt but for the last one, which ends at t_end; where that is dt
 * up to rounding it is dt. */
PORTABLE double ode_length(const ode_plan *plan, int64_t k) {
  if (k + 1 < plan->steps) return plan->dt;
  const double last = plan->t_end - fma((double)k, plan->dt, plan->t_start);
  return fabs(last - plan->dt) <= 1e-9 * fabs(plan->dt) ? plan->dt : last;
}

/* Whether `a` comes before `b` on the way from t_start to t_end. */
PORTABLE int ode_before(const ode_plan *plan, double a, double b) {
  return plan->t_end < plan->t_start ? a > b : a < b;
}

/* How many of the instants to be saved are met by a trajectory that is at t (from its start on). */
PORTABLE int64_t ode_saves_until(const ode_plan *plan, double t) {
  const double *at = (const double *)plan->save_at.at;
  int64_t low = 0, high = plan->saves;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (ode_before(plan, t, at[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

#endif
