/* Packages that factorise sparse matrices for direct solution: MUMPS on the CPUs of all ranks, and
 * what a backend may have for its device (direct_package). Opened on first use and not linked.
 * Their bits are outside the promise; nothing else in halosweep rests on them. Who of them is asked
 * is decided in src/solve/direct.h. */
#ifndef DIRECT_PACKAGE_H
#define DIRECT_PACKAGE_H

#include "backend.h"
#include "csr.h"
#include "ownership.h"

enum { DIRECT_TEXT = 160 };

/* A whole matrix in host memory, rows sorted by column; of a symmetric one the entries on and below
 * the diagonal. */
typedef struct direct_matrix {
  lidx rows;
  int symmetric;
  int32_t *offset; /* [rows + 1] from 0 */
  lidx *column;    /* [offset[rows]] */
  double *value;   /* [offset[rows]] */
} direct_matrix;

/* A package that factorises on one device. Functions are local. */
typedef struct direct_package {
  const char *name;

  /* It can be had here: STATUS_OK, or STATUS_UNAVAILABLE naming what to install. */
  status (*find)(void);

  /* Factorises; `a` is not needed afterwards. *replaced: how many pivots were too small, and are
   * larger in the factors: these may or may not be of use. Where it could not factorise, *out stays
   * NULL and `broke` says why. STATUS_UNAVAILABLE: no memory. */
  status (*open)(device *d, const direct_matrix *a, void **out, int64_t *replaced,
                 char broke[DIRECT_TEXT]);

  /* x: [rows] in host memory, the right-hand side, then the solution. */
  status (*solve)(void *made, double *x);

  void (*close)(void **made);
} direct_package;

typedef struct mumps mumps;

#ifdef __cplusplus
extern "C" {
#endif

/* MUMPS can be had here: STATUS_OK, or STATUS_UNAVAILABLE naming what to install. Local. */
status mumps_find(void);

/* Factorises. `a`: this rank's rows, local columns, as `owned` has them; `symmetric`: a_ij == a_ji
 * for all entries (one triangle is given on). Where the matrix is singular, *out stays NULL and
 * `broke` says so. STATUS_UNAVAILABLE: no memory. Collective. */
status mumps_open(comm *c, const csr_block *a, const ownership *owned, int symmetric, mumps **out,
                  char broke[DIRECT_TEXT]);

/* x: this rank's part of the right-hand side, then of the solution. Collective. */
status mumps_solve(mumps *m, double *x);

void mumps_close(mumps **m); /* collective */

#ifdef __cplusplus
}
#endif

#endif
