/* Crank-Nicolson: u' = u + dt/2 rate(t, u) + dt/2 rate(t + dt, u'). Second order and A-stable, not
 * L-stable: fast modes of rough data are not damped but change their sign each step; tr-bdf2 damps
 * them. One stage and one solve a step. Source: Crank, Nicolson (1947); Morton, Mayers (2005), sec.
 * 2.10. */
#include <math.h>

#include "implicit.h"

static double limit(int stages) {
  (void)stages;
  return INFINITY;
}

static int stages(double z) {
  (void)z;
  return 2;
}

static status step(heat_run *run, double t, double dt, double next) {
  status rc = STATUS_OK;
  const heat_field none = {{NULL}};
  heat_stage first = {.base = run->u, .scale = 0.5 * dt, .u = run->u, .out = run->spare[1]};
  heat_stage second = {.base = run->spare[1], .scale = 0.5 * dt};
  TRY(heat_run_stage(run, &first, t, t));
  TRY(heat_implicit_combine(run, 1.0, run->u, 0.0, none, run->spare[0]));
  TRY(heat_implicit_solve(run, &second, 1.0, next, &run->spare[0]));
  if (!run->unsolved) heat_swap(run, &run->spare[0]);
done:
  return rc;
}

const heat_scheme SCHEME_crank_nicolson = {
    .name = "crank-nicolson",
    .help = "trapezoidal rule, second order, A-stable; any dt, for smooth data",
    .source = "Crank, Nicolson (1947)",
    .order = 2,
    .implicit = 1,
    .fields = 2,
    .limit = limit,
    .stages = stages,
    .step = step};
