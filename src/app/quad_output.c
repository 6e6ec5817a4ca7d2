/* What `quad` leaves behind: the report, a summary to read, and the outcome as an exit code with a
 * text that says what to try. */
#include <math.h>
#include <stdio.h>

#include "alloc.h"
#include "fingerprint.h"
#include "quad_job.h"
#include "run_report.h"

static int leads(const quad_job *j) { return comm_rank(j->run->c) == 0; }

static uint64_t mark_of(const quad_job *j) { return fingerprint_of(&j->quad.value, 0, 1); }

static double evaluations_per_second(const quad_job *j) {
  const double busy = j->phases.slowest[PHASE_COMPUTE] + j->phases.slowest[PHASE_COMMUNICATE];
  return busy > 0.0 ? (double)j->quad.evaluations / busy : 0.0;
}

static void fill_report(const quad_job *j, report *r) {
  const options *o = j->run->o;
  const quad_run *q = &j->quad;
  const run_facts facts = {.command = "quad",
                           .exit_code = quad_exit_code(j),
                           .restarted_from = checkpointing_look(j->saving)->restarted,
                           .restarted_at = checkpointing_look(j->saving)->restarted_at,
                           .reason = quad_reason_name(q->reason),
                           .fingerprint = mark_of(j),
                           .reproducible = "all",
                           .chosen = &j->chosen,
                           .phases = &j->phases,
                           .host_peak = j->host_peak};
  run_report_common(j->run, &facts, r);
  report_word(r, "rule", j->rule->name);
  report_integer(r, "dims", q->integral.dims);
  report_real(r, "value", q->value);
  report_real(r, "error_estimate", q->error);
  report_integer(r, "evaluations", q->evaluations);
  if (q->points[0] > 0) {
    report_integer(r, "points", q->points[0]);
    report_integer(r, "panels", q->panels);
  }
  report_real(r, "evaluations_per_second", evaluations_per_second(j));
  if (options_has(o, "quad.exact")) {
    report_real(r, "error", fabs(q->value - options_real(o, "quad.exact")));
  }
}

static void print_summary(const quad_job *j) {
  const options *o = j->run->o;
  const quad_run *q = &j->quad;
  if (options_flag(o, "run.quiet")) {
    report_print("%.17g\n", q->value);
    return;
  }
  report_print("rule         %s in %d direction%s\n", j->rule->name, q->integral.dims,
               q->integral.dims == 1 ? "" : "s");
  run_report_print_place(j->run, &j->chosen);
  report_print("ended        %s after %lld evaluation%s\n", quad_reason_name(q->reason),
               (long long)q->evaluations, q->evaluations == 1 ? "" : "s");
  if (q->points[0] > 0) {
    report_print("points       %lld per direction%s", (long long)q->points[0],
                 q->panels > 1 ? " of a panel" : "\n");
    if (q->panels > 1) report_print(", %lld panels\n", (long long)q->panels);
  }
  report_print("value        %.17g\n", q->value);
  if (q->reason == QUAD_NOT_FINITE)
    report_print("error        unknown\n");
  else if (isnan(q->error))
    report_print("error        not estimated: that takes more than one point\n");
  else
    report_print("error        %.3e (estimated)\n", q->error);
  if (options_has(o, "quad.exact")) {
    report_print("true error   %.3e\n", fabs(q->value - options_real(o, "quad.exact")));
  }
  run_report_print_end(&j->phases, mark_of(j));
}

status quad_write(quad_job *j) {
  status rc = STATUS_OK;
  const char *path = options_text(j->run->o, "run.report");
  report *r = NULL;
  int64_t top[1] = {alloc_peak_bytes()};
  TRY(comm_max_i64(j->run->c, top, 1));
  j->host_peak = top[0];
  TRY(backend_devices(j->run, &j->chosen));
  TRY(timers_summarise(j->run->c, &j->timers, &j->phases));
  if (leads(j) && (path == NULL || path[0] != '-' || path[1] != '\0')) print_summary(j);
  if (leads(j) && path != NULL) {
    rc = report_create(&r);
    if (rc == STATUS_OK) {
      fill_report(j, r);
      rc = report_write(r, path);
    }
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

status quad_outcome(const quad_job *j) {
  const quad_run *q = &j->quad;
  const status code = quad_reason_status(q->reason);
  const status stopped = quad_saving_outcome(j);
  if (stopped != STATUS_OK) return stopped;
  if (code == STATUS_OK) return STATUS_OK;
  if (code == STATUS_DIVERGED) return not_finite(q);
  return fail(code,
              "not converged (%s) after %lld evaluations: %.17g with an estimated error of %.3e",
              quad_reason_name(q->reason), (long long)q->evaluations, q->value, q->error);
}
