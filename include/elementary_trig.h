/* sin, cos and tan (elementary.h).
 *
 * Ordinary arguments (below 2^30): n = nearest integer to x 2/pi, r = x - n pi/2 with pi/2 in three
 * doubles. The first fma is exact, because x and n times a 53-bit pi/2 are multiples of the same
 * power of two and the difference is below 1 (Boldo, Daumas, Li 2009); the rest is kept as a pair
 * of doubles. No branch: a loop over an array vectorises.
 * Large arguments: Payne and Hanek (1983): the bits of 2/pi that matter for x are multiplied by x's
 * 53-bit integer, in integers modulo 2^192: 2 bits of quadrant, 190 of fraction; no double is
 * nearer than 2^-62 to a multiple of pi/2, so 2^-137 of truncation is harmless.
 * Then sin(r) and cos(r) by polynomials of degree 13 and 14 (minimax in doubles, made with
 * Sollya's fpminimax; relative errors 2^-56 and 2^-61), n chooses among them and the sign.
 * tan is their quotient (odd n: the negative inverse), each as a pair of doubles. */
#ifndef ELEMENTARY_TRIG_H
#define ELEMENTARY_TRIG_H

#include <math.h>

#include "elementary_basic.h"
#include "elementary_exp.h"
#include "portable.h"

#define ELEMENTARY_PI_2_HIGH   0x1.921fb54442d18p0
#define ELEMENTARY_PI_2_MIDDLE 0x1.1a62633145c07p-54
#define ELEMENTARY_PI_2_LOW    -0x1.f1976b7ed8fbcp-110

/* Of the polynomials, by the power of the angle. */
#define ELEMENTARY_SIN_13 0x1.5e118e8486ceep-33
#define ELEMENTARY_SIN_11 -0x1.ae60210233ab8p-26
#define ELEMENTARY_SIN_9  0x1.71de37b1ca273p-19
#define ELEMENTARY_SIN_7  -0x1.a01a019ea130ap-13
#define ELEMENTARY_SIN_5  0x1.1111111110c83p-7
#define ELEMENTARY_SIN_3  -0x1.5555555555555p-3
#define ELEMENTARY_COS_14 -0x1.9073d4444af1dp-37
#define ELEMENTARY_COS_12 0x1.1eeb58509df49p-29
#define ELEMENTARY_COS_10 -0x1.27e4fa036d38fp-22
#define ELEMENTARY_COS_8  0x1.a01a019f38afap-16
#define ELEMENTARY_COS_6  -0x1.6c16c16c168ccp-10
#define ELEMENTARY_COS_4  0x1.5555555555555p-5

/* From here on the argument needs the large reduction. */
#define ELEMENTARY_LARGE_ANGLE 0x1p30

/* An angle reduced to [-pi/4, pi/4]: x = quadrant pi/2 + high + low (quadrant modulo 4). */
typedef struct elementary_angle {
  double high, low;
  uint64_t quadrant;
} elementary_angle;

PORTABLE int elementary_angle_is_large(double x) { return fabs(x) >= ELEMENTARY_LARGE_ANGLE; }

PORTABLE elementary_angle elementary_reduce(double x) {
  elementary_angle a;
  const double shifted = fma(x, 0x1.45f306dc9c883p-1, ELEMENTARY_SHIFT); /* 2 / pi */
  const double n = shifted - ELEMENTARY_SHIFT;
  const double r = fma(-n, ELEMENTARY_PI_2_HIGH, x); /* exact */
  const double p = n * ELEMENTARY_PI_2_MIDDLE;
  const double p_low = fma(n, ELEMENTARY_PI_2_MIDDLE, -p);
  const double high = r - p; /* with its error: Knuth's two-sum */
  const double moved = high - r;
  const double error = (r - (high - moved)) - (p + moved);
  a.high = high;
  a.low = fma(-n, ELEMENTARY_PI_2_LOW, error - p_low);
  a.quadrant = bits_of(shifted);
  return a;
}

/* Bits 64 i to 64 i + 63 of 2/pi, counted from the most significant after 64 zeros. A switch, since
 * device code has no constant arrays. */
