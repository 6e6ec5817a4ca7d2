/* Standard normal numbers from Philox words, two from the four words of one position.
 *
 * Box and Muller (1958): a radius sqrt(-2 log u) and an angle that is uniform on the circle. u is
 * the 52-bit middle of a cell (philox_uniform), 2^-53 at least, so normals reach to 8.57 in size;
 * 1e-17 of the normal distribution lies beyond. The angle is one of (-pi/4, pi/4), from 52 bits of
 * the other half, and one of four turns by two of the bits that its uniform leaves: bit 0 swaps the
 * two numbers, bit 1 turns both signs. So the set of values is exactly symmetric, no angle needs a
 * reduction, and gaussian_opposite gives the mirror image for nothing.
 *
 * Cost: a logarithm (one division), a square root and the polynomials of sine and cosine, about 65
 * operations a pair; a third of the time of the Philox rounds on a CPU (bench/noise). The other
 * way, the inverse of the distribution, takes a logarithm, a square root and a division a number as
 * soon as one lane of a vector is in a tail. Relative error at most 4 2^-53.
 * Branch-free: a loop over lanes vectorises.
 * Source: Box, Muller, A note on the generation of random normal deviates, Ann. Math. Statist. 29
 * (1958) 610-611. */
#ifndef GAUSSIAN_H
#define GAUSSIAN_H

#include <math.h>

#include "elementary_exp.h"
#include "elementary_trig.h"
#include "philox.h"
#include "portable.h"

/* sqrt(-2 log u) of half 0. */
PORTABLE double gaussian_radius(philox_words w) {
  return sqrt(-2.0 * elementary_log_ordinary(philox_uniform(w, 0)));
}

/* Words that give the negative numbers, where `opposite` is 1; the same ones where it is 0. */
PORTABLE philox_words gaussian_opposite(philox_words w, uint32_t opposite) {
  w.word[2] ^= opposite << 1;
  return w;
}

/* The two normals of a position, independent of each other. */
PORTABLE void gaussian_pair(philox_words w, double *first, double *second) {
  const double radius = gaussian_radius(w);
  const double a =
      (philox_uniform(w, 1) - 0.5) * ELEMENTARY_PI_2_HIGH; /* the difference is exact */
  const double z = a * a;
  double s = ELEMENTARY_SIN_13, c = ELEMENTARY_COS_14;
  s = fma(s, z, ELEMENTARY_SIN_11);
  c = fma(c, z, ELEMENTARY_COS_12);
  s = fma(s, z, ELEMENTARY_SIN_9);
  c = fma(c, z, ELEMENTARY_COS_10);
  s = fma(s, z, ELEMENTARY_SIN_7);
  c = fma(c, z, ELEMENTARY_COS_8);
  s = fma(s, z, ELEMENTARY_SIN_5);
  c = fma(c, z, ELEMENTARY_COS_6);
  s = fma(s, z, ELEMENTARY_SIN_3);
  c = fma(c, z, ELEMENTARY_COS_4);
  s = fma(a * z, s, a);
  c = fma(z * z, c, fma(-0.5, z, 1.0));
  const uint64_t swap = philox_bits(w, 1) & 1, sign = (philox_bits(w, 1) & 2) << 62;
  const double x = double_of(bits_of(radius * (swap != 0 ? s : c)) ^ sign);
  const double y = double_of(bits_of(radius * (swap != 0 ? c : s)) ^ sign);
  *first = x;
  *second = y;
}

#endif
