/* Entries per row block (deal.h), where no rank holds a number for every block: each counts what it
 * has parsed in a table of the blocks it met, then the counts travel to the ranks whose share the
 * blocks are. A file sorted by row or by column touches few blocks a rank; one in random order as
 * many as it has entries, at 16 bytes each, which is what an entry takes anyway. Counts travel in
 * rounds, so that what a rank receives at a time is bounded by ROUND, not by the number of ranks.
 *
 * The table has open addressing with linear steps (Knuth, vol. 3, 6.4, algorithm L), at most half
 * full; neighbouring entries mostly meet the block of the one before. */
#include "deal.h"

#include <stdlib.h>
#include <string.h>

#include "block_sum.h"
#include "fingerprint.h"

enum { FIRST_ROOM = 1024, ROUND = 1 << 16 };

typedef struct block_count {
  gidx block; /* -1: a free place */
  int64_t entries;
} block_count;

typedef struct block_table {
  block_count *place; /* [room] */
  int64_t room, used; /* room is a power of two */
} block_table;

static status table_open(block_table *t, int64_t room) {
  status rc = alloc_array(&t->place, room, sizeof *t->place, "weights of row blocks");
  t->room = rc == STATUS_OK ? room : 0;
  t->used = 0;
  for (int64_t i = 0; i < t->room; i++) t->place[i].block = -1;
  return rc;
}

/* Where `block` is, or would be. */
static block_count *table_find(const block_table *t, gidx block) {
  const uint64_t mask = (uint64_t)t->room - 1;
  uint64_t i = fingerprint_mix((uint64_t)block) & mask;
  while (t->place[i].block != block && t->place[i].block >= 0) i = (i + 1) & mask;
  return &t->place[i];
}

static status table_grow(block_table *t) {
  block_table larger;
  status rc = table_open(&larger, 2 * t->room);
  if (rc != STATUS_OK) return rc;
  for (int64_t i = 0; i < t->room; i++) {
    if (t->place[i].block >= 0) *table_find(&larger, t->place[i].block) = t->place[i];
  }
  larger.used = t->used;
  alloc_free(&t->place);
  *t = larger;
  return STATUS_OK;
}

/* What one rank counts. */
typedef struct weighing {
  block_share share;
  int64_t *weight; /* [share.count] */
  block_table others;
  block_count *near; /* the place used last, or NULL */
} weighing;

static inline status add_entry(weighing *w, gidx block) {
  const gidx at = block - w->share.first;
  if (at >= 0 && at < w->share.count) {
    w->weight[at]++;
    return STATUS_OK;
  }
  if (w->near == NULL || w->near->block != block) {
    if (2 * w->others.used >= w->others.room) {
      const status rc = table_grow(&w->others);
      if (rc != STATUS_OK) return rc;
    }
    w->near = table_find(&w->others, block);
    if (w->near->block < 0) {
      *w->near = (block_count){block, 0};
      w->others.used++;
    }
  }
  w->near->entries++;
  return STATUS_OK;
}

static status count_chunk(weighing *w, const entry_chunk *chunk, int words, int mirrors,
                          gidx block) {
  status rc = STATUS_OK;
  const int shift = __builtin_ctzll((unsigned long long)block);
  for (int64_t i = 0; i < chunk->count; i++) {
    const uint64_t *key = chunk->key + i * words;
    const gidx row = key_row(key, words), column = key_column(key, words);
    TRY(add_entry(w, row >> shift));
    if (mirrors && row != column) TRY(add_entry(w, column >> shift));
  }
done:
  return rc;
}

static int by_block(const void *a, const void *b) {
  const gidx x = ((const block_count *)a)->block, y = ((const block_count *)b)->block;
  return (x > y) - (x < y);
}

/* The table's counts in front, by block: those of a rank's share lie together. */
static void sort_table(block_table *t) {
  int64_t kept = 0;
  for (int64_t i = 0; i < t->room; i++) {
    if (t->place[i].block >= 0) t->place[kept++] = t->place[i];
  }
  if (kept > 0) qsort(t->place, (size_t)kept, sizeof *t->place, by_block);
}

