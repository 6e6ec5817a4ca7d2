/* asin, acos, atan and atan2 (elementary.h). Branch-free: a loop over an array vectorises.
 *
 * All end in offset + (u + u_low + u z P(z)), z = u^2, with the offset a multiple of pi/4 or pi/2
 * in two doubles and u in two, so that only the roundings of the last, small term count. atan of a
 * ratio a / b >= 0: u = a / b below tan(pi/8); (a - b) / (a + b), offset pi/4, up to tan(3 pi/8);
 * -b / a, offset pi/2, from there on (the division of the circle of Cody and Waite, 1980). asin,
 * |x| <= 1/2: u = x. Above: asin x = pi/2 - 2 asin(sqrt((1 - x) / 2)); 1 - x is exact. acos alike,
 * with pi/2 - u below 1/2 and no offset at 1, where it is small.
 *
 * Polynomials: minimax in doubles made with Sollya's fpminimax (relative errors below 2^-59). */
#ifndef ELEMENTARY_INVERSE_H
#define ELEMENTARY_INVERSE_H

#include <math.h>

#include "elementary_basic.h"
#include "portable.h"

/* Multiples of pi, each the nearest double and the rest. */
#define ELEMENTARY_PI_LOW    0x1.1a62633145c07p-53 /* of pi; halves and quarters follow */
#define ELEMENTARY_PI        0x1.921fb54442d18p1
#define ELEMENTARY_3PI_4     0x1.2d97c7f3321d2p1
#define ELEMENTARY_3PI_4_LOW 0x1.a79394c9e8a0ap-54

/* (atan(u) / u - 1) / z for z = u^2 up to tan(pi/8)^2. */
PORTABLE double elementary_atan_series(double z) {
  double p = -0x1.256a844530dd4p-6;
  p = fma(p, z, 0x1.37d5af5dcb1c3p-5);
  p = fma(p, z, -0x1.9cd2be1cb4e52p-5);
  p = fma(p, z, 0x1.df0f4afa81122p-5);
  p = fma(p, z, -0x1.10ebb84004141p-4);
  p = fma(p, z, 0x1.3b11191c6044dp-4);
  p = fma(p, z, -0x1.745cf8dc8ac93p-4);
  p = fma(p, z, 0x1.c71c70e612776p-4);
  p = fma(p, z, -0x1.24924922ad6dep-3);
  p = fma(p, z, 0x1.999999999586dp-3);
  return fma(p, z, -0x1.555555555553dp-2);
}

/* (asin(u) / u - 1) / z for z = u^2 up to 1/4. */
PORTABLE double elementary_asin_series(double z) {
  double p = 0x1.0b45e9f72ded5p-5;
  p = fma(p, z, -0x1.57fad0dea9e5bp-6);
  p = fma(p, z, 0x1.639a894e21512p-6);
  p = fma(p, z, 0x1.e5fbe88dfe589p-9);
  p = fma(p, z, 0x1.613c1e6ed7255p-7);
  p = fma(p, z, 0x1.75859dad05d99p-7);
  p = fma(p, z, 0x1.ca1f8af1f0a39p-7);
  p = fma(p, z, 0x1.1c49f077d5bc7p-6);
  p = fma(p, z, 0x1.6e8bdedebf9dfp-6);
  p = fma(p, z, 0x1.f1c71a95002fbp-6);
  p = fma(p, z, 0x1.6db6db721247bp-5);
  p = fma(p, z, 0x1.333333332e133p-4);
  return fma(p, z, 0x1.5555555555577p-3);
}

/* tan(pi/8) and tan(3 pi/8), the ends of the middle part. */
#define ELEMENTARY_TAN_PI_8  0x1.a827999fcef32p-2
#define ELEMENTARY_TAN_3PI_8 0x1.3504f333f9de6p1

/* atan(a / b) = quarters pi/4 + atan(result + *low), |result| <= tan(pi/8), for a >= 0, b > 0 whose
 * sum does not overflow. */
PORTABLE double elementary_atan_fold(double a, double b, double *quarters, double *low) {
  const int steep = a > ELEMENTARY_TAN_3PI_8 * b, middle = a > ELEMENTARY_TAN_PI_8 * b;
  double n_low, d_low;
  const double difference = elementary_two_sum(a, -b, &n_low);
  const double sum = elementary_two_sum(a, b, &d_low);
  const double n = steep ? -b : middle ? difference : a;
  const double d = steep ? a : middle ? sum : b;
  n_low = middle ? steep ? 0.0 : n_low : 0.0;
  d_low = middle ? steep ? 0.0 : d_low : 0.0;
  *quarters = steep ? 2.0 : middle ? 1.0 : 0.0;
  return elementary_divide_pair(n, n_low, d, d_low, low);
}

