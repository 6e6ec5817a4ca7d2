/* halosweep convert FILE --output FILE: a matrix or vector into another format, reordered on the way
 * if asked.
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

typedef struct conversion {
  run_context *run;
  csr_rows a;
  ownership owned;
  matrix_file facts;
  double *rhs; /* the file's own, or rhs = FILE; NULL */
  gidx *old;   /* [rows] of new row i; NULL: as it was */
  gidx bandwidth[2];
} conversion;

static int leads(const conversion *v) { return comm_rank(v->run->c) == 0; }
static const char *output(const conversion *v) { return options_text(v->run->o, "run.output"); }

static status bandwidth(const conversion *v, gidx *out) {
  const csr_rows *a = &v->a;
  *out = 0;
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const gidx gi = a->first_row + i, gap = gi > a->column[e] ? gi - a->column[e] : a->column[e] - gi;
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
  TRY(matrix_read(c, path, &v->a, &v->owned, &v->facts, &v->rhs));
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

static int is_vector(const conversion *v) { return v->a.global_columns == 1 && v->a.global_rows > 1; }

/* A matrix of one column in full. */
static status as_vector(const conversion *v, double **out) {
  status rc = alloc_zeroed(out, v->a.rows, sizeof **out, "vector");
  for (lidx i = 0; rc == STATUS_OK && i < v->a.rows; i++) {
    if (v->a.offset[i + 1] > v->a.offset[i]) (*out)[i] = v->a.value[v->a.offset[i]];
  }
  return rc;
}

static char *describe(const conversion *v) {
  report *r = NULL;
  char *text = NULL;
  char mark[FINGERPRINT_TEXT];
  fingerprint_text(v->facts.content, mark);
  if (report_create(&r) != STATUS_OK) return NULL;
  report_word(r, "program", "halosweep");
  report_word(r, "command", "convert");
  report_word(r, "version", HALOSWEEP_VERSION);
  report_text(r, "config", options_effective(v->run->o));
  report_integer(r, "exit_code", 0);
  report_word(r, "file", options_text(v->run->o, "convert.file"));
  report_word(r, "format", v->facts.format);
  report_integer(r, "rows", v->a.global_rows);
  report_integer(r, "columns", v->a.global_columns);
  report_integer(r, "entries", v->facts.merged);
  report_integer(r, "bandwidth_before", v->bandwidth[0]);
  report_integer(r, "bandwidth", v->bandwidth[1]);
  report_word(r, "fingerprint", mark);
  text = report_finish(&r);
  return text;
}
