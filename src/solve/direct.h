/* Direct solution of a distributed sparse system by a package (direct_package.h): that of the
 * backend where there is one and rank 0 finds it, else MUMPS. The bits depend on the package and on
 * the number of ranks. Functions are collective. */
#ifndef DIRECT_H
#define DIRECT_H

#include "direct_package.h"
#include "solver.h"

typedef struct direct direct;

/* Chooses s->package; the log says who factorises, and why not the backend's package.
 * STATUS_UNAVAILABLE on all ranks, naming what to install, where there is no package at all. */
status direct_look(linear_system *s);

/* Factorises. `a`: this rank's rows, local columns, as `owned` has them; `symmetric`: a_ij == a_ji
 * for all entries. Where the matrix is singular, *out stays NULL and `broke` says so, on all ranks.
 * STATUS_UNAVAILABLE: no memory. */
status direct_open(const linear_system *s, const csr_block *a, const ownership *owned,
                   int symmetric, direct **out, char broke[DIRECT_TEXT]);

/* x: this rank's part of the right-hand side, then of the solution; host memory. */
status direct_solve(direct *d, double *x);

void direct_close(direct **d);

#endif
