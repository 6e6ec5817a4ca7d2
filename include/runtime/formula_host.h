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

/* Choices by masks: both values are used, so neither is moved into a branch, which would keep the
 * loop from being vectorised. */
static inline double formula_choose(int first, double a, double b) {
  const uint64_t mask = first ? ~(uint64_t)0 : 0;
  return double_of((bits_of(a) & mask) | (bits_of(b) & ~mask));
}

/* One step of elementary_power_small. */
static inline double formula_power_step(double y, double x, int size, int bit) {
  const double square = y * y;
  return (size & bit) != 0 ? square * x : square;
}

/* elementary_power_small without a loop. */
static inline double formula_power_small(double x, int n) {
  const int size = n < 0 ? -n : n;
  double y = formula_power_step(1.0, x, size, 16);
  y = formula_power_step(y, x, size, 8);
  y = formula_power_step(y, x, size, 4);
  y = formula_power_step(y, x, size, 2);
  y = formula_power_step(y, x, size, 1);
  return n < 0 ? 1.0 / y : y;
}

/* elementary_power without a branch. */
static inline double formula_power(double x, double y) {
  const int small = elementary_power_is_small(y);
  return formula_choose(small, formula_power_small(x, (int)(small ? y : 0.0)),
                        elementary_pow(x, y));
}

static inline double formula_select(double a, double b, double c) {
  return formula_choose(a != 0.0, b, c);
}

/* elementary_min and elementary_max. */
static inline double formula_min(double a, double b) {
  return formula_choose((a != a) | (a < b), a, b);
}

static inline double formula_max(double a, double b) {
  return formula_choose((a != a) | (a > b), a, b);
}

#endif
