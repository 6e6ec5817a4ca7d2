/* What `heat` leaves behind: totals and the fingerprint of the final field, the report, a summary
 * to read, and the outcome as an exit code with a text that says what to try. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "fingerprint.h"
#include "heat_job.h"
#include "implicit.h"
#include "run_report.h"
#include "team.h"

static int leads(const heat_job *j) { return comm_rank(j->run->c) == 0; }

/* ---- numbers of the final field ---- */

/* Errors as a field of their own, so that they are summed like the field itself. The L2 norm is
 * the root of the mean square over the domain. */
static status find_errors(heat_job *j) {
  status rc = STATUS_OK;
  heat_run *run = &j->heat;
  const heat_box box = heat_slab_box(run, 0);
  const int64_t owned = heat_owned(&run->slab);
  const double t = heat_time(run, run->step);
  double *error = NULL, volume = 1.0;
  heat_totals sums;
  const int passes = 2;
  TRY(comm_agree(run->world, alloc_array(&error, owned, sizeof *error, "errors")));
  heat_value_fill(&j->in.exact, &box, t, run->threads, error);
  HEAT_ATTEMPT(run, heat_store(run, run->host, run->u));
  for (int64_t i = 0; i < owned; i++) error[i] = fabs(run->host[i] - error[i]);
  for (int pass = 0; pass < passes; pass++) {
    HEAT_ATTEMPT(run, heat_load(run, run->spare[0], error));
    TRY(comm_agree(run->world, run->failure));
    TRY(heat_totals_of(run, run->spare[0], &sums));
    if (pass == 0) j->error_max = sums.maximum;
    for (int64_t i = 0; i < owned; i++) error[i] *= error[i];
  }
  for (int d = 0; d < run->slab.g.dims; d++) {
    const int open = run->slab.g.face[2 * d] == HEAT_PERIODIC || run->slab.g.n[d] == 1;
    volume *= run->slab.g.spacing[d] * (double)(run->slab.g.n[d] - !open);
  }
  j->error_l2 = sqrt(sums.heat / volume);
done:
  alloc_free(&error);
  return rc;
}

status heat_collect(heat_job *j) {
  status rc = STATUS_OK;
  heat_run *run = &j->heat;
  comm *c = run->world;
  int64_t sums[4] = {0, run->launches, run->copies, run->passed}, top[1] = {alloc_peak_bytes()};
  j->error_l2 = j->error_max = NAN;
  TRY(comm_agree(c, heat_store(run, run->host, run->u)));
  sums[0] = (int64_t)team_fingerprint(j->run->threads, run->host, run->slab.first * run->slab.plane,
                                      heat_owned(&run->slab));
  TRY(comm_sum_i64(c, sums, 4));
  TRY(comm_max_i64(c, top, 1));
  TRY(backend_devices(j->run, &j->chosen));
  TRY(heat_totals_of(run, run->u, &j->totals));
  if (j->in.of[HEAT_EXACT].text != NULL && run->reason != HEAT_NOT_FINITE) TRY(find_errors(j));
  j->fingerprint = (uint64_t)sums[0];
  run->launches = sums[1];
  run->copies = sums[2];
  run->passed = sums[3];
  j->host_peak = top[0];
  rc = comm_agree(c, run->failure);
done:
  return rc;
}

/* ---- the report ---- */

static double updates_per_second(const heat_job *j) {
  const double busy = j->phases.slowest[PHASE_COMPUTE] + j->phases.slowest[PHASE_COMMUNICATE];
  const double updates = (double)j->points * (double)j->heat.stages;
  return busy > 0.0 ? updates / busy : 0.0;
}

/* A pass, of however many stages, reads one field and writes one, planes of its halo included: the
 * least it can do. Linear solves are not counted. */
static double bytes_moved(const heat_job *j) { return 16.0 * (double)j->heat.passed; }

static void put_heat(const heat_job *j, report *r) {
  const heat_run *run = &j->heat;
  report_integer(r, "points", j->points);
  report_word(r, "scheme", run->scheme->name);
  report_word(r, "why", j->why);
  report_integer(r, "steps", run->step);
  report_integer(r, "steps_this_run", run->step - run->began_at);
  report_integer(r, "stages", run->stages);
  report_real(r, "time", heat_time(run, run->step));
  report_real(r, "dt", run->dt);
  report_real(r, "lambda_max", run->lambda);
  if (run->implicit != NULL) {
    report_integer(r, "solves", run->implicit->solves);
    report_integer(r, "solver_iterations", run->implicit->all_iterations);
    report_integer(r, "rejected", run->rejected);
  }
  report_real(r, "point_updates_per_second", updates_per_second(j));
  report_integer(r, "launches", run->launches);
  report_integer(r, "host_copies", run->copies);
  report_integer(r, "saved_times", j->outputs.rows);
  report_real(r, "total_heat", j->totals.heat);
  report_real(r, "minimum", j->totals.minimum);
  report_real(r, "maximum", j->totals.maximum);
  if (isnan(j->error_max)) return;
  report_real(r, "error_l2", j->error_l2);
  report_real(r, "error_max", j->error_max);
}

