/* What `quad` leaves behind: the report, a summary to read, and the outcome as an exit code with a
 * text that says what to try. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "fingerprint.h"
#include "log.h"
#include "quad_job.h"
#include "run_problem.h"
#include "run_report.h"

static int leads(const quad_job *j) { return comm_rank(j->run->c) == 0; }

static uint64_t mark_of(const quad_job *j) {
  return quad_is_sweep(j) ? j->members.fingerprint : fingerprint_of(&j->quad.value, 0, 1);
}

static int exit_code(const quad_job *j) {
  if (!quad_is_sweep(j) || quad_stopped(&j->quad)) return quad_exit_code(j);
  return j->members.failures > 0 ? STATUS_STOPPED : STATUS_OK;
}

static const char *reason_of(const quad_job *j) {
  if (quad_is_sweep(j) && j->members.failures > 0 && !quad_stopped(&j->quad)) {
    return "members_failed";
  }
  return quad_reason_name(j->quad.reason);
}

static double evaluations_per_second(const quad_job *j) {
  const double busy = j->phases.slowest[PHASE_COMPUTE] + j->phases.slowest[PHASE_COMMUNICATE];
  return busy > 0.0 ? (double)j->quad.evaluations / busy : 0.0;
}

static double true_error(const quad_job *j) {
  return fabs(j->quad.value - quad_inputs_exact(&j->in, j->in.value));
}

/* The largest error of a sweep's members. Collective. */
static status find_error_max(quad_job *j) {
  const quad_sweep *s = &j->members;
  const int64_t first = ownership_begin(&s->owned), end = ownership_end(&s->owned);
  double parameters[QUAD_NAMES], worst = 0.0;
  memcpy(parameters, j->in.value, sizeof parameters);
  for (int64_t m = first; m < end; m++) {
    sweep_member(&s->swept->grid, m, parameters + j->in.fixed);
    const double error = fabs(s->mine.value[m - first] - quad_inputs_exact(&j->in, parameters));
    if (!(error <= worst)) worst = isnan(error) ? INFINITY : error;
  }
  j->error_max = worst;
  return comm_max_f64(j->run->c, &j->error_max, 1);
}

/* ---- the report ---- */

static void fill_report(const quad_job *j, report *r) {
  const quad_run *q = &j->quad;
  const run_facts facts = {.command = "quad",
                           .exit_code = exit_code(j),
                           .reason = reason_of(j),
                           .restarted_from = checkpointing_look(j->saving)->restarted,
                           .restarted_at = checkpointing_look(j->saving)->restarted_at,
                           .fingerprint = mark_of(j),
                           .reproducible = "all",
                           .chosen = &j->chosen,
                           .phases = &j->phases,
                           .host_peak = j->host_peak};
  run_report_common(j->run, &facts, r);
  report_word(r, "rule", j->rule->name);
  if (j->why != NULL) report_word(r, "why", j->why);
  report_integer(r, "dims", q->integral.dims);
  if (quad_is_sweep(j)) {
    quad_report_sweep(j, r);
  } else {
    report_real(r, "value", q->value);
    report_real(r, "error_estimate", q->error);
    report_flag(r, "converged", q->reason == QUAD_CONVERGED);
  }
  report_integer(r, "evaluations", q->evaluations);
  if (q->points[0] > 0) {
    report_integer(r, "points", q->points[0]);
    report_integer(r, "panels", q->panels);
  }
  report_real(r, "evaluations_per_second", evaluations_per_second(j));
  if (!quad_is_sweep(j) && j->in.exact_known) report_real(r, "error", true_error(j));
}

/* ---- the file ---- */

/* Rank 0 has the three numbers. */
static status write_value(const quad_job *j, result_file *f) {
  status rc = STATUS_OK;
  const quad_run *q = &j->quad;
  const int64_t count = leads(j) ? 1 : 0;
  TRY(result_table(f, "/quad/value", DATASET_F64, 1, 0, 0, count, &q->value));
  TRY(result_table(f, "/quad/error", DATASET_F64, 1, 0, 0, count, &q->error));
  TRY(result_table(f, "/quad/evaluations", DATASET_I64, 1, 0, 0, count, &q->evaluations));
done:
  return rc;
}

