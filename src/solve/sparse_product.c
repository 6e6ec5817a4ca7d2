/* Gustavson's product (ACM TOMS 4 (1978) 250), two passes shared by threads: lengths of rows, then
 * their entries, accumulated where they will stay. A thread keeps, per local column of b, where in
 * the present row it is: no hashing, no clearing. A finished row is sorted by global column: by
 * insertion, or above SHORT entries by a heap, so long rows cost n log n.
 *
 * Cost: two looks at every product a_ik b_kj. Memory beside the result: 8 bytes per column of b and
 * thread. */
#include "sparse_product.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "row_exchange.h"
#include "team.h"

enum { SHORT = 48 };

typedef struct multiplying {
  const csr_block *a, *b;
  csr_block *out;
  lidx below;  /* ghosts below them */
  lidx width;  /* local columns of b */
  eidx **mark; /* [threads][width] */
} multiplying;

/* Local columns by ascending global index: ghosts below, owned, ghosts above. */
static lidx slot_of(const multiplying *m, lidx column) {
  if (column < m->b->columns) return m->below + column;
  return column - m->b->columns < m->below ? column - m->b->columns : column;
}

static lidx column_at(const multiplying *m, lidx slot) {
  if (slot < m->below) return m->b->columns + slot;
  return slot < m->below + m->b->columns ? slot - m->below : slot;
}

/* out->offset[i + 1] = length of row i. */
static void measure_part(void *context, int number, int64_t begin, int64_t end) {
  const multiplying *m = context;
  const csr_block *a = m->a, *b = m->b;
  eidx *mark = m->mark[number];
  for (lidx j = 0; j < m->width; j++) mark[j] = -1;
  for (int64_t i = begin; i < end; i++) {
    eidx length = 0;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const lidx k = a->column[e];
      for (eidx f = b->offset[k]; f < b->offset[k + 1]; f++) {
        const lidx j = b->column[f];
        length += mark[j] != i;
        mark[j] = i;
      }
    }
    m->out->offset[i + 1] = length;
  }
}

static void sift(lidx *key, double *value, eidx at, eidx count) {
  const lidx moved = key[at];
  const double with = value[at];
  for (eidx child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && key[child + 1] > key[child]) child++;
    if (key[child] <= moved) break;
    key[at] = key[child];
    value[at] = value[child];
    at = child;
  }
  key[at] = moved;
  value[at] = with;
}

/* Distinct keys, so the order is unique whatever the method. */
static void sort_row(lidx *key, double *value, eidx count) {
  if (count > SHORT) {
    for (eidx at = count / 2 - 1; at >= 0; at--) sift(key, value, at, count);
    for (eidx last = count - 1; last > 0; last--) {
      const lidx k = key[0];
      const double v = value[0];
      key[0] = key[last], value[0] = value[last];
      key[last] = k, value[last] = v;
      sift(key, value, 0, last);
    }
    return;
  }
  for (eidx i = 1; i < count; i++) {
    const lidx k = key[i];
    const double v = value[i];
    eidx at = i;
    for (; at > 0 && key[at - 1] > k; at--) key[at] = key[at - 1], value[at] = value[at - 1];
    key[at] = k, value[at] = v;
  }
}

static void fill_part(void *context, int number, int64_t begin, int64_t end) {
  const multiplying *m = context;
  const csr_block *a = m->a, *b = m->b;
  lidx *column = m->out->column;
  double *value = m->out->value;
  eidx *mark = m->mark[number];
  for (lidx j = 0; j < m->width; j++) mark[j] = -1;
  for (int64_t i = begin; i < end; i++) {
    const eidx first = m->out->offset[i];
    eidx next = first;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const lidx k = a->column[e];
      const double factor = a->value[e];
      for (eidx f = b->offset[k]; f < b->offset[k + 1]; f++) {
        const lidx j = b->column[f];
        if (mark[j] < first) {
          mark[j] = next;
          column[next] = slot_of(m, j);
          value[next++] = fma(factor, b->value[f], 0.0);
        } else {
          value[mark[j]] = fma(factor, b->value[f], value[mark[j]]);
        }
      }
    }
    sort_row(column + first, value + first, next - first);
    for (eidx e = first; e < next; e++) column[e] = column_at(m, column[e]);
  }
}

static status marks_open(int threads, multiplying *m) {
  status rc = STATUS_OK;
  TRY(alloc_zeroed(&m->mark, threads, sizeof *m->mark, "places in rows"));
  for (int t = 0; t < threads; t++) {
    TRY(alloc_array(&m->mark[t], m->width, sizeof **m->mark, "places in rows"));
  }
done:
  return rc;
}

static void marks_release(int threads, multiplying *m) {
  for (int t = 0; m->mark != NULL && t < threads; t++) alloc_free(&m->mark[t]);
  alloc_free(&m->mark);
}

