/* Explicit Runge-Kutta steps of a coupled system, by tableau (ode_tableau.h), the sums of a stage
 * in the order of ode_combine(). Traffic of a step of s stages in bytes per component, beside the
 * right-hand sides: stage i reads its i slopes, 8 (i + 3); an error estimate 8 (s + 4).
 *
 * Stiffness: where the last two stages lie at the end of the step, their states g and u and slopes
 * k, k' give |k' - k| / |u - g| ~ the largest eigenvalue that these states see; times h it is near
 * the limit of stability where that bounds the step (Hairer, Wanner, Solving Ordinary Differential
 * Equations II (1996), IV.2). */
#include "coupled_run.h"

static const vec NONE = {.rows = 0};

status coupled_attempt_explicit(coupled_run *run) {
  status rc = STATUS_OK;
  ode_work *w = &run->clock;
  const ode_tableau m = ode_tableau_of(run->plan.variant);
  const double h = w->h[0];
  for (int i = 1; i < m.stages; i++) {
    const int last = m.first_same && i + 1 == m.stages;
    const double at = m.c[i] == 1.0 ? w->next[0] : fma(m.c[i], h, w->t[0]);
    coupled_combine(run, i, m.a[i], h, run->y, last ? run->u : run->v);
    TRY(coupled_rhs(run, at, last ? run->u : run->v, run->k[i]));
  }
  run->end = m.first_same ? m.stages - 1 : m.stages;
  if (!m.first_same) {
    coupled_combine(run, m.stages, m.b, h, run->y, run->u);
    TRY(coupled_rhs(run, w->next[0], run->u, run->k[run->end]));
  }
  if (run->plan.adaptive) {
    coupled_combine(run, m.stages, m.e, h, NONE, run->e);
    TRY(coupled_weigh(run, run->e, run->y, run->u, &w->error[0]));
  } else {
    TRY(coupled_weigh(run, NONE, run->y, run->u, &w->error[0]));
  }
done:
  return rc;
}

status coupled_stiffness(coupled_run *run, double *product) {
  status rc = STATUS_OK;
  const ode_tableau m = ode_tableau_of(run->plan.variant);
  double rise, distance;
  *product = 0.0;
  if (!m.first_same || m.c[m.stages - 2] != 1.0) goto done;
  coupled_combine(run, m.stages - 2, m.a[m.stages - 2], run->clock.h[0], run->y, run->v);
  coupled_add(run, 1.0, run->u, -1.0, run->v, run->v);
  coupled_add(run, 1.0, run->k[m.stages - 1], -1.0, run->k[m.stages - 2], run->e);
  TRY(linear_norm(&run->space, run->e, 1.0, &rise));
  TRY(linear_norm(&run->space, run->v, 1.0, &distance));
  if (distance > 0.0) *product = run->clock.h[0] * (rise / distance);
  if (*product < 0.0) *product = -*product;
done:
  return rc;
}
