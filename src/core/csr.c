/* From global to local columns (csr.h). The ghosts are the distinct columns outside [first, first +
 * rows): gathered, sorted, made unique; a column's local number is found by bisection among them.
 * Cost O(entries + g log g), g the number of entries outside; memory 4 bytes per entry beside the
 * input. */
#include "csr.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

void csr_rows_release(csr_rows *a) {
  alloc_free(&a->offset);
  alloc_free(&a->column);
  alloc_free(&a->value);
  memset(a, 0, sizeof *a);
}

void csr_block_release(csr_block *a) {
  alloc_free(&a->offset);
  alloc_free(&a->column);
  alloc_free(&a->value);
  alloc_free(&a->ghost);
  memset(a, 0, sizeof *a);
}

static int ascending(const void *a, const void *b) {
  gidx x = *(const gidx *)a, y = *(const gidx *)b;
  return (x > y) - (x < y);
}

static gidx unique_sorted(gidx *list, gidx count) {
  gidx kept = 0;
  qsort(list, (size_t)count, sizeof *list, ascending);
  for (gidx i = 0; i < count; i++) {
    if (i == 0 || list[i] != list[i - 1]) list[kept++] = list[i];
  }
  return kept;
}

status csr_localise(csr_rows *rows, csr_block *out) {
  status rc = STATUS_OK;
  const gidx begin = rows->first_row, end = begin + rows->rows;
  const eidx entries = rows->offset[rows->rows];
  gidx outside = 0, unique = 0;
  memset(out, 0, sizeof *out);

  for (eidx e = 0; e < entries; e++) outside += rows->column[e] < begin || rows->column[e] >= end;
  TRY(alloc_array(&out->ghost, outside, sizeof *out->ghost, "ghost columns"));
  outside = 0;
  for (eidx e = 0; e < entries; e++) {
    gidx column = rows->column[e];
    if (column < begin || column >= end) out->ghost[outside++] = column;
  }
  unique = unique_sorted(out->ghost, outside);
  TRY(index_narrow(unique + rows->rows, "columns", &out->ghosts));
  out->ghosts = (lidx)unique;

  TRY(alloc_array(&out->column, entries, sizeof *out->column, "matrix columns"));
  for (eidx e = 0; e < entries; e++) {
    gidx column = rows->column[e];
    out->column[e] = column >= begin && column < end
                         ? (lidx)(column - begin)
                         : rows->rows + (lidx)index_lower_bound(out->ghost, 0, out->ghosts, column);
  }
  out->first_row = begin;
  out->rows = rows->rows;
  out->offset = rows->offset;
  out->value = rows->value;
  rows->offset = NULL;
  rows->value = NULL;
  csr_rows_release(rows);
done:
  if (rc != STATUS_OK) csr_block_release(out);
  return rc;
}
