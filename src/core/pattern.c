/* Finding row shapes (pattern.h): CHUNKS fixed parts of the rows, each with a dictionary of its own
 * (open addressing, linear probing), are brought together in their order, so that threads change
 * nothing. A dictionary holds no rows, only where the first of a shape is. */
#include "pattern.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "row_product.h"
#include "team.h"

enum {
  TILE_ROWS = 256,
  CHUNKS = 64,
  CHUNK_LEAST = 16,   /* tiles */
  SLOTS_FIRST = 1024, /* of a dictionary; doubled when half full */
  SAMPLE_TILES = 16,
  NONE = 0xffff /* the number of a row that has no shape here; above PATTERN_SHAPES */
};

/* Shapes by the first row that has them. */
typedef struct shape {
  uint64_t hash;
  lidx row;   /* the first that has it */
  lidx count; /* rows */
} shape;

typedef struct dictionary {
  shape *shape; /* [room] in order of first use */
  lidx *slot;   /* [slots] 1 + number of a shape; 0: free */
  lidx shapes, room, slots;
  int full; /* a shape found no room: there are more than PATTERN_SHAPES */
} dictionary;

void pattern_release(row_pattern *p) {
  alloc_free(&p->fits);
  alloc_free(&p->code1);
  alloc_free(&p->code2);
  alloc_free(&p->first);
  alloc_free(&p->offset);
  alloc_free(&p->value);
  alloc_free(&p->rows_of);
  memset(p, 0, sizeof *p);
}

static lidx row_end(const row_pattern *p, lidx tile) {
  return p->rows - tile * TILE_ROWS < TILE_ROWS ? p->rows : (tile + 1) * TILE_ROWS;
}

/* ---- shapes of rows ---- */

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

static uint64_t row_hash(const csr_block *a, lidx i) {
  uint64_t h = (uint64_t)(a->offset[i + 1] - a->offset[i]);
  for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
    h = mix(h, (uint64_t)((gidx)a->column[e] - i));
    h = mix(h, bits_of(a->value[e]));
  }
  return h;
}

static int same_shape(const csr_block *a, lidx i, lidx j) {
  const eidx n = a->offset[i + 1] - a->offset[i], x = a->offset[i], y = a->offset[j];
  if (a->offset[j + 1] - y != n) return 0;
  for (eidx k = 0; k < n; k++) {
    if (a->column[x + k] - i != a->column[y + k] - j) return 0;
    if (bits_of(a->value[x + k]) != bits_of(a->value[y + k])) return 0;
  }
  return 1;
}

/* ---- dictionaries ---- */

static void dictionary_release(dictionary *d) {
  alloc_free(&d->shape);
  alloc_free(&d->slot);
}

/* Twice the slots; the shapes there find their places anew. */
static status dictionary_grow(dictionary *d) {
  status rc = STATUS_OK;
  const lidx slots = d->slots == 0 ? SLOTS_FIRST : 2 * d->slots;
  alloc_free(&d->slot);
  TRY(alloc_zeroed(&d->slot, slots, sizeof *d->slot, "row shapes"));
  TRY(alloc_grow(&d->shape, d->shapes, slots / 2, sizeof *d->shape, "row shapes"));
  d->slots = slots;
  d->room = slots / 2;
  for (lidx s = 0; s < d->shapes; s++) {
    lidx at = (lidx)(d->shape[s].hash & (uint64_t)(slots - 1));
    while (d->slot[at] != 0) at = (at + 1) & (slots - 1);
    d->slot[at] = s + 1;
  }
done:
  return rc;
}

/* The number of the shape of row i, new or known; NONE when there is no room for a new one. */
static status dictionary_find(dictionary *d, const csr_block *a, lidx i, uint64_t hash, lidx limit,
                              lidx *out) {
  if (d->shapes == d->room) {
    const status rc = dictionary_grow(d);
    if (rc != STATUS_OK) return rc;
  }
  lidx at = (lidx)(hash & (uint64_t)(d->slots - 1));
  for (; d->slot[at] != 0; at = (at + 1) & (d->slots - 1)) {
    const lidx s = d->slot[at] - 1;
    if (d->shape[s].hash == hash && same_shape(a, d->shape[s].row, i)) {
      *out = s;
      return STATUS_OK;
    }
  }
  *out = NONE;
  if (d->shapes >= limit) {
    d->full = 1;
    return STATUS_OK;
  }
  d->shape[d->shapes] = (shape){hash, i, 0};
  d->slot[at] = ++d->shapes;
  *out = d->shapes - 1;
  return STATUS_OK;
}

/* ---- looking at the rows ---- */

