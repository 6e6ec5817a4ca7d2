/* Inverses of diagonal blocks (blocks.h). A rank fetches what it lacks of its first and last block,
 * factors each block with dense.h (Cholesky where the matrix is symmetric and the block positive,
 * else LU) and solves for the unit vectors; its own rows of the inverses become a matrix of the
 * backend, and applying them one product, which any backend has. Ranks that share a block factor
 * it both: the same operations on the same numbers.
 *
 * Cost: about 2 size^2 operations a row to make; 12 size bytes a row to store and for each apply.
 * Source: Saad (2003), 4.1.1. */
#include "blocks.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "dense.h"
#include "row_exchange.h"
#include "team.h"

enum { WHEN_NOT_SAID = 16 }; /* rows of a block */

typedef struct making {
  const preconditioner_request *q;
  gidx rows, first, last; /* global; own rows [first, last) */
  int size;               /* of blocks */
  csr_rows mine;          /* own rows of blocks that others share, their entries inside the block */
  csr_rows other;         /* the rest of them, fetched */
  gidx *wanted;           /* [2 size] their rows */
  lidx wants;
  double *room;  /* [threads][2 size^2 + size] a block and its inverse, ... */
  int *pivot;    /* [threads][size] */
  gidx *failed;  /* [threads] first row of a singular block, or INT64_MAX */
  csr_rows *out; /* own rows of the inverses */
} making;

static gidx block_begin(const making *m, gidx gi) { return gi / m->size * m->size; }

static gidx block_end(const making *m, gidx gi) {
  const gidx end = block_begin(m, gi) + m->size;
  return end < m->rows ? end : m->rows;
}

static gidx global_of(const csr_block *a, lidx column) {
  return column < a->rows ? a->first_row + column : a->ghost[column - a->rows];
}

/* ---- rows of shared blocks ---- */

/* Whether own row gi is in a block that is not all ours. */
static int is_shared(const making *m, gidx gi) {
  return block_begin(m, gi) < m->first || block_end(m, gi) > m->last;
}

static int is_inside(const making *m, gidx gi, gidx column) {
  return column >= block_begin(m, gi) && column < block_end(m, gi);
}

static status list_mine(making *m) {
  status rc = STATUS_OK;
  const csr_block *a = m->q->a;
  csr_rows *r = &m->mine;
  eidx entries = 0;
  *r = (csr_rows){
      .global_rows = m->rows, .global_columns = m->rows, .first_row = m->first, .rows = a->rows};
  TRY(alloc_array(&r->offset, (int64_t)a->rows + 1, sizeof *r->offset, "blocks"));
  for (int filling = 0; filling < 2; filling++) {
    entries = 0;
    for (lidx i = 0; i < a->rows; i++) {
      const gidx gi = m->first + i;
      r->offset[i] = entries;
      for (eidx e = a->offset[i]; is_shared(m, gi) && e < a->offset[i + 1]; e++) {
        const gidx column = global_of(a, a->column[e]);
        if (!is_inside(m, gi, column)) continue;
        if (filling) {
          r->column[entries] = column;
          r->value[entries] = a->value[e];
        }
        entries++;
      }
    }
    r->offset[a->rows] = entries;
    if (filling) break;
    TRY(alloc_array(&r->column, entries, sizeof *r->column, "blocks"));
    TRY(alloc_array(&r->value, entries, sizeof *r->value, "blocks"));
  }
done:
  return rc;
}

/* The rows of the first and of the last block that are not ours. */
static void list_wanted(making *m) {
  if (m->first == m->last) return;
  for (gidx gi = block_begin(m, m->first); gi < m->first; gi++) m->wanted[m->wants++] = gi;
  for (gidx gi = m->last; gi < block_end(m, m->last - 1); gi++) m->wanted[m->wants++] = gi;
}

/* ---- one block ---- */

/* Row gi into its place of a dense block. */
static void put_row(const making *m, gidx gi, gidx begin, int n, double *dense) {
  double *row = dense + (gi - begin) * n;
  const csr_block *a = m->q->a;
  if (gi >= m->first && gi < m->last) {
    const lidx i = (lidx)(gi - m->first);
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const gidx column = global_of(a, a->column[e]);
      if (is_inside(m, gi, column)) row[column - begin] = a->value[e];
    }
    return;
  }
  const int64_t i = index_lower_bound(m->wanted, 0, m->wants, gi);
  for (eidx e = m->other.offset[i]; e < m->other.offset[i + 1]; e++) {
    row[m->other.column[e] - begin] = m->other.value[e];
  }
}

static void put_block(const making *m, gidx begin, int n, double *dense) {
  memset(dense, 0, (size_t)n * (size_t)n * sizeof *dense);
  for (int i = 0; i < n; i++) put_row(m, begin + i, begin, n, dense);
}

