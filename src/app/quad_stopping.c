/* Checkpoints and requests to stop, as `quad` meets them. Named after what is saved: the sums. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "quad_job.h"
#include "run_outcome.h"
#include "run_problem.h"

enum { QUAD_DONE = 256, HALF = QUAD_DONE / 2 };

/* What a run is counted in. */
static const char *unit_of(const quad_job *j) {
  return quad_is_sweep(j)                             ? "member"
         : (j->rule->flags & QUAD_RULE_ADAPTIVE) != 0 ? "region"
                                                      : "block";
}

status quad_open_saving(quad_job *j) {
  status rc = STATUS_OK;
  options *o = j->run->o;
  comm *c = j->run->c;
  TRY(checkpointing_open(c, o, j->timers.began, &j->saving));
  checkpointing_time(j->saving, &j->timers);
  const int sums = !quad_is_sweep(j) && (j->rule->flags & QUAD_RULE_ADAPTIVE) == 0;
  TRY(comm_agree(c, quad_saver_open(&j->saver, j->saving, sums)));
  TRY(run_identify(j->run, j->saving, "quad", NULL));
  j->quad.saver = &j->saver;
  progress_start(&j->progress, options_text(o, "run.progress"), options_flag(o, "run.quiet"),
                 comm_rank(c) == 0, unit_of(j), "error");
  j->quad.progress = &j->progress;
done:
  return rc;
}

void quad_close_saving(quad_job *j) {
  quad_saver_close(&j->saver);
  checkpointing_close(&j->saving);
}

static run_ending ending(const quad_job *j, char done[QUAD_DONE]) {
  const quad_run *q = &j->quad;
  const int64_t blocks = j->saver.blocks + j->saver.whole[0];
  const char *unit = unit_of(j);
  snprintf(done, HALF, "%lld %s%s%s", (long long)blocks, unit, blocks == 1 ? "" : "s",
           strcmp(unit, "block") == 0 ? " of samples" : "");
  snprintf(done + HALF, HALF, "not finished");
  if (!quad_is_sweep(j) && isfinite(q->value) && isfinite(q->error)) {
    snprintf(done + HALF, HALF, "not converged: %.17g with an estimated error of %.3e", q->value,
             q->error);
  }
  return (run_ending){.saved = checkpointing_look(j->saving),
                      .stopped = quad_stopped(q),
                      .code = quad_reason_status(q->reason),
                      .reason = quad_reason_name(q->reason),
                      .done = done,
                      .state = done + HALF};
}

status quad_exit_code(const quad_job *j) {
  char done[QUAD_DONE];
  const run_ending end = ending(j, done);
  return run_ending_code(&end);
}

status quad_saving_outcome(const quad_job *j) {
  char done[QUAD_DONE];
  const run_ending end = ending(j, done);
  return run_ending_failure(&end);
}
