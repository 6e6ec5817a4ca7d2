/* What `ode` leaves behind: the report, a summary to read, and the outcome as an exit code with a
 * text that says what to try. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "fingerprint.h"
#include "log.h"
#include "ode_job.h"
#include "ode_saving.h"
#include "run_problem.h"
#include "run_report.h"

static int leads(const ode_job *j) { return comm_rank(j->run->c) == 0; }

static int64_t failures(const ode_job *j) {
  int64_t failed = 0;
  for (int s = 0; s < ODE_STATUSES; s++) failed += ode_has_failed(s) ? j->e.ended[s] : 0;
  return failed;
}

static double steps_per_second(const ode_job *j) {
  const double busy = j->phases.slowest[PHASE_COMPUTE] + j->phases.slowest[PHASE_COMMUNICATE];
  return busy > 0.0 ? (double)j->e.steps_this_run / busy : 0.0;
}

/* ---- the exact solution ---- */

static double row_error(const ode_job *j, int64_t i) {
  const formula *f = function_formula(j->exact);
  const ode_rows *r = &j->e.mine;
  const int n = j->in.components, own = j->in.own;
  formula_input in[1 + 2 * ODE_VALUES_MAX];
  double value[ODE_COMPONENTS_MAX], *out[ODE_COMPONENTS_MAX], worst = 0.0;
  in[0] = (formula_input){&r->t[i], 0};
  for (int k = 0; k < j->in.shared; k++) in[1 + k] = (formula_input){&j->in.common[k], 0};
  for (int k = 0; k < own; k++) {
    in[1 + j->in.shared + k] = (formula_input){&r->p[i * own + k], 0};
  }
  for (int c = 0; c < n; c++) out[c] = &value[c];
  f->batch(f->context, 1, in, out);
  for (int c = 0; c < n; c++) {
    const double error = fabs(r->y[i * n + c] - value[c]);
    if (!(error <= worst)) worst = isnan(error) ? INFINITY : error;
  }
  return worst;
}

/* The largest error of a component of a trajectory that did not fail. Collective. */
static status find_error_max(ode_job *j) {
  const ode_rows *r = &j->e.mine;
  j->error_max = 0.0;
  for (int64_t i = 0; i < r->count; i++) {
    if (r->status[i] != ODE_DONE && r->status[i] != ODE_EVENT) continue;
    const double error = row_error(j, i);
    if (error > j->error_max) j->error_max = error;
  }
  return comm_max_f64(j->run->c, &j->error_max, 1);
}

/* ---- the report ---- */

static void put_list(report *r, const char *key, const double *values, int count) {
  report_open_list(r, key);
  for (int c = 0; c < count; c++) report_real(r, NULL, values[c]);
  report_close(r);
}

static void put_statistics(const ode_job *j, report *r) {
  const ode_statistics *s = &j->statistics;
  const double *q;
  const int n = s->components, quantiles = options_reals(j->run->o, "ode.quantiles", &q);
  put_list(r, "mean", s->mean, n);
  put_list(r, "variance", s->variance, n);
  put_list(r, "minimum", s->minimum, n);
  put_list(r, "maximum", s->maximum, n);
  report_open_list(r, "quantiles");
  for (int k = 0; k < quantiles && s->count > 0; k++) {
    report_open(r, NULL);
    report_real(r, "q", q[k]);
    put_list(r, "states", s->quantile + k * n, n);
    report_close(r);
  }
  report_close(r);
}

/* States and times of a small run: of its only trajectory, or a list with one of each. */
static void put_final(const ode_job *j, report *r) {
  const int several = j->in.trajectories > 1;
  if (j->shown == NULL) return;
  if (several) report_open_list(r, "final");
  for (int64_t i = 0; i < j->in.trajectories; i++) {
    put_list(r, several ? NULL : "final", j->shown[i].y, j->in.components);
  }
  if (several) report_close(r);
  if (several) report_open_list(r, "time");
  for (int64_t i = 0; i < j->in.trajectories; i++) {
    report_real(r, several ? NULL : "time", j->shown[i].t);
  }
  if (several) report_close(r);
}

static void fill_report(const ode_job *j, report *r) {
  const ode_ensemble *e = &j->e;
  const run_facts facts = {.command = "ode",
                           .exit_code = (int)ode_saving_code(j),
                           .reason = ode_saving_reason(j),
                           .restarted_from = checkpointing_look(j->saving)->restarted,
                           .restarted_at = checkpointing_look(j->saving)->restarted_at,
                           .fingerprint = e->fingerprint,
                           .reproducible = "all",
                           .chosen = &j->chosen,
                           .phases = &j->phases,
                           .host_peak = j->host_peak};
  run_report_common(j->run, &facts, r);
  report_word(r, "method", j->method->name);
  if (j->why != NULL) report_word(r, "why", j->why);
  report_integer(r, "trajectories", j->in.trajectories);
  report_integer(r, "components", j->in.components);
  report_integer(r, "steps", e->steps);
  report_integer(r, "rejected", e->rejected);
  report_integer(r, "steps_this_run", e->steps_this_run);
  report_integer(r, "failed", failures(j));
  if (e->first_failed >= 0) report_integer(r, "first_failed", e->first_failed);
  report_open(r, "ended");
  for (int s = 0; s < ODE_STATUSES; s++) {
    if (e->ended[s] > 0) report_integer(r, ode_status_name((ode_status)s), e->ended[s]);
  }
  report_close(r);
  report_real(r, "imbalance", e->imbalance);
  report_real(r, "trajectory_steps_per_second", steps_per_second(j));
  put_statistics(j, r);
  put_final(j, r);
  if (!isnan(j->error_max)) report_real(r, "error_max", j->error_max);
}