static status write_result(quad_job *j, const char *json) {
  status rc = STATUS_OK;
  const char *path = options_text(j->run->o, "run.output");
  result_file *f = NULL;
  if (path == NULL) return STATUS_OK;
  if (exit_code(j) == STATUS_DIVERGED) {
    log_warning("%s not written: the integrand is not finite, there is no value to keep", path);
    return STATUS_OK;
  }
  TRY(result_create(j->run->c, path, &f));
  TRY(quad_is_sweep(j) ? quad_write_sweep(j, f) : write_value(j, f));
  TRY(run_result_texts(j->run, f, "quad", json, mark_of(j)));
  rc = result_close(&f, 1);
done:
  if (f != NULL) result_close(&f, 0);
  return rc;
}

/* ---- for people ---- */

static void print_points(const quad_job *j) {
  const quad_run *q = &j->quad;
  if (q->points[0] == 0) return;
  if (j->rule->flags & QUAD_RULE_SAMPLING) {
    report_print("points       %lld in %lld replicates\n", (long long)q->points[0],
                 (long long)q->panels);
    return;
  }
  report_print("points       %lld per direction%s", (long long)q->points[0],
               q->panels > 1 ? " of a panel" : "\n");
  if (q->panels > 1) report_print(", %lld panels\n", (long long)q->panels);
}

static void print_value(const quad_job *j) {
  const quad_run *q = &j->quad;
  print_points(j);
  report_print("value        %.17g\n", q->value);
  if (q->reason == QUAD_NOT_FINITE) {
    report_print("error        unknown\n");
  } else if (isnan(q->error)) {
    report_print("error        not estimated: that takes more than one point\n");
  } else {
    report_print("error        %.3e (estimated)\n", q->error);
  }
  if (j->in.exact_known) report_print("true error   %.3e\n", true_error(j));
}

static void print_members(const quad_job *j) {
  const quad_sweep *s = &j->members;
  char text[SWEEP_TEXT];
  sweep_describe(s->swept, text);
  report_print("sweep        %s, %lld failed\n", text, (long long)s->failures);
  if (j->in.exact_known) report_print("true error   %.3e (the largest)\n", j->error_max);
}

static void print_summary(const quad_job *j) {
  const quad_run *q = &j->quad;
  if (options_flag(j->run->o, "run.quiet")) {
    if (!quad_is_sweep(j)) report_print("%.17g\n", q->value);
    return;
  }
  report_print("rule         %s in %d direction%s\n", j->rule->name, q->integral.dims,
               q->integral.dims == 1 ? "" : "s");
  if (j->why != NULL) report_print("why          %s\n", j->why);
  run_report_print_place(j->run, &j->chosen);
  report_print("ended        %s after %lld evaluation%s\n", reason_of(j), (long long)q->evaluations,
               q->evaluations == 1 ? "" : "s");
  quad_is_sweep(j) ? print_members(j) : print_value(j);
  run_report_print_end(&j->phases, mark_of(j));
}

static status make_report(const quad_job *j, report **r, const char **json) {
  report_release(r);
  status rc = report_create(r);
  if (rc != STATUS_OK) return rc;
  fill_report(j, *r);
  return report_text(*r, json);
}

static status print_all(const quad_job *j) {
  status rc = STATUS_OK;
  const options *o = j->run->o;
  const char *path = options_text(o, "run.report");
  if (path != NULL && strcmp(path, "-") == 0) return STATUS_OK;
  if (leads(j)) print_summary(j);
  if (!quad_is_sweep(j)) return STATUS_OK;
  TRY(quad_print_sweep(j));
  if (leads(j) && options_text(o, "run.output") == NULL &&
      j->members.swept->grid.members > QUAD_SHOWN) {
    report_print("members not kept: add --output x.h5\n");
  }
done:
  return rc;
}

