/* Implicit stages: u = base + sum over i of weight[i] (term[i] - base) + scale rate(u), by CG with
 * multigrid as its preconditioner (implicit.c). Functions are collective unless they say local. */
#ifndef IMPLICIT_H
#define IMPLICIT_H

#include "multigrid.h"

typedef struct heat_implicit {
  heat_multigrid grid;
  heat_field y, p, x; /* residual's stage, direction, correction */
  double cells;       /* the sum of the shares of all points */

  /* of the last solve */
  int iterations;
  double residual;  /* relative to the right-hand side */
  double imbalance; /* of a steady state that is none: mean of what flows in; NaN: none */

  /* of all */
  int64_t solves, all_iterations;
} heat_implicit;

/* For run->scheme: the hierarchy of the run's grid and its fields. */
status heat_implicit_open(heat_run *run);
void heat_implicit_close(heat_run *run); /* local */

/* Solves the stage for *u, which holds a first guess: s->base, terms, weights and scale are given,
 * inputs and held values are those of time t. mass 0: 0 = rate(u) instead. What does not get to
 * run->solver_rtol of the right-hand side, nor to round-off, sets run->unsolved. */
status heat_implicit_solve(heat_run *run, heat_stage *s, double mass, double t, heat_field *u);

/* out = one cycle on e, the operator being that of the last solve: damps what it would. */
status heat_implicit_filter(heat_run *run, heat_field e, heat_field out);

/* The root of the weighted mean square of e over the domain. */
status heat_implicit_norm(heat_run *run, heat_field e, heat_field u, heat_field v, double *out);

/* out = a x + b y, local. */
status heat_implicit_combine(heat_run *run, double a, heat_field x, double b, heat_field y,
                             heat_field out);

/* ---- gradients.c ---- */

/* m->x = the correction for the residual level[0].r of the operator that is set, by CG, until the
 * residual it carries, whose norm is *norm (before, and after), is at most `target`. Scalars that
 * are not positive, or too many iterations, end it earlier. */
status heat_gradients(heat_run *run, double target, double *norm);

#endif
