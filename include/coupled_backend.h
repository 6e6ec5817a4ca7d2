/* Large coupled systems on a backend: what vector operations (backend.h) do not do. Functions are
 * local; vectors have coupled.h's layout, their ghosts filled before PART_BOUNDARY is made. */
#ifndef COUPLED_BACKEND_H
#define COUPLED_BACKEND_H

#include "backend.h"
#include "coupled.h"
#include "csr.h"
#include "formula.h"

/* All of these outlive what is made of them. */
typedef struct coupled_functions {
  const formula *rhs;      /* [fields] */
  const formula *sums;     /* [layout's sums]; NULL: none */
  const formula *jacobian; /* [fields][reaches], inputs as rhs; NULL: not there */
  const double *parameters;
  int count; /* of parameters */
} coupled_functions;

typedef struct coupled_work coupled_work; /* a system made ready on a device */

typedef struct coupled_backend {
  status (*create)(device *d, const coupled_layout *l, const coupled_functions *f,
                   coupled_work **out);
  void (*release)(device *d, coupled_work **w);

  /* out = f(t, y) at the owned points. INTERIOR: at some of those whose reaches see no ghosts (none
   * with sums); BOUNDARY: at the rest. */
  status (*rhs)(device *d, coupled_work *w, part p, double t, vec y, vec out);

  /* a = 1 - scale df/dy, a's rows being the owned components, with an entry for each of
   * coupled_columns(), local columns in that order. Host memory. */
  status (*jacobian)(device *d, coupled_work *w, double t, vec y, double scale, csr_block *a);

  /* Sum 0: (e_i / (atol + rtol max(|y_i|, |u_i|)))^2 + 0 u_i, the divisor at least DBL_MIN;
   * e.data NULL: 0 u_i. */
  status (*weigh)(device *d, vec e, vec y, vec u, double rtol, double atol);
} coupled_backend;

#endif
