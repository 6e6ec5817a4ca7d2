/* sinh, cosh and tanh (elementary.h). Branch-free: a loop over an array vectorises.
 *
 * |x| = k ln 2 + r, |r| <= ln2 / 2, as in elementary_exp. With A = sinh(k ln 2) and B = cosh(k ln
 * 2) sinh |x| = A cosh r + B sinh r,   cosh |x| = B cosh r + A sinh r, and A, B are (2^k -+ 2^-k) /
 * 2, doubles but for an error known exactly. sinh r - r and cosh r - 1 are polynomials of degree 11
 * and 12, so the leading parts A + B r and B + A r, taken with their rounding errors, are nearly
 * all of the result; at k = 0 sinh is the polynomial alone, and small x lose nothing. From k = 60
 * on the rest of 2^k is multiplied last, so that overflow needs no branch. tanh is the quotient of
 * the two pairs.
 *
 * Polynomials: minimax in doubles made with Sollya's fpminimax (relative errors 2^-62, 2^-70). */
#ifndef ELEMENTARY_HYPERBOLIC_H
#define ELEMENTARY_HYPERBOLIC_H

#include <math.h>

#include "elementary_basic.h"
#include "elementary_exp.h"
#include "portable.h"

/* sinh and cosh as high + low, both times `scale`; the lows are up to a tenth of the highs. */
typedef struct elementary_hyperbola {
  double sinh, sinh_low, cosh, cosh_low, scale;
} elementary_hyperbola;

/* 2^n for a whole number n in [-1022, 1023]. */
PORTABLE double elementary_power_of_two(double n) {
  return double_of((bits_of(n + ELEMENTARY_SHIFT) + 1023) << 52);
}

/* For 0 <= x <= 720, or NaN. */
PORTABLE elementary_hyperbola elementary_hyperbola_at(double x) {
  elementary_hyperbola y;
  const double k = fma(x, 0x1.71547652b82fep0, ELEMENTARY_SHIFT) - ELEMENTARY_SHIFT; /* 1 / ln 2 */
  const double exact = fma(-k, ELEMENTARY_LN2_HIGH, x);
  const double r = fma(-k, ELEMENTARY_LN2_LOW, exact);
  const double r_low = fma(-k, ELEMENTARY_LN2_LOW, exact - r);
  const double z = r * r;
  double p = 0x1.af5f9ac3029c4p-26;
  p = fma(p, z, 0x1.71ddf7db169fbp-19);
  p = fma(p, z, 0x1.a01a01b013121p-13);
  p = fma(p, z, 0x1.111111110f63ep-7);
  p = fma(p, z, 0x1.5555555555559p-3);
  const double odd = fma(r * z, p, r_low); /* sinh r - r */
  double q = 0x1.1f8bdd411c72ep-29;
  q = fma(q, z, 0x1.27e4cc13270cbp-22);
  q = fma(q, z, 0x1.a01a01ad7d4ecp-16);
  q = fma(q, z, 0x1.6c16c16c15001p-10);
  q = fma(q, z, 0x1.5555555555558p-5);
  const double even = fma(z * z, q, fma(0.5, z, r * r_low)); /* cosh r - 1 */

  const double kept = k > 60.0 ? 60.0 : k;
  const double up = elementary_power_of_two(kept - 1.0);
  const double down = elementary_power_of_two(-1.0 - kept);
  const double a = up - down, a_low = (up - a) - down;
  const double b = up + down, b_low = (up - b) + down;
  const double br = b * r, br_low = fma(b, r, -br);
  const double ar = a * r, ar_low = fma(a, r, -ar);
  y.sinh = a + br;
  y.sinh_low = ((a - y.sinh) + br) + (br_low + fma(b_low, r, a_low));
  y.sinh_low = fma(a, even, fma(b, odd, y.sinh_low));
  y.cosh = b + ar;
  y.cosh_low = ((b - y.cosh) + ar) + (ar_low + fma(a_low, r, b_low));
  y.cosh_low = fma(b, even, fma(a, odd, y.cosh_low));
  y.scale = elementary_power_of_two(k - kept);
  return y;
}

PORTABLE double elementary_sinh(double x) {
  const double size = fabs(x);
  const elementary_hyperbola y = elementary_hyperbola_at(size > 720.0 ? 720.0 : size);
  return elementary_signed((y.sinh + y.sinh_low) * y.scale, x);
}

PORTABLE double elementary_cosh(double x) {
  const double size = fabs(x);
  const elementary_hyperbola y = elementary_hyperbola_at(size > 720.0 ? 720.0 : size);
  return (y.cosh + y.cosh_low) * y.scale;
}

PORTABLE double elementary_tanh(double x) {
  const double size = fabs(x); /* rounds to 1 from 19.06 on */
  const elementary_hyperbola y = elementary_hyperbola_at(size > 22.0 ? 22.0 : size);
  const double n = y.sinh + y.sinh_low, d = y.cosh + y.cosh_low;
  double low;
  const double q =
      elementary_divide_pair(n, (y.sinh - n) + y.sinh_low, d, (y.cosh - d) + y.cosh_low, &low);
  return elementary_signed(q + low, x);
}

#endif
