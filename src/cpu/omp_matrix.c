/* Storage of the OpenMP backend: row shapes (pattern.h), SELL-8 (sell.h) or CSR, cut into runs of
 * tiles of equal traffic, one per worker. Rows above 8192 entries are cut further, into their
 * segments, which all threads share whatever tile they belong to: one dense row does not hold up
 * its owner.
 */
#include "omp_team.h"

#include <string.h>

#include "alloc.h"
#include "lanes.h"
#include "team.h"

/* Bytes of a row besides its entries that a sweep moves (x, b, weight, next), and of an entry: what
 * the split over threads balances. */
enum { ROW_BYTES = 40, ENTRY_BYTES = 12 };

/* Traffic of tile t; entries of segmented rows are everybody's, those of shapes come from caches.
 */
static int64_t tile_bytes(const sell *s, const csr_block *a, lidx t) {
  const lidx begin = t * TILE, end = tile_end(t, a->rows);
  int64_t entries = sell_has_shapes(s, t) ? 0 : a->offset[end] - a->offset[begin];
  for (lidx i = begin; i < end && entries > ROW_SEGMENTED; i++) {
    const eidx n = a->offset[i + 1] - a->offset[i];
    if (row_segments(n) > 0) entries -= n;
  }
  return entries * ENTRY_BYTES + (int64_t)(end - begin) * ROW_BYTES;
}