PORTABLE uint64_t elementary_two_over_pi(int i) {
  switch (i) {
  case 1:
    return 0xA2F9836E4E441529u;
  case 2:
    return 0xFC2757D1F534DDC0u;
  case 3:
    return 0xDB6295993C439041u;
  case 4:
    return 0xFE5163ABDEBBC561u;
  case 5:
    return 0xB7246E3A424DD2E0u;
  case 6:
    return 0x06492EEA09D1921Cu;
  case 7:
    return 0xFE1DEB1CB129A73Eu;
  case 8:
    return 0xE88235F52EBB4484u;
  case 9:
    return 0xE99C7026B45F7E41u;
  case 10:
    return 0x3991D639835339F4u;
  case 11:
    return 0x9C845F8BBDF9283Bu;
  case 12:
    return 0x1FF897FFDE05980Fu;
  case 13:
    return 0xEF2F118B5A0A6D1Fu;
  case 14:
    return 0x6D367ECF27CB09B7u;
  case 15:
    return 0x4F463F669E5FEA2Du;
  case 16:
    return 0x7527BAC7EBE5F17Bu;
  case 17:
    return 0x3D0739F78A5292EAu;
  case 18:
    return 0x6BFB5FB11F8D5D08u;
  case 19:
    return 0x56033046FC7B6BABu;

  default:
    return 0;
  }
}

/* 64 bits of 2/pi from bit `at` on, counted as above. */
PORTABLE uint64_t elementary_two_over_pi_from(int at) {
  const int word = at / 64, shift = at % 64;
  const uint64_t first = elementary_two_over_pi(word) << shift;
  return shift == 0 ? first : first | elementary_two_over_pi(word + 1) >> (64 - shift);
}

/* The same for finite |x| >= 2^30 (any finite |x| >= 2^-11 would do). */
PORTABLE elementary_angle elementary_reduce_large(double x) {
  const uint64_t b = bits_of(x) & 0x7FFFFFFFFFFFFFFFu;
  const uint64_t integer = (b & 0x000FFFFFFFFFFFFFu) | 0x0010000000000000u;
  const int exponent = (int)(b >> 52) - 1075; /* |x| = integer 2^exponent */
  const uint64_t multiplier[2] = {integer & 0xFFFFFFFFu, integer >> 32};
  uint64_t digit[6]; /* 32 bits each, least significant first; of 2/pi, then of the product */
  uint64_t product[6] = {0, 0, 0, 0, 0, 0};
  elementary_angle a;

  for (int i = 0; i < 3; i++) { /* bits above 2^2 / 2^exponent only add multiples of 4 */
    const uint64_t word = elementary_two_over_pi_from(exponent + 62 + 64 * i);
    digit[5 - 2 * i] = word >> 32;
    digit[4 - 2 * i] = word & 0xFFFFFFFFu;
  }
  for (int j = 0; j < 2; j++) {
    uint64_t carry = 0;
    for (int i = 0; i + j < 6; i++) {
      const uint64_t t = digit[i] * multiplier[j] + product[i + j] + carry;
      product[i + j] = t & 0xFFFFFFFFu;
      carry = t >> 32;
    }
  }
  /* quadrant: the top two bits, rounded; what is left is a signed fraction below 1/2 */
  uint64_t quadrant = product[5] >> 30;
  const int negative = (int)(product[5] >> 29 & 1);
  product[5] &= 0x3FFFFFFFu;
  quadrant += (uint64_t)negative;
  double high = 0.0, low = 0.0, weight = 0x1p-30; /* of digit 5, whose lowest bit is 2^-30 */
  uint64_t borrow = 0;
  if (negative) { /* 1 - fraction */
    for (int i = 0; i < 6; i++) {
      const uint64_t limit = i == 5 ? 0x40000000u : 0x100000000u;
      const uint64_t t = (i == 0 || borrow == 0) ? limit - product[i] : limit - 1 - product[i];
      borrow = t < limit;
      product[i] = t % limit;
    }
  }
  for (int i = 5; i >= 0; i--) {
    const double term = (double)product[i] * weight;
    const double sum = high + term; /* high is 0 or larger than term */
    low += (high - sum) + term;
    high = sum;
    weight *= 0x1p-32;
  }
  const double sum = high + low;
  low = (high - sum) + low;
  high = sum;
  /* times pi/2, with the sign */
  const double sign = (negative != 0) != (x < 0.0) ? -1.0 : 1.0;
  const double p = high * ELEMENTARY_PI_2_HIGH;
  const double p_low = fma(high, ELEMENTARY_PI_2_HIGH, -p);
  a.high = sign * p;
  a.low = sign * fma(low, ELEMENTARY_PI_2_HIGH, fma(high, ELEMENTARY_PI_2_MIDDLE, p_low));
  a.quadrant = x < 0.0 ? 0 - quadrant : quadrant;
  return a;
}

