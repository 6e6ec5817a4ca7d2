/* BACKEND_cuda in other forms, for tests and benchmarks; the bits are the same. _plain: matrices
 * stored plainly, no slices packed (sell.h). _streamed: matrices kept on the host, in the smallest
 * chunks. */
#ifndef CUDA_PLAIN_H
#define CUDA_PLAIN_H

#include "backend.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const backend BACKEND_cuda_plain, BACKEND_cuda_streamed;

/* Bytes per second of copies of a buffer each (stream.c) from pinned host memory: the best of a few
 * runs of `bytes` bytes. */
status cuda_stream_rate(device *d, int64_t bytes, double *rate);

#ifdef __cplusplus
}
#endif

#endif
