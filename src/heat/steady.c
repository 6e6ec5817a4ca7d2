/* The steady state: 0 = rate(u), by one solve, inputs and held values taken at the end time (time 0
 * where there is none). Without held and Robin faces it is unique but for a constant, which is
 * chosen so that the heat stays what it is at the start; what flows in must then be 0. */
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
  heat_stage s = {.base = run->implicit->x, .scale = 1.0};
  (void)t;
  (void)dt;
  TRY(heat_implicit_solve(run, &s, 0.0, next, &run->u));
  if (!isnan(run->implicit->imbalance)) {
    rc =
        fail(STATUS_USAGE,
             "there is no steady state: no face is held or robin, and source and fluxes bring %.6g "
             "K/s on average; expected 0",
             run->implicit->imbalance);
  }
done:
  return rc;
}

const heat_scheme SCHEME_steady = {.name = "steady",
                                   .help = "straight to the steady state",
                                   .source = "Trottenberg, Oosterlee, Schueller (2001)",
                                   .order = 0,
                                   .implicit = 1,
                                   .fields = 1,
                                   .limit = limit,
                                   .stages = stages,
                                   .step = step};
