/* Where the trajectories of `ode` start: expressions, tuples, files; and their own parameters. */
#include <string.h>

#include "alloc.h"
#include "field_io.h"
#include "fingerprint.h"
#include "ode_job.h"

/* A dataset of rows x width, all of it on every rank. */
static status read_all(ode_job *j, const char *text, int64_t rows, int64_t width, double **out) {
  status rc = STATUS_OK;
  field_source *from = NULL;
  heat_grid g = {.dims = width > 1 ? 2 : 1, .n = {width > 1 ? width : rows, rows, 1}};
  if (width == 1) g.n[1] = 1;
  TRY(field_open(j->run->c, text, &g, &from));
  rc = alloc_array(out, rows * width, sizeof **out, "states from a file");
  if (rc == STATUS_OK) rc = field_planes(from, 0, rows, *out);
  TRY(comm_agree(j->run->c, rc));
  j->content += fingerprint_of(*out, 0, rows * width);
done:
  field_source_close(&from);
  return rc;
}

status ode_start_open(ode_job *j) {
  status rc = STATUS_OK;
  ode_inputs *in = &j->in;
  const phase before = timers_switch(&j->timers, PHASE_READ);
  if (in->table_file != NULL) {
    TRY(read_all(j, in->table_file, in->replicates, in->components, &in->table_values));
    in->table = in->table_values;
    in->table_rows = in->replicates;
  }
  for (int k = 0; k < in->drawn.count; k++) {
    sample *s = &in->drawn.of[k];
    double *column = NULL;
    if (s->kind != SAMPLE_COLUMN) continue;
    rc = read_all(j, s->file, in->replicates, 1, &column);
    s->column = column;
    if (rc != STATUS_OK) goto done;
  }
done:
  timers_switch(&j->timers, before);
  return rc;
}

void ode_start_close(ode_job *j) {
  for (int k = 0; k < j->in.drawn.count; k++) {
    double *column;
    memcpy(&column, &j->in.drawn.of[k].column, sizeof column);
    alloc_free(&column);
    j->in.drawn.of[k].column = NULL;
  }
}

/* The expressions of the initial state, for one trajectory. */
static void evaluate(const ode_job *j, const double *own, double *y) {
  const formula *f = function_formula(j->initial);
  formula_input in[2 * ODE_VALUES_MAX];
  double *out[ODE_COMPONENTS_MAX];
  for (int k = 0; k < j->in.shared; k++) in[k] = (formula_input){&j->in.common[k], 0};
  for (int k = 0; k < j->in.own; k++) in[j->in.shared + k] = (formula_input){&own[k], 0};
  for (int c = 0; c < j->in.components; c++) out[c] = y + c;
  f->batch(f->context, 1, in, out);
}

void ode_start_rows(void *job, int64_t first, int64_t count, double *y, double *p) {
  const ode_job *j = job;
  const ode_inputs *in = &j->in;
  const int n = in->components;
  for (int64_t k = 0; k < count; k++) {
    const int64_t i = first + k;
    ode_inputs_own(in, i, p + k * in->own);
    if (in->table != NULL) {
      memcpy(y + k * n, in->table + (i % in->replicates) * n, (size_t)n * sizeof *y);
    } else {
      evaluate(j, p + k * in->own, y + k * n);
    }
    for (int c = 0; c < n; c++) ode_inputs_instead(in, c, i, &y[k * n + c]);
  }
}
