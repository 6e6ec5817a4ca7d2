/* Building SELL-C-sigma (sell.h). A tile is sorted by counting: 65 bins of lengths, stable, longest
 * first, so equal rows stay neighbours and stencil rows form runs. Cost O(entries), two passes over
 * the source; the second copies (sell_slice.c). */
#include "sell.h"

#include <string.h>

#include "alloc.h"
#include "sell_slice.h"
#include "values.h"

static eidx row_length(const csr_block *a, lidx i) { return a->offset[i + 1] - a->offset[i]; }

void sell_built(sell *s) {
  if (s->numbers != NULL) values_release(s->numbers);
  alloc_free(&s->numbers);
}

void sell_release(sell *s) {
  alloc_free(&s->boundary);
  alloc_free(&s->kind);
  alloc_free(&s->longest);
  alloc_free(&s->first_place);
  alloc_free(&s->length);
  alloc_free(&s->place);
  alloc_free(&s->base);
  alloc_free(&s->value_at);
  alloc_free(&s->column_at);
  alloc_free(&s->value);
  alloc_free(&s->column);
  alloc_free(&s->table);
  pattern_release(&s->shapes);
  sell_built(s);
  alloc_free(&s->long_first);
  alloc_free(&s->long_row);
  alloc_free(&s->long_offset);
  alloc_free(&s->long_value);
  alloc_free(&s->long_column);
  memset(s, 0, sizeof *s);
}

/* Room for the rows above ROW_CHAIN entries, and where each goes. */
static status long_open(const csr_block *a, sell *s) {
  status rc = STATUS_OK;
  for (lidx i = 0; i < s->rows; i++) s->long_rows += row_length(a, i) > ROW_CHAIN;
  TRY(alloc_array(&s->long_first, (int64_t)s->tiles + 1, sizeof *s->long_first, "long rows"));
  TRY(alloc_array(&s->long_row, s->long_rows, sizeof *s->long_row, "long rows"));
  TRY(alloc_array(&s->long_offset, (int64_t)s->long_rows + 1, sizeof *s->long_offset, "long rows"));
  lidx count = 0;
  s->long_offset[0] = 0;
  for (lidx t = 0; t < s->tiles; t++) {
    s->long_first[t] = count;
    for (lidx i = t * SELL_TILE; i < sell_row_end(s, t); i++) {
      if (row_length(a, i) <= ROW_CHAIN) continue;
      s->long_row[count] = i;
      s->long_offset[count + 1] = s->long_offset[count] + row_length(a, i);
      count++;
    }
  }
  s->long_first[s->tiles] = count;
  const eidx entries = s->long_offset[count];
  TRY(alloc_array(&s->long_value, entries, sizeof *s->long_value, "values of long rows"));
  TRY(alloc_array(&s->long_column, entries, sizeof *s->long_column, "columns of long rows"));
done:
  return rc;
}

/* The table of distinct values of the tiles without shapes, if there are few. */
static status table_open(const csr_block *a, const sell_plan *plan, sell *s) {
  status rc = STATUS_OK;
  const unsigned char *skip = s->shapes.shapes > 0 ? s->shapes.fits : NULL;
  if (s->shapes.fit_tiles == s->tiles) goto done;
  TRY(alloc_zeroed(&s->numbers, 1, sizeof *s->numbers, "distinct values"));
  TRY(values_create(plan->threads, a, skip, s->numbers));
  s->table_size = s->numbers->count;
  if (s->table_size == 0) goto done;
  TRY(alloc_array(&s->table, s->table_size, sizeof *s->table, "distinct values"));
  memcpy(s->table, s->numbers->value, (size_t)s->table_size * sizeof *s->table);
done:
  return rc;
}

