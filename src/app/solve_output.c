/* What `solve` leaves behind: the solution's fingerprint, files, the report, a summary to read, and
 * the outcome as an exit code with a text that says what to try. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "file_name.h"
#include "fingerprint.h"
#include "linear.h"
#include "log.h"
#include "report.h"
#include "result_io.h"
#include "run_problem.h"
#include "run_report.h"
#include "solve_job.h"
#include "spectrum_report.h"
#include "team.h"

enum { SHOWN = 20 }; /* solutions of up to so many numbers are printed */

static int leads(const solve_job *j) { return comm_rank(j->run->c) == 0; }

status solve_collect(solve_job *j) {
  status rc = STATUS_OK;
  comm *c = j->run->c;
  linear_system *s = &j->system;
  int64_t sums[4], top[1];
  double worst = 0.0;
  rc = alloc_array(&j->x, s->rows, sizeof *j->x, "solution");
  if (rc == STATUS_OK) rc = linear_store(s, j->x, j->solve.x);
  TRY(comm_agree(c, rc));
  sums[0] = (int64_t)team_fingerprint(j->run->threads, j->x, ownership_begin(&j->owned), s->rows);
  sums[1] = j->storage.bytes;
  sums[2] =
      j->storage.sweep_bytes + (int64_t)s->rows * (j->method != NULL ? j->method->vector_bytes : 0);
  s->kernels->solve->matrix_describe(s->a, &j->storage); /* it may have moved to the host */
  sums[3] = j->storage.streamed_bytes;
  top[0] = alloc_peak_bytes();
  TRY(backend_devices(j->run, &j->chosen));
  TRY(comm_sum_i64(c, sums, 4));
  TRY(comm_max_i64(c, top, 1));
  for (lidx i = 0; i < s->rows; i++) {
    const double error = fabs(j->x[i] - 1.0);
    if (!(error <= worst)) worst = isnan(error) ? INFINITY : error;
  }
  TRY(comm_max_f64(c, &worst, 1));
  j->fingerprint = (uint64_t)sums[0];
  j->bytes = sums[1];
  j->sweep_bytes = sums[2];
  j->streamed_bytes = sums[3];
  j->host_peak = top[0];
  j->error_max = (j->trivial || j->nullspace.constant) && j->solution_is_ones ? NAN : worst;
done:
  return rc;
}

/* ---- the report ---- */

static void put_choice(const solve_job *j, report *r) {
  if (j->switched_from != NULL) {
    report_open(r, "switched_from");
    report_word(r, "method", j->switched_from->name);
    report_word(r, "reason", solve_reason_name(j->switched_reason));
    report_integer(r, "at_iteration", j->switched_at);
    report_close(r);
  }
  if (j->scaled) report_word(r, "scaling", "symmetric");
  if (j->nullspace.constant) {
    report_open(r, "nullspace");
    report_word(r, "of", "constant");
    report_real(r, "right_side_mean", ldexp(j->nullspace.mean, j->exponent));
    report_real(r, "least_relative_residual", j->nullspace.share);
    report_flag(r, "incompatible", j->nullspace.incompatible);
    report_close(r);
  }
  if (j->method != NULL && j->method->flags & SOLVER_TAKES_OMEGA) report_real(r, "omega", j->omega);
  if (j->spectrum.how != SPECTRUM_UNKNOWN) spectrum_report(&j->spectrum, r);
}

static void put_precision(const solve_job *j, report *r) {
  const solve_mixed *m = &j->solve.mixed;
  report_word(r, "precision", m->on ? "mixed" : "double");
  if (!m->on && !j->left_mixed) return;
  report_open(r, "mixed");
  report_word(r, "format", m->storage.format);
  report_integer(r, "inner_iterations", j->left_mixed ? j->left_mixed_at : j->solve.iterations);
  report_integer(r, "corrections", m->corrections);
  report_flag(r, "left_for_double", j->left_mixed);
  report_close(r);
}

