/* From global to local columns (csr.h). The ghosts are the distinct columns that are not owned:
 * gathered, sorted and made unique by each thread for its rows, then once more for all; a
 * column's local number is found by bisection among them. Cost O(entries + g log g), g the number
 * of entries outside; memory 4 bytes per entry beside the input. */
#include "csr.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "team.h"

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

/* A part's entries in other ranks' columns: where its list of them begins, and its length. */
typedef struct outside {
  gidx begin, count;
} outside;

typedef struct localising {
  const csr_rows *rows;
  gidx first; /* owned columns */
  lidx columns;
  csr_block *block;
  outside *found; /* [threads] */
} localising;

static int is_outside(const localising *l, gidx column) {
  return column < l->first || column >= l->first + l->columns;
}

static void count_part(void *context, int part, int64_t begin, int64_t end) {
  const localising *l = context;
  const csr_rows *a = l->rows;
  gidx count = 0;
  for (eidx e = a->offset[begin]; e < a->offset[end]; e++) count += is_outside(l, a->column[e]);
  l->found[part].count = count;
}

/* Each part sorts its own, and drops what it has twice. */
static void gather_part(void *context, int part, int64_t begin, int64_t end) {
  const localising *l = context;
  const csr_rows *a = l->rows;
  gidx *list = l->block->ghost + l->found[part].begin, count = 0;
  for (eidx e = a->offset[begin]; e < a->offset[end]; e++) {
    if (is_outside(l, a->column[e])) list[count++] = a->column[e];
  }
  l->found[part].count = unique_sorted(list, count);
}

static void number_part(void *context, int part, int64_t begin, int64_t end) {
  const localising *l = context;
  const csr_rows *a = l->rows;
  const csr_block *b = l->block;
  (void)part;
  for (eidx e = a->offset[begin]; e < a->offset[end]; e++) {
    const gidx column = a->column[e];
    b->column[e] = is_outside(l, column)
                       ? l->columns + (lidx)index_lower_bound(b->ghost, 0, b->ghosts, column)
                       : (lidx)(column - l->first);
  }
}

static status find_ghosts(int threads, localising *l) {
  status rc = STATUS_OK;
  csr_block *out = l->block;
  gidx all = 0, kept = 0;
  team_for(threads, l->rows->rows, count_part, l);
  for (int t = 0; t < threads; t++) {
    l->found[t].begin = all;
    all += l->found[t].count;
  }
  TRY(alloc_array(&out->ghost, all, sizeof *out->ghost, "ghost columns"));
  team_for(threads, l->rows->rows, gather_part, l);
  for (int t = 0; t < threads; t++) {
    memmove(out->ghost + kept, out->ghost + l->found[t].begin,
            (size_t)l->found[t].count * sizeof *out->ghost);
    kept += l->found[t].count;
  }
  kept = threads == 1 ? kept : unique_sorted(out->ghost, kept);
  TRY(index_narrow(kept + l->columns, "columns", &out->ghosts));
  out->ghosts = (lidx)kept;
done:
  return rc;
}

status csr_localise_columns(int threads, csr_rows *rows, gidx first_column, lidx columns,
                            csr_block *out) {
  status rc = STATUS_OK;
  localising l = {.rows = rows, .first = first_column, .columns = columns, .block = out};
  memset(out, 0, sizeof *out);
  TRY(alloc_array(&l.found, threads, sizeof *l.found, "ghost columns"));
  TRY(find_ghosts(threads, &l));
  TRY(alloc_array(&out->column, rows->offset[rows->rows], sizeof *out->column, "matrix columns"));
  team_for(threads, rows->rows, number_part, &l);
  out->first_row = rows->first_row;
  out->rows = rows->rows;
  out->columns = columns;
  out->offset = rows->offset;
  out->value = rows->value;
  rows->offset = NULL;
  rows->value = NULL;
  csr_rows_release(rows);
done:
  alloc_free(&l.found);
  if (rc != STATUS_OK) csr_block_release(out);
  return rc;
}

status csr_localise(int threads, csr_rows *rows, csr_block *out) {
  return csr_localise_columns(threads, rows, rows->first_row, rows->rows, out);
}
