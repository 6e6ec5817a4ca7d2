/* Newton's method of implicit steps of a coupled system, and its linear systems. Functions are
 * collective unless they say local. */
#ifndef COUPLED_NEWTON_H
#define COUPLED_NEWTON_H

#include "coupled_run.h"
#include "direct.h"
#include "preconditioner.h"

struct coupled_newton {
  vec z, base, f, step; /* tr-bdf2's state between; what is fixed; f(z); a correction */
  csr_block rows;       /* 1 - s df/dy */
  double *diagonal;     /* [rows] of it; with a package: right-hand sides, solutions */
  direct *factors;      /* the package's; NULL: singular */
  preconditioner_request request;
  const preconditioner *kind;
  int automatic; /* kind follows the matrix */
  preconditioning made;
  const solver *solver;
  double rtol,
      atol; /* what corrections are measured by: 0.01 of the step's tolerance, or rounding */
};

/* ---- coupled_matrix.c ---- */

/* The rows' pattern, and what does not change. */
status coupled_matrix_open(coupled_run *run);
void coupled_matrix_close(coupled_run *run); /* local */

/* The matrix 1 - s df/dy at (t, z), and its preconditioner. */
status coupled_matrix_make(coupled_run *run, double t, vec z, double s);

/* Solves with it to |b - A x| <= rtol |b|, x from 0. *solved 0: it did not get there, and x is not
 * to be used. */
status coupled_matrix_solve(coupled_run *run, vec b, vec x, double rtol, int *solved);

#endif
