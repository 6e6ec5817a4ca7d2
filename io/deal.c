/* Rounds of entries (deal.h). A round takes chunks off the store until 16 MiB are staged (or, for a
 * gzip file, exactly one segment), sorts them by owner keeping their order, and exchanges keys and
 * values. What is received stays where it arrives until rows are made of it, so an entry is held
 * once at any time: parsed, staged or arrived. Memory: 16 bytes an entry (24 with rows or columns
 * above 2^31) and the stage. */
#include "deal.h"

#include <malloc.h>
#include <string.h>

enum { LARGE_BLOCK = 1 << 18 };

void deal_prepare_memory(void) { mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK); }

/* A round on its way out: entries by owner. */
typedef struct stage {
  entry_chunk *chunks;
  int64_t entries, room;
  uint64_t *key;    /* [room * words] */
  double *value;    /* [room] */
  int64_t *numbers; /* 6 arrays of `size`: */
  int64_t *count, *cursor, *send, *send_at, *take, *take_at;
} stage;

static status stage_open(stage *s, int size) {
  memset(s, 0, sizeof *s);
  status rc = alloc_array(&s->numbers, 6 * (int64_t)size, sizeof *s->numbers, "message sizes");
  if (rc != STATUS_OK) return rc;
  s->count = s->numbers;
  s->cursor = s->numbers + size;
  s->send = s->numbers + 2 * size;
  s->send_at = s->numbers + 3 * size;
  s->take = s->numbers + 4 * size;
  s->take_at = s->numbers + 5 * size;
  return STATUS_OK;
}

static void drop_chunks(stage *s) {
  while (s->chunks != NULL) {
    entry_chunk *next = s->chunks->next;
    entry_chunk_free(&s->chunks);
    s->chunks = next;
  }
}

/* Room for s->entries; what was there is not kept. */
static status stage_room(stage *s, int words) {
  status rc = STATUS_OK;
  if (s->entries <= s->room) return rc;
  alloc_free(&s->key);
  alloc_free(&s->value);
  s->room = 0;
  TRY(alloc_array(&s->key, s->entries * words, sizeof *s->key, "entries to send"));
  TRY(alloc_array(&s->value, s->entries, sizeof *s->value, "entries to send"));
  s->room = s->entries;
done:
  return rc;
}

static void stage_close(stage *s) {
  drop_chunks(s);
  alloc_free(&s->key);
  alloc_free(&s->value);
  alloc_free(&s->numbers);
}

/* Rows of neighbouring entries mostly have one owner. */
static inline int owner_near(const ownership *o, gidx row, int near) {
  return o->first[near] <= row && row < o->first[near + 1] ? near : ownership_owner(o, row);
}

static void count_owners(const entry_chunk *chunk, int words, int mirrors, const ownership *o,
                         int64_t *count) {
  int near = 0, far = 0;
  for (int64_t i = 0; i < chunk->count; i++) {
    const uint64_t *key = chunk->key + i * words;
    gidx row = key_row(key, words), column = key_column(key, words);
    near = owner_near(o, row, near);
    count[near]++;
    if (mirrors && row != column) {
      far = owner_near(o, column, far);
      count[far]++;
    }
  }
}

static void sort_by_owner(const entry_chunk *chunk, int words, text_symmetry symmetry,
                          const ownership *o, stage *s) {
  const double sign = symmetry == TEXT_SKEW ? -1.0 : 1.0;
  int near = 0, far = 0;
  for (int64_t i = 0; i < chunk->count; i++) {
    const uint64_t *key = chunk->key + i * words;
    gidx row = key_row(key, words), column = key_column(key, words);
    near = owner_near(o, row, near);
    int64_t at = s->cursor[near]++;
    memcpy(s->key + at * words, key, (size_t)words * sizeof *key);
    s->value[at] = chunk->value[i];
    if (symmetry != TEXT_GENERAL && row != column) {
      far = owner_near(o, column, far);
      at = s->cursor[far]++;
      key_put(s->key + at * words, words, column, row, 1);
      s->value[at] = sign * chunk->value[i];
    }
  }
}

/* Takes chunks off the store and sorts them into the stage. */
static status stage_fill(stage *s, entry_store *store, text_symmetry symmetry, const ownership *o,
                         int64_t round_bytes, int by_round) {
  status rc = STATUS_OK;
  const int words = store->words, mirrors = symmetry != TEXT_GENERAL;
  const int64_t entry_bytes = 8 * (words + 1) * (1 + mirrors);
  int64_t stored = 0;
  memset(s->count, 0, (size_t)o->size * sizeof *s->count);
  entry_chunk **end = &s->chunks;
  while (store->first != NULL) {
    int64_t bytes = (stored + store->first->count) * entry_bytes;
    if (!by_round && stored > 0 && bytes > round_bytes) break;
    entry_chunk *chunk = entry_store_take(store);
    chunk->next = NULL;
    *end = chunk;
    end = &chunk->next;
    stored += chunk->count;
    count_owners(chunk, words, mirrors, o, s->count);
    if (by_round && chunk->ends_segment) break;
  }
  s->entries = 0;
  for (int r = 0; r < o->size; r++) {
    s->cursor[r] = s->entries;
    s->entries += s->count[r];
  }
  TRY(stage_room(s, words));
  for (const entry_chunk *chunk = s->chunks; chunk != NULL; chunk = chunk->next) {
    sort_by_owner(chunk, words, symmetry, o, s);
  }
done:
  return rc;
}

