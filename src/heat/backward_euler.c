/* Backward Euler: u' = u + dt rate(t + dt, u'). First order; L-stable, and the only implicit scheme
 * here that keeps the maximum principle for every dt. One solve a step. Source: Morton, Mayers
 * (2005), sec. 2.8 and 2.12. */
#include <math.h>

#include "implicit.h"

static double limit(int stages) {
  (void)stages;
  return INFINITY;
}

static int stages(double z) {
  (void)z;
  return 1;
}

static status step(heat_run *run, double t, double dt, double next) {
  status rc = STATUS_OK;
  const heat_field none = {{NULL}};
  heat_stage s = {.base = run->u, .scale = dt};
  (void)t;
  TRY(heat_implicit_combine(run, 1.0, run->u, 0.0, none, run->spare[0]));
  TRY(heat_implicit_solve(run, &s, 1.0, next, &run->spare[0]));
  if (!run->unsolved) heat_swap(run, &run->spare[0]);
done:
  return rc;
}

const heat_scheme SCHEME_backward_euler = {
    .name = "backward-euler",
    .help = "implicit Euler, first order, L-stable; any dt, no new extremes",
    .source = "Morton, Mayers (2005), sec. 2.8",
    .order = 1,
    .implicit = 1,
    .fields = 1,
    .limit = limit,
    .stages = stages,
    .step = step};
