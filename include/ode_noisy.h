/* Steps of stochastic equations dX = f(t, X) dt + sum over j of g_j(t, X) dW_j, in Ito's sense or
 * Stratonovich's: fixed equal steps of length h = dt along the paths of brownian.h.
 *
 * With D_j z the derivative of g_j in direction z, and s = sum g_j dW_j:
 *   euler-maruyama   X + h f + s. Strong order 1/2 (1 where the noise is additive), weak order 1.
 *     Stratonovich   X + h f + sum (g_j(X) + g_j(X + s))/2 dW_j, Euler-Heun: strong order 1/2, and
 * 1 where the noise commutes; no derivatives. milstein         X + h f + s + sum over j of (dW_j
 * D_j s - h D_j g_j)/2. Strong order 1 where the noise commutes: D_j g_k = D_k g_j for all j, k,
 * which src/ode/noise.c makes sure of; diagonal noise with g_i of X_i alone does. Stratonovich the
 * same without h D_j g_j. With neither derivatives of g (C files): Platen's differences, D_k g_j by
 * (g_k(X + g_j sqrt(h))
 *   - g_k(X)) / sqrt(h), times (dW_j dW_k - [j = k] h)/2: strong order 1 too; the Stratonovich form
 *   is Euler-Heun.
 * Additive noise needs none of that: one evaluation of g, and s.
 *
 * Lanes go in step: all of them are at the same step of their paths (ode_change), which one walk
 * carries on, so that each part of a path is made once. States inside a step are on the line
 * between its ends; a place within 1e-9 of a step from an end is that end.
 *
 * Sources: Kloeden, Platen, Numerical Solution of Stochastic Differential Equations (1992), 10.2,
 * 10.3, 11.1 and, for the two calculi, 4.9; Milstein, Theory Prob. Appl. 19 (1974) 557-562;
 * Ruemelin, SIAM J. Numer. Anal. 19 (1982) 604-613 (Heun). */
#ifndef ODE_NOISY_H
#define ODE_NOISY_H

#include "ode_paths.h"
#include "ode_work.h"

/* ---- the walk ---- */

/* Lays out a group's numbers, ode_noise_numbers() a lane; nothing for other kinds. */
PORTABLE void ode_noise_lay(ode_work *w, double *memory) {
  if (ODE_KIND(w->plan) != ODE_NOISY) return;
  w->paths = ode_paths(w->plan);
  w->walked = -1;
  w->walk = memory;
  w->noise = w->walk + (int64_t)brownian_stack(&w->paths) * ODE_LANES;
  w->other = w->noise + ode_noise_values(w->plan) * ODE_LANES;
}

/* The step all lanes are at. */
PORTABLE int64_t ode_noise_now(const ode_work *w) {
  int64_t step = 0;
  for (int l = 0; l < ODE_LANES; l++) step = w->place[l] >= 0 ? w->attempts[l] : step;
  return step;
}

/* The increments of step `step`: dw[noises][lanes]. */
PORTABLE const double *ode_noise_walk(ode_work *w, int64_t step) {
  if (w->walked < 0 || (w->walked != step && w->walked != step - 1)) {
    brownian_begin(&w->paths, ODE_LANES, w->trajectory, (uint64_t)step, w->walk);
  } else if (w->walked == step - 1) {
    brownian_advance(&w->paths, ODE_LANES, w->trajectory, (uint64_t)w->walked, w->walk);
  }
  w->walked = step;
  return brownian_step(&w->paths, ODE_LANES, w->walk);
}

/* ---- a step ---- */

/* out += sum over j of g_j dw_j. */
PORTABLE void ode_noise_add(const ode_work *w, const double *g, const double *dw, double *out) {
  const int n = ODE_COMPONENTS(w->plan), m = w->plan->noises, diagonal = w->plan->diagonal;
  for (int c = 0; c < n; c++) {
    const int first = diagonal ? c : 0, end = diagonal ? c + 1 : m;
    for (int j = first; j < end; j++) {
      const double *value = g + (int64_t)(diagonal ? c : c * m + j) * ODE_LANES;
      const double *by = dw + j * ODE_LANES;
      double *to = out + c * ODE_LANES;
      EACH_LANE for (int l = 0; l < ODE_LANES; l++) to[l] = fma(value[l], by[l], to[l]);
    }
  }
}

/* Of diagonal noise: out += g dg (dw^2 - drop)/2. */
PORTABLE void ode_noise_bend(const ode_work *w, const double *dw, double drop, double *out) {
  const int count = ODE_COMPONENTS(w->plan) * ODE_LANES;
  EACH_LANE for (int i = 0; i < count; i++) {
    const double square = fma(dw[i], dw[i], -drop);
    out[i] = fma(0.5 * w->noise[i] * w->other[i], square, out[i]);
  }
}

/* out_k += sum over j, i of dg_kj/dx_i (s_i dw_j - drop g_ij)/2, s in w->v. */
PORTABLE void ode_noise_twist(const ode_work *w, const double *dw, double drop, double *out) {
  const int n = ODE_COMPONENTS(w->plan), m = w->plan->noises;
  const double *dg = w->other;
  for (int k = 0; k < n; k++) {
    for (int j = 0; j < m; j++) {
      for (int i = 0; i < n; i++, dg += ODE_LANES) {
        const double *g = w->noise + (int64_t)(i * m + j) * ODE_LANES, *s = w->v + i * ODE_LANES;
        const double *by = dw + j * ODE_LANES;
        double *to = out + k * ODE_LANES;
        EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
          to[l] = fma(0.5 * fma(s[l], by[l], -(drop * g[l])), dg[l], to[l]);
        }
      }
    }
  }
}

