/* Sobol points: a digital sequence in base 2. Point i of direction d has the binary digits
 *   shift[d] ^ xor over the set bits j of i of column[d][j],
 * where the columns are the direction numbers after a linear matrix scramble and the shift is
 * random: each replicate of a randomised rule has columns and shifts of its own, made by the host
 * (src/core/sobol_table.c). Any aligned 2^k consecutive points form a net.
 *
 * Within an aligned block of 256 points the xor over the high bits of i is the same; 8 columns are
 * left for the points of the block, so a lane costs at most 8 xors and a direction.
 *
 * Source: Sobol, USSR Comput. Math. Math. Phys. 7 (1967) 86-112; scramble: Matousek, J. Complexity
 * 14 (1998) 527-556 (random linear scrambling with a digital shift). */
#ifndef QUAD_SOBOL_H
#define QUAD_SOBOL_H

#include "portable.h"

enum {
  SOBOL_DIGITS = 52,               /* binary digits of a coordinate */
  SOBOL_COLUMNS = 48,              /* 2^48 points at most */
  SOBOL_STRIDE = SOBOL_COLUMNS + 1 /* words of a direction: columns, then the shift */
};

/* The digits of point i, first digit highest (bit 51). `table` is of one direction. */
PORTABLE uint64_t sobol_digits(const uint64_t *table, uint64_t i) {
  uint64_t digits = table[SOBOL_COLUMNS];
  for (int j = 0; i != 0; j++, i >>= 1) digits ^= table[j] & (0 - (i & 1));
  return digits;
}

/* The middle of the cell the digits name: a double in (0, 1), exactly; 1 - u is exact too. */
PORTABLE double sobol_uniform(uint64_t digits) {
  return double_of(UINT64_C(0x3FF0000000000000) | digits) - (1.0 - 0x1p-53);
}

#endif
