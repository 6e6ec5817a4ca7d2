/* Where the trajectories of `ode` start: expressions, tuples, files; and their own parameters. */
#include <string.h>

#include "alloc.h"
#include "field_io.h"
#include "fingerprint.h"
#include "ode_job.h"

/* The rows that trajectories [begin, end) start from: all where these are not a run of them. */
static void find_rows(int64_t rows, int64_t begin, int64_t end, int64_t *first, int64_t *last) {
  *first = begin % rows;
  *last = *first + (end - begin);
  if (*last <= rows) return;
  *first = 0;
  *last = rows;
}

/* This rank's rows of a dataset of rows x width. What all of it holds is added to j->content: a row
 * by the rank that has the trajectory of its number. */
static status read_rows(ode_job *j, const char *text, int64_t rows, int64_t width,
                        row_window *out) {
  status rc = STATUS_OK;
  comm *c = j->run->c;
  field_source *from = NULL;
  ownership owned = {0};
  int64_t first, last, content;
  TRY(field_open_rows(c, text, rows, width, &from));
  TRY(comm_agree(c, ownership_aligned(c, j->in.trajectories, ODE_BLOCK, &owned)));
  const int64_t begin = ownership_begin(&owned), end = ownership_end(&owned);
  find_rows(rows, begin, end, &first, &last);
  const int64_t from_row = first > 0 ? first : 1;
  *out = (row_window){NULL, from_row, last > from_row ? last - from_row : 0, width};
  rc = alloc_array(&out->values, (1 + out->count) * width, sizeof *out->values, "states");
  if (rc == STATUS_OK) rc = field_planes(from, 0, 1, out->values);
  if (rc == STATUS_OK) rc = field_planes(from, from_row, out->count, out->values + width);
  TRY(comm_agree(c, rc));
  const int64_t known = (end < rows ? end : rows) - begin;
  content = known > 0
                ? (int64_t)fingerprint_of(row_window_at(out, begin), begin * width, known * width)
                : 0;
  TRY(comm_sum_i64(c, &content, 1));
  j->content += (uint64_t)content;
done:
  ownership_release(&owned);
  field_source_close(&from);
  return rc;
}

status ode_start_open(ode_job *j) {
  status rc = STATUS_OK;
  ode_inputs *in = &j->in;
  const phase before = timers_switch(&j->timers, PHASE_READ);
  if (in->table_file != NULL) {
    TRY(read_rows(j, in->table_file, in->replicates, in->components, &in->table));
  }
  for (int k = 0; k < in->drawn.count; k++) {
    sample *s = &in->drawn.of[k];
    if (s->kind == SAMPLE_COLUMN) TRY(read_rows(j, s->file, in->replicates, 1, &s->column));
  }
done:
  timers_switch(&j->timers, before);
  return rc;
}

void ode_start_close(ode_job *j) {
  for (int k = 0; k < j->in.drawn.count; k++) alloc_free(&j->in.drawn.of[k].column.values);
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
    if (in->table.values != NULL) {
      memcpy(y + k * n, row_window_at(&in->table, i % in->replicates), (size_t)n * sizeof *y);
    } else {
      evaluate(j, p + k * in->own, y + k * n);
    }
    for (int c = 0; c < n; c++) ode_inputs_instead(in, c, i, &y[k * n + c]);
  }
}
