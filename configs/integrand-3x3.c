/* An integrand that solves a system of three equations at every point:
 *
 *   | 2 + x    1    0 |   | y0 |   |  1  |
 *   |   1      3    x | * | y1 | = |  x  |      f = p[0] y0 + y1 + y2
 *   |   0      x    4 |   | y2 |   | x^2 |
 *
 * by elimination; the matrix is symmetric and positive definite for 0 <= x <= 3, so no pivoting is
 * needed. For `halosweep quad integrand-3x3.ini`; runs as it is on CPUs and GPUs. */
#include <math.h>

#include "halosweep_functions.h"

double integrand(const double *x, const double *p) {
  double a[3][3] = {{2.0 + x[0], 1.0, 0.0}, {1.0, 3.0, x[0]}, {0.0, x[0], 4.0}};
  double y[3] = {1.0, x[0], x[0] * x[0]};
  for (int k = 0; k < 2; k++) {
    for (int i = k + 1; i < 3; i++) {
      const double factor = a[i][k] / a[k][k];
      for (int j = k; j < 3; j++) a[i][j] = fma(-factor, a[k][j], a[i][j]);
      y[i] = fma(-factor, y[k], y[i]);
    }
  }
  for (int k = 2; k >= 0; k--) {
    for (int j = k + 1; j < 3; j++) y[k] = fma(-a[k][j], y[j], y[k]);
    y[k] = y[k] / a[k][k];
  }
  return fma(p[0], y[0], y[1] + y[2]);
}
