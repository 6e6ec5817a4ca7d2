/* Which method `solve` uses: the one named, or by `auto` the one that suits what was measured
 * (src/solve/choice.c), and the next one where that breaks down. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "linear.h"
#include "log.h"
#include "solve_job.h"

static status take_method(solve_job *j, const char *name) {
  j->method = solver_find(name);
  if (j->method == NULL) {
    return comm_agree(j->run->c,
                      fail(STATUS_UNAVAILABLE, "method %s is not in this halosweep", name));
  }
  solve_choose_preconditioner(j);
  return STATUS_OK;
}

status solve_choose_method(solve_job *j) {
  status rc = STATUS_OK;
  const char *name = options_text(j->run->o, "solve.method");
  if (strcmp(name, "auto") != 0) {
    strcpy(j->why, "as asked");
    return take_method(j, name);
  }
  if (j->survey.empty_rows == 0) TRY(solve_measure(j, CHOICE_STEPS));
  choice_make(&j->survey, &j->spectrum, &j->choice);
  snprintf(j->why, sizeof j->why, "%s", j->choice.why);
  /* a singular matrix is refused by the checks of any method */
  rc = take_method(j, strcmp(j->choice.method, "none") == 0 ? "jacobi" : j->choice.method);
done:
  return rc;
}

static int broke_down(solve_reason reason) {
  return solve_reason_status(reason) == STATUS_DIVERGED;
}

status solve_switch_method(solve_job *j, int *again) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  solve_run *run = &j->solve;
  *again = 0;
  if (j->choice.next == NULL || j->switched_from != NULL || !broke_down(run->reason)) goto done;
  /* a checkpoint is of one method: a run that went on from one, or writes them, keeps it */
  if (options_has(j->run->o, "checkpoint.file") || run->restarted_at > 0) goto done;
  j->switched_from = j->method;
  j->switched_at = run->iterations;
  j->switched_reason = run->reason;
  solve_release_method(j);
  TRY(take_method(j, j->choice.next));
  log_warning("%s ended with %s at iteration %lld: from the start again with %s",
              j->switched_from->name, solve_reason_name(j->switched_reason),
              (long long)j->switched_at, j->method->name);
  if (j->x0 != NULL) {
    ATTEMPT(s, linear_load(s, run->x, j->x0));
  } else {
    ATTEMPT(s, s->kernels->fill(s->place, run->x, 0.0));
  }
  TRY(comm_agree(s->world, s->failure));
  run->restarts = 0;
  checkpointing_forget(j->saving);
  TRY(comm_agree(s->world, history_close(&j->history, 0)));
  TRY(solve_check_method(j));
  TRY(solve_load_method(j));
  *again = 1;
done:
  return rc;
}
