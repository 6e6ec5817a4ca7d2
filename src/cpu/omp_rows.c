/* The rows of a tile times x, in whatever form the tile is kept (sell.h, pattern.h, CSR); the order
 * inside a row is that of row_product.h. Entries stream from memory, x comes from caches.
 *
 * A tile of shapes is cut into runs of rows of one shape: in a run the k-th columns advance by one
 * and the k-th values are the same, so that x is read in straight loads and a value stays in a
 * register. Short runs are done row by row. */
#include "omp_team.h"

#include <string.h>

#include "lanes.h"

/* Bytes ahead of use at which values are asked for: left to itself the processor loses them among
 * the dozen streams of a sweep (0.8 of the time with it; none gained on gathered slices, measured).
 */
enum { AHEAD = 2048 };

/* ---- slices ---- */

/* Entry `at` of narrow or wide storage. `bytes` is a constant where speed matters. */
static inline double value_of(const void *value, int bytes, const double *table, int at) {
  if (bytes == 8) return ((const double *)value)[at];
  if (bytes == 4) return (double)((const float *)value)[at];
  return table[bytes == 2 ? ((const uint16_t *)value)[at] : ((const uint8_t *)value)[at]];
}

static inline lidx column_of(const void *column, int bytes, int at) {
  if (bytes == 4) return ((const lidx *)column)[at];
  return bytes == 2 ? ((const uint16_t *)column)[at] : ((const uint8_t *)column)[at];
}

static inline lanes value_lanes(const void *value, int bytes, const double *table, int at) {
  if (bytes == 8) return lanes_load((const double *)value + at);
  if (bytes == 4) return lanes_widen((const float *)value + at);
  if (bytes == 2) return lanes_pick2(table, (const uint16_t *)value + at);
  return lanes_pick1(table, (const uint8_t *)value + at);
}

static inline lanes column_lanes(const double *x, const void *column, int bytes, int at) {
  if (bytes == 4) return lanes_pick(x, (const lidx *)column + at);
  if (bytes == 2) return lanes_pick2(x, (const uint16_t *)column + at);
  return lanes_pick1(x, (const uint8_t *)column + at);
}

/* One slice: its storage, and x moved by its base. */
typedef struct slice {
  const void *value, *column;
  const double *table, *x;
  const unsigned char *length; /* of its lanes; unread where they are even */
  int longest, even;
} slice;

/* Any columns: x picked one by one. */
static inline void gather(const slice *s, int values, int columns, double *sum, int absolute) {
  const int shortest = s->even ? s->longest : s->length[LANES - 1];
  lanes all = lanes_zero();
  for (int k = 0; k < shortest; k++) {
    const lanes a = value_lanes(s->value, values, s->table, k * LANES);
    all = lanes_term(a, column_lanes(s->x, s->column, columns, k * LANES), all, absolute);
  }
  lanes_store(sum, all);
  for (int k = shortest; k < s->longest; k++) {
    for (int l = 0; k < s->length[l]; l++) { /* lengths fall; ends before lane LANES - 1 */
      const double a = value_of(s->value, values, s->table, k * LANES + l);
      sum[l] = row_term(a, s->x[column_of(s->column, columns, k * LANES + l)], sum[l], absolute);
    }
  }
}

static inline void gather_columns(const slice *s, int values, int columns, double *sum,
                                  int absolute) {
  if (columns == 4) {
    gather(s, values, 4, sum, absolute);
  } else if (columns == 2) {
    gather(s, values, 2, sum, absolute);
  } else {
    gather(s, values, 1, sum, absolute);
  }
}

static inline void slice_gather(const slice *s, int kind, double *sum, int absolute) {
  const int columns = column_bytes(kind), values = value_bytes(kind);
  if (values == 8) {
    gather_columns(s, 8, columns, sum, absolute);
  } else if (values == 4) {
    gather_columns(s, 4, columns, sum, absolute);
  } else if (values == 2) {
    gather_columns(s, 2, columns, sum, absolute);
  } else {
    gather_columns(s, 1, columns, sum, absolute);
  }
}

/* Columns advance by one from lane to lane: x in straight loads. */
static inline lanes run(const slice *s, int values, int columns, int absolute) {
  lanes sum = lanes_zero();
  for (int k = 0; k < s->longest; k++) {
    lanes_prefetch((const char *)s->value + k * LANES * values, AHEAD);
    const lanes a = value_lanes(s->value, values, s->table, k * LANES);
    sum = lanes_term(a, lanes_load(s->x + column_of(s->column, columns, k)), sum, absolute);
  }
  return sum;
}

