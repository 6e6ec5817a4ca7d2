/* SELL-C-sigma: rows packed so that C of them are computed side by side in the lanes of a vector
 * unit or a warp, each in its own order (row_product.h). C is 8 on CPUs, 32 on GPUs; sigma is 256:
 * rows are sorted by falling length inside tiles of 256 rows and nowhere else.
 *
 * A tile has 256 / C slices of C lanes. Lane l of slice s holds row `place[s C + l]` of its tile,
 * of length[s C + l] entries. Lengths fall inside a slice, so the lanes that have a k-th entry come
 * first; what is stored for the others is padding, never loaded into a product. Rows above 64
 * entries have length 0 here and are kept aside in CSR form. A tile is a boundary tile if any of
 * its rows has a ghost. Tiles that `shapes` holds (pattern.h: shapes.fits[t]) have slices of kind
 * SLICE_PATTERN with lengths 0 and nothing stored.
 *
 * A slice's kind says how its entries are kept (the bits of results do not change):
 *   slice_shape(kind)   GATHER: a column and a value for each lane and k, at position k C + lane
 *                       RUN: the C rows are consecutive, of one length, and their k-th columns
 *                       advance by one (stencils, bands): one column per k, the first lane's
 *                       CONSTANT: a RUN whose k-th values are equal in all bits: one value per k
 *   column_bytes(kind)  4: lidx columns. 2 and 1: uint16_t and uint8_t, the column is base[s] plus
 *                       the number stored
 *   value_bytes(kind)   8: double. 4: float, exactly the value. 2 and 1: uint16_t and uint8_t, the
 *                       value is table[number stored]
 *   kind & SLICE_EVEN   all lanes are rows, place[0] + l, of one length: longest[s] and
 *                       first_place[s] say all about them
 * Columns start at (byte *)(column + column_at[s]), values at (byte *)(value + value_at[s]); slices
 * lie one after the other, each as long as slice_columns() and slice_values() say.
 *
 * Bytes per row of length n, columns of c and values of v bytes: gather (c + v) n, run v n + c n /
 * C, constant (c + v) n / C; and 7 / C + 1/2, where a slice is not even 2 more.
 * Source: Kreutzer et al., SIAM J. Sci. Comput. 36 (2014) C401. */
#ifndef SELL_H
#define SELL_H

#include "csr.h"
#include "pattern.h"
#include "row_product.h"

enum { SELL_TILE = 256, SELL_ALIGN = 8 };

typedef enum slice_kind { SLICE_GATHER, SLICE_RUN, SLICE_CONSTANT, SLICE_PATTERN } slice_kind;
enum { SLICE_COLUMN_SHIFT = 2, SLICE_VALUE_SHIFT = 4, SLICE_EVEN = 64 };

/* What a sell may use, each level all of the one before: SELL_PLAIN gathers only, SELL_SLICES runs
 * and constants, SELL_PACKED narrow columns and values. */
typedef enum sell_level { SELL_PLAIN, SELL_SLICES, SELL_PACKED } sell_level;

typedef struct sell_plan {
  int lanes; /* C: a power of two, 8 .. 32 */
  sell_level level;
  int shapes;  /* look for row shapes (pattern.h) */
  int threads; /* that share the looking for shapes and values; at least 1 */
} sell_plan;

typedef struct sell {
  int lanes; /* C */
  sell_level level;
  lidx rows, columns, ghosts, tiles, slices; /* columns: owned ones */
  lidx uneven;                               /* slices that store something and are not even */

  unsigned char *boundary;    /* [tiles] */
  unsigned char *kind;        /* [slices] */
  unsigned char *longest;     /* [slices] length of the first lane */
  unsigned char *first_place; /* [slices] place of the first lane */
  unsigned char *length;      /* [slices C] entries in the slice: 0 for long and absent rows */
  unsigned char *place;       /* [slices C] row in the tile; absent rows: places past the last */
  lidx *base;                 /* [slices] added to narrow columns */
  eidx *value_at;             /* [slices + 1] in doubles; multiples of SELL_ALIGN unless packed */
  eidx *column_at;            /* [slices + 1] in lidx; the same */
  double *value;
  lidx *column;

  lidx table_size;
  double *table; /* [table_size] distinct values; NULL: no value is kept by its number */

  row_pattern shapes; /* shapes.shapes = 0: no tile is kept by its rows' shapes */

  lidx long_rows;    /* rows above ROW_CHAIN entries */
  lidx *long_first;  /* [tiles + 1] the long rows of tile t are long_first[t] .. */
  lidx *long_row;    /* [long_rows] */
  eidx *long_offset; /* [long_rows + 1] */
  double *long_value;
  lidx *long_column;

  struct values *numbers; /* while it is built: value -> number */
} sell;

