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

PORTABLE double row_term(double a, double x, double sum, int absolute) {
  return absolute ? fma(fabs(a), fabs(x), sum) : fma(a, x, sum);
}

PORTABLE double row_chain(const double *value, const lidx *column, int64_t count, const double *x,
                          int absolute) {
  double sum = 0.0;
  for (int64_t e = 0; e < count; e++) sum = row_term(value[e], x[column[e]], sum, absolute);
  return sum;
}

PORTABLE double row_strided(const double *value, const lidx *column, int64_t count, const double *x,
                            int absolute) {
  double lane[ROW_LANES] = {0.0};
  int64_t full = count / ROW_LANES * ROW_LANES;
  for (int64_t at = 0; at < full; at += ROW_LANES) {
    for (int l = 0; l < ROW_LANES; l++) {
      lane[l] = row_term(value[at + l], x[column[at + l]], lane[l], absolute);
    }
  }
  for (int l = 0; l < count - full; l++) {
    lane[l] = row_term(value[full + l], x[column[full + l]], lane[l], absolute);
  }
  return block_tree(lane);
}

/* Segments of a row of `count` entries: 0 when it is not segmented. */
PORTABLE int64_t row_segments(int64_t count) {
  return count <= ROW_SEGMENTED ? 0 : (count + ROW_SEGMENT - 1) / ROW_SEGMENT;
}

/* The sum of segment number `segment` of a segmented row. */
PORTABLE double row_segment(const double *value, const lidx *column, int64_t count, int64_t segment,
                            const double *x, int absolute) {
  int64_t begin = segment * ROW_SEGMENT, left = count - begin;
  return row_strided(value + begin, column + begin, left < ROW_SEGMENT ? left : ROW_SEGMENT, x,
                     absolute);
}

/* The whole row. */
PORTABLE double row_product(const double *value, const lidx *column, int64_t count, const double *x,
                            int absolute) {
  if (count <= ROW_CHAIN) return row_chain(value, column, count, x, absolute);
  int64_t segments = row_segments(count);
  if (segments == 0) return row_strided(value, column, count, x, absolute);
  double sum = 0.0;
  for (int64_t s = 0; s < segments; s++) {
    sum += row_segment(value, column, count, s, x, absolute);
  }
  return sum;
}

#endif
