/* Steps of explicit Runge-Kutta methods and of Stoermer-Verlet, and states inside a step.
 *
 * Runge-Kutta: stage i has y_i = y + sum_{j<i} (h a_ij) k_j, k_i = f(t + c_i h, y_i), the new state
 * is y + sum (h b_j) k_j (ode_combine has the order of the sums). Traffic of a step on a CPU: all
 * of a group is in the first-level cache, 64 lanes of (stages + 4) components numbers.
 *
 * Verlet, for systems of positions q (first half of the components) and velocities v with
 * q' = f_q(v), v' = f_v(t, q): v+ = v + h/2 f_v; q = q + h f_q(v+); v = v+ + h/2 f_v, second
 * order, symplectic. Source: Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), I.1.4.
 */
#ifndef ODE_EXPLICIT_H
#define ODE_EXPLICIT_H

#include "ode_work.h"

/* k[i] = f at stage i, i in [1, m->stages); a stage at the end of the step is at `next`, which
 * t + h is but for rounding. */
PORTABLE void ode_stages(ode_work *w, const ode_tableau *m) {
  for (int i = 1; i < m->stages; i++) {
    double at[ODE_LANES];
    ode_combine(w, i, m->a[i], w->v);
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
      at[l] = m->c[i] == 1.0 ? w->next[l] : fma(m->c[i], w->h[l], w->t[l]);
    }
    ode_rhs(w->call, at, w->v, ode_slope(w, i));
  }
}

/* A step of the tableau: u, error, and the slopes at the end. k[0] is known. */
PORTABLE void ode_attempt_explicit(ode_work *w) {
  const ode_tableau m = ode_tableau_of(ODE_VARIANT(w->plan));
  ode_stages(w, &m);
  if (m.first_same) { /* the last stage's argument is the new state */
    const int64_t numbers = (int64_t)ODE_COMPONENTS(w->plan) * ODE_LANES;
    EACH_LANE for (int64_t i = 0; i < numbers; i++) w->u[i] = w->v[i];
    w->end = ode_slope(w, m.stages - 1);
  } else {
    ode_combine(w, m.stages, m.b, w->u);
    w->end = ode_slope(w, m.stages);
    ode_rhs(w->call, w->next, w->u, w->end);
  }
  if (w->plan->adaptive) {
    ode_measure(w, m.stages, m.e);
  } else {
    ode_look(w);
  }
}

/* `count` fixed steps of the tableau in a row, none of them the last one, without looking at
 * anything: y becomes the state after them. */
PORTABLE void ode_steps_explicit(ode_work *w, int64_t count) {
  const ode_tableau m = ode_tableau_of(ODE_VARIANT(w->plan));
  const int64_t numbers = (int64_t)ODE_COMPONENTS(w->plan) * ODE_LANES;
  EACH_LANE for (int l = 0; l < ODE_LANES; l++) w->h[l] = w->plan->dt;
  for (int64_t i = 0; i < count; i++) {
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
      w->t[l] = fma((double)(w->attempts[l] + i), w->plan->dt, w->plan->t_start);
      w->next[l] = fma((double)(w->attempts[l] + i + 1), w->plan->dt, w->plan->t_start);
    }
    if (!w->slope_known) ode_rhs(w->call, w->t, w->y, ode_slope(w, 0));
    ode_stages(w, &m);
    w->slope_known = m.first_same;
    if (m.first_same) {
      const double *k = ode_slope(w, m.stages - 1);
      double *first = ode_slope(w, 0);
      EACH_LANE for (int64_t j = 0; j < numbers; j++) {
        w->y[j] = w->v[j];
        first[j] = k[j];
      }
    } else {
      ode_combine(w, m.stages, m.b, w->y);
    }
  }
}

/* from + (scale h) k for components [first, last) of `to`. */
PORTABLE void ode_kick(const ode_work *w, double scale, int first, int last, const double *k,
                       const double *from, double *to) {
  for (int c = first; c < last; c++) {
    const int at = c * ODE_LANES;
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
      to[at + l] = fma(scale * w->h[l], k[at + l], from[at + l]);
    }
  }
}

PORTABLE void ode_attempt_verlet(ode_work *w) {
  const int n = ODE_COMPONENTS(w->plan), half = n / 2;
  double middle[ODE_LANES];
  double *k = ode_slope(w, 1);
  EACH_LANE for (int l = 0; l < ODE_LANES; l++) middle[l] = fma(0.5, w->h[l], w->t[l]);
  for (int i = 0; i < half * ODE_LANES; i++) w->v[i] = w->y[i];
  ode_kick(w, 0.5, half, n, ode_slope(w, 0), w->y, w->v);
  ode_rhs(w->call, middle, w->v, k);
  ode_kick(w, 1.0, 0, half, k, w->y, w->u);
  for (int i = half * ODE_LANES; i < n * ODE_LANES; i++) w->u[i] = w->v[i];
  w->end = ode_slope(w, 2);
  ode_rhs(w->call, w->next, w->u, w->end);
  ode_kick(w, 0.5, half, n, w->end, w->v, w->u);
  ode_rhs(w->call, w->next, w->u, w->end);
  ode_look(w);
}

/* v = the cubic through both ends of the step and their slopes, at the fractions x. */
PORTABLE void ode_hermite(ode_work *w, const double *x) {
  const int n = ODE_COMPONENTS(w->plan);
  const double *k = ode_slope(w, 0);
  for (int c = 0; c < n; c++) {
    const int at = c * ODE_LANES;
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
      const double rest = 1.0 - x[l], both = x[l] * rest;
      const double rise = w->u[at + l] - w->y[at + l];
      const double a = fma(w->h[l], k[at + l], -rise), b = fma(-w->h[l], w->end[at + l], rise);
      const double bend = fma(rest, a, x[l] * b);
      w->v[at + l] = fma(both, bend, fma(x[l], rise, w->y[at + l]));
    }
  }
}

/* v = the method's own dense output at the fractions x. */
PORTABLE void ode_between_explicit(ode_work *w, const double *x) {
  const ode_tableau m = ode_tableau_of(ODE_VARIANT(w->plan));
  const int n = ODE_COMPONENTS(w->plan);
  double weight[ODE_STAGES][ODE_LANES];
  if (m.dense[0][0] == 0.0) {
    ode_hermite(w, x);
    return;
  }
  for (int j = 0; j < m.stages; j++) {
    const double *d = m.dense[j];
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
      weight[j][l] = w->h[l] * (x[l] * fma(fma(fma(d[3], x[l], d[2]), x[l], d[1]), x[l], d[0]));
    }
  }
  for (int c = 0; c < n; c++) {
    const int at = c * ODE_LANES;
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) w->v[at + l] = w->y[at + l];
    for (int j = 0; j < m.stages; j++) {
      const double *k = ode_slope(w, j) + at;
      EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
        w->v[at + l] = fma(weight[j][l], k[l], w->v[at + l]);
      }
    }
  }
}

#endif
