/* Device code shared by the passes: sums of blocks in DESIGN's fixed order, the wide accumulator of
 * a thread block, and the end of a step.
 *
 * The sum of a block of 256 is made by one warp: lane l chains elements l, l + 32, ...; the xor
 * tree leaves the sum in every lane; the first three lanes add its three digits. Smaller blocks
 * (short vectors) are shared out among lanes and warps likewise.
 *
 * Passes that follow each other overlap a little where the GPU can (sm_90): a pass lets the next
 * one be placed on multiprocessors as they fall idle (let_next_start), and waits before it touches
 * anything an earlier one may have written (wait_for_last). */
#ifndef CUDA_PASSES_H
#define CUDA_PASSES_H

#include <nv/target>

#include "block_tally.h"
#include "device.h"
#include "solve_rules.h"

enum { COUNTERS_AT = SUMS_MAX * WIDE_WORDS };

/* Both are nothing where the GPU has no such thing: the toolkit's macro chooses. */
static __device__ inline void let_next_start(void) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("griddepcontrol.launch_dependents;");))
}

static __device__ inline void wait_for_last(void) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("griddepcontrol.wait;" ::: "memory");))
}

/* Sums number `which` of a tile's terms u v in shared memory (absent rows: 0), blocks of 256. */
static __device__ inline void tile_sum(block_tally *t, int which, const double *u,
                                       const double *v) {
  const int lane = (int)threadIdx.x % WARP;
  double sum = 0.0;
#pragma unroll
  for (int i = 0; i < TILE / WARP; i++) {
    sum = fma(u[i * WARP + lane], v[i * WARP + lane], sum);
  }
  tally_add(t, which, lane_tree(sum, WARP));
}

/* The same for smaller blocks; all eight warps take part. */
static __device__ inline void tile_sums_small(block_tally *t, int which, const double *u,
                                              const double *v, int block) {
  const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
  if (block < WARP) {
    const int at = warp * WARP + lane;
    const double sum = lane_tree(fma(u[at], v[at], 0.0), block);
    if (lane % block == 0) tally_add_shared(t, which, sum);
  } else if (warp < TILE / block) {
    double sum = 0.0;
    for (int i = 0; i < block; i += WARP) {
      sum = fma(u[warp * block + i + lane], v[warp * block + i + lane], sum);
    }
    sum = lane_tree(sum, WARP);
    if (lane == 0) tally_add_shared(t, which, sum);
  }
}

/* Adds this lane's term of chunk i to its chain, and a finished block's sum to the tally. */
static __device__ inline void chain(block_tally *t, int which, double u, double v, int block, int i,
                                    double *sum) {
  *sum = fma(u, v, *sum);
  if (((i + 1) * WARP & (block - 1)) != 0 && block > WARP) return;
  const int lanes = block < WARP ? block : WARP;
  const double total = lane_tree(*sum, lanes);
  if ((int)threadIdx.x % lanes == 0) tally_add_shared(t, which, total);
  *sum = 0.0;
}

/* ---- the end of a step ---- */

struct verdict_room {
  wide sum[PASS_SUMS];
  int64_t counter[COUNTERS];
  double total[PASS_SUMS];
  union {
    solve_state state;
    uint32_t word[STATE_WORDS];
  } s;
};

/* Rounds a sum in shared memory; called by a whole warp. */
static __device__ inline double warp_round(wide *w) {
  const int lane = (int)threadIdx.x % WARP;
  int low = WIDE_LIMBS, high = -1;
  double total = 0.0;
  for (int at = 0; at < WIDE_WORDS; at += WARP) {
    const int i = at + lane;
    const unsigned used = __ballot_sync(ALL_LANES, i < WIDE_WORDS && w->word[i] != 0);
    if (used == 0) continue;
    if (high < 0) low = at + __ffs((int)used) - 1;
    high = at + 31 - __clz((int)used);
  }
  if (high >= WIDE_LIMBS) { /* a counter is set: what the limbs hold does not matter */
    low = 0;
    high = 0;
  }
  if (lane == 0 && high >= 0) total = wide_round_window(w, low, high);
  return total;
}

