/* Forward in time, centred in space: explicit Euler, u + dt rate(u). First order; stable for
 * dt lambda_max <= 2. One stage a step. Source: Morton, Mayers, Numerical Solution of Partial
 * Differential Equations (2005), sec. 2.4. */
#include "scheme.h"

static double limit(int stages) {
  (void)stages;
  return 2.0;
}

static int stages(double z) {
  (void)z;
  return 1;
}

static status step(heat_run *run, double t, double dt, double next) {
  status rc = STATUS_OK;
  heat_stage s = {.base = run->u, .scale = dt, .u = run->u, .out = run->spare[0]};
  TRY(heat_queue_stage(run, &s, t, next));
  heat_swap(run, &run->spare[0]);
done:
  return rc;
}

const heat_scheme SCHEME_ftcs = {
    .name = "ftcs",
    .help = "explicit Euler, first order; dt at most 1 / (2 alpha sum 1/spacing^2)",
    .source = "Morton, Mayers (2005), sec. 2.4",
    .order = 1,
    .fields = 1,
    .limit = limit,
    .stages = stages,
    .step = step};
