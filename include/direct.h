/* Direct solution of a distributed sparse system by a package (MUMPS), opened on first use and not
 * linked. Its bits depend on the number of ranks; nothing else in halosweep rests on it. Functions
 * are collective. */
#ifndef DIRECT_H
#define DIRECT_H

#include "comm.h"
#include "csr.h"
#include "ownership.h"

typedef struct direct direct;

enum { DIRECT_TEXT = 160 };

#ifdef __cplusplus
extern "C" {
#endif

/* The package can be had here: STATUS_OK, or STATUS_UNAVAILABLE naming what to install. Local. */
status direct_find(void);

/* The package can be had: STATUS_OK, or STATUS_UNAVAILABLE on all ranks, naming what to install. */
status direct_look(comm *c);

/* Factorises. `a`: this rank's rows, local columns, as `owned` has them; `symmetric`: a_ij == a_ji
 * for all entries (one triangle is given on). Where the matrix is singular, *out stays NULL and
 * `broke` says so. STATUS_UNAVAILABLE: no memory. */
status direct_open(comm *c, const csr_block *a, const ownership *owned, int symmetric, direct **out,
                   char broke[DIRECT_TEXT]);

/* x: this rank's part of the right-hand side, then of the solution. */
status direct_solve(direct *d, double *x);

void direct_close(direct **d);

#ifdef __cplusplus
}
#endif

#endif
