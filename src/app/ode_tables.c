/* Rows of trajectories for others: the result file, and small runs in print. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "ode_job.h"
#include "text.h"

/* ---- the file ---- */

static int starts_elsewhere(const ode_job *j, int component) {
  double value;
  return ode_inputs_instead(&j->in, component, 0, &value);
}

/* The own parameters, a column each, and what a sweep or a sample starts components from. */
static status write_parameters(const ode_job *j, result_file *f) {
  status rc = STATUS_OK;
  const ode_rows *r = &j->e.mine;
  const int own = j->in.own;
  double *column = NULL;
  TRY(comm_agree(j->run->c, alloc_array(&column, r->count, sizeof *column, "parameters")));
  for (int k = 0; k < own; k++) {
    char name[ODE_NAME + 32];
    for (int64_t i = 0; i < r->count; i++) column[i] = r->p[i * own + k];
    snprintf(name, sizeof name, "/ode/parameters/%.60s",
             j->in.names[1 + j->in.components + j->in.shared + k]);
    TRY(result_table(f, name, DATASET_F64, j->in.trajectories, 0, r->first, r->count, column));
  }
  for (int c = 0; c < j->in.components; c++) {
    char name[ODE_NAME + 32];
    if (!starts_elsewhere(j, c)) continue;
    for (int64_t i = 0; i < r->count; i++) {
      ode_inputs_instead(&j->in, c, r->first + i, &column[i]);
    }
    snprintf(name, sizeof name, "/ode/parameters/%.60s", j->in.names[1 + c]);
    TRY(result_table(f, name, DATASET_F64, j->in.trajectories, 0, r->first, r->count, column));
  }
done:
  alloc_free(&column);
  return rc;
}

static status write_saved(const ode_job *j, result_file *f) {
  status rc = STATUS_OK;
  const ode_rows *r = &j->e.mine;
  const int64_t saves = j->e.plan.saves, n = j->in.components, row = saves * n;
  const int leads = comm_rank(j->run->c) == 0;
  const dataset shape = {.name = "/ode/saved",
                         .type = DATASET_F64,
                         .dims = 3,
                         .extent = {j->in.trajectories, saves, n}};
  int set;
  if (saves == 0) return rc;
  TRY(result_dataset(f, &shape, &set));
  TRY(result_run(f, set, r->first * row, r->count * row, r->saved));
  TRY(result_table(f, "/ode/save_at", DATASET_F64, saves, 0, 0, leads ? saves : 0, j->save_at));
done:
  return rc;
}

static status write_statistics(const ode_job *j, result_file *f) {
  status rc = STATUS_OK;
  const ode_statistics *s = &j->statistics;
  const int64_t n = j->in.components, rows = comm_rank(j->run->c) == 0 ? n : 0;
  const int64_t quantiles = rows > 0 ? s->quantiles : 0;
  TRY(result_table(f, "/ode/mean", DATASET_F64, n, 0, 0, rows, s->mean));
  TRY(result_table(f, "/ode/variance", DATASET_F64, n, 0, 0, rows, s->variance));
  TRY(result_table(f, "/ode/minimum", DATASET_F64, n, 0, 0, rows, s->minimum));
  TRY(result_table(f, "/ode/maximum", DATASET_F64, n, 0, 0, rows, s->maximum));
  TRY(result_table(f, "/ode/histogram", DATASET_I64, n, s->bins, 0, rows, s->histogram));
  if (s->quantiles == 0) goto done;
  TRY(result_table(f, "/ode/quantile", DATASET_F64, s->quantiles, n, 0, quantiles, s->quantile));
done:
  return rc;
}

/* A root attribute "x|y|z". */
static status write_names(comm *c, result_file *f, const char *key, const char *const *name,
                          int count) {
  status rc = STATUS_OK;
  text_builder names = {0};
  for (int k = 0; k < count && rc == STATUS_OK; k++) {
    rc = text_print(&names, "%s%s", k > 0 ? "|" : "", name[k]);
  }
  TRY(comm_agree(c, rc));
  rc = result_text(f, key, names.text);
done:
  text_release(&names);
  return rc;
}

