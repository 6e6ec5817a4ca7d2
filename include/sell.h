/* SELL-C-sigma: rows packed so that C of them are computed side by side in the lanes of a vector
 * unit or a warp, each in its own order (row_product.h). C is 8 on CPUs, 32 on GPUs; sigma is 256:
 * rows are sorted by falling length inside tiles of 256 rows and nowhere else.
 *
 * A tile has 256 / C slices of C lanes. Lane l of slice s holds row `place[s C + l]` of its tile;
 * entry k of that row is at value[value_at[s] + k C + l] as long as k < length[s C + l]. Lengths
 * fall inside a slice, so the lanes that have a k-th entry come first; what is stored for the
 * others is padding, never loaded into a product. Rows above 64 entries have length 0 here and are
 * kept aside in CSR form. A tile is a boundary tile if any of its rows has a ghost.
 *
 * Packed slices (asked for by the backend; the bits do not change): where the C rows of a slice are
 * consecutive, of one length, and their k-th columns advance by one (stencils, bands), the slice is
 * a RUN and stores one column per k instead of C. Where in addition their k-th values are equal in
 * all bits (constant coefficients) it is CONSTANT and stores one value per k, too.
 *
 * Bytes per row of length n: gather 12 n, run 8 n + 4 n / C, constant 12 n / C; and 2 + 17 / C.
 * Source: Kreutzer et al., SIAM J. Sci. Comput. 36 (2014) C401. */
#ifndef SELL_H
#define SELL_H

#include "csr.h"
#include "row_product.h"

enum { SELL_TILE = 256, SELL_ALIGN = 8 };

typedef enum slice_kind { SLICE_GATHER, SLICE_RUN, SLICE_CONSTANT } slice_kind;

typedef struct sell {
  int lanes;  /* C */
  int packed; /* whether RUN and CONSTANT slices may occur */
  lidx rows, ghosts, tiles, slices;

  unsigned char *boundary; /* [tiles] */
  unsigned char *kind;     /* [slices] slice_kind */
  unsigned char *length;   /* [slices C] entries in the slice: 0 for long and absent rows */
  unsigned char *place;    /* [slices C] row in the tile; absent rows have places past the last */
  eidx *value_at;          /* [slices + 1] multiples of SELL_ALIGN */
  eidx *column_at;         /* [slices + 1] multiples of SELL_ALIGN */
  double *value;
  lidx *column;

  lidx long_rows;    /* rows above ROW_CHAIN entries */
  lidx *long_first;  /* [tiles + 1] the long rows of tile t are long_first[t] .. */
  lidx *long_row;    /* [long_rows] */
  eidx *long_offset; /* [long_rows + 1] */
  double *long_value;
  lidx *long_column;
} sell;

#ifdef __cplusplus
extern "C" {
#endif

/* Building, from a block that may be released afterwards: open, measure, place, fill. measure and
 * fill work on tiles [begin, end) and may be shared among threads: a page is first touched by the
 * thread that fills it. Beside the source and the result no memory is used. Local.
 *
 * sell_open: room for everything but entries, long rows found. lanes is a power of two, 8 .. 32.
 * sell_measure: lengths, places and kinds of the slices. sell_place: offsets, room for entries. */
status sell_open(const csr_block *a, int lanes, int packed, sell *out);
void sell_measure(sell *s, const csr_block *a, lidx begin, lidx end);
status sell_place(sell *s);
void sell_fill(sell *s, const csr_block *a, lidx begin, lidx end);

/* All four steps on the calling thread. */
status sell_create(const csr_block *a, int lanes, int packed, sell *out);
void sell_release(sell *s);

/* Bytes of storage, and bytes that one product reads. */
int64_t sell_bytes(const sell *s);
int64_t sell_sweep_bytes(const sell *s);

#ifdef __cplusplus
}
#endif

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

#endif