/* offset + offset_low + atan(u + u_low). */
PORTABLE double elementary_atan_from(double offset, double offset_low, double u, double u_low) {
  const double z = u * u;
  const double tail = fma(u * z, elementary_atan_series(z), fma(-z, u_low, u_low));
  return elementary_add_pair(offset, u, offset_low + tail);
}

PORTABLE double elementary_atan(double x) {
  double size = fabs(x), quarters, low;
  size = size > 0x1p60 ? 0x1p60 : size; /* pi/2 from 2^54 on */
  const double u = elementary_atan_fold(size, 1.0, &quarters, &low);
  const double offset = 0.25 * ELEMENTARY_PI * quarters;
  const double offset_low = 0.25 * ELEMENTARY_PI_LOW * quarters;
  return elementary_signed(elementary_atan_from(offset, offset_low, u, low), x);
}

/* The angle of the point (x, y). */
PORTABLE double elementary_atan2(double y, double x) {
  const double a = fabs(y), b = fabs(x);
  double quarters, low;
  /* far from overflow and underflow; where that loses the smaller one, it does not matter */
  const double larger = a > b ? a : b;
  const double scale = larger > 0x1p500 ? 0x1p-550 : larger < 0x1p-450 ? 0x1p550 : 1.0;
  double u = elementary_atan_fold(a * scale, b * scale, &quarters, &low);
  const int flat = a < 0x1p-60 * b, steep = b < 0x1p-60 * a;
  low = (flat | steep) != 0 ? 0.0 : low;
  u = flat ? a / b : steep ? 0.0 : u;
  /* the diagonal, which includes 0 / 0 and infinite ones */
  low = a == b ? 0.0 : low;
  u = a == b ? 0.0 : u;
  quarters = a == b ? 1.0 : quarters;
  quarters = a == 0.0 ? 0.0 : quarters;
  /* pi minus that on the left half */
  const int left = bits_of(x) >> 63 != 0;
  const double full = left ? 4.0 - quarters : quarters;
  const double offset = full == 3.0 ? ELEMENTARY_3PI_4 : 0.25 * ELEMENTARY_PI * full;
  const double offset_low = full == 3.0 ? ELEMENTARY_3PI_4_LOW : 0.25 * ELEMENTARY_PI_LOW * full;
  const double angle = elementary_atan_from(offset, offset_low, left ? -u : u, left ? -low : low);
  return elementary_signed(angle, y);
}

/* sqrt((1 - size) / 2) = result + *low, NaN above 1; *half is (1 - size) / 2, exact from 1/2 on. */
PORTABLE double elementary_half_angle(double size, double *half, double *low) {
  *half = fma(-0.5, size, 0.5);
  const double s = sqrt(*half);
  *low = fma(-s, s, *half) / (s > 0.0 ? s + s : 1.0);
  return s;
}

PORTABLE double elementary_asin(double x) {
  const double size = fabs(x);
  double half, low;
  const double s = elementary_half_angle(size, &half, &low);
  const int large = size > 0.5;
  const double z = large ? half : size * size;
  const double u = large ? -2.0 * s : size, u_low = large ? -2.0 * low : 0.0;
  const double tail = fma(u * z, elementary_asin_series(z), u_low);
  const double offset = large ? 0.5 * ELEMENTARY_PI : 0.0;
  const double offset_low = large ? 0.5 * ELEMENTARY_PI_LOW : 0.0;
  return elementary_signed(elementary_add_pair(offset, u, offset_low + tail), x);
}

PORTABLE double elementary_acos(double x) {
  const double size = fabs(x);
  double half, low;
  const double s = elementary_half_angle(size, &half, &low);
  const int large = size > 0.5;
  const double z = large ? half : size * size;
  const double sign = x > 0.0 ? 2.0 : -2.0;
  const double u = large ? sign * s : -x, u_low = large ? sign * low : 0.0;
  const double tail = fma(u * z, elementary_asin_series(z), u_low);
  const double halves = large ? x > 0.0 ? 0.0 : 2.0 : 1.0;
  const double offset_low = 0.5 * ELEMENTARY_PI_LOW * halves;
  return elementary_add_pair(0.5 * ELEMENTARY_PI * halves, u, offset_low + tail);
}

#endif
