/* ILU(0) in the order of colours, then of global indices (incomplete.h): row i meets its entries
 * a_ik of earlier colours in this order and subtracts (a_ik / d_k) times row k's entries of later
 * colours, where i has entries too. Rows of one colour do not meet, so a colour is worked on by all
 * threads and ranks at once; then its rows that are ghosts elsewhere are fetched there. Every entry
 * is one chain in one order, whatever the ranks.
 *
 * Cost: entries times the length of a row, and a fetch per colour, of each ghost's row once.
 * Sources: Saad (2003), 10.3 and 12.4; the shift: Manteuffel, Math. Comp. 34 (1980) 473, doubled as
 * in Lin, More, SIAM J. Sci. Comput. 21 (1999) 24. */
#include "incomplete.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "row_exchange.h"
#include "team.h"

static const double SMALLEST = 1e-12;   /* of a pivot, to the diagonal entry */
static const double FIRST_SHIFT = 1e-3; /* Lin, More */
enum { SHIFTS = 40 };                   /* the last is above 1e8: the diagonal alone */

typedef struct factoring {
  comm *world;
  const ownership *owned;
  const csr_block *a;
  const colouring *k;
  incomplete *f;
  int positive, threads;
  csr_rows done;     /* own rows that are done: pivot, then entries of later colours */
  csr_rows *fetched; /* [colours] ghosts of a colour likewise */
  lidx *at;          /* [ghosts] which row of its colour's */
  gidx *wanted;      /* [ghosts] the ghosts of a colour */
  lidx *first, *row; /* own rows by colour: row[first[c] .. first[c + 1]) */
  int64_t *order;    /* [entries] scratch: the earlier entries of a row, sorted */
  gidx *failed;      /* [threads] smallest row whose pivot failed, or INT64_MAX */
} factoring;

static gidx global_of(const csr_block *a, lidx column) {
  return column < a->rows ? a->first_row + column : a->ghost[column - a->rows];
}

/* ---- room ---- */

static int is_later(const factoring *g, lidx i, lidx j) {
  return g->k->colour[j] > g->k->colour[i];
}

static status open_done(factoring *g) {
  status rc = STATUS_OK;
  const csr_block *a = g->a;
  csr_rows *d = &g->done;
  *d = (csr_rows){.global_rows = g->owned->rows,
                  .global_columns = g->owned->rows,
                  .first_row = a->first_row,
                  .rows = a->rows};
  TRY(alloc_array(&d->offset, (int64_t)a->rows + 1, sizeof *d->offset, "incomplete factors"));
  d->offset[0] = 0;
  for (lidx i = 0; i < a->rows; i++) {
    eidx count = 1;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) count += is_later(g, i, a->column[e]);
    d->offset[i + 1] = d->offset[i] + count;
  }
  TRY(alloc_array(&d->column, d->offset[a->rows], sizeof *d->column, "incomplete factors"));
  TRY(alloc_array(&d->value, d->offset[a->rows], sizeof *d->value, "incomplete factors"));
done:
  return rc;
}

static void sort_by_colour(factoring *g) {
  memset(g->first, 0, ((size_t)g->k->colours + 1) * sizeof *g->first);
  for (lidx i = 0; i < g->a->rows; i++) g->first[g->k->colour[i]]++;
  for (int32_t c = 1; c <= g->k->colours; c++) g->first[c] += g->first[c - 1];
  for (lidx i = g->a->rows - 1; i >= 0; i--) g->row[--g->first[g->k->colour[i]]] = i;
}

