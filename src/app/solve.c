/* halosweep solve: A x = b from a file or a problem to a verified answer.
 *
 * check options and outputs -> read or make the rows -> right-hand side -> b = 0? -> choose and
 * check the method -> iterate -> fingerprint, files, report. A rank that fails on its own goes on
 * to the next agreement; every step below ends in one. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "log.h"
#include "run_files.h"
#include "solve_job.h"

/* Between the steps of the set-up: is the run to end already? */
static status go_on(const solve_job *j, const char *after) {
  return run_stop_early(j->run, j->saving, after);
}

static status read_system(solve_job *j) {
  status rc = STATUS_OK;
  double *b = NULL;
  timers_switch(&j->timers, PHASE_READ);
  TRY(go_on(j, "checking the options"));
  TRY(solve_read_matrix(j));
  TRY(go_on(j,
            options_has(j->run->o, "solve.matrix") ? "reading the matrix" : "making the matrix"));
  TRY(solve_read_rhs(j, &b, &j->x0));
  TRY(solve_note_content(j, b, j->x0));
  timers_switch(&j->timers, PHASE_SETUP);
  TRY(survey_matrix(j->run->c, j->run->threads, &j->a, &j->survey));
  j->entries = j->survey.entries;
  TRY(solve_scale_system(j, b));
  TRY(comm_agree(j->run->c, alloc_array(&j->diagonal, j->a.rows, sizeof(double), "diagonal")));
  survey_diagonal(j->run->threads, &j->a, j->diagonal);
  TRY(go_on(j, "looking at the matrix"));
  TRY(solve_open_backend(j));
  TRY(go_on(j, "storing the matrix"));
  TRY(solve_load_system(j, b, j->x0));
  if (!j->trivial) TRY(solve_find_nullspace(j));
done:
  alloc_free(&b);
  return rc;
}

static status iterate(solve_job *j) {
  status rc = STATUS_OK;
  comm *c = j->run->c;
  progress_start(&j->progress, options_text(j->run->o, "run.progress"),
                 options_flag(j->run->o, "run.quiet"), comm_rank(c) == 0, "iteration", "residual");
  timers_switch(&j->timers, PHASE_COMPUTE);
  rc = j->method->run(&j->solve);
  if (rc == STATUS_OK) rc = j->system.failure;
  if (j->solve.omega > 0.0) j->omega = j->solve.omega; /* what a method made of auto */
  timers_switch(&j->timers, PHASE_SETUP);
  return comm_agree(c, rc);
}

static status open_history(solve_job *j) {
  status rc = STATUS_OK;
  run_context *run = j->run;
  const char *path = comm_rank(run->c) == 0 ? options_text(run->o, "run.history") : NULL;
  TRY(comm_agree(run->c, history_open(path, HISTORY_SOLVE, &j->history)));
  j->solve.history = j->history;
  j->solve.progress = &j->progress;
done:
  return rc;
}

/* Iterates; where auto's choice breaks down, once more with the next one. */
static status iterate_to_the_end(solve_job *j) {
  status rc = STATUS_OK;
  int again = 0;
  do {
    TRY(open_history(j));
    TRY(solve_identify(j));
    if (!j->nullspace.nothing_left) TRY(iterate(j));
    TRY(solve_switch_method(j, &again));
  } while (again);
  TRY(solve_finish_nullspace(j));
  solve_unscale_solution(j);
  TRY(solve_explain_divergence(j));
done:
  return rc;
}

status command_solve(run_context *run) {
  status rc = STATUS_OK;
  solve_job j;
  memset(&j, 0, sizeof j);
  j.run = run;
  j.scaled = strcmp(options_text(run->o, "solve.scaling"), "symmetric") == 0;
  timers_start(&j.timers);
  TRY(run_files_check(run, NULL, 0));
  j.format = solve_format_asked(run->o);
  TRY(solve_open_saving(&j));
  TRY(read_system(&j));
  if (!j.trivial) {
    TRY(solve_choose_method(&j));
    TRY(solve_check_method(&j));
    TRY(solve_load_method(&j));
  }
  if (options_flag(run->o, "run.dry_run")) {
    solve_print_plan(&j);
    goto done;
  }
  if (!j.trivial) {
    TRY(iterate_to_the_end(&j));
  } else {
    TRY(open_history(&j));
    j.solve.reason = REASON_CONVERGED;
    history_row(j.history, 0, HISTORY_RESIDUAL, 0.0);
    history_row(j.history, 0, HISTORY_TRUE_RESIDUAL, 0.0);
  }
  TRY(solve_collect(&j));
  TRY(solve_write(&j));
  rc = comm_agree(run->c, solve_outcome(&j));
done:
  solve_close(&j);
  return rc;
}
