/* What the stiff methods share: the Jacobian of a step, the matrix it is in, and errors that are
 * there as a vector. For one lane (ODE_LANES 1): arrays are [component].
 *
 * The Jacobian is the system's where plan->has_jacobian, else made of forward differences, one
 * evaluation a component. It is fresh in every step, so that a step depends on the state alone. The
 * increment of component j is
 *   sqrt(eps) max(|y_j|, s_j max(1, 1000 sqrt(eps) n |h| |f|)),
 * s_j the size that the tolerances give to y_j and |f| the root mean square of f_i / s_i: relative
 * to y_j, but enough for the rounding of f to stay below a thousandth of what the step tolerates
 * (Hindmarsh et al., ACM TOMS 31 (2005) 363-396, section 2.1). It goes away from zero, so a
 * component never changes its sign; from zero itself, the way the component goes. Where steps are
 * fixed there are no tolerances: 1e-6 |y_j| + 1e-12 max_i (|y_i|, |h f_i|) then.
 *
 * d f / d t likewise where plan->has_time, else by one difference over sqrt(eps |h| max(|t|, |h|))
 * into the step: the rounding of t over it and it over h are both sqrt(eps |t| / |h|), and f is not
 * asked outside the step. */
#ifndef ODE_STIFF_H
#define ODE_STIFF_H

#include "dense.h"
#include "ode_work.h"

#define ODE_ROOT_EPS 1.4901161193847656e-8 /* 2^-26 */

/* max over components of |y| and |h f|, 1 where all is zero. */
PORTABLE double ode_stiff_size(const ode_work *w) {
  const int n = ODE_COMPONENTS(w->plan);
  double most = 0.0;
  for (int c = 0; c < n; c++) {
    const double y = fabs(w->y[c]), rise = fabs(w->h[0] * w->k[c]);
    if (y > most) most = y;
    if (rise > most) most = rise;
  }
  return most > 0.0 ? most : 1.0;
}

/* s of a component that is y; size: what ode_stiff_size() said. */
PORTABLE double ode_stiff_scale(const ode_plan *plan, double size, double y) {
  if (plan->adaptive) return ode_scale(plan, y, y);
  return fma(1e-6, fabs(y), 1e-12 * size);
}

/* The factor of s in the increments. */
PORTABLE double ode_stiff_noise(const ode_work *w, double size) {
  const int n = ODE_COMPONENTS(w->plan);
  double sum = 0.0;
  for (int c = 0; c < n; c++) {
    const double q = w->h[0] * w->k[c] / ode_stiff_scale(w->plan, size, w->y[c]);
    sum = fma(q, q, sum);
  }
  const double noise = 1000.0 * ODE_ROOT_EPS * (double)n * sqrt(sum / (double)n);
  return noise > 1.0 ? noise : 1.0;
}

/* matrix = d f / d y at (t, y), where f(t, y) is `f`. column: [components], written on; y comes
 * back as it was. */
PORTABLE void ode_stiff_jacobian(ode_work *w, double t, double *y, const double *f,
                                 double *column) {
  const int n = ODE_COMPONENTS(w->plan);
  const double at[ODE_LANES] = {t};
  if (w->plan->has_jacobian) {
    ode_jacobian(w->call, at, y, w->matrix);
    return;
  }
  const double size = ode_stiff_size(w), noise = ode_stiff_noise(w, size);
  for (int j = 0; j < n; j++) {
    const double keep = y[j], least = noise * ode_stiff_scale(w->plan, size, keep);
    const double step = ODE_ROOT_EPS * (fabs(keep) > least ? fabs(keep) : least);
    const double way = keep != 0.0 ? keep : w->h[0] * w->k[j];
    y[j] = way < 0.0 ? keep - step : keep + step;
    const double made = y[j] - keep;
    ode_rhs(w->call, at, y, column);
    y[j] = keep;
    for (int i = 0; i < n; i++) w->matrix[(int64_t)i * n + j] = (column[i] - f[i]) / made;
  }
}

/* matrix J becomes the factors of a I - b J. 0: it is singular, or not finite. */
PORTABLE int ode_stiff_factor(ode_work *w, double a, double b) {
  const int n = ODE_COMPONENTS(w->plan);
  for (int i = 0; i < n; i++) {
    double *row = w->matrix + (int64_t)i * n;
    for (int j = 0; j < n; j++) row[j] = fma(-b, row[j], i == j ? a : 0.0);
  }
  return dense_lu(w->matrix, n, w->pivot) == n;
}

/* ft = d f / d t at (t, y); of differences 0 where the step is so short that t + a part of it is t.
 */
PORTABLE void ode_stiff_time(const ode_work *w, double *ft) {
  const int n = ODE_COMPONENTS(w->plan);
  if (w->plan->has_time) {
    ode_time(w->call, w->t, w->y, ft);
    return;
  }
  const double h = fabs(w->h[0]), t = fabs(w->t[0]);
  const double step = ODE_ROOT_EPS * sqrt(h * (t > h ? t : h));
  const double at[ODE_LANES] = {w->h[0] < 0.0 ? w->t[0] - step : w->t[0] + step};
  const double made = at[0] - w->t[0];
  ode_rhs(w->call, at, w->y, ft);
  for (int c = 0; c < n; c++) ft[c] = made != 0.0 ? (ft[c] - w->k[c]) / made : 0.0;
}

/* The mean square of e over the scales of the step. */
PORTABLE double ode_stiff_error(const ode_work *w, const double *e) {
  const int n = ODE_COMPONENTS(w->plan);
  double sum = 0.0;
  for (int c = 0; c < n; c++) {
    const double q = e[c] / ode_scale(w->plan, w->y[c], w->u[c]);
    sum = fma(q, q, sum);
  }
  return sum / (double)n;
}

/* v, a state inside the step at the fraction x on a curve whose slopes are in e[], moves onto the
 * differential equation by Newton's correction (a I - b J)^-1 b (f(v) - e), a and b those of
 * ode_stiff_factor(): what the curve has of stiff modes goes, the rest changes by b times the
 * curve's defect. f[] and e[] are written on. */
PORTABLE void ode_stiff_settle(ode_work *w, double x, double b, double *e, double *f) {
  const int n = ODE_COMPONENTS(w->plan);
  const double at[ODE_LANES] = {fma(x, w->h[0], w->t[0])};
  ode_rhs(w->call, at, w->v, f);
  for (int c = 0; c < n; c++) e[c] = b * (f[c] - e[c]);
  dense_lu_solve(w->matrix, n, w->pivot, e);
  for (int c = 0; c < n; c++) w->v[c] += e[c];
}

/* Ends a step that was made: its error e, NaN where the new state is not finite; where it is good,
 * the slope at its end. */
PORTABLE void ode_stiff_end(ode_work *w, double e, double *end) {
  const int n = ODE_COMPONENTS(w->plan);
  for (int c = 0; c < n; c++) e = fma(0.0, w->u[c], e);
  w->error[0] = e;
  w->end = end;
  if (e <= 1.0) ode_rhs(w->call, w->next, w->u, end);
}

/* A step that could not be made. */
PORTABLE void ode_stiff_fail(ode_work *w, double *end) {
  w->error[0] = double_of(UINT64_C(0x7ff8000000000000)); /* NaN */
  w->end = end;
}

#endif