static status open_room(factoring *g) {
  status rc = STATUS_OK;
  const csr_block *a = g->a;
  const eidx entries = a->offset[a->rows];
  TRY(alloc_array(&g->f->value, entries, sizeof *g->f->value, "incomplete factors"));
  TRY(alloc_array(&g->f->pivot, a->rows, sizeof *g->f->pivot, "incomplete factors"));
  TRY(alloc_zeroed(&g->fetched, g->k->colours, sizeof *g->fetched, "incomplete factors"));
  TRY(alloc_array(&g->at, a->ghosts, sizeof *g->at, "incomplete factors"));
  TRY(alloc_array(&g->wanted, a->ghosts, sizeof *g->wanted, "incomplete factors"));
  TRY(alloc_array(&g->first, (int64_t)g->k->colours + 1, sizeof *g->first, "incomplete factors"));
  TRY(alloc_array(&g->row, a->rows, sizeof *g->row, "incomplete factors"));
  TRY(alloc_array(&g->order, entries, sizeof *g->order, "incomplete factors"));
  TRY(alloc_array(&g->failed, g->threads, sizeof *g->failed, "incomplete factors"));
  TRY(open_done(g));
  sort_by_colour(g);
done:
  return rc;
}

static void forget_fetched(factoring *g) {
  for (int32_t c = 0; g->fetched != NULL && c < g->k->colours; c++) {
    csr_rows_release(&g->fetched[c]);
  }
}

static void close_room(factoring *g) {
  forget_fetched(g);
  csr_rows_release(&g->done);
  alloc_free(&g->fetched);
  alloc_free(&g->at);
  alloc_free(&g->wanted);
  alloc_free(&g->first);
  alloc_free(&g->row);
  alloc_free(&g->order);
  alloc_free(&g->failed);
}

/* ---- one row ---- */

static int ascending(const void *x, const void *y) {
  const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

/* The places of row i's earlier entries in their order, as colour << 32 | place. Returns how many.
 */
static lidx earlier_entries(const factoring *g, lidx i, int64_t *out) {
  const csr_block *a = g->a;
  lidx count = 0;
  for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
    const int32_t other = g->k->colour[a->column[e]];
    if (other < g->k->colour[i]) out[count++] = (int64_t)other << 32 | (e - a->offset[i]);
  }
  if (count > 1) qsort(out, (size_t)count, sizeof *out, ascending);
  return count;
}

/* A row that is done: its pivot first. */
typedef struct done_row {
  const gidx *column;
  const double *value;
  eidx count;
} done_row;

static done_row find_done(const factoring *g, lidx k) {
  const csr_rows *from = &g->done;
  lidx i = k;
  if (k >= g->a->rows) {
    from = &g->fetched[g->k->colour[k]];
    i = g->at[k - g->a->rows];
  }
  const eidx begin = from->offset[i];
  return (done_row){from->column + begin, from->value + begin, from->offset[i + 1] - begin};
}

/* Row i minus factor times a row that is done, where i has entries. Both rise with the column. */
static void subtract(const factoring *g, lidx i, const done_row *k, double factor) {
  const csr_block *a = g->a;
  double *value = g->f->value;
  eidx e = a->offset[i];
  for (eidx u = 1; u < k->count; u++) {
    while (e < a->offset[i + 1] && global_of(a, a->column[e]) < k->column[u]) e++;
    if (e == a->offset[i + 1]) return;
    if (global_of(a, a->column[e]) == k->column[u]) {
      value[e] = fma(-factor, k->value[u], value[e]);
    }
  }
}

/* Notes the pivot and what comes after it for the rows to come. */
static void finish_row(const factoring *g, lidx i, double pivot) {
  const csr_block *a = g->a;
  const csr_rows *d = &g->done;
  eidx at = d->offset[i];
  g->f->pivot[i] = pivot;
  d->column[at] = a->first_row + i;
  d->value[at++] = pivot;
  for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
    if (!is_later(g, i, a->column[e])) continue;
    d->column[at] = global_of(a, a->column[e]);
    d->value[at++] = g->f->value[e];
  }
}

