/* Integrals of samples at given, uneven places. Local. */
#ifndef QUAD_DATA_H
#define QUAD_DATA_H

#include <stdint.h>

#include "status.h"

/* Trapezoid, or with `simpson` parabolas through three points each, over x[0 .. n), strictly
 * ascending or descending, n >= 2. *error: the difference to the same rule on every other point;
 * NaN when there are only two. */
status quad_data(int64_t n, const double *x, const double *y, int simpson, double *value,
                 double *error);

#endif
