/* The classical Runge-Kutta method of order four, in differences of its stages:
 *
 *   a = u + dt/2 f(t, u)    b = u + dt/2 f(t + dt/2, a)    c = u + dt f(t + dt/2, b)
 *   u' = u + (a - u)/3 + 2 (b - u)/3 + (c - u)/3 + dt/6 f(t + dt, c)
 *
 * Stable for dt lambda_max <= 2.785. Four stages a step and four fields.
 * Source: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), II.1. */
#include "scheme.h"

static double limit(int stages) {
  (void)stages;
  return 2.785;
}

static int stages(double z) {
  (void)z;
  return 4;
}

static status step(heat_run *run, double t, double dt, double next) {
  status rc = STATUS_OK;
  const heat_field u = run->u, a = run->spare[0], b = run->spare[1], c = run->spare[2];
  const double half = fma(0.5, dt, t);
  heat_stage first = {.base = u, .scale = 0.5 * dt, .u = u, .out = a};
  heat_stage second = {.base = u, .scale = 0.5 * dt, .u = a, .out = b};
  heat_stage third = {.base = u, .scale = dt, .u = b, .out = c};
  heat_stage fourth = {.base = u,
                       .terms = 3,
                       .weight = {1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0},
                       .term = {a, b, c},
                       .scale = dt / 6.0,
                       .u = c,
                       .out = a};
  TRY(heat_queue_stage(run, &first, t, half));
  TRY(heat_queue_stage(run, &second, half, half));
  TRY(heat_queue_stage(run, &third, half, next));
  TRY(heat_queue_stage(run, &fourth, next, next));
  heat_swap(run, &run->spare[0]);
done:
  return rc;
}

const heat_scheme SCHEME_rk4 = {.name = "rk4",
                                .help = "classical Runge-Kutta, fourth order; dt at most 1.39 "
                                        "times that of ftcs",
                                .source = "Hairer, Norsett, Wanner (1993), II.1",
                                .order = 4,
                                .fields = 3,
                                .limit = limit,
                                .stages = stages,
                                .step = step};