static status add_round(dealt *d) {
  if (d->rounds == d->room) {
    int64_t room = 2 * d->room + 16;
    status rc = alloc_grow(&d->round, d->rounds, room, sizeof *d->round, "message list");
    if (rc != STATUS_OK) return rc;
    d->room = room;
  }
  memset(d->round + d->rounds, 0, sizeof *d->round);
  d->rounds++;
  return alloc_array(&d->round[d->rounds - 1].offset, d->size + 1, sizeof(int64_t), "message list");
}

/* Room for what arrives: `theirs` entries from each rank. */
static status receive_room(dealt *d, const int64_t *theirs) {
  status rc = STATUS_OK;
  TRY(add_round(d));
  deal_round *round = d->round + d->rounds - 1;
  round->offset[0] = 0;
  for (int r = 0; r < d->size; r++) round->offset[r + 1] = round->offset[r] + theirs[r];
  const int64_t entries = round->offset[d->size];
  TRY(alloc_array(&round->key, entries * d->words, sizeof *round->key, "entries"));
  TRY(alloc_array(&round->value, entries, sizeof *round->value, "entries"));
  d->entries += entries;
done:
  return rc;
}

/* Exchanges one array of the round; an entry has `bytes` bytes in it. */
static status exchange(comm *c, stage *s, const deal_round *round, int64_t bytes, const void *from,
                       void *to) {
  int64_t sent = 0;
  for (int r = 0; r < comm_size(c); r++) {
    s->send[r] = s->count[r] * bytes;
    s->send_at[r] = sent;
    sent += s->send[r];
    s->take[r] = (round->offset[r + 1] - round->offset[r]) * bytes;
    s->take_at[r] = round->offset[r] * bytes;
  }
  return comm_exchange(c, from, s->send, s->send_at, to, s->take, s->take_at);
}

/* One rank, nothing to mirror: the chunks are what would arrive. */
static status keep_chunks(entry_store *store, dealt *d) {
  while (store->first != NULL) {
    status rc = add_round(d);
    if (rc != STATUS_OK) return rc;
    entry_chunk *chunk = entry_store_take(store);
    deal_round *round = d->round + d->rounds - 1;
    round->offset[0] = 0;
    round->offset[1] = chunk->count;
    d->entries += chunk->count;
    round->key = chunk->key;
    round->value = chunk->value;
    chunk->key = NULL;
    chunk->value = NULL;
    entry_chunk_free(&chunk);
  }
  return STATUS_OK;
}

status deal_send(comm *c, entry_store *store, text_symmetry symmetry, const ownership *owned,
                 int64_t round_bytes, int by_round, dealt *out) {
  stage s;
  memset(out, 0, sizeof *out);
  out->words = store->words;
  out->size = comm_size(c);
  out->by_round = by_round;
  status rc = stage_open(&s, out->size);
  TRY(comm_agree(c, rc));
  if (out->size == 1 && symmetry == TEXT_GENERAL) TRY(comm_agree(c, keep_chunks(store, out)));
  for (;;) {
    int64_t more = store->first != NULL;
    TRY(comm_max_i64(c, &more, 1));
    if (!more) break;
    rc = stage_fill(&s, store, symmetry, owned, round_bytes, by_round);
    TRY(comm_agree(c, rc));
    drop_chunks(&s); /* sorted: they go before room is made for what arrives */
    TRY(comm_transpose(c, s.count, s.take));
    rc = receive_room(out, s.take);
    TRY(comm_agree(c, rc));
    const deal_round *round = out->round + out->rounds - 1;
    TRY(exchange(c, &s, round, 8 * out->words, s.key, round->key));
    TRY(exchange(c, &s, round, 8, s.value, round->value));
  }
done:
  stage_close(&s);
  if (rc != STATUS_OK) dealt_release(out);
  return rc;
}

void dealt_release(dealt *d) {
  for (int64_t k = 0; k < d->rounds; k++) {
    alloc_free(&d->round[k].key);
    alloc_free(&d->round[k].value);
    alloc_free(&d->round[k].offset);
  }
  alloc_free(&d->round);
  d->rounds = d->room = 0;
}

deal_piece deal_piece_at(const dealt *d, int64_t index) {
  int64_t k = d->by_round ? index / d->size : index % d->rounds;
  int64_t r = d->by_round ? index % d->size : index / d->rounds;
  const deal_round *round = d->round + k;
  int64_t begin = round->offset[r];
  return (deal_piece){round->key + begin * d->words,
                      round->value != NULL ? round->value + begin : NULL,
                      round->offset[r + 1] - begin};
}
