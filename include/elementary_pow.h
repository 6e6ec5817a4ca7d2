/* pow and log10 (elementary.h), and the power operator of expressions.
 *
 * pow(x, y) = exp(y log x) with log x as a pair of doubles, relative error about 2^-65: as in
 * elementary_log, but s = f / (2 + f), s^2, the leading coefficient 2/3 and the products with them
 * carry their rounding errors; only the rest of the series (below 2^-6.4 of the whole) is plain.
 * Since |y log x| < 746, exp's argument is good to about 2^-55. log10 is the same pair times
 * 1 / ln 10. Branch-free. Polynomial: minimax in doubles, made with Sollya's fpminimax. */
#ifndef ELEMENTARY_POW_H
#define ELEMENTARY_POW_H

#include <math.h>

#include "elementary_exp.h"
#include "portable.h"

/* log x = result + *low for positive finite x. */
PORTABLE double elementary_log_pair(double x, double *low) {
  double k;
  const double m = elementary_split(x, &k);
  const double f = m - 1.0; /* exact */
  const double d = 2.0 + f, d_low = f - (d - 2.0);
  const double inverse = 1.0 / d;
  const double s = f * inverse;
  const double s_low = fma(-s, d_low, fma(-s, d, f)) * inverse;
  const double z = s * s, z_low = fma(s + s, s_low, fma(s, s, -z));
  double p = 0x1.daa559ed76839p-4; /* (log((1 + s) / (1 - s)) / s - 2 - 2/3 z) / z^2 */
  p = fma(p, z, 0x1.e01971bc0ada6p-4);
  p = fma(p, z, 0x1.111551154f6e8p-3);
  p = fma(p, z, 0x1.3b13a9cbb9295p-3);
  p = fma(p, z, 0x1.745d173ce41bap-3);
  p = fma(p, z, 0x1.c71c71c74c77ap-3);
  p = fma(p, z, 0x1.24924924922fep-2);
  p = fma(p, z, 0x1.999999999999ap-2);
  p = p * z;
  const double two_thirds = 0x1.5555555555555p-1;
  const double q = two_thirds + p, q_low = ((two_thirds - q) + p) + 0x1.5555555555555p-55;
  const double u = z * q, u_low = fma(z, q, -u) + fma(z, q_low, z_low * q);
  const double v = 2.0 + u, v_low = ((2.0 - v) + u) + u_low;
  const double w = s * v, w_low = fma(s, v, -w) + fma(s, v_low, s_low * v);
  const double a = k * ELEMENTARY_LN2_HIGH; /* exact; larger than w, or 0 */
  const double high = a + w;
  const double rest = ((a - high) + w) + fma(k, ELEMENTARY_LN2_LOW, w_low);
  const double sum = high + rest;
  *low = (high - sum) + rest;
  return sum;
}

PORTABLE double elementary_log10(double x) {
  double low;
  const double high = elementary_log_pair(x, &low);
  const double scale = 0x1.bcb7b1526e50ep-2, scale_low = 0x1.95355baaafad3p-57; /* 1 / ln 10 */
  const double p = high * scale;
  const double rest = fma(high, scale, -p) + fma(high, scale_low, low * scale);
  const double y = p + rest, infinite = 1.0 / 0.0;
  const double special = x == 0.0 ? -infinite : x < 0.0 ? ELEMENTARY_NAN : x;
  return ((x > 0.0) & (x < infinite)) ? y : special;
}

/* Whether |t| is an integer: adding 2^52 rounds to one. */
PORTABLE int elementary_is_integer(double t) {
  t = fabs(t);
  return t >= 0x1p52 || (t + 0x1p52) - 0x1p52 == t;
}

PORTABLE double elementary_pow(double x, double y) {
  const double infinite = 1.0 / 0.0;
  const double size = fabs(x);
  double low;
  const double high = elementary_log_pair(size, &low);
  /* at 0 and infinity the logarithm is settled by hand */
  const double log_high = size == 0.0 ? -infinite : size < infinite ? high : size;
  const double product = y * log_high;
  const double rest = fma(y, high, -product) + y * low;
  const double limited = product < -746.0 ? -746.0 : product > 710.0 ? 710.0 : product;
  const double power = elementary_exp_of_pair(limited, limited == product ? rest : 0.0);
  const int odd = elementary_is_integer(y) && !elementary_is_integer(0.5 * y);
  const uint64_t sign = odd ? bits_of(x) & 0x8000000000000000u : 0;
  const double signed_power = double_of(bits_of(power) | sign);
  const double general =
      x < 0.0 && size < infinite && !elementary_is_integer(y) ? ELEMENTARY_NAN : signed_power;
  return y == 0.0 || x == 1.0 || (x == -1.0 && fabs(y) == infinite) ? 1.0 : general;
}

/* The power operator: integer exponents up to 16 in size are multiplications, bits of the exponent
 * from the top (square, then times x where the bit is set), and 1 over that for negative ones;
 * everything else is pow. The rule looks at the exponent's value, not at how it was written. */
enum { ELEMENTARY_POWER_SMALL = 16 };

PORTABLE int elementary_power_is_small(double y) {
  return fabs(y) <= (double)ELEMENTARY_POWER_SMALL && elementary_is_integer(y);
}

/* x^n by multiplications, |n| at most 16. */
PORTABLE double elementary_power_small(double x, int n) {
  const int size = n < 0 ? -n : n;
  double y = 1.0;
  for (int bit = ELEMENTARY_POWER_SMALL; bit > 0; bit /= 2) {
    y = y * y;
    y = (size & bit) != 0 ? y * x : y;
  }
  return n < 0 ? 1.0 / y : y;
}

PORTABLE double elementary_power(double x, double y) {
  return elementary_power_is_small(y) ? elementary_power_small(x, (int)y) : elementary_pow(x, y);
}

#endif