static void put_solve(const solve_job *j, report *r) {
  const solve_run *run = &j->solve;
  report_integer(r, "rows", j->owned.rows);
  report_integer(r, "entries", j->entries);
  report_word(r, "format", j->storage.format);
  report_real(r, "bytes_per_row", (double)j->sweep_bytes / (double)j->owned.rows);
  report_integer(r, "streamed_bytes_per_product", j->streamed_bytes);
  report_word(r, "method", j->method != NULL ? j->method->name : "none");
  report_word(r, "preconditioner", solve_preconditioner_name(j));
  report_word(r, "why", j->why);
  put_choice(j, r);
  put_precision(j, r);
  report_word(r, "rhs", j->rhs);
  report_integer(r, "iterations", run->iterations);
  report_integer(r, "iterations_this_run", run->iterations - run->restarted_at);
  report_real(r, "relative_residual", run->relative_residual);
  report_real(r, "recursive_residual", run->recursive_residual);
  report_flag(r, "converged", run->reason == REASON_CONVERGED);
  if (run->restarts > 0) report_integer(r, "residual_restarts", run->restarts);
  if (run->reason == REASON_INDEFINITE) {
    report_real(r, run->curvature_is_rz ? "r_dot_z" : "p_dot_ap", run->curvature);
  }
  if (j->solution_is_ones && !isnan(j->error_max)) report_real(r, "error_max", j->error_max);
}

static const char *reproducible(const solve_job *j) {
  return j->method != NULL && j->method->flags & SOLVER_BY_A_PACKAGE ? "none" : "all";
}

static void fill_report(const solve_job *j, report *r) {
  char text[ENDING_TEXT];
  const run_ending ending = solve_ending(j, text);
  const checkpointing_facts *saved = ending.saved;
  const run_facts facts = {.command = "solve",
                           .exit_code = run_ending_code(&ending),
                           .reason = run_ending_reason(&ending),
                           .fingerprint = j->fingerprint,
                           .reproducible = reproducible(j),
                           .chosen = &j->chosen,
                           .phases = &j->phases,
                           .host_peak = j->host_peak,
                           .bytes = (double)j->sweep_bytes * (double)j->solve.products,
                           .restarted_from = saved->restarted,
                           .restarted_at = saved->restarted_at};
  run_report_common(j->run, &facts, r);
  put_solve(j, r);
}

/* ---- files ---- */

static status write_hdf5(solve_job *j, const char *path, const char *json) {
  status rc = STATUS_OK;
  result_file *f = NULL;
  TRY(result_create(j->run->c, path, &f));
  TRY(result_vector(f, "/solve/x", &j->owned, j->x));
  TRY(run_result_texts(j->run, f, "solve", json, j->fingerprint));
  rc = result_close(&f, 1);
done:
  if (f != NULL) result_close(&f, 0);
  return rc;
}

static int diverged(const solve_job *j) {
  return solve_reason_status(j->solve.reason) == STATUS_DIVERGED;
}

static status write_result(solve_job *j, const char *json) {
  const char *path = options_text(j->run->o, "run.output");
  if (path == NULL) return STATUS_OK;
  if (diverged(j)) {
    log_warning("%s not written: the run broke down, there is no solution to keep", path);
    return STATUS_OK;
  }
  return file_name_ends(path, ".h5|.hdf5") ? write_hdf5(j, path, json)
                                           : vector_write(j->run->c, path, &j->owned, j->x);
}

/* ---- for people ---- */

static void print_summary(const solve_job *j) {
  const solve_run *run = &j->solve;
  char rows[REPORT_COUNT], text[ENDING_TEXT];
  const run_ending ending = solve_ending(j, text);
  report_count(j->owned.rows, "row", rows);
  report_print("matrix       %s, %lld entr%s (%s), stored as %s\n", rows, (long long)j->entries,
               j->entries == 1 ? "y" : "ies", j->facts.format, j->storage.format);
  report_print("right side   %s\n", j->rhs);
  if (j->method != NULL) {
    report_print("method       %s%s%s: %s\n", j->method->name,
                 j->preconditioner == NULL ? "" : " + ",
                 j->preconditioner == NULL ? "" : j->preconditioner->name, j->why);
  } else {
    report_print("method       none: %s\n", j->why);
  }
  if (j->switched_from != NULL) {
    report_print("switched     %s had ended with %s at iteration %lld\n", j->switched_from->name,
                 solve_reason_name(j->switched_reason), (long long)j->switched_at);
  }
  if (j->method != NULL && j->method->flags & SOLVER_TAKES_OMEGA) {
    report_print("omega        %.6g\n", j->omega);
  }
  if (j->left_mixed) {
    report_print("precision    mixed until iteration %lld, then double from there\n",
                 (long long)j->left_mixed_at);
  } else if (run->mixed.on) {
    report_print("precision    mixed: iterations in float, %lld corrections in double\n",
                 (long long)run->mixed.corrections);
  }
  run_report_print_place(j->run, &j->chosen);
  report_print("ended        %s%s after %s\n",
               solve_reason_status(run->reason) == STATUS_STOPPED ? "not converged: " : "",
               run_ending_reason(&ending), ending.done);
  report_print("residual     |b - Ax| / |b| = %.3e (recomputed)\n", run->relative_residual);
  if (j->solution_is_ones && !isnan(j->error_max) && !diverged(j)) {
    report_print("error        max|x - 1| = %.3e\n", j->error_max);
  }
  run_report_print_end(&j->phases, j->fingerprint);
}

