/* Reverse Cuthill-McKee on one rank (rcm.h). Breadth-first levels from a vertex far from all
 * others, neighbours by rising degree (ties: by number), the whole order reversed; components by
 * their smallest number. The start is found by going to a vertex of least degree of the last level
 * until the levels grow no more. Cost: entries times the logarithm of a row's length, a few times.
 * Sources: Cuthill, McKee (1969); George, Liu, ACM TOMS 5 (1979) 284. */
#include "rcm.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

typedef struct graph {
  gidx rows;
  eidx *offset;    /* [rows + 1] */
  gidx *neighbour; /* symmetric, without loops */
} graph;

typedef struct search {
  const graph *g;
  gidx *queue;         /* [rows] */
  gidx *level;         /* [rows] -1: not reached in this search */
  unsigned char *done; /* [rows] in the order already */
} search;

static void graph_release(graph *g) {
  alloc_free(&g->offset);
  alloc_free(&g->neighbour);
}

static gidx degree(const graph *g, gidx i) { return g->offset[i + 1] - g->offset[i]; }

/* ---- the graph on rank 0 ---- */

/* Pairs (row, column) of all ranks, rank 0's: counts in entries. */
typedef struct pairs {
  gidx *row, *column;
  int64_t count;
} pairs;

static status gather(comm *c, const csr_rows *a, pairs *out) {
  status rc = STATUS_OK;
  const int size = comm_size(c), rank = comm_rank(c);
  const int64_t mine = a->offset[a->rows] * (int64_t)sizeof(gidx);
  int64_t *send = NULL, *zero = NULL, *receive = NULL, *at = NULL;
  gidx *row = NULL;
  rc = alloc_zeroed(&send, size, sizeof *send, "counts");
  if (rc == STATUS_OK) rc = alloc_zeroed(&zero, size, sizeof *zero, "counts");
  if (rc == STATUS_OK) rc = alloc_zeroed(&receive, size, sizeof *receive, "counts");
  if (rc == STATUS_OK) rc = alloc_zeroed(&at, (int64_t)size + 1, sizeof *at, "counts");
  if (rc == STATUS_OK) rc = alloc_array(&row, a->offset[a->rows], sizeof *row, "row numbers");
  TRY(comm_agree(c, rc));
  send[0] = mine;
  TRY(comm_transpose(c, send, receive));
  for (int r = 0; r < size; r++) at[r + 1] = at[r] + receive[r];
  out->count = at[size] / (int64_t)sizeof(gidx);
  rc = alloc_array(&out->row, out->count, sizeof *out->row, "pattern");
  if (rc == STATUS_OK) rc = alloc_array(&out->column, out->count, sizeof *out->column, "pattern");
  TRY(comm_agree(c, rc));
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) row[e] = a->first_row + i;
  }
  TRY(comm_exchange(c, row, send, zero, out->row, receive, at));
  TRY(comm_exchange(c, a->column, send, zero, out->column, receive, at));
  if (rank != 0) out->count = 0;
done:
  alloc_free(&row);
  alloc_free(&at);
  alloc_free(&receive);
  alloc_free(&zero);
  alloc_free(&send);
  return rc;
}

static int by_number(const void *x, const void *y) {
  const gidx a = *(const gidx *)x, b = *(const gidx *)y;
  return (a > b) - (a < b);
}

/* Sorts each list and drops what is there twice. */
static void tidy(graph *g) {
  eidx kept = 0, at = 0;
  for (gidx i = 0; i < g->rows; i++) {
    const eidx end = g->offset[i + 1], begin = kept;
    qsort(g->neighbour + at, (size_t)(end - at), sizeof *g->neighbour, by_number);
    for (; at < end; at++) {
      if (kept > begin && g->neighbour[kept - 1] == g->neighbour[at]) continue;
      g->neighbour[kept++] = g->neighbour[at];
    }
    g->offset[i + 1] = kept;
  }
}

typedef struct ranked {
  gidx degree, number;
} ranked;

