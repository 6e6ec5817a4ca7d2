/* The wide accumulator: an exact sum of doubles, so that threads, ranks and GPUs may add in any
 * order and still get the same bits, rounded once.
 *
 * Layout: limb i holds a multiple of 2^(32 i - 1074). 66 limbs of 32-bit digits cover every finite
 * double (2^-1074 .. 2^1024), the 67th is headroom: 2^46 times the largest double. A limb is a
 * signed 64-bit integer, so digits of up to 2^30 additions pile up in it before a carry is due.
 * Three counters follow: NaN, +Inf, -Inf. All 70 words are plain integers: merging is adding them,
 * by a loop, atomics, MPI_SUM or NCCL.
 *
 * Rule of use: call wide_normalise after at most WIDE_ADDITIONS additions, and before merging,
 * flushing or an allreduce; merges of up to 2^30 normalised accumulators need no carry in between.
 *
 * Cost: wide_add is a shift and three integer additions, about 2 ns; meant for sums of blocks
 * (block_sum.h), one in up to 256 elements. Not for single elements of long vectors.
 * Source: Kulisch, Computer Arithmetic and Validity (2013), ch. 8; Neal (2015), "small" form. */
#ifndef WIDE_H
#define WIDE_H

#include "portable.h"

enum { WIDE_LIMBS = 67, WIDE_NAN = 67, WIDE_PLUS_INF = 68, WIDE_MINUS_INF = 69, WIDE_WORDS = 70 };

#define WIDE_ADDITIONS (INT64_C(1) << 30)
#define WIDE_DIGIT     INT64_C(0xffffffff)

typedef struct wide {
  int64_t word[WIDE_WORDS];
} wide;

PORTABLE void wide_clear(wide *w) {
  for (int i = 0; i < WIDE_WORDS; i++) w->word[i] = 0;
}

/* What adding x means: digit[0..2] are to be added to the returned word and the two after it. NaN
 * and infinities come out as additions to the three counters. For code that adds by atomics. */
PORTABLE int wide_split(double x, int64_t digit[3]) {
  uint64_t bits = bits_of(x);
  uint64_t exponent = bits >> 52 & 0x7ff, fraction = bits & ((UINT64_C(1) << 52) - 1);
  int64_t sign = -(int64_t)(bits >> 63); /* 0, or -1: all ones */
  if (exponent == 0x7ff) {
    digit[0] = fraction != 0;
    digit[1] = fraction == 0 && sign == 0;
    digit[2] = fraction == 0 && sign != 0;
    return WIDE_NAN;
  }
  uint64_t normal = exponent != 0;
  uint64_t mantissa = fraction | normal << 52;
  uint64_t position = exponent - normal; /* of the mantissa's last bit, above 2^-1074 */
  uint64_t shift = position & 31, low = mantissa << shift;
  digit[0] = ((int64_t)(low & 0xffffffff) ^ sign) - sign;
  digit[1] = ((int64_t)(low >> 32) ^ sign) - sign;
  digit[2] = ((int64_t)(mantissa >> 32 >> (32 - shift)) ^ sign) - sign;
  return (int)(position >> 5);
}

/* Adds x exactly. */
PORTABLE void wide_add(wide *w, double x) {
  int64_t digit[3];
  int at = wide_split(x, digit);
  w->word[at] += digit[0];
  w->word[at + 1] += digit[1];
  w->word[at + 2] += digit[2];
}

/* Carries limbs [low, high) into the next one. */
PORTABLE void wide_carry(wide *w, int low, int high) {
  int64_t carry = 0;
  for (int i = low; i < high; i++) {
    int64_t t = w->word[i] + carry;
    w->word[i] = t & WIDE_DIGIT;
    carry = t >> 32; /* arithmetic: towards minus infinity */
  }
  w->word[high] += carry;
}