/* Counts on their way to their ranks. */
typedef struct passing {
  int size;
  int64_t *numbers; /* 6 arrays of `size`: */
  int64_t *next, *end, *send, *send_at, *take, *take_at;
  block_count *arrived;
  int64_t room;
} passing;

static status passing_open(passing *p, int size, gidx rows, const block_table *t) {
  memset(p, 0, sizeof *p);
  const status rc = alloc_zeroed(&p->numbers, 6 * (int64_t)size, sizeof *p->numbers, "messages");
  if (rc != STATUS_OK) return rc;
  int64_t **const array[] = {&p->next, &p->end, &p->send, &p->send_at, &p->take, &p->take_at};
  for (int i = 0; i < 6; i++) *array[i] = p->numbers + (int64_t)i * size;
  p->size = size;
  int64_t at = 0;
  for (int r = 0; r < size; r++) {
    const block_share share = ownership_share(rows, r, size);
    p->next[r] = at;
    while (at < t->used && t->place[at].block < share.first + share.count) at++;
    p->end[r] = at;
  }
  return STATUS_OK;
}

static void passing_close(passing *p) {
  alloc_free(&p->numbers);
  alloc_free(&p->arrived);
}

/* Fills in what goes to each rank in this round. */
static void choose_round(passing *p) {
  const int64_t most = ROUND / p->size > 0 ? ROUND / p->size : 1;
  for (int r = 0; r < p->size; r++) {
    const int64_t left = p->end[r] - p->next[r], now = left < most ? left : most;
    p->send[r] = now * (int64_t)sizeof(block_count);
    p->send_at[r] = p->next[r] * (int64_t)sizeof(block_count);
    p->next[r] += now;
  }
}

static status receive_room(passing *p, int64_t *count) {
  int64_t bytes = 0;
  for (int r = 0; r < p->size; r++) {
    p->take_at[r] = bytes;
    bytes += p->take[r];
  }
  *count = bytes / (int64_t)sizeof(block_count);
  if (*count <= p->room) return STATUS_OK;
  alloc_free(&p->arrived);
  p->room = 0;
  const status rc = alloc_array(&p->arrived, *count, sizeof *p->arrived, "weights of row blocks");
  if (rc == STATUS_OK) p->room = *count;
  return rc;
}

static int64_t left_to_send(const passing *p) {
  int64_t left = 0;
  for (int r = 0; r < p->size; r++) left |= p->end[r] - p->next[r];
  return left != 0;
}

static status pass_on(comm *c, weighing *w, gidx rows) {
  status rc = STATUS_OK;
  passing p;
  int64_t more, count;
  sort_table(&w->others);
  TRY(comm_agree(c, passing_open(&p, comm_size(c), rows, &w->others)));
  for (;;) {
    more = left_to_send(&p);
    TRY(comm_max_i64(c, &more, 1));
    if (!more) break;
    choose_round(&p);
    TRY(comm_transpose(c, p.send, p.take));
    TRY(comm_agree(c, receive_room(&p, &count)));
    TRY(comm_exchange(c, w->others.place, p.send, p.send_at, p.arrived, p.take, p.take_at));
    for (int64_t i = 0; i < count; i++) {
      w->weight[p.arrived[i].block - w->share.first] += p.arrived[i].entries;
    }
  }
done:
  passing_close(&p);
  return rc;
}

status deal_weigh(comm *c, const entry_store *store, int mirrors, gidx rows, block_share share,
                  int64_t **weight) {
  status rc = STATUS_OK;
  weighing w = {.share = share};
  rc = alloc_zeroed(weight, share.count, sizeof **weight, "weights of row blocks");
  w.weight = *weight;
  if (rc == STATUS_OK) rc = table_open(&w.others, FIRST_ROOM);
  for (const entry_chunk *chunk = store->first; chunk != NULL && rc == STATUS_OK;
       chunk = chunk->next) {
    rc = count_chunk(&w, chunk, store->words, mirrors, block_size(rows));
  }
  TRY(comm_agree(c, rc));
  TRY(pass_on(c, &w, rows));
done:
  alloc_free(&w.others.place);
  if (rc != STATUS_OK) alloc_free(weight);
  return rc;
}
