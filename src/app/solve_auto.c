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

/* The choice, unless a preconditioner was named that it cannot take. */
static const char *fitting(const solve_job *j) {
  const char *asked = options_text(j->run->o, "solve.preconditioner");
  const preconditioner *p = asked == NULL ? NULL : preconditioner_find(asked);
  const solver *m = solver_find(j->choice.method);
  if (m == NULL) return j->choice.method;
  if (j->scaled && m->flags & SOLVER_DIVIDES_BY_DIAGONAL) return j->choice.next;
  if (p == NULL) return j->choice.method;
  if (!(m->flags & SOLVER_TAKES_PRECONDITIONER)) return j->choice.next;
  if (m->flags & SOLVER_NEEDS_SYMMETRY && !(p->flags & PRECONDITIONER_KEEPS_SYMMETRY)) {
    return "bicgstab";
  }
  return j->choice.method;
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
  const char *method = fitting(j);
  if (strcmp(method, j->choice.method) != 0) {
    const size_t used = strlen(j->why);
    snprintf(j->why + used, sizeof j->why - used, "; %s for the sake of %s", method,
             j->scaled ? "scaling" : options_text(j->run->o, "solve.preconditioner"));
    j->choice.next = strcmp(method, "bicgstab") == 0 ? "gmres" : NULL;
  }
  rc = take_method(j, strcmp(method, "none") == 0 ? "jacobi" : method);
done:
  return rc;
}

static int broke_down(solve_reason reason) {
  return solve_reason_status(reason) == STATUS_DIVERGED;
}

static status load_start(solve_job *j) {
  linear_system *s = &j->system;
  if (j->x0 != NULL) {
    ATTEMPT(s, linear_load(s, j->solve.x, j->x0));
    if (j->scaled) {
      ATTEMPT(s, s->kernels->multiply(s->place, j->solve.unscale, j->solve.x, j->solve.x));
    }
  } else {
    ATTEMPT(s, s->kernels->fill(s->place, j->solve.x, 0.0));
  }
  return comm_agree(s->world, s->failure);
}

/* The same method once more, by `method` or in double, with a history of its own. */
static status prepare_again(solve_job *j) {
  status rc = STATUS_OK;
  solve_run *run = &j->solve;
  run->restarts = 0;
  checkpointing_forget(j->saving);
  TRY(comm_agree(j->system.world, history_close(&j->history, 0)));
  TRY(solve_check_method(j));
  TRY(solve_load_method(j));
done:
  return rc;
}

/* The iterate is the start of the rest, if it is better than the start was. */
status solve_leave_mixed(solve_job *j, int *again) {
  status rc = STATUS_OK;
  solve_run *run = &j->solve;
  *again = 0;
  if (!run->mixed.on || !broke_down(run->reason)) goto done;
  /* sweeps that diverge do so in double too */
  if (run->reason == REASON_DIVERGED && !(j->method->flags & SOLVER_NEEDS_DEFINITE)) goto done;
  if (options_has(j->run->o, "checkpoint.file") || run->restarted_at > 0) {
    snprintf(j->advice, sizeof j->advice,
             "float is not enough for this matrix: try --precision "
             "double");
    goto done;
  }
  j->left_mixed = 1;
  j->left_mixed_at = run->iterations;
  const int keeps = run->relative_residual < run->norm_r / run->norm_b;
  if (comm_rank(j->system.world) == 0) {
    log_warning("float is not enough for this matrix: mixed precision ended with %s at iteration "
                "%lld; %s in double",
                solve_reason_name(run->reason), (long long)run->iterations,
                keeps ? "on from there" : "from the start again");
  }
  solve_release_method(j);
  if (!keeps) TRY(load_start(j));
  TRY(prepare_again(j));
  *again = 1;
done:
  return rc;
}

/* What the first method has won is kept: the next one starts from its last iterate, if that is
 * better than the start. */
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
  const int keeps = run->relative_residual < run->norm_r / run->norm_b;
  if (comm_rank(s->world) == 0) {
    log_warning("%s ended with %s at iteration %lld: %s with %s", j->switched_from->name,
                solve_reason_name(j->switched_reason), (long long)j->switched_at,
                keeps ? "on from there" : "from the start again", j->method->name);
  }
  if (!keeps) TRY(load_start(j));
  TRY(prepare_again(j));
  *again = 1;
done:
  return rc;
}