/* Row i of `inverse` becomes column i of the inverse; 0: the block is singular. A symmetric one
 * gets a symmetric inverse, by its upper triangle. */
static int invert(const making *m, gidx begin, int n, double *dense, int *pivot, double *inverse) {
  put_block(m, begin, n, dense);
  const int definite = m->q->symmetric && dense_cholesky(dense, n) == n;
  if (!definite) {
    put_block(m, begin, n, dense);
    if (dense_lu(dense, n, pivot) < n) return 0;
  }
  memset(inverse, 0, (size_t)n * (size_t)n * sizeof *inverse);
  for (int i = 0; i < n; i++) {
    double *x = inverse + (int64_t)i * n;
    x[i] = 1.0;
    if (definite) {
      dense_cholesky_solve(dense, n, x);
    } else {
      dense_lu_solve(dense, n, pivot, x);
    }
    for (int k = 0; k < n; k++) {
      if (!isfinite(x[k])) return 0;
    }
  }
  for (int i = 0; m->q->symmetric && i < n; i++) {
    for (int k = 0; k < i; k++) inverse[i * n + k] = inverse[k * n + i];
  }
  return 1;
}

/* Own rows of a block. */
static void take_rows(const making *m, gidx begin, int n, const double *inverse) {
  const gidx from = begin > m->first ? begin : m->first;
  const gidx to = begin + n < m->last ? begin + n : m->last;
  for (gidx gi = from; gi < to; gi++) {
    eidx at = m->out->offset[gi - m->first];
    for (int k = 0; k < n; k++, at++) {
      m->out->column[at] = begin + k;
      m->out->value[at] = inverse[(int64_t)k * n + (gi - begin)];
    }
  }
}

/* Blocks number begin .. end of those that have own rows. */
static void invert_part(void *context, int number, int64_t begin, int64_t end) {
  const making *m = context;
  const int64_t square = (int64_t)m->size * m->size;
  double *dense = m->room + number * 2 * square, *inverse = dense + square;
  for (int64_t b = begin; b < end; b++) {
    const gidx at = block_begin(m, m->first) + b * m->size;
    const int n = (int)(block_end(m, at) - at);
    if (invert(m, at, n, dense, m->pivot + (int64_t)number * m->size, inverse)) {
      take_rows(m, at, n, inverse);
    } else if (at < m->failed[number]) {
      m->failed[number] = at;
    }
  }
}

/* ---- all of them ---- */

static status open_rows(making *m, csr_rows *out) {
  status rc = STATUS_OK;
  *out = (csr_rows){.global_rows = m->rows,
                    .global_columns = m->rows,
                    .first_row = m->first,
                    .rows = m->q->a->rows};
  m->out = out;
  TRY(alloc_array(&out->offset, (int64_t)out->rows + 1, sizeof *out->offset, "blocks"));
  out->offset[0] = 0;
  for (lidx i = 0; i < out->rows; i++) {
    const gidx gi = m->first + i;
    out->offset[i + 1] = out->offset[i] + (block_end(m, gi) - block_begin(m, gi));
  }
  TRY(alloc_array(&out->column, out->offset[out->rows], sizeof *out->column, "blocks"));
  TRY(alloc_array(&out->value, out->offset[out->rows], sizeof *out->value, "blocks"));
done:
  return rc;
}

static status open_room(making *m) {
  status rc = STATUS_OK;
  const int64_t square = (int64_t)m->size * m->size;
  TRY(alloc_array(&m->wanted, 2 * (int64_t)m->size, sizeof *m->wanted, "blocks"));
  TRY(alloc_array(&m->room, m->q->threads * 2 * square, sizeof *m->room, "blocks"));
  TRY(alloc_array(&m->pivot, (int64_t)m->q->threads * m->size, sizeof *m->pivot, "blocks"));
  TRY(alloc_array(&m->failed, m->q->threads, sizeof *m->failed, "blocks"));
  for (int t = 0; t < m->q->threads; t++) m->failed[t] = INT64_MAX;
  list_wanted(m);
  TRY(list_mine(m));
done:
  return rc;
}

static status invert_all(comm *c, making *m) {
  status rc = STATUS_OK;
  gidx failed = INT64_MAX;
  if (m->last > m->first) {
    const gidx begin = block_begin(m, m->first), end = block_end(m, m->last - 1);
    team_for(m->q->threads, (end - begin + m->size - 1) / m->size, invert_part, m);
  }
  for (int t = 0; t < m->q->threads; t++) failed = m->failed[t] < failed ? m->failed[t] : failed;
  TRY(comm_min_i64(c, &failed, 1));
  if (failed == INT64_MAX) goto done;
  rc = comm_agree(c, fail(STATUS_INPUT, "block-jacobi: the block of rows %lld to %lld is singular",
                          (long long)failed + 1, (long long)block_end(m, failed)));
done:
  return rc;
}

