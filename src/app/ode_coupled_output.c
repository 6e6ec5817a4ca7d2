/* What `ode` leaves behind of a coupled system: the report, a summary to read, the result file, and
 * the outcome. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "fingerprint.h"
#include "ode_coupled.h"
#include "ode_job.h"
#include "run_outcome.h"
#include "run_problem.h"
#include "run_report.h"
#include "team.h"

enum { ENDING = 800, HALF = ENDING / 2 };

static int leads(const coupled_job *j) { return comm_rank(j->run->c) == 0; }

static run_ending ending(const coupled_job *j, char done[ENDING]) {
  const coupled_run *r = &j->coupled;
  snprintf(done, HALF, "%lld steps", (long long)r->clock.attempts[0]);
  coupled_explain(r, done + HALF, HALF);
  return (run_ending){.saved = checkpointing_look(j->saving),
                      .stopped = r->requested,
                      .code = r->clock.status[0] == ODE_DONE ? STATUS_OK : STATUS_STOPPED,
                      .reason = coupled_reason(r),
                      .done = done,
                      .state = done + HALF};
}

status coupled_outcome(const coupled_job *j) {
  char done[ENDING];
  const run_ending e = ending(j, done);
  const status stopped = run_ending_failure(&e);
  if (stopped != STATUS_OK || e.code == STATUS_OK) return stopped;
  return fail(STATUS_STOPPED, "%s", done + HALF);
}

/* ---- small systems ---- */

/* The whole state, where it is at most ODE_SHOWN numbers, from all ranks: bits of numbers that one
 * rank has, zeros of others. Collective. */
static status gather_small(coupled_job *j) {
  status rc = STATUS_OK;
  const linear_system *s = &j->coupled.space;
  int64_t bits[ODE_SHOWN] = {0};
  j->shown = s->global_rows <= ODE_SHOWN ? (int)s->global_rows : 0;
  for (lidx i = 0; j->shown > 0 && i < s->rows; i++) {
    bits[s->first_row + i] = (int64_t)bits_of(j->final[i]);
  }
  TRY(comm_sum_i64(j->run->c, bits, j->shown));
  for (int i = 0; i < j->shown; i++) j->small[i] = double_of((uint64_t)bits[i]);
done:
  return rc;
}

/* ---- the report ---- */

static double steps_per_second(const coupled_job *j) {
  const double busy = j->phases.slowest[PHASE_COMPUTE] + j->phases.slowest[PHASE_COMMUNICATE];
  return busy > 0.0 ? (double)(j->coupled.clock.attempts[0] - j->began) / busy : 0.0;
}

static void put_method(const coupled_run *r, report *out) {
  report_word(out, "method", r->by->name);
  if (r->switched >= 0) {
    report_integer(out, "switched_at_step", r->switched);
    report_real(out, "stiff_step", r->stiff_h);
    report_real(out, "stiff_h_lambda", r->stiff_product);
  }
  report_integer(out, "rhs_evaluations", r->rhs_count);
  if (r->by->kind != ODE_IMPLICIT) return;
  report_integer(out, "newton_iterations", r->newton_count);
  report_integer(out, "linear_iterations", r->linear_count);
  report_integer(out, "matrices", r->matrices);
}

