/* sin, cos, tan and exp for kernels compiled at run time: the bits of elementary.h from fewer
 * instructions. What pays on a GPU is the opposite of what pays in vector lanes of a CPU:
 *
 *  - Branches are nearly free where the lanes of a warp agree, and neighbouring points mostly do:
 *    only the polynomial of the quadrant is evaluated, and arguments that need no reduction take a
 *    shorter way, on which terms of the long one that are exactly zero are left out.
 *  - Comparisons of doubles cost a floating-point instruction; those of their high words cost an
 *    integer one, which is free beside it.
 *  - A coefficient in constant memory is an operand; in the text it costs two instructions.
 *  - Rare arguments are a call: their code would cost registers everywhere.
 *
 * Each shortcut says why it leaves the bits as they are. C11 and CUDA C++, so that a test compares
 * the two on a CPU (tests/unit/elementary_gpu.c). In FP64 instructions: sin 9 below pi/4, 22 and 16
 * about pi/2 and pi, else 21 or 27 (elementary.h: 42); exp 16 below 0.34, else 24 (29). */
#ifndef ELEMENTARY_GPU_H
#define ELEMENTARY_GPU_H

#include "elementary.h"

GPU_TABLE double gpu_sin_table[] = {ELEMENTARY_SIN_13, ELEMENTARY_SIN_11, ELEMENTARY_SIN_9,
                                    ELEMENTARY_SIN_7,  ELEMENTARY_SIN_5,  ELEMENTARY_SIN_3};
GPU_TABLE double gpu_cos_table[] = {ELEMENTARY_COS_14, ELEMENTARY_COS_12, ELEMENTARY_COS_10,
                                    ELEMENTARY_COS_8,  ELEMENTARY_COS_6,  ELEMENTARY_COS_4};
GPU_TABLE double gpu_exp_table[] = {ELEMENTARY_EXP_11, ELEMENTARY_EXP_10, ELEMENTARY_EXP_9,
                                    ELEMENTARY_EXP_8,  ELEMENTARY_EXP_7,  ELEMENTARY_EXP_6,
                                    ELEMENTARY_EXP_5,  ELEMENTARY_EXP_4,  ELEMENTARY_EXP_3};
GPU_TABLE double gpu_angle_table[] = {0x1.45f306dc9c883p-1 /* 2 / pi */,
                                      ELEMENTARY_PI_2_HIGH,
                                      ELEMENTARY_PI_2_MIDDLE,
                                      ELEMENTARY_PI_2_LOW,
                                      ELEMENTARY_SHIFT,
                                      2.0 * ELEMENTARY_PI_2_HIGH,
                                      2.0 * ELEMENTARY_PI_2_MIDDLE,
                                      2.0 * ELEMENTARY_PI_2_LOW};
GPU_TABLE double gpu_power_table[] = {0x1.71547652b82fep0 /* 1 / ln 2 */, ELEMENTARY_LN2_HIGH,
                                      ELEMENTARY_LN2_LOW, ELEMENTARY_SHIFT};

/* The high word of |x|: ordered like |x|; NaN is above everything. */
GPU_ONLY uint32_t gpu_size(double x) { return (uint32_t)(bits_of(x) >> 32) & 0x7fffffffu; }

enum {
  GPU_SIZE_EIGHTH = 0x3FE921FB,  /* just below pi/4: the nearest multiple of pi/2 is 0 */
  GPU_SIZE_THIRD = 0x4002D97C,   /* just below 3 pi/4: from pi/4 on it is pi/2 */
  GPU_SIZE_FIFTH = 0x400F6A7A,   /* just below 5 pi/4: from 3 pi/4 on it is pi */
  GPU_SIZE_NEAR = 0x40400000,    /* 32 */
  GPU_SIZE_LARGE = 0x41D00000,   /* 2^30 */
  GPU_SIZE_CLEAR = 0x3EB00000,   /* 2^-20 */
  GPU_SIZE_SMALL = 0x3FD60000,   /* 0.34375, below ln 2 / 2: the nearest multiple is 0 */
  GPU_SIZE_ORDINARY = 0x40862000 /* 708: exp is a normal number */
};

GPU_ONLY double gpu_sin_series(double z) {
  double p = gpu_sin_table[0];
  p = fma(p, z, gpu_sin_table[1]);
  p = fma(p, z, gpu_sin_table[2]);
  p = fma(p, z, gpu_sin_table[3]);
  p = fma(p, z, gpu_sin_table[4]);
  return fma(p, z, gpu_sin_table[5]);
}

GPU_ONLY double gpu_cos_series(double z) {
  double p = gpu_cos_table[0];
  p = fma(p, z, gpu_cos_table[1]);
  p = fma(p, z, gpu_cos_table[2]);
  p = fma(p, z, gpu_cos_table[3]);
  p = fma(p, z, gpu_cos_table[4]);
  return fma(p, z, gpu_cos_table[5]);
}

