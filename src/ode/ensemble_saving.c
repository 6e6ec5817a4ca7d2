/* Checkpoints of ensembles (ensemble.h): the state of every trajectory, by its number, so that any
 * number of ranks goes on from it. Limits may change: a later t_end takes trajectories up again
 * that were at the old one, more max_steps those that had used up theirs. */
#include <math.h>

#include "ensemble.h"

static status add(ode_ensemble *e, const char *name, checkpoint_type type, int64_t width,
                  void *data) {
  const checkpoint_item item = {.name = name,
                                .type = type,
                                .length = width * e->trajectories,
                                .first = width * e->mine.first,
                                .count = width * e->mine.count,
                                .data = data};
  return width == 0 ? STATUS_OK : checkpointing_add(e->saving, &item, NULL, NULL);
}

status ode_saving_add(ode_ensemble *e) {
  status rc = STATUS_OK;
  const ode_plan *plan = &e->plan;
  ode_rows *r = &e->mine;
  const int64_t n = plan->components;
  TRY(add(e, "/ode/y", CHECKPOINT_F64, n, r->y));
  TRY(add(e, "/ode/t", CHECKPOINT_F64, 1, r->t));
  TRY(add(e, "/ode/h", CHECKPOINT_F64, 1, r->h));
  TRY(add(e, "/ode/memory", CHECKPOINT_F64, 1, r->memory));
  TRY(add(e, "/ode/attempts", CHECKPOINT_I64, 1, r->attempts));
  TRY(add(e, "/ode/rejected", CHECKPOINT_I64, 1, r->rejected));
  TRY(add(e, "/ode/status", CHECKPOINT_BYTES, 1, r->status));
  TRY(add(e, "/ode/saved", CHECKPOINT_F64, plan->saves * n, r->saved));
done:
  return rc;
}

/* A trajectory that was at another t_end goes on, if it can. */
static status take_up(const ode_ensemble *e, int64_t i) {
  const ode_plan *plan = &e->plan;
  ode_rows r = e->mine;
  if (ode_before(plan, plan->t_end, r.t[i])) {
    return fail(STATUS_USAGE, "ode: the checkpoint is at t = %g already, behind t_end = %g", r.t[i],
                plan->t_end);
  }
  if (r.status[i] != ODE_DONE || !ode_before(plan, r.t[i], plan->t_end)) return STATUS_OK;
  r.status[i] = ODE_RUNNING;
  if (plan->adaptive || bits_of(ode_instant(plan, r.attempts[i])) == bits_of(r.t[i])) {
    return STATUS_OK;
  }
  return fail(STATUS_USAGE,
              "ode: the checkpoint's trajectories ended at t = %.17g, which is not a whole number "
              "of steps of %g: another t_end takes a fresh start",
              r.t[i], plan->dt);
}

/* Failed ones start anew; the others have to be where this run would bring them. */
static status start_failed(ode_ensemble *e, int64_t i) {
  ode_rows *r = &e->mine;
  if (ode_has_failed(r->status[i])) {
    ode_rows_start(e, r, r->first + i, 1);
  } else if (r->status[i] == ODE_RUNNING) {
    return fail(
        STATUS_USAGE,
        "only = failed: trajectory %lld of the checkpoint is unfinished; expected a restart "
        "without only before",
        (long long)(r->first + i));
  } else if (r->status[i] == ODE_DONE && r->t[i] != e->plan.t_end) {
    return fail(STATUS_USAGE,
                "only = failed: the trajectories of the checkpoint that are done end at t = %.17g; "
                "expected that t_end, not %.17g",
                r->t[i], e->plan.t_end);
  }
  return STATUS_OK;
}

static status look_at(ode_ensemble *e, int64_t i) {
  ode_rows *r = &e->mine;
  if (e->only == ONLY_FAILED) return start_failed(e, i);
  if (e->only == ONLY_ALL && r->status[i] == ODE_STEP_LIMIT && r->attempts[i] < e->plan.max_steps) {
    r->status[i] = ODE_RUNNING;
  }
  return take_up(e, i);
}

status ode_saving_load(ode_ensemble *e) {
  status rc = STATUS_OK;
  int64_t number;
  TRY(checkpointing_load(e->saving, &number));
  if (number < 0) goto done;
  for (int64_t i = 0; i < e->mine.count && rc == STATUS_OK; i++) rc = look_at(e, i);
  rc = comm_agree(e->world, rc);
done:
  return rc;
}
