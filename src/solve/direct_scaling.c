/* Scaling for direct solution: entry (i, j) becomes 2^(left_i + right_j) a_ij, by the exponents of
 *
 *   left_i -= floor(max_j e_ij / 2), right_j -= floor(max_i e_ij / 2),  e_ij that of the scaled
 *
 * entry, again until none changes. All is in integers, so nothing over- or underflows on the way,
 * and a product with a power of two rounds nothing (an entry that is lost beside 1 is lost). A
 * package that calls pivots below a fixed number small sees the same numbers whatever the units of
 * equations and unknowns. A pass halves the distance, so 16 cover the range of doubles; each reads
 * the entries once. Source: Ruiz, RAL-TR-2001-034 (2001), in the largest-entry norm. */
#include "direct_scaling.h"

#include <limits.h>
#include <math.h>

#include "alloc.h"

enum { PASSES = 16, NONE = INT_MIN };

static int half(int e) { return e >= 0 ? e / 2 : -((1 - e) / 2); } /* floor */

static void raise(int *most, int e) {
  if (e > *most) *most = e;
}

/* The largest exponent of each row and column, as they are scaled now. */
static void find_most(const direct_matrix *a, const int *left, const int *right, int *row,
                      int *column) {
  for (lidx i = 0; i < a->rows; i++) row[i] = column[i] = NONE;
  for (lidx i = 0; i < a->rows; i++) {
    for (int32_t e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const lidx j = a->column[e];
      if (a->value[e] == 0.0 || !isfinite(a->value[e])) continue;
      const int size = ilogb(a->value[e]) + left[i] + right[j];
      raise(&row[i], size);
      raise(&column[j], size);
      if (!a->symmetric) continue;
      raise(&row[j], size);
      raise(&column[i], size);
    }
  }
}

static int move(lidx rows, const int *most, int *exponent) {
  int moved = 0;
  for (lidx i = 0; i < rows; i++) {
    const int by = most[i] == NONE ? 0 : half(most[i]);
    exponent[i] -= by;
    moved |= by != 0;
  }
  return moved;
}

status direct_scale(direct_matrix *a, int *left, int *right) {
  status rc = STATUS_OK;
  int *row = NULL, *column = NULL;
  TRY(alloc_array(&row, a->rows, sizeof *row, "scaling"));
  TRY(alloc_array(&column, a->rows, sizeof *column, "scaling"));
  for (lidx i = 0; i < a->rows; i++) left[i] = right[i] = 0;
  for (int k = 0, moved = 1; k < PASSES && moved; k++) {
    find_most(a, left, right, row, column);
    moved = move(a->rows, row, left);
    moved |= move(a->rows, column, right);
  }
  for (lidx i = 0; i < a->rows; i++) {
    for (int32_t e = a->offset[i]; e < a->offset[i + 1]; e++) {
      a->value[e] = ldexp(a->value[e], left[i] + right[a->column[e]]);
    }
  }
done:
  alloc_free(&row);
  alloc_free(&column);
  return rc;
}

void direct_shift(lidx rows, const int *exponent, double *x) {
  for (lidx i = 0; i < rows; i++) x[i] = ldexp(x[i], exponent[i]);
}
