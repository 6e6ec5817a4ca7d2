/* C files on the host, first attempt (formula_host.h): functions with a rare slow path run as their
 * branch-free form, so that loops over points vectorise, and note whether an argument was rare.
 * Such a chunk is done again by code compiled without this header. */
#ifndef FORMULA_NOTING_H
#define FORMULA_NOTING_H

#include <math.h>

#include "elementary.h"

/* Of this thread; initial-exec: reached without a call. */
static _Thread_local uint64_t formula_rare __attribute__((tls_model("initial-exec")));

static inline double formula_sin(double x) {
  formula_rare |= elementary_angle_is_large(x) ? 1 : 0;
  return elementary_sin_ordinary(x);
}

static inline double formula_cos(double x) {
  formula_rare |= elementary_angle_is_large(x) ? 1 : 0;
  return elementary_cos_ordinary(x);
}

static inline double formula_tan(double x) {
  formula_rare |= elementary_angle_is_large(x) ? 1 : 0;
  return elementary_tan_ordinary(x);
}

#undef sin
#undef cos
#undef tan
#define sin formula_sin
#define cos formula_cos
#define tan formula_tan

#endif