/* A small solution is printed; its parts are gathered for that. */
static status print_small(solve_job *j) {
  status rc = STATUS_OK;
  double mine[SHOWN] = {0.0}, *all = NULL;
  const int size = comm_size(j->run->c);
  if (j->owned.rows > SHOWN) return STATUS_OK;
  TRY(comm_agree(j->run->c, alloc_array(&all, (int64_t)size * SHOWN, sizeof *all, "solution")));
  memcpy(mine, j->x, (size_t)j->system.rows * sizeof *mine);
  TRY(comm_allgather(j->run->c, mine, all, sizeof mine));
  if (leads(j) && !diverged(j)) {
    report_print("x =");
    for (int r = 0; r < size; r++) {
      const gidx rows = j->owned.first[r + 1] - j->owned.first[r];
      for (gidx i = 0; i < rows; i++) report_print(" %.17g", all[(int64_t)r * SHOWN + i]);
    }
    report_print("\n");
  }
done:
  alloc_free(&all);
  return rc;
}

status solve_write(solve_job *j) {
  status rc = STATUS_OK;
  const options *o = j->run->o;
  report *r = NULL;
  const char *json = "", *path = options_text(o, "run.report");
  const int on_stdout = path != NULL && strcmp(path, "-") == 0;
  timers_switch(&j->timers, PHASE_WRITE);
  TRY(comm_agree(j->run->c, history_close(&j->history, 1)));
  TRY(timers_summarise(j->run->c, &j->timers, &j->phases));
  rc = report_create(&r);
  if (rc == STATUS_OK) {
    fill_report(j, r);
    rc = report_text(r, &json);
  }
  TRY(comm_agree(j->run->c, rc));
  TRY(write_result(j, json));
  TRY(timers_summarise(j->run->c, &j->timers, &j->phases)); /* writing took time */
  if (!on_stdout) {
    if (leads(j)) print_summary(j);
    TRY(print_small(j));
  }
  if (path != NULL && leads(j)) {
    report_release(&r); /* once more, with the time of writing and its warnings */
    rc = report_create(&r);
    if (rc == STATUS_OK) {
      fill_report(j, r);
      rc = report_write(r, path);
    }
  }
  TRY(comm_agree(j->run->c, rc));
  if (!on_stdout && leads(j) && options_text(o, "run.output") == NULL) {
    report_print("solution not kept: add --output x.h5\n");
  }
done:
  report_release(&r);
  return rc;
}

/* ---- the exit code and its text ---- */

static const char *advice(const solve_job *j) {
  const matrix_survey *s = &j->survey;
  if (j->advice[0] != '\0') return j->advice;
  const int positive =
      s->symmetric && s->missing_diagonal + s->zero_diagonal == 0 && s->negative_diagonal == 0;
  if (j->method->flags & SOLVER_BY_A_PACKAGE) {
    return j->system.package == NULL ? "no method finds a unique x"
                                     : "the package on the GPU pivots within blocks only: "
                                       "--backend omp has MUMPS, which pivots wherever it must";
  }
  if (j->method->flags & SOLVER_NEEDS_DEFINITE) {
    return strcmp(j->method->name, "cg") == 0
               ? "cg needs a positive definite matrix (and preconditioner); try --method minres, "
                 "or "
                 "gmres"
               : "the method needs a positive definite matrix; try --method minres, or gmres";
  }
  if (j->method->flags & SOLVER_TAKES_PRECONDITIONER) { /* a Krylov method */
    return strcmp(j->method->name, "gmres") == 0
               ? "try another preconditioner, a larger gmres_restart, or --method direct"
               : "try --method gmres, another preconditioner, or --method direct";
  }
  if (positive) {
    return "the matrix is symmetric with a positive diagonal: try --method cg, or, if it is "
           "positive definite, --method jor with omega below 2/lambda_max of D^-1 A";
  }
  return "Jacobi converges when the spectral radius of I - D^-1 A is below 1 (strictly dominant "
         "rows suffice); a smaller omega (--method jor --omega 0.5) may help";
}

