/* Quadrature on a backend: the operations of `quad` that more than one backend has a version of.
 * All are local; sums go to the device's current sums, which the backend's sums() collects. */
#ifndef QUAD_BACKEND_H
#define QUAD_BACKEND_H

#include "comm.h"
#include "formula.h"
#include "quad.h"
#include "quad_regions.h"
#include "status.h"
#include "sweep_axis.h"
#include "wide.h"

struct device;

typedef struct quad_work quad_work; /* an integrand made ready on a device */

/* The integrals of a sweep: the same integrand and samples, the parameters of member m behind the
 * fixed ones. */
typedef struct quad_family {
  const double *fixed; /* [fixed_count], host memory */
  int fixed_count;
  sweep_grid swept; /* lists in the backend's memory */
} quad_family;

typedef struct quad_backend {
  /* f: one output; inputs x[0] .. x[dims - 1], then the parameters. It must outlive *out. */
  status (*create)(struct device *d, const formula *f, int dims, quad_work **out);
  void (*release)(struct device *d, quad_work **w);

  /* Sum 0: weight * f over the samples of blocks [first, last) of the grid, at most WIDE_ADDITIONS
   * of them between two collections; with grid.estimate, sum 1: coarse weight * f. */
  status (*sum)(struct device *d, quad_work *w, const quad_grid *g, const double *parameters,
                int64_t first, int64_t last);

  /* The current sums 0 .. count - 1 of all ranks, exact: carried words that any number of such
   * accumulators may be merged with. Clears them. Collective. */
  status (*collect)(struct device *d, comm *c, int count, wide *out);

  /* The sums of members [first, first + count) over all samples of the grid: of weight * f into
   * sums[i (1 + grid.estimate)], i in [0, count), of coarse weight * f behind it. Blocks of 256
   * consecutive samples (block_sum, quad_block_single), the sums of the blocks added in order from
   * +0.0: a member is one lane's or one thread block's work, and its bits do not depend on others.
   * Adds to no sum. */
  status (*members)(struct device *d, quad_work *w, const quad_grid *g, const quad_family *family,
                    int64_t first, int64_t count, dptr sums);

  /* out[i] = the estimate of region i of `count`, its edges at edge[2 dims i]; both in host memory.
   * Adds to no sum. */
  status (*regions)(struct device *d, quad_work *w, const quad_frame *f, const double *parameters,
                    int64_t count, const double *edge, quad_estimate *out);
} quad_backend;

#endif