static status write_result(ode_job *j, const char *json) {
  status rc = STATUS_OK;
  const char *path = options_text(j->run->o, "run.output");
  result_file *f = NULL;
  if (path == NULL) return STATUS_OK;
  TRY(result_create(j->run->c, path, &f));
  TRY(ode_write_tables(j, f));
  TRY(run_result_texts(j->run, f, "ode", json, j->e.fingerprint));
  rc = result_close(&f, 1);
done:
  if (f != NULL) result_close(&f, 0);
  return rc;
}

/* ---- for people ---- */

static void print_statistics(const ode_job *j) {
  const ode_statistics *s = &j->statistics;
  if (j->in.trajectories == 1) return;
  for (int c = 0; c < s->components && c < ODE_SHOWN; c++) {
    report_print("%-12s mean %.10g, variance %.6g, from %.6g to %.6g\n", j->in.names[1 + c],
                 s->mean[c], s->variance[c], s->minimum[c], s->maximum[c]);
  }
}

static void print_summary(const ode_job *j) {
  const ode_ensemble *e = &j->e;
  if (options_flag(j->run->o, "run.quiet")) return;
  report_print("method       %s\n", j->method->name);
  if (j->why != NULL) report_print("why          %s\n", j->why);
  run_report_print_place(j->run, &j->chosen);
  report_print("ended        %s: %lld trajector%s, %lld failed, %lld steps, %lld rejected\n",
               ode_saving_reason(j), (long long)j->in.trajectories,
               j->in.trajectories == 1 ? "y" : "ies", (long long)failures(j), (long long)e->steps,
               (long long)e->rejected);
  print_statistics(j);
  if (!isnan(j->error_max)) report_print("true error   %.3e (the largest)\n", j->error_max);
}

static status make_report(const ode_job *j, report **r, const char **json) {
  report_release(r);
  status rc = report_create(r);
  if (rc != STATUS_OK) return rc;
  fill_report(j, *r);
  return report_text(*r, json);
}

static void print_all(const ode_job *j) {
  const options *o = j->run->o;
  const char *path = options_text(o, "run.report");
  if (!leads(j) || (path != NULL && strcmp(path, "-") == 0)) return;
  print_summary(j);
  ode_print_rows(j);
  if (options_flag(o, "run.quiet")) return;
  if (j->shown == NULL && options_text(o, "run.output") == NULL) {
    report_print("states not kept: add --output x.h5\n");
  }
  run_report_print_end(&j->phases, j->e.fingerprint);
}

status ode_write(ode_job *j) {
  status rc = STATUS_OK;
  const char *path = options_text(j->run->o, "run.report"), *json = "";
  const double *q;
  report *r = NULL;
  int64_t top[1] = {alloc_peak_bytes()};
  timers_switch(&j->timers, PHASE_WRITE);
  TRY(comm_max_i64(j->run->c, top, 1));
  j->host_peak = top[0];
  TRY(backend_devices(j->run, &j->chosen));
  const int quantiles = options_reals(j->run->o, "ode.quantiles", &q);
  TRY(ode_statistics_create(&j->e, q, quantiles, (int)options_integer(j->run->o, "ode.bins"),
                            &j->statistics));
  TRY(ode_find_failure(j));
  TRY(ode_gather_rows(j));
  if (j->exact != NULL) TRY(find_error_max(j));
  TRY(timers_summarise(j->run->c, &j->timers, &j->phases));
  TRY(comm_agree(j->run->c, make_report(j, &r, &json)));
  TRY(write_result(j, json));
  TRY(timers_summarise(j->run->c, &j->timers, &j->phases)); /* writing took time */
  print_all(j);
  if (path != NULL && leads(j)) {
    rc = make_report(j, &r, &json); /* once more, with the time of writing and its warnings */
    if (rc == STATUS_OK) rc = report_write(r, path);
  }
  rc = comm_agree(j->run->c, rc);
done:
  report_release(&r);
  return rc;
}

status ode_outcome(const ode_job *j) {
  const ode_ensemble *e = &j->e;
  const status stopped = ode_saving_outcome(j);
  const int64_t failed = failures(j);
  if (stopped != STATUS_OK) return stopped;
  if (failed == 0) return STATUS_OK;
  if (j->in.trajectories > 1) {
    return fail(STATUS_STOPPED,
                "%lld of %lld trajectories failed (%lld at the step limit, %lld with too small "
                "steps, %lld not finite), the first is number %lld; --output keeps each one's "
                "status and time",
                (long long)failed, (long long)j->in.trajectories,
                (long long)e->ended[ODE_STEP_LIMIT], (long long)e->ended[ODE_STEP_TOO_SMALL],
                (long long)e->ended[ODE_NOT_FINITE], (long long)e->first_failed);
  }
  return fail(STATUS_STOPPED, "%s", j->failure);
}
