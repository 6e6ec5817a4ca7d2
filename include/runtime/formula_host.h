/* What formulas compiled by the host compiler begin with. The text that follows defines
 *   formula_input_at[]   which input is at place j, FORMULA_PLACES of them
 *   FORMULA_INPUTS, FORMULA_OUTPUTS
 *   formula_chunk()      n <= FORMULA_CHUNK points: o[k][i] from v[j][i] of the places; not 0: some
 *                        argument needs the slow path
 *   formula_again()      the same by plain functions
 * and ends by including formula_driver.h. */
#ifndef FORMULA_HOST_H
#define FORMULA_HOST_H

#include "elementary.h"
#include "formula.h"

#define FORMULA_EXPORT __attribute__((visibility("default")))
#define FORMULA_ALONE  __attribute__((noinline))
#define FORMULA_LOOP   __attribute__((noinline, flatten)) /* over points: nothing is called */

enum { FORMULA_CHUNK = 128 };

/* One step of elementary_power_small. */
static inline double formula_power_step(double y, double x, int size, int bit) {
  const double square = y * y;
  return (size & bit) != 0 ? square * x : square;
}

/* elementary_power without a branch or a loop. */
static inline double formula_power(double x, double y) {
  const int small = elementary_power_is_small(y);
  const int n = (int)(small ? y : 0.0);
  const int size = n < 0 ? -n : n;
  double product = formula_power_step(1.0, x, size, 16);
  product = formula_power_step(product, x, size, 8);
  product = formula_power_step(product, x, size, 4);
  product = formula_power_step(product, x, size, 2);
  product = formula_power_step(product, x, size, 1);
  product = n < 0 ? 1.0 / product : product;
  return small ? product : elementary_pow(x, y);
}

#endif
