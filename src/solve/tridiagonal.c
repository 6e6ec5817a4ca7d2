/* Bisection with Sturm counts, then the eigenvector by a twisted factorisation: T - theta I is
 * factored from the top and from the bottom, and the two halves meet where their remainder is
 * smallest. At an end of the spectrum all pivots have one sign, so that is as accurate as it gets.
 * Cost: about 60 counts of `count` divisions an eigenvalue.
 * Sources: Barth, Martin, Wilkinson, Numer. Math. 9 (1967) 386-393 (bisection); Fernando, SIAM J.
 * Matrix Anal. Appl. 18 (1997) 1013-1034 (twisted factors). */
#include "tridiagonal.h"

#include <float.h>
#include <math.h>

/* A pivot that is not zero: as small as rounding makes one. */
static double pivot(double q, double coupling) {
  const double least = DBL_EPSILON * fabs(coupling) + DBL_MIN;
  return fabs(q) < least ? -least : q;
}

/* How many eigenvalues lie below x: the negative pivots of T - x I. */
static int count_below(int count, const double *diagonal, const double *beside, double x) {
  int below = 0;
  double q = 1.0;
  for (int i = 0; i < count; i++) {
    const double b = i > 0 ? beside[i - 1] : 0.0;
    q = diagonal[i] - x - b / q * b;
    q = pivot(q, i < count - 1 ? beside[i] : b);
    below += q < 0.0;
  }
  return below;
}

static double bisect(int count, const double *diagonal, const double *beside, int wanted) {
  double low = INFINITY, high = -INFINITY; /* Gershgorin */
  for (int i = 0; i < count; i++) {
    const double radius =
        (i > 0 ? fabs(beside[i - 1]) : 0.0) + (i < count - 1 ? fabs(beside[i]) : 0.0);
    low = fmin(low, diagonal[i] - radius);
    high = fmax(high, diagonal[i] + radius);
  }
  const double slack = 4.0 * DBL_EPSILON * fmax(fabs(low), fabs(high)) + DBL_MIN;
  low -= slack, high += slack;
  for (;;) { /* fewer than `wanted` below low, at least `wanted` below high */
    const double middle = low + 0.5 * (high - low);
    if (!(middle > low && middle < high)) return middle;
    if (count_below(count, diagonal, beside, middle) >= wanted) {
      high = middle;
    } else {
      low = middle;
    }
  }
}

/* z of T z = theta z, not normed; work[3 count]: pivots from the top, from the bottom, z. */
static const double *eigenvector(int count, const double *diagonal, const double *beside,
                                 double theta, double *work) {
  double *down = work, *up = work + count, *z = work + 2 * count;
  int meet = 0;
  double smallest = INFINITY;
  for (int i = 0; i < count; i++) {
    const double b = i > 0 ? beside[i - 1] : 0.0;
    down[i] = diagonal[i] - theta - (i > 0 ? b / down[i - 1] * b : 0.0);
    down[i] = pivot(down[i], i < count - 1 ? beside[i] : b);
  }
  for (int i = count - 1; i >= 0; i--) {
    const double b = i < count - 1 ? beside[i] : 0.0;
    up[i] = diagonal[i] - theta - (i < count - 1 ? b / up[i + 1] * b : 0.0);
    up[i] = pivot(up[i], i > 0 ? beside[i - 1] : b);
    const double rest = fabs(down[i] + up[i] - (diagonal[i] - theta));
    if (rest < smallest) smallest = rest, meet = i;
  }
  z[meet] = 1.0;
  for (int i = meet - 1; i >= 0; i--) z[i] = -beside[i] / down[i] * z[i + 1];
  for (int i = meet + 1; i < count; i++) z[i] = -beside[i - 1] / up[i] * z[i - 1];
  return z;
}

void tridiagonal_extreme(int count, const double *diagonal, const double *beside,
                         tridiagonal_end end, double *work, double *value, double *last) {
  *value = bisect(count, diagonal, beside, end == TRIDIAGONAL_LOWEST ? 1 : count);
  const double *z = eigenvector(count, diagonal, beside, *value, work);
  double square = 0.0;
  for (int i = 0; i < count; i++) square = fma(z[i], z[i], square);
  *last = fabs(z[count - 1]) / sqrt(square);
}
