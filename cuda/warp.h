/* Sizes that host and device code of the CUDA backend share, and kernels compiled at run time. */
#ifndef CUDA_WARP_H
#define CUDA_WARP_H

enum {
  WARP = 32,
  PASS_SUMS = 2 /* sums a pass makes at most */
};

#endif
