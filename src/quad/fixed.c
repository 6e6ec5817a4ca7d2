/* The driver of fixed rules: a grid of as many points as asked for, or, without a number, grids of
 * twice the intervals each until two agree within the tolerance.
 *
 * Cost: one evaluation of the integrand a sample; no memory beside the tables of the axes. */
#include <math.h>
#include <string.h>

#include "quad_run.h"

status quad_grid_make(const quad_run *run, const quad_rule *rule, int64_t n, quad_grid *g) {
  status rc = STATUS_OK;
  memset(g, 0, sizeof *g);
  g->dims = run->integral.dims;
  g->points = 1;
  g->scale = 1.0;
  for (int d = 0; d < g->dims; d++) {
    double scale = 1.0;
    quad_axis_range(&run->integral, d, &g->axis[d]);
    TRY(rule->axis(n, run->limits.panels, &g->axis[d], &scale));
    if (g->axis[d].count > QUAD_POINTS_MAX / g->points) {
      return fail(STATUS_USAGE, "quad: %lld points in %d directions are more than 2^53",
                  (long long)n, g->dims);
    }
    g->points *= g->axis[d].count;
    g->scale *= scale;
  }
done:
  return rc;
}

int quad_tolerated(const quad_run *run) {
  return run->error <= run->limits.rtol * fabs(run->value) || run->error <= run->limits.atol;
}

static status refine(quad_run *run, const quad_rule *rule) {
  status rc = STATUS_OK;
  quad_grid g;
  double before = 0.0;
  for (int64_t n = rule->n_first, level = 0;; n = 2 * n - 1, level++) {
    TRY(quad_grid_make(run, rule, n, &g));
    if (level > 0 && g.points > run->limits.max_evaluations - run->evaluations) {
      run->reason = QUAD_MAX_EVALUATIONS;
      break;
    }
    TRY(quad_sum_grid(run, &g, &run->value));
    run->reason = isfinite(run->value) ? QUAD_CONVERGED : QUAD_NOT_FINITE;
    run->error = level > 0 ? fabs(run->value - before) : INFINITY;
    if (run->reason == QUAD_NOT_FINITE || quad_tolerated(run)) break;
    before = run->value;
  }
done:
  return rc;
}

status quad_fixed(quad_run *run, const quad_rule *rule) {
  status rc = STATUS_OK;
  quad_grid g;
  if (run->limits.n == 0) return refine(run, rule);
  TRY(quad_grid_make(run, rule, run->limits.n, &g));
  TRY(quad_sum_grid(run, &g, &run->value));
  run->error = NAN;
  run->reason = isfinite(run->value) ? QUAD_FIXED_COUNT : QUAD_NOT_FINITE;
done:
  return rc;
}
