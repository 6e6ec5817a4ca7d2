/* Checkpoints as `solve` uses them: what problem a checkpoint is of, and where a run that stopped
 * stands. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checkpointing.h"
#include "run_problem.h"
#include "solve_job.h"
#include "team.h"

status solve_open_saving(solve_job *j) {
  status rc = STATUS_OK;
  TRY(checkpointing_open(j->run->c, j->run->o, j->timers.began, &j->saving));
  checkpointing_time(j->saving, &j->timers);
  j->solve.saving = j->saving;
done:
  return rc;
}

status solve_note_content(solve_job *j, const double *b, const double *x0) {
  const gidx first = j->a.first_row;
  int64_t sums[2] = {0, 0};
  if (b != NULL) sums[0] = (int64_t)team_fingerprint(j->run->threads, b, first, j->a.rows);
  if (x0 != NULL) sums[1] = (int64_t)team_fingerprint(j->run->threads, x0, first, j->a.rows);
  status rc = comm_sum_i64(j->run->c, sums, 2);
  j->content_rhs = (uint64_t)sums[0];
  j->content_x0 = (uint64_t)sums[1];
  return rc;
}

/* The problem keys and, of input files, their content: a folder may be moved, a file changed. */
status solve_identify(solve_job *j) {
  status rc = STATUS_OK;
  options *o = j->run->o;
  char content[128];
  /* what was chosen where nothing was said: naming it gives the same problem */
  rc = options_override(o, "solve.method", j->method->name);
  if (rc == STATUS_OK && !options_has(o, "solve.preconditioner"))
    rc = options_override(o, "solve.preconditioner", solve_preconditioner_name(j));
  if (rc == STATUS_OK && j->solution_is_ones) rc = options_override(o, "solve.rhs", "A*ones");
  TRY(comm_agree(j->run->c, rc));
  snprintf(content, sizeof content,
           "matrix = %016" PRIx64 "\nrhs = %016" PRIx64 "\nx0 = %016" PRIx64 "\n", j->facts.content,
           j->content_rhs, j->content_x0);
  TRY(run_identify(j->run, j->saving, "solve", content));
  rc = checkpointing_history(j->saving, HISTORY_SOLVE, &j->history);
  j->solve.history = j->history;
  rc = comm_agree(j->run->c, rc);
done:
  return rc;
}

run_ending solve_ending(const solve_job *j, char text[ENDING_TEXT]) {
  enum { HALF = ENDING_TEXT / 2 };
  report_count(j->solve.iterations, "iteration", text);
  snprintf(text + HALF, HALF, "not converged: |b - Ax| / |b| = %.3e", j->solve.relative_residual);
  return (run_ending){.saved = checkpointing_look(j->saving),
                      .stopped = j->solve.reason == REASON_REQUESTED,
                      .code = solve_reason_status(j->solve.reason),
                      .reason = solve_reason_name(j->solve.reason),
                      .done = text,
                      .state = text + HALF};
}
