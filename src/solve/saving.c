/* Checkpoints of linear solves (saving.h): x (and r, p of CG) as distributed vectors; scalars as
 * two small arrays. Everything that enters later arithmetic is saved as bits; limits and tolerances
 * are the new run's own. */
#include "saving.h"

#include <math.h>
#include <string.h>

#include "checkpointing.h"

enum {
  SCALE_0,
  NORM_B,
  NORM_R,
  RECURSIVE, /* of the run */
  SCALE,
  UPDATE_SCALE,
  RESIDUAL,
  ALPHA,
  BETA,
  RHO,
  CURVATURE, /* of the state */
  RTOL,
  ATOL,
  DIVERGENCE, /* limits it ended under */
  TIGHTEN
};

enum { ITERATION, RESTARTS_SO_FAR, ENDED, CHECKED, COUNTED, LAST };

static status move_vector(void *context, void *buffer, int to_file) {
  const saved_vector *s = context;
  linear_system *l = s->owner->run->system;
  return to_file ? linear_store(l, buffer, s->v) : linear_load(l, s->v, buffer);
}

status saving_open(solve_saver *v, solve_run *run, const char *const *names, const vec *vectors,
                   int count) {
  status rc = STATUS_OK;
  const linear_system *s = run->system;
  v->run = run;
  if (run->saving == NULL) return STATUS_OK;
  for (int i = 0; i < count; i++) {
    v->vector[i] = (saved_vector){v, vectors[i]};
    const checkpoint_item item = {.name = names[i],
                                  .type = CHECKPOINT_F64,
                                  .length = s->global_rows,
                                  .first = s->first_row,
                                  .count = s->rows,
                                  .move = move_vector,
                                  .context = &v->vector[i]};
    TRY(checkpointing_add(run->saving, &item, NULL, NULL));
  }
  const checkpoint_item small[] = {
      {.name = "/solve/reals",
       .type = CHECKPOINT_F64,
       .replicated = 1,
       .length = SAVING_REALS,
       .data = v->real},
      {.name = "/solve/integers",
       .type = CHECKPOINT_I64,
       .replicated = 1,
       .length = SAVING_WHOLES,
       .data = v->whole},
  };
  for (int i = 0; i < 2; i++) TRY(checkpointing_add(run->saving, &small[i], NULL, NULL));
done:
  return rc;
}

static int same_limits(const solve_run *run, const double *real, const int64_t *whole) {
  const solve_limits *l = &run->limits;
  return real[RTOL] == l->rtol && real[ATOL] == l->atol && real[DIVERGENCE] == l->divergence &&
         whole[COUNTED] == l->fixed_count && whole[LAST] == l->max_iterations;
}

static void take_state(solve_run *run, const double *real, const int64_t *whole,
                       solve_state *state) {
  run->scale = real[SCALE_0];
  run->norm_b = real[NORM_B];
  run->norm_r = real[NORM_R];
  run->recursive_residual = real[RECURSIVE];
  run->tighten = real[TIGHTEN];
  run->restarts = (int)whole[RESTARTS_SO_FAR];
  run->restarted_at = whole[ITERATION];
  *state = solve_state_at(run, whole[ITERATION], real[SCALE]);
  state->update_scale = real[UPDATE_SCALE];
  state->residual = real[RESIDUAL];
  state->alpha = real[ALPHA];
  state->beta = real[BETA];
  state->rho = real[RHO];
  state->curvature = real[CURVATURE];
}

status saving_load(solve_saver *v, solve_state *state, solve_resumed *out) {
  status rc = STATUS_OK;
  solve_run *run = v->run;
  int64_t number = -1, reals, wholes;
  memset(out, 0, sizeof *out);
  if (run->saving == NULL) goto done;
  TRY(checkpointing_load(run->saving, &number));
  if (number < 0) goto done;
  const double *real = checkpointing_loaded(run->saving, "/solve/reals", &reals);
  const int64_t *whole = checkpointing_loaded(run->saving, "/solve/integers", &wholes);
  if (reals != SAVING_REALS || wholes != SAVING_WHOLES) {
    rc = comm_agree(run->system->world,
                    fail(STATUS_IO,
                         "a checkpoint of another layout: it has %lld reals, %lld "
                         "integers; expected %d, %d",
                         (long long)reals, (long long)wholes, SAVING_REALS, SAVING_WHOLES));
    goto done;
  }
  take_state(run, real, whole, state);
  out->found = 1;
  out->checked = (int)whole[CHECKED];
  if (same_limits(run, real, whole)) {
    out->ended = (verdict)whole[ENDED];
  } else {
    out->new_limits = whole[ENDED] != VERDICT_NONE;
  }
done:
  return rc;
}

static void put_state(solve_saver *v, const solve_state *state, int checked, verdict ended) {
  const solve_run *run = v->run;
  const solve_limits *l = &run->limits;
  const double real[SAVING_REALS] = {[SCALE_0] = run->scale,
                                     [NORM_B] = run->norm_b,
                                     [NORM_R] = run->norm_r,
                                     [RECURSIVE] = run->recursive_residual,
                                     [SCALE] = state->scale,
                                     [UPDATE_SCALE] = state->update_scale,
                                     [RESIDUAL] = state->residual,
                                     [ALPHA] = state->alpha,
                                     [BETA] = state->beta,
                                     [RHO] = state->rho,
                                     [CURVATURE] = state->curvature,
                                     [RTOL] = l->rtol,
                                     [ATOL] = l->atol,
                                     [DIVERGENCE] = l->divergence,
                                     [TIGHTEN] = run->tighten};
  const int64_t whole[SAVING_WHOLES] = {[ITERATION] = state->iteration,
                                        [RESTARTS_SO_FAR] = run->restarts,
                                        [ENDED] = ended,
                                        [CHECKED] = checked,
                                        [COUNTED] = l->fixed_count,
                                        [LAST] = l->max_iterations};
  memcpy(v->real, real, sizeof real);
  memcpy(v->whole, whole, sizeof whole);
}

int saving_is_due(const solve_run *run, const solve_state *state) {
  const int64_t k = state->iteration;
  return state->asked != 0 || (k > 0 && checkpointing_next(run->saving, k - 1) == k);
}

status saving_meet(solve_saver *v, const solve_state *state, int checked, int *stop) {
  status rc = STATUS_OK;
  solve_run *run = v->run;
  stop_cause cause = STOP_FAILURE;
  if (run->saving != NULL) {
    put_state(v, state, checked, VERDICT_NONE);
    TRY(checkpointing_meet(run->saving, state->iteration, run->system->failure != STATUS_OK,
                           &cause));
  }
  *stop = cause != STOP_NONE;
done:
  return rc;
}

status saving_finish(solve_saver *v, const solve_state *state, int checked, verdict ended) {
  if (v->run->saving == NULL) return STATUS_OK;
  if (ended != VERDICT_NONE && ended != VERDICT_CONVERGED && ended != VERDICT_REPEATS) {
    return STATUS_OK;
  }
  put_state(v, state, checked, ended);
  return checkpointing_finish(v->run->saving, state->iteration);
}