/* sin and cos of the reduced part are a.high + sin_tail and the result of cos_head + *tail. */
PORTABLE double elementary_sin_tail(elementary_angle a) {
  const double z = a.high * a.high;
  double p = ELEMENTARY_SIN_13;
  p = fma(p, z, ELEMENTARY_SIN_11);
  p = fma(p, z, ELEMENTARY_SIN_9);
  p = fma(p, z, ELEMENTARY_SIN_7);
  p = fma(p, z, ELEMENTARY_SIN_5);
  p = fma(p, z, ELEMENTARY_SIN_3);
  return fma(a.high * z, p, fma(-0.5 * z, a.low, a.low));
}

PORTABLE double elementary_cos_head(elementary_angle a, double *tail) {
  const double z = a.high * a.high;
  double p = ELEMENTARY_COS_14;
  p = fma(p, z, ELEMENTARY_COS_12);
  p = fma(p, z, ELEMENTARY_COS_10);
  p = fma(p, z, ELEMENTARY_COS_8);
  p = fma(p, z, ELEMENTARY_COS_6);
  p = fma(p, z, ELEMENTARY_COS_4);
  const double square_error = fma(a.high, a.high, -z);
  const double half = 0.5 * z;
  const double w = 1.0 - half;
  const double error = fma(-0.5, square_error, (1.0 - w) - half);
  *tail = error + fma(z * z, p, -(a.high * a.low));
  return w;
}

/* quadrant 0: sin, 1: cos, 2: -sin, 3: -cos. */
PORTABLE double elementary_sin_of_angle(elementary_angle a) {
  double tail;
  const double s = a.high + elementary_sin_tail(a);
  const double head = elementary_cos_head(a, &tail);
  const double c = head + tail;
  const double y = (a.quadrant & 1) != 0 ? c : s;
  return double_of(bits_of(y) ^ (a.quadrant & 2) << 62);
}

/* For |x| < 2^30, infinities (NaN) and NaN. Tiny x is returned as it is, which keeps -0. */
PORTABLE double elementary_sin_ordinary(double x) {
  const double y = elementary_sin_of_angle(elementary_reduce(x));
  return fabs(x) < 0x1p-27 ? x : y;
}

PORTABLE double elementary_cos_ordinary(double x) {
  elementary_angle a = elementary_reduce(x);
  a.quadrant++;
  return elementary_sin_of_angle(a);
}

PORTABLE double elementary_sin(double x) {
  if (!elementary_angle_is_large(x)) return elementary_sin_ordinary(x);
  if (x - x != 0.0) return x - x; /* infinite */
  return elementary_sin_of_angle(elementary_reduce_large(x));
}

PORTABLE double elementary_cos(double x) {
  if (!elementary_angle_is_large(x)) return elementary_cos_ordinary(x);
  if (x - x != 0.0) return x - x;
  elementary_angle a = elementary_reduce_large(x);
  a.quadrant++;
  return elementary_sin_of_angle(a);
}

PORTABLE double elementary_tan_of_angle(elementary_angle a) {
  const double sin_tail = elementary_sin_tail(a), s = a.high + sin_tail;
  const double s_low = (a.high - s) + sin_tail;
  double cos_tail, low;
  const double head = elementary_cos_head(a, &cos_tail), c = head + cos_tail;
  const double c_low = (head - c) + cos_tail;
  const int odd = (a.quadrant & 1) != 0;
  const double n = odd ? -c : s, n_low = odd ? -c_low : s_low;
  const double q = elementary_divide_pair(n, n_low, odd ? s : c, odd ? s_low : c_low, &low);
  return q + low;
}

/* As for sin. */
PORTABLE double elementary_tan_ordinary(double x) {
  const double y = elementary_tan_of_angle(elementary_reduce(x));
  return fabs(x) < 0x1p-27 ? x : y;
}

PORTABLE double elementary_tan(double x) {
  if (!elementary_angle_is_large(x)) return elementary_tan_ordinary(x);
  if (x - x != 0.0) return x - x;
  return elementary_tan_of_angle(elementary_reduce_large(x));
}

#endif
