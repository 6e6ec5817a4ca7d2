/* erf (elementary.h). Branch-free: a loop over an array vectorises.
 *
 * |x| < 0.875: x + x P(x^2), P of degree 11 (relative error of the whole 2^-56).
 * Else 1 - exp(Q(|x| - 1)), Q of degree 18 close to log(erfc) in the measure that counts: its
 * error times erfc(x), which falls from 0.216, is below 2^-56.8. From 5.95 on erf rounds to 1.
 * Both are computed and one is chosen.
 *
 * Polynomials: minimax, made with Sollya (fpminimax; remez with erfc as the weight, coefficients
 * then rounded). */
#ifndef ELEMENTARY_ERF_H
#define ELEMENTARY_ERF_H

#include <math.h>

#include "elementary_basic.h"
#include "elementary_exp.h"
#include "portable.h"

/* For 0 <= x < 0.875. */
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

/* For 0.875 <= x <= 5.95. */
PORTABLE double elementary_erf_large(double x) {
  const double t = x - 1.0, constant = -0x1.d97fbf27aa2a1p0;
  double p = 0x1.938e720cb3eebp-40;
  p = fma(p, t, -0x1.4e663eabf4b93p-35);
  p = fma(p, t, 0x1.ff30d3335bb31p-32);
  p = fma(p, t, -0x1.dced5ed9c6e73p-29);
  p = fma(p, t, 0x1.2ba43471dd1p-26);
  p = fma(p, t, -0x1.fed9c52440f45p-25);
  p = fma(p, t, 0x1.e6fe3789f1b7dp-24);
  p = fma(p, t, 0x1.fad78f45dd13fp-24);
  p = fma(p, t, -0x1.109377cdfed26p-19);
  p = fma(p, t, 0x1.41964afc85cfdp-17);
  p = fma(p, t, -0x1.c7645fd2637e3p-16);
  p = fma(p, t, 0x1.b8c0507276bcdp-16);
  p = fma(p, t, 0x1.f1b4bab83d46p-13);
  p = fma(p, t, -0x1.033f69b2c14b7p-9);
  p = fma(p, t, 0x1.48c9d40ceaf32p-7);
  p = fma(p, t, -0x1.5477f09ca5ecfp-5);
  p = fma(p, t, -0x1.afabc11a28fc5p-1);
  p = fma(p, t, -0x1.51c9b0006c23ep1);
  const double rest = p * t;
  const double high = constant + rest; /* the rounding counts where `rest` is small */
  const double low = (constant - high) + rest;
  return 1.0 - elementary_exp_of_pair(high, low);
}

PORTABLE double elementary_erf(double x) {
  const double size = fabs(x);
  const double small = elementary_erf_small(size);
  const double large = elementary_erf_large(size > 5.95 ? 5.95 : size);
  return elementary_signed(size < 0.875 ? small : large, x);
}

#endif
