/* Level 1 of every sum: blocks of B consecutive *global* indices, each added in one fixed order.
 * Lane l (of 32) adds elements l, l + 32, l + 64, ... from +0.0; then the lanes are added by the
 * xor tree 16, 8, 4, 2, 1. Block sums go into a wide accumulator (wide.h), which has no order.
 *
 * B is 256, or smaller for short vectors, so that there are blocks enough for every rank. A block
 * shorter than 32 has min(32, B) lanes of one element and the tree starts at half of that. The same
 * bits come from 32 lanes with the missing ones left at +0.0: no lane is ever -0.0 (they start from
 * +0.0), and adding +0.0 to anything else changes nothing. Hence one function for all lengths, and
 * a vector loop may fill missing elements with +0.0. */
#ifndef BLOCK_SUM_H
#define BLOCK_SUM_H

#include <math.h>

#include "portable.h"

enum { BLOCK_MAX = 256, BLOCK_LANES = 32 };

/* Elements per block for vectors of global length `total`: a power of two, at most BLOCK_MAX. */
PORTABLE int64_t block_size(int64_t total) {
  if (total >= 65536) return BLOCK_MAX;
  int64_t size = 1;
  while (2 * size * 256 <= total) size *= 2;
  return size;
}

/* Adds 32 lanes by the xor tree; `lane` is used up. (Constant bounds: registers, no loops.) */
PORTABLE double block_tree(double *lane) {
  for (int l = 0; l < 16; l++) lane[l] += lane[l + 16];
  for (int l = 0; l < 8; l++) lane[l] += lane[l + 8];
  for (int l = 0; l < 4; l++) lane[l] += lane[l + 4];
  for (int l = 0; l < 2; l++) lane[l] += lane[l + 2];
  return lane[0] + lane[1];
}

/* Fewer than 32 elements: as many lanes as there are elements, up to a power of two. */
PORTABLE double block_short(const double *x, const double *y, int count) {
  double lane[BLOCK_LANES];
  int width = 1;
  while (width < count) width *= 2;
  for (int l = 0; l < width; l++) {
    lane[l] = l >= count ? 0.0 : y == 0 ? 0.0 + x[l] : fma(x[l], y[l], 0.0);
  }
  for (int half = width / 2; half >= 1; half /= 2) {
    for (int l = 0; l < half; l++) lane[l] += lane[l + half];
  }
  return lane[0];
}

/* Sum of q[0 .. count), count <= BLOCK_MAX: one block. */
PORTABLE double block_sum(const double *q, int count) {
  double lane[BLOCK_LANES];
  if (count < BLOCK_LANES) return block_short(q, 0, count);
  for (int l = 0; l < BLOCK_LANES; l++) lane[l] = 0.0 + q[l];
  int at = BLOCK_LANES;
  for (; at + BLOCK_LANES <= count; at += BLOCK_LANES) {
    for (int l = 0; l < BLOCK_LANES; l++) lane[l] += q[at + l];
  }
  for (int l = 0; l < count - at; l++) lane[l] += q[at + l];
  return block_tree(lane);
}

/* block_sum of a full block; *even receives what the elements of even number add to it: the lanes
 * of even number meet before the last addition. */
PORTABLE double block_sum_even(const double *q, int count, double *even) {
  double lane[BLOCK_LANES];
  for (int l = 0; l < BLOCK_LANES; l++) lane[l] = 0.0 + q[l];
  for (int at = BLOCK_LANES; at < count; at += BLOCK_LANES) {
    for (int l = 0; l < BLOCK_LANES; l++) lane[l] += q[at + l];
  }
  const double sum = block_tree(lane); /* leaves lanes 0 and 1 as they were added */
  *even = lane[0];
  return sum;
}

/* Sum of x[i] y[i] over a block, each product fused into its lane. */
PORTABLE double block_dot(const double *x, const double *y, int count) {
  double lane[BLOCK_LANES];
  if (count < BLOCK_LANES) return block_short(x, y, count);
  for (int l = 0; l < BLOCK_LANES; l++) lane[l] = fma(x[l], y[l], 0.0);
  int at = BLOCK_LANES;
  for (; at + BLOCK_LANES <= count; at += BLOCK_LANES) {
    for (int l = 0; l < BLOCK_LANES; l++) lane[l] = fma(x[at + l], y[at + l], lane[l]);
  }
  for (int l = 0; l < count - at; l++) lane[l] = fma(x[at + l], y[at + l], lane[l]);
  return block_tree(lane);
}

#endif
