/* What `quad` leaves behind: the report, a summary to read, and the outcome as an exit code with a
 * text that says what to try. */
#include <math.h>

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
                           .exit_code = quad_reason_status(q->reason),
                           .reason = quad_reason_name(q->reason),
                           .fingerprint = mark_of(j),
                           .reproducible = "all",
                           .chosen = &j->chosen,
                           .phases = &j->phases,
                           .host_peak = j->host_peak};
  run_report_common(j->run, &facts, r);
  report_word(r, "rule", j->rule->name);
  if (j->why != NULL) report_word(r, "why", j->why);
  report_integer(r, "dims", q->integral.dims);
  report_real(r, "value", q->value);
  report_real(r, "error_estimate", q->error);
  report_integer(r, "evaluations", q->evaluations);
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
  if (j->why != NULL) report_print("why          %s\n", j->why);
  run_report_print_place(j->run, &j->chosen);
  report_print("ended        %s after %lld evaluation%s\n", quad_reason_name(q->reason),
               (long long)q->evaluations, q->evaluations == 1 ? "" : "s");
  report_print("value        %.17g\n", q->value);
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

status quad_outcome(const quad_job *j) {
  const quad_run *q = &j->quad;
  const status code = quad_reason_status(q->reason);
  if (code == STATUS_OK) return STATUS_OK;
  if (code == STATUS_DIVERGED) {
    return fail(code, "the integrand is not finite at x = %.17g: f = %g", q->bad_point[0],
                q->bad_value);
  }
  return fail(code,
              "not converged (%s) after %lld evaluations: %.17g with an estimated error of %.3e",
              quad_reason_name(q->reason), (long long)q->evaluations, q->value, q->error);
}
