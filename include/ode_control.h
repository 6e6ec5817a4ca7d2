/* How long steps are.
 *
 * Adaptive ones are controlled by h_new = h clip(0.9 err^-a err_before^b), a = 1/order - 0.75 b, b
 * = 0.04 for explicit Runge-Kutta methods and 0 for others (PI control: Gustafsson, ACM TOMS 17
 * (1991) 533-554, with the constants of Hairer, Norsett, Wanner, Solving Ordinary Differential
 * Equations I (1993), II.4); err in the norm of ode_measure(), err_before at least 1e-4, and 1
 * after a step was thrown away. A step that is not finite is thrown away, and the next is a quarter
 * of it. The first step is estimated as there, from the slopes at two states. Powers are
 * elementary.h's. */
#ifndef ODE_CONTROL_H
#define ODE_CONTROL_H

#include "ode_work.h"

#define ODE_MEMORY_LEAST (-9.2103403719761836) /* log(1e-4) */

/* The errors' logarithms, and the factors from this step to the next that they ask for. */
PORTABLE void ode_judge(ode_work *w) {
  const double beta = ODE_KIND(w->plan) == ODE_RUNGE_KUTTA ? 0.04 : 0.0;
  const double alpha = 1.0 / (double)w->plan->order - 0.75 * beta;
  EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
    const double log_error = 0.5 * elementary_log(w->error[l]);
    const double factor = 0.9 * elementary_exp(fma(-alpha, log_error, beta * w->memory[l]));
    w->log_error[l] = log_error > ODE_MEMORY_LEAST ? log_error : ODE_MEMORY_LEAST;
    w->factor[l] = factor < 0.2 ? 0.2 : factor > 10.0 ? 10.0 : factor;
  }
}

/* Sets h and next of the step to try: at least dt_min, not past t_end, and onto it when it is near.
 */
PORTABLE void ode_aim(ode_work *w, int l) {
  const ode_plan *plan = w->plan;
  if (!plan->adaptive) {
    w->h[l] = ode_length(plan, w->attempts[l]);
    w->next[l] = ode_instant(plan, w->attempts[l] + 1);
    return;
  }
  const double rest = plan->t_end - w->t[l];
  if (fabs(w->h[l]) < plan->dt_min) w->h[l] = rest < 0.0 ? -plan->dt_min : plan->dt_min;
  w->next[l] = w->t[l] + w->h[l];
  if (!(fabs(w->h[l]) * 1.01 < fabs(rest))) {
    w->h[l] = rest;
    w->next[l] = plan->t_end;
  }
}

/* After a step that was thrown away. */
PORTABLE void ode_reject(ode_work *w, int l) {
  const ode_plan *plan = w->plan;
  const int finite = w->error[l] - w->error[l] == 0.0;
  w->rejected[l]++;
  if (!plan->adaptive) {
    w->status[l] = ODE_NOT_FINITE;
    return;
  }
  const double factor = finite ? w->factor[l] : 0.25;
  w->h[l] *= factor < 1.0 ? factor : 0.9;
  w->memory[l] = 0.0;
  if (fabs(w->h[l]) < plan->dt_min || w->t[l] + w->h[l] == w->t[l]) {
    w->status[l] = finite ? ODE_STEP_TOO_SMALL : ODE_NOT_FINITE;
  }
}

/* After one that was taken. */
PORTABLE void ode_accept(ode_work *w, int l) {
  if (w->plan->adaptive) {
    w->h[l] *= w->factor[l];
    w->memory[l] = w->log_error[l];
  }
  if (w->next[l] == w->plan->t_end) {
    w->status[l] = ODE_DONE;
  } else if (w->plan->adaptive && w->factor[l] <= 1.0 && w->next[l] + w->h[l] == w->next[l]) {
    w->status[l] = ODE_STEP_TOO_SMALL; /* time would stand still, and steps do not grow */
  }
}

/* The root mean square over components of a lane's values over their scales at the state y. */
PORTABLE double ode_norm(const ode_work *w, const double *values, int l) {
  const int n = ODE_COMPONENTS(w->plan);
  double sum = 0.0;
  for (int c = 0; c < n; c++) {
    const double y = w->y[c * ODE_LANES + l];
    const double q = values[c * ODE_LANES + l] / ode_scale(w->plan, y, y);
    sum = fma(q, q, sum);
  }
  return sqrt(sum / (double)n);
}

/* h of the lanes that have none yet (0), k[0] being known. */
PORTABLE void ode_first_steps(ode_work *w) {
  const ode_plan *plan = w->plan;
  const int n = ODE_COMPONENTS(plan);
  const double sign = plan->t_end < plan->t_start ? -1.0 : 1.0;
  const double span = fabs(plan->t_end - plan->t_start);
  const double *k = ode_slope(w, 0);
  double *other = ode_slope(w, 1);
  double at[ODE_LANES], slope[ODE_LANES], h[ODE_LANES];
  for (int l = 0; l < ODE_LANES; l++) {
    const double size = ode_norm(w, w->y, l);
    slope[l] = ode_norm(w, k, l);
    h[l] = size < 1e-5 || slope[l] < 1e-5 ? 1e-6 : 0.01 * (size / slope[l]);
    if (!(h[l] > 0.0)) h[l] = 1e-300; /* the slope's norm overflows: it will grow from here */
    if (!(h[l] < span)) h[l] = span;
    at[l] = fma(sign, h[l], w->t[l]);
    for (int c = 0; c < n; c++) {
      const int i = c * ODE_LANES + l;
      w->v[i] = fma(sign * h[l], k[i], w->y[i]);
    }
  }
  ode_rhs(w->call, at, w->v, other);
  for (int i = 0; i < n * ODE_LANES; i++) other[i] -= k[i];
  for (int l = 0; l < ODE_LANES; l++) {
    const double bend = ode_norm(w, other, l) / h[l], most = bend > slope[l] ? bend : slope[l];
    double next = h[l] * 1e-3 > 1e-6 ? h[l] * 1e-3 : 1e-6;
    if (most > 1e-15) next = elementary_exp(elementary_log(0.01 / most) / (double)plan->order);
    if (!(next > 0.0)) next = 1e-300;
    if (!(next < 100.0 * h[l])) next = 100.0 * h[l];
    if (!(next < span)) next = span;
    if (w->place[l] >= 0 && w->h[l] == 0.0) w->h[l] = sign * next;
  }
}

#endif
