/* Forms of a slice (sell.h): from the widest that always does to the narrowest that its entries
 * allow. Each choice is a function of the slice and of the table of distinct values alone. */
#include "sell_slice.h"

#include <string.h>

#include "values.h"

/* The C rows of a slice, seen by lane. */
typedef struct lanes_of {
  const csr_block *a;
  const unsigned char *length, *place;
  lidx first_row;
  int lanes;
} lanes_of;

static lanes_of slice_lanes(const sell *s, const csr_block *a, lidx slice, lidx tile) {
  const int64_t slot = (int64_t)slice * s->lanes;
  return (lanes_of){a, s->length + slot, s->place + slot, tile * SELL_TILE, s->lanes};
}

/* Where lane l's entries are; only of lanes that have some. */
static eidx lane_entries(const lanes_of *v, int l) {
  return v->a->offset[v->first_row + v->place[l]];
}

/* Rows one after the other, of one length. Places rise among equal lengths. */
static int is_even(const lanes_of *v) {
  const int last = v->lanes - 1;
  return v->length[last] > 0 && v->length[0] == v->length[last] &&
         v->place[last] - v->place[0] == last;
}

static slice_kind find_shape(const lanes_of *v) {
  slice_kind shape = SLICE_CONSTANT;
  const eidx first = lane_entries(v, 0);
  for (int l = 1; l < v->lanes; l++) {
    const eidx other = lane_entries(v, l);
    for (int k = 0; k < v->length[0]; k++) {
      if (v->a->column[other + k] != v->a->column[first + k] + l) return SLICE_GATHER;
      if (bits_of(v->a->value[other + k]) != bits_of(v->a->value[first + k])) shape = SLICE_RUN;
    }
  }
  return shape;
}

/* Lanes whose columns, and whose values, are stored. */
static int column_lanes(int shape, int lanes) { return shape == SLICE_GATHER ? lanes : 1; }
static int value_lanes(int shape, int lanes) { return shape == SLICE_CONSTANT ? 1 : lanes; }

/* The narrowest columns; *base is what they are counted from. */
static int column_form(const lanes_of *v, int shape, lidx *base) {
  lidx low = LIDX_MAX, high = 0;
  for (int l = 0; l < column_lanes(shape, v->lanes) && v->length[l] > 0; l++) {
    const eidx from = lane_entries(v, l);
    for (int k = 0; k < v->length[l]; k++) {
      const lidx c = v->a->column[from + k];
      low = c < low ? c : low;
      high = c > high ? c : high;
    }
  }
  *base = 0;
  if (low > high || high - low > UINT16_MAX) return 0;
  *base = low;
  return high - low > UINT8_MAX ? 1 : 2;
}

static int all_floats(const lanes_of *v, int shape) {
  for (int l = 0; l < value_lanes(shape, v->lanes) && v->length[l] > 0; l++) {
    const eidx from = lane_entries(v, l);
    for (int k = 0; k < v->length[l]; k++) {
      const double x = v->a->value[from + k];
      if (bits_of((double)(float)x) != bits_of(x)) return 0;
    }
  }
  return 1;
}

static int value_form(const sell *s, const lanes_of *v, int shape) {
  if (s->table_size > 256) return 2;
  if (s->table_size > 0) return 3;
  return all_floats(v, shape);
}

void slice_measure(sell *s, const csr_block *a, lidx slice, lidx tile) {
  const lanes_of v = slice_lanes(s, a, slice, tile);
  int shape = SLICE_GATHER, kind = 0;
  s->base[slice] = 0;
  if (sell_has_shapes(s, tile)) {
    s->kind[slice] = SLICE_PATTERN;
    return;
  }
  if (is_even(&v)) {
    kind = SLICE_EVEN;
    if (s->level != SELL_PLAIN) shape = find_shape(&v);
  }
  if (s->level == SELL_PACKED && s->longest[slice] > 0) {
    kind |= column_form(&v, shape, &s->base[slice]) << SLICE_COLUMN_SHIFT;
    kind |= value_form(s, &v, shape) << SLICE_VALUE_SHIFT;
  }
  s->kind[slice] = (unsigned char)(kind | shape);
}

static void put_column(void *at, int bytes, int position, lidx c) {
  if (bytes == 4) ((lidx *)at)[position] = c;
  if (bytes == 2) ((uint16_t *)at)[position] = (uint16_t)c;
  if (bytes == 1) ((uint8_t *)at)[position] = (uint8_t)c;
}

static void put_value(const sell *s, void *at, int bytes, int position, double x) {
  if (bytes == 8) ((double *)at)[position] = x;
  if (bytes == 4) ((float *)at)[position] = (float)x;
  if (bytes == 2) ((uint16_t *)at)[position] = (uint16_t)values_number(s->numbers, x);
  if (bytes == 1) ((uint8_t *)at)[position] = (uint8_t)values_number(s->numbers, x);
}

void slice_fill(sell *s, const csr_block *a, lidx slice, lidx tile) {
  const lanes_of v = slice_lanes(s, a, slice, tile);
  const int kind = s->kind[slice], shape = slice_shape(kind), lanes = s->lanes;
  double *value = s->value + s->value_at[slice];
  lidx *column = s->column + s->column_at[slice];
  if (shape == SLICE_PATTERN) return;
  memset(value, 0, (size_t)(s->value_at[slice + 1] - s->value_at[slice]) * sizeof *value);
  memset(column, 0, (size_t)(s->column_at[slice + 1] - s->column_at[slice]) * sizeof *column);
  for (int l = 0; l < lanes && v.length[l] > 0; l++) {
    const eidx from = lane_entries(&v, l);
    for (int k = 0; k < v.length[l]; k++) {
      const lidx c = a->column[from + k] - s->base[slice];
      const int columns = column_lanes(shape, lanes), each = value_lanes(shape, lanes);
      if (l < columns) put_column(column, column_bytes(kind), k * columns + l, c);
      if (l < each) put_value(s, value, value_bytes(kind), k * each + l, a->value[from + k]);
    }
  }
}