static void fill_report(const heat_job *j, report *r) {
  char text[ENDING_TEXT];
  const run_ending ending = heat_ending(j, text);
  const checkpointing_facts *saved = ending.saved;
  const run_facts facts = {.command = "heat",
                           .exit_code = run_ending_code(&ending),
                           .reason = run_ending_reason(&ending),
                           .fingerprint = j->fingerprint,
                           .reproducible = "all",
                           .chosen = &j->chosen,
                           .phases = &j->phases,
                           .host_peak = j->host_peak,
                           .bytes = bytes_moved(j),
                           .restarted_from = saved->restarted,
                           .restarted_at = saved->restarted_at};
  run_report_common(j->run, &facts, r);
  put_heat(j, r);
}

/* ---- for people ---- */

static void print_summary(const heat_job *j) {
  const heat_run *run = &j->heat;
  const heat_grid *g = &run->slab.g;
  char text[ENDING_TEXT];
  const run_ending ending = heat_ending(j, text);
  report_print("grid         %lld", (long long)g->n[0]);
  for (int d = 1; d < g->dims; d++) report_print(" x %lld", (long long)g->n[d]);
  report_print(" points\nscheme       %s, dt = %.17g s: %s\n", run->scheme->name, run->dt, j->why);
  run_report_print_place(j->run, &j->chosen);
  report_print("ended        %s after %s, at time %.17g s\n", run_ending_reason(&ending),
               ending.done, heat_time(run, run->step));
  report_print("field        %.17g to %.17g, total heat %.17g\n", j->totals.minimum,
               j->totals.maximum, j->totals.heat);
  if (!isnan(j->error_max)) {
    report_print("error        max %.3e, root mean square %.3e\n", j->error_max, j->error_l2);
  }
  run_report_print_end(&j->phases, j->fingerprint);
}

status heat_write(heat_job *j) {
  status rc = STATUS_OK;
  const char *path = options_text(j->run->o, "run.report"), *json = "";
  const int on_stdout = path != NULL && strcmp(path, "-") == 0;
  report *r = NULL;
  timers_switch(&j->timers, PHASE_WRITE);
  TRY(timers_summarise(j->run->c, &j->timers, &j->phases));
  rc = report_create(&r);
  if (rc == STATUS_OK) {
    fill_report(j, r);
    rc = report_text(r, &json);
  }
  TRY(comm_agree(j->run->c, rc));
  TRY(heat_write_field(j, json));
  TRY(timers_summarise(j->run->c, &j->timers, &j->phases)); /* writing took time */
  if (!on_stdout && leads(j)) print_summary(j);
  if (path != NULL && leads(j)) {
    report_release(&r); /* once more, with the time of writing and its warnings */
    rc = report_create(&r);
    if (rc == STATUS_OK) {
      fill_report(j, r);
      rc = report_write(r, path);
    }
  }
  rc = comm_agree(j->run->c, rc);
  if (rc == STATUS_OK && !on_stdout && leads(j) && !options_flag(j->run->o, "run.quiet") &&
      options_text(j->run->o, "run.output") == NULL) {
    report_print("solution not kept: add --output run.vtkhdf\n");
  }
done:
  report_release(&r);
  return rc;
}

/* ---- the exit code and its text ---- */

static status not_finite(const heat_job *j) {
  const heat_run *run = &j->heat;
  const heat_grid *g = &run->slab.g;
  char where[200] = "";
  for (int d = 0; d < g->dims; d++) {
    const size_t used = strlen(where);
    snprintf(where + used, sizeof where - used, "%s%c = %.17g", d == 0 ? "" : ", ", "xyz"[d],
             heat_at(g, d, run->bad_point[d]));
  }
  return fail(
      STATUS_DIVERGED, "at step %lld, time %.17g, the field is not finite: u = %g at %s (rank %d)",
      (long long)run->step, heat_time(run, run->step), run->bad_value, where, run->bad_rank);
}

static status unsolved(const heat_job *j) {
  const heat_run *run = &j->heat;
  return fail(STATUS_STOPPED,
              "the linear solve of step %lld, time %.17g, stopped after %d iterations with a "
              "residual of %.3g; expected at most solver_rtol = %g",
              (long long)run->step + 1, heat_time(run, run->step), run->implicit->iterations,
              run->implicit->residual, run->solver_rtol);
}

status heat_outcome(const heat_job *j) {
  char text[ENDING_TEXT];
  const run_ending ending = heat_ending(j, text);
  const status stopped = run_ending_failure(&ending);
  if (stopped != STATUS_OK) return stopped;
  if (j->heat.reason == HEAT_UNSOLVED) return unsolved(j);
  return j->heat.reason == HEAT_NOT_FINITE ? not_finite(j) : STATUS_OK;
}
