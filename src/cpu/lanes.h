/* Eight lanes of doubles in two AVX2 registers, for the rows of a slice. A compiler given the same
 * loops over arrays keeps the sums in memory (a store and a load per entry: 3 x slower), so here
 * the registers are named. The only file that knows the instruction set; every operation is one
 * IEEE operation per lane, so the bits are those of the scalar code. */
#ifndef LANES_H
#define LANES_H

#include <immintrin.h>

#include "block_sum.h"
#include "index.h"

enum { LANES = 8 };

typedef struct lanes {
  __m256d low, high;
} lanes;

static inline lanes lanes_zero(void) { return (lanes){_mm256_setzero_pd(), _mm256_setzero_pd()}; }

static inline lanes lanes_load(const double *at) {
  return (lanes){_mm256_loadu_pd(at), _mm256_loadu_pd(at + 4)};
}

/* A hint: asks for the line `ahead` bytes after p, which may lie past the array. */
static inline void lanes_prefetch(const void *p, uintptr_t ahead) {
  _mm_prefetch((const char *)((uintptr_t)p + ahead), _MM_HINT_T0);
}

/* Asks for p[0 .. n): a tile of a vector arrives while the tile's rows are multiplied. */
static inline void lanes_ask_for(const double *p, lidx n) {
  for (lidx j = 0; j < n; j += LANES) lanes_prefetch(p + j, 0);
}

static inline lanes lanes_all(double x) {
  const __m256d all = _mm256_set1_pd(x);
  return (lanes){all, all};
}

static inline void lanes_store(double *at, lanes x) {
  _mm256_storeu_pd(at, x.low);
  _mm256_storeu_pd(at + 4, x.high);
}

/* x at eight columns. Loads one by one: half the time of a gather instruction on the processors
 * measured. */
static inline lanes lanes_pick(const double *x, const lidx *column) {
  return (lanes){_mm256_setr_pd(x[column[0]], x[column[1]], x[column[2]], x[column[3]]),
                 _mm256_setr_pd(x[column[4]], x[column[5]], x[column[6]], x[column[7]])};
}

/* The same by narrow columns or numbers. */
static inline lanes lanes_pick2(const double *x, const uint16_t *at) {
  return (lanes){_mm256_setr_pd(x[at[0]], x[at[1]], x[at[2]], x[at[3]]),
                 _mm256_setr_pd(x[at[4]], x[at[5]], x[at[6]], x[at[7]])};
}

static inline lanes lanes_pick1(const double *x, const uint8_t *at) {
  return (lanes){_mm256_setr_pd(x[at[0]], x[at[1]], x[at[2]], x[at[3]]),
                 _mm256_setr_pd(x[at[4]], x[at[5]], x[at[6]], x[at[7]])};
}

/* Eight floats, exactly. */
static inline lanes lanes_widen(const float *at) {
  return (lanes){_mm256_cvtps_pd(_mm_loadu_ps(at)), _mm256_cvtps_pd(_mm_loadu_ps(at + 4))};
}

static inline lanes lanes_absolute(lanes x) {
  const __m256d sign = _mm256_set1_pd(-0.0);
  return (lanes){_mm256_andnot_pd(sign, x.low), _mm256_andnot_pd(sign, x.high)};
}

/* a x + sum, fused; |a||x| + sum with `absolute` (a constant). */
static inline lanes lanes_term(lanes a, lanes x, lanes sum, int absolute) {
  if (absolute) {
    a = lanes_absolute(a);
    x = lanes_absolute(x);
  }
  return (lanes){_mm256_fmadd_pd(a.low, x.low, sum.low), _mm256_fmadd_pd(a.high, x.high, sum.high)};
}

/* ---- eight floats in one register: names and meaning as above ---- */

typedef __m256 single_lanes;

static inline single_lanes single_lanes_zero(void) { return _mm256_setzero_ps(); }
static inline single_lanes single_lanes_load(const float *at) { return _mm256_loadu_ps(at); }
static inline single_lanes single_lanes_all(float x) { return _mm256_set1_ps(x); }
static inline void single_lanes_store(float *at, single_lanes x) { _mm256_storeu_ps(at, x); }

static inline single_lanes single_lanes_pick(const float *x, const lidx *column) {
  return _mm256_setr_ps(x[column[0]], x[column[1]], x[column[2]], x[column[3]], x[column[4]],
                        x[column[5]], x[column[6]], x[column[7]]);
}

static inline single_lanes single_lanes_term(single_lanes a, single_lanes x, single_lanes sum,
                                             int absolute) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  if (absolute) {
    a = _mm256_andnot_ps(sign, a);
    x = _mm256_andnot_ps(sign, x);
  }
  return _mm256_fmadd_ps(a, x, sum);
}

/* block_dot (block_sum.h) of `count` elements, 32 or more: its 32 lanes. */
static inline double lanes_dot(const double *x, const double *y, int count) {
  double lane[4 * LANES];
  lanes a = lanes_zero(), b = a, c = a, d = a;
  int i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES) {
    a = lanes_term(lanes_load(x + i), lanes_load(y + i), a, 0);
    b = lanes_term(lanes_load(x + i + 8), lanes_load(y + i + 8), b, 0);
    c = lanes_term(lanes_load(x + i + 16), lanes_load(y + i + 16), c, 0);
    d = lanes_term(lanes_load(x + i + 24), lanes_load(y + i + 24), d, 0);
  }
  lanes_store(lane, a);
  lanes_store(lane + 8, b);
  lanes_store(lane + 16, c);
  lanes_store(lane + 24, d);
  for (int l = 0; i + l < count; l++) lane[l] = fma(x[i + l], y[i + l], lane[l]);
  return block_tree(lane);
}

#endif