typedef struct search {
  const csr_block *a;
  row_pattern *p;
  uint16_t *number; /* [rows] in the chunk's dictionary, then in the table */
  int chunks;
  dictionary chunk[CHUNKS];
  lidx *renamed[CHUNKS]; /* number in the chunk's dictionary -> in all, -> in the table or NONE */
  status failed[CHUNKS];
  dictionary all;
  const double *x; /* pattern_learn */
  double *by_shape;
  int differs[CHUNKS];
} search;

/* A few tiles spread unevenly over the rows: whether their rows repeat. */
static status rows_repeat(search *s, int *out) {
  status rc = STATUS_OK;
  dictionary d = {0};
  const lidx tiles = s->p->tiles, looked = tiles < SAMPLE_TILES ? tiles : SAMPLE_TILES;
  lidx rows = 0, number;
  for (lidx k = 0; k < looked; k++) {
    const lidx from = (lidx)((int64_t)k * tiles / looked);
    const lidx width = (lidx)((int64_t)(k + 1) * tiles / looked) - from;
    const lidx t = from + (lidx)(mix(0, (uint64_t)k + 1) % (uint64_t)width);
    for (lidx i = t * TILE_ROWS; i < row_end(s->p, t); i++, rows++) {
      TRY(dictionary_find(&d, s->a, i, row_hash(s->a, i), SAMPLE_TILES * TILE_ROWS, &number));
    }
  }
  *out = 4 * (int64_t)d.shapes <= 3 * (int64_t)rows;
  s->p->distinct = d.shapes;
done:
  dictionary_release(&d);
  return rc;
}

static lidx chunk_begin(const search *s, int chunk) {
  return (lidx)((int64_t)s->p->tiles * chunk / s->chunks);
}

static lidx chunk_row(const search *s, int chunk) {
  return chunk < s->chunks ? chunk_begin(s, chunk) * TILE_ROWS : s->p->rows;
}

/* The chunk, at `c` or after it, whose first row is in a part's rows; `chunks` when there is none
 * left: threads share rows, and a chunk goes where its first row does. */
static int next_chunk(const search *s, int c, int64_t begin, int64_t end) {
  while (c < s->chunks && (chunk_row(s, c) < begin || chunk_row(s, c) >= end)) c++;
  return c;
}

static status look_at_chunk(search *s, int chunk) {
  status rc = STATUS_OK;
  const csr_block *a = s->a;
  dictionary *d = &s->chunk[chunk];
  const lidx begin = chunk_row(s, chunk), end = chunk_row(s, chunk + 1);
  for (lidx i = begin; i < end; i++) {
    lidx number = NONE;
    if (i > begin && s->number[i - 1] != NONE && same_shape(a, i - 1, i)) {
      number = s->number[i - 1];
    } else if (a->offset[i + 1] - a->offset[i] <= ROW_CHAIN) {
      TRY(dictionary_find(d, a, i, row_hash(a, i), PATTERN_SHAPES, &number));
    }
    s->number[i] = (uint16_t)number;
    if (number != NONE) d->shape[number].count++;
  }
done:
  return rc;
}

static void look_at_chunks(void *context, int part, int64_t begin, int64_t end) {
  search *s = context;
  (void)part;
  for (int c = next_chunk(s, 0, begin, end); c < s->chunks; c = next_chunk(s, c + 1, begin, end)) {
    s->failed[c] = look_at_chunk(s, c);
  }
}

static status first_failure(const search *s) {
  for (int c = 0; c < s->chunks; c++) {
    if (s->failed[c] != STATUS_OK) return s->failed[c];
  }
  return STATUS_OK;
}

/* The chunks' shapes together, in the order of chunks. */
static status merge(search *s) {
  status rc = STATUS_OK;
  for (int c = 0; c < s->chunks; c++) {
    const dictionary *d = &s->chunk[c];
    TRY(alloc_array(&s->renamed[c], d->shapes, sizeof **s->renamed, "row shapes"));
    for (lidx k = 0; k < d->shapes; k++) {
      lidx number;
      const shape *one = &d->shape[k];
      TRY(dictionary_find(&s->all, s->a, one->row, one->hash, LIDX_MAX, &number));
      s->all.shape[number].count += one->count;
      s->renamed[c][k] = number;
    }
    s->all.full |= d->full;
  }
  s->p->distinct = s->all.shapes;
  s->p->given_up = s->all.full;
done:
  return rc;
}

typedef struct ranked {
  lidx count, number;
} ranked;

