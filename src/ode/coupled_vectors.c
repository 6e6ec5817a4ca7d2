/* Vectors of a coupled system (coupled_run.h). */
#include <math.h>

#include "coupled_run.h"

typedef struct rhs_work {
  coupled_run *run;
  double t;
  vec x, out;
} rhs_work;

static status rhs_part(void *context, part p) {
  const rhs_work *w = context;
  coupled_run *run = w->run;
  return run->kernels->coupled->rhs(run->place, run->work, p, w->t, w->x, w->out);
}

status coupled_rhs(coupled_run *run, double t, vec x, vec out) {
  rhs_work w = {run, t, x, out};
  run->rhs_count++;
  return linear_apply(&run->space, x, rhs_part, &w);
}

status coupled_weigh_by(coupled_run *run, vec e, vec y, vec u, double rtol, double atol,
                        double *mean) {
  status rc = STATUS_OK;
  linear_system *s = &run->space;
  ATTEMPT(s, run->kernels->coupled->weigh(run->place, e, y, u, rtol, atol));
  int64_t asked = checkpointing_asks(run->saving) || s->failure != STATUS_OK;
  linear_meet(s);
  rc = run->kernels->sums(run->place, run->world, 1, &asked, mean);
  linear_phase(s, PHASE_COMPUTE);
  if (asked > s->asked) s->asked = asked;
  *mean /= (double)s->global_rows;
  return rc;
}

status coupled_weigh(coupled_run *run, vec e, vec y, vec u, double *mean) {
  return coupled_weigh_by(run, e, y, u, run->plan.rtol, run->plan.atol, mean);
}

void coupled_add(coupled_run *run, double a, vec x, double b, vec y, vec out) {
  ATTEMPT(&run->space, run->kernels->combine(run->place, a, x, b, y, out));
}

void coupled_combine(coupled_run *run, int stages, const double *weight, double h, vec base,
                     vec out) {
  double factor[ODE_STAGES];
  vec slope[ODE_STAGES];
  int terms = 0;
  for (int j = 0; j < stages; j++) {
    if (weight[j] == 0.0) continue;
    factor[terms] = h * weight[j];
    slope[terms++] = run->k[j];
  }
  if (terms == 0) {
    coupled_add(run, 1.0, base, 0.0, (vec){.rows = 0}, out);
    return;
  }
  coupled_add(run, factor[0], slope[0], 1.0, base, out); /* fma(factor, k, base) */
  if (terms == 1) return;
  ATTEMPT(&run->space, run->kernels->accumulate(run->place, terms - 1, factor + 1, slope + 1, out));
}

/* The cubic through both ends and their slopes, as ode_hermite() has it:
 * y + x rise + x (1 - x) ((1 - x) (h k - rise) + x (rise - h end)). */
static void hermite(coupled_run *run, double x) {
  const double h = run->clock.h[0], rest = 1.0 - x, both = x * rest;
  const double weight[] = {x - both * (rest - x), both * rest * h, -both * x * h};
  const vec of[] = {run->u, run->k[0], run->k[run->end]};
  coupled_add(run, weight[0], of[0], 1.0 - weight[0], run->y, run->v);
  ATTEMPT(&run->space, run->kernels->accumulate(run->place, 2, weight + 1, of + 1, run->v));
}

void coupled_between(coupled_run *run, double x) {
  const ode_tableau m = ode_tableau_of(run->plan.variant);
  double weight[ODE_STAGES];
  if (run->plan.kind == ODE_IMPLICIT) {
    coupled_between_implicit(run, x);
    return;
  }
  if (run->plan.kind == ODE_VERLET || m.dense[0][0] == 0.0) {
    hermite(run, x);
    return;
  }
  for (int j = 0; j < m.stages; j++) {
    const double *d = m.dense[j];
    weight[j] = x * fma(fma(fma(d[3], x, d[2]), x, d[1]), x, d[0]);
  }
  coupled_combine(run, m.stages, weight, run->clock.h[0], run->y, run->v);
}
