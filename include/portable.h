/* How write-once code is spelled in the three languages it is compiled as: C11, CUDA C++ (nvcc) and
 * NVRTC. A function marked PORTABLE runs on the host and on a device with the same bits: it uses
 * + - * / sqrt fma and integers only, and every translation unit is compiled without contraction.
 * Nothing else in include/ needs to know which compiler is at work. */
#ifndef PORTABLE_H
#define PORTABLE_H

#include <stdint.h>

#ifdef __CUDACC__
#define PORTABLE static __host__ __device__ inline
#else
#define PORTABLE static inline
#endif

/* For GPUs alone, though valid C too (so that a test can compare): a function, one that is called
 * rather than taken in, a table that is an operand and not part of the text. */
#ifdef __CUDACC__
#define GPU_ONLY  static __device__ inline
#define GPU_FAR   static __device__ __noinline__
#define GPU_TABLE static __constant__
#else
#define GPU_ONLY  static inline
#define GPU_FAR   static inline
#define GPU_TABLE static const
#endif

/* Before a loop over lanes side by side: no iteration depends on another. Before a loop over
 * numbers that are to stay in registers: unrolled. UNROLLED_ON_GPU: n at a time there, where a warp
 * that is alone on its scheduler waits for jumps. */
#ifdef __CUDACC__
#define EACH_LANE
#define UNROLLED           _Pragma("unroll")
#define UNROLLED_ON_GPU(n) PRAGMA_OF(unroll n)
#define PRAGMA_OF(words)   _Pragma(#words)
#else
#define EACH_LANE _Pragma("GCC ivdep")
#define UNROLLED  _Pragma("GCC unroll 16")
#define UNROLLED_ON_GPU(n)
#endif

/* Before a statement about place r = k of [first, last): on GPUs the places are tried one after the
 * other, so that where the bounds are known no address is computed, and arrays stay in registers.
 */
#ifdef __CUDACC__
#define AT_PLACE(r, first, last, k)                                                                \
  for (int r = (first); r < (last); r++)                                                           \
    if (r == (k))
#else
#define AT_PLACE(r, first, last, k) for (int r = (k), r##_end = r + 1; r < r##_end; r++)
#endif

/* The 64 bits of a double, and back. */
PORTABLE uint64_t bits_of(double x) {
  union {
    double value;
    uint64_t bits;
  } u;
  u.value = x;
  return u.bits;
}

PORTABLE double double_of(uint64_t bits) {
  union {
    double value;
    uint64_t bits;
  } u;
  u.bits = bits;
  return u.value;
}

/* Whether two floats differ in their bits. */
PORTABLE int bits_differ(float x, float y) {
  union {
    float value;
    uint32_t bits;
  } a, b;
  a.value = x;
  b.value = y;
  return a.bits != b.bits;
}

#endif
