/* Trapezoid and Simpson on uneven points (data.h).
 *
 * Trapezoid: sum of (x[i+1] - x[i]) (y[i] + y[i+1]) / 2, written as weights of the points. Simpson:
 * the parabola through each three points over its two intervals g, h,
 *   (g + h) / 6 * ((2 - h / g) y0 + (g + h)^2 / (g h) y1 + (2 - g / h) y2),
 * and with an odd number of intervals the parabola of the last three points over the last interval
 * h alone,
 *   (2 h^2 + 3 g h) / (6 (g + h)) y2 + (h^2 + 3 g h) / (6 g) y1 - h^3 / (6 g (g + h)) y0.
 * Both are exact for parabolas. Sums are block sums in a wide accumulator, like all others.
 *
 * Cost: two passes, one weight of memory a point.
 * Source: Cartwright, J. Math. Sci. Math. Educ. 12 (2017) 1 (the last interval); the rest by
 * integrating Lagrange's formula. */
#include "data.h"

#include <float.h>
#include <math.h>

#include "alloc.h"
#include "block_sum.h"
#include "wide.h"

static void trapezoid(int64_t n, const double *x, double *w) {
  for (int64_t i = 0; i < n; i++) {
    const double left = i > 0 ? x[i] - x[i - 1] : 0.0, right = i < n - 1 ? x[i + 1] - x[i] : 0.0;
    w[i] = 0.5 * (left + right);
  }
}

static void parabolas(int64_t n, const double *x, double *w) {
  for (int64_t i = 0; i < n; i++) w[i] = 0.0;
  int64_t i = 0;
  for (; i + 2 < n; i += 2) {
    const double g = x[i + 1] - x[i], h = x[i + 2] - x[i + 1], sixth = (g + h) / 6.0;
    w[i] += sixth * (2.0 - h / g);
    w[i + 1] += sixth * ((g + h) / g) * ((g + h) / h);
    w[i + 2] += sixth * (2.0 - g / h);
  }
  if (i + 2 == n) { /* one interval is left */
    const double g = x[n - 2] - x[n - 3], h = x[n - 1] - x[n - 2];
    w[n - 1] += h * (2.0 * h + 3.0 * g) / (6.0 * (g + h));
    w[n - 2] += h * (h + 3.0 * g) / (6.0 * g);
    w[n - 3] -= h * (h / g) * (h / (g + h)) / 6.0;
  }
}

static double weighted_sum(int64_t n, const double *w, const double *y) {
  const int64_t size = block_size(n);
  double term[BLOCK_MAX];
  wide total;
  wide_clear(&total);
  for (int64_t at = 0; at < n; at += size) {
    const int count = (int)(n - at < size ? n - at : size);
    for (int i = 0; i < count; i++) term[i] = w[at + i] * y[at + i];
    wide_add(&total, block_sum(term, count));
  }
  return wide_round(&total);
}

status quad_data(int64_t n, const double *x, const double *y, int simpson, double *value,
                 double *error) {
  status rc = STATUS_OK;
  double *w = NULL, *fewer = NULL;
  const int64_t half = n / 2 + 1; /* every other point, and the last */
  TRY(alloc_array(&w, n, sizeof *w, "weights"));
  TRY(alloc_array(&fewer, 2 * half, sizeof *fewer, "every other sample"));
  void (*rule)(int64_t, const double *, double *) = simpson && n > 2 ? parabolas : trapezoid;
  rule(n, x, w);
  *value = weighted_sum(n, w, y);
  *error = NAN;
  if (n == 2) goto done;
  int64_t count = 0;
  for (int64_t i = 0; i < n; i += 2, count++) {
    fewer[count] = x[i];
    fewer[half + count] = y[i];
  }
  if (n % 2 == 0) {
    fewer[count] = x[n - 1];
    fewer[half + count++] = y[n - 1];
  }
  rule = simpson && count > 2 ? parabolas : trapezoid;
  rule(count, fewer, w);
  *error = fabs(*value - weighted_sum(count, w, fewer + half)) + 4.0 * DBL_EPSILON * fabs(*value);
done:
  alloc_free(&fewer);
  alloc_free(&w);
  return rc;
}
