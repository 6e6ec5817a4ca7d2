/* Device code: the exact sums of a thread block, in shared memory, and the xor tree of a warp. The
 * sum of a block of 256 elements is made by one warp: lane l chains elements l, l + 32, ...; the
 * tree leaves the sum in every lane; the first three lanes add its three digits. */
#ifndef CUDA_BLOCK_TALLY_H
#define CUDA_BLOCK_TALLY_H

#include "warp.h"
#include "wide.h"

enum { BLOCK_WORDS = PASS_SUMS * WIDE_WORDS + 1 /* the last: changed entries */ };

#define ALL_LANES 0xffffffffu

/* What a thread block gathers. */
struct block_tally {
  int64_t word[BLOCK_WORDS];
};

static __device__ inline void tally_zero(block_tally *t) {
  for (int i = (int)threadIdx.x; i < BLOCK_WORDS; i += (int)blockDim.x) t->word[i] = 0;
}

/* In shared or device memory. */
static __device__ inline void add_shared(int64_t *to, int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long *>(to), static_cast<unsigned long long>(value));
}

/* The xor tree of groups of `lanes` lanes: every lane gets its group's sum. */
template <class REAL> static __device__ inline REAL lane_tree(REAL sum, int lanes) {
  for (int half = lanes / 2; half >= 1; half /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, half);
  return sum;
}

/* Adds a sum that every lane of the warp has, a digit a lane; no other warp adds to this sum. */
static __device__ inline void tally_add(block_tally *t, int which, double sum) {
  int64_t digit[3];
  const int lane = (int)threadIdx.x % WARP, at = wide_split(sum, digit);
  const int64_t mine = lane == 0 ? digit[0] : lane == 1 ? digit[1] : digit[2];
  if (lane < 3) t->word[which * WIDE_WORDS + at + lane] += mine;
  __syncwarp(); /* the next sum's digits fall to other lanes */
}

/* Adds this lane's sum to the accumulator `word`, whoever else adds. */
static __device__ inline void words_add_shared(int64_t *word, double sum) {
  int64_t digit[3];
  word += wide_split(sum, digit);
  for (int i = 0; i < 3; i++) {
    if (digit[i] != 0) add_shared(word + i, digit[i]);
  }
}

static __device__ inline void tally_add_shared(block_tally *t, int which, double sum) {
  words_add_shared(t->word + which * WIDE_WORDS, sum);
}

/* Adds the sums of all lanes of a warp, whoever else adds. Where they have their digits in the same
 * limbs, as sums of neighbouring blocks mostly do, the digits are added by shuffles before. */
static __device__ inline void tally_add_warp(block_tally *t, int which, double sum) {
  int64_t digit[3];
  const int lane = (int)threadIdx.x % WARP;
  const bool some = (bits_of(sum) << 1) != 0;
  const unsigned all = __ballot_sync(ALL_LANES, some);
  if (all == 0) return;
  const int at = wide_split(sum, digit), first = __shfl_sync(ALL_LANES, at, __ffs((int)all) - 1);
  if (!__all_sync(ALL_LANES, at == first || !some)) {
    if (some) tally_add_shared(t, which, sum);
    return;
  }
#pragma unroll
  for (int i = 0; i < 3; i++) {
    long long d = some ? digit[i] : 0;
#pragma unroll
    for (int half = WARP / 2; half >= 1; half /= 2) d += __shfl_xor_sync(ALL_LANES, d, half);
    if (lane == i && d != 0) add_shared(t->word + which * WIDE_WORDS + first + i, d);
  }
}

/* Everything gathered goes to words[which * WIDE_WORDS + i]; by all threads, after a barrier. */
static __device__ inline void tally_flush(const block_tally *t, int sums, int64_t *words) {
  for (int i = (int)threadIdx.x; i < sums * WIDE_WORDS; i += (int)blockDim.x) {
    if (t->word[i] != 0) add_shared(words + i, t->word[i]);
  }
}

#endif
