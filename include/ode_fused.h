/* Steps of explicit Runge-Kutta methods with system and method known to the compiler: a lane's step
 * is straight-line code whose numbers stay in registers, and the loop over lanes becomes vectors.
 * The same sums in the same order as ode_explicit.h, so the same bits. Lorenz by RK4 on one core:
 * 1.3 ns a step where ode_explicit.h takes 4.9 and a loop over one trajectory at a time 13.
 *
 * Who includes this defines, besides what ode_work.h asks for, parameters with constants,
 *   ODE_N                how many components, a constant
 *   ode_value(in, out)   f: in = t, components, parameters; out = components
 *   ODE_TOGETHER         for GPUs: fixed steps in a row without a jump
 *   ODE_STEP(w)          the tableau times dt where it is in constant memory, or a null pointer: a
 *                        GPU's fma of three registers takes a seventh longer than one that has a
 *                        factor from there
 *
 * Worth it for systems of few components whose text has no branches. */
#ifndef ODE_FUSED_H
#define ODE_FUSED_H

#include "ode_work.h"

enum {
  ODE_FUSED_N = ODE_N,
  ODE_FUSED_P = ODE_SHARED(0) + ODE_PARAMETERS(0),
  ODE_FUSED_IN = 1 + ODE_FUSED_N + ODE_FUSED_P
};

/* One lane's numbers. in[]: the function's inputs, of which the parameters stay. */
typedef struct ode_lane {
  double y[ODE_FUSED_N], v[ODE_FUSED_N], in[ODE_FUSED_IN];
  double k[ODE_STAGES][ODE_FUSED_N];
} ode_lane;

PORTABLE void ode_lane_slope(ode_lane *a, double t, const double *y, double *k) {
  a->in[0] = t;
  UNROLLED for (int c = 0; c < ODE_FUSED_N; c++) a->in[1 + c] = y[c];
  ode_value(a->in, k);
}

/* out = y + the sum of h weight[j] k[j], as in ode_combine; scaled[j]: h weight[j], or NULL. */
PORTABLE void ode_lane_combine(const ode_lane *a, int stages, const double *weight,
                               const double *scaled, double h, double *out) {
  UNROLLED for (int c = 0; c < ODE_FUSED_N; c++) {
    double s = a->y[c];
    UNROLLED for (int j = 0; j < ODE_STAGES; j++) {
      if (j >= stages || weight[j] == 0.0) continue;
      s = fma(scaled != 0 ? scaled[j] : h * weight[j], a->k[j][c], s);
    }
    out[c] = s;
  }
}

/* k[1] and on, v: the argument of the last; k[0] is known. step: m times h, or NULL. */
PORTABLE void ode_lane_stages(ode_lane *a, const ode_tableau *m, const ode_tableau *step, double t,
                              double h, double next) {
  UNROLLED for (int i = 1; i < ODE_STAGES; i++) {
    if (i >= m->stages) continue;
    ode_lane_combine(a, i, m->a[i], step != 0 ? step->a[i] : 0, h, a->v);
    ode_lane_slope(a, m->c[i] == 1.0 ? next : fma(m->c[i], h, t), a->v, a->k[i]);
  }
}

PORTABLE void ode_lane_load(const ode_work *w, int l, ode_lane *a) {
  UNROLLED for (int c = 0; c < ODE_FUSED_N; c++) a->y[c] = w->y[c * ODE_LANES + l];
  UNROLLED for (int j = 0; j < ODE_FUSED_P; j++) {
    a->in[1 + ODE_FUSED_N + j] = w->p[j * ODE_LANES + l];
  }
}

/* ode_steps_explicit. */
PORTABLE void ode_steps_fused(ode_work *w, int64_t count) {
  const ode_tableau m = ode_tableau_of(ODE_VARIANT(w->plan));
  const ode_tableau *step = ODE_STEP(w);
  const double h = w->plan->dt, begin = w->plan->t_start;
  UNROLLED_ON_GPU(ODE_TOGETHER) for (int64_t i = 0; i < count; i++) {
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
      const double number = (double)(w->attempts[l] + i);
      const double t = fma(number, h, begin), next = fma(number + 1.0, h, begin);
      ode_lane a;
      ode_lane_load(w, l, &a);
      ode_lane_slope(&a, t, a.y, a.k[0]);
      ode_lane_stages(&a, &m, step, t, h, next);
      if (!m.first_same) ode_lane_combine(&a, m.stages, m.b, step != 0 ? step->b : 0, h, a.v);
      UNROLLED for (int c = 0; c < ODE_FUSED_N; c++) w->y[c * ODE_LANES + l] = a.v[c];
    }
  }
  w->slope_known = 0;
}

/* error + what component c adds to it, as in ode_measure. */
PORTABLE double ode_lane_measure(const ode_work *w, const ode_lane *a, const ode_tableau *m,
                                 double h, int c, double error) {
  double e = 0.0;
  UNROLLED for (int j = 0; j < ODE_STAGES; j++) {
    if (m->e[j] != 0.0) e = fma(m->e[j], a->k[j][c], e);
  }
  const double q = h * e / ode_scale(w->plan, a->y[c], a->v[c]);
  return fma(q, q, error) + 0.0 * a->v[c];
}

/* ode_attempt_explicit; `adaptive` is the plan's, known to the compiler (asked in the loop, it
 * would not become vectors). */
PORTABLE void ode_lanes_attempt(ode_work *w, int adaptive) {
  const ode_tableau m = ode_tableau_of(ODE_VARIANT(w->plan));
  const double *first = w->k;
  double *slope = w->k + ODE_FUSED_N * ODE_LANES;
  EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
    const double h = w->h[l];
    double error = 0.0;
    ode_lane a;
    ode_lane_load(w, l, &a);
    UNROLLED for (int c = 0; c < ODE_FUSED_N; c++) a.k[0][c] = first[c * ODE_LANES + l];
    ode_lane_stages(&a, &m, 0, w->t[l], h, w->next[l]);
    if (!m.first_same) {
      ode_lane_combine(&a, m.stages, m.b, 0, h, a.v);
      ode_lane_slope(&a, w->next[l], a.v, a.k[m.stages]);
    }
    UNROLLED for (int c = 0; c < ODE_FUSED_N; c++) {
      error = adaptive ? ode_lane_measure(w, &a, &m, h, c, error) : fma(0.0, a.v[c], error);
      w->u[c * ODE_LANES + l] = a.v[c];
    }
    UNROLLED for (int j = 1; j < ODE_STAGES; j++) {
      UNROLLED for (int c = 0; c < ODE_FUSED_N; c++) {
        slope[((j - 1) * ODE_FUSED_N + c) * ODE_LANES + l] = a.k[j][c];
      }
    }
    w->error[l] = adaptive ? error / (double)ODE_FUSED_N : error;
  }
  w->end = ode_slope(w, m.first_same ? m.stages - 1 : m.stages);
}

PORTABLE void ode_attempt_fused(ode_work *w) { ode_lanes_attempt(w, 1); }
PORTABLE void ode_attempt_fixed_fused(ode_work *w) { ode_lanes_attempt(w, 0); }

#endif
