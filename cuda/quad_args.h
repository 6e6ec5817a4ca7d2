/* What the kernels of quadrature are given: by value, so that a launch is all there is. */
#ifndef CUDA_QUAD_ARGS_H
#define CUDA_QUAD_ARGS_H

#include "quad.h"
#include "quad_regions.h"
#include "sweep_axis.h"
#include "warp.h"

enum { QUAD_THREADS = 256, QUAD_PARAMETERS = 96, LANES_MOST = 4 /* of a block, by one thread */ };

/* The samples of a grid, and the parameters all of them share. */
typedef struct quad_samples_args {
  quad_grid grid;
  double inverse[QUAD_DIMS]; /* 1 / axis[d].count */
  double parameters[QUAD_PARAMETERS];
} quad_samples_args;

typedef struct quad_sum_args {
  quad_samples_args s;
  int64_t first, last; /* blocks */
  int32_t block;       /* samples of one */
  int32_t plain;       /* inner blocks are 256 equally spaced points of weight 1 */
  int64_t *words;      /* [2 WIDE_WORDS] the device's sums */
} quad_sum_args;

typedef struct quad_members_args {
  quad_samples_args s;
  sweep_grid swept;
  int64_t first, count;
  int32_t width;   /* lanes of a block that can hold anything: 32, or fewer for few samples */
  int32_t threads; /* of a member: a power of two, width / LANES_MOST to width */
  double *sums;
} quad_members_args;

/* g[region * points + k] = f dx/dt at point k of a region. */
typedef struct quad_values_args {
  quad_frame frame;
  double parameters[QUAD_PARAMETERS];
  int64_t count;
  const double *edge;        /* [count][2 dims] */
  const unsigned char *code; /* [dims][points] quad_malik_code */
  double *g;
} quad_values_args;

typedef struct quad_estimates_args {
  quad_frame frame;
  int64_t count;
  const double *edge, *g;
  quad_estimate *out;
} quad_estimates_args;

#endif