/* elementary_cos_head + its tail, for high + low. */
GPU_ONLY double gpu_cos_of(double high, double low) {
  const double z = high * high, p = gpu_cos_series(z);
  const double square_error = fma(high, high, -z), half = 0.5 * z;
  const double w = 1.0 - half;
  const double error = fma(-0.5, square_error, (1.0 - w) - half);
  return w + (error + fma(z * z, p, -(high * low)));
}

/* x less the nearest multiple n of pi/2's first part; bits of n through *shifted. */
GPU_ONLY double gpu_remainder(double x, double *n, double *shifted) {
  *shifted = fma(x, gpu_angle_table[0], gpu_angle_table[4]);
  *n = *shifted - gpu_angle_table[4];
  return fma(-*n, gpu_angle_table[1], x);
}

/* Whether the error of r - p is (r - high) - p exactly, as the two-sum's is. It takes |r| >= |p| or
 * r = 0 (Dekker 1971). |p| < 2^-24; and below |x| = 32 r is a multiple of 2^-49 or of x's last bit,
 * both above |p|. */
GPU_ONLY int gpu_is_clear(double r) { return gpu_size(r) >= GPU_SIZE_CLEAR; }

/* The rest of elementary_reduce: pi/4 <= |x| < 2^30. */
GPU_ONLY elementary_angle gpu_angle(double r, double n, double shifted, int clear) {
  elementary_angle a;
  const double p = n * gpu_angle_table[2];
  const double p_low = fma(n, gpu_angle_table[2], -p);
  const double high = r - p;
  double error;
  if (clear) {
    error = (r - high) - p;
  } else {
    const double moved = high - r;
    error = (r - (high - moved)) - (p + moved);
  }
  a.high = high;
  a.low = fma(-n, gpu_angle_table[3], error - p_low);
  a.quadrant = bits_of(shifted);
  return a;
}

GPU_ONLY elementary_angle gpu_reduce(double x) {
  double n, shifted;
  const double r = gpu_remainder(x, &n, &shifted);
  return gpu_angle(r, n, shifted, gpu_size(x) < GPU_SIZE_NEAR || gpu_is_clear(r));
}

/* high + elementary_sin_tail. */
GPU_ONLY double gpu_sin_of(double high, double low) {
  const double z = high * high;
  return high + fma(high * z, gpu_sin_series(z), fma(-0.5 * z, low, low));
}

/* elementary_sin_of_angle: one of the two. */
GPU_ONLY double gpu_sin_of_angle(elementary_angle a) {
  double y;
  if ((a.quadrant & 1) != 0) {
    y = gpu_cos_of(a.high, a.low);
  } else {
    y = gpu_sin_of(a.high, a.low);
  }
  return double_of(bits_of(y) ^ (a.quadrant & 2) << 62);
}

GPU_FAR double gpu_sin_far(double x) { return elementary_sin(x); }
GPU_FAR double gpu_cos_far(double x) { return elementary_cos(x); }
GPU_FAR double gpu_tan_far(double x) { return elementary_tan(x); }
GPU_FAR double gpu_exp_far(double x) { return elementary_exp(x); }

/* Below pi/4 the reduction returns (x, +0): fma(-z/2, +0, +0) is +0, and fma(x z, p, +0) is the
 * rounded product. Its sign is x's, also of 0; and what is added to an x below 2^-27 is too small
 * to change it. */
GPU_ONLY double gpu_sin_small(double x) {
  const double z = x * x;
  return elementary_signed(fabs(x + (x * z) * gpu_sin_series(z)), x);
}

/* |x| less n pi/2, n = 1 or 2, which is known to be nearest. n times the parts of pi/2 is exact, so
 * the low part of n * middle is 0. |x| - n * high is 0 or at least 2^-52 n, above n * middle: so
 * the error of the second difference is what the third line says (gpu_angle). */
GPU_ONLY elementary_angle gpu_less(double size, double high_part, double middle, double low_part) {
  elementary_angle a;
  const double r = size - high_part;
  a.high = r - middle;
  a.low = ((r - a.high) - middle) - low_part;
  a.quadrant = 0;
  return a;
}

/* sin where the nearest multiple of pi/2 is +-1, and +-2; odd, as every step of it is. */
GPU_ONLY double gpu_sin_one(double x) {
  const elementary_angle a =
      gpu_less(fabs(x), gpu_angle_table[1], gpu_angle_table[2], gpu_angle_table[3]);
  return elementary_signed(gpu_cos_of(a.high, a.low), x);
}

