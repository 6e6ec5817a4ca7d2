/* Between double and float vectors (mixed_backend.h). */
#include "passes.h"

__global__ void narrow(double c, const double *from, int64_t count, float *to) {
  const int64_t i = (int64_t)blockIdx.x * TILE + threadIdx.x;
  if (i < count) to[i] = from == nullptr ? 0.0f : static_cast<float>(c * from[i]);
}

extern "C" cudaError_t kernel_narrow(cudaStream_t s, double c, const double *from, int64_t count,
                                     float *to) {
  narrow<<<blocks_for((count + TILE - 1) / TILE, INT32_MAX), TILE, 0, s>>>(c, from, count, to);
  return cudaGetLastError();
}

__global__ void correct(double c, const float *e, int64_t count, double *x) {
  const int64_t i = (int64_t)blockIdx.x * TILE + threadIdx.x;
  if (i < count) x[i] = fma(c, static_cast<double>(e[i]), x[i]);
}

extern "C" cudaError_t kernel_correct(cudaStream_t s, double c, const float *e, int64_t count,
                                      double *x) {
  correct<<<blocks_for((count + TILE - 1) / TILE, INT32_MAX), TILE, 0, s>>>(c, e, count, x);
  return cudaGetLastError();
}

__global__ void gather_single(const float *x, const lidx *row, lidx begin, lidx end, double *out) {
  const int64_t i = begin + (int64_t)blockIdx.x * TILE + threadIdx.x;
  if (i < end) out[i] = static_cast<double>(x[row[i]]);
}

extern "C" cudaError_t kernel_gather_single(cudaStream_t s, const float *x, const lidx *row,
                                            lidx begin, lidx end, double *out) {
  const int blocks = blocks_for(((int64_t)end - begin + TILE - 1) / TILE, INT32_MAX);
  gather_single<<<blocks, TILE, 0, s>>>(x, row, begin, end, out);
  return cudaGetLastError();
}
