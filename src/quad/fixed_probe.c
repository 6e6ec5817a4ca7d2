/* The guard against aliasing (fixed_grid.h). Samples of a grid cannot tell sin^2(64 x) from 1 when
 * they fall on its peaks; places between them can. A probe goes along one grid line: the other
 * coordinates are grid points, chosen at random, and on the line a random cell and a random place
 * in it, in the rule's own parameter. Weighted f there minus the linear interpolation of the two
 * samples beside it has the mean (integral - trapezoid of the samples). Any grid that resolves f
 * has a small mean against the value, or differences of either sign (an oscillation with few
 * points a wave).
 *
 * Fires when the mean stands out of its own spread (5 standard deviations) and is above 2 % of the
 * value; or when one probe is 100 times its neighbours and would by itself change the value by more
 * than 1 %: a peak between the samples. */
#include <math.h>

#include "fixed_grid.h"
#include "philox.h"

static const double SPREAD = 5.0, MEAN_SHARE = 0.02, PEAK = 100.0, PEAK_SHARE = 0.01;

/* Random numbers of probe q: pair 0 for the line and the place on it, 1 + d for direction d. */
static double uniform(int level, int q, int pair, int half) {
  return philox_uniform(philox_at(0, (uint64_t)q, PHILOX_PROBE, (uint64_t)level, (uint32_t)pair),
                        half);
}

static int64_t pick(double u, int64_t count) {
  const int64_t i = (int64_t)(u * (double)count);
  return i < count ? i : count - 1;
}

typedef struct probe {
  double there, low, high; /* weighted f at the place, and at the samples beside it */
} probe;

static double product(double weight, double f) { return weight != 0.0 ? weight * f : 0.0; }

static probe look(const quad_run *run, const quad_rule *rule, const quad_grid *g, int level,
                  int q) {
  double x[QUAD_DIMS], ignored, rest = 1.0;
  const int line = q % g->dims;
  for (int d = 0; d < g->dims; d++) {
    if (d == line) continue;
    const quad_axis *a = &g->axis[d];
    const double weight =
        quad_axis_point(a, pick(uniform(level, q, 1 + d, 0), a->count), &x[d], NULL);
    rest *= weight * (double)a->count;
  }
  const quad_axis *a = &g->axis[line];
  const int64_t i = pick(uniform(level, q, 0, 0), a->count - 1);
  const double fraction = uniform(level, q, 0, 1), cells = rest * (double)(a->count - 1);
  probe p;
  double density = rule->between(a, g->dims, i, fraction, &x[line]);
  p.there = product(density * cells, density != 0.0 ? quad_value(run, x) : 0.0);
  /* the samples with the density of their own place, as the parameter's cell has it */
  density = rule->between(a, g->dims, i, 0.0, &ignored);
  const double low = quad_axis_point(a, i, &x[line], NULL);
  p.low = low != 0.0 ? product(density * cells, quad_value(run, x)) : 0.0;
  density = rule->between(a, g->dims, i, 1.0, &ignored);
  const double high = quad_axis_point(a, i + 1, &x[line], NULL);
  p.high = high != 0.0 ? product(density * cells, quad_value(run, x)) : 0.0;
  const double between = fma(fraction, p.high - p.low, p.low);
  if (!isfinite(p.there - between)) p = (probe){0.0, 0.0, 0.0};
  return p;
}

void fixed_grid_probe(const quad_run *run, const quad_rule *rule, const fixed_grid *grid, int level,
                      double value, double tolerance, fixed_probes *out) {
  const quad_grid *g = &grid->host;
  const double count = FIXED_PROBES;
  double sum = 0.0, squares = 0.0, size = 0.0;
  out->missed = 0;
  for (int q = 0; q < FIXED_PROBES; q++) {
    const probe p = look(run, rule, g, level, q);
    const double fraction = uniform(level, q, 0, 1);
    const double between = fma(fraction, p.high - p.low, p.low);
    const double difference = g->scale * (p.there - between) * g->dims;
    sum += difference;
    squares += difference * difference;
    size += fabs(g->scale * p.low);
    const double beside = fmax(fabs(p.low), fabs(p.high));
    const double alone = fabs(g->scale * p.there) / count;
    if (fabs(p.there) > PEAK * beside && alone > fmax(PEAK_SHARE * fabs(value), tolerance)) {
      out->missed = 1;
    }
  }
  const double mean = sum / count;
  const double spread = sqrt(fmax(squares / count - mean * mean, 0.0) / count);
  if (fabs(mean) > SPREAD * spread && fabs(mean) > MEAN_SHARE * fabs(value) &&
      fabs(mean) > tolerance) {
    out->missed = 1;
  }
  out->size = size / count;
}