static status make_rows(comm *c, const preconditioner_request *q, csr_rows *out) {
  status rc = STATUS_OK;
  const int64_t size = q->block_size > 0 ? q->block_size : WHEN_NOT_SAID;
  making m = {.q = q,
              .rows = q->owned->rows,
              .first = ownership_begin(q->owned),
              .last = ownership_end(q->owned),
              .size = (int)(size < q->owned->rows ? size : q->owned->rows)};
  TRY(comm_agree(c, open_room(&m)));
  TRY(rows_fetch(c, q->owned, &m.mine, m.wanted, m.wants, &m.other));
  TRY(comm_agree(c, open_rows(&m, out)));
  TRY(invert_all(c, &m));
done:
  csr_rows_release(&m.mine);
  csr_rows_release(&m.other);
  alloc_free(&m.wanted);
  alloc_free(&m.room);
  alloc_free(&m.pivot);
  alloc_free(&m.failed);
  return rc;
}

status blocks_open(linear_system *s, const preconditioner_request *q, blocks *out) {
  status rc = STATUS_OK;
  linear_system *b = &out->inverse;
  csr_rows rows;
  csr_block local;
  memset(out, 0, sizeof *out);
  memset(&rows, 0, sizeof rows);
  memset(&local, 0, sizeof local);
  *b = (linear_system){.kernels = s->kernels,
                       .place = s->place,
                       .world = s->world,
                       .global_rows = s->global_rows,
                       .first_row = s->first_row,
                       .rows = s->rows,
                       .timers = s->timers};
  TRY(make_rows(s->world, q, &rows));
  TRY(comm_agree(s->world, csr_localise(q->threads, &rows, &local)));
  b->ghosts = local.ghosts;
  TRY(halo_create(s->world, q->owned, local.ghost, local.ghosts, &b->plan));
  rc = s->kernels->solve->matrix_create(s->place, &local, &b->a);
  if (rc == STATUS_OK && b->ghosts > 0) rc = linear_vector(b, "blocks", &out->copy);
  rc = comm_agree(s->world, rc);
done:
  csr_rows_release(&rows);
  csr_block_release(&local);
  if (rc != STATUS_OK) blocks_close(s, out);
  return rc;
}

void blocks_close(linear_system *s, blocks *b) {
  linear_vector_release(s, &b->copy);
  if (b->inverse.a != NULL) s->kernels->solve->matrix_release(s->place, &b->inverse.a);
  halo_release(&b->inverse.plan);
}

typedef struct apply_work {
  blocks *b;
  vec from, to;
  int add;
} apply_work;

static status apply_part(void *context, part p) {
  const apply_work *w = context;
  const linear_system *b = &w->b->inverse;
  const vec none = {.rows = w->to.rows};
  if (!w->add) return b->kernels->solve->product(b->place, b->a, p, w->from, w->to);
  return b->kernels->solve->relax(b->place, b->a, p, w->from, -1.0, none, none, w->to, w->to);
}

status blocks_apply(linear_system *s, blocks *b, vec r, int add, vec z) {
  apply_work w = {b, r, z, add};
  b->inverse.failure = s->failure;
  w.from.ghosts = b->inverse.ghosts;
  if (b->inverse.ghosts > 0) {
    ATTEMPT(&b->inverse, s->kernels->copy(s->place, b->copy, r));
    w.from = b->copy;
  }
  status rc = linear_apply(&b->inverse, w.from, apply_part, &w);
  if (s->failure == STATUS_OK) s->failure = b->inverse.failure;
  return rc;
}

/* ---- the preconditioner ---- */

static status precondition_open(linear_system *s, const preconditioner_request *q, void **out) {
  status rc = STATUS_OK;
  blocks *b = NULL;
  rc = alloc_zeroed(&b, 1, sizeof *b, "preconditioner");
  *out = b;
  TRY(comm_agree(s->world, rc));
  TRY(blocks_open(s, q, b));
done:
  return rc;
}

static status precondition_apply(linear_system *s, void *data, vec r, vec z) {
  return blocks_apply(s, data, r, 0, z);
}

static void precondition_close(linear_system *s, void **data) {
  blocks_close(s, *data);
  alloc_free(data);
}

const preconditioner PRECONDITIONER_block_jacobi = {
    .name = "block-jacobi",
    .help = "blocks of block_size rows, each solved exactly",
    .source = "Saad (2003), 4.1.1, 10.2",
    .flags = PRECONDITIONER_KEEPS_SYMMETRY,
    .open = precondition_open,
    .apply = precondition_apply,
    .close = precondition_close,
};
