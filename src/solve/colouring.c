/* Distance-1 colouring of the symmetrised pattern (colouring.h).
 *
 * First the colouring that grids have: where the distances |i - j| of all entries are few, and each
 * is a multiple of the one before (1, nx, nx ny), they are the strides of a grid; the parity of the
 * coordinates is tried as a colouring and verified entry by entry. Otherwise the greedy colouring
 * in the order of falling degree, then of a hash of the global index: each row takes the smallest
 * colour that its neighbours before it in this order have left. That is one definite colouring; it
 * is found from all sides at once (a row is ready when all its neighbours before it have a colour),
 * with an exchange of the ghosts' colours between rounds. At most 1 + degree colours.
 *
 * Cost: O(entries), a few passes; as many exchanges as the longest chain of such dependences
 * crosses ranks, about log n of them for matrices of meshes (Jones and Plassmann, SIAM J. Sci.
 * Comput. 14 (1993) 654, where the hash is a random number; degree first: Welsh and Powell, 1967).
 */
#include "colouring.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "fingerprint.h"
#include "halo.h"
#include "row_exchange.h"

/* The rows with their neighbours, both ways; own entries may be among them and are passed over. */
typedef struct graph {
  const csr_block *a; /* of which column, offset and ghost are used */
  csr_block own;      /* what a points to where the pattern had to be completed */
  halo plan;
  int64_t *degree; /* [rows + ghosts] */
  int32_t *colour; /* [rows + ghosts] UNKNOWN at first */
} graph;

enum { UNKNOWN = -1 };

static gidx global_of(const csr_block *a, lidx column) {
  return column < a->rows ? a->first_row + column : a->ghost[column - a->rows];
}

/* ---- red and black ---- */

enum { STRIDES = 6 };

/* Distances of entries, ascending; count above STRIDES: too many. */
typedef struct strides {
  int64_t count;
  gidx distance[STRIDES];
} strides;

static void strides_add(strides *s, gidx distance) {
  int64_t at = 0;
  if (s->count > STRIDES) return;
  while (at < s->count && s->distance[at] < distance) at++;
  if (at < s->count && s->distance[at] == distance) return;
  if (s->count++ == STRIDES) return;
  for (int64_t k = s->count - 1; k > at; k--) s->distance[k] = s->distance[k - 1];
  s->distance[at] = distance;
}

static void strides_of_rows(const csr_block *a, strides *s) {
  for (lidx i = 0; i < a->rows && s->count <= STRIDES; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const gidx distance = global_of(a, a->column[e]) - (a->first_row + i);
      if (distance != 0) strides_add(s, distance < 0 ? -distance : distance);
    }
  }
}

/* All ranks' strides. */
static status strides_meet(comm *c, strides *s) {
  status rc = STATUS_OK;
  strides *all = NULL;
  const int size = comm_size(c);
  TRY(comm_agree(c, alloc_array(&all, size, sizeof *all, "colours")));
  TRY(comm_allgather(c, s, all, (int64_t)sizeof *all));
  memset(s, 0, sizeof *s);
  for (int r = 0; r < size && s->count <= STRIDES; r++) {
    if (all[r].count > STRIDES) s->count = all[r].count;
    for (int64_t k = 0; k < all[r].count && s->count <= STRIDES; k++) {
      strides_add(s, all[r].distance[k]);
    }
  }
done:
  alloc_free(&all);
  return rc;
}

static int strides_of_grid(const strides *s) {
  if (s->count > STRIDES) return 0;
  for (int64_t k = 1; k < s->count; k++) {
    if (s->distance[k] % s->distance[k - 1] != 0) return 0;
  }
  return 1;
}

/* The parity of the coordinates of gi in the grid. */
static int32_t parity(const strides *s, gidx gi) {
  gidx sum = 0;
  for (int64_t k = 0; k < s->count; k++) {
    gidx along = gi / s->distance[k];
    if (k + 1 < s->count) along %= s->distance[k + 1] / s->distance[k];
    sum += along;
  }
  return (int32_t)(sum % 2);
}

static int parity_is_valid(const csr_block *a, const int32_t *colour) {
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      if (a->column[e] != i && colour[a->column[e]] == colour[i]) return 0;
    }
  }
  return 1;
}

static status try_red_black(comm *c, const csr_block *a, colouring *out) {
  status rc = STATUS_OK;
  strides s;
  memset(&s, 0, sizeof s);
  strides_of_rows(a, &s);
  TRY(strides_meet(c, &s));
  if (!strides_of_grid(&s)) goto done;
  for (lidx j = 0; j < a->rows + a->ghosts; j++) out->colour[j] = parity(&s, global_of(a, j));
  int64_t invalid = !parity_is_valid(a, out->colour);
  TRY(comm_max_i64(c, &invalid, 1));
  if (invalid) goto done;
  out->red_black = 1;
  out->colours = s.count > 0 ? 2 : 1;
done:
  return rc;
}

/* ---- completing the pattern ---- */

