/* Quadrature on a backend: the operations of `quad` that more than one backend has a version of.
 * All are local; sums go to the device's current sums, which the backend's sums() collects. */
#ifndef QUAD_BACKEND_H
#define QUAD_BACKEND_H

#include "formula.h"
#include "quad.h"
#include "status.h"

struct device;

typedef struct quad_work quad_work; /* an integrand made ready on a device */

typedef struct quad_backend {
  /* f: one output; inputs x[0] .. x[dims - 1], then the parameters. It must outlive *out. */
  status (*create)(struct device *d, const formula *f, int dims, quad_work **out);
  void (*release)(struct device *d, quad_work **w);

  /* Sum 0: weight * f over the samples of blocks [first, last) of the grid. */
  status (*sum)(struct device *d, quad_work *w, const quad_grid *g, const double *parameters,
                int64_t first, int64_t last);
} quad_backend;

#endif
