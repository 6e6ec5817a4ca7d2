/* exp and log (elementary.h). Branch-free: a loop over an array vectorises.
 *
 * exp: x = k ln 2 + r, |r| <= ln2 / 2, r from a two-part ln 2 whose first part times k is exact
 * (Cody, Waite 1980); exp(r) by a polynomial of degree 11, relative error 2^-57; then two exact
 * scalings by powers of two, so that overflow and subnormal results need no branch.
 *
 * log: x = 2^k m, m in [sqrt(1/2), sqrt(2)); with f = m - 1, s = f / (2 + f), R(s^2) =
 * (log((1 + s) / (1 - s)) - 2 s) / s: log m = f - (f^2/2 - s (f^2/2 + R)) (the form K.-C. Ng chose
 * for fdlibm, 1993); k ln 2 + f is added with its rounding error.
 *
 * Polynomials: minimax fits in doubles made with Sollya's fpminimax over the reduced ranges. */
#ifndef ELEMENTARY_EXP_H
#define ELEMENTARY_EXP_H

#include <math.h>

#include "portable.h"

/* 0/0; written so, GPU compilers make it a division. */
#define ELEMENTARY_NAN double_of(UINT64_C(0x7ff8000000000000))

/* ln 2: the first 42 bits, so that an integer below 2^11 times it is exact, and the next 53. */
#define ELEMENTARY_LN2_HIGH 0x1.62e42fefa38p-1
#define ELEMENTARY_LN2_LOW  0x1.ef35793c7673p-45

/* Of exp's polynomial, by power. */
#define ELEMENTARY_EXP_11 0x1.ad1fd114e1be8p-26
#define ELEMENTARY_EXP_10 0x1.289fa4be14898p-22
#define ELEMENTARY_EXP_9  0x1.71df55a0e62c9p-19
#define ELEMENTARY_EXP_8  0x1.a019ab1529da2p-16
#define ELEMENTARY_EXP_7  0x1.a01a011be3b57p-13
#define ELEMENTARY_EXP_6  0x1.6c16c17cca2b2p-10
#define ELEMENTARY_EXP_5  0x1.1111111128967p-7
#define ELEMENTARY_EXP_4  0x1.55555555531f3p-5
#define ELEMENTARY_EXP_3  0x1.5555555555501p-3
#define ELEMENTARY_EXP_2  0.5

/* Added to a double below 2^51 in size, leaves its nearest integer in the low bits. */
#define ELEMENTARY_SHIFT 0x1.8p52

/* exp(high + low), low small beside high; `high` in [-746, 710] or NaN. */
PORTABLE double elementary_exp_of_pair(double high, double low) {
  const double shifted = fma(high, 0x1.71547652b82fep0, ELEMENTARY_SHIFT); /* 1 / ln 2 */
  const double k = shifted - ELEMENTARY_SHIFT;
  const double exact = fma(-k, ELEMENTARY_LN2_HIGH, high);
  const double r = fma(-k, ELEMENTARY_LN2_LOW, exact);
  const double r_low = fma(-k, ELEMENTARY_LN2_LOW, exact - r) + low;
  double p = ELEMENTARY_EXP_11;
  p = fma(p, r, ELEMENTARY_EXP_10);
  p = fma(p, r, ELEMENTARY_EXP_9);
  p = fma(p, r, ELEMENTARY_EXP_8);
  p = fma(p, r, ELEMENTARY_EXP_7);
  p = fma(p, r, ELEMENTARY_EXP_6);
  p = fma(p, r, ELEMENTARY_EXP_5);
  p = fma(p, r, ELEMENTARY_EXP_4);
  p = fma(p, r, ELEMENTARY_EXP_3);
  p = fma(p, r, ELEMENTARY_EXP_2);
  const double sum = 1.0 + r; /* with its error: |r| < 1 */
  const double error = (1.0 - sum) + r;
  const double curved = r * r * p;
  const double y = sum + (error + fma(sum + curved, r_low, curved));
  /* 2^k = 2^k1 2^k2: k + 2046 is positive, its halves are biased exponents */
  const uint64_t both = bits_of(shifted) - bits_of(ELEMENTARY_SHIFT) + 2046;
  const uint64_t half = both >> 1;
  return y * double_of(half << 52) * double_of((both - half) << 52);
}

PORTABLE double elementary_exp(double x) {
  x = x > 710.0 ? 710.0 : x;   /* exp overflows from 709.79 on */
  x = x < -746.0 ? -746.0 : x; /* and rounds to 0 from -745.14 down */
  return elementary_exp_of_pair(x, 0.0);
}

/* Splits positive normal finite x into 2^k m, m in [sqrt(1/2), sqrt(2)); other x give some m and k.
 */
PORTABLE double elementary_split_normal(double x, double *k) {
  const uint64_t root = 0x3FE6A09E667F3BCDu; /* sqrt(1/2) */
  const uint64_t b = bits_of(x) + (0x3FF0000000000000u - root);
  *k = double_of(0x4330000000000000u | b >> 52) - (0x1p52 + 1023.0);
  return double_of((b & 0x000FFFFFFFFFFFFFu) + root);
}

/* The same for every positive finite x. */
PORTABLE double elementary_split(double x, double *k) {
  const int subnormal = x < 0x1p-1022;
  double exponent;
  const double m = elementary_split_normal(subnormal ? x * 0x1p54 : x, &exponent);
  *k = exponent - (subnormal ? 54.0 : 0.0);
  return m;
}

/* log(2^k m) of a split x. */
PORTABLE double elementary_log_of_split(double m, double k) {
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = 0x1.2b5f5b2f7190cp-3;
  p = fma(p, z, 0x1.39fdcbbcee0e7p-3);
  p = fma(p, z, 0x1.7462b925f9f72p-3);
  p = fma(p, z, 0x1.c71c62d649d8dp-3);
  p = fma(p, z, 0x1.2492492dfb9b8p-2);
  p = fma(p, z, 0x1.99999999952b9p-2);
  p = fma(p, z, 0x1.5555555555558p-1);
  const double half_square = 0.5 * f * f;
  const double tail = half_square - fma(s, fma(z, p, half_square), k * ELEMENTARY_LN2_LOW);
  const double a = k * ELEMENTARY_LN2_HIGH; /* exact; larger than f, or 0 */
  const double high = a + f;
  return high + (((a - high) + f) - tail);
}

/* For positive, normal, finite x. */
PORTABLE double elementary_log_ordinary(double x) {
  double k;
  const double m = elementary_split_normal(x, &k);
  return elementary_log_of_split(m, k);
}

PORTABLE double elementary_log(double x) {
  double k;
  const double m = elementary_split(x, &k);
  const double y = elementary_log_of_split(m, k);
  const double infinite = 1.0 / 0.0;
  return x > 0.0 ? (x < infinite ? y : x) : (x == 0.0 ? -infinite : x < 0.0 ? ELEMENTARY_NAN : x);
}

#endif