/* Entries of own rows in other ranks' columns, transposed, as their owners will read them. */
static status list_outside(const csr_block *a, entry_list *out) {
  status rc = STATUS_OK;
  memset(out, 0, sizeof *out);
  for (eidx e = 0; e < a->offset[a->rows]; e++) out->count += a->column[e] >= a->rows;
  TRY(alloc_array(&out->row, out->count, sizeof *out->row, "pattern"));
  TRY(alloc_array(&out->column, out->count, sizeof *out->column, "pattern"));
  TRY(alloc_zeroed(&out->value, out->count, sizeof *out->value, "pattern"));
  int64_t at = 0;
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      if (a->column[e] < a->rows) continue;
      out->row[at] = global_of(a, a->column[e]);
      out->column[at++] = a->first_row + i;
    }
  }
done:
  return rc;
}

static int ascending(const void *x, const void *y) {
  const gidx a = *(const gidx *)x, b = *(const gidx *)y;
  return (a > b) - (a < b);
}

/* Sorts each row's columns and drops what is there twice. */
static void sort_rows(csr_rows *r) {
  eidx kept = 0;
  for (lidx i = 0; i < r->rows; i++) {
    const eidx begin = r->offset[i], end = r->offset[i + 1];
    qsort(r->column + begin, (size_t)(end - begin), sizeof *r->column, ascending);
    r->offset[i] = kept;
    for (eidx e = begin; e < end; e++) {
      if (e == begin || r->column[e] != r->column[e - 1]) r->column[kept++] = r->column[e];
    }
  }
  r->offset[r->rows] = kept;
}

/* Own entries, own entries transposed where both ends are here, and what arrived: row by row. */
static status join(const csr_block *a, const entry_list *arrived, csr_rows *out) {
  status rc = STATUS_OK;
  eidx *at = NULL;
  TRY(alloc_zeroed(&out->offset, (int64_t)a->rows + 1, sizeof *out->offset, "pattern"));
  TRY(alloc_array(&at, a->rows, sizeof *at, "pattern"));
  for (lidx i = 0; i < a->rows; i++) {
    out->offset[i + 1] += a->offset[i + 1] - a->offset[i];
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      if (a->column[e] < a->rows) out->offset[a->column[e] + 1]++;
    }
  }
  for (int64_t k = 0; k < arrived->count; k++) out->offset[arrived->row[k] - a->first_row + 1]++;
  for (lidx i = 0; i < a->rows; i++) {
    out->offset[i + 1] += out->offset[i];
    at[i] = out->offset[i];
  }
  TRY(alloc_array(&out->column, out->offset[a->rows], sizeof *out->column, "pattern"));
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const lidx j = a->column[e];
      out->column[at[i]++] = global_of(a, j);
      if (j < a->rows) out->column[at[j]++] = a->first_row + i;
    }
  }
  for (int64_t k = 0; k < arrived->count; k++) {
    out->column[at[arrived->row[k] - a->first_row]++] = arrived->column[k];
  }
  sort_rows(out);
done:
  alloc_free(&at);
  return rc;
}

static status complete(comm *c, const ownership *owned, const csr_block *a, csr_block *out) {
  status rc = STATUS_OK;
  entry_list mine, arrived;
  csr_rows both = {.global_rows = owned->rows,
                   .global_columns = owned->rows,
                   .first_row = a->first_row,
                   .rows = a->rows};
  memset(&arrived, 0, sizeof arrived);
  TRY(comm_agree(c, list_outside(a, &mine)));
  TRY(entries_deliver(c, owned, &mine, &arrived));
  rc = join(a, &arrived, &both);
  if (rc == STATUS_OK) rc = csr_localise(1, &both, out);
  rc = comm_agree(c, rc);
done:
  entry_list_release(&mine);
  entry_list_release(&arrived);
  csr_rows_release(&both);
  return rc;
}

/* ---- greedy, by priority ---- */

/* Whether row j comes before row i. The hash is a bijection: no two rows are alike. */
static int before(const graph *g, lidx j, lidx i) {
  if (g->degree[j] != g->degree[i]) return g->degree[j] > g->degree[i];
  const uint64_t x = (uint64_t)global_of(g->a, j), y = (uint64_t)global_of(g->a, i);
  return fingerprint_mix(x) > fingerprint_mix(y);
}

/* The smallest colour that no neighbour has. */
static int32_t smallest_free(const graph *g, lidx i) {
  for (int32_t base = 0;; base += 64) {
    uint64_t used = 0;
    for (eidx e = g->a->offset[i]; e < g->a->offset[i + 1]; e++) {
      const lidx j = g->a->column[e];
      const int32_t k = g->colour[j] - base;
      if (j != i && k >= 0 && k < 64) used |= UINT64_C(1) << k;
    }
    for (int32_t k = 0; k < 64; k++) {
      if ((used >> k & 1) == 0) return base + k;
    }
  }
}

/* A neighbour after i has no colour as long as i has none. */
static int ready(const graph *g, lidx i) {
  for (eidx e = g->a->offset[i]; e < g->a->offset[i + 1]; e++) {
    const lidx j = g->a->column[e];
    if (j != i && g->colour[j] == UNKNOWN && before(g, j, i)) return 0;
  }
  return 1;
}

