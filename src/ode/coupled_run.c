/* The loop over steps of a coupled system (coupled_run.h): a step is tried, its error measured by a
 * sum over all ranks, and taken or not by the rules of single trajectories (ode_control.h). The sum
 * also tells who wants to stop or save, so ranks meet nowhere else.
 *
 * method = auto begins with tsit5. After each LOOK_EVERYth step that is taken, and after every step
 * while there is suspicion, h lambda is estimated (coupled_explicit.c); STIFF_LOOKS times at the
 * limit of stability with no SMOOTH_LOOKS times in a row below it, and the problem is called stiff
 * (the counts of DOPRI5: Hairer, Norsett, Wanner (1993), appendix; Hairer, Wanner (1996), IV.2):
 * auto goes on with tr-bdf2 for good, other methods say so once. */
#include "coupled_run.h"

#include <math.h>
#include <stdio.h>

#include "log.h"

enum { LOOK_EVERY = 25, STIFF_LOOKS = 15, SMOOTH_LOOKS = 6 };

static const vec NONE = {.rows = 0};

/* ---- the start ---- */

/* The first step, as ode_first_steps() has it, from norms over all components. */
static status first_step(coupled_run *run) {
  status rc = STATUS_OK;
  ode_work *w = &run->clock;
  const ode_plan *plan = &run->plan;
  const double sign = plan->t_end < plan->t_start ? -1.0 : 1.0;
  const double span = fabs(plan->t_end - plan->t_start);
  double size, slope, bend;
  TRY(coupled_weigh(run, run->y, run->y, run->y, &size));
  TRY(coupled_weigh(run, run->k[0], run->y, run->y, &slope));
  size = sqrt(size);
  slope = sqrt(slope);
  double h = size < 1e-5 || slope < 1e-5 ? 1e-6 : 0.01 * (size / slope);
  if (!(h < span)) h = span;
  coupled_add(run, sign * h, run->k[0], 1.0, run->y, run->v);
  TRY(coupled_rhs(run, fma(sign, h, w->t[0]), run->v, run->k[1]));
  coupled_add(run, 1.0, run->k[1], -1.0, run->k[0], run->e);
  TRY(coupled_weigh(run, run->e, run->y, run->y, &bend));
  bend = sqrt(bend) / h;
  const double most = bend > slope ? bend : slope;
  double next = h * 1e-3 > 1e-6 ? h * 1e-3 : 1e-6;
  if (most > 1e-15) next = elementary_exp(elementary_log(0.01 / most) / (double)plan->order);
  if (!(next < 100.0 * h)) next = 100.0 * h;
  if (!(next < span)) next = span;
  w->h[0] = sign * next;
done:
  return rc;
}

static void save(coupled_run *run, int64_t instant, vec from) {
  linear_system *s = &run->space;
  ATTEMPT(s, linear_store(s, run->saved + instant * s->rows, from));
}

/* What a run that has made no step yet needs: the slope, a look at both, what is saved at once. */
static status arrive(coupled_run *run) {
  status rc = STATUS_OK;
  ode_work *w = &run->clock;
  const ode_plan *plan = &run->plan;
  const double *at = plan->save_at.at;
  double look;
  TRY(coupled_rhs(run, w->t[0], run->y, run->k[0]));
  for (int64_t i = 0; i < plan->saves && !ode_before(plan, plan->t_start, at[i]); i++) {
    save(run, i, run->y);
  }
  TRY(coupled_weigh(run, NONE, run->y, run->k[0], &look));
  if (look != 0.0) {
    w->status[0] = ODE_NOT_FINITE;
    run->bad_time = w->t[0];
  } else if (plan->adaptive && w->h[0] == 0.0) {
    TRY(first_step(run));
  }
  if (plan->t_end == plan->t_start && w->status[0] == ODE_RUNNING) w->status[0] = ODE_DONE;
done:
  return rc;
}

/* ---- stiffness ---- */

