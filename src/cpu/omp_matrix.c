/* Storage of the OpenMP backend: SELL-8 with packed slices (sell.h), cut into runs of tiles of
 * equal traffic, one per worker. Rows above 8192 entries are cut further, into their segments,
 * which all threads share whatever tile they belong to: one dense row does not hold up its owner.
 *
 * The order inside a row is that of row_product.h whatever the form of a slice. */
#include "omp_team.h"

#include <string.h>

#include "alloc.h"
#include "lanes.h"

/* Bytes of a row besides its entries that a sweep moves (x, b, weight, next), and of an entry: what
 * the split over threads balances. */
enum { ROW_BYTES = 40, ENTRY_BYTES = 12 };

/* Any columns. 96 bytes for an entry of all lanes, x picked one by one. */
static inline void slice_gather(const double *value, const lidx *column,
                                const unsigned char *length, const double *x, double *sum,
                                int absolute) {
  const int shortest = length[LANES - 1], longest = length[0];
  lanes all = lanes_zero();
  for (int k = 0; k < shortest; k++, value += LANES, column += LANES) {
    all = lanes_term(lanes_load(value), lanes_pick(x, column), all, absolute);
  }
  lanes_store(sum, all);
  for (int k = shortest; k < longest; k++, value += LANES, column += LANES) {
    for (int l = 0; k < length[l]; l++) { /* lengths fall; ends before lane LANES - 1 */
      sum[l] = row_term(value[l], x[column[l]], sum[l], absolute);
    }
  }
}

/* Bytes ahead of use at which values are asked for: left to itself the processor loses them among
 * the dozen streams of a sweep (0.8 of the time with it; none gained on gathered slices, measured).
 */
enum { AHEAD = 2048 };

/* Columns advance by one from lane to lane: 68 bytes an entry of all lanes, x in straight loads. */
static inline lanes slice_run(const double *value, const lidx *column, int length, const double *x,
                              int absolute) {
  lanes sum = lanes_zero();
  for (int k = 0; k < length; k++) {
    lanes_prefetch(value + k * LANES, AHEAD);
    sum = lanes_term(lanes_load(value + k * LANES), lanes_load(x + column[k]), sum, absolute);
  }
  return sum;
}

/* And one value for all lanes: 12 bytes. */
static inline lanes slice_constant(const double *value, const lidx *column, int length,
                                   const double *x, int absolute) {
  lanes sum = lanes_zero();
  for (int k = 0; k < length; k++) {
    sum = lanes_term(lanes_all(value[k]), lanes_load(x + column[k]), sum, absolute);
  }
  return sum;
}

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

/* `out` is nobody else's: said, so that the pointers of s stay in registers across its stores. */
static inline void tile_rows(const sell *s, lidx tile, const double *restrict x,
                             double *restrict out, int absolute) {
  const lidx begin = sell_slice_begin(s, tile), end = sell_slice_end(s, tile);
  const unsigned char *restrict kind = s->kind;
  const unsigned char *restrict length = s->length + (int64_t)begin * LANES;
  const unsigned char *restrict place = s->place + (int64_t)begin * LANES;
  const eidx *restrict value_at = s->value_at, *restrict column_at = s->column_at;
  const double *restrict values = s->value;
  const lidx *restrict columns = s->column;
  for (lidx i = begin; i < end; i++, length += LANES, place += LANES) {
    const double *value = values + value_at[i];
    const lidx *column = columns + column_at[i];
    if (kind[i] == SLICE_CONSTANT) {
      lanes_store(out + place[0], slice_constant(value, column, length[0], x, absolute));
    } else if (kind[i] == SLICE_RUN) {
      lanes_store(out + place[0], slice_run(value, column, length[0], x, absolute));
    } else {
      double sum[LANES];
      slice_gather(value, column, length, x, sum, absolute);
      for (int l = 0; l < LANES; l++) out[place[l]] = sum[l];
    }
  }
}

void tile_product(const matrix *m, lidx tile, const double *x, double *out) {
  tile_rows(&m->s, tile, x, out, 0);
  tile_long_rows(m, tile, x, out, 0);
}

