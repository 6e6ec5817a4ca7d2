#include "ode_saving.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run_outcome.h"
#include "run_problem.h"

enum { ODE_ENDING = 256, HALF = ODE_ENDING / 2 };

/* C files are part of the problem, and files of states. */
static status identify(ode_job *j) {
  const formula *f[] = {j->e.f.rhs, j->e.f.jacobian, j->e.f.noise, j->e.f.event};
  const options *o = j->run->o;
  char content[128];
  const int count = snprintf(content, sizeof content, "functions = %016" PRIx64 "\n",
                             run_formulas_hash(f, sizeof f / sizeof *f) + j->content);
  /* Paths of noise are halved from t_end down: to another one they are other paths. */
  if (options_text(o, "ode.noise") != NULL) {
    snprintf(content + count, sizeof content - (size_t)count, "paths_to_t_end = %.17g\n",
             options_real(o, "ode.t_end"));
  }
  return run_identify(j->run, j->saving, "ode", content);
}

status ode_saving_open(ode_job *j) {
  status rc = STATUS_OK;
  options *o = j->run->o;
  TRY(checkpointing_open(j->run->c, o, j->timers.began, &j->saving));
  checkpointing_time(j->saving, &j->timers);
  TRY(identify(j));
  j->e.saving = j->saving;
  progress_start(&j->progress, options_text(o, "run.progress"), options_flag(o, "run.quiet"),
                 comm_rank(j->run->c) == 0, "trajectory", "error");
  j->e.progress = &j->progress;
done:
  return rc;
}

void ode_saving_close(ode_job *j) { checkpointing_close(&j->saving); }

static run_ending ending(const ode_job *j, char done[ODE_ENDING]) {
  const ode_ensemble *e = &j->e;
  const int64_t ended = j->in.trajectories - e->ended[ODE_RUNNING];
  int64_t failed = 0;
  for (int s = 0; s < ODE_STATUSES; s++) failed += ode_has_failed(s) ? e->ended[s] : 0;
  snprintf(done, HALF, "%lld steps", (long long)(e->steps + e->rejected));
  snprintf(done + HALF, HALF, "%lld of %lld trajectories ended", (long long)ended,
           (long long)j->in.trajectories);
  const int stopped = e->cause != STOP_NONE;
  return (run_ending){.saved = checkpointing_look(j->saving),
                      .stopped = stopped,
                      .code = failed > 0 || stopped ? STATUS_STOPPED : STATUS_OK,
                      .reason = failed > 0 ? "trajectories_failed" : "done",
                      .done = done,
                      .state = done + HALF};
}

status ode_saving_code(const ode_job *j) {
  char done[ODE_ENDING];
  const run_ending end = ending(j, done);
  return run_ending_code(&end);
}

status ode_saving_outcome(const ode_job *j) {
  char done[ODE_ENDING];
  const run_ending end = ending(j, done);
  return run_ending_failure(&end);
}

const char *ode_saving_reason(const ode_job *j) {
  char done[ODE_ENDING];
  const run_ending end = ending(j, done);
  return run_ending_reason(&end);
}