static inline lanes slice_run(const slice *s, int kind, int absolute) {
  const int columns = column_bytes(kind), values = value_bytes(kind);
  if (values == 8 && columns == 4) return run(s, 8, 4, absolute);
  if (values == 8) return run(s, 8, columns, absolute);
  if (values == 4) return run(s, 4, columns, absolute);
  return values == 2 ? run(s, 2, columns, absolute) : run(s, 1, columns, absolute);
}

/* And one value for all lanes. */
static inline lanes slice_constant(const slice *s, int kind, int absolute) {
  const int columns = column_bytes(kind), values = value_bytes(kind);
  lanes sum = lanes_zero();
  for (int k = 0; k < s->longest; k++) {
    const double a = value_of(s->value, values, s->table, k);
    const lanes x = lanes_load(s->x + column_of(s->column, columns, k));
    sum = lanes_term(lanes_all(a), x, sum, absolute);
  }
  return sum;
}

/* `out` is nobody else's: said, so that the pointers of s stay in registers across its stores. */
static inline void sell_rows(const sell *s, lidx tile, const double *restrict x,
                             double *restrict out, int absolute) {
  const lidx begin = sell_slice_begin(s, tile), end = sell_slice_end(s, tile);
  const unsigned char *restrict kinds = s->kind, *restrict longest = s->longest;
  const unsigned char *restrict first_place = s->first_place, *restrict places = s->place;
  const lidx *restrict bases = s->base;
  const sell_level level = s->level;
  slice one = {.value = s->value + s->value_at[begin],
               .column = s->column + s->column_at[begin],
               .table = s->table,
               .x = x};
  for (lidx i = begin; i < end; i++) {
    const int kind = kinds[i], shape = slice_shape(kind);
    one.longest = longest[i];
    if (level == SELL_PACKED) one.x = x + bases[i];
    if (shape == SLICE_CONSTANT) {
      lanes_store(out + first_place[i], slice_constant(&one, kind, absolute));
    } else if (shape == SLICE_RUN) {
      lanes_store(out + first_place[i], slice_run(&one, kind, absolute));
    } else {
      double sum[LANES];
      const unsigned char *place = places + (int64_t)i * LANES;
      one.length = s->length + (int64_t)i * LANES;
      one.even = kind & SLICE_EVEN;
      slice_gather(&one, kind, sum, absolute);
      if (one.even) {
        for (int l = 0; l < LANES; l++) out[first_place[i] + l] = sum[l];
      } else {
        for (int l = 0; l < LANES; l++) out[place[l]] = sum[l];
      }
    }
    one.value = (const double *)one.value + slice_values(level, kind, LANES, one.longest);
    one.column = (const lidx *)one.column + slice_columns(level, kind, LANES, one.longest);
  }
}

/* ---- shapes ----
 * One or two bytes of matrix a row; about a cycle an entry of eight rows in runs, two an entry of
 * one row outside of them. */

/* The first row after j, below n, whose code is not `code`: eight bytes at a time. */
static inline lidx run_end1(const uint8_t *codes, lidx j, lidx n, uint8_t code) {
  const uint64_t all = code * UINT64_C(0x0101010101010101);
  for (; j + 8 <= n; j += 8) {
    uint64_t word;
    memcpy(&word, codes + j, sizeof word);
    if (word != all) return j + __builtin_ctzll(word ^ all) / 8;
  }
  while (j < n && codes[j] == code) j++;
  return j;
}

static inline lidx run_end2(const uint16_t *codes, lidx j, lidx n, uint16_t code) {
  while (j < n && codes[j] == code) j++;
  return j;
}

/* Rows [j, n) of one shape, at least LANES of them; x and out at the tile's first row. The last
 * lanes may make rows a second time. */
static inline void shape_run(const double *value, const lidx *offset, lidx count, const double *x,
                             double *restrict out, lidx j, lidx n, int absolute) {
  for (; j + 2 * LANES <= n; j += 2 * LANES) {
    lanes low = lanes_zero(), high = lanes_zero();
    for (lidx k = 0; k < count; k++) {
      const lanes a = lanes_all(value[k]);
      const double *at = x + j + offset[k];
      low = lanes_term(a, lanes_load(at), low, absolute);
      high = lanes_term(a, lanes_load(at + LANES), high, absolute);
    }
    lanes_store(out + j, low);
    lanes_store(out + j + LANES, high);
  }
  while (j < n) {
    if (j > n - LANES) j = n - LANES;
    lanes sum = lanes_zero();
    for (lidx k = 0; k < count; k++) {
      sum = lanes_term(lanes_all(value[k]), lanes_load(x + j + offset[k]), sum, absolute);
    }
    lanes_store(out + j, sum);
    j += LANES;
  }
}

