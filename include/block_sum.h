/* The block of consecutive global indices whose elements are summed in one fixed order
 * (docs/reproducibility.md): a function of the global length alone, so that no partition shows in a
 * sum. */
#ifndef BLOCK_SUM_H
#define BLOCK_SUM_H

#include "portable.h"

/* 256 from 65536 elements on, else the largest power of two at most total / 256, at least 1. */
PORTABLE int64_t block_size(int64_t total) {
  int64_t block = 1;
  if (total >= 65536) return 256;
  while (2 * block <= total / 256) block *= 2;
  return block;
}

#endif
