/* Gathering a distributed matrix on rank 0 (direct_gather.h): lengths of rows, columns and values
 * in the order of ranks, 12 bytes an entry and 4 a row; vectors, 8 bytes a row and way. Simple, and
 * no slower than a factorisation of the whole on one device; it bounds the size of systems by the
 * memory of one rank. */
#include "direct_gather.h"

#include <limits.h>
#include <string.h>

#include "alloc.h"

/* `count[r]` elements of `size` bytes of each rank r to rank 0, in the order of ranks, or back.
 * What other ranks than 0 have for the whole is NULL. */
static status move(direct_gather *g, const int64_t *count, int64_t size, int back, const void *from,
                   void *to) {
  const int ranks = comm_size(g->c), me = comm_rank(g->c);
  int64_t at = 0;
  if (to == NULL) to = g->here; /* nothing goes there */
  if (from == NULL) from = g->here;
  for (int r = 0; r < ranks; r++) {
    g->here[r] = r == 0 ? count[me] * size : 0;
    g->here_at[r] = 0;
    g->there[r] = me == 0 ? count[r] * size : 0;
    g->there_at[r] = me == 0 ? at : 0;
    at += count[r] * size;
  }
  return back ? comm_exchange(g->c, from, g->there, g->there_at, to, g->here, g->here_at)
              : comm_exchange(g->c, from, g->here, g->here_at, to, g->there, g->there_at);
}

/* Own rows with global columns, of a symmetric matrix on and below the diagonal: what is sent. */
typedef struct own_rows {
  int32_t *length; /* [rows] */
  lidx *column;
  double *value;
  int64_t entries;
} own_rows;

static void own_release(own_rows *o) {
  alloc_free(&o->length);
  alloc_free(&o->column);
  alloc_free(&o->value);
}

static status own_make(const csr_block *a, int symmetric, own_rows *o) {
  status rc = STATUS_OK;
  const eidx most = a->offset[a->rows];
  TRY(alloc_array(&o->length, a->rows, sizeof *o->length, "rows of the matrix"));
  TRY(alloc_array(&o->column, most, sizeof *o->column, "columns of the matrix"));
  TRY(alloc_array(&o->value, most, sizeof *o->value, "values of the matrix"));
  for (lidx i = 0; i < a->rows; i++) {
    const int64_t before = o->entries;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const lidx j = a->column[e];
      const gidx column = j < a->rows ? a->first_row + j : a->ghost[j - a->rows];
      if (symmetric && column > a->first_row + i) continue;
      o->column[o->entries] = (lidx)column;
      o->value[o->entries++] = a->value[e];
    }
    o->length[i] = (int32_t)(o->entries - before);
  }
done:
  return rc;
}

static status layout(direct_gather *g, const ownership *owned) {
  status rc = STATUS_OK;
  const int ranks = owned->size;
  TRY(alloc_array(&g->rows, ranks, sizeof *g->rows, "layout"));
  TRY(alloc_array(&g->entries, ranks, sizeof *g->entries, "layout"));
  TRY(alloc_array(&g->here, ranks, sizeof *g->here, "layout"));
  TRY(alloc_array(&g->there, ranks, sizeof *g->there, "layout"));
  TRY(alloc_array(&g->here_at, ranks, sizeof *g->here_at, "layout"));
  TRY(alloc_array(&g->there_at, ranks, sizeof *g->there_at, "layout"));
  for (int r = 0; r < ranks; r++) g->rows[r] = owned->first[r + 1] - owned->first[r];
done:
  return rc;
}

/* Memory for the whole on rank 0, once all know how much it is. */
static status make_room(const direct_gather *g, gidx rows, direct_matrix *whole) {
  status rc = STATUS_OK;
  int64_t entries = 0;
  for (int r = 0; r < comm_size(g->c); r++) entries += g->entries[r];
  if (rows >= INT32_MAX || entries > INT32_MAX) {
    return fail(STATUS_UNAVAILABLE,
                "method direct: %lld rows with %lld entries are too many for one GPU (up to %d of "
                "each); --backend omp has MUMPS, which spreads them over ranks",
                (long long)rows, (long long)entries, INT32_MAX);
  }
  if (comm_rank(g->c) != 0) return STATUS_OK;
  whole->rows = (lidx)rows;
  TRY(alloc_array(&whole->offset, rows + 1, sizeof *whole->offset, "rows of the whole matrix"));
  TRY(alloc_array(&whole->column, entries, sizeof *whole->column, "columns of the whole matrix"));
  TRY(alloc_array(&whole->value, entries, sizeof *whole->value, "values of the whole matrix"));
done:
  return rc;
}

status direct_gather_matrix(comm *c, const csr_block *a, const ownership *owned, int symmetric,
                            direct_gather *g, direct_matrix *whole) {
  status rc = STATUS_OK;
  own_rows own = {0};
  *g = (direct_gather){.c = c};
  *whole = (direct_matrix){.symmetric = symmetric};
  rc = layout(g, owned);
  if (rc == STATUS_OK) rc = own_make(a, symmetric, &own);
  TRY(comm_agree(c, rc));
  TRY(comm_allgather(c, &own.entries, g->entries, sizeof own.entries));
  TRY(comm_agree(c, make_room(g, owned->rows, whole)));
  TRY(move(g, g->rows, sizeof *own.length, 0, own.length,
           whole->offset == NULL ? NULL : whole->offset + 1));
  TRY(move(g, g->entries, sizeof *own.column, 0, own.column, whole->column));
  TRY(move(g, g->entries, sizeof *own.value, 0, own.value, whole->value));
  if (whole->offset != NULL) {
    whole->offset[0] = 0;
    for (lidx i = 0; i < whole->rows; i++) whole->offset[i + 1] += whole->offset[i];
  }
done:
  own_release(&own);
  return rc;
}

status direct_gather_vector(direct_gather *g, const double *x, double *all) {
  return move(g, g->rows, sizeof *x, 0, x, all);
}

status direct_scatter_vector(direct_gather *g, const double *all, double *x) {
  return move(g, g->rows, sizeof *x, 1, all, x);
}

void direct_gather_release(direct_gather *g) {
  alloc_free(&g->rows);
  alloc_free(&g->entries);
  alloc_free(&g->here);
  alloc_free(&g->there);
  alloc_free(&g->here_at);
  alloc_free(&g->there_at);
}

void direct_matrix_release(direct_matrix *whole) {
  alloc_free(&whole->offset);
  alloc_free(&whole->column);
  alloc_free(&whole->value);
}