status sparse_product(int threads, const csr_block *a, const csr_block *b, gidx first_column,
                      csr_block *out) {
  status rc = STATUS_OK;
  multiplying m = {.a = a, .b = b, .out = out};
  memset(out, 0, sizeof *out);
  m.width = b->columns + b->ghosts;
  m.below = (lidx)index_lower_bound(b->ghost, 0, b->ghosts, first_column);
  TRY(marks_open(threads, &m));
  TRY(alloc_array(&out->offset, (int64_t)a->rows + 1, sizeof *out->offset, "row offsets"));
  out->offset[0] = 0;
  team_for(threads, a->rows, measure_part, &m);
  for (lidx i = 0; i < a->rows; i++) out->offset[i + 1] += out->offset[i];
  TRY(alloc_array(&out->column, out->offset[a->rows], sizeof *out->column, "matrix columns"));
  TRY(alloc_array(&out->value, out->offset[a->rows], sizeof *out->value, "matrix values"));
  team_for(threads, a->rows, fill_part, &m);
  TRY(alloc_array(&out->ghost, b->ghosts, sizeof *out->ghost, "ghost columns"));
  if (b->ghosts > 0) memcpy(out->ghost, b->ghost, (size_t)b->ghosts * sizeof *out->ghost);
  out->first_row = a->first_row;
  out->rows = a->rows;
  out->columns = b->columns;
  out->ghosts = b->ghosts;
done:
  marks_release(threads, &m);
  if (rc != STATUS_OK) csr_block_release(out);
  return rc;
}

typedef struct globalising {
  const csr_block *block;
  gidx first;
  gidx *column;
} globalising;

static void globalise_part(void *context, int number, int64_t begin, int64_t end) {
  const globalising *g = context;
  const csr_block *b = g->block;
  (void)number;
  for (eidx e = b->offset[begin]; e < b->offset[end]; e++) {
    const lidx j = b->column[e];
    g->column[e] = j < b->columns ? g->first + j : b->ghost[j - b->columns];
  }
}

status sparse_globalise(int threads, csr_block *block, gidx first_column, csr_rows *out) {
  status rc = STATUS_OK;
  globalising g = {.block = block, .first = first_column};
  memset(out, 0, sizeof *out);
  TRY(alloc_array(&g.column, block->offset[block->rows], sizeof *g.column, "matrix columns"));
  team_for(threads, block->rows, globalise_part, &g);
  *out = (csr_rows){.first_row = block->first_row,
                    .rows = block->rows,
                    .offset = block->offset,
                    .column = g.column,
                    .value = block->value};
  block->offset = NULL;
  block->value = NULL;
  csr_block_release(block);
done:
  return rc;
}

/* ---- rows of ghosts ---- */

static status append(csr_rows *own, const csr_rows *more) {
  status rc = STATUS_OK;
  const eidx have = own->offset[own->rows], add = more->offset[more->rows];
  const lidx rows = own->rows + more->rows;
  if (more->rows == 0) goto done;
  TRY(alloc_grow(&own->offset, (int64_t)own->rows + 1, (int64_t)rows + 1, sizeof *own->offset,
                 "row offsets"));
  TRY(alloc_grow(&own->column, have, have + add, sizeof *own->column, "matrix columns"));
  TRY(alloc_grow(&own->value, have, have + add, sizeof *own->value, "matrix values"));
  if (add > 0) {
    memcpy(own->column + have, more->column, (size_t)add * sizeof *own->column);
    memcpy(own->value + have, more->value, (size_t)add * sizeof *own->value);
  }
  for (lidx i = 1; i <= more->rows; i++) own->offset[own->rows + i] = have + more->offset[i];
  own->rows = rows;
done:
  return rc;
}

status sparse_extend(comm *c, int threads, const ownership *rows, csr_rows *own, const gidx *ghost,
                     lidx ghosts, const ownership *columns, csr_block *out) {
  status rc = STATUS_OK;
  csr_rows fetched;
  const gidx first = ownership_begin(columns);
  memset(&fetched, 0, sizeof fetched);
  memset(out, 0, sizeof *out);
  if (rows->size > 1) TRY(rows_fetch(c, rows, own, ghost, ghosts, &fetched));
  if (rows->size > 1) rc = append(own, &fetched);
  csr_rows_release(&fetched);
  if (rc == STATUS_OK) {
    rc = csr_localise_columns(threads, own, first, (lidx)(ownership_end(columns) - first), out);
  }
  TRY(comm_agree(c, rc));
done:
  csr_rows_release(&fetched);
  if (rc != STATUS_OK) csr_block_release(out);
  return rc;
}

/* ---- transposing ---- */

typedef struct transposing {
  const csr_block *p;
  gidx first_row;
  lidx rows;
  eidx **next; /* [threads][columns]: entries of a part, then where its next one goes */
  csr_rows *out;
} transposing;

