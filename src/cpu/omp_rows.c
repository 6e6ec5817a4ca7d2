/* The rows of a tile times x, in whatever form the tile is kept (sell.h, pattern.h, CSR); the order
 * inside a row is that of row_product.h. Entries stream from memory, x comes from caches.
 *
 * A tile of shapes is cut into runs of rows of one shape: in a run the k-th columns advance by one
 * and the k-th values are the same, so that x is read in straight loads and a value stays in a
 * register. Short runs are done row by row. */
#include "omp_team.h"

#include <string.h>

#include "lanes.h"

/* ---- slices, long rows ---- */

#define REAL       double
#define LANE_TYPE  lanes
#define LANE(name) lanes_##name
#define ROW(name)  row_##name
#define NAMED(f)   f
#include "omp_slices.def"

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

static inline void tile_rows(const matrix *m, lidx tile, const double *x, double *out,
                             int absolute) {
  if (sell_has_shapes(&m->s, tile)) {
    shape_rows(&m->s.shapes, tile, x, out, absolute);
  } else if (m->rows.offset != NULL) {
    csr_tile(&m->rows, tile, x, out, absolute);
  } else {
    if (m->s.level == SELL_PACKED) {
      packed_rows(&m->s, tile, x, out, absolute);
    } else {
      sell_rows(&m->s, m->s.value, tile, x, out, absolute);
    }
    tile_long_rows(m, m->s.long_value, m->segment_sum, tile, x, out, absolute);
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