static status go_implicit(coupled_run *run) {
  status rc = STATUS_OK;
  const ode_method *m = ode_method_find("tr-bdf2");
  log_info("stiff: at t = %.6g the step %.3g is bounded by stability, not by accuracy: h |lambda| "
           "= %.3g, the limit of %s is %.3g; going on with %s after %lld steps",
           run->clock.t[0], run->stiff_h, run->stiff_product, run->by->name,
           coupled_stable(run->by), m->name, (long long)run->clock.attempts[0]);
  run->switched = run->clock.attempts[0];
  run->clock.memory[0] = 0.0;
  coupled_use(run, m);
  TRY(coupled_newton_open(run));
done:
  return rc;
}

static void say_stiff(coupled_run *run) {
  if (run->told) return;
  run->told = 1;
  log_warning(
      "the problem is stiff: from about t = %.6g the step %.3g is bounded by stability, not "
      "by accuracy (h |lambda| = %.3g, the limit of %s is %.3g); tr-bdf2, or method = auto, "
      "can make larger ones",
      run->clock.t[0], run->stiff_h, run->stiff_product, run->by->name, coupled_stable(run->by));
}

/* After a step that is to be taken, before y is replaced. *stiff: it is called so now. */
static status look_for_stiffness(coupled_run *run, int *stiff) {
  status rc = STATUS_OK;
  const int64_t taken = run->clock.attempts[0] - run->clock.rejected[0];
  double product;
  *stiff = 0;
  if (run->plan.kind != ODE_RUNGE_KUTTA || !run->plan.adaptive || run->told) goto done;
  if (run->stiff == 0 && taken % LOOK_EVERY != LOOK_EVERY - 1) goto done;
  TRY(coupled_stiffness(run, &product));
  if (product > 0.9 * coupled_stable(run->by)) {
    run->smooth = 0;
    run->stiff_h = run->clock.h[0];
    run->stiff_product = product;
    *stiff = ++run->stiff == STIFF_LOOKS;
  } else if (run->stiff > 0 && ++run->smooth == SMOOTH_LOOKS) {
    run->stiff = run->smooth = 0;
  }
done:
  return rc;
}

/* ---- steps ---- */

static void save_inside(coupled_run *run) {
  const ode_plan *plan = &run->plan;
  const ode_work *w = &run->clock;
  const double *at = plan->save_at.at;
  for (int64_t i = ode_saves_until(plan, w->t[0]);
       i < plan->saves && !ode_before(plan, w->next[0], at[i]); i++) {
    if (at[i] == w->next[0]) {
      save(run, i, run->u);
    } else {
      coupled_between(run, (at[i] - w->t[0]) / w->h[0]);
      save(run, i, run->v);
    }
  }
}

static void swap(vec *a, vec *b) {
  const vec t = *a;
  *a = *b;
  *b = t;
}

/* One attempt, taken or not. */
static status step(coupled_run *run) {
  status rc = STATUS_OK;
  ode_work *w = &run->clock;
  int stiff = 0;
  ode_aim(w, 0);
  run->unsolved = 0;
  switch (run->plan.kind) {
  case ODE_RUNGE_KUTTA:
    TRY(coupled_attempt_explicit(run));
    break;
  case ODE_VERLET:
    TRY(coupled_attempt_verlet(run));
    break;
  default:
    TRY(coupled_attempt_implicit(run));
  }
  const int taken = w->error[0] <= 1.0;
  if (taken) {
    TRY(look_for_stiffness(run, &stiff));
    save_inside(run);
    swap(&run->y, &run->u);
    swap(&run->k[0], &run->k[run->end]);
  }
  w->attempts[0]++;
  if (run->plan.adaptive) ode_judge(w);
  if (taken) {
    ode_accept(w, 0);
    w->t[0] = w->next[0];
  } else {
    ode_reject(w, 0);
    if (w->status[0] == ODE_NOT_FINITE) run->bad_time = w->next[0];
  }
  if (w->status[0] == ODE_RUNNING && w->attempts[0] >= run->plan.max_steps) {
    w->status[0] = ODE_STEP_LIMIT;
  }
  if (stiff && w->status[0] == ODE_RUNNING) {
    if (run->automatic) {
      TRY(go_implicit(run));
    } else {
      say_stiff(run);
    }
  }
done:
  return rc;
}