status ode_write_names(comm *c, result_file *f, const char *const *component, int count) {
  status rc = STATUS_OK;
  const char *verdict[ODE_STATUSES];
  for (int s = 0; s < ODE_STATUSES; s++) verdict[s] = ode_status_name((ode_status)s);
  TRY(write_names(c, f, "status_names", verdict, ODE_STATUSES));
  rc = write_names(c, f, "component_names", component, count);
done:
  return rc;
}

status ode_write_tables(ode_job *j, result_file *f) {
  status rc = STATUS_OK;
  const ode_rows *r = &j->e.mine;
  const int64_t all = j->in.trajectories, n = j->in.components;
  int64_t *steps = NULL;
  TRY(comm_agree(j->run->c, alloc_array(&steps, r->count, sizeof *steps, "counts of steps")));
  for (int64_t i = 0; i < r->count; i++) steps[i] = r->attempts[i] - r->rejected[i];
  TRY(result_table(f, "/ode/final", DATASET_F64, all, n, r->first, r->count, r->y));
  TRY(result_table(f, "/ode/time", DATASET_F64, all, 0, r->first, r->count, r->t));
  TRY(result_table(f, "/ode/status", DATASET_BYTES, all, 0, r->first, r->count, r->status));
  TRY(result_table(f, "/ode/steps", DATASET_I64, all, 0, r->first, r->count, steps));
  TRY(result_table(f, "/ode/rejected", DATASET_I64, all, 0, r->first, r->count, r->rejected));
  TRY(write_parameters(j, f));
  TRY(write_saved(j, f));
  TRY(write_statistics(j, f));
  rc = ode_write_names(j->run->c, f, j->in.names + 1, (int)n);
done:
  alloc_free(&steps);
  return rc;
}

/* ---- for people ---- */

static void print_state(const ode_job *j, int64_t i, const ode_shown *s) {
  const int quiet = options_flag(j->run->o, "run.quiet");
  if (!quiet && j->in.trajectories > 1) report_print("  %lld: ", (long long)i);
  if (!quiet && j->in.trajectories == 1) report_print("state        ");
  for (int c = 0; c < j->in.components; c++) {
    const double y = isnan(s->y[c]) ? fabs(s->y[c]) : s->y[c]; /* no "-nan" */
    if (quiet) {
      report_print("%s%.17g", c > 0 ? " " : "", y);
    } else {
      report_print("%s%s = %.17g", c > 0 ? ", " : "", j->in.names[1 + c], y);
    }
  }
  if (quiet) {
    report_print("\n");
  } else {
    report_print(" at t = %.17g (%s)\n", s->t, ode_status_name((ode_status)s->status));
  }
}

status ode_gather_rows(ode_job *j) {
  status rc = STATUS_OK;
  comm *c = j->run->c;
  const ode_rows *r = &j->e.mine;
  const int64_t count = j->in.trajectories, n = j->in.components;
  ode_shown *mine = NULL, *all = NULL;
  if (count * n > ODE_SHOWN) return STATUS_OK;
  rc = alloc_zeroed(&mine, count, sizeof *mine, "states");
  if (rc == STATUS_OK) rc = alloc_zeroed(&all, comm_size(c) * count, sizeof *all, "states");
  if (rc == STATUS_OK) rc = alloc_zeroed(&j->shown, count, sizeof *j->shown, "states");
  TRY(comm_agree(c, rc));
  for (int64_t i = 0; i < r->count; i++) {
    ode_shown *s = &mine[r->first + i];
    s->t = r->t[i];
    s->status = r->status[i];
    s->there = 1;
    memcpy(s->y, r->y + i * n, (size_t)n * sizeof *s->y);
  }
  TRY(comm_allgather(c, mine, all, count * (int64_t)sizeof *mine));
  for (int64_t k = 0; k < comm_size(c) * count; k++) {
    if (all[k].there) j->shown[k % count] = all[k];
  }
done:
  alloc_free(&mine);
  alloc_free(&all);
  return rc;
}

void ode_print_rows(const ode_job *j) {
  for (int64_t i = 0; j->shown != NULL && i < j->in.trajectories; i++) {
    print_state(j, i, &j->shown[i]);
  }
}
