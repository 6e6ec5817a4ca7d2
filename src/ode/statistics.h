/* Statistics of the final states of an ensemble, over the trajectories that did not fail: exact
 * sums, so they do not depend on ranks or threads.
 *
 * The variance is of the states less those of trajectory 0 (where that failed, of the first that
 * did not): rounded sums would not cure the
 * cancellation of large means. Quantile q is the ordered state number floor(q (count - 1)). */
#ifndef STATISTICS_H
#define STATISTICS_H

#include "ensemble.h"

typedef struct ode_statistics {
  int components, quantiles, bins;
  int64_t count;                               /* trajectories that are counted */
  double *mean, *variance, *minimum, *maximum; /* [components]; NaN where count is too small */
  double *quantile;                            /* [quantiles][components] */
  int64_t *histogram;                          /* [components][bins], between minimum and maximum */
  double *memory;
} ode_statistics;

/* Of e's rows, for quantiles q[quantiles]. Collective. */
status ode_statistics_create(const ode_ensemble *e, const double *q, int quantiles, int bins,
                             ode_statistics *out);
void ode_statistics_release(ode_statistics *s);

#endif