/* Words begin .. end of the tally to `to`; they are cleared. All loads are under way before the
 * first is used. */
static __device__ inline void take_words(int64_t *words, int begin, int end, int64_t *to) {
  enum { MOST = 4 };
  long long word[MOST];
#pragma unroll
  for (int k = 0; k < MOST; k++) {
    const int i = begin + (int)(threadIdx.x + k * blockDim.x);
    if (i < end) word[k] = __ldcg(reinterpret_cast<const long long *>(words) + i);
  }
#pragma unroll
  for (int k = 0; k < MOST; k++) {
    const int i = begin + (int)(threadIdx.x + k * blockDim.x);
    if (i >= end) continue;
    if (word[k] != 0) words[i] = 0;
    to[i - begin] = word[k];
  }
}

/* One thread block, after all have added: collects and clears the sums, applies the rule, posts
 * the state. Posted words carry the step number in their upper half, so the host can tell old ones
 * from new without any ordering between them. */
static __device__ inline void apply_rule(const ending &e, verdict_room *v) {
  uint32_t *state = reinterpret_cast<uint32_t *>(e.state);
  const int thread = (int)threadIdx.x, threads = (int)blockDim.x;
  take_words(e.words, 0, PASS_SUMS * WIDE_WORDS, v->sum[0].word);
  take_words(e.words, COUNTERS_AT, TALLY_WORDS, v->counter);
  for (int i = thread; i < STATE_WORDS; i += threads) v->s.word[i] = __ldcg(state + i);
  __syncthreads();
  for (int s = thread / WARP; s < PASS_SUMS; s += threads / WARP) {
    const double total = warp_round(&v->sum[s]);
    if (thread % WARP == 0) v->total[s] = total;
  }
  __syncthreads();
  if (thread == 0) {
    v->counter[COUNTER_STOP] = e.stop;
    rules_apply(static_cast<judge_kind>(e.kind), &v->s.state, v->total, v->counter);
  }
  __syncthreads();
  if (thread < STATE_WORDS) {
    volatile uint64_t *slot = e.slot;
    state[thread] = v->s.word[thread];
    slot[thread] = static_cast<uint64_t>(e.sequence) << 32 | v->s.word[thread];
  }
}

/* The end of a pass, by all threads of all blocks: flushes the block's tally; the last block to
 * come applies the rule. */
static __device__ inline void pass_end(const ending &e, block_tally *t, verdict_room *v) {
  __shared__ int last;
  unsigned long long *words = reinterpret_cast<unsigned long long *>(e.words);
  __syncthreads();
  for (int i = (int)threadIdx.x; i < BLOCK_WORDS; i += (int)blockDim.x) {
    const int to = i < PASS_SUMS * WIDE_WORDS ? i : COUNTERS_AT + COUNTER_CHANGED;
    if (t->word[i] != 0) atomicAdd(words + to, static_cast<unsigned long long>(t->word[i]));
  }
  if (e.state == nullptr) return;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence(); /* the block's additions, before its ticket */
    last = atomicInc(e.ticket, gridDim.x - 1) == gridDim.x - 1; /* back to 0 for the next pass */
    __threadfence();
  }
  __syncthreads();
  if (last) apply_rule(e, v);
}

/* Whether a pass has anything to do. */
static __device__ inline bool state_open(const solve_state *s) {
  return s == nullptr || s->verdict == VERDICT_NONE;
}

/* Launches a pass whose one argument is `args`; `early`: it may start while the last one ends. */
static __host__ inline cudaError_t launch(cudaStream_t s, const void *kernel, int blocks,
                                          int threads, void *args, int early) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  void *list[] = {args};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3((unsigned)threads);
  config.stream = s;
  config.attrs = &attribute;
  config.numAttrs = early ? 1 : 0;
  return cudaLaunchKernelExC(&config, kernel, list);
}

static __host__ inline int blocks_for(int64_t work, int64_t most) {
  return (int)(work < most ? (work > 0 ? work : 1) : most);
}

#endif