status sell_open(const csr_block *a, const sell_plan *plan, sell *out) {
  status rc = STATUS_OK;
  memset(out, 0, sizeof *out);
  out->lanes = plan->lanes;
  out->level = plan->level;
  out->rows = a->rows;
  out->columns = a->columns;
  out->ghosts = a->ghosts;
  out->tiles = a->rows / SELL_TILE + (a->rows % SELL_TILE != 0);
  out->slices = a->rows / plan->lanes + (a->rows % plan->lanes != 0);
  const int64_t slots = (int64_t)out->slices * plan->lanes, slices = out->slices;
  TRY(alloc_array(&out->boundary, out->tiles, 1, "tiles"));
  TRY(alloc_array(&out->kind, slices, 1, "slices"));
  TRY(alloc_array(&out->longest, slices, 1, "slices"));
  TRY(alloc_array(&out->first_place, slices, 1, "slices"));
  TRY(alloc_array(&out->length, slots, 1, "row lengths"));
  TRY(alloc_array(&out->place, slots, 1, "row places"));
  TRY(alloc_array(&out->base, slices, sizeof *out->base, "slices"));
  TRY(alloc_array(&out->value_at, slices + 1, sizeof *out->value_at, "slices"));
  TRY(alloc_array(&out->column_at, slices + 1, sizeof *out->column_at, "slices"));
  TRY(long_open(a, out));
  if (plan->shapes) TRY(pattern_create(plan->threads, a, &out->shapes));
  if (plan->level == SELL_PACKED) TRY(table_open(a, plan, out));
done:
  if (rc != STATUS_OK) sell_release(out);
  return rc;
}

/* Length of row i inside its slice. */
static unsigned char slice_length(const csr_block *a, lidx i) {
  eidx n = row_length(a, i);
  return n > ROW_CHAIN ? 0 : (unsigned char)n;
}

/* Sorts a tile: lengths and places of all its slots. */
static void sort_tile(sell *s, const csr_block *a, lidx tile) {
  const lidx begin = tile * SELL_TILE, rows = sell_row_end(s, tile) - begin;
  const lidx slots = (sell_slice_end(s, tile) - sell_slice_begin(s, tile)) * s->lanes;
  unsigned char *length = s->length + begin, *place = s->place + begin;
  lidx next[ROW_CHAIN + 1] = {0}, at = 0;
  if (sell_has_shapes(s, tile)) {
    for (lidx j = 0; j < slots; j++) place[j] = (unsigned char)j;
    memset(length, 0, (size_t)slots);
    return;
  }
  for (lidx j = 0; j < rows; j++) next[slice_length(a, begin + j)]++;
  for (int n = ROW_CHAIN; n >= 0; n--) {
    lidx count = next[n];
    next[n] = at;
    at += count;
  }
  for (lidx j = 0; j < rows; j++) {
    unsigned char n = slice_length(a, begin + j);
    place[next[n]] = (unsigned char)j;
    length[next[n]++] = n;
  }
  for (lidx j = rows; j < slots; j++) {
    place[j] = (unsigned char)j;
    length[j] = 0;
  }
}

static int has_ghost(const sell *s, const csr_block *a, lidx begin, lidx end) {
  for (eidx e = a->offset[begin]; e < a->offset[end]; e++) {
    if (a->column[e] >= s->columns) return 1;
  }
  return 0;
}

void sell_measure(sell *s, const csr_block *a, lidx begin, lidx end) {
  for (lidx t = begin; t < end; t++) {
    const lidx row = t * SELL_TILE;
    s->boundary[t] = (unsigned char)has_ghost(s, a, row, sell_row_end(s, t));
    sort_tile(s, a, t);
    for (lidx i = sell_slice_begin(s, t); i < sell_slice_end(s, t); i++) {
      s->longest[i] = s->length[(int64_t)i * s->lanes];
      s->first_place[i] = s->place[(int64_t)i * s->lanes];
      slice_measure(s, a, i, t);
    }
  }
}

