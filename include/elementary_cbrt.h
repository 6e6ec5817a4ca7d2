/* cbrt (elementary.h). Branch-free: a loop over an array vectorises.
 *
 * x = 2^(3 q) b, b = m, 2 m or m / 2 with m in [sqrt(1/2), sqrt(2)). 1 / cbrt(m) by a polynomial of
 * degree 4 (relative error 2^-14.7; minimax, made with Sollya's fpminimax), one step of third order
 * on 1 - b r^3 to about 2^-41, y = b r^2, and one Newton step with y^3 in two doubles, whose
 * rounding is all that is left: cubes of integers give the integers. */
#ifndef ELEMENTARY_CBRT_H
#define ELEMENTARY_CBRT_H

#include <math.h>

#include "elementary_basic.h"
#include "elementary_exp.h"
#include "portable.h"

PORTABLE double elementary_cbrt(double x) {
  const double third = 0x1.5555555555555p-2, size = fabs(x);
  double k;
  const double m = elementary_split(size, &k);
  const double shifted = fma(k, third, ELEMENTARY_SHIFT); /* q, with k - 3 q = -1, 0 or 1 */
  const double left = fma(shifted - ELEMENTARY_SHIFT, -3.0, k);
  const double b = left > 0.0 ? 2.0 * m : left < 0.0 ? 0.5 * m : m;
  const double scale = left > 0.0   ? 0x1.965fea53d6e3dp-1 /* 2^(-1/3) */
                       : left < 0.0 ? 0x1.428a2f98d728bp0  /* 2^(1/3) */
                                    : 1.0;
  double r = 0x1.06dd73626347dp-3;
  r = fma(r, m, -0x1.67961869d0db9p-1);
  r = fma(r, m, 0x1.8fab03ce6083cp0);
  r = fma(r, m, -0x1.dc9ca62e6a12dp0);
  r = fma(r, m, 0x1.dfdf76e93446p0);
  r = r * scale;
  const double e = fma(-b * r, r * r, 1.0);
  r = fma(r * e, fma(e, 0x1.c71c71c71c71cp-3, third), r); /* 1 + e / 3 + 2 e^2 / 9 */
  const double square = r * r;
  const double y = b * square;
  const double y2 = y * y, y2_low = fma(y, y, -y2);
  const double rest = fma(-y, y2_low, fma(-y, y2, b));
  const double root = fma(rest * square, third, y);
  const double power = double_of((bits_of(shifted) + 1023) << 52);
  return ((size > 0.0) & (size < 1.0 / 0.0)) ? elementary_signed(root * power, x) : x;
}

#endif
