/* Philox 4x32-10: random numbers as a function of (seed, position), with no state. Any rank, thread
 * or device makes the number it needs, so results do not depend on who computes what.
 *
 * The 128-bit counter is trajectory (40 bits) | dyadic level (8) | step (48) | component pair (32),
 * most significant first; the key is the seed. One position gives four words, i.e. two doubles: the
 * pair. Levels below 240 refine one Brownian path (level l halves the steps of level l - 1), levels
 * from 240 on are streams of their own: philox_stream.
 *
 * Cost: 20 multiplications 32 x 32 -> 64 per position. Not for cryptography.
 * Source: Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3 (SC 2011), which
 * gives the multipliers and the key increments. */
#ifndef PHILOX_H
#define PHILOX_H

#include "portable.h"

typedef struct philox_words {
  uint32_t word[4];
} philox_words;

/* Level bytes that name a stream. */
typedef enum philox_stream {
  PHILOX_RHS = 240,
  PHILOX_RANDOM_DOMINANT = 241,
  PHILOX_SAMPLE = 242,
  PHILOX_SOBOL = 243,
  PHILOX_PROBE = 244,
  PHILOX_LANCZOS = 245
} philox_stream;

/* Ten rounds over a counter (word 0 is the least significant) under a 64-bit key. */
PORTABLE philox_words philox_rounds(philox_words counter, uint64_t key) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)0xD2511F53u * counter.word[0];
    uint64_t p1 = (uint64_t)0xCD9E8D57u * counter.word[2];
    counter.word[0] = (uint32_t)(p1 >> 32) ^ counter.word[1] ^ k0;
    counter.word[1] = (uint32_t)p1;
    counter.word[2] = (uint32_t)(p0 >> 32) ^ counter.word[3] ^ k1;
    counter.word[3] = (uint32_t)p0;
    k0 += 0x9E3779B9u; /* golden ratio */
    k1 += 0xBB67AE85u; /* sqrt(3) - 1 */
  }
  return counter;
}

/* The counter of a position. trajectory < 2^40, level < 2^8, step < 2^48; higher bits are dropped.
 */
PORTABLE philox_words philox_counter(uint64_t trajectory, uint32_t level, uint64_t step,
                                     uint32_t pair) {
  philox_words c;
  c.word[0] = pair;
  c.word[1] = (uint32_t)step;
  c.word[2] = ((uint32_t)(step >> 32) & 0xFFFFu) | (level & 0xFFu) << 16 |
              ((uint32_t)trajectory & 0xFFu) << 24;
  c.word[3] = (uint32_t)(trajectory >> 8);
  return c;
}

/* Four random words at a position. */
PORTABLE philox_words philox_at(uint64_t seed, uint64_t trajectory, uint32_t level, uint64_t step,
                                uint32_t pair) {
  return philox_rounds(philox_counter(trajectory, level, step, pair), seed);
}

/* 64 random bits: half 0 is words 0 and 1, half 1 words 2 and 3 (the first is the low one). */
PORTABLE uint64_t philox_bits(philox_words w, int half) {
  return (uint64_t)w.word[2 * half + 1] << 32 | w.word[2 * half];
}

/* A double in (0, 1), never 0 or 1: the middle of one of 2^52 equal cells, exactly. */
PORTABLE double philox_uniform(philox_words w, int half) {
  return double_of(0x3FF0000000000000u | philox_bits(w, half) >> 12) - (1.0 - 0x1p-53);
}

#endif
