/* Elementary functions over arrays, host side: y[i] = f(x[i]) with the scalar functions' bits.
 * Where the scalar form is branch-free this is the plain loop, which vectorises. Where a rare
 * argument takes a slow path, blocks of 64 run the branch-free form for all, notice while doing so
 * whether any argument is rare, and only then mend those. x and y may be the same array, not
 * overlap otherwise. */
#ifndef ELEMENTARY_ARRAY_H
#define ELEMENTARY_ARRAY_H

#include "elementary.h"

#define ELEMENTARY_BLOCK INT64_C(64)

/* Defines NAME_array from NAME, which is branch-free. */
#define ELEMENTARY_PLAIN_ARRAY(name)                                                               \
  static inline void name##_array(int64_t n, const double *x, double *y) {                         \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) y[i] = name(x[i]);                        \
  }

ELEMENTARY_PLAIN_ARRAY(elementary_exp)
ELEMENTARY_PLAIN_ARRAY(elementary_log)
ELEMENTARY_PLAIN_ARRAY(elementary_log10)
ELEMENTARY_PLAIN_ARRAY(elementary_cbrt)
ELEMENTARY_PLAIN_ARRAY(elementary_asin)
ELEMENTARY_PLAIN_ARRAY(elementary_acos)
ELEMENTARY_PLAIN_ARRAY(elementary_atan)
ELEMENTARY_PLAIN_ARRAY(elementary_sinh)
ELEMENTARY_PLAIN_ARRAY(elementary_cosh)
ELEMENTARY_PLAIN_ARRAY(elementary_tanh)
ELEMENTARY_PLAIN_ARRAY(elementary_erf)

/* Defines NAME_array from NAME_ordinary for arguments that are not RARE, and NAME for all. */
#define ELEMENTARY_ARRAY(name, rare)                                                               \
  static inline void name##_array(int64_t n, const double *x, double *y) {                         \
    for (int64_t begin = 0; begin < n; begin += ELEMENTARY_BLOCK) {                                \
      const int64_t count = n - begin < ELEMENTARY_BLOCK ? n - begin : ELEMENTARY_BLOCK;           \
      double kept[ELEMENTARY_BLOCK];                                                               \
      uint64_t any = 0;                                                                            \
      _Pragma("GCC ivdep") for (int64_t i = 0; i < count; i++) {                                   \
        const double v = x[begin + i];                                                             \
        kept[i] = v;                                                                               \
        any |= rare(v) ? 1u : 0u;                                                                  \
        y[begin + i] = name##_ordinary(v);                                                         \
      }                                                                                            \
      if (any == 0) continue;                                                                      \
      for (int64_t i = 0; i < count; i++) {                                                        \
        if (rare(kept[i])) y[begin + i] = name(kept[i]);                                           \
      }                                                                                            \
    }                                                                                              \
  }

ELEMENTARY_ARRAY(elementary_sin, elementary_angle_is_large)
ELEMENTARY_ARRAY(elementary_cos, elementary_angle_is_large)
ELEMENTARY_ARRAY(elementary_tan, elementary_angle_is_large)

/* z[i] = atan2(y[i], x[i]) */
static inline void elementary_atan2_array(int64_t n, const double *y, const double *x, double *z) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) z[i] = elementary_atan2(y[i], x[i]);
}

static inline void elementary_pow_array(int64_t n, const double *x, const double *y, double *z) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) z[i] = elementary_pow(x[i], y[i]);
}

/* z[i] = x[i]^y[i]; one small integer exponent for all is the fast case. */
static inline void elementary_power_array(int64_t n, const double *x, const double *y, double *z) {
  const double first = n > 0 ? y[0] : 0.0;
  int64_t same = 0, small = 0;
  for (int64_t i = 0; i < n; i++) {
    same += y[i] == first ? 1 : 0;
    small += elementary_power_is_small(y[i]) ? 1 : 0;
  }
  if (same == n && small == n) {
    const int power = (int)first;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) z[i] = elementary_power_small(x[i], power);
  } else if (small == 0) {
    elementary_pow_array(n, x, y, z);
  } else {
    for (int64_t i = 0; i < n; i++) z[i] = elementary_power(x[i], y[i]);
  }
}

#endif
