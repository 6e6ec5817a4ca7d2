/* The rows of a tile of packed slices (sell.h) times x: columns and values are widened as they are
 * read, everything else is as in omp_rows.c. Slices are read one after the other: of an even one
 * seven bytes say where and what it is. Each pair of widths that is frequent in inner loops is a
 * loop of its own. */
#include "lanes.h"
#include "omp_team.h"

enum { AHEAD = 2048 }; /* as in omp_rows.c */

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
  if (columns == 4) return run(s, values, 4, absolute);
  return columns == 2 ? run(s, values, 2, absolute) : run(s, values, 1, absolute);
}

/* And one value for all lanes. */
static inline lanes constant(const slice *s, int values, int columns, int absolute) {
  lanes sum = lanes_zero();
  for (int k = 0; k < s->longest; k++) {
    const double a = value_of(s->value, values, s->table, k);
    const lanes x = lanes_load(s->x + column_of(s->column, columns, k));
    sum = lanes_term(lanes_all(a), x, sum, absolute);
  }
  return sum;
}

static inline lanes slice_constant(const slice *s, int kind, int absolute) {
  const int columns = column_bytes(kind), values = value_bytes(kind);
  if (values == 1 && columns == 2) return constant(s, 1, 2, absolute);
  return constant(s, values, columns, absolute);
}

/* `out` is nobody else's: said, so that the pointers of s stay in registers across its stores.
 */
static inline void all_rows(const sell *s, lidx tile, const double *restrict x,
                            double *restrict out, int absolute) {
  const lidx begin = sell_slice_begin(s, tile), end = sell_slice_end(s, tile);
  const unsigned char *restrict kinds = s->kind, *restrict longest = s->longest;
  const unsigned char *restrict first_place = s->first_place;
  const unsigned char *restrict lengths = s->length, *restrict places = s->place;
  const lidx *restrict bases = s->base;
  const sell_level level = SELL_PACKED;
  const char *value = (const char *)(s->value + s->value_at[begin]);
  const char *column = (const char *)(s->column + s->column_at[begin]);
  slice one = {.table = s->table, .x = x};
  for (lidx i = begin; i < end; i++) {
    const int shape = slice_shape(kinds[i]), n = longest[i];
    const int kind = kinds[i];
    double *to = out + first_place[i];
    one.value = value;
    one.column = column;
    one.longest = n;
    one.x = x + bases[i];
    if (shape == SLICE_CONSTANT) {
      lanes_store(to, slice_constant(&one, kind, absolute));
      value += slice_values(level, kind, LANES, n) * 8;
      column += slice_columns(level, kind, LANES, n) * 4;
    } else if (shape == SLICE_RUN) {
      lanes_store(to, slice_run(&one, kind, absolute));
      value += slice_values(level, kind, LANES, n) * 8;
      column += slice_columns(level, kind, LANES, n) * 4;
    } else {
      double sum[LANES];
      const unsigned char *place = places + (int64_t)i * LANES;
      one.length = lengths + (int64_t)i * LANES;
      one.even = kinds[i] & SLICE_EVEN;
      slice_gather(&one, kind, sum, absolute);
      if (one.even) {
        for (int l = 0; l < LANES; l++) to[l] = sum[l];
      } else {
        for (int l = 0; l < LANES; l++) out[place[l]] = sum[l];
      }
      value += slice_values(level, kind, LANES, n) * 8;
      column += slice_columns(level, kind, LANES, n) * 4;
    }
  }
}

void packed_rows(const sell *s, lidx tile, const double *x, double *out, int absolute) {
  if (absolute) {
    all_rows(s, tile, x, out, 1);
  } else {
    all_rows(s, tile, x, out, 0);
  }
}
