/* The small functions of expressions (elementary.h), where C's own leave room: NaN and signed zero
 * are settled here, so that host and device agree. And what the larger functions share: numbers
 * kept as high + low, the second small beside the first. */
#ifndef ELEMENTARY_BASIC_H
#define ELEMENTARY_BASIC_H

#include <math.h>

#include "portable.h"

/* The smaller and the larger; NaN when either is; the second when they compare equal. */
PORTABLE double elementary_min(double a, double b) { return a != a || a < b ? a : b; }
PORTABLE double elementary_max(double a, double b) { return a != a || a > b ? a : b; }

/* -1, 1, or x itself where that is +-0 or NaN. */
PORTABLE double elementary_sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }

/* 0 below 0, 1 from 0 on, NaN for NaN. */
PORTABLE double elementary_step(double x) { return x >= 0.0 ? 1.0 : x < 0.0 ? 0.0 : x; }

/* `size`, not negative, with the sign of `sign`. */
PORTABLE double elementary_signed(double size, double sign) {
  return double_of(bits_of(size) | (bits_of(sign) & 0x8000000000000000u));
}

/* a + b = result + *low exactly (Knuth's two-sum). */
PORTABLE double elementary_two_sum(double a, double b, double *low) {
  const double sum = a + b;
  const double piece = sum - a;
  *low = (a - (sum - piece)) + (b - piece);
  return sum;
}

/* a + (b + b_low) rounded once, but for the error of the small sum; a is 0 or not below b. */
PORTABLE double elementary_add_pair(double a, double b, double b_low) {
  const double sum = a + b;
  return sum + (((a - sum) + b) + b_low);
}

/* (n + n_low) / (d + d_low) = result + *low; the lows are roundings of the highs in size. */
PORTABLE double elementary_divide_pair(double n, double n_low, double d, double d_low,
                                       double *low) {
  const double inverse = 1.0 / d;
  const double q = n * inverse;
  *low = (fma(-q, d, n) + fma(-q, d_low, n_low)) * inverse;
  return q;
}

#endif