static int by_falling_count(const void *x, const void *y) {
  const ranked *a = x, *b = y;
  if (a->count != b->count) return a->count < b->count ? 1 : -1;
  return a->number < b->number ? -1 : a->number > b->number;
}

/* keep[s] = 1 for the PATTERN_SHAPES most frequent. */
static status choose(const search *s, unsigned char *keep) {
  status rc = STATUS_OK;
  ranked *rank = NULL;
  const lidx shapes = s->all.shapes;
  for (lidx k = 0; k < shapes; k++) keep[k] = shapes <= PATTERN_SHAPES;
  if (shapes <= PATTERN_SHAPES) goto done;
  TRY(alloc_array(&rank, shapes, sizeof *rank, "row shapes"));
  for (lidx k = 0; k < shapes; k++) rank[k] = (ranked){s->all.shape[k].count, k};
  qsort(rank, (size_t)shapes, sizeof *rank, by_falling_count);
  for (lidx k = 0; k < PATTERN_SHAPES; k++) keep[rank[k].number] = 1;
done:
  alloc_free(&rank);
  return rc;
}

/* Which tiles fit, with numbers as in `all`; tables[number] becomes the shape's number in the
 * table. */
static lidx fit_tiles(search *s, const unsigned char *keep, lidx *table) {
  row_pattern *p = s->p;
  lidx shapes = 0;
  for (int c = 0; c < s->chunks; c++) {
    for (lidx t = chunk_begin(s, c); t < chunk_begin(s, c + 1); t++) {
      int alone = 0, fits = 1;
      const lidx begin = t * TILE_ROWS, end = row_end(p, t);
      for (lidx i = begin; i < end && fits; i++) {
        const lidx number = s->number[i] == NONE ? NONE : s->renamed[c][s->number[i]];
        fits = s->number[i] != NONE && keep[number];
        if (fits) alone += s->all.shape[number].count == 1;
        if (alone > PATTERN_ALONE) fits = 0;
      }
      p->fits[t] = (unsigned char)fits;
      if (!fits) continue;
      p->fit_tiles++;
      p->fit_rows += end - begin;
      for (lidx i = begin; i < end; i++) {
        lidx *to = &table[s->renamed[c][s->number[i]]];
        if (*to == NONE) *to = shapes++;
      }
    }
  }
  return shapes;
}

static void write_codes(void *context, int part, int64_t begin, int64_t end) {
  search *s = context;
  row_pattern *p = s->p;
  (void)part;
  for (int c = next_chunk(s, 0, begin, end); c < s->chunks; c = next_chunk(s, c + 1, begin, end)) {
    for (lidx t = chunk_begin(s, c); t < chunk_begin(s, c + 1); t++) {
      if (!p->fits[t]) continue;
      for (lidx i = t * TILE_ROWS; i < row_end(p, t); i++) {
        const lidx code = s->renamed[c][s->number[i]];
        if (p->code1 != NULL) {
          p->code1[i] = (uint8_t)code;
        } else {
          p->code2[i] = (uint16_t)code;
        }
      }
    }
  }
}

/* The table of the shapes that are used. */
static status write_table(search *s, const lidx *table) {
  status rc = STATUS_OK;
  row_pattern *p = s->p;
  const csr_block *a = s->a;
  lidx *row = NULL;
  TRY(alloc_array(&row, p->shapes, sizeof *row, "row shapes"));
  TRY(alloc_array(&p->first, (int64_t)p->shapes + 1, sizeof *p->first, "row shapes"));
  TRY(alloc_zeroed(&p->rows_of, p->shapes, sizeof *p->rows_of, "row shapes"));
  for (lidx k = 0; k < s->all.shapes; k++) {
    if (table[k] != NONE) row[table[k]] = s->all.shape[k].row;
  }
  p->first[0] = 0;
  for (lidx k = 0; k < p->shapes; k++) {
    p->first[k + 1] = p->first[k] + (lidx)(a->offset[row[k] + 1] - a->offset[row[k]]);
  }
  TRY(alloc_array(&p->offset, p->first[p->shapes], sizeof *p->offset, "row shapes"));
  TRY(alloc_array(&p->value, p->first[p->shapes], sizeof *p->value, "row shapes"));
  for (lidx k = 0; k < p->shapes; k++) {
    for (lidx e = p->first[k]; e < p->first[k + 1]; e++) {
      const eidx from = a->offset[row[k]] + (e - p->first[k]);
      p->offset[e] = a->column[from] - row[k];
      p->value[e] = a->value[from];
    }
  }
done:
  alloc_free(&row);
  return rc;
}