#ifdef __cplusplus
extern "C" {
#endif

/* Building, from a block that may be released afterwards: open, measure, place, fill. measure and
 * fill work on tiles [begin, end) and may be shared among threads: a page is first touched by the
 * thread that fills it. Local.
 *
 * sell_open: row shapes, distinct values, long rows, and room for everything but entries.
 * sell_measure: lengths, places and kinds of the slices. sell_place: offsets, room for entries. */
status sell_open(const csr_block *a, const sell_plan *plan, sell *out);
void sell_measure(sell *s, const csr_block *a, lidx begin, lidx end);
status sell_place(sell *s);
void sell_fill(sell *s, const csr_block *a, lidx begin, lidx end);

/* Between measure and place: whether packed slices take at most 0.6 of the bytes of plain ones.
 * Above, unpacking costs more time than the bytes do (measured on CPUs); then sell_unpack makes it
 * a sell of level SELL_SLICES. */
int sell_packing_pays(const sell *s);
void sell_unpack(sell *s);

/* After the last sell_fill: what was only needed for building goes. */
void sell_built(sell *s);

/* All steps on the calling thread (but for the search of the plan's threads). */
status sell_create(const csr_block *a, const sell_plan *plan, sell *out);
void sell_release(sell *s);

/* Bytes of storage, and bytes that one product reads. */
int64_t sell_bytes(const sell *s);
int64_t sell_sweep_bytes(const sell *s);

#ifdef __cplusplus
}
#endif

static inline int slice_shape(int kind) { return kind & 3; }
static inline int column_bytes(int kind) { return 4 >> (kind >> SLICE_COLUMN_SHIFT & 3); }
static inline int value_bytes(int kind) { return 8 >> (kind >> SLICE_VALUE_SHIFT & 3); }

static inline eidx slice_room(sell_level level, eidx bytes, int unit) {
  const eidx step = level == SELL_PACKED ? 8 : SELL_ALIGN * unit;
  return (bytes + step - 1) / step * step / unit;
}

/* Room of a slice, padding included: in elements of `value` and of `column`. */
static inline eidx slice_values(sell_level level, int kind, int width, int longest) {
  const int count = slice_shape(kind) >= SLICE_CONSTANT ? longest : longest * width;
  return slice_room(level, (eidx)count * value_bytes(kind), 8);
}

static inline eidx slice_columns(sell_level level, int kind, int width, int longest) {
  const int count = slice_shape(kind) != SLICE_GATHER ? longest : longest * width;
  return slice_room(level, (eidx)count * column_bytes(kind), 4);
}

static inline lidx sell_slices_per_tile(const sell *s) { return SELL_TILE / s->lanes; }

/* Half-open ranges of a tile's rows and slices. */
static inline lidx sell_row_end(const sell *s, lidx tile) {
  return s->rows - tile * SELL_TILE < SELL_TILE ? s->rows : (tile + 1) * SELL_TILE;
}

static inline lidx sell_slice_begin(const sell *s, lidx tile) {
  return tile * sell_slices_per_tile(s);
}

static inline lidx sell_slice_end(const sell *s, lidx tile) {
  lidx end = (tile + 1) * sell_slices_per_tile(s);
  return end < s->slices ? end : s->slices;
}

/* Whether a tile is kept by its rows' shapes. */
static inline int sell_has_shapes(const sell *s, lidx tile) {
  return s->shapes.shapes > 0 && s->shapes.fits[tile];
}

#endif