void tile_product_absolute(const matrix *m, lidx tile, const double *x, double *out) {
  tile_rows(&m->s, tile, x, out, 1);
  tile_long_rows(m, tile, x, out, 1);
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

/* Traffic of tile t; entries of segmented rows are everybody's. */
static int64_t tile_bytes(const csr_block *a, lidx t) {
  const lidx begin = t * TILE, end = tile_end(t, a->rows);
  int64_t entries = a->offset[end] - a->offset[begin];
  for (lidx i = begin; i < end && entries > ROW_SEGMENTED; i++) {
    const eidx n = a->offset[i + 1] - a->offset[i];
    if (row_segments(n) > 0) entries -= n;
  }
  return entries * ENTRY_BYTES + (int64_t)(end - begin) * ROW_BYTES;
}

/* Worker t gets the tiles up to its share of the traffic. */
static status cut_tiles(const device *d, const csr_block *a, lidx **out) {
  status rc = STATUS_OK;
  const lidx tiles = tile_count(a->rows);
  int64_t total = 0, so_far = 0;
  TRY(alloc_array(out, (int64_t)d->threads + 1, sizeof **out, "shares of threads"));
  lidx *cut = *out, t = 0;
  for (lidx i = 0; i < tiles; i++) total += tile_bytes(a, i);
  cut[0] = 0;
  for (int w = 1; w < d->threads; w++) {
    /* share w ends where the middle of a tile passes w / threads of the total */
    const double goal = (double)total * w / d->threads;
    while (t < tiles && (double)so_far + 0.5 * (double)tile_bytes(a, t) <= goal) {
      so_far += tile_bytes(a, t++);
    }
    cut[w] = t;
  }
  cut[d->threads] = tiles;
done:
  return rc;
}

/* Lists the segments of all rows that have them. */
static status list_segments(matrix *m) {
  status rc = STATUS_OK;
  const sell *s = &m->s;
  int64_t count = 0;
  TRY(alloc_array(&m->first_segment, (int64_t)s->long_rows + 1, sizeof *m->first_segment,
                  "row segments"));
  for (lidx i = 0; i < s->long_rows; i++) {
    m->first_segment[i] = (lidx)count;
    count += row_segments(s->long_offset[i + 1] - s->long_offset[i]);
    TRY(index_narrow(2 * count, "row segments", &m->segments));
  }
  m->segments = m->first_segment[s->long_rows] = (lidx)count;
  TRY(alloc_array(&m->segment, count, sizeof *m->segment, "row segments"));
  TRY(alloc_array(&m->segment_sum, 2 * count, sizeof *m->segment_sum, "row segments"));
  for (lidx i = 0; i < s->long_rows; i++) {
    for (lidx j = m->first_segment[i]; j < m->first_segment[i + 1]; j++) {
      m->segment[j] = (segment){.row = i, .number = j - m->first_segment[i]};
    }
  }
done:
  return rc;
}

/* Vectors as long as the matrix are split like it from now on: the largest square matrix, where
 * there are several (levels, and what goes between them). */
static void adopt_split(device *d, const csr_block *a, const matrix *m) {
  if (a->columns != a->rows || a->rows < d->rows) return;
  d->rows = m->s.rows;
  memcpy(d->cut, m->cut, ((size_t)d->threads + 1) * sizeof *d->cut);
}

status omp_matrix_create(device *d, const csr_block *a, matrix **out) {
  status rc = STATUS_OK;
  TRY(alloc_zeroed(out, 1, sizeof **out, "matrix"));
  matrix *m = *out;
  TRY(cut_tiles(d, a, &m->cut));
  TRY(sell_open(a, LANES, 1, &m->s));
#pragma omp parallel for num_threads(d->threads) schedule(static, 1)
  for (int t = 0; t < d->threads; t++) sell_measure(&m->s, a, m->cut[t], m->cut[t + 1]);
  TRY(sell_place(&m->s));
#pragma omp parallel for num_threads(d->threads) schedule(static, 1)
  for (int t = 0; t < d->threads; t++) sell_fill(&m->s, a, m->cut[t], m->cut[t + 1]);
  TRY(list_segments(m));
  for (lidx t = 0; t < m->s.tiles; t++) {
    if (m->s.boundary[t]) m->boundary_rows += sell_row_end(&m->s, t) - t * TILE;
  }
  adopt_split(d, a, m);
done:
  if (rc != STATUS_OK) omp_matrix_release(d, out);
  return rc;
}

void omp_matrix_release(device *d, matrix **m) {
  (void)d;
  if (*m == NULL) return;
  sell_release(&(*m)->s);
  alloc_free(&(*m)->cut);
  alloc_free(&(*m)->segment);
  alloc_free(&(*m)->first_segment);
  alloc_free(&(*m)->segment_sum);
  alloc_free(m);
}

void omp_matrix_describe(const matrix *m, matrix_facts *out) {
  out->format = "sell-8";
  out->bytes = sell_bytes(&m->s) + (int64_t)m->segments * 24;
  out->sweep_bytes = sell_sweep_bytes(&m->s);
  out->boundary_rows = m->boundary_rows;
  out->interior_rows = m->s.rows - m->boundary_rows;
  out->long_rows = m->s.long_rows;
}
