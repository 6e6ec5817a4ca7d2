/* Text to numbers, correctly rounded and independent of any locale: what readers of large text
 * files spend their time in. All functions are local and allocate nothing.
 *
 * The text must end with a byte that cannot belong to a number ('\n'), followed by at least
 * DECIMAL_MARGIN readable bytes: digits are looked at eight at a time. */
#ifndef DECIMAL_H
#define DECIMAL_H

#include <stdint.h>
#include <string.h>

enum { DECIMAL_MARGIN = 16 };

/* Eight characters as a word, the first in the lowest byte, and with '0' taken off each. */
static inline uint64_t decimal_eight(const char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word ^ 0x3030303030303030u;
}

/* How many of the eight (from decimal_eight) are digits before the first that is not. The sum
 * carries out of a byte only where the byte itself is marked, so the lowest mark is right. */
static inline int decimal_run(uint64_t eight) {
  uint64_t other = ((eight + 0x7676767676767676u) | eight) & 0x8080808080808080u;
  return other == 0 ? 8 : __builtin_ctzll(other) >> 3;
}

/* The number that the first `run` (1 to 8) digits of `eight` make: they are moved to the top, which
 * puts zeros in front, then pairs, fours and eights are joined. */
static inline uint32_t decimal_join(uint64_t eight, int run) {
  uint64_t t = eight << (64 - 8 * run);
  const uint64_t mask = 0x000000ff000000ffu;
  t = t * 10 + (t >> 8);
  t = ((t & mask) * (100 + (1000000ull << 32)) + ((t >> 16) & mask) * (1 + (10000ull << 32))) >> 32;
  return (uint32_t)t;
}

/* Reads a whole number without sign. Returns the first byte after it, or NULL when there is no
 * digit or the number is above 2^63 - 1. */
static inline const char *decimal_index(const char *at, int64_t *out) {
  uint64_t eight = decimal_eight(at);
  int run = decimal_run(eight);
  if (run == 0) return NULL;
  int64_t value = decimal_join(eight, run);
  at += run;
  if (run == 8) {
    for (unsigned digit; (digit = (unsigned)(*at - '0')) < 10; at++) {
      if (value > (INT64_MAX - digit) / 10) return NULL;
      value = value * 10 + digit;
    }
  }
  *out = value;
  return at;
}

/* Reads [+-] digits [. digits] [(e|E|d|D) [+-] digits], to the nearest double, ties to even; beyond
 * the range: +-HUGE_VAL or zero. Returns the first byte after the number, or NULL when there is
 * none (nan and inf are none). */
const char *decimal_read(const char *at, double *out);

/* w * 10^q to the nearest double, for any w, q. */
double decimal_scale(uint64_t w, int64_t q);

/* 5^q for q from DECIMAL_POWER_MIN on, as 128 bits with the top one set (high word, low word): cut
 * for q >= 0, rounded up for q < 0. Made by decimal_powers.py. */
enum { DECIMAL_POWER_MIN = -342, DECIMAL_POWER_MAX = 308 };
extern const uint64_t decimal_power[2 * (DECIMAL_POWER_MAX - DECIMAL_POWER_MIN + 1)];

#endif