static status outcome_diverged(const solve_job *j) {
  const solve_run *run = &j->solve;
  const long long k = (long long)run->iterations;
  switch (run->reason) {
  case REASON_INDEFINITE:
    if (run->curvature == 0.0) {
      return fail(STATUS_DIVERGED,
                  "%s broke down: %s = 0 at iteration %lld: the matrix is singular or indefinite, "
                  "or its entries lie too far apart for doubles; %s",
                  j->method->name, run->curvature_is_rz ? "r.z" : "p.Ap", k, advice(j));
    }
    return fail(STATUS_DIVERGED,
                "%s: the matrix is not positive definite: %s = %.17g at iteration "
                "%lld; %s",
                j->method->name, run->curvature_is_rz ? "r.z" : "p.Ap", run->curvature, k,
                advice(j));
  case REASON_DIVERGED:
    return fail(STATUS_DIVERGED, "%s diverges: the residual grew to %.3e |b| at iteration %lld; %s",
                j->method->name, run->relative_residual, k, advice(j));
  case REASON_BREAKDOWN:
    return fail(STATUS_DIVERGED, "%s broke down in step %lld: %s; |b - Ax| / |b| = %.3e; %s",
                j->method->name, k + 1, run->broke, run->relative_residual, advice(j));
  default:
    return fail(STATUS_DIVERGED, "%s broke down: a number is not finite at iteration %lld; %s",
                j->method->name, k, advice(j));
  }
}

/* What may help a method that ran into max_iterations. */
static const char *limit_advice(const solve_job *j) {
  if (strcmp(j->method->name, "gmres") == 0) {
    return "raise max_iterations or gmres_restart, or try another preconditioner (ilu0, amg) or "
           "--method direct";
  }
  if (!(j->method->flags & SOLVER_TAKES_PRECONDITIONER)) {
    return "raise max_iterations, or try a Krylov method (--method auto) or --method direct";
  }
  if (j->method->flags & SOLVER_NEEDS_DEFINITE) {
    return "raise max_iterations, or try another preconditioner (ic0, amg) or --method direct";
  }
  return "raise max_iterations, or try another preconditioner (ilu0, amg) or --method direct";
}

/* What may help a method that got stuck. A residual that rounding leaves is small, unless |A||x| is
 * much larger than |b|: the matrix is singular then, in double precision at least. */
static const char *stuck_advice(const solve_job *j) {
  if (j->solve.relative_residual < 1e-4) {
    return "this is as far as double precision goes; a larger rtol would accept it";
  }
  if (strcmp(j->method->name, "gmres") == 0) {
    return "gmres_restart steps leave x as it is: raise gmres_restart, or try --method direct; or "
           "the matrix is singular";
  }
  return "the matrix is singular in double precision, or nearly: does b lie in its range, is a row "
         "or a condition missing?";
}

status solve_outcome(const solve_job *j) {
  const solve_run *run = &j->solve;
  char text[ENDING_TEXT];
  const run_ending ending = solve_ending(j, text);
  const status code = solve_reason_status(run->reason), stopped = run_ending_failure(&ending);
  if (stopped != STATUS_OK) return stopped;
  if (code == STATUS_DIVERGED) return outcome_diverged(j);
  if (run->reason == REASON_INCOMPATIBLE) {
    return fail(
        code,
        "the right-hand side is incompatible: rows and columns sum to zero, so A x has mean "
        "0, but b has mean %.6g: no x has |b - Ax| / |b| below %.6g; the x found is the "
        "least-squares solution of mean 0, with %.6g",
        ldexp(j->nullspace.mean, j->exponent), j->nullspace.share, run->relative_residual);
  }
  if (code == STATUS_STOPPED) {
    return fail(code, "not converged (%s) after %s: |b - Ax| / |b| = %.3e; %s",
                solve_reason_name(run->reason), ending.done, run->relative_residual,
                run->reason == REASON_MAX_ITERATIONS ? limit_advice(j) : stuck_advice(j));
  }
  return STATUS_OK;
}
