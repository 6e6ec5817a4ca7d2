/* Rows and columns of values that were stored without them (deal.h). Packed triangles hold column j
 * from the diagonal (skew: from below it) down; where an entry is found by bisection once a chunk,
 * then by walking. */
#include "deal.h"

typedef struct walker {
  const text_head *head;
  gidx row, column;
} walker;

/* First row of column j in a packed or whole array. */
static gidx top_row(const text_head *head, gidx j) {
  switch (head->symmetry) {
  case TEXT_SYMMETRIC:
    return j;
  case TEXT_SKEW:
    return j + 1;
  default:
    return 0;
  }
}

/* Values before column j: with j columns of n, n - 1, ... values. One factor of j (j - 1) is even.
 */
static int64_t values_before(const text_head *head, gidx j) {
  int64_t first = head->rows - (head->symmetry == TEXT_SKEW);
  int64_t lost = j % 2 == 0 ? j / 2 * (j - 1) : (j - 1) / 2 * j;
  return head->symmetry == TEXT_GENERAL ? j * first : j * first - lost;
}

static walker walk_from(const text_head *head, int64_t place) {
  walker w = {head, 0, 0};
  if (head->layout == TEXT_PLAIN) {
    w.row = place / head->columns;
    w.column = place % head->columns;
    return w;
  }
  gidx low = 0, high = head->columns; /* values_before(low) <= place < values_before(high) */
  while (high - low > 1) {
    gidx middle = low + (high - low) / 2;
    if (values_before(head, middle) <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  w.column = low;
  w.row = top_row(head, low) + place - values_before(head, low);
  return w;
}

static inline void walk(walker *w) {
  if (w->head->layout == TEXT_PLAIN) {
    if (++w->column == w->head->columns) w->column = 0, w->row++;
  } else if (++w->row == w->head->rows) {
    w->column++;
    w->row = top_row(w->head, w->column);
  }
}

status deal_place(entry_store *store, const text_head *head, gidx only, int zeros) {
  for (entry_chunk *chunk = store->first; chunk != NULL; chunk = chunk->next) {
    status rc =
        alloc_array(&chunk->key, chunk->count * store->words, sizeof *chunk->key, "entries");
    if (rc != STATUS_OK) return rc;
    if (chunk->count == 0) continue;
    walker w = walk_from(head, chunk->place);
    int64_t kept = 0;
    for (int64_t i = 0; i < chunk->count; i++, walk(&w)) {
      double value = chunk->value[i];
      if ((value == 0.0 && !zeros) || (only >= 0 && w.column != only)) continue;
      key_put(chunk->key + kept * store->words, store->words, w.row, w.column, 0);
      chunk->value[kept++] = value;
    }
    chunk->count = kept;
  }
  store->keyed = 1;
  return STATUS_OK;
}