/* Whether the pivot is good. */
static int eliminate(const factoring *g, lidx i) {
  const csr_block *a = g->a;
  double *value = g->f->value + a->offset[i], pivot = 0.0, size = 0.0;
  int64_t *order = g->order + a->offset[i];
  const lidx earlier = earlier_entries(g, i, order);
  for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
    double *entry = g->f->value + e;
    *entry = a->value[e];
    if (a->column[e] != i) continue;
    *entry = fma(g->f->shift, a->value[e], a->value[e]);
    size = fabs(*entry);
  }
  for (lidx n = 0; n < earlier; n++) {
    const eidx at = order[n] & INT32_MAX;
    const done_row k = find_done(g, a->column[a->offset[i] + at]);
    subtract(g, i, &k, value[at] / k.value[0]);
  }
  for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
    if (a->column[e] == i) pivot = g->f->value[e];
  }
  finish_row(g, i, pivot);
  if (!isfinite(pivot) || fabs(pivot) < SMALLEST * size) return 0;
  return pivot > 0.0 || !g->positive;
}

/* ---- a colour ---- */

typedef struct colour_work {
  factoring *g;
  const lidx *row;
} colour_work;

static void eliminate_part(void *context, int part, int64_t begin, int64_t end) {
  const colour_work *w = context;
  for (int64_t j = begin; j < end; j++) {
    if (eliminate(w->g, w->row[j])) continue;
    const gidx gi = w->g->a->first_row + w->row[j];
    if (gi < w->g->failed[part]) w->g->failed[part] = gi;
  }
}

/* *failed: the smallest row of all ranks' whose pivot is not good; INT64_MAX: none. */
static status eliminate_colour(factoring *g, int32_t c, gidx *failed) {
  status rc = STATUS_OK;
  colour_work w = {g, g->row + g->first[c]};
  lidx count = 0;
  *failed = INT64_MAX;
  for (int t = 0; t < g->threads; t++) g->failed[t] = INT64_MAX;
  team_for(g->threads, g->first[c + 1] - g->first[c], eliminate_part, &w);
  for (int t = 0; t < g->threads; t++) *failed = g->failed[t] < *failed ? g->failed[t] : *failed;
  TRY(comm_min_i64(g->world, failed, 1));
  if (*failed != INT64_MAX || c == g->k->colours - 1) goto done;
  for (lidx k = 0; k < g->a->ghosts; k++) {
    if (g->k->colour[g->a->rows + k] != c) continue;
    g->at[k] = count;
    g->wanted[count++] = g->a->ghost[k];
  }
  TRY(rows_fetch(g->world, g->owned, &g->done, g->wanted, count, &g->fetched[c]));
done:
  return rc;
}

static status factor(factoring *g, gidx *failed) {
  status rc = STATUS_OK;
  forget_fetched(g);
  *failed = INT64_MAX;
  for (int32_t c = 0; c < g->k->colours && *failed == INT64_MAX; c++) {
    TRY(eliminate_colour(g, c, failed));
  }
done:
  return rc;
}

status incomplete_make(comm *c, const ownership *owned, const csr_block *a, const colouring *k,
                       int positive, int threads, incomplete *out) {
  status rc = STATUS_OK;
  factoring g = {.world = c,
                 .owned = owned,
                 .a = a,
                 .k = k,
                 .f = out,
                 .positive = positive,
                 .threads = threads};
  gidx failed;
  memset(out, 0, sizeof *out);
  TRY(comm_agree(c, open_room(&g)));
  TRY(factor(&g, &failed));
  out->failed = failed;
  for (int n = 0; n < SHIFTS && failed != INT64_MAX; n++) {
    out->shift = n == 0 ? FIRST_SHIFT : 2.0 * out->shift;
    TRY(factor(&g, &failed));
  }
  if (failed != INT64_MAX) {
    rc = fail(STATUS_DIVERGED,
              "incomplete factors: the pivot of row %lld is not good, with the "
              "diagonal times %g neither",
              (long long)failed + 1, 1.0 + out->shift);
  }
  rc = comm_agree(c, rc);
done:
  close_room(&g);
  if (rc != STATUS_OK) incomplete_release(out);
  return rc;
}

void incomplete_release(incomplete *f) {
  alloc_free(&f->value);
  alloc_free(&f->pivot);
}
