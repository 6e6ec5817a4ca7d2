/* halosweep convert FILE --output FILE: a matrix or vector into another format, reordered on the
 * way if asked.
 *
 * read -> reorder (rcm.h: the pattern on rank 0, the order on all ranks) -> write. What is written
 * reads back with the same bits. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "file_name.h"
#include "fingerprint.h"
#include "log.h"
#include "matrix_io.h"
#include "rcm.h"
#include "report.h"
#include "result_io.h"
#include "row_exchange.h"
#include "run_files.h"
#include "run_memory.h"
#include "run_problem.h"

typedef struct conversion {
  run_context *run;
  csr_rows a;
  ownership owned;
  matrix_file facts;
  double *vector; /* where the input is one; NULL */
  double *rhs;    /* the file's own, or rhs = FILE; NULL */
  gidx *old;      /* [rows] of new row i; NULL: as it was */
  gidx bandwidth[2];
} conversion;

static int leads(const conversion *v) { return comm_rank(v->run->c) == 0; }
static const char *output(const conversion *v) { return options_text(v->run->o, "run.output"); }

static status bandwidth(const conversion *v, gidx *out) {
  const csr_rows *a = &v->a;
  *out = 0;
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const gidx gi = a->first_row + i,
                 gap = gi > a->column[e] ? gi - a->column[e] : a->column[e] - gi;
      if (gap > *out) *out = gap;
    }
  }
  return comm_max_i64(v->run->c, out, 1);
}

static status read_input(conversion *v) {
  status rc = STATUS_OK;
  comm *c = v->run->c;
  const options *o = v->run->o;
  const char *path = options_text(o, "convert.file"), *rhs = options_text(o, "convert.rhs");
  TRY(run_memory_to_read(v->run, path, 0));
  TRY(matrix_read(c, path, v->run->threads, &v->a, &v->owned, &v->facts, &v->rhs));
  if (v->a.global_columns == 1 && v->a.global_rows > 1) { /* with its zeros and their signs */
    TRY(vector_read(c, path, &v->owned, 0, &v->vector, NULL));
  }
  if (rhs != NULL && v->rhs != NULL) alloc_free(&v->rhs);
  if (rhs != NULL) TRY(vector_read(c, rhs, &v->owned, 0, &v->rhs, NULL));
  TRY(bandwidth(v, &v->bandwidth[0]));
done:
  return rc;
}

/* ---- reordering ---- */

/* The new owners: row blocks weighed by the entries of their new rows. */
static status own_anew(conversion *v, const gidx *fresh, ownership *out) {
  status rc = STATUS_OK;
  comm *c = v->run->c;
  const gidx block = v->owned.block, blocks = (v->owned.rows + block - 1) / block;
  const block_share share = ownership_share(v->owned.rows, comm_rank(c), comm_size(c));
  int64_t *weight = NULL;
  TRY(comm_agree(c, alloc_zeroed(&weight, blocks, sizeof *weight, "weights")));
  for (lidx i = 0; i < v->a.rows; i++) {
    weight[fresh[v->a.first_row + i] / block] += v->a.offset[i + 1] - v->a.offset[i];
  }
  TRY(comm_sum_i64(c, weight, blocks));
  TRY(ownership_by_weight(c, v->owned.rows, share, weight + share.first, out));
done:
  alloc_free(&weight);
  return rc;
}

/* This rank's entries at their new places. */
static status renumber(const conversion *v, const gidx *fresh, entry_list *out) {
  status rc = STATUS_OK;
  const csr_rows *a = &v->a;
  out->count = a->offset[a->rows];
  TRY(alloc_array(&out->row, out->count, sizeof *out->row, "entries"));
  TRY(alloc_array(&out->column, out->count, sizeof *out->column, "entries"));
  TRY(alloc_array(&out->value, out->count, sizeof *out->value, "entries"));
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      out->row[e] = fresh[a->first_row + i];
      out->column[e] = fresh[a->column[e]];
      out->value[e] = a->value[e];
    }
  }
done:
  return rc;
}

