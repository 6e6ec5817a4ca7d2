/* One row of a matrix times a vector, in the one order that every backend follows. Entries are in
 * global column order, whatever their local columns are.
 *
 *   up to 64 entries    one chain of fma from +0.0
 *   up to 8192          32 strided lanes, each a chain from +0.0, then the xor tree 16, 8, 4, 2, 1
 *   above               segments of 4096 summed like that, segment sums added in order from +0.0
 *
 * so that a long row can be shared by the lanes of a vector unit, a warp, or several threads, and a
 * short one needs no reduction. `absolute` gives the sum of |a||x| in the same order; pass a
 * constant.
 * Traffic: 12 bytes an entry (value, column), the x entries from cache. */
#ifndef ROW_PRODUCT_H
#define ROW_PRODUCT_H

#include <math.h>

#include "block_sum.h"
#include "index.h"

enum { ROW_CHAIN = 64, ROW_LANES = 32, ROW_SEGMENT = 4096, ROW_SEGMENTED = 8192 };

/* Segments of a row of `count` entries: 0 when it is not segmented. */
PORTABLE int64_t row_segments(int64_t count) {
  return count <= ROW_SEGMENTED ? 0 : (count + ROW_SEGMENT - 1) / ROW_SEGMENT;
}

#define REAL      double
#define REAL_FMA  fma
#define REAL_ABS  fabs
#define ROW(name) row_##name
#include "row_product.def"
#undef REAL
#undef REAL_FMA
#undef REAL_ABS
#undef ROW

/* In float: single_row_term, single_row_product ... */
#define REAL      float
#define REAL_FMA  fmaf
#define REAL_ABS  fabsf
#define ROW(name) single_row_##name
#include "row_product.def"
#undef REAL
#undef REAL_FMA
#undef REAL_ABS
#undef ROW

#endif