status quad_write(quad_job *j) {
  status rc = STATUS_OK;
  const char *path = options_text(j->run->o, "run.report"), *json = "";
  report *r = NULL;
  int64_t top[1] = {alloc_peak_bytes()};
  timers_switch(&j->timers, PHASE_WRITE);
  TRY(comm_max_i64(j->run->c, top, 1));
  j->host_peak = top[0];
  TRY(backend_devices(j->run, &j->chosen));
  if (quad_is_sweep(j) && j->in.exact_known) TRY(find_error_max(j));
  TRY(timers_summarise(j->run->c, &j->timers, &j->phases));
  TRY(comm_agree(j->run->c, make_report(j, &r, &json)));
  TRY(write_result(j, json));
  TRY(timers_summarise(j->run->c, &j->timers, &j->phases)); /* writing took time */
  TRY(print_all(j));
  if (path != NULL && leads(j)) {
    rc = make_report(j, &r, &json); /* once more, with the time of writing and its warnings */
    if (rc == STATUS_OK) rc = report_write(r, path);
  }
  rc = comm_agree(j->run->c, rc);
done:
  report_release(&r);
  return rc;
}

/* Where the integrand is not finite, and what to try. */
static status not_finite(const quad_run *q) {
  char at[QUAD_DIMS * 32] = "";
  if (isfinite(q->bad_value)) {
    return fail(STATUS_DIVERGED,
                "the integrand is finite at all %lld points, but its sum is beyond "
                "the largest double: scale it down",
                (long long)q->evaluations);
  }
  for (int d = 0, length = 0; d < q->integral.dims; d++) {
    length += snprintf(at + length, sizeof at - (size_t)length, "%s%.17g", d > 0 ? ", " : "",
                       q->bad_point[d]);
  }
  return fail(STATUS_DIVERGED, "the integrand is not finite at %s = %s%s%s: f = %g%s",
              q->integral.dims == 1 ? "x" : "point", q->integral.dims == 1 ? "" : "(", at,
              q->integral.dims == 1 ? "" : ")", q->bad_value,
              q->at_end ? "; that is an end of the range: rule = tanh-sinh (or adaptive) does not "
                          "evaluate there"
                        : "");
}

/* What may help a rule that did not meet the tolerance. */
static const char *advice(const quad_run *q) {
  if (q->reason == QUAD_ROUND_OFF && !(q->error < 0.1 * fabs(q->value))) {
    return "rounding leaves no more: the integral may not exist, or hide in a narrow place "
           "(breaks)";
  }
  if (q->reason == QUAD_ROUND_OFF) {
    return "rounding leaves no more: a larger rtol would accept it; of singular ends one at 0 is "
           "met best (shift it there)";
  }
  if (q->reason == QUAD_MISSED) {
    return "more points (n), or no n: the rule is then refined until it meets the tolerance";
  }
  if (q->integral.dims > 1) {
    return "raise max_evaluations or rtol; rules for many directions: genz-malik, sobol; or the "
           "integral does not exist";
  }
  return "raise max_evaluations or rtol, name jumps and peaks in breaks; or the integral does not "
         "exist";
}

status quad_outcome(const quad_job *j) {
  const quad_run *q = &j->quad;
  const status code = quad_reason_status(q->reason);
  const status stopped = quad_saving_outcome(j);
  if (stopped != STATUS_OK) return stopped;
  if (quad_is_sweep(j)) return quad_outcome_sweep(j);
  if (code == STATUS_OK) return STATUS_OK;
  if (code == STATUS_DIVERGED) return not_finite(q);
  if (q->reason == QUAD_UNSEEN) {
    return fail(code,
                "all that %lld evaluations saw of the integrand is 0, or cancels exactly: that "
                "says nothing about what lies between; narrower limits, or breaks around what "
                "matters, help",
                (long long)q->evaluations);
  }
  return fail(
      code, "not converged (%s) after %lld evaluations: %.17g with an estimated error of %.3e; %s",
      quad_reason_name(q->reason), (long long)q->evaluations, q->value, q->error, advice(q));
}
