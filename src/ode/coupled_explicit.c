/* Explicit steps of a coupled system. Runge-Kutta methods by tableau (ode_tableau.h), the sums of a
 * stage in the order of ode_combine(). Traffic of a step of s stages in bytes per component, beside
 * the right-hand sides: stage i reads its i slopes, 8 (i + 3); an error estimate 8 (s + 4). Verlet
 * as in ode_explicit.h, the first half of a point's fields being positions.
 *
 * Stiffness: where the last two stages lie at the end of the step, their states g and u and slopes
 * k, k' give |k' - k| / |u - g| ~ the largest eigenvalue that these states see; times h it is near
 * the limit of stability where that bounds the step (Hairer, Wanner, Solving Ordinary Differential
 * Equations II (1996), IV.2). */
#include "alloc.h"
#include "coupled_run.h"

static const vec NONE = {.rows = 0};

/* Where |R(-z)| = 1 again, R being the method's polynomial of stability. */
double coupled_stable(const ode_method *m) {
  static const double ends[] = {
      [ODE_EULER] = 2.0, [ODE_RK4] = 2.785, [ODE_DOPRI5] = 3.306, [ODE_TSIT5] = 3.506};
  return m->kind == ODE_RUNGE_KUTTA ? ends[m->variant] : 0.0;
}

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

/* ---- verlet ---- */

status coupled_verlet_open(coupled_run *run) {
  status rc = STATUS_OK;
  linear_system *s = &run->space;
  const lidx fields = run->layout.fields;
  double *mask = NULL;
  ATTEMPT(s, linear_vector(s, "positions", &run->positions));
  ATTEMPT(s, linear_vector(s, "velocities", &run->velocities));
  ATTEMPT(s, alloc_array(&mask, s->rows, sizeof *mask, "velocities"));
  TRY(comm_agree(run->world, s->failure));
  for (lidx i = 0; i < s->rows; i++) mask[i] = i % fields < fields / 2;
  ATTEMPT(s, linear_load(s, run->positions, mask));
  for (lidx i = 0; i < s->rows; i++) mask[i] = 1.0 - mask[i];
  ATTEMPT(s, linear_load(s, run->velocities, mask));
  rc = comm_agree(run->world, s->failure);
done:
  alloc_free(&mask);
  return rc;
}

/* to = from + h k, at the components of the mask. */
static void kick(coupled_run *run, double h, vec mask, vec k, vec from, vec to) {
  ATTEMPT(&run->space, run->kernels->multiply(run->place, mask, k, run->e));
  coupled_add(run, h, run->e, 1.0, from, to);
}

status coupled_attempt_verlet(coupled_run *run) {
  status rc = STATUS_OK;
  const ode_work *w = &run->clock;
  const double h = w->h[0];
  kick(run, 0.5 * h, run->velocities, run->k[0], run->y, run->v);
  TRY(coupled_rhs(run, fma(0.5, h, w->t[0]), run->v, run->k[1]));
  kick(run, h, run->positions, run->k[1], run->v, run->u);
  TRY(coupled_rhs(run, w->next[0], run->u, run->k[2]));
  kick(run, 0.5 * h, run->velocities, run->k[2], run->u, run->u);
  TRY(coupled_rhs(run, w->next[0], run->u, run->k[2]));
  run->end = 2;
  rc = coupled_weigh(run, NONE, run->y, run->u, &run->clock.error[0]);
done:
  return rc;
}
