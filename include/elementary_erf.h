/* erf (elementary.h). Branch-free: a loop over an array vectorises.
 *
 * |x| < 0.9375: x + x P(x^2), P of degree 11 (relative error of the whole 2^-56).
 * Else 1 - exp(Q(|x| - 1)), Q of degree 18 close to log(erfc) in the measure that counts: its
 * error times erfc(x), which falls from 0.185, is below 2^-58. From 5.95 on erf rounds to 1.
 * Both are computed and one is chosen.
 *
 * Polynomials: minimax, made with Sollya (fpminimax; remez with erfc as the weight, coefficients
 * then rounded, the constant to two doubles). */
#ifndef ELEMENTARY_ERF_H
#define ELEMENTARY_ERF_H

#include <math.h>

#include "elementary_basic.h"
#include "elementary_exp.h"
#include "portable.h"

/* For 0 <= x < 0.9375. */
PORTABLE double elementary_erf_small(double x) {
  const double z = x * x;
  double p = -0x1.becbd5380fa6bp-31;
  p = fma(p, z, 0x1.dcfd3faf4265ep-27);
  p = fma(p, z, -0x1.5ccece84797a9p-23);
  p = fma(p, z, 0x1.b99da0d6ad93p-20);
  p = fma(p, z, -0x1.f4cd0cc572933p-17);
  p = fma(p, z, 0x1.f9a2e3fd16304p-14);
  p = fma(p, z, -0x1.c02db1c8336c1p-11);
  p = fma(p, z, 0x1.565bcd0223b0ep-8);
  p = fma(p, z, -0x1.b82ce31234fc7p-6);
  p = fma(p, z, 0x1.ce2f21a0417ffp-4);
  p = fma(p, z, -0x1.812746b0379c4p-2);
  p = fma(p, z, 0x1.06eba8214db68p-3);
  return fma(x, p, x);
}

/* For 0.9375 <= x <= 5.95. */
PORTABLE double elementary_erf_large(double x) {
  const double t = x - 1.0, constant = -0x1.d97fbf27aa2a1p0;
  double p = 0x1.5a81503adba71p-40;
  p = fma(p, t, -0x1.258b1ab69d934p-35);
  p = fma(p, t, 0x1.ca95c3976beb7p-32);
  p = fma(p, t, -0x1.b4a3611f9af9dp-29);
  p = fma(p, t, 0x1.172c815ede576p-26);
  p = fma(p, t, -0x1.e1b921bac9476p-25);
  p = fma(p, t, 0x1.c91f0bfb9e50dp-24);
  p = fma(p, t, 0x1.13cb6e26eb9b3p-23);
  p = fma(p, t, -0x1.121bf48a2aba2p-19);
  p = fma(p, t, 0x1.41e4683fd02b9p-17);
  p = fma(p, t, -0x1.c77a834324ba9p-16);
  p = fma(p, t, 0x1.b8c8eddfe5063p-16);
  p = fma(p, t, 0x1.f1b475e947be6p-13);
  p = fma(p, t, -0x1.033f691b84f8dp-9);
  p = fma(p, t, 0x1.48c9d40b7b494p-7);
  p = fma(p, t, -0x1.5477f09cb475fp-5);
  p = fma(p, t, -0x1.afabc11a28eb1p-1);
  p = fma(p, t, -0x1.51c9b0006c23cp1);
  const double rest = p * t;
  const double high = constant + rest; /* the rounding counts where `rest` is small */
  const double low = ((constant - high) + rest) - 0x1.84198977770dap-56;
  return 1.0 - elementary_exp_of_pair(high, low);
}

PORTABLE double elementary_erf(double x) {
  const double size = fabs(x);
  const double small = elementary_erf_small(size);
  const double large = elementary_erf_large(size > 5.95 ? 5.95 : size);
  return elementary_signed(size < 0.9375 ? small : large, x);
}

#endif
