/* Quadrature on a backend: the operations of `quad` that more than one backend has a version of.
 * All are local; sums go to the device's current sums, which the backend's sums() collects. */
#ifndef QUAD_BACKEND_H
#define QUAD_BACKEND_H

#include "comm.h"
#include "formula.h"
#include "quad.h"
#include "status.h"
#include "wide.h"

struct device;

typedef struct quad_work quad_work; /* an integrand made ready on a device */

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
} quad_backend;

#endif
