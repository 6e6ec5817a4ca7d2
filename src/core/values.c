/* Finding distinct values (values.h): CHUNKS fixed parts of the rows, each with a set of its own,
 * brought together in their order, so that threads change nothing. Sets are tables of open
 * addressing with linear probing, never more than half full. */
#include "values.h"

#include <string.h>

#include "alloc.h"
#include "row_product.h"
#include "team.h"

enum { TILE_ROWS = 256, CHUNKS = 16, SLOTS_FIRST = 512, SAMPLE = 4096 };

static lidx slot_of(const values *v, double x) {
  uint64_t h = bits_of(x) * UINT64_C(0x9e3779b97f4a7c15);
  h ^= h >> 32;
  lidx at = (lidx)(h & (uint64_t)(v->slots - 1));
  while (v->slot[at] != 0 && bits_of(v->value[v->slot[at] - 1]) != bits_of(x)) {
    at = (at + 1) & (v->slots - 1);
  }
  return at;
}

lidx values_number(const values *v, double x) { return v->slot[slot_of(v, x)] - 1; }

void values_release(values *v) {
  alloc_free(&v->value);
  alloc_free(&v->slot);
  memset(v, 0, sizeof *v);
}

static status grow(values *v) {
  status rc = STATUS_OK;
  const lidx slots = v->slots == 0 ? SLOTS_FIRST : 2 * v->slots;
  alloc_free(&v->slot);
  TRY(alloc_zeroed(&v->slot, slots, sizeof *v->slot, "distinct values"));
  TRY(alloc_grow(&v->value, v->count, slots / 2, sizeof *v->value, "distinct values"));
  v->slots = slots;
  for (lidx k = 0; k < v->count; k++) v->slot[slot_of(v, v->value[k])] = k + 1;
done:
  return rc;
}

static status insert(values *v, double x) {
  if (2 * (v->count + 1) > v->slots) {
    const status rc = grow(v);
    if (rc != STATUS_OK) return rc;
  }
  const lidx at = slot_of(v, x);
  if (v->slot[at] == 0) {
    v->value[v->count++] = x;
    v->slot[at] = v->count;
  }
  return STATUS_OK;
}

typedef struct search {
  const csr_block *a;
  const unsigned char *skip;
  lidx tiles;
  int chunks;
  values chunk[CHUNKS];
  int64_t entries[CHUNKS];
  status failed[CHUNKS];
} search;

static lidx chunk_tile(const search *s, int chunk) {
  return (lidx)((int64_t)s->tiles * chunk / s->chunks);
}

static lidx row_end(const csr_block *a, lidx tile) {
  return a->rows - tile * TILE_ROWS < TILE_ROWS ? a->rows : (tile + 1) * TILE_ROWS;
}

static status look_at_row(const csr_block *a, lidx i, values *v, int64_t *entries) {
  if (a->offset[i + 1] - a->offset[i] > ROW_CHAIN) return STATUS_OK;
  for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
    const status rc = insert(v, a->value[e]);
    if (rc != STATUS_OK) return rc;
  }
  *entries += a->offset[i + 1] - a->offset[i];
  return STATUS_OK;
}

static status look_at_chunk(search *s, int c) {
  status rc = STATUS_OK;
  values *v = &s->chunk[c];
  for (lidx t = chunk_tile(s, c); t < chunk_tile(s, c + 1); t++) {
    if (s->skip != NULL && s->skip[t]) continue;
    for (lidx i = t * TILE_ROWS; i < row_end(s->a, t) && v->count <= VALUES_MOST; i++) {
      TRY(look_at_row(s->a, i, v, &s->entries[c]));
    }
  }
done:
  return rc;
}

static void look_at_chunks(void *context, int part, int64_t begin, int64_t end) {
  search *s = context;
  (void)part;
  for (int c = 0; c < s->chunks; c++) {
    const int64_t row = (int64_t)chunk_tile(s, c) * TILE_ROWS;
    if (row >= begin && row < end) s->failed[c] = look_at_chunk(s, c);
  }
}

/* Whether values repeat among a sample of the tiles' first rows. */
static status values_repeat(const search *s, int *out) {
  status rc = STATUS_OK;
  values v = {0};
  int64_t entries = 0;
  const lidx step = s->tiles / 64 + 1;
  for (lidx j = 0; j < TILE_ROWS && entries < SAMPLE; j++) {
    for (lidx t = 0; t < s->tiles && entries < SAMPLE; t += step) {
      if (s->skip != NULL && s->skip[t]) continue;
      if (t * TILE_ROWS + j >= s->a->rows) continue;
      TRY(look_at_row(s->a, t * TILE_ROWS + j, &v, &entries));
    }
  }
  *out = entries < SAMPLE || 64 * (int64_t)v.count <= 63 * entries;
done:
  values_release(&v);
  return rc;
}

status values_create(int threads, const csr_block *a, const unsigned char *skip, values *out) {
  status rc = STATUS_OK;
  int repeat;
  int64_t entries = 0;
  search s = {.a = a, .skip = skip};
  memset(out, 0, sizeof *out);
  s.tiles = a->rows / TILE_ROWS + (a->rows % TILE_ROWS != 0);
  s.chunks = s.tiles < CHUNKS ? (int)s.tiles : CHUNKS;
  TRY(values_repeat(&s, &repeat));
  out->distinct = VALUES_MOST + 1;
  if (!repeat) goto done;
  team_for(threads, a->rows, look_at_chunks, &s);
  for (int c = 0; c < s.chunks; c++) TRY(s.failed[c]);
  for (int c = 0; c < s.chunks; c++) {
    for (lidx k = 0; k < s.chunk[c].count && out->count <= VALUES_MOST; k++) {
      TRY(insert(out, s.chunk[c].value[k]));
    }
    entries += s.entries[c];
  }
  out->distinct = out->count;
  if (out->count > VALUES_MOST || VALUES_REPEAT * (int64_t)out->count > entries) out->count = 0;
done:
  for (int c = 0; c < CHUNKS; c++) values_release(&s.chunk[c]);
  if (rc != STATUS_OK) values_release(out);
  return rc;
}