static void fill_report(const coupled_job *j, report *out) {
  const coupled_run *r = &j->coupled;
  char done[ENDING];
  const run_ending e = ending(j, done);
  const int direct = r->linear != NULL && strcmp(r->linear, "direct") == 0;
  const run_facts facts = {.command = "ode",
                           .exit_code = (int)run_ending_code(&e),
                           .reason = run_ending_reason(&e),
                           .restarted_from = e.saved->restarted,
                           .restarted_at = e.saved->restarted_at,
                           .fingerprint = j->fingerprint,
                           .reproducible = direct && r->by->kind == ODE_IMPLICIT ? "none" : "all",
                           .chosen = &j->chosen,
                           .phases = &j->phases,
                           .host_peak = j->host_peak};
  run_report_common(j->run, &facts, out);
  put_method(r, out);
  report_integer(out, "trajectories", 1);
  report_integer(out, "points", r->layout.n * r->layout.m);
  report_integer(out, "components", r->space.global_rows);
  report_integer(out, "steps", r->clock.attempts[0] - r->clock.rejected[0]);
  report_integer(out, "rejected", r->clock.rejected[0]);
  report_integer(out, "steps_this_run", r->clock.attempts[0] - j->began);
  report_integer(out, "failed", e.code != STATUS_OK && !r->requested);
  report_real(out, "time", r->clock.t[0]);
  report_real(out, "minimum", j->lowest);
  report_real(out, "maximum", j->highest);
  report_real(out, "trajectory_steps_per_second", steps_per_second(j));
  if (j->shown == 0) return;
  report_open_list(out, "final");
  for (int i = 0; i < j->shown; i++) report_real(out, NULL, j->small[i]);
  report_close(out);
}

/* ---- the file ---- */

static status write_saved(const coupled_job *j, result_file *f) {
  status rc = STATUS_OK;
  const coupled_run *r = &j->coupled;
  const linear_system *s = &r->space;
  const int64_t saves = r->plan.saves;
  const dataset shape = {
      .name = "/ode/saved", .type = DATASET_F64, .dims = 2, .extent = {saves, s->global_rows}};
  int set;
  if (saves == 0) return rc;
  TRY(result_dataset(f, &shape, &set));
  for (int64_t k = 0; k < saves; k++) {
    TRY(result_run(f, set, k * s->global_rows + s->first_row, s->rows, r->saved + k * s->rows));
  }
  TRY(result_table(f, "/ode/save_at", DATASET_F64, saves, 0, 0, leads(j) ? saves : 0, j->save_at));
done:
  return rc;
}

/* The state, with the axes of its points: lines, points, fields. */
static status write_final(const coupled_job *j, result_file *f) {
  status rc = STATUS_OK;
  const coupled_layout *l = &j->coupled.layout;
  const linear_system *s = &j->coupled.space;
  const dataset line = {
      .name = "/ode/final", .type = DATASET_F64, .dims = 2, .extent = {l->n, l->fields}};
  const dataset grid = {
      .name = "/ode/final", .type = DATASET_F64, .dims = 3, .extent = {l->m, l->n, l->fields}};
  int set;
  TRY(result_dataset(f, j->coupled.system->dims == 1 ? &line : &grid, &set));
  rc = result_run(f, set, s->first_row, s->rows, j->final);
done:
  return rc;
}

/* How it ended, as an ensemble of one has it. */
static status write_ending(const coupled_job *j, result_file *f) {
  status rc = STATUS_OK;
  const coupled_run *r = &j->coupled;
  const ode_work *w = &r->clock;
  const int64_t steps = w->attempts[0] - w->rejected[0];
  const unsigned char ending = (unsigned char)w->status[0];
  const char *field[COUPLED_FIELDS];
  const int rows = leads(j);
  TRY(result_table(f, "/ode/time", DATASET_F64, 1, 0, 0, rows, &w->t[0]));
  TRY(result_table(f, "/ode/status", DATASET_BYTES, 1, 0, 0, rows, &ending));
  TRY(result_table(f, "/ode/steps", DATASET_I64, 1, 0, 0, rows, &steps));
  TRY(result_table(f, "/ode/rejected", DATASET_I64, 1, 0, 0, rows, &w->rejected[0]));
  for (int k = 0; k < r->layout.fields; k++) field[k] = r->system->derivative[k].name;
  rc = ode_write_names(j->run->c, f, field, r->layout.fields);
done:
  return rc;
}

static status write_result(const coupled_job *j, const char *json) {
  status rc = STATUS_OK;
  const char *path = options_text(j->run->o, "run.output");
  result_file *f = NULL;
  if (path == NULL) return STATUS_OK;
  TRY(result_create(j->run->c, path, &f));
  TRY(write_final(j, f));
  TRY(write_ending(j, f));
  TRY(write_saved(j, f));
  TRY(run_result_texts(j->run, f, "ode", json, j->fingerprint));
  rc = result_close(&f, 1);
done:
  if (f != NULL) result_close(&f, 0);
  return rc;
}

