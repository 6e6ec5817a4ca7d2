/* Direction numbers and their randomisation (sobol.h).
 *
 * Direction numbers: Joe, Kuo, Constructing Sobol sequences with better two-dimensional
 * projections, SIAM J. Sci. Comput. 30 (2008) 2635-2654, set new-joe-kuo-6.21201, rows 2 to 10.
 *
 * Scramble: digit k of a coordinate becomes digit k plus a random sum of the digits above it (a
 * random lower triangular matrix with ones on its diagonal, applied to the columns), then every
 * digit is flipped or not (the shift). That keeps the net, and makes every point uniform, so that
 * the mean of a replicate is unbiased. Row k of the matrix is Philox position (replicate,
 * PHILOX_SOBOL, d, k), half 0; the shift is position k = SOBOL_DIGITS. */
#include "sobol.h"

#include "philox.h"

typedef struct primitive {
  int degree;
  uint32_t inner; /* the polynomial's inner coefficients */
  uint32_t first[5];
} primitive;

static const primitive polynomials[SOBOL_DIMS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
};

void sobol_directions(int d, uint64_t *column) {
  if (d == 0) { /* van der Corput's sequence */
    for (int j = 0; j < SOBOL_COLUMNS; j++) column[j] = UINT64_C(1) << (SOBOL_DIGITS - 1 - j);
    return;
  }
  const primitive *p = &polynomials[d - 1];
  for (int j = 0; j < SOBOL_COLUMNS; j++) {
    if (j < p->degree) {
      column[j] = (uint64_t)p->first[j] << (SOBOL_DIGITS - 1 - j);
      continue;
    }
    column[j] = column[j - p->degree] ^ column[j - p->degree] >> p->degree;
    for (int k = 1; k < p->degree; k++) {
      if ((p->inner >> (p->degree - 1 - k) & 1) != 0) column[j] ^= column[j - k];
    }
  }
}

static uint64_t parity(uint64_t x) {
  for (int shift = 32; shift > 0; shift /= 2) x ^= x >> shift;
  return x & 1;
}

void sobol_scramble(uint64_t seed, int replicate, int d, uint64_t *table) {
  const uint64_t digits = (UINT64_C(1) << SOBOL_DIGITS) - 1;
  uint64_t column[SOBOL_COLUMNS];
  sobol_directions(d, column);
  for (int j = 0; j < SOBOL_COLUMNS; j++) table[j] = 0;
  for (int k = 0; k < SOBOL_DIGITS; k++) {
    const philox_words w =
        philox_at(seed, (uint64_t)replicate, PHILOX_SOBOL, (uint64_t)d, (uint32_t)k);
    const uint64_t one = UINT64_C(1) << (SOBOL_DIGITS - 1 - k), above = digits & ~(2 * one - 1);
    const uint64_t row = (philox_bits(w, 0) & above) | one;
    for (int j = 0; j < SOBOL_COLUMNS; j++) {
      if (parity(row & column[j]) != 0) table[j] |= one;
    }
  }
  const philox_words w =
      philox_at(seed, (uint64_t)replicate, PHILOX_SOBOL, (uint64_t)d, SOBOL_DIGITS);
  table[SOBOL_COLUMNS] = philox_bits(w, 0) & digits;
}