static status fill(search *s, int threads) {
  status rc = STATUS_OK;
  row_pattern *p = s->p;
  unsigned char *keep = NULL;
  lidx *table = NULL;
  TRY(alloc_array(&keep, s->all.shapes, 1, "row shapes"));
  TRY(alloc_array(&table, s->all.shapes, sizeof *table, "row shapes"));
  for (lidx k = 0; k < s->all.shapes; k++) table[k] = NONE;
  TRY(choose(s, keep));
  p->shapes = fit_tiles(s, keep, table);
  if (p->shapes == 0) goto done;
  TRY(write_table(s, table));
  for (int c = 0; c < s->chunks; c++) {
    for (lidx k = 0; k < s->chunk[c].shapes; k++) s->renamed[c][k] = table[s->renamed[c][k]];
  }
  const int64_t codes = (int64_t)p->tiles * TILE_ROWS;
  if (p->shapes <= 256) TRY(alloc_zeroed(&p->code1, codes, sizeof *p->code1, "row shapes"));
  if (p->shapes > 256) TRY(alloc_zeroed(&p->code2, codes, sizeof *p->code2, "row shapes"));
  team_for(threads, s->p->rows, write_codes, s);
  for (lidx t = 0; t < p->tiles; t++) {
    for (lidx i = t * TILE_ROWS; p->fits[t] && i < row_end(p, t); i++) {
      p->rows_of[pattern_code(p, i)]++;
    }
  }
done:
  alloc_free(&keep);
  alloc_free(&table);
  return rc;
}

static void search_chunks(search *s) {
  const lidx most = s->p->tiles / CHUNK_LEAST;
  s->chunks = most < 1 ? 1 : most > CHUNKS ? CHUNKS : (int)most;
}

status pattern_create(int threads, const csr_block *a, row_pattern *out) {
  status rc = STATUS_OK;
  int repeat;
  memset(out, 0, sizeof *out);
  out->rows = a->rows;
  out->columns = a->columns;
  out->tiles = a->rows / TILE_ROWS + (a->rows % TILE_ROWS != 0);
  search s = {.a = a, .p = out};
  search_chunks(&s);
  TRY(alloc_zeroed(&out->fits, out->tiles, 1, "row shapes"));
  TRY(rows_repeat(&s, &repeat));
  out->given_up = !repeat;
  if (!repeat || a->rows == 0) goto done;
  TRY(alloc_array(&s.number, a->rows, sizeof *s.number, "row shapes"));
  team_for(threads, s.p->rows, look_at_chunks, &s);
  TRY(first_failure(&s));
  TRY(merge(&s));
  TRY(fill(&s, threads));
done:
  for (int c = 0; c < CHUNKS; c++) {
    dictionary_release(&s.chunk[c]);
    alloc_free(&s.renamed[c]);
  }
  dictionary_release(&s.all);
  alloc_free(&s.number);
  if (rc != STATUS_OK) pattern_release(out);
  return rc;
}

int64_t pattern_bytes(const row_pattern *p) {
  if (p->shapes == 0) return 0;
  return (int64_t)p->fit_rows * (p->code1 != NULL ? 1 : 2) + ((int64_t)p->shapes + 1) * 4 +
         (int64_t)p->first[p->shapes] * 12;
}

static void compare_chunks(void *context, int part, int64_t begin, int64_t end) {
  search *s = context;
  const row_pattern *p = s->p;
  (void)part;
  for (int c = next_chunk(s, 0, begin, end); c < s->chunks; c = next_chunk(s, c + 1, begin, end)) {
    for (lidx t = chunk_begin(s, c); t < chunk_begin(s, c + 1); t++) {
      for (lidx i = t * TILE_ROWS; p->fits[t] && i < row_end(p, t); i++) {
        s->differs[c] |= bits_of(s->x[i]) != bits_of(s->by_shape[pattern_code(p, i)]);
      }
    }
  }
}

int pattern_learn(int threads, const row_pattern *p, const double *x, double *by_shape) {
  row_pattern view = *p;
  search s = {.p = &view, .x = x, .by_shape = by_shape};
  lidx known = 0;
  search_chunks(&s);
  if (p->shapes == 0) return 0;
  /* shapes are numbered by first use: a code met for the first time is the next number */
  for (lidx t = 0; t < p->tiles && known < p->shapes; t++) {
    for (lidx i = t * TILE_ROWS; p->fits[t] && i < row_end(p, t); i++) {
      if (pattern_code(p, i) == known) by_shape[known++] = x[i];
    }
  }
  team_for(threads, s.p->rows, compare_chunks, &s);
  for (int c = 0; c < s.chunks; c++) {
    if (s.differs[c]) return 0;
  }
  return 1;
}
