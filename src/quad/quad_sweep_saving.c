/* Saving and going on with sweeps (quad_sweep_saving.h). The state is the table of results, 25
 * bytes a member; a member that is not done has the ending QUAD_UNDONE. Tolerances and the
 * evaluation limit may change between runs: then only what holds under the new ones too is kept. */
#include "quad_sweep_saving.h"

#include <string.h>

#include "quad_saving.h"

enum { LIMITS = 4 };

static void put_limits(const quad_limits *limits, double out[LIMITS]) {
  out[0] = limits->rtol;
  out[1] = limits->atol;
  out[2] = (double)limits->max_evaluations;
  out[3] = limits->demanded;
}

static status add(checkpointing *is, const quad_sweep *s, const char *name, checkpoint_type type,
                  void *data) {
  const gidx first = ownership_begin(&s->owned);
  const checkpoint_item item = {.name = name,
                                .type = type,
                                .length = s->swept->grid.members,
                                .first = first,
                                .count = ownership_end(&s->owned) - first,
                                .data = data};
  return checkpointing_add(is, &item, NULL, NULL);
}

static status add_items(quad_saver *saver, const quad_sweep *s) {
  status rc = STATUS_OK;
  const quad_results *r = &s->mine;
  const checkpoint_item limits = {.name = "/quad/limits",
                                  .type = CHECKPOINT_F64,
                                  .replicated = 1,
                                  .length = LIMITS,
                                  .data = saver->limits};
  TRY(add(saver->is, s, "/quad/members/value", CHECKPOINT_F64, r->value));
  TRY(add(saver->is, s, "/quad/members/error", CHECKPOINT_F64, r->error));
  TRY(add(saver->is, s, "/quad/members/evaluations", CHECKPOINT_I64, r->evaluations));
  TRY(add(saver->is, s, "/quad/members/status", CHECKPOINT_BYTES, r->reason));
  TRY(checkpointing_add(saver->is, &limits, NULL, NULL));
done:
  return rc;
}

/* Under other limits: converged members stay where they still are, and those whose integrand or
 * range says it all. */
static void forget(const quad_limits *limits, const quad_sweep *s) {
  const int64_t count = ownership_end(&s->owned) - ownership_begin(&s->owned);
  for (int64_t i = 0; i < count; i++) {
    unsigned char *reason = &s->mine.reason[i];
    if (*reason == QUAD_NOT_FINITE || *reason == QUAD_EMPTY_RANGE) continue;
    if (*reason == QUAD_CONVERGED && quad_met(limits, s->mine.value[i], s->mine.error[i])) continue;
    *reason = QUAD_UNDONE;
  }
}

status quad_sweep_load(quad_run *run, quad_sweep *s) {
  status rc = STATUS_OK;
  quad_saver *saver = run->saver;
  int64_t number, length;
  if (!s->keep) goto done;
  memset(s->mine.reason, QUAD_UNDONE,
         (size_t)(ownership_end(&s->owned) - ownership_begin(&s->owned)));
  if (saver == NULL) goto done;
  put_limits(&run->limits, saver->limits);
  TRY(comm_agree(run->world, add_items(saver, s)));
  TRY(checkpointing_load(saver->is, &number));
  if (number < 0) goto done;
  const double *saved = checkpointing_loaded(saver->is, "/quad/limits", &length);
  if (length != LIMITS) {
    rc = comm_agree(run->world, fail(STATUS_IO, "a checkpoint of another layout"));
    goto done;
  }
  int same = 1;
  for (int i = 0; i < LIMITS; i++) same &= bits_of(saved[i]) == bits_of(saver->limits[i]);
  if (!same) forget(&run->limits, s);
done:
  return rc;
}

status quad_sweep_meet(quad_run *run, int64_t members) {
  if (run->saver == NULL) return STATUS_OK;
  run->saver->blocks = members;
  return quad_saver_look(run, members);
}

int64_t quad_sweep_until(const quad_run *run, int64_t members) {
  if (run->saver == NULL) return INT64_MAX;
  const int64_t next = checkpointing_next(run->saver->is, members);
  return next == INT64_MAX ? next : next - members;
}

status quad_sweep_finish(quad_run *run, const quad_sweep *s) {
  if (run->saver == NULL || !s->keep) return STATUS_OK;
  return checkpointing_finish(run->saver->is, s->swept->grid.members);
}
