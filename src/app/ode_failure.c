/* What became of a single trajectory that failed, in words: where it stands, and what is not finite
 * there - a component, its derivative, the event - or right behind. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ode_job.h"

/* The values of f at (t, y) of the first own row. */
static void values_at(const ode_job *j, const formula *f, double t, double *value) {
  const ode_rows *r = &j->e.mine;
  const int n = j->in.components, shared = j->in.shared;
  formula_input in[1 + ODE_COMPONENTS_MAX + 2 * ODE_VALUES_MAX];
  double *out[ODE_COMPONENTS_MAX];
  in[0] = (formula_input){&t, 0};
  for (int c = 0; c < n; c++) in[1 + c] = (formula_input){&r->y[c], 0};
  for (int k = 0; k < shared; k++) in[1 + n + k] = (formula_input){&j->in.common[k], 0};
  for (int k = 0; k < j->in.own; k++) in[1 + n + shared + k] = (formula_input){&r->p[k], 0};
  for (int c = 0; c < f->outputs; c++) out[c] = &value[c];
  f->batch(f->context, 1, in, out);
}

static const char *word(double x) { return isnan(x) ? "NaN" : x > 0.0 ? "inf" : "-inf"; }

/* 1, and the text, if something at t is not finite for the state as it stands. */
static int say_at(ode_job *j, double t, const char *when) {
  double value[ODE_COMPONENTS_MAX];
  values_at(j, j->e.f.rhs, t, value);
  for (int c = 0; c < j->in.components; c++) {
    if (isfinite(value[c])) continue;
    snprintf(j->failure, sizeof j->failure, "the derivative of %s is %s %s t = %.17g",
             j->in.names[1 + c], word(value[c]), when, j->e.mine.t[0]);
    return 1;
  }
  if (j->e.f.event == NULL) return 0;
  values_at(j, j->e.f.event, t, value);
  if (!isnan(value[0])) return 0;
  snprintf(j->failure, sizeof j->failure, "the event is NaN %s t = %.17g", when, j->e.mine.t[0]);
  return 1;
}

static void say_not_finite(ode_job *j) {
  const ode_plan *plan = &j->e.plan;
  const ode_rows *r = &j->e.mine;
  const double step = plan->adaptive ? r->h[0] : ode_length(plan, r->attempts[0] - 1);
  for (int c = 0; c < j->in.components; c++) {
    if (isfinite(r->y[c])) continue;
    snprintf(j->failure, sizeof j->failure, "%s is %s at t = %.17g", j->in.names[1 + c],
             word(r->y[c]), r->t[0]);
    return;
  }
  if (say_at(j, r->t[0], "at") || say_at(j, nextafter(r->t[0], plan->t_end), "right after") ||
      say_at(j, r->t[0] + step, "in the step from")) {
    return;
  }
  snprintf(j->failure, sizeof j->failure,
           "a state, its derivative or the event is not finite in the step from t = %.17g: the "
           "solution may grow beyond all bounds, or the step be too long",
           r->t[0]);
}

status ode_find_failure(ode_job *j) {
  const ode_ensemble *e = &j->e;
  const ode_rows *r = &e->mine;
  const double t = r->count > 0 ? r->t[0] : 0.0;
  int owner = 0;
  if (j->in.trajectories > 1) return STATUS_OK;
  while (e->owned.first[owner + 1] == 0) owner++;
  switch (r->count > 0 ? r->status[0] : ODE_DONE) {
  case ODE_STEP_LIMIT:
    snprintf(j->failure, sizeof j->failure,
             "max_steps = %lld steps led to t = %.17g only: the system may be stiff (--method "
             "rodas4), or rtol smaller than need be",
             (long long)e->plan.max_steps, t);
    break;
  case ODE_STEP_TOO_SMALL:
    snprintf(j->failure, sizeof j->failure,
             "at t = %.17g the error estimate asks for ever smaller steps (h = %.3g): the solution "
             "may grow beyond all bounds there, or jump",
             t, r->h[0]);
    break;
  case ODE_NOT_FINITE:
    say_not_finite(j);
    break;
  default:
    break;
  }
  return comm_broadcast(j->run->c, j->failure, sizeof j->failure, owner);
}