GPU_ONLY double gpu_sin_two(double x) {
  const elementary_angle a =
      gpu_less(fabs(x), gpu_angle_table[5], gpu_angle_table[6], gpu_angle_table[7]);
  return double_of(bits_of(gpu_sin_of(a.high, a.low)) ^ (~bits_of(x) & 0x8000000000000000u));
}

/* cos likewise; even. */
GPU_ONLY double gpu_cos_one(double x) {
  const elementary_angle a =
      gpu_less(fabs(x), gpu_angle_table[1], gpu_angle_table[2], gpu_angle_table[3]);
  return -gpu_sin_of(a.high, a.low);
}

GPU_ONLY double gpu_cos_two(double x) {
  const elementary_angle a =
      gpu_less(fabs(x), gpu_angle_table[5], gpu_angle_table[6], gpu_angle_table[7]);
  return -gpu_cos_of(a.high, a.low);
}

/* Whether |x| of this size is between pi/4 and 3 pi/4, and between that and 5 pi/4; in both cases a
 * little inside. */
GPU_ONLY int gpu_is_one(uint32_t least, uint32_t most) {
  return least > GPU_SIZE_EIGHTH && most < GPU_SIZE_THIRD;
}
GPU_ONLY int gpu_is_two(uint32_t least, uint32_t most) {
  return least > GPU_SIZE_THIRD && most < GPU_SIZE_FIFTH;
}

GPU_ONLY double gpu_sin(double x) {
  const uint32_t size = gpu_size(x);
  if (size >= GPU_SIZE_LARGE) return gpu_sin_far(x);
  if (size < GPU_SIZE_EIGHTH) return gpu_sin_small(x);
  if (gpu_is_one(size, size)) return gpu_sin_one(x);
  if (gpu_is_two(size, size)) return gpu_sin_two(x);
  return gpu_sin_of_angle(gpu_reduce(x));
}

GPU_ONLY double gpu_cos(double x) {
  const uint32_t size = gpu_size(x);
  if (size >= GPU_SIZE_LARGE) return gpu_cos_far(x);
  if (size < GPU_SIZE_EIGHTH) return gpu_cos_of(x, 0.0);
  if (gpu_is_one(size, size)) return gpu_cos_one(x);
  if (gpu_is_two(size, size)) return gpu_cos_two(x);
  elementary_angle a = gpu_reduce(x);
  a.quadrant++;
  return gpu_sin_of_angle(a);
}

GPU_ONLY double gpu_tan(double x) {
  return gpu_size(x) >= GPU_SIZE_LARGE ? gpu_tan_far(x) : elementary_tan_ordinary(x);
}

GPU_ONLY double gpu_exp_series(double r) {
  double p = gpu_exp_table[0];
  p = fma(p, r, gpu_exp_table[1]);
  p = fma(p, r, gpu_exp_table[2]);
  p = fma(p, r, gpu_exp_table[3]);
  p = fma(p, r, gpu_exp_table[4]);
  p = fma(p, r, gpu_exp_table[5]);
  p = fma(p, r, gpu_exp_table[6]);
  p = fma(p, r, gpu_exp_table[7]);
  p = fma(p, r, gpu_exp_table[8]);
  return fma(p, r, ELEMENTARY_EXP_2);
}

/* Below ln 2 / 2: k = 0, r = x, and r_low = +0 adds nothing to r^2 p >= +0. */
GPU_ONLY double gpu_exp_small(double x) {
  const double p = gpu_exp_series(x);
  const double sum = 1.0 + x;
  const double error = (1.0 - sum) + x;
  return sum + (error + x * x * p);
}

/* Below 708: the result is normal, so the two scalings are exact, and are one addition to the
 * exponent. */
GPU_ONLY double gpu_exp_ordinary(double x) {
  const double shifted = fma(x, gpu_power_table[0], gpu_power_table[3]);
  const double k = shifted - gpu_power_table[3];
  const double exact = fma(-k, gpu_power_table[1], x);
  const double r = fma(-k, gpu_power_table[2], exact);
  const double r_low = fma(-k, gpu_power_table[2], exact - r);
  const double p = gpu_exp_series(r);
  const double sum = 1.0 + r;
  const double error = (1.0 - sum) + r;
  const double curved = r * r * p;
  const double y = sum + (error + fma(sum + curved, r_low, curved));
  return double_of(bits_of(y) + (bits_of(shifted) << 52)); /* k is in the low bits of shifted */
}

GPU_ONLY double gpu_exp(double x) {
  const uint32_t size = gpu_size(x);
  if (size < GPU_SIZE_SMALL) return gpu_exp_small(x);
  return size < GPU_SIZE_ORDINARY ? gpu_exp_ordinary(x) : gpu_exp_far(x);
}

#endif
