/* Extreme eigenvalues of D^-1 A, A symmetric, D = diag(A) > 0, by a few Lanczos steps on D^-1/2 A
 * D^-1/2 from a start that is a function of global indices. Small eigenproblems by Sturm bisection
 * (no library: same bits everywhere). Functions are collective. */
#ifndef LANCZOS_H
#define LANCZOS_H

#include "linear.h"

typedef struct lanczos_interval {
  int steps;                    /* made; fewer than asked where the Krylov space ends */
  double low, high;             /* extreme Ritz values: lambda_min <= low, high <= lambda_max */
  double low_error, high_error; /* an eigenvalue lies within this of each (residual bound) */
  int indefinite;               /* low + low_error < 0, or a diagonal entry is not positive */
} lanczos_interval;

/* inverse_diagonal: 1 / a_ii on the backend; data.at NULL: of A itself, D = I. */
status lanczos_extremes(linear_system *s, vec inverse_diagonal, int steps, lanczos_interval *out);

#endif