/* Colours what can be coloured without news from other ranks. left[0 .. count) are the rows without
 * a colour; returns how many are left. */
static lidx colour_ready(graph *g, lidx *left, lidx count) {
  for (lidx last = -1; count != last;) {
    lidx kept = 0;
    last = count;
    for (lidx k = 0; k < count; k++) {
      const lidx i = left[k];
      if (ready(g, i)) {
        g->colour[i] = smallest_free(g, i);
      } else {
        left[kept++] = i;
      }
    }
    count = kept;
  }
  return count;
}

/* Ghosts' values from their owners: small integers, which doubles carry exactly. */
static status exchange_degrees(graph *g) {
  status rc = STATUS_OK;
  for (lidx k = 0; k < g->plan.sends; k++) {
    g->plan.send_buffer[k] = (double)g->degree[g->plan.send_row[k]];
  }
  TRY(halo_begin(&g->plan));
  TRY(halo_end(&g->plan));
  for (lidx k = 0; k < g->a->ghosts; k++) {
    g->degree[g->a->rows + k] = (int64_t)g->plan.ghost_buffer[k];
  }
done:
  return rc;
}

static status exchange_colours(graph *g) {
  status rc = STATUS_OK;
  for (lidx k = 0; k < g->plan.sends; k++) {
    g->plan.send_buffer[k] = (double)g->colour[g->plan.send_row[k]];
  }
  TRY(halo_begin(&g->plan));
  TRY(halo_end(&g->plan));
  for (lidx k = 0; k < g->a->ghosts; k++) {
    g->colour[g->a->rows + k] = (int32_t)g->plan.ghost_buffer[k];
  }
done:
  return rc;
}

static status colour_greedily(comm *c, graph *g, lidx *left) {
  status rc = STATUS_OK;
  const csr_block *a = g->a;
  lidx count = a->rows;
  int64_t still = 1;
  for (lidx i = 0; i < a->rows; i++) {
    left[i] = i;
    g->degree[i] = a->offset[i + 1] - a->offset[i];
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) g->degree[i] -= a->column[e] == i;
  }
  for (lidx j = 0; j < a->rows + a->ghosts; j++) g->colour[j] = UNKNOWN;
  TRY(exchange_degrees(g));
  while (still > 0) {
    count = colour_ready(g, left, count);
    TRY(exchange_colours(g));
    still = count;
    TRY(comm_sum_i64(c, &still, 1));
  }
done:
  return rc;
}

/* Colours of the block's ghosts, all of which are among the graph's. */
static void take(const csr_block *a, const graph *g, int32_t *colour) {
  for (lidx i = 0; i < a->rows; i++) colour[i] = g->colour[i];
  for (lidx k = 0; k < a->ghosts; k++) {
    const lidx at = (lidx)index_lower_bound(g->a->ghost, 0, g->a->ghosts, a->ghost[k]);
    colour[a->rows + k] = g->colour[a->rows + at];
  }
}

static status greedy(comm *c, const ownership *owned, const csr_block *a, int symmetric,
                     colouring *out) {
  status rc = STATUS_OK;
  graph g = {.a = a};
  lidx *left = NULL;
  if (!symmetric) {
    TRY(complete(c, owned, a, &g.own));
    g.a = &g.own;
  }
  const int64_t all = (int64_t)g.a->rows + g.a->ghosts;
  rc = alloc_array(&left, g.a->rows, sizeof *left, "colours");
  if (rc == STATUS_OK) rc = alloc_array(&g.degree, all, sizeof *g.degree, "colours");
  if (rc == STATUS_OK) rc = alloc_array(&g.colour, all, sizeof *g.colour, "colours");
  TRY(comm_agree(c, rc));
  TRY(halo_create(c, owned, g.a->ghost, g.a->ghosts, &g.plan));
  TRY(colour_greedily(c, &g, left));
  take(a, &g, out->colour);
  int64_t most = 0;
  for (lidx i = 0; i < a->rows; i++) most = g.colour[i] >= most ? g.colour[i] + 1 : most;
  TRY(comm_max_i64(c, &most, 1));
  out->colours = (int32_t)most;
done:
  halo_release(&g.plan);
  csr_block_release(&g.own);
  alloc_free(&left);
  alloc_free(&g.degree);
  alloc_free(&g.colour);
  return rc;
}

status colouring_make(comm *c, const ownership *owned, const csr_block *a, int symmetric,
                      colouring *out) {
  status rc = STATUS_OK;
  memset(out, 0, sizeof *out);
  TRY(comm_agree(
      c, alloc_array(&out->colour, (int64_t)a->rows + a->ghosts, sizeof *out->colour, "colours")));
  TRY(try_red_black(c, a, out));
  if (!out->red_black) TRY(greedy(c, owned, a, symmetric, out));
done:
  if (rc != STATUS_OK) colouring_release(out);
  return rc;
}

void colouring_release(colouring *k) { alloc_free(&k->colour); }
