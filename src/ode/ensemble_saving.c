/* Checkpoints of ensembles (ensemble.h): the state of every trajectory, by its number, so that any
 * number of ranks goes on from it. Limits may change: a later t_end takes trajectories up again
 * that were at the old one, more max_steps those that had used up theirs; and what is saved
 * (instants.h). */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "ensemble.h"
#include "instants.h"
#include "take_up.h"

static const char SAVED[] = "/ode/saved", SAVE_AT[] = "/ode/save_at";

static checkpoint_item rows_of(const ode_ensemble *e, const char *name, checkpoint_type type,
                               int64_t width, void *data) {
  return (checkpoint_item){.name = name,
                           .type = type,
                           .length = width * e->trajectories,
                           .first = width * e->mine.first,
                           .count = width * e->mine.count,
                           .data = data};
}

static status add(ode_ensemble *e, const char *name, checkpoint_type type, int64_t width,
                  void *data) {
  const checkpoint_item item = rows_of(e, name, type, width, data);
  return checkpointing_add(e->saving, &item, NULL, NULL);
}

/* The saved states of a checkpoint: into this run's rows where they are as many. */
static status make_room(void *context, checkpoint_item *item, int64_t length) {
  status rc = STATUS_OK;
  ode_ensemble *e = context;
  const int64_t n = e->plan.components, width = length / e->trajectories;
  alloc_free(&e->saved_there);
  e->instants_there = width / n;
  if (e->instants_there * n * e->trajectories != length) {
    return fail(STATUS_IO, "%s: %lld numbers, for %lld trajectories of %lld components", SAVED,
                (long long)length, (long long)e->trajectories, (long long)n);
  }
  if (length == item->length) return STATUS_OK;
  TRY(alloc_array(&e->saved_there, width * e->mine.count, sizeof(double), "saved states"));
  *item = rows_of(e, SAVED, CHECKPOINT_F64, width, e->saved_there);
done:
  return rc;
}

static status add_saved(ode_ensemble *e) {
  status rc = STATUS_OK;
  checkpoint_item item =
      rows_of(e, SAVED, CHECKPOINT_F64, e->plan.saves * e->plan.components, e->mine.saved);
  const checkpoint_item times = {.name = SAVE_AT,
                                 .type = CHECKPOINT_F64,
                                 .replicated = 1,
                                 .length = e->plan.saves,
                                 .data = (void *)e->save_at};
  item.resize = make_room;
  item.context = e;
  TRY(checkpointing_add(e->saving, &times, NULL, NULL));
  TRY(checkpointing_add(e->saving, &item, NULL, NULL));
done:
  return rc;
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
  TRY(add_saved(e));
done:
  return rc;
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
  status rc = STATUS_OK;
  int stands;
  ode_rows *r = &e->mine;
  if (e->only == ONLY_FAILED) return start_failed(e, i);
  if (e->only == ONLY_ALL && r->status[i] == ODE_STEP_LIMIT && r->attempts[i] < e->plan.max_steps) {
    r->status[i] = ODE_RUNNING;
  }
  TRY(ode_take_up(&e->plan, r->t[i], r->attempts[i], r->status[i], &stands));
  r->status[i] = (unsigned char)stands;
done:
  return rc;
}

/* Row i of what is saved, from the checkpoint's; `row` has room for one of those. */
static void take_saved(ode_ensemble *e, instants *m, int64_t i, double *row) {
  const ode_rows *r = &e->mine;
  const int64_t n = e->plan.components, saves = e->plan.saves, width = m->there * n;
  const double *there = e->saved_there != NULL ? e->saved_there : r->saved;
  memcpy(row, there + i * width, (size_t)width * sizeof *row);
  for (int64_t k = 0; k < saves; k++) {
    const int64_t source = instants_source(m, k, r->t[i], r->status[i]);
    double *to = r->saved + (i * saves + k) * n;
    if (source == INSTANT_NONE) {
      for (int64_t c = 0; c < n; c++) to[c] = NAN;
    } else {
      memcpy(to, source == INSTANT_NOW ? r->y + i * n : row + source * n, (size_t)n * sizeof *to);
    }
  }
}

/* Everything is loaded: trajectories that start anew have nothing saved yet, the others what the
 * checkpoint has. */
static status settle(ode_ensemble *e, instants *m) {
  status rc = STATUS_OK;
  const int starts = e->only == ONLY_FAILED;
  double *row = NULL;
  TRY(alloc_array(&row, m->there * e->plan.components, sizeof *row, "saved states"));
  for (int64_t i = 0; i < e->mine.count; i++) {
    if (!starts || !ode_has_failed(e->mine.status[i])) take_saved(e, m, i, row);
    TRY(look_at(e, i));
  }
done:
  alloc_free(&row);
  return rc;
}

status ode_saving_load(ode_ensemble *e) {
  status rc = STATUS_OK;
  instants m = {0};
  int64_t number, there;
  TRY(checkpointing_load(e->saving, &number));
  if (number < 0) goto done;
  const double *then = checkpointing_loaded(e->saving, SAVE_AT, &there);
  if (there != e->instants_there) {
    rc = comm_agree(e->world, fail(STATUS_IO, "a checkpoint of another layout"));
    goto done;
  }
  rc = instants_match(&e->plan, e->save_at, then, there, &m);
  if (rc == STATUS_OK) rc = settle(e, &m);
  TRY(comm_agree(e->world, rc));
  rc = instants_check(e->world, &m, e->trajectories);
done:
  alloc_free(&e->saved_there);
  instants_release(&m);
  return rc;
}