/* ---- for people ---- */

static void print_summary(const coupled_job *j) {
  const coupled_run *r = &j->coupled;
  const int quiet = options_flag(j->run->o, "run.quiet");
  const int64_t all = r->space.global_rows;
  if (!quiet) {
    report_print("method       %s\n", r->by->name);
    run_report_print_place(j->run, &j->chosen);
    report_print("ended        %s at t = %.17g: %lld steps, %lld rejected; %lld components in "
                 "[%.6g, %.6g]\n",
                 coupled_reason(r), r->clock.t[0],
                 (long long)(r->clock.attempts[0] - r->clock.rejected[0]),
                 (long long)r->clock.rejected[0], (long long)all, j->lowest, j->highest);
    if (r->by->kind == ODE_IMPLICIT) {
      report_print("newton       %lld iterations, %lld of the linear systems, %lld matrices\n",
                   (long long)r->newton_count, (long long)r->linear_count, (long long)r->matrices);
    }
  }
  for (int i = 0; i < j->shown; i++) {
    report_print("%s%.17g%s", i > 0 ? " " : "", j->small[i], i + 1 < j->shown ? "" : "\n");
  }
  if (quiet) return;
  if (j->shown == 0 && options_text(j->run->o, "run.output") == NULL) {
    report_print("state not kept: add --output x.h5\n");
  }
  run_report_print_end(&j->phases, j->fingerprint);
}

/* ---- all of it ---- */

/* The state, its fingerprint and range. */
static status collect(coupled_job *j) {
  status rc = STATUS_OK;
  const linear_system *s = &j->coupled.space;
  double range[2] = {-INFINITY, -INFINITY}; /* -lowest, highest */
  rc = alloc_array(&j->final, s->rows, sizeof *j->final, "final state");
  if (rc == STATUS_OK) rc = linear_store(&j->coupled.space, j->final, j->coupled.y);
  TRY(comm_agree(j->run->c, rc));
  for (lidx i = 0; i < s->rows; i++) {
    range[0] = fmax(range[0], -j->final[i]);
    range[1] = fmax(range[1], j->final[i]);
  }
  int64_t mark = (int64_t)team_fingerprint(j->run->threads, j->final, s->first_row, s->rows);
  TRY(comm_sum_i64(j->run->c, &mark, 1));
  TRY(comm_max_f64(j->run->c, range, 2));
  j->fingerprint = (uint64_t)mark;
  j->lowest = -range[0];
  j->highest = range[1];
  j->host_peak = alloc_peak_bytes();
  TRY(comm_max_i64(j->run->c, &j->host_peak, 1));
done:
  return rc;
}

static status make_report(const coupled_job *j, report **r, const char **json) {
  report_release(r);
  status rc = report_create(r);
  if (rc != STATUS_OK) return rc;
  fill_report(j, *r);
  return report_text(*r, json);
}

status coupled_write(coupled_job *j) {
  status rc = STATUS_OK;
  const char *path = options_text(j->run->o, "run.report"), *json = "";
  report *r = NULL;
  timers_switch(&j->timers, PHASE_WRITE);
  TRY(collect(j));
  TRY(gather_small(j));
  TRY(backend_devices(j->run, &j->chosen));
  TRY(timers_summarise(j->run->c, &j->timers, &j->phases));
  TRY(comm_agree(j->run->c, make_report(j, &r, &json)));
  TRY(write_result(j, json));
  TRY(timers_summarise(j->run->c, &j->timers, &j->phases)); /* writing took time */
  if (leads(j) && !(path != NULL && strcmp(path, "-") == 0)) print_summary(j);
  if (path != NULL && leads(j)) {
    rc = make_report(j, &r, &json); /* once more, with the time of writing and its warnings */
    if (rc == STATUS_OK) rc = report_write(r, path);
  }
  rc = comm_agree(j->run->c, rc);
done:
  report_release(&r);
  return rc;
}
