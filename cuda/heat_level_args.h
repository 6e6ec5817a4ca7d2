/* The levels of implicit heat schemes on the GPU: what their kernels are told (heat_level.c fills
 * it in).
 *   heat_level.c       the operations of the table
 *   heat_level.cu      the operator and its smoothing, one thread a point; vectors and sums
 *   heat_descent.cu    the operator fused with sums and vectors, a warp a sum block
 *   heat_transfer.cu   restriction and interpolation, one thread a point
 * An operation is one kernel, on the stream of its planes, and waits for nothing: the many small
 * ones of coarse grids follow each other as fast as they can be launched. */
#ifndef HEAT_LEVEL_ARGS_H
#define HEAT_LEVEL_ARGS_H

#include "heat_args.h"

/* The operator at the points of planes [from, to). Fields begin at the first halo plane. */
typedef struct heat_level_args {
  heat_level_map m; /* its arrays are device memory */
  double mass, scale;
  const double *u, *r; /* u NULL: smoothing from zero; r NULL: a product */
  double *out;
  double c[3];     /* of smoothing */
  int32_t relaxes; /* 0: a product or residual */
  int32_t early;   /* may start while the last kernel ends */
  int64_t from, to;
  int64_t chunk; /* planes a thread goes through */
} heat_level_args;

/* Restriction: out, of level l, from u of the finer one; or interpolation: out, of the finer one,
 * += what u of level l gives. */
typedef struct heat_transfer_args {
  heat_level_map l, finer;
  const double *u;
  double *out;
  int32_t early;
  int64_t chunk;
} heat_transfer_args;

/* out = a x + (b y + c) of `count` points; NULL x or y: that term is 0. */
typedef struct heat_combine_args {
  int64_t count;
  double a, b, c;
  const double *x, *y;
  double *out;
  int32_t early;
} heat_combine_args;

/* The sum of share x y, or with y NULL of share error^2 (heat_level_error), over owned points. */
typedef struct heat_dot_args {
  heat_slab s;
  const double *x, *y, *u, *v;
  double rtol, atol;
  int64_t length, blocks; /* of a line: points, sum blocks */
  int64_t units;          /* sum blocks in all */
  int64_t *words;         /* of the tally */
  int32_t early;
} heat_dot_args;

/* The fused operations of CG on planes [from, to): sums of the product q = A p of a field, or with
 * `changes` x and r by it. Fields begin at the first halo plane. */
typedef struct heat_descent_args {
  heat_level_map m;
  double mass, scale;
  double alpha, along, against; /* heat_descent */
  const double *p;
  double *x, *r; /* x NULL: it stays */
  int64_t from, to;
  int64_t length, blocks; /* of a line: points, sum blocks */
  int64_t groups;         /* of WARPS lines each and a sum block */
  int64_t *words;         /* of the tally */
  int32_t sums;           /* 0 or 1: share r r, with `changes`; else share p q, and share q q */
  int32_t changes, early;
} heat_descent_args;

#ifdef __cplusplus
extern "C" {
#endif

extern const heat_level_backend HEAT_LEVEL_cuda;

/* Kernels. Each returns the launch's error; none waits. `processors` of the GPU decide how many
 * planes a thread goes through. */
cudaError_t kernel_level(cudaStream_t s, heat_level_args *a, int processors);
cudaError_t kernel_restriction(cudaStream_t s, heat_transfer_args *a, int processors);
cudaError_t kernel_interpolation(cudaStream_t s, heat_transfer_args *a, int processors);
cudaError_t kernel_heat_combine(cudaStream_t s, const heat_combine_args *a);
cudaError_t kernel_level_dot(cudaStream_t s, const heat_dot_args *a, int processors);
cudaError_t kernel_descent(cudaStream_t s, heat_descent_args *a, int processors);

#ifdef __cplusplus
}
#endif

#endif
