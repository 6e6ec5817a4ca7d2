/* Extreme eigenvalues of D^-1 A, A symmetric, D = diag(A) > 0, by a few Lanczos steps from a start
 * that is a function of global indices. Small eigenproblems by Sturm bisection (no library: same
 * bits everywhere). Functions are collective. */
#ifndef LANCZOS_H
#define LANCZOS_H

#include "linear.h"

typedef struct lanczos_interval {
  int steps; /* made: fewer than asked where the Krylov space ends, a number is not finite, or
                both ends are known to a unit in the tenth digit; 0: nothing is known */
  double low, high;             /* extreme Ritz values: lambda_min <= low, high <= lambda_max */
  double low_error, high_error; /* an eigenvalue lies within this of each (residual bound) */
  int indefinite; /* low is below zero by more than rounding: so is lambda_min, for certain; or a
                     diagonal entry is not positive (steps is 0 then) */
} lanczos_interval;

/* inverse_diagonal: 1 / a_ii on the backend, without any factor; data.at NULL: of A itself, D = I.
 * Four vectors of memory, one product and about 11 vectors of traffic a step. A rank's own failure
 * goes to s->failure; the interval is the same on all ranks. */
status lanczos_extremes(linear_system *s, vec inverse_diagonal, int steps, lanczos_interval *out);

#endif