static inline void shape_rows(const row_pattern *p, lidx tile, const double *restrict x,
                              double *restrict out, int absolute) {
  const lidx begin = tile * TILE, n = tile_end(tile, p->rows) - begin;
  const double *here = x + begin;
  for (lidx j = 0, end; j < n; j = end) {
    const lidx code = pattern_code(p, begin + j), first = p->first[code];
    const lidx count = p->first[code + 1] - first;
    const double *value = p->value + first;
    const lidx *offset = p->offset + first;
    end = p->code1 != NULL ? run_end1(p->code1 + begin, j, n, (uint8_t)code)
                           : run_end2(p->code2 + begin, j, n, (uint16_t)code);
    if (end - j >= LANES) {
      shape_run(value, offset, count, here, out, j, end, absolute);
      continue;
    }
    for (lidx i = j; i < end; i++) {
      double sum = 0.0;
      for (lidx k = 0; k < count; k++) {
        sum = row_term(value[k], here[i + offset[k]], sum, absolute);
      }
      out[i] = sum;
    }
  }
}

/* ---- CSR ---- */

static inline void csr_tile(const csr_block *a, lidx tile, const double *restrict x,
                            double *restrict out, int absolute) {
  const lidx begin = tile * TILE, n = tile_end(tile, a->rows) - begin;
  for (lidx j = 0; j < n; j++) {
    const eidx from = a->offset[begin + j], count = a->offset[begin + j + 1] - from;
    out[j] = row_product(a->value + from, a->column + from, count, x, absolute);
  }
}

/* ---- tiles ---- */

/* The long rows of a tile, into their places. */
static void tile_long_rows(const matrix *m, lidx tile, const double *x, double *out, int absolute) {
  const sell *s = &m->s;
  for (lidx i = s->long_first[tile]; i < s->long_first[tile + 1]; i++) {
    const eidx begin = s->long_offset[i], count = s->long_offset[i + 1] - begin;
    double sum = 0.0;
    if (row_segments(count) == 0) {
      sum = row_product(s->long_value + begin, s->long_column + begin, count, x, absolute);
    } else {
      const double *partial = m->segment_sum + (absolute ? m->segments : 0);
      for (lidx j = m->first_segment[i]; j < m->first_segment[i + 1]; j++) sum += partial[j];
    }
    out[s->long_row[i] - tile * SELL_TILE] = sum;
  }
}

static inline void tile_rows(const matrix *m, lidx tile, const double *x, double *out,
                             int absolute) {
  if (sell_has_shapes(&m->s, tile)) {
    shape_rows(&m->s.shapes, tile, x, out, absolute);
  } else if (m->rows.offset != NULL) {
    csr_tile(&m->rows, tile, x, out, absolute);
  } else {
    sell_rows(&m->s, tile, x, out, absolute);
    tile_long_rows(m, tile, x, out, absolute);
  }
}

void tile_product(const matrix *m, lidx tile, const double *x, double *out) {
  tile_rows(m, tile, x, out, 0);
}

void tile_product_absolute(const matrix *m, lidx tile, const double *x, double *out) {
  tile_rows(m, tile, x, out, 1);
}

void segment_product(const matrix *m, lidx which, const double *x, int absolute) {
  const segment *g = &m->segment[which];
  const eidx begin = m->s.long_offset[g->row], count = m->s.long_offset[g->row + 1] - begin;
  const double *value = m->s.long_value + begin;
  const lidx *column = m->s.long_column + begin;
  if (absolute) {
    m->segment_sum[m->segments + which] = row_segment(value, column, count, g->number, x, 1);
  } else {
    m->segment_sum[which] = row_segment(value, column, count, g->number, x, 0);
  }
}

const double *tile_weights(const matrix *m, lidx tile, const double *weight, double *room) {
  if (weight == NULL || weight != m->weighed || !sell_has_shapes(&m->s, tile)) {
    return weight == NULL ? NULL : weight + tile * TILE;
  }
  const row_pattern *p = &m->s.shapes;
  const lidx begin = tile * TILE, n = tile_end(tile, p->rows) - begin;
  if (m->one_weight != NULL) return m->one_weight;
  for (lidx j = 0; j < n; j++) room[j] = m->shape_weight[pattern_code(p, begin + j)];
  return room;
}
