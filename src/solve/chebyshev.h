/* Chebyshev polynomials in D^-1 A on an interval [low, high] of positive numbers: what the method
 * and the preconditioner share. */
#ifndef CHEBYSHEV_H
#define CHEBYSHEV_H

#include "lanczos.h"

typedef struct chebyshev_interval {
  double low, high;
} chebyshev_interval;

/* From `steps` Lanczos steps on D^-1 A, its upper end with a safety factor. STATUS_INPUT, for
 * `what` ("method chebyshev"), where the matrix is found not to be positive definite. Collective;
 * all ranks leave with the same status unless this rank itself failed. */
status chebyshev_measure(linear_system *s, vec inverse_diagonal, int steps, const char *what,
                         chebyshev_interval *out);

/* The coefficients of one more step of the recurrence, d = before * d + factor * D^-1 r. `ratio` is
 * the recurrence's own, 0 before the first step. Local. */
typedef struct chebyshev_step {
  double ratio, before, factor;
} chebyshev_step;
void chebyshev_next(const chebyshev_interval *i, chebyshev_step *step);

#endif