static int by_degree(const void *x, const void *y) {
  const ranked *a = x, *b = y;
  if (a->degree != b->degree) return a->degree < b->degree ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

/* Each list by rising degree of the neighbours, then by number. */
static status rank_neighbours(graph *g) {
  status rc = STATUS_OK;
  gidx most = 0;
  ranked *list = NULL;
  for (gidx i = 0; i < g->rows; i++) most = degree(g, i) > most ? degree(g, i) : most;
  TRY(alloc_array(&list, most, sizeof *list, "neighbours"));
  for (gidx i = 0; i < g->rows; i++) {
    gidx *from = g->neighbour + g->offset[i];
    const gidx count = degree(g, i);
    for (gidx k = 0; k < count; k++) list[k] = (ranked){degree(g, from[k]), from[k]};
    qsort(list, (size_t)count, sizeof *list, by_degree);
    for (gidx k = 0; k < count; k++) from[k] = list[k].number;
  }
done:
  alloc_free(&list);
  return rc;
}

static status make_graph(gidx rows, const pairs *p, graph *g) {
  status rc = STATUS_OK;
  g->rows = rows;
  TRY(alloc_zeroed(&g->offset, rows + 2, sizeof *g->offset, "pattern"));
  eidx *end = g->offset + 1; /* end[i]: where the next neighbour of i goes */
  for (int64_t e = 0; e < p->count; e++) {
    if (p->row[e] == p->column[e]) continue;
    end[p->row[e] + 1]++;
    end[p->column[e] + 1]++;
  }
  for (gidx i = 0; i < rows; i++) end[i + 1] += end[i];
  TRY(alloc_array(&g->neighbour, end[rows], sizeof *g->neighbour, "pattern"));
  for (int64_t e = 0; e < p->count; e++) {
    if (p->row[e] == p->column[e]) continue;
    g->neighbour[end[p->row[e]]++] = p->column[e];
    g->neighbour[end[p->column[e]]++] = p->row[e];
  }
  tidy(g);
  rc = rank_neighbours(g);
done:
  return rc;
}

/* ---- the order ---- */

/* Vertices in the order they are reached from `start`: queue[from, returned). */
static gidx spread(search *s, gidx start, gidx from) {
  gidx end = from;
  s->queue[end++] = start;
  s->level[start] = 0;
  for (gidx at = from; at < end; at++) {
    const gidx i = s->queue[at];
    for (eidx e = s->g->offset[i]; e < s->g->offset[i + 1]; e++) {
      const gidx j = s->g->neighbour[e];
      if (s->level[j] >= 0) continue;
      s->level[j] = s->level[i] + 1;
      s->queue[end++] = j;
    }
  }
  return end;
}

/* A vertex of the component of `start` that is far from others. */
static gidx far_vertex(search *s, gidx start, gidx from) {
  gidx height = -1;
  for (;;) {
    const gidx end = spread(s, start, from), last = s->level[s->queue[end - 1]];
    gidx best = -1;
    for (gidx at = from; at < end; at++) {
      const gidx i = s->queue[at];
      const int farthest = s->level[i] == last;
      s->level[i] = -1;
      if (!farthest) continue;
      if (best < 0 || degree(s->g, i) < degree(s->g, best) ||
          (degree(s->g, i) == degree(s->g, best) && i < best)) {
        best = i;
      }
    }
    if (last <= height) return start;
    height = last;
    start = best;
  }
}

/* The neighbours of i not in the order yet, at its end. */
static gidx append(search *s, gidx i, gidx end) {
  for (eidx e = s->g->offset[i]; e < s->g->offset[i + 1]; e++) {
    const gidx j = s->g->neighbour[e];
    if (s->done[j]) continue;
    s->done[j] = 1;
    s->queue[end++] = j;
  }
  return end;
}

static void order(search *s) {
  gidx end = 0;
  for (gidx next = 0; next < s->g->rows; next++) {
    if (s->done[next]) continue;
    gidx at = end;
    const gidx start = far_vertex(s, next, at);
    s->queue[end++] = start;
    s->done[start] = 1;
    for (; at < end; at++) end = append(s, s->queue[at], end);
  }
  for (gidx i = 0; i < end / 2; i++) {
    const gidx other = s->queue[i];
    s->queue[i] = s->queue[end - 1 - i];
    s->queue[end - 1 - i] = other;
  }
}

static status order_alone(gidx rows, pairs *p, gidx *old) {
  status rc = STATUS_OK;
  graph g = {.rows = 0};
  search s = {.g = &g, .queue = old};
  TRY(make_graph(rows, p, &g));
  TRY(alloc_array(&s.level, rows, sizeof *s.level, "levels"));
  TRY(alloc_zeroed(&s.done, rows, 1, "marks"));
  for (gidx i = 0; i < rows; i++) s.level[i] = -1;
  order(&s);
done:
  alloc_free(&s.level);
  alloc_free(&s.done);
  graph_release(&g);
  return rc;
}

status rcm_order(comm *c, const ownership *owned, const csr_rows *a, gidx **old) {
  status rc = STATUS_OK;
  pairs p = {NULL, NULL, 0};
  *old = NULL;
  TRY(gather(c, a, &p));
  rc = alloc_array(old, owned->rows, sizeof **old, "order");
  if (rc == STATUS_OK && comm_rank(c) == 0) rc = order_alone(owned->rows, &p, *old);
  TRY(comm_agree(c, rc));
  TRY(comm_broadcast(c, *old, owned->rows * (int64_t)sizeof **old, 0));
done:
  alloc_free(&p.row);
  alloc_free(&p.column);
  if (rc != STATUS_OK) alloc_free(old);
  return rc;
}