/* Rows from entries that are sorted; takes over columns and values. */
static status make_rows(const ownership *owned, entry_list *l, csr_rows *out) {
  status rc = STATUS_OK;
  memset(out, 0, sizeof *out);
  out->global_rows = out->global_columns = owned->rows;
  out->first_row = ownership_begin(owned);
  TRY(index_narrow(ownership_end(owned) - out->first_row, "rows", &out->rows));
  TRY(alloc_zeroed(&out->offset, (int64_t)out->rows + 1, sizeof *out->offset, "rows"));
  for (int64_t e = 0; e < l->count; e++) out->offset[l->row[e] - out->first_row + 1]++;
  for (lidx i = 0; i < out->rows; i++) out->offset[i + 1] += out->offset[i];
  out->column = l->column;
  out->value = l->value;
  l->column = NULL;
  l->value = NULL;
done:
  return rc;
}

static status move_matrix(conversion *v, const gidx *fresh, const ownership *owned) {
  status rc = STATUS_OK;
  entry_list mine = {0}, arrived = {0};
  csr_rows moved;
  TRY(comm_agree(v->run->c, renumber(v, fresh, &mine)));
  TRY(entries_deliver(v->run->c, owned, &mine, &arrived));
  TRY(comm_agree(v->run->c, make_rows(owned, &arrived, &moved)));
  csr_rows_release(&v->a);
  v->a = moved;
done:
  entry_list_release(&mine);
  entry_list_release(&arrived);
  return rc;
}

static status move_vector(conversion *v, const gidx *fresh, const ownership *owned) {
  status rc = STATUS_OK;
  const gidx begin = ownership_begin(&v->owned), rows = ownership_end(&v->owned) - begin;
  entry_list mine = {.count = rows}, arrived = {0};
  rc = alloc_array(&mine.row, rows, sizeof *mine.row, "entries");
  if (rc == STATUS_OK) rc = alloc_zeroed(&mine.column, rows, sizeof *mine.column, "entries");
  TRY(comm_agree(v->run->c, rc));
  for (gidx i = 0; i < rows; i++) mine.row[i] = fresh[begin + i];
  mine.value = v->rhs;
  v->rhs = NULL;
  TRY(entries_deliver(v->run->c, owned, &mine, &arrived));
  v->rhs = arrived.value;
  arrived.value = NULL;
done:
  entry_list_release(&mine);
  entry_list_release(&arrived);
  return rc;
}

static status reorder(conversion *v) {
  status rc = STATUS_OK;
  comm *c = v->run->c;
  gidx *fresh = NULL;
  ownership owned;
  memset(&owned, 0, sizeof owned);
  if (strcmp(options_text(v->run->o, "convert.order"), "rcm") != 0) goto done;
  if (v->a.global_rows != v->a.global_columns) {
    rc = fail(STATUS_INPUT, "%s is %lld x %lld: only square matrices are reordered",
              options_text(v->run->o, "convert.file"), (long long)v->a.global_rows,
              (long long)v->a.global_columns);
  }
  TRY(comm_agree(c, rc));
  TRY(rcm_order(c, &v->owned, &v->a, &v->old));
  TRY(comm_agree(c, alloc_array(&fresh, v->owned.rows, sizeof *fresh, "new numbers")));
  for (gidx i = 0; i < v->owned.rows; i++) fresh[v->old[i]] = i;
  TRY(own_anew(v, fresh, &owned));
  TRY(move_matrix(v, fresh, &owned));
  if (v->rhs != NULL) TRY(move_vector(v, fresh, &owned));
  ownership_release(&v->owned);
  v->owned = owned;
  memset(&owned, 0, sizeof owned);
done:
  ownership_release(&owned);
  alloc_free(&fresh);
  return rc;
}

/* ---- writing ---- */

static void fill_report(const conversion *v, report *r) {
  char mark[FINGERPRINT_TEXT];
  fingerprint_text(v->facts.content, mark);
  report_word(r, "program", "halosweep");
  report_word(r, "command", "convert");
  report_word(r, "version", HALOSWEEP_VERSION);
  report_word(r, "config", options_effective(v->run->o));
  report_integer(r, "exit_code", 0);
  report_word(r, "file", options_text(v->run->o, "convert.file"));
  report_word(r, "format", v->facts.format);
  report_integer(r, "rows", v->a.global_rows);
  report_integer(r, "columns", v->a.global_columns);
  report_integer(r, "entries", v->facts.merged);
  report_integer(r, "bandwidth_before", v->bandwidth[0]);
  report_integer(r, "bandwidth", v->bandwidth[1]);
  report_word(r, "fingerprint", mark); /* of the input's entries */
}