/* Where somebody asked, or a checkpoint is due. */
static status meet(coupled_run *run) {
  status rc = STATUS_OK;
  linear_system *s = &run->space;
  stop_cause cause = STOP_NONE;
  const int64_t number = run->clock.attempts[0];
  const int due = checkpointing_next(run->saving, number - 1) == number;
  if (s->asked == 0 && !due) goto done;
  s->asked = 0;
  TRY(comm_agree(run->world, s->failure));
  if (run->saving == NULL) goto done;
  TRY(checkpointing_meet(run->saving, number, 0, &cause));
  run->requested = cause == STOP_SIGNAL || cause == STOP_TIME;
done:
  return rc;
}

status coupled_march(coupled_run *run) {
  status rc = STATUS_OK;
  ode_work *w = &run->clock;
  linear_phase(&run->space, PHASE_COMPUTE);
  if (w->attempts[0] == 0) TRY(arrive(run));
  while (w->status[0] == ODE_RUNNING && !run->requested) {
    TRY(step(run));
    if (w->status[0] == ODE_RUNNING) TRY(meet(run));
    if (run->progress != NULL) {
      progress_step(run->progress, w->attempts[0], run->plan.steps, w->t[0]);
    }
  }
  if (run->progress != NULL) progress_end(run->progress, w->attempts[0], w->t[0]);
done:
  linear_phase(&run->space, PHASE_SETUP);
  return comm_agree(run->world, rc == STATUS_OK ? run->space.failure : rc);
}

/* ---- how it ended ---- */

const char *coupled_reason(const coupled_run *run) {
  static const char *const names[ODE_STATUSES] = {[ODE_RUNNING] = "requested",
                                                  [ODE_DONE] = "done",
                                                  [ODE_EVENT] = "event",
                                                  [ODE_STEP_LIMIT] = "step_limit",
                                                  [ODE_STEP_TOO_SMALL] = "step_too_small",
                                                  [ODE_NOT_FINITE] = "not_finite"};
  return run->unsolved && run->clock.status[0] != ODE_DONE ? "not_solved"
                                                           : names[run->clock.status[0]];
}

void coupled_explain(const coupled_run *run, char *text, size_t room) {
  const ode_work *w = &run->clock;
  const double t = w->t[0];
  char stiff[240] = "";
  if (run->stiff > 0 || run->told) {
    snprintf(stiff, sizeof stiff,
             "; the problem is stiff there (h |lambda| = %.3g, the limit of %s is %.3g): tr-bdf2 "
             "can make larger steps",
             run->stiff_product, run->by->name, coupled_stable(run->by));
  }
  if (run->unsolved && w->status[0] != ODE_DONE) {
    snprintf(text, room,
             "at t = %.17g Newton's method did not converge for any step tried, the last "
             "one being %.3g",
             t, w->h[0]);
    return;
  }
  switch (w->status[0]) {
  case ODE_STEP_LIMIT:
    snprintf(text, room, "max_steps = %lld steps made, at t = %.17g%s",
             (long long)run->plan.max_steps, t, stiff);
    break;
  case ODE_STEP_TOO_SMALL:
    snprintf(text, room, "at t = %.17g the error estimate asks for steps below %.3g%s", t, w->h[0],
             stiff);
    break;
  case ODE_NOT_FINITE:
    snprintf(text, room, "the state is not finite at t = %.17g (the last good one: t = %.17g)",
             run->bad_time, t);
    break;
  default:
    snprintf(text, room, "at t = %.17g", t);
  }
}
