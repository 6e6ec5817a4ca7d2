/* Checkpoints and requests to stop, as `quad` meets them. Named after what is saved: the sums. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "quad_job.h"
#include "run_outcome.h"

enum { QUAD_DONE = 64 };

status quad_open_saving(quad_job *j) {
  status rc = STATUS_OK;
  options *o = j->run->o;
  comm *c = j->run->c;
  TRY(checkpointing_open(c, o, j->timers.began, &j->saving));
  checkpointing_time(j->saving, &j->timers);
  TRY(comm_agree(c, quad_saver_open(&j->saver, j->saving)));
  const char *problem = options_problem(o);
  TRY(comm_agree(c, problem == NULL ? fail(STATUS_UNAVAILABLE, "not enough memory") : STATUS_OK));
  TRY(checkpointing_identify(j->saving, "quad", HALOSWEEP_VERSION, options_effective(o), problem));
  j->quad.saver = &j->saver;
  progress_start(&j->progress, options_text(o, "run.progress"), options_flag(o, "run.quiet"),
                 comm_rank(c) == 0, quad_is_sweep(j) ? "member" : "block", "");
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
  snprintf(done, QUAD_DONE, "%lld %s", (long long)blocks,
           quad_is_sweep(j) ? "members a rank" : "blocks of samples");
  return (run_ending){.saved = checkpointing_look(j->saving),
                      .stopped = quad_stopped(q),
                      .code = quad_reason_status(q->reason),
                      .reason = quad_reason_name(q->reason),
                      .done = done,
                      .state = "not finished"};
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
