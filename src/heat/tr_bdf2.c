/* TR-BDF2 with g = 2 - sqrt 2: the trapezoidal rule to t + g dt, then the second backward
 * difference formula to t + dt, both with the same matrix. Second order, L-stable.
 *
 *   a  = u + d dt f(t, u)                                        d = g / 2
 *   v  = a + d dt f(t + g dt, v)
 *   u' = u + (v - u) / (g (2 - g)) + d dt f(t + dt, u')
 *
 * With weights w = sqrt(2)/4 of the first two stages and d of the third this is a diagonally
 * implicit Runge-Kutta method with a third-order companion, weights (1 - w)/3, (3 w + 1)/3, d/3.
 * Their difference, in differences of a, v, u' from u, is the error estimate; as it is it would see
 * modes that the step has long damped, so it goes through one multigrid cycle first, which stands
 * for the solve with the step's matrix that is usual here. A step with an estimate of at most 1 in
 * the norm weighted by atol + rtol |u| is accepted; the next dt is a PI controller's, powers from
 * elementary.h. dt stays where it would change by less than a fifth.
 *
 * Sources: Bank et al. (1985); Hosea, Shampine, Analysis and implementation of TR-BDF2, Appl.
 * Numer. Math. 20 (1996), sec. 3-4; Hairer, Wanner (1996), IV.2 (controller). */
#include <math.h>

#include "elementary.h"
#include "implicit.h"

static const double G = 0.58578643762690495; /* 2 - sqrt 2 */
static const double W = 0.35355339059327379; /* sqrt(2) / 4 */

/* The controller: dt times SAFETY error^-PROPORTIONAL (error before)^INTEGRAL, within bounds. */
static const double SAFETY = 0.9, PROPORTIONAL = 0.7 / 3.0, INTEGRAL = 0.4 / 3.0;
static const double SHRINK = 0.2, GROW = 5.0, KEEP = 1.2;
enum { TRIALS = 40 };

static double limit(int stages) {
  (void)stages;
  return INFINITY;
}

static int stages(double z) {
  (void)z;
  return 3;
}

/* spare 0: u', 1: a, 2: v */
static status attempt(heat_run *run, double t, double dt, double next) {
  status rc = STATUS_OK;
  const heat_field none = {{NULL}}, u = run->u;
  const double d = 0.5 * G, middle = fma(G, dt, t);
  heat_stage first = {.base = u, .scale = d * dt, .u = u, .out = run->spare[1]};
  heat_stage second = {.base = run->spare[1], .scale = d * dt};
  heat_stage third = {.base = u, .terms = 1, .weight = {1.0 / (G * (2.0 - G))}, .scale = d * dt};
  TRY(heat_run_stage(run, &first, t, t));
  TRY(heat_implicit_combine(run, 1.0, u, 0.0, none, run->spare[2]));
  TRY(heat_implicit_solve(run, &second, 1.0, middle, &run->spare[2]));
  if (run->unsolved) goto done;
  third.term[0] = run->spare[2];
  TRY(heat_implicit_combine(run, 1.0, run->spare[2], 0.0, none, run->spare[0]));
  TRY(heat_implicit_solve(run, &third, 1.0, next, &run->spare[0]));
done:
  return rc;
}

/* The estimate over what is allowed. */
static status estimate(heat_run *run, double t, double *error) {
  status rc = STATUS_OK;
  const heat_field u = run->u, e = run->spare[3];
  const double d = 0.5 * G;
  const double e1 = (1.0 - W) / 3.0 - W, e2 = (3.0 * W + 1.0) / 3.0 - W, e3 = d / 3.0 - d;
  heat_stage s = {.base = u,
                  .terms = 3,
                  .weight = {(e1 - e2) / d, e2 / d - e3 * W / (d * d), e3 / d},
                  .term = {run->spare[1], run->spare[2], run->spare[0]},
                  .u = u,
                  .out = e};
  TRY(heat_run_stage(run, &s, t, t));
  TRY(heat_implicit_combine(run, 1.0, e, -1.0, u, e));
  TRY(heat_implicit_filter(run, e, e));
  TRY(heat_implicit_norm(run, e, u, run->spare[0], error));
done:
  return rc;
}

static double next_dt(const heat_run *run, double dt, double error) {
  const double least = 1e-10, now = error > least ? error : least;
  const double before = run->error > least ? run->error : now;
  double factor = SAFETY * elementary_pow(now, -PROPORTIONAL) * elementary_pow(before, INTEGRAL);
  factor = factor > GROW ? GROW : factor < SHRINK ? SHRINK : factor;
  return factor >= 1.0 && factor < KEEP ? dt : factor * dt;
}

static status step(heat_run *run, double t, double dt, double next) {
  status rc = STATUS_OK;
  double error = 0.0;
  const double planned = dt;
  int trial = 0;
  for (;; trial++) {
    TRY(attempt(run, t, dt, next));
    if (run->unsolved || !(run->rtol > 0.0)) break;
    TRY(estimate(run, t, &error));
    if (!(error > 1.0) || trial == TRIALS) break; /* a NaN is found where fields are looked at */
    const double factor = SAFETY * elementary_pow(error, -1.0 / 3.0);
    dt *= factor > SHRINK ? factor : SHRINK;
    next = t + dt;
    run->rejected++;
  }
  if (run->unsolved) goto done;
  heat_swap(run, &run->spare[0]);
  if (!(run->rtol > 0.0)) goto done;
  run->t_0 = next;
  run->step_0 = run->step + 1;
  double proposed = next_dt(run, dt, error);
  /* a step that was cut short by the end tells little */
  if (trial == 0 && planned < run->dt && proposed < run->dt) proposed = run->dt;
  if (trial > 0 && proposed > dt) proposed = dt;
  run->dt = proposed;
  run->error = error;
done:
  return rc;
}

const heat_scheme SCHEME_tr_bdf2 = {
    .name = "tr-bdf2",
    .help = "trapezoidal rule and backward differences, second order, L-stable; any dt, or its own",
    .source = "Hosea, Shampine (1996)",
    .order = 2,
    .implicit = 1,
    .fields = 4,
    .limit = limit,
    .stages = stages,
    .step = step};
