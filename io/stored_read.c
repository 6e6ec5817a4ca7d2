/* matrix_read and vector_read of stored arrays (stored.h): each rank reads the lengths of an even
 * share of the rows to weigh them, then its own rows. Peak memory a rank: 16 bytes an entry of its
 * share, 8 a row. */
#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "deal.h"
#include "log.h"
#include "reading.h"
#include "stored.h"

static status open_all(comm *c, const char *path, stored_file *f) {
  return comm_agree(c, stored_open(path, f));
}

/* Entries of each row block of this rank's share. Local. */
static status weigh(stored_file *f, block_share share, gidx block, int64_t *weight) {
  status rc = STATUS_OK;
  int64_t *length = NULL;
  TRY(alloc_array(&length, block, sizeof *length, "row lengths"));
  for (gidx b = 0; b < share.count; b++) {
    const gidx first = (share.first + b) * block;
    const gidx rows = f->rows - first < block ? f->rows - first : block;
    TRY(stored_lengths(f, first, rows, length));
    weight[b] = 0;
    for (gidx i = 0; i < rows; i++) weight[b] += length[i];
  }
done:
  alloc_free(&length);
  return rc;
}

static status own_rows(comm *c, stored_file *f, ownership *owned) {
  status rc = STATUS_OK;
  const block_share share = ownership_share(f->rows, comm_rank(c), comm_size(c));
  ownership even;
  int64_t *weight = NULL;
  memset(&even, 0, sizeof even);
  TRY(ownership_even(c, f->rows, &even)); /* for its block */
  rc = alloc_array(&weight, share.count, sizeof *weight, "weights of row blocks");
  if (rc == STATUS_OK) rc = weigh(f, share, even.block, weight);
  TRY(comm_agree(c, rc));
  TRY(ownership_by_weight(c, f->rows, share, weight, owned));
done:
  ownership_release(&even);
  alloc_free(&weight);
  return rc;
}

/* The rows' lengths, over all ranks, make the entries that the head tells of: else the columns and
 * values would be taken from elsewhere. */
static status check_entries(comm *c, const stored_file *f, int64_t own) {
  status rc = STATUS_OK;
  TRY(comm_sum_i64(c, &own, 1));
  if (own != f->entries) {
    rc = fail(STATUS_INPUT,
              "%s: row lengths: they add up to %" PRId64
              ", expected the number of entries, %" PRId64,
              f->path, own, f->entries);
  }
  rc = comm_agree(c, rc);
done:
  return rc;
}

/* Own rows as the file has them; first[0]: the number of the first of their entries. Local, but for
 * the sums over ranks. */
static status read_offsets(comm *c, stored_file *f, const ownership *owned, csr_rows *a,
                           int64_t *first) {
  status rc = STATUS_OK;
  const gidx begin = ownership_begin(owned);
  a->global_rows = f->rows;
  a->global_columns = f->columns;
  a->first_row = begin;
  rc = index_narrow(ownership_end(owned) - begin, "rows", &a->rows);
  if (rc == STATUS_OK)
    rc = alloc_array(&a->offset, (int64_t)a->rows + 1, sizeof *a->offset, "rows");
  if (rc == STATUS_OK) rc = stored_lengths(f, begin, a->rows, a->offset + 1);
  TRY(comm_agree(c, rc));
  a->offset[0] = 0;
  for (lidx i = 0; i < a->rows; i++) a->offset[i + 1] += a->offset[i];
  TRY(check_entries(c, f, a->offset[a->rows]));
  *first = a->offset[a->rows];
  TRY(comm_exscan_i64(c, first));
done:
  return rc;
}

static status read_rows(stored_file *f, int threads, int64_t first, csr_rows *a,
                        stored_found *found) {
  status rc = STATUS_OK;
  const int64_t entries = a->offset[a->rows];
  TRY(alloc_array(&a->column, entries, sizeof *a->column, "matrix columns"));
  TRY(alloc_array(&a->value, entries, sizeof *a->value, "matrix values"));
  TRY(stored_scan(f, threads, first, a, found));
done:
  return rc;
}

static status read_rhs(stored_file *f, const csr_rows *a, double **rhs) {
  status rc = alloc_array(rhs, a->rows, sizeof **rhs, "right-hand side");
  return rc == STATUS_OK ? stored_numbers(f, a->first_row, a->rows, *rhs) : rc;
}