int sell_packing_pays(const sell *s) {
  eidx packed = 0, plain = 0;
  for (lidx i = 0; i < s->slices; i++) {
    const int kind = s->kind[i], n = s->longest[i], shape = slice_shape(kind);
    packed += slice_values(SELL_PACKED, kind, s->lanes, n) * 8;
    packed += slice_columns(SELL_PACKED, kind, s->lanes, n) * 4;
    plain += slice_values(SELL_SLICES, shape, s->lanes, n) * 8;
    plain += slice_columns(SELL_SLICES, shape, s->lanes, n) * 4;
  }
  return 10 * packed <= 6 * plain;
}

void sell_unpack(sell *s) {
  for (lidx i = 0; i < s->slices; i++) {
    s->kind[i] &= SLICE_EVEN | 3;
    s->base[i] = 0;
  }
  s->level = SELL_SLICES;
  s->table_size = 0;
  alloc_free(&s->table);
  sell_built(s);
}

status sell_place(sell *s) {
  status rc = STATUS_OK;
  eidx all_values = 0, all_columns = 0;
  for (lidx i = 0; i < s->slices; i++) {
    s->value_at[i] = all_values;
    s->column_at[i] = all_columns;
    all_values += slice_values(s->level, s->kind[i], s->lanes, s->longest[i]);
    all_columns += slice_columns(s->level, s->kind[i], s->lanes, s->longest[i]);
    s->uneven += slice_shape(s->kind[i]) != SLICE_PATTERN && !(s->kind[i] & SLICE_EVEN);
  }
  s->value_at[s->slices] = all_values;
  s->column_at[s->slices] = all_columns;
  TRY(alloc_array(&s->value, all_values, sizeof *s->value, "matrix values"));
  TRY(alloc_array(&s->column, all_columns, sizeof *s->column, "matrix columns"));
done:
  return rc;
}

void sell_fill(sell *s, const csr_block *a, lidx begin, lidx end) {
  for (lidx t = begin; t < end; t++) {
    for (lidx i = sell_slice_begin(s, t); i < sell_slice_end(s, t); i++) {
      slice_fill(s, a, i, t);
    }
    for (lidx i = s->long_first[t]; i < s->long_first[t + 1]; i++) {
      const eidx from = a->offset[s->long_row[i]], to = s->long_offset[i];
      const size_t count = (size_t)(s->long_offset[i + 1] - to);
      memcpy(s->long_value + to, a->value + from, count * sizeof *s->long_value);
      memcpy(s->long_column + to, a->column + from, count * sizeof *s->long_column);
    }
  }
}

status sell_create(const csr_block *a, const sell_plan *plan, sell *out) {
  status rc = STATUS_OK;
  TRY(sell_open(a, plan, out));
  sell_measure(out, a, 0, out->tiles);
  TRY(sell_place(out));
  sell_fill(out, a, 0, out->tiles);
  sell_built(out);
done:
  if (rc != STATUS_OK) sell_release(out);
  return rc;
}

/* A slice says where it is and what its lanes are: 17 bytes and 2 a lane. Packed, one slice follows
 * the other: 7 bytes, 2 a lane where it is not even, and a line of value_at and column_at a tile.
 */
int64_t sell_sweep_bytes(const sell *s) {
  const int64_t tiles = (int64_t)s->tiles - s->shapes.fit_tiles;
  const int64_t slices = tiles * sell_slices_per_tile(s);
  const int64_t heads = s->level == SELL_PACKED
                            ? tiles * 128 + slices * 7 + (int64_t)s->uneven * 2 * s->lanes
                            : slices * (2 * s->lanes + 17);
  return s->value_at[s->slices] * 8 + s->column_at[s->slices] * 4 + heads +
         s->long_offset[s->long_rows] * 12 + (int64_t)s->table_size * 8 + pattern_bytes(&s->shapes);
}

int64_t sell_bytes(const sell *s) {
  return s->value_at[s->slices] * 8 + s->column_at[s->slices] * 4 +
         (int64_t)s->slices * (2 * s->lanes + 23) + (int64_t)s->tiles * 6 +
         s->long_offset[s->long_rows] * 12 + (int64_t)s->long_rows * 12 +
         (int64_t)s->table_size * 8 + pattern_bytes(&s->shapes);
}
