/* backward-euler and tr-bdf2: implicit steps by Newton's method. For one lane.
 *
 *   backward-euler   u = y + h f(u): order 1
 *   tr-bdf2          the trapezoidal rule to t + gamma h, then BDF2, gamma = 2 - sqrt(2): order 2;
 *                    z = y + h d (f(y) + f(z)), u = y + (1 + sqrt(2)) / 2 (z - y) + h d f(u),
 *                    d = gamma / 2 = 1 - sqrt(2) / 2: both have the matrix I - h d J
 * both L-stable. Slopes at z and u are those of the formulas, never f evaluated anew: at a state
 * that Newton's method has left off by e, f is off by J e.
 *
 * Errors: h/2 (f(u) - f(y)) for backward-euler, which is the leading term of what is left out; for
 * tr-bdf2 its companion of order 3, e = -sqrt(2)/3 h f(y) + (z - y) / (3 d) - 2/3 h d f(u). Both go
 * through (I - h d J)^-1: else they would see modes that the step has damped. Inside a step: the
 * polynomial that the formula differentiates, the line through y and u, or the parabola through y,
 * z and u, and one correction by that matrix (ode_stiff_settle); where the solution is smooth they
 * are off by less than the step: h^2 y''/8 beside h^2 y''/2, 0.011 h^3 y''' beside 0.040 h^3 y'''.
 *
 * Newton: the matrix is made where the iteration begins, and again where it converges by less than
 * a factor of 4. It ends when the next correction is expected below 0.01 of the tolerance, or
 * corrections no longer fall and are below a tenth of it; after 10 the step is thrown away. Fixed
 * steps have no tolerance: 1e-15 relative to each component (or 1e-10 of the largest one), or
 * corrections that no longer fall and are below 1e-5; after 50 the trajectory ends as not finite.
 *
 * Sources: Hairer, Wanner, Solving Ordinary Differential Equations II (1996), IV.8 (Newton's
 * stopping test; the filtered error: Shampine); Bank et al., IEEE Trans. CAD 4 (1985) 436-451;
 * Hosea, Shampine, Appl. Numer. Math. 20 (1996) 21-37. */
#ifndef ODE_IMPLICIT_H
#define ODE_IMPLICIT_H

#include "ode_stiff.h"

#define ODE_TR_D 0.29289321881345248 /* 1 - sqrt(2) / 2 */

/* Which slope's memory is for what. */
enum { ODE_AT_Z = 1, ODE_AT_BASE, ODE_AT_F, ODE_AT_STEP, ODE_AT_COLUMN, ODE_AT_ERROR, ODE_AT_END };

/* The root mean square of Newton's correction over what it may be. */
PORTABLE double ode_newton_size(const ode_work *w, const double *z, const double *step) {
  const ode_plan *plan = w->plan;
  const int n = ODE_COMPONENTS(plan);
  double sum = 0.0, most = 0.0;
  for (int c = 0; c < n; c++) most = fabs(z[c]) > most ? fabs(z[c]) : most;
  for (int c = 0; c < n; c++) {
    const double here = fabs(z[c]), least = 1e-10 * most;
    const double may = plan->adaptive ? 0.01 * ode_scale(plan, w->y[c], z[c])
                                      : 1e-15 * (here > least ? here : least);
    const double q = step[c] == 0.0 ? 0.0 : step[c] / may;
    sum = fma(q, q, sum);
  }
  return sqrt(sum / (double)n);
}

/* Solves z = base + s f(at, z) from the z that is there; base is slope ODE_AT_BASE. fresh: the
 * matrix has to be made first. 0: it does not converge, or is not finite. */
PORTABLE int ode_newton(ode_work *w, double at, double s, double *z, int fresh) {
  const int n = ODE_COMPONENTS(w->plan), most = w->plan->adaptive ? 10 : 50;
  const double *base = ode_slope(w, ODE_AT_BASE), when[ODE_LANES] = {at};
  const double stuck = w->plan->adaptive ? 10.0 : 1e8;
  double *f = ode_slope(w, ODE_AT_F), *step = ode_slope(w, ODE_AT_STEP), before = 0.0;
  for (int i = 0; i < most; i++) {
    ode_rhs(w->call, when, z, f);
    if (fresh) {
      ode_stiff_jacobian(w, at, z, f, ode_slope(w, ODE_AT_COLUMN));
      if (!ode_stiff_factor(w, 1.0, s)) return 0;
    }
    for (int c = 0; c < n; c++) step[c] = fma(s, f[c], base[c] - z[c]);
    dense_lu_solve(w->matrix, n, w->pivot, step);
    for (int c = 0; c < n; c++) z[c] += step[c];
    const double size = ode_newton_size(w, z, step);
    if (!dense_finite(size)) return 0;
    if (size <= 1e-3) return 1;
    if (i > 0) {
      const double rate = size / before;
      if (rate < 1.0 && size * rate <= 1.0 - rate) return 1;
      if (fresh && rate > 0.5 && size < stuck) return 1;
    }
    fresh = i > 0 && size > 0.25 * before;
    before = size;
  }
  return 0;
}