static status write_hdf5(conversion *v, const char *json) {
  status rc = STATUS_OK;
  result_file *f = NULL;
  TRY(result_create(v->run->c, output(v), &f));
  if (v->vector != NULL) {
    TRY(result_vector(f, "/vector", &v->owned, v->vector));
  } else {
    TRY(matrix_store(f, v->run->c, &v->a));
    if (v->rhs != NULL) TRY(result_vector(f, "/rhs", &v->owned, v->rhs));
  }
  TRY(run_result_texts(v->run, f, "convert", json, v->facts.content));
  rc = result_close(&f, 1);
done:
  if (f != NULL) result_close(&f, 0);
  return rc;
}

static status write_output(conversion *v, const char *json) {
  status rc = STATUS_OK;
  comm *c = v->run->c;
  const char *path = output(v);
  if (file_name_ends(path, ".h5|.hdf5")) {
    rc = write_hdf5(v, json);
  } else if (v->vector != NULL) {
    rc = vector_write(c, path, &v->owned, v->vector);
  } else if (file_name_ends(path, ".txt")) {
    rc = comm_agree(c, fail(STATUS_USAGE,
                            "%s: .txt is for vectors, and %s is a matrix of %lld x "
                            "%lld: expected .h5, .mtx or .petsc",
                            path, options_text(v->run->o, "convert.file"),
                            (long long)v->a.global_rows, (long long)v->a.global_columns));
  } else {
    rc = matrix_write(c, path, &v->a);
  }
  return rc;
}

/* The order as numbers from 1, this rank's part. */
static status write_permutation(conversion *v) {
  status rc = STATUS_OK;
  const char *path = options_text(v->run->o, "convert.permutation");
  const gidx begin = ownership_begin(&v->owned), rows = ownership_end(&v->owned) - begin;
  double *number = NULL;
  if (path == NULL) goto done;
  TRY(comm_agree(v->run->c, alloc_array(&number, rows, sizeof *number, "order")));
  for (gidx i = 0; i < rows; i++) number[i] = (double)(v->old[begin + i] + 1);
  rc = vector_write(v->run->c, path, &v->owned, number);
done:
  alloc_free(&number);
  return rc;
}

static void tell(const conversion *v) {
  char rows[REPORT_COUNT];
  report_count(v->a.global_rows, "row", rows);
  report_print("%s: %s, %s, %lld entries\n", options_text(v->run->o, "convert.file"),
               v->facts.format, rows, (long long)v->facts.merged);
  if (v->old != NULL) {
    report_print("reordered (reverse Cuthill-McKee): bandwidth %lld -> %lld\n",
                 (long long)v->bandwidth[0], (long long)v->bandwidth[1]);
  }
  report_print("written: %s\n", output(v));
}

static status write_all(conversion *v) {
  status rc = STATUS_OK;
  const char *to = options_text(v->run->o, "run.report");
  const char *json = NULL, *rhs = options_text(v->run->o, "convert.rhs_output");
  report *r = NULL;
  rc = report_create(&r);
  if (rc == STATUS_OK) fill_report(v, r);
  if (rc == STATUS_OK) rc = report_text(r, &json);
  TRY(comm_agree(v->run->c, rc));
  TRY(write_output(v, json));
  TRY(write_permutation(v));
  if (rhs != NULL) TRY(vector_write(v->run->c, rhs, &v->owned, v->rhs));
  if (leads(v) && (to == NULL || strcmp(to, "-") != 0)) tell(v);
  if (leads(v) && to != NULL) rc = report_write(r, to);
  rc = comm_agree(v->run->c, rc);
done:
  report_release(&r);
  return rc;
}

status command_convert(run_context *run) {
  status rc = STATUS_OK;
  conversion v = {.run = run};
  TRY(run_files_check(run, NULL, 0));
  TRY(read_input(&v));
  TRY(reorder(&v));
  TRY(bandwidth(&v, &v.bandwidth[1]));
  rc = write_all(&v);
done:
  csr_rows_release(&v.a);
  ownership_release(&v.owned);
  alloc_free(&v.vector);
  alloc_free(&v.rhs);
  alloc_free(&v.old);
  return rc;
}