/* Worker t gets the tiles up to its share of the traffic. */
static status cut_tiles(const device *d, const sell *s, const csr_block *a, lidx **out) {
  status rc = STATUS_OK;
  const lidx tiles = tile_count(a->rows);
  int64_t total = 0, so_far = 0;
  TRY(alloc_array(out, (int64_t)d->threads + 1, sizeof **out, "shares of threads"));
  lidx *cut = *out, t = 0;
  for (lidx i = 0; i < tiles; i++) total += tile_bytes(s, a, i);
  cut[0] = 0;
  for (int w = 1; w < d->threads; w++) {
    /* share w ends where the middle of a tile passes w / threads of the total */
    const double goal = (double)total * w / d->threads;
    while (t < tiles && (double)so_far + 0.5 * (double)tile_bytes(s, a, t) <= goal) {
      so_far += tile_bytes(s, a, t++);
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

static status copy_rows(device *d, const csr_block *from, csr_block *to) {
  status rc = STATUS_OK;
  const eidx entries = from->offset[from->rows];
  to->rows = from->rows;
  TRY(alloc_array(&to->column, entries, sizeof *to->column, "matrix columns"));
  TRY(alloc_array(&to->value, entries, sizeof *to->value, "matrix values"));
  TRY(alloc_array(&to->offset, (int64_t)from->rows + 1, sizeof *to->offset, "row offsets"));
  team_copy(d->threads, to->offset, from->offset, ((int64_t)from->rows + 1) * 8);
  team_copy(d->threads, to->column, from->column, entries * 4);
  team_copy(d->threads, to->value, from->value, entries * 8);
done:
  return rc;
}

static sell_plan plan_of(const device *d, matrix_format format) {
  sell_plan plan = {.lanes = LANES, .level = SELL_SLICES, .threads = d->threads};
  if (format == FORMAT_CSR) plan.level = SELL_PLAIN;
  if (format == FORMAT_PACKED || format == FORMAT_AUTO) plan.level = SELL_PACKED;
  plan.shapes = format == FORMAT_PATTERN || format == FORMAT_AUTO;
  return plan;
}

static int has_packed_slices(const sell *s) {
  for (lidx i = 0; i < s->slices; i++) {
    if (column_bytes(s->kind[i]) != 4 || value_bytes(s->kind[i]) != 8) return 1;
  }
  return 0;
}

static const char *name_of(const sell *s) {
  const int packed = has_packed_slices(s);
  if (s->shapes.fit_tiles == 0) return packed ? "packed-8" : "sell-8";
  if (s->shapes.fit_tiles == s->tiles) return "pattern";
  return packed ? "pattern + packed-8" : "pattern + sell-8";
}

/* Measured, placed and filled by the threads that will use it. */
static status fill_sell(device *d, const csr_block *a, matrix_format format, matrix *m) {
  status rc = STATUS_OK;
#pragma omp parallel for num_threads(d->threads) schedule(static, 1)
  for (int t = 0; t < d->threads; t++) sell_measure(&m->s, a, m->cut[t], m->cut[t + 1]);
  if (m->rows.offset != NULL) goto done;
  if (format == FORMAT_AUTO && !sell_packing_pays(&m->s)) sell_unpack(&m->s);
  TRY(sell_place(&m->s));
#pragma omp parallel for num_threads(d->threads) schedule(static, 1)
  for (int t = 0; t < d->threads; t++) sell_fill(&m->s, a, m->cut[t], m->cut[t + 1]);
  sell_built(&m->s);
  TRY(list_segments(m));
done:
  return rc;
}

status omp_matrix_create(device *d, const csr_block *a, matrix_format format, matrix **out) {
  status rc = STATUS_OK;
  const sell_plan plan = plan_of(d, format);
  TRY(alloc_zeroed(out, 1, sizeof **out, "matrix"));
  matrix *m = *out;
  TRY(sell_open(a, &plan, &m->s));
  TRY(cut_tiles(d, &m->s, a, &m->cut));
  if (format == FORMAT_CSR) TRY(copy_rows(d, a, &m->rows));
  TRY(fill_sell(d, a, format, m));
  for (lidx t = 0; t < m->s.tiles; t++) {
    if (m->s.boundary[t]) m->boundary_rows += sell_row_end(&m->s, t) - t * TILE;
  }
  m->format = format == FORMAT_CSR ? "csr" : name_of(&m->s);
  TRY(omp_cg_prepare(d, a, m));
  adopt_split(d, a, m);
done:
  if (rc != STATUS_OK) omp_matrix_release(d, out);
  return rc;
}

static void forget_weights(matrix *m) {
  m->weighed = NULL;
  alloc_free(&m->shape_weight);
  alloc_free(&m->one_weight);
}

void omp_matrix_release(device *d, matrix **m) {
  (void)d;
  if (*m == NULL) return;
  forget_weights(*m);
  sell_release(&(*m)->s);
  csr_block_release(&(*m)->rows);
  alloc_free(&(*m)->cut);
  alloc_free(&(*m)->segment);
  alloc_free(&(*m)->first_segment);
  alloc_free(&(*m)->segment_sum);
  alloc_free(&(*m)->ahead);
  alloc_free(&(*m)->early);
  alloc_free(&(*m)->cg);
  alloc_free(m);
}

status omp_matrix_weigh(device *d, matrix *m, vec weight) {
  status rc = STATUS_OK;
  const row_pattern *p = &m->s.shapes;
  int one = 1;
  forget_weights(m);
  if (weight.data.at == NULL || p->shapes == 0) goto done;
  TRY(alloc_array(&m->shape_weight, p->shapes, sizeof *m->shape_weight, "weights of shapes"));
  if (!pattern_learn(d->threads, p, vec_at(weight), m->shape_weight)) goto done;
  for (lidx s = 1; s < p->shapes; s++) {
    one &= bits_of(m->shape_weight[s]) == bits_of(m->shape_weight[0]);
  }
  if (one) {
    TRY(alloc_array(&m->one_weight, TILE, sizeof *m->one_weight, "weights of shapes"));
    for (lidx j = 0; j < TILE; j++) m->one_weight[j] = m->shape_weight[0];
  }
  m->weighed = vec_at(weight);
done:
  if (m->weighed == NULL) forget_weights(m);
  return rc;
}

static void describe_rows(const matrix *m, matrix_facts *out) {
  const int64_t entries = m->rows.offset[m->rows.rows];
  out->sweep_bytes = entries * 12 + (int64_t)(m->rows.rows + 1) * 8;
  out->bytes = out->sweep_bytes + m->s.tiles;
}

void omp_matrix_describe(const matrix *m, matrix_facts *out) {
  out->format = m->format;
  out->boundary_rows = m->boundary_rows;
  out->interior_rows = m->s.rows - m->boundary_rows;
  out->long_rows = m->s.long_rows;
  out->shapes = m->s.shapes.shapes;
  out->shape_rows = m->s.shapes.fit_rows;
  if (m->rows.offset != NULL) {
    describe_rows(m, out);
    return;
  }
  out->bytes = sell_bytes(&m->s) + (int64_t)m->segments * 24;
  out->sweep_bytes = sell_sweep_bytes(&m->s);
}
