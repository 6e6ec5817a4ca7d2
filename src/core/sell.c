/* Building SELL-C-sigma (sell.h). A tile is sorted by counting: 65 bins of lengths, stable, longest
 * first, so equal rows stay neighbours and stencil rows form runs. Cost O(entries), two passes over
 * the source; the second copies. */
#include "sell.h"

#include <string.h>

#include "alloc.h"

static eidx row_length(const csr_block *a, lidx i) { return a->offset[i + 1] - a->offset[i]; }

void sell_release(sell *s) {
  alloc_free(&s->boundary);
  alloc_free(&s->kind);
  alloc_free(&s->length);
  alloc_free(&s->place);
  alloc_free(&s->value_at);
  alloc_free(&s->column_at);
  alloc_free(&s->value);
  alloc_free(&s->column);
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

status sell_open(const csr_block *a, int lanes, int packed, sell *out) {
  status rc = STATUS_OK;
  memset(out, 0, sizeof *out);
  out->lanes = lanes;
  out->packed = packed;
  out->rows = a->rows;
  out->ghosts = a->ghosts;
  out->tiles = a->rows / SELL_TILE + (a->rows % SELL_TILE != 0);
  out->slices = a->rows / lanes + (a->rows % lanes != 0);
  const int64_t slots = (int64_t)out->slices * lanes, slices = out->slices;
  TRY(alloc_array(&out->boundary, out->tiles, 1, "tiles"));
  TRY(alloc_array(&out->kind, slices, 1, "slices"));
  TRY(alloc_array(&out->length, slots, 1, "row lengths"));
  TRY(alloc_array(&out->place, slots, 1, "row places"));
  TRY(alloc_array(&out->value_at, slices + 1, sizeof *out->value_at, "slices"));
  TRY(alloc_array(&out->column_at, slices + 1, sizeof *out->column_at, "slices"));
  TRY(long_open(a, out));
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

/* Which form a slice can take. `row` is its first lane's row. */
static slice_kind find_kind(const sell *s, const csr_block *a, lidx slice, lidx row) {
  const unsigned char *length = s->length + slice * s->lanes, *place = s->place + slice * s->lanes;
  const int last = s->lanes - 1;
  if (!s->packed || length[last] == 0 || length[0] != length[last]) return SLICE_GATHER;
  if (place[last] - place[0] != last) return SLICE_GATHER; /* places rise among equal lengths */
  slice_kind kind = SLICE_CONSTANT;
  for (int l = 1; l <= last; l++) {
    const eidx first = a->offset[row], other = a->offset[row + l];
    for (int k = 0; k < length[0]; k++) {
      if (a->column[other + k] != a->column[first + k] + l) return SLICE_GATHER;
      if (bits_of(a->value[other + k]) != bits_of(a->value[first + k])) kind = SLICE_RUN;
    }
  }
  return kind;
}

static eidx aligned(eidx count) { return (count + SELL_ALIGN - 1) / SELL_ALIGN * SELL_ALIGN; }

static int has_ghost(const csr_block *a, lidx begin, lidx end) {
  for (eidx e = a->offset[begin]; e < a->offset[end]; e++) {
    if (a->column[e] >= a->columns) return 1;
  }
  return 0;
}

void sell_measure(sell *s, const csr_block *a, lidx begin, lidx end) {
  for (lidx t = begin; t < end; t++) {
    const lidx row = t * SELL_TILE;
    s->boundary[t] = (unsigned char)has_ghost(a, row, sell_row_end(s, t));
    sort_tile(s, a, t);
    for (lidx i = sell_slice_begin(s, t); i < sell_slice_end(s, t); i++) {
      s->kind[i] = (unsigned char)find_kind(s, a, i, row + s->place[i * s->lanes]);
    }
  }
}

status sell_place(sell *s) {
  status rc = STATUS_OK;
  eidx values = 0, columns = 0;
  for (lidx i = 0; i < s->slices; i++) {
    const eidx one = s->length[i * s->lanes], all = one * s->lanes;
    s->value_at[i] = values;
    s->column_at[i] = columns;
    values += aligned(s->kind[i] == SLICE_CONSTANT ? one : all);
    columns += aligned(s->kind[i] == SLICE_GATHER ? all : one);
  }
  s->value_at[s->slices] = values;
  s->column_at[s->slices] = columns;
  TRY(alloc_array(&s->value, values, sizeof *s->value, "matrix values"));
  TRY(alloc_array(&s->column, columns, sizeof *s->column, "matrix columns"));
done:
  return rc;
}

/* Copies a slice; padding is zero, so that files and hashes of storage are reproducible. */
static void fill_slice(sell *s, const csr_block *a, lidx slice, lidx first_row) {
  const lidx slot = slice * s->lanes;
  const int kind = s->kind[slice];
  double *value = s->value + s->value_at[slice];
  lidx *column = s->column + s->column_at[slice];
  memset(value, 0, (size_t)(s->value_at[slice + 1] - s->value_at[slice]) * sizeof *value);
  memset(column, 0, (size_t)(s->column_at[slice + 1] - s->column_at[slice]) * sizeof *column);
  for (int l = 0; l < s->lanes; l++) {
    if (s->length[slot + l] == 0) continue; /* absent rows have no offsets */
    const eidx from = a->offset[first_row + s->place[slot + l]];
    for (int k = 0; k < s->length[slot + l]; k++) {
      if (kind != SLICE_CONSTANT) value[k * s->lanes + l] = a->value[from + k];
      if (kind == SLICE_GATHER) column[k * s->lanes + l] = a->column[from + k];
      if (kind == SLICE_CONSTANT && l == 0) value[k] = a->value[from + k];
      if (kind != SLICE_GATHER && l == 0) column[k] = a->column[from + k];
    }
  }
}

void sell_fill(sell *s, const csr_block *a, lidx begin, lidx end) {
  for (lidx t = begin; t < end; t++) {
    for (lidx i = sell_slice_begin(s, t); i < sell_slice_end(s, t); i++) {
      fill_slice(s, a, i, t * SELL_TILE);
    }
    for (lidx i = s->long_first[t]; i < s->long_first[t + 1]; i++) {
      const eidx from = a->offset[s->long_row[i]], to = s->long_offset[i];
      const size_t count = (size_t)(s->long_offset[i + 1] - to);
      memcpy(s->long_value + to, a->value + from, count * sizeof *s->long_value);
      memcpy(s->long_column + to, a->column + from, count * sizeof *s->long_column);
    }
  }
}

status sell_create(const csr_block *a, int lanes, int packed, sell *out) {
  status rc = STATUS_OK;
  TRY(sell_open(a, lanes, packed, out));
  sell_measure(out, a, 0, out->tiles);
  TRY(sell_place(out));
  sell_fill(out, a, 0, out->tiles);
done:
  if (rc != STATUS_OK) sell_release(out);
  return rc;
}

int64_t sell_sweep_bytes(const sell *s) {
  return s->value_at[s->slices] * 8 + s->column_at[s->slices] * 4 +
         (int64_t)s->slices * (2 * s->lanes + 17) + s->long_offset[s->long_rows] * 12;
}

int64_t sell_bytes(const sell *s) {
  return sell_sweep_bytes(s) + (int64_t)s->tiles * 5 + (int64_t)s->long_rows * 12;
}
