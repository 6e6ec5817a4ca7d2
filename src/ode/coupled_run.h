/* A run of one large coupled system over all ranks: set-up, steps, saving (coupled.h has what a
 * system is). Vectors are a rank's components, point by point, fields fastest; all vector work is
 * the backend's, halos and sums are those of linear solves (linear.h), so the bits depend neither
 * on ranks nor threads. A rank that fails alone keeps exchanging until the next sum (linear.h).
 * Functions are collective unless they say local. */
#ifndef COUPLED_RUN_H
#define COUPLED_RUN_H

#include "coupled_backend.h"
#include "coupled_clock.h"
#include "coupled_systems.h"
#include "function.h"
#include "linear.h"
#include "methods.h"

typedef struct coupled_newton coupled_newton; /* coupled_implicit.c */

typedef struct coupled_run {
  /* given */
  const backend *kernels;
  device *place;
  comm *world;
  compiler *with; /* NULL: formulas are interpreted */
  int threads;
  timers *timers;        /* may be NULL */
  progress *progress;    /* may be NULL */
  checkpointing *saving; /* may be NULL */
  const coupled_system *system;
  gidx n, m;                  /* 0: the system's own */
  const double *parameter;    /* [coupled_parameters] in their order */
  const char *const *initial; /* [fields] texts; NULL: the system's own */
  const char *const *where;   /* [fields] begins messages about derivatives */
  const char *const *where_initial;
  const char *method;         /* a name, or auto */
  const char *linear;         /* a solver's name; NULL: gmres */
  const char *preconditioner; /* NULL: auto */
  ode_plan plan;              /* instants, dt, tolerances, max_steps, save_at; the rest is set */

  /* made by coupled_open */
  const ode_method *by; /* at work now */
  int automatic;
  coupled_layout layout;
  ownership owned; /* of components */
  linear_system space;
  coupled_functions functions;
  function *rhs, *sums, *jacobian;
  double *constant; /* parameters and constants */
  coupled_work *work;
  vec y, u, v, e;
  vec k[ODE_STAGES + 1]; /* k[0] = f(t, y) */
  int end;               /* which k is the slope at u */
  double *saved;         /* [saves][components of this rank]; NaN: not met */
  void *kept;            /* coupled_saving.c's */
  /* of a checkpoint gone on from: at how many instants it has states, and those, while they become
   * this run's; [components of this rank][instants_there] */
  int64_t instants_there;
  double *saved_there;
  vec positions, velocities; /* verlet: 1 at the components that are, 0 at others */
  coupled_newton *newton;

  /* state */
  ode_work clock;
  int64_t stiff, smooth; /* looks in a row that found the step at the limit of stability, or not */
  int64_t switched;      /* auto: attempts made by the explicit method; -1: still at it */
  int told;              /* that it is stiff */

  /* results */
  int requested; /* asked to stop */
  int unsolved;  /* the last attempt failed because Newton did */
  int64_t rhs_count, newton_count, linear_count, matrices;
  double bad_time; /* ODE_NOT_FINITE: the end of the step that was not */
  /* stiffness as last seen */
  double stiff_h, stiff_product;
} coupled_run;

/* Checks method and options, makes layout, functions, vectors and initial values. A zeroed run may
 * be closed. STATUS_USAGE, _INPUT, _UNAVAILABLE. */
status coupled_open(coupled_run *run);
void coupled_close(coupled_run *run); /* local */

/* Points of a line, and lines: those given, or the system's own. Local. */
void coupled_points(const coupled_run *run, gidx *n, gidx *m);

/* From the state it has to t_end, or until asked to stop; clock[0].status says how it ended. */
status coupled_march(coupled_run *run);

/* "done", "step_limit", ...: how it ended, for the report; and in a sentence. Local. */
const char *coupled_reason(const coupled_run *run);
void coupled_explain(const coupled_run *run, char *text, size_t room);

/* Its steps are those of this method from now on. Local. */
void coupled_use(coupled_run *run, const ode_method *m);

/* ---- coupled_vectors.c ---- */

/* out = f(t, x), x's ghosts being filled on the way. */
status coupled_rhs(coupled_run *run, double t, vec x, vec out);

/* The mean of (e / (atol + rtol max(|y|, |u|)))^2; NaN where u is not finite. e.data NULL: 0, or
 * NaN. */
status coupled_weigh(coupled_run *run, vec e, vec y, vec u, double *mean);
status coupled_weigh_by(coupled_run *run, vec e, vec y, vec u, double rtol, double atol,
                        double *mean);

/* out = base + sum over j of (h weight[j]) k[j], weights of 0 left out. Local. */
void coupled_combine(coupled_run *run, int stages, const double *weight, double h, vec base,
                     vec out);
/* out = a x + b y; NULL data: left out. Local. */
void coupled_add(coupled_run *run, double a, vec x, double b, vec y, vec out);

/* v = the state at the fraction x of the step tried. Local. */
void coupled_between(coupled_run *run, double x);

/* ---- coupled_explicit.c, coupled_implicit.c ---- */

/* The end of the method's real interval of stability: steps with h |lambda| below it are stable; 0:
 * there is none. Local. */
double coupled_stable(const ode_method *m);

/* What verlet needs beside. */
status coupled_verlet_open(coupled_run *run);

/* Tries the step from t to next: u, k[end], error. */
status coupled_attempt_explicit(coupled_run *run);
status coupled_attempt_verlet(coupled_run *run);
status coupled_attempt_implicit(coupled_run *run);

/* coupled_between() of implicit steps. Local. */
void coupled_between_implicit(coupled_run *run, double x);

/* h lambda of the step tried, from its last two stages, which both lie at its end; 0 where the
 * method has no such stages. */
status coupled_stiffness(coupled_run *run, double *product);

status coupled_newton_open(coupled_run *run);
void coupled_newton_close(coupled_run *run); /* local */

/* ---- coupled_saving.c ---- */

/* The state as items of run->saving, then what a checkpoint holds: *number negative: none. */
status coupled_saving_add(coupled_run *run);
status coupled_saving_load(coupled_run *run, int64_t *number);

#endif