/* Carries: every limb but the last into [0, 2^32); the last keeps the sign. Does not change the
 * value; two accumulators of equal value have equal words afterwards. */
PORTABLE void wide_normalise(wide *w) { wide_carry(w, 0, WIDE_LIMBS - 1); }

/* to += from. */
PORTABLE void wide_merge(wide *to, const wide *from) {
  for (int i = 0; i < WIDE_WORDS; i++) to->word[i] += from->word[i];
}

/* The magnitude of a normalised, not negative w as a double, rounded to nearest even; its limbs
 * outside [low, high] are zero. */
PORTABLE double wide_magnitude(const wide *w, int low, int high) {
  while (high > 0 && w->word[high] == 0) high--;
  /* the top three limbs in 96 bits: head holds two, tail the third; below it only "any bit set" */
  uint64_t head = (uint64_t)w->word[high] << 32, tail = 0, below = 0;
  if (high == WIDE_LIMBS - 1) return double_of(UINT64_C(0x7ff) << 52); /* 2^1038 and more */
  if (high > 0) head |= (uint64_t)w->word[high - 1];
  if (high > 1) tail = (uint64_t)w->word[high - 2];
  for (int i = low; i < high - 2; i++) below |= (uint64_t)w->word[i];

  if (high == 0) return double_of(head >> 32); /* below 2^53 the integer is the bit pattern, */
  int top = 63;                                /* of denormals and of the first normals */
  for (int step = 16; step >= 1; step /= 2) {  /* the leading bit is one of 63 .. 32 */
    if (head >> (top - step + 1) == 0) top -= step;
  }
  int position = 32 * (high - 1) + top; /* of the leading bit, above 2^-1074 */
  if (position <= 52) return double_of(head);
  if (position > 2097) return double_of(UINT64_C(0x7ff) << 52);

  /* keep bits top .. top - 52 of head:tail */
  int drop = top - 52; /* > 0: bits of head to drop; <= 0: bits of tail to take in */
  uint64_t kept, rest, half;
  if (drop > 0) {
    kept = head >> drop;
    half = UINT64_C(1) << (drop - 1);
    rest = head & ((half << 1) - 1);
    below |= tail;
  } else {
    kept = head << -drop | tail >> (32 + drop);
    half = UINT64_C(1) << (31 + drop);
    rest = tail & ((half << 1) - 1);
  }
  uint64_t bits = ((uint64_t)(position - 52) << 52) + kept; /* kept's top bit is the exponent's 1 */
  if (rest > half || (rest == half && (below != 0 || (kept & 1) != 0))) bits++;
  return double_of(bits); /* a carry out of the largest double is infinity */
}

/* wide_round of a w whose limbs outside [low, high] are zero (a GPU finds them in parallel); uses
 * *w up. */
PORTABLE double wide_round_window(wide *w, int low, int high) {
  int plus = w->word[WIDE_PLUS_INF] != 0, minus = w->word[WIDE_MINUS_INF] != 0;
  if (w->word[WIDE_NAN] != 0 || (plus && minus)) return double_of(UINT64_C(0x7ff8) << 48);
  if (plus) return double_of(UINT64_C(0x7ff) << 52);
  if (minus) return double_of(UINT64_C(0xfff) << 52);
  if (high < WIDE_LIMBS - 1) high++; /* takes the carry, and the sign */
  wide_carry(w, low, high);
  if (w->word[high] >= 0) return wide_magnitude(w, low, high);
  for (int i = low; i <= high; i++) w->word[i] = -w->word[i];
  wide_carry(w, low, high);
  return -wide_magnitude(w, low, high);
}

/* The sum, correctly rounded to nearest even; beyond the largest double infinite. Any NaN, or both
 * infinities, is NaN. A sum of exactly zero is +0.0. */
PORTABLE double wide_round(const wide *w) {
  wide t = *w;
  return wide_round_window(&t, 0, WIDE_LIMBS - 1);
}

#endif
