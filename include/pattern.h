/* Row shapes: a constant-coefficient matrix has few distinct rows. The shape of row i is its list
 * of (local column - i, value), values bit for bit, entries in the order they are stored in; each
 * shape is kept once, and a row is the number of its shape. A product then reads one or two bytes
 * of matrix a row, and since entries keep their order the bits are those of any other form.
 *
 * What the arrays mean (all in host memory; `shapes` rows of a table, `rows` codes):
 *   first[s] .. first[s + 1]   the entries of shape s: at most ROW_CHAIN of them, none for an
 *                              empty row
 *   offset[e], value[e]        entry e of a row i is at local column i + offset[e]. Ghosts are
 *                              ordinary columns [columns, columns + ghosts): a row with ghosts has
 *                              a shape of its own, often shared with its neighbours
 *   fits[t]                    1: every row of tile t (256 rows) is given by its code. 0: none is
 *                              (their codes are 0): the tile is stored in another form beside it
 *   code1[i] or code2[i]       the shape of row i: one byte a row when there are at most 256
 *                              shapes, else two; the other array is NULL. Room for tiles * 256
 *                              codes, zero past the last row: loads of whole vectors may run over
 *   rows_of[s]                 rows of tiles that fit that have shape s, at least 1
 * Shapes are numbered in the order in which tiles that fit first use them.
 *
 * A tile fits when its rows have at most ROW_CHAIN entries, their shapes are among the
 * PATTERN_SHAPES most frequent (the first seen among equals), and at most PATTERN_ALONE of its rows
 * have a shape that no other row has: a table that is as large as the rows it stands for saves
 * nothing.
 *
 * Cost: a hash and a comparison an entry where a row differs from the one before, a comparison
 * where it does not. A few tiles are looked at first: a matrix whose rows are mostly different in
 * these is given up at once. The result does not depend on the number of threads. */
#ifndef PATTERN_H
#define PATTERN_H

#include "csr.h"

enum { PATTERN_SHAPES = 4096, PATTERN_ALONE = 32 };

typedef struct row_pattern {
  lidx rows, columns, tiles; /* columns: owned ones; ghosts start there */
  lidx fit_tiles, fit_rows;  /* tiles that fit, and their rows */
  lidx shapes;               /* 0: nothing fits */
  lidx distinct;             /* shapes met, up to where counting them was given up */
  int given_up;              /* there are more than `distinct` */
  unsigned char *fits;       /* [tiles] */
  uint8_t *code1;            /* [tiles 256] or NULL */
  uint16_t *code2;           /* [tiles 256] or NULL */
  lidx *first;               /* [shapes + 1] */
  lidx *offset;              /* [first[shapes]] */
  double *value;             /* [first[shapes]] */
  lidx *rows_of;             /* [shapes] */
} row_pattern;

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the shapes of a block, which may be released afterwards. The threads share the work.
 * Nothing fits: shapes and fit_rows are 0, and there are no codes. Local. */
status pattern_create(int threads, const csr_block *a, row_pattern *out);
void pattern_release(row_pattern *p);

/* Bytes of codes and of the table; what a product of all tiles that fit reads. */
int64_t pattern_bytes(const row_pattern *p);

/* Whether x, one number a row, is a function of the shape in all rows of tiles that fit, bit for
 * bit; then by_shape[s], room for `shapes`, is its value. Such a vector need not be read in these
 * tiles. Local. */
int pattern_learn(int threads, const row_pattern *p, const double *x, double *by_shape);

#ifdef __cplusplus
}
#endif

/* The shape of row i of a tile that fits. */
static inline lidx pattern_code(const row_pattern *p, lidx i) {
  return p->code1 != 0 ? p->code1[i] : p->code2[i];
}

#endif
