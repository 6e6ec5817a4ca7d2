/* rodas4: the Rosenbrock method RODAS of order 4 with an embedded one of order 3, six stages,
 * L-stable and stiffly accurate, both of them: nothing is iterated, a step is one Jacobian, one
 * factorisation and six solves.
 *
 * With E = I / (gamma h) - J, J = d f / d y at (t, y), stages are
 *   E u_i = f(t + c_i h, y + sum_{j<i} a_ij u_j) + sum_{j<i} (g_ij / h) u_j + h d_i df/dt(t, y),
 * the argument of the last one is that of the fifth plus u_5, the new state that plus u_6, and u_6
 * is the error of the embedded method. Inside the step, at the fraction x,
 *   y(x) = (1 - x) y + x (u + (1 - x) (sum_j p_j u_j + x sum_j q_j u_j)), order 3,
 * and one correction by E (ode_stiff_settle).
 * The order is 4 with the true Jacobian only: an approximate one lowers it. For one lane.
 *
 * Cost: 2 n^3 / 3 + 12 n^2 operations, 7 evaluations of f and n for the differences.
 * Source: Hairer, Wanner, Solving Ordinary Differential Equations II (1996), IV.7, IV.10 and VI.4.
 */
#ifndef ODE_ROSENBROCK_H
#define ODE_ROSENBROCK_H

#include "ode_rodas.h"
#include "ode_stiff.h"

/* v = the argument of stage i, i in [1, 6): the sixth goes on from the fifth's. */
PORTABLE void ode_rodas_argument(ode_work *w, const ode_rodas *m, int i) {
  const int n = ODE_COMPONENTS(w->plan);
  for (int c = 0; c < n; c++) {
    double s = i == 5 ? w->v[c] + ode_slope(w, 5)[c] : w->y[c];
    for (int j = 0; j < i && i < 5; j++) s = fma(m->a[i][j], ode_slope(w, 1 + j)[c], s);
    w->v[c] = s;
  }
}

/* u_i, which is kept as slope number 1 + i. ft: d f / d t. */
PORTABLE void ode_rodas_stage(ode_work *w, const ode_rodas *m, int i, const double *ft) {
  const int n = ODE_COMPONENTS(w->plan);
  const double h = w->h[0];
  const double at[ODE_LANES] = {i >= 4 ? w->next[0] : fma(m->c[i], h, w->t[0])};
  double *u = ode_slope(w, 1 + i);
  if (i > 0) {
    ode_rodas_argument(w, m, i);
    ode_rhs(w->call, at, w->v, u);
  }
  for (int c = 0; c < n; c++) {
    double s = i > 0 ? u[c] : w->k[c];
    for (int j = 0; j < i; j++) s = fma(m->g[i][j] / h, ode_slope(w, 1 + j)[c], s);
    u[c] = i < 4 ? fma(h * m->d[i], ft[c], s) : s;
  }
  dense_lu_solve(w->matrix, n, w->pivot, u);
}

/* v = the method's own dense output at the fraction x, slope[] its slopes there. */
PORTABLE void ode_rodas_dense(ode_work *w, const ode_rodas *m, double x, double *slope) {
  const int n = ODE_COMPONENTS(w->plan);
  const double rest = 1.0 - x;
  for (int c = 0; c < n; c++) {
    double p = 0.0, q = 0.0;
    for (int j = 0; j < 5; j++) {
      p = fma(m->dense[0][j], ode_slope(w, 1 + j)[c], p);
      q = fma(m->dense[1][j], ode_slope(w, 1 + j)[c], q);
    }
    w->v[c] = fma(rest, w->y[c], x * fma(rest, fma(x, q, p), w->u[c]));
    slope[c] = fma(1.0 - 2.0 * x, p, fma(x * (2.0 - 3.0 * x), q, w->u[c] - w->y[c])) / w->h[0];
  }
}

/* A step: u, error, and the slope at the end. k[0] is known. */
PORTABLE void ode_attempt_rosenbrock(ode_work *w) {
  const ode_rodas m = ode_rodas4();
  const int n = ODE_COMPONENTS(w->plan);
  double *error = ode_slope(w, ODE_RODAS_STAGES), e = 0.0;
  double *last = ode_slope(w, ODE_RODAS_STAGES + 1); /* d f / d t, at last the slope at the end */
  ode_stiff_time(w, last);
  ode_stiff_jacobian(w, w->t[0], w->y, w->k, ode_slope(w, 1));
  if (!ode_stiff_factor(w, 1.0 / (m.gamma * w->h[0]), 1.0)) {
    ode_stiff_fail(w, last);
    return;
  }
  for (int i = 0; i < ODE_RODAS_STAGES; i++) ode_rodas_stage(w, &m, i, last);
  for (int c = 0; c < n; c++) w->u[c] = w->v[c] + error[c];
  if (w->plan->adaptive) e = ode_stiff_error(w, error);
  ode_stiff_end(w, e, last);
}

/* v = the state at the fraction x of the step. */
PORTABLE void ode_between_rosenbrock(ode_work *w, const double *x) {
  const ode_rodas m = ode_rodas4();
  double *slope = ode_slope(w, ODE_RODAS_STAGES), *f = ode_slope(w, ODE_RODAS_STAGES + 2);
  ode_rodas_dense(w, &m, x[0], slope);
  ode_stiff_settle(w, x[0], 1.0, slope, f);
}

#endif
