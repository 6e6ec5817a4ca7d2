/* Checkpoints of a coupled run: the state and its slope, the states saved so far (by component,
 * so that a rank has one run of them) and their instants, which may be others now (instants.h),
 * time, step and controller. A run that goes on makes the steps the first one would have made, to
 * the last bit, on any number of ranks. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "coupled_run.h"
#include "instants.h"
#include "take_up.h"

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

static const char SAVED[] = "/ode/saved", SAVE_AT[] = "/ode/save_at";

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

/* To a file; from one they come by make_room. */
static status move_saved(void *context, void *buffer, int to_file) {
  const coupled_run *run = context;
  const int64_t saves = run->plan.saves, rows = run->space.rows;
  double *at = buffer;
  (void)to_file;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t k = 0; k < saves; k++) at[i * saves + k] = run->saved[k * rows + i];
  }
  return STATUS_OK;
}

static checkpoint_item item_of(coupled_run *run, const char *name, int64_t width) {
  const linear_system *s = &run->space;
  return (checkpoint_item){.name = name,
                           .type = CHECKPOINT_F64,
                           .length = width * s->global_rows,
                           .first = width * s->first_row,
                           .count = width * s->rows,
                           .context = run};
}

/* The saved states of a checkpoint: [component of this rank][its instants]. */
static status make_room(void *context, checkpoint_item *item, int64_t length) {
  status rc = STATUS_OK;
  coupled_run *run = context;
  const int64_t there = length / run->space.global_rows;
  alloc_free(&run->saved_there);
  run->instants_there = there;
  if (there * run->space.global_rows != length) {
    return fail(STATUS_IO, "%s: %lld numbers, for %lld components", SAVED, (long long)length,
                (long long)run->space.global_rows);
  }
  *item = item_of(run, SAVED, there);
  TRY(alloc_array(&run->saved_there, item->count, sizeof(double), "saved states"));
  item->data = run->saved_there;
done:
  return rc;
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
  checkpoint_item state = item_of(run, "/ode/state", 1), slope = item_of(run, "/ode/slope", 1);
  checkpoint_item saved = item_of(run, SAVED, run->plan.saves);
  const checkpoint_item times = {.name = SAVE_AT,
                                 .type = CHECKPOINT_F64,
                                 .replicated = 1,
                                 .length = run->plan.saves,
                                 .data = run->plan.save_at.at};
  state.move = move_state;
  slope.move = move_slope;
  saved.move = move_saved;
  saved.resize = make_room;
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
  TRY(checkpointing_add(run->saving, &slope, NULL, NULL));
  TRY(checkpointing_add(run->saving, &times, NULL, NULL));
  TRY(checkpointing_add(run->saving, &saved, NULL, NULL));
  TRY(checkpointing_add(run->saving, &reals, refresh_reals, run));
  TRY(checkpointing_add(run->saving, &wholes, refresh_wholes, run));
done:
  return rc;
}

/* The clock and counts; the method, if it was changed on the way. */
static status go_on(coupled_run *run, const double *real, const int64_t *whole) {
  status rc = STATUS_OK;
  int stands;
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
  rc = ode_take_up(&run->plan, w->t[0], w->attempts[0], w->status[0], &stands);
  TRY(comm_agree(run->world, rc));
  w->status[0] = stands;
  if (run->switched < 0) goto done;
  coupled_use(run, ode_method_find("tr-bdf2"));
  rc = coupled_newton_open(run);
done:
  return rc;
}

/* What is saved, from the checkpoint's. */
static status take_saved(coupled_run *run, instants *m) {
  status rc = STATUS_OK;
  const int64_t rows = run->space.rows;
  for (int64_t k = 0; k < run->plan.saves; k++) {
    double *to = run->saved + k * rows;
    const int64_t source = instants_source(m, k, run->clock.t[0], run->clock.status[0]);
    if (source == INSTANT_NOW) TRY(linear_store(&run->space, to, run->y));
    for (int64_t i = 0; source >= 0 && i < rows; i++) {
      to[i] = run->saved_there[i * m->there + source];
    }
  }
done:
  return rc;
}

static status settle_saved(coupled_run *run) {
  status rc = STATUS_OK;
  instants m = {0};
  int64_t there;
  const double *then = checkpointing_loaded(run->saving, SAVE_AT, &there);
  if (there != run->instants_there) {
    rc = comm_agree(run->world, fail(STATUS_IO, "a checkpoint of another layout"));
    goto done;
  }
  rc = instants_match(&run->plan, run->plan.save_at.at, then, there, &m);
  if (rc == STATUS_OK) rc = take_saved(run, &m);
  TRY(comm_agree(run->world, rc));
  if (comm_rank(run->world) > 0) memset(m.missed, 0, (size_t)run->plan.saves * sizeof *m.missed);
  rc = instants_check(run->world, &m, 1);
done:
  alloc_free(&run->saved_there);
  instants_release(&m);
  return rc;
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
  rc = settle_saved(run);
done:
  return rc;
}