/* A vector is a matrix of one column: its zeros are kept. */
static status read_column(comm *c, stored_file *f, ownership *owned, csr_rows *a) {
  status rc = STATUS_OK;
  TRY(ownership_even(c, f->rows, owned));
  a->global_rows = f->rows;
  a->global_columns = 1;
  a->first_row = ownership_begin(owned);
  rc = index_narrow(ownership_end(owned) - a->first_row, "rows", &a->rows);
  if (rc == STATUS_OK)
    rc = alloc_array(&a->offset, (int64_t)a->rows + 1, sizeof *a->offset, "rows");
  if (rc == STATUS_OK) rc = alloc_zeroed(&a->column, a->rows, sizeof *a->column, "columns");
  if (rc == STATUS_OK) rc = alloc_array(&a->value, a->rows, sizeof *a->value, "values");
  if (rc == STATUS_OK) rc = stored_numbers(f, a->first_row, a->rows, a->value);
  TRY(comm_agree(c, rc));
  for (lidx i = 0; i <= a->rows; i++) a->offset[i] = i;
done:
  return rc;
}

static status report_tidied(comm *c, const stored_file *f, const row_facts *found) {
  status rc = STATUS_OK;
  int64_t duplicates = found->duplicates;
  if (found->beyond_row >= 0) {
    rc = fail(STATUS_INPUT,
              "%s: the duplicates of entry (%" PRId64 ", %" PRId64
              ") add up to more than a double holds",
              f->path, found->beyond_row + 1, found->beyond_column + 1);
  }
  TRY(comm_agree(c, rc));
  TRY(comm_sum_i64(c, &duplicates, 1));
  if (duplicates > 0) {
    log_warning("%s: %" PRId64 " entries repeat a position: added up in file order", f->path,
                duplicates);
  }
done:
  return rc;
}

static const char *format_of(const stored_file *f) {
  if (f->kind == STORED_PETSC) return f->entries < 0 ? "PETSc binary Vec" : "PETSc binary Mat";
  return f->entries < 0 ? "HDF5 vector" : "HDF5 CSR group";
}

status stored_matrix_read(comm *c, const char *path, int threads, csr_rows *out, ownership *owned,
                          matrix_file *facts, double **rhs) {
  status rc = STATUS_OK;
  stored_file f;
  row_facts found = {0, -1, -1, -1, -1};
  stored_found seen = {.ordered = 0};
  int64_t first = 0;
  TRY(open_all(c, path, &f));
  if (f.entries < 0) {
    TRY(read_column(c, &f, owned, out));
  } else {
    TRY(own_rows(c, &f, owned));
    TRY(read_offsets(c, &f, owned, out, &first));
    rc = read_rows(&f, threads, first, out, &seen);
    if (rc == STATUS_OK && !seen.ordered) rc = rows_tidy(out, &found);
    if (rc == STATUS_OK && f.rhs_at != 0) rc = read_rhs(&f, out, rhs);
    TRY(comm_agree(c, rc));
    TRY(report_tidied(c, &f, &found));
  }
  const int64_t stored = f.entries < 0 ? f.rows : f.entries;
  const rows_content content = seen.ordered ? seen.content : rows_content_of(threads, out);
  TRY(matrix_facts_gather(c, format_of(&f), out, &content, stored,
                          out->offset[out->rows] + found.duplicates, facts));
done:
  stored_close(&f);
  if (rc != STATUS_OK) {
    csr_rows_release(out);
    ownership_release(owned);
    alloc_free(rhs);
  }
  return rc;
}

status stored_look(comm *c, const char *path, matrix_promise *out) {
  stored_file f;
  status rc = open_all(c, path, &f);
  if (rc == STATUS_OK) {
    out->rows = f.rows;
    out->entries = f.entries < 0 ? f.rows : f.entries;
  }
  stored_close(&f);
  return rc;
}

status stored_vector_read(comm *c, const char *path, const ownership *owned, int64_t column,
                          double **values, int64_t *columns) {
  status rc = STATUS_OK;
  stored_file f;
  const gidx begin = ownership_begin(owned), rows = ownership_end(owned) - begin;
  rc = stored_open(path, &f);
  if (rc == STATUS_OK && f.entries >= 0 && f.rhs_at == 0) {
    rc = fail(STATUS_INPUT, "%s: a matrix (%s) is no vector", path, format_of(&f));
  } else if (rc == STATUS_OK && f.rows != owned->rows) {
    rc = fail(STATUS_INPUT, "%s: a vector of length %" PRId64 ", expected length %" PRId64, path,
              f.rows, owned->rows);
  } else if (rc == STATUS_OK && column > 0) {
    rc = fail(STATUS_INPUT, "%s: has 1 column, and column %" PRId64 " was asked for", path,
              column + 1);
  }
  if (rc == STATUS_OK) rc = alloc_array(values, rows, sizeof **values, "vector");
  if (rc == STATUS_OK) rc = stored_numbers(&f, begin, rows, *values);
  TRY(comm_agree(c, rc));
  if (columns != NULL) *columns = 1;
done:
  stored_close(&f);
  if (rc != STATUS_OK) alloc_free(values);
  return rc;
}