/* u of the step, and ODE_AT_ERROR before it is filtered. 0: Newton's method has failed. */
PORTABLE int ode_step_euler(ode_work *w) {
  const int n = ODE_COMPONENTS(w->plan);
  double *base = ode_slope(w, ODE_AT_BASE), *e = ode_slope(w, ODE_AT_ERROR);
  const double h = w->h[0];
  for (int c = 0; c < n; c++) base[c] = w->u[c] = w->y[c];
  if (!ode_newton(w, w->next[0], h, w->u, 1)) return 0;
  for (int c = 0; c < n; c++) e[c] = 0.5 * fma(-h, w->k[c], w->u[c] - w->y[c]);
  return 1;
}

/* Likewise; z is ODE_AT_Z. */
PORTABLE int ode_step_tr_bdf2(ode_work *w) {
  const int n = ODE_COMPONENTS(w->plan);
  double *z = ode_slope(w, ODE_AT_Z), *base = ode_slope(w, ODE_AT_BASE);
  double *e = ode_slope(w, ODE_AT_ERROR);
  const double h = w->h[0], s = h * ODE_TR_D, gamma = 2.0 * ODE_TR_D;
  for (int c = 0; c < n; c++) {
    base[c] = fma(s, w->k[c], w->y[c]);
    z[c] = w->y[c];
  }
  if (!ode_newton(w, fma(gamma, h, w->t[0]), s, z, 1)) return 0;
  for (int c = 0; c < n; c++) {
    base[c] = fma(1.2071067811865475, z[c] - w->y[c], w->y[c]); /* (1 + sqrt(2)) / 2 */
    w->u[c] = z[c];
  }
  if (!ode_newton(w, w->next[0], s, w->u, 0)) return 0;
  for (int c = 0; c < n; c++) {
    const double first = -0.47140452079103168 * h; /* sqrt(2) / 3 */
    const double rest = (z[c] - w->y[c]) / (3.0 * ODE_TR_D) - (w->u[c] - base[c]) * (2.0 / 3.0);
    e[c] = fma(first, w->k[c], rest);
  }
  return 1;
}

/* v = the line or parabola of the step at the fraction x, slope[] its slopes there. */
PORTABLE void ode_implicit_dense(ode_work *w, double x, double *slope) {
  const int n = ODE_COMPONENTS(w->plan), bent = ODE_VARIANT(w->plan) == ODE_TR_BDF2;
  const double gamma = 2.0 * ODE_TR_D, *z = ode_slope(w, ODE_AT_Z);
  for (int c = 0; c < n; c++) {
    const double rise = w->u[c] - w->y[c];
    const double bend = bent ? fma(-gamma, rise, z[c] - w->y[c]) / (gamma * (1.0 - gamma)) : 0.0;
    w->v[c] = fma(x * (1.0 - x), bend, fma(x, rise, w->y[c]));
    slope[c] = fma(1.0 - 2.0 * x, bend, rise) / w->h[0];
  }
}

/* A step of backward-euler or tr-bdf2: u, error, and the slope at the end. k[0] is known. */
PORTABLE void ode_attempt_implicit(ode_work *w) {
  const int bent = ODE_VARIANT(w->plan) == ODE_TR_BDF2;
  double *e = ode_slope(w, ODE_AT_ERROR), *end = ode_slope(w, ODE_AT_END);
  double error = 0.0;
  if (!(bent ? ode_step_tr_bdf2(w) : ode_step_euler(w))) {
    ode_stiff_fail(w, end);
    return;
  }
  if (w->plan->adaptive) {
    dense_lu_solve(w->matrix, ODE_COMPONENTS(w->plan), w->pivot, e);
    error = ode_stiff_error(w, e);
  }
  ode_stiff_end(w, error, end);
}

/* v = the state at the fraction x of the step. */
PORTABLE void ode_between_implicit(ode_work *w, const double *x) {
  const double b = ODE_VARIANT(w->plan) == ODE_TR_BDF2 ? ODE_TR_D * w->h[0] : w->h[0];
  double *slope = ode_slope(w, ODE_AT_ERROR), *f = ode_slope(w, ODE_AT_F);
  ode_implicit_dense(w, x[0], slope);
  ode_stiff_settle(w, x[0], b, slope, f);
}

#endif
