/* Checkpoints of `heat`: the owned points of the field, the step, and where time is counted from.
 * The scheme and dt are part of the problem; a scheme that carries more than the field adds it
 * here. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fingerprint.h"
#include "heat_job.h"
#include "log.h"
#include "run_problem.h"

enum { T_0, DT, TIME, T_END, ERROR, REALS };
enum { STEP, STEP_0, LAST, WHOLES };

status heat_open_saving(heat_job *j) {
  status rc = STATUS_OK;
  TRY(checkpointing_open(j->run->c, j->run->o, j->timers.began, &j->saving));
  checkpointing_time(j->saving, &j->timers);
  j->heat.saving = j->saving;
done:
  return rc;
}

static status move_field(void *context, void *buffer, int to_file) {
  heat_job *j = context;
  return to_file ? heat_store(&j->heat, buffer, j->heat.u) : heat_load(&j->heat, j->heat.u, buffer);
}

/* Taken when a checkpoint is written. */
static status refresh(void *context, checkpoint_item *item) {
  heat_job *j = context;
  const heat_run *run = &j->heat;
  const double real[REALS] = {[T_0] = run->t_0,
                              [DT] = run->dt,
                              [TIME] = heat_time(run, run->step),
                              [T_END] = run->t_end,
                              [ERROR] = run->error};
  const int64_t whole[WHOLES] = {[STEP] = run->step, [STEP_0] = run->step_0, [LAST] = run->last};
  memcpy(j->real, real, sizeof real);
  memcpy(j->whole, whole, sizeof whole);
  (void)item;
  return STATUS_OK;
}

static status add_items(heat_job *j) {
  status rc = STATUS_OK;
  const heat_slab *s = &j->heat.slab;
  const checkpoint_item field = {.name = "/heat/u",
                                 .type = CHECKPOINT_F64,
                                 .length = j->points,
                                 .first = s->first * s->plane,
                                 .count = heat_owned(s),
                                 .move = move_field,
                                 .context = j};
  const checkpoint_item reals = {.name = "/heat/reals",
                                 .type = CHECKPOINT_F64,
                                 .replicated = 1,
                                 .length = REALS,
                                 .data = j->real};
  const checkpoint_item wholes = {.name = "/heat/integers",
                                  .type = CHECKPOINT_I64,
                                  .replicated = 1,
                                  .length = WHOLES,
                                  .data = j->whole};
  TRY(checkpointing_add(j->saving, &field, NULL, NULL));
  TRY(checkpointing_add(j->saving, &reals, refresh, j));
  TRY(checkpointing_add(j->saving, &wholes, NULL, NULL));
  TRY(heat_outputs_add(&j->outputs, j->saving));
done:
  return rc;
}

/* Problem keys, and the content of what files brought: a hash of their texts as compiled. */
static uint64_t content_of(const heat_job *j) {
  uint64_t sum = 0;
  for (int i = 0; i < HEAT_FUNCTIONS; i++) {
    const heat_text *t = &j->in.of[i];
    if (t->text == NULL || t->made == NULL || i == HEAT_EXACT || !function_is_file(t->text)) {
      continue;
    }
    const char *text = function_formula(t->made)->text;
    for (const char *p = text; *p != '\0'; p++) sum = fingerprint_mix(sum ^ (uint64_t)*p);
  }
  return sum;
}

static status identify(heat_job *j) {
  char content[128];
  snprintf(content, sizeof content,
           "functions = %016" PRIx64 "\ninitial = %016" PRIx64 "\nalpha = %016" PRIx64 "\n",
           content_of(j), j->content_initial, j->content_alpha);
  return run_identify(j->run, j->saving, "heat", content);
}

/* A run that ended with a shortened step goes on counting time from there. */
static void go_on(heat_job *j, const double *real, const int64_t *whole) {
  heat_run *run = &j->heat;
  run->step = whole[STEP];
  run->step_0 = whole[STEP_0];
  run->t_0 = real[T_0];
  if (run->rtol > 0.0) {
    run->dt = real[DT];
    run->error = real[ERROR];
  }
  if (bits_of(real[TIME]) != bits_of(fma((double)(run->step - run->step_0), run->dt, run->t_0)) &&
      !(run->t_end == real[TIME])) {
    run->step_0 = run->step;
    run->t_0 = real[TIME];
  }
  if (run->scheme->order > 0) heat_plan_steps(run);
  if (run->last < run->step || run->t_end < real[TIME]) {
    log_info("the checkpoint is past the end asked for: its state is the result");
    run->last = run->step;
    run->t_end = NAN;
  }
}

status heat_resume(heat_job *j) {
  status rc = STATUS_OK;
  int64_t number = -1, reals, wholes;
  TRY(identify(j));
  TRY(comm_agree(j->run->c, add_items(j)));
  TRY(checkpointing_load(j->saving, &number));
  if (number < 0) goto done;
  const double *real = checkpointing_loaded(j->saving, "/heat/reals", &reals);
  const int64_t *whole = checkpointing_loaded(j->saving, "/heat/integers", &wholes);
  if (reals != REALS || wholes != WHOLES) {
    rc = comm_agree(j->run->c, fail(STATUS_IO,
                                    "a checkpoint of another layout: it has %lld reals, %lld "
                                    "integers; expected %d, %d",
                                    (long long)reals, (long long)wholes, REALS, WHOLES));
    goto done;
  }
  go_on(j, real, whole);
  TRY(heat_outputs_resume(&j->outputs, &j->heat, j->saving));
  log_info("going on from step %lld, time %.17g", (long long)j->heat.step, real[TIME]);
done:
  return rc;
}

status heat_finish_saving(heat_job *j) {
  if (j->heat.reason != HEAT_DONE) return STATUS_OK;
  return checkpointing_finish(j->saving, j->heat.step);
}

run_ending heat_ending(const heat_job *j, char text[ENDING_TEXT]) {
  enum { HALF = ENDING_TEXT / 2 };
  const heat_run *run = &j->heat;
  report_count(run->step, "step", text);
  snprintf(text + HALF, HALF, "of %lld, at time %.17g", (long long)run->last,
           heat_time(run, run->step));
  return (run_ending){.saved = checkpointing_look(j->saving),
                      .stopped = run->reason == HEAT_REQUESTED,
                      .code = heat_reason_status(run->reason),
                      .reason = heat_reason_name(run->reason),
                      .done = text,
                      .state = text + HALF};
}
