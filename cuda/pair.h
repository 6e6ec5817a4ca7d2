/* Device code: two doubles side by side, at a multiple of 16 bytes, in one access. (The compiler
 * takes a pair apart that is stored as such.) */
#ifndef CUDA_PAIR_H
#define CUDA_PAIR_H

#include "portable.h"

GPU_ONLY void pair_load(const double *at, double *a, double *b) {
  const double2 pair = *reinterpret_cast<const double2 *>(at);
  *a = pair.x;
  *b = pair.y;
}

GPU_ONLY void pair_store(double *at, double a, double b) {
  __stwb(reinterpret_cast<double2 *>(at), make_double2(a, b));
}

#endif
