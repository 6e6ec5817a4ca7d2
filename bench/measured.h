/* What benchmarks share: the median of times, and a line for a number that was measured. */
#ifndef MEASURED_H
#define MEASURED_H

#include <stdio.h>
#include <stdlib.h>

static inline int measured_order(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* The middle one of values[count], the upper of two; they are sorted. */
static inline double median_of(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, measured_order);
  return values[count / 2];
}

/* To stdout, and as an object after others to `json` (NULL: there is none). target 0: none. */
static inline void measured_line(FILE *json, const char *what, double value, const char *unit,
                                 double target) {
  printf("  %-58s %12.4g %-16s", what, value, unit);
  if (target > 0.0) printf(" target %g", target);
  printf("\n");
  if (json == NULL) return;
  fprintf(json, ",\n  {\"what\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"target\": %g}", what,
          value, unit, target);
}

#endif
