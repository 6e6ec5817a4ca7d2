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
#define FORMULA_ALONE  __attribute__((noinline)) /* a loop of its own */

enum { FORMULA_CHUNK = 128 };

/* elementary_power without a branch. */
static inline double formula_power(double x, double y) {
  const int small = elementary_power_is_small(y);
  const double product = elementary_power_small(x, (int)(small ? y : 0.0));
  const double power = elementary_pow(x, y);
  return small ? product : power;
}

#endif
