/* Checkpoints of a coupled run: the state and its slope, the instants saved so far (by component,
 * so that a rank has one run of them), time, step and controller. A run that goes on makes the
 * steps the first one would have made, to the last bit, on any number of ranks. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "coupled_run.h"

enum { T, H, MEMORY, STIFF_H, STIFF_PRODUCT, REALS };
enum {
  ATTEMPTS,
  REJECTED,
  STATUS,
  STIFF,
  SMOOTH,
  SWITCHED,
  TOLD,
  RHS,
  NEWTON,
  LINEAR,
  MATRICES,
  WHOLES
};

/* What lives between two saves. */
typedef struct kept {
  double real[REALS];
  int64_t whole[WHOLES];
} kept;

static status move_state(void *context, void *buffer, int to_file) {
  coupled_run *run = context;
  return to_file ? linear_store(&run->space, buffer, run->y)
                 : linear_load(&run->space, run->y, buffer);
}

static status move_slope(void *context, void *buffer, int to_file) {
  coupled_run *run = context;
  return to_file ? linear_store(&run->space, buffer, run->k[0])
                 : linear_load(&run->space, run->k[0], buffer);
}

static status move_saved(void *context, void *buffer, int to_file) {
  coupled_run *run = context;
  const int64_t saves = run->plan.saves, rows = run->space.rows;
  double *at = buffer;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t k = 0; k < saves; k++) {
      double *there = &run->saved[k * rows + i];
      if (to_file) {
        at[i * saves + k] = *there;
      } else {
        *there = at[i * saves + k];
      }
    }
  }
  return STATUS_OK;
}

static status refresh_reals(void *context, checkpoint_item *item) {
  const coupled_run *run = context;
  const ode_work *w = &run->clock;
  const double real[REALS] = {[T] = w->t[0],
                              [H] = w->h[0],
                              [MEMORY] = w->memory[0],
                              [STIFF_H] = run->stiff_h,
                              [STIFF_PRODUCT] = run->stiff_product};
  memcpy(item->data, real, sizeof real);
  return STATUS_OK;
}

static status refresh_wholes(void *context, checkpoint_item *item) {
  const coupled_run *run = context;
  const ode_work *w = &run->clock;
  const int64_t whole[WHOLES] = {
      [ATTEMPTS] = w->attempts[0],  [REJECTED] = w->rejected[0], [STATUS] = w->status[0],
      [STIFF] = run->stiff,         [SMOOTH] = run->smooth,      [SWITCHED] = run->switched,
      [TOLD] = run->told,           [RHS] = run->rhs_count,      [NEWTON] = run->newton_count,
      [LINEAR] = run->linear_count, [MATRICES] = run->matrices};
  memcpy(item->data, whole, sizeof whole);
  return STATUS_OK;
}

status coupled_saving_add(coupled_run *run) {
  status rc = STATUS_OK;
  const linear_system *s = &run->space;
  const int64_t saves = run->plan.saves;
  checkpoint_item state = {.name = "/ode/state",
                           .type = CHECKPOINT_F64,
                           .length = s->global_rows,
                           .first = s->first_row,
                           .count = s->rows,
                           .move = move_state,
                           .context = run};
  if (run->kept == NULL) TRY(alloc_zeroed(&run->kept, 1, sizeof(kept), "checkpoints"));
  kept *k = run->kept;
  const checkpoint_item reals = {.name = "/ode/reals",
                                 .type = CHECKPOINT_F64,
                                 .replicated = 1,
                                 .length = REALS,
                                 .data = k->real};
  const checkpoint_item wholes = {.name = "/ode/integers",
                                  .type = CHECKPOINT_I64,
                                  .replicated = 1,
                                  .length = WHOLES,
                                  .data = k->whole};
  TRY(checkpointing_add(run->saving, &state, NULL, NULL));
  state.name = "/ode/slope";
  state.move = move_slope;
  TRY(checkpointing_add(run->saving, &state, NULL, NULL));
  if (saves > 0) {
    state.name = "/ode/saved";
    state.move = move_saved;
    state.length *= saves;
    state.first *= saves;
    state.count *= saves;
    TRY(checkpointing_add(run->saving, &state, NULL, NULL));
  }
  TRY(checkpointing_add(run->saving, &reals, refresh_reals, run));
  TRY(checkpointing_add(run->saving, &wholes, refresh_wholes, run));
done:
  return rc;
}

/* The clock and counts; the method, if it was changed on the way. */
static status go_on(coupled_run *run, const double *real, const int64_t *whole) {
  ode_work *w = &run->clock;
  w->t[0] = real[T];
  w->h[0] = real[H];
  w->memory[0] = real[MEMORY];
  run->stiff_h = real[STIFF_H];
  run->stiff_product = real[STIFF_PRODUCT];
  w->attempts[0] = whole[ATTEMPTS];
  w->rejected[0] = whole[REJECTED];
  w->status[0] = (int32_t)whole[STATUS];
  run->stiff = whole[STIFF];
  run->smooth = whole[SMOOTH];
  run->switched = whole[SWITCHED];
  run->told = (int)whole[TOLD];
  run->rhs_count = whole[RHS];
  run->newton_count = whole[NEWTON];
  run->linear_count = whole[LINEAR];
  run->matrices = whole[MATRICES];
  /* limits may be others now */
  if (w->status[0] == ODE_STEP_LIMIT && w->attempts[0] < run->plan.max_steps) {
    w->status[0] = ODE_RUNNING;
  }
  if (w->status[0] == ODE_DONE && ode_before(&run->plan, w->t[0], run->plan.t_end)) {
    w->status[0] = ODE_RUNNING;
  }
  if (run->switched < 0) return STATUS_OK;
  coupled_use(run, ode_method_find("tr-bdf2"));
  return coupled_newton_open(run);
}

status coupled_saving_load(coupled_run *run, int64_t *number) {
  status rc = STATUS_OK;
  int64_t reals, wholes;
  TRY(checkpointing_load(run->saving, number));
  if (*number < 0) goto done;
  const double *real = checkpointing_loaded(run->saving, "/ode/reals", &reals);
  const int64_t *whole = checkpointing_loaded(run->saving, "/ode/integers", &wholes);
  if (reals != REALS || wholes != WHOLES) {
    rc = comm_agree(run->world, fail(STATUS_IO, "a checkpoint of another layout"));
    goto done;
  }
  TRY(go_on(run, real, whole));
done:
  return rc;
}
