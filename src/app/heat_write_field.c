/* The output file of `heat`: saved fields with their times, rows under /heat, texts; or the final
 * field as a plain vector. */
#include <string.h>

#include "alloc.h"
#include "file_name.h"
#include "fingerprint.h"
#include "heat_job.h"
#include "log.h"
#include "matrix_io.h"
#include "run_problem.h"

/* One number of every row, as a dataset. */
static status write_column(const heat_outputs *out, result_file *f, const char *name, int column,
                           dataset_type type, int64_t *values, int64_t mine) {
  for (int64_t i = 0; i < out->rows; i++) values[i] = heat_outputs_row(out, i)[column];
  return result_table(f, name, type, out->rows, 0, 0, mine, values);
}

static status write_probes(const heat_outputs *out, result_file *f, int64_t *values, int leads) {
  status rc = STATUS_OK;
  const int64_t probes = out->probes;
  if (probes == 0) return rc;
  for (int64_t i = 0; i < out->rows; i++) {
    memcpy(values + i * probes, heat_outputs_row(out, i) + ROW_PROBES,
           (size_t)probes * sizeof *values);
  }
  TRY(result_table(f, "/heat/probes", DATASET_F64, out->rows, probes, 0, leads ? out->rows : 0,
                   values));
  rc = result_table(f, "/heat/probe_points", DATASET_F64, probes, out->dims, 0, leads ? probes : 0,
                    out->probe);
done:
  return rc;
}

/* Rank 0 has them as all have; one writes. */
static status write_rows(const heat_job *j, result_file *f) {
  static const struct {
    const char *name;
    int column;
    dataset_type type;
  } all[] = {
      {"/heat/step", ROW_STEP, DATASET_I64},       {"/heat/time", ROW_TIME, DATASET_F64},
      {"/heat/total_heat", ROW_HEAT, DATASET_F64}, {"/heat/minimum", ROW_MINIMUM, DATASET_F64},
      {"/heat/maximum", ROW_MAXIMUM, DATASET_F64}, {"/heat/mean", ROW_MEAN, DATASET_F64}};
  status rc = STATUS_OK;
  const heat_outputs *out = &j->outputs;
  const int leads = comm_rank(j->run->c) == 0;
  const int64_t wide = out->probes > 1 ? out->probes : 1;
  int64_t *values = NULL;
  TRY(comm_agree(j->run->c, alloc_array(&values, out->rows * wide, sizeof *values, "saved rows")));
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    TRY(write_column(out, f, all[i].name, all[i].column, all[i].type, values,
                     leads ? out->rows : 0));
  }
  rc = write_probes(out, f, values, leads);
done:
  alloc_free(&values);
  return rc;
}

static status write_times(heat_job *j, const char *json) {
  status rc = STATUS_OK;
  heat_outputs *out = &j->outputs;
  result_file *f = field_result(out->file);
  double *time = NULL;
  int64_t count = 0;
  TRY(comm_agree(j->run->c, alloc_array(&time, out->rows, sizeof *time, "times")));
  for (int64_t i = 0; i < out->rows; i++) {
    const int64_t *row = heat_outputs_row(out, i);
    if (row[ROW_SLOT] >= 0) memcpy(&time[count++], &row[ROW_TIME], sizeof *time);
  }
  TRY(field_finish(out->file, out->fields, time));
  TRY(write_rows(j, f));
  TRY(run_result_texts(j->run, f, "heat", json, j->fingerprint));
  rc = field_close(&out->file, 1);
done:
  alloc_free(&time);
  return rc;
}

/* Points in the order of the file: x fastest. */
static status write_vector(heat_job *j, const char *path) {
  status rc = STATUS_OK;
  const heat_run *run = &j->heat;
  ownership o = run->owned;
  o.first = NULL;
  TRY(comm_agree(run->world, alloc_array(&o.first, o.size + 1, sizeof *o.first, "ownership")));
  for (int r = 0; r <= o.size; r++) o.first[r] = run->owned.first[r] * run->slab.plane;
  o.rows = j->points;
  TRY(comm_agree(run->world, heat_store(&j->heat, run->host, run->u)));
  rc = vector_write(run->world, path, &o, run->host);
done:
  alloc_free(&o.first);
  return rc;
}

status heat_write_field(heat_job *j, const char *json) {
  status rc = STATUS_OK;
  const char *path = options_text(j->run->o, "run.output");
  const int broken = j->heat.reason == HEAT_NOT_FINITE;
  TRY(comm_agree(j->run->c, history_close(&j->outputs.history, 1)));
  if (path == NULL) goto done;
  if (broken && (j->outputs.file == NULL || j->outputs.fields == 0)) {
    log_warning("%s not written: the run broke down before a time was saved", path);
    goto done;
  }
  rc = j->outputs.file != NULL ? write_times(j, json) : write_vector(j, path);
done:
  return rc;
}