static void count_part(void *context, int part, int64_t begin, int64_t end) {
  const transposing *t = context;
  const csr_block *p = t->p;
  eidx *count = t->next[part];
  memset(count, 0, (size_t)p->columns * sizeof *count);
  for (eidx e = p->offset[begin]; e < p->offset[end]; e++) {
    if (p->column[e] < p->columns) count[p->column[e]]++;
  }
}

static void turn_part(void *context, int part, int64_t begin, int64_t end) {
  const transposing *t = context;
  const csr_block *p = t->p;
  eidx *next = t->next[part];
  for (int64_t i = begin; i < end; i++) {
    for (eidx e = p->offset[i]; e < p->offset[i + 1]; e++) {
      if (p->column[e] >= p->columns) continue;
      const eidx to = next[p->column[e]]++;
      t->out->column[to] = t->first_row + i;
      t->out->value[to] = p->value[e];
    }
  }
}

/* Entries in other ranks' columns, as entries of their rows. */
static status list_foreign(const transposing *t, entry_list *out) {
  status rc = STATUS_OK;
  const csr_block *p = t->p;
  int64_t count = 0;
  for (eidx e = 0; p->ghosts > 0 && e < p->offset[t->rows]; e++)
    count += p->column[e] >= p->columns;
  TRY(alloc_array(&out->row, count, sizeof *out->row, "entries to deliver"));
  TRY(alloc_array(&out->column, count, sizeof *out->column, "entries to deliver"));
  TRY(alloc_array(&out->value, count, sizeof *out->value, "entries to deliver"));
  for (lidx i = 0; count > 0 && i < t->rows; i++) {
    for (eidx e = p->offset[i]; e < p->offset[i + 1]; e++) {
      if (p->column[e] < p->columns) continue;
      out->row[out->count] = p->ghost[p->column[e] - p->columns];
      out->column[out->count] = t->first_row + i;
      out->value[out->count++] = p->value[e];
    }
  }
done:
  return rc;
}

/* Offsets, and where each part's entries of each row go: after what came from ranks below. What
 * came from elsewhere is put in its place. */
static status place(int threads, const transposing *t, const entry_list *foreign, gidx first) {
  status rc = STATUS_OK;
  csr_rows *out = t->out;
  const lidx columns = t->p->columns;
  eidx at = 0;
  int64_t all = foreign->count, f = 0;
  TRY(alloc_array(&out->offset, (int64_t)columns + 1, sizeof *out->offset, "row offsets"));
  for (int part = 0; part < threads; part++) {
    for (lidx j = 0; j < columns; j++) all += t->next[part][j];
  }
  TRY(alloc_array(&out->column, all, sizeof *out->column, "matrix columns"));
  TRY(alloc_array(&out->value, all, sizeof *out->value, "matrix values"));
  for (lidx j = 0; j < columns; j++) {
    int own_placed = 0;
    out->offset[j] = at;
    for (;; f++) {
      const int here = f < foreign->count && foreign->row[f] == first + j;
      if (!own_placed && (!here || foreign->column[f] >= t->first_row)) {
        for (int part = 0; part < threads; part++) {
          const eidx count = t->next[part][j];
          t->next[part][j] = at;
          at += count;
        }
        own_placed = 1;
      }
      if (!here) break;
      out->column[at] = foreign->column[f];
      out->value[at++] = foreign->value[f];
    }
  }
  out->offset[columns] = at;
done:
  return rc;
}

status sparse_transpose(comm *c, int threads, const ownership *row_owned, const csr_block *p,
                        const ownership *column_owned, csr_rows *out) {
  status rc = STATUS_OK;
  transposing t = {.p = p, .out = out, .first_row = ownership_begin(row_owned)};
  entry_list mine, foreign;
  t.rows = (lidx)(ownership_end(row_owned) - t.first_row);
  memset(&mine, 0, sizeof mine);
  memset(&foreign, 0, sizeof foreign);
  memset(out, 0, sizeof *out);
  rc = alloc_zeroed(&t.next, threads, sizeof *t.next, "places in columns");
  for (int i = 0; rc == STATUS_OK && i < threads; i++) {
    rc = alloc_array(&t.next[i], p->columns, sizeof **t.next, "places in columns");
  }
  if (rc == STATUS_OK) rc = list_foreign(&t, &mine);
  TRY(comm_agree(c, rc));
  if (comm_size(c) > 1) TRY(entries_deliver(c, column_owned, &mine, &foreign));
  team_for(threads, t.rows, count_part, &t);
  rc = place(threads, &t, &foreign, ownership_begin(column_owned));
  TRY(comm_agree(c, rc));
  team_for(threads, t.rows, turn_part, &t);
  out->global_rows = column_owned->rows;
  out->global_columns = row_owned->rows;
  out->first_row = ownership_begin(column_owned);
  out->rows = p->columns;
done:
  for (int i = 0; t.next != NULL && i < threads; i++) alloc_free(&t.next[i]);
  alloc_free(&t.next);
  entry_list_release(&mine);
  entry_list_release(&foreign);
  if (rc != STATUS_OK) csr_rows_release(out);
  return rc;
}