/* out_k += sum over i of (g_ki(x + g_j sqrt(h)) - g_ki) (dw_j dw_i - [i = j] h) / (2 sqrt(h)). */
PORTABLE void ode_noise_differ(ode_work *w, int j, const double *dw, double *out) {
  const int n = ODE_COMPONENTS(w->plan), m = w->plan->noises, diagonal = w->plan->diagonal;
  const double h = w->plan->dt, root = sqrt(h), half = 0.5 / root;
  for (int c = 0; c < n; c++) {
    const double *g = w->noise + (int64_t)(diagonal ? c : c * m + j) * ODE_LANES;
    const int at = c * ODE_LANES;
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) w->v[at + l] = fma(g[l], root, w->y[at + l]);
  }
  ode_noise(w->call, w->t, w->v, w->other);
  for (int k = 0; k < n; k++) {
    const int first = diagonal ? k : 0, end = diagonal ? k + 1 : m;
    for (int i = first; i < end; i++) {
      const int64_t at = (int64_t)(diagonal ? k : k * m + i) * ODE_LANES;
      const double *a = dw + (diagonal ? i : j) * ODE_LANES, *b = dw + i * ODE_LANES;
      const double drop = diagonal || i == j ? h : 0.0;
      double *to = out + k * ODE_LANES;
      EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
        const double rise = half * (w->other[at + l] - w->noise[at + l]);
        to[l] = fma(rise, fma(a[l], b[l], -drop), to[l]);
      }
    }
  }
}

/* out = the state after the step of increments `dw` from t, y, k[0] being f there. `out` is none of
 * w->y, w->v and k[0]; w->v is used. */
PORTABLE void ode_noise_step(ode_work *w, const double *dw, double *out) {
  const ode_plan *plan = w->plan;
  const int count = ODE_COMPONENTS(plan) * ODE_LANES;
  const ode_noise_way way = ode_noise_way_of(plan);
  const double drop = plan->stratonovich ? 0.0 : plan->dt, *f = ode_slope(w, 0);
  const int64_t values = ode_noise_values(plan) * ODE_LANES;
  ode_noise(w->call, w->t, w->y, w->noise);
  if (way == ODE_NOISE_HEUN) {
    EACH_LANE for (int i = 0; i < count; i++) w->v[i] = w->y[i];
    ode_noise_add(w, w->noise, dw, w->v);
    ode_noise(w->call, w->t, w->v, w->other);
    EACH_LANE for (int64_t i = 0; i < values; i++) {
      w->noise[i] = 0.5 * (w->noise[i] + w->other[i]);
    }
  }
  EACH_LANE for (int i = 0; i < count; i++) out[i] = fma(plan->dt, f[i], w->y[i]);
  ode_noise_add(w, w->noise, dw, out);
  if (way == ODE_NOISE_DERIVATIVES) {
    ode_noise_jacobian(w->call, w->t, w->y, w->other);
    if (plan->diagonal) {
      ode_noise_bend(w, dw, drop, out);
    } else {
      for (int i = 0; i < count; i++) w->v[i] = 0.0;
      ode_noise_add(w, w->noise, dw, w->v);
      ode_noise_twist(w, dw, drop, out);
    }
  }
  for (int j = 0; way == ODE_NOISE_DIFFERENCES && j < (plan->diagonal ? 1 : plan->noises); j++) {
    ode_noise_differ(w, j, dw, out);
  }
}

/* ---- what the loop around the steps asks for ---- */

PORTABLE void ode_attempt_noisy(ode_work *w) {
  ode_noise_step(w, ode_noise_walk(w, ode_noise_now(w)), w->u);
  w->end = ode_slope(w, 1);
  ode_rhs(w->call, w->next, w->u, w->end);
  ode_look(w);
}

/* `count` steps in a row, none of them the last one, without looking at anything: y becomes the
 * state after them. */
PORTABLE void ode_steps_noisy(ode_work *w, int64_t count) {
  const int numbers = ODE_COMPONENTS(w->plan) * ODE_LANES;
  const int64_t begin = ode_noise_now(w);
  double *out = ode_slope(w, 1);
  for (int64_t i = begin; i < begin + count; i++) {
    const double t = fma((double)i, w->plan->dt, w->plan->t_start);
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) w->t[l] = t;
    if (!w->slope_known) ode_rhs(w->call, w->t, w->y, ode_slope(w, 0));
    w->slope_known = 0;
    ode_noise_step(w, ode_noise_walk(w, i), out);
    EACH_LANE for (int j = 0; j < numbers; j++) w->y[j] = out[j];
  }
}

/* The fraction x of a step, of an instant that is an end of the step but for rounding: that end. */
PORTABLE double ode_noise_fraction(double x) { return x < 1e-9 ? 0.0 : x > 1.0 - 1e-9 ? 1.0 : x; }

/* v = the states at the fractions x of the step, on the line from y to u. */
PORTABLE void ode_between_noisy(ode_work *w, const double *x) {
  const int n = ODE_COMPONENTS(w->plan);
  for (int c = 0; c < n; c++) {
    const int at = c * ODE_LANES;
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
      const double inside = fma(x[l], w->u[at + l] - w->y[at + l], w->y[at + l]);
      w->v[at + l] = x[l] == 1.0 ? w->u[at + l] : inside;
    }
  }
}

#endif
