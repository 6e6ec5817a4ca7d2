/* What is looked for inside a step that is taken: instants to be saved, and events.
 *
 * An event is the first sign change of the event function over a step, found by bisection of the
 * dense output down to the last bits of the fraction; the trajectory ends just behind it. A
 * function that is zero at the start has no sign yet: that is no event. */
#ifndef ODE_INSIDE_H
#define ODE_INSIDE_H

#include "ode_steps.h"

enum { ODE_BISECTIONS = 64 };

/* found[l], for the lanes whose step is taken: whether the event function changes its sign; x[l] is
 * then the fraction just behind the change, and `next` its instant. Others keep their new sign. */
PORTABLE void ode_find_events(ode_work *w, int *taken, int *found, double *x) {
  double low[ODE_LANES], g[ODE_LANES], at[ODE_LANES];
  int any = 0;
  ode_event(w->call, w->next, w->u, g);
  for (int l = 0; l < ODE_LANES; l++) {
    const double before = w->event[l];
    if (taken[l] && g[l] != g[l]) { /* thrown away like a state that is not finite */
      w->error[l] = g[l];
      taken[l] = 0;
    }
    found[l] = taken[l] && ((before < 0.0 && g[l] >= 0.0) || (before > 0.0 && g[l] <= 0.0));
    any |= found[l];
    low[l] = 0.0;
    x[l] = 1.0;
    if (taken[l] && !found[l] && g[l] != 0.0) w->event[l] = g[l];
  }
  for (int i = 0; any && i < ODE_BISECTIONS; i++) {
    double middle[ODE_LANES];
    for (int l = 0; l < ODE_LANES; l++) {
      middle[l] = 0.5 * (low[l] + x[l]);
      at[l] = fma(middle[l], w->h[l], w->t[l]);
    }
    ode_between(w, middle);
    ode_event(w->call, at, w->v, g);
    for (int l = 0; l < ODE_LANES; l++) {
      const int behind = w->event[l] < 0.0 ? g[l] >= 0.0 : g[l] <= 0.0;
      x[l] = behind ? middle[l] : x[l];
      low[l] = behind ? low[l] : middle[l];
    }
  }
  for (int l = 0; l < ODE_LANES; l++) {
    if (found[l] && x[l] < 1.0) w->next[l] = fma(x[l], w->h[l], w->t[l]);
  }
}

/* The lanes with an event end there: u is their state at the fraction x. */
PORTABLE void ode_settle_events(ode_work *w, const int *found, const double *x) {
  const int n = ODE_COMPONENTS(w->plan);
  int any = 0;
  for (int l = 0; l < ODE_LANES; l++) any |= found[l];
  if (!any) return;
  ode_between(w, x);
  for (int l = 0; l < ODE_LANES; l++) {
    if (!found[l]) continue;
    w->status[l] = ODE_EVENT;
    for (int c = 0; c < n && x[l] < 1.0; c++) w->u[c * ODE_LANES + l] = w->v[c * ODE_LANES + l];
  }
}

/* Puts the state `from` of lane l down as saved instant number `save`. */
PORTABLE void ode_save(const ode_work *w, const ode_states *s, int l, int64_t save,
                       const double *from) {
  const int n = ODE_COMPONENTS(w->plan);
  double *out = (double *)s->saved.at + save * n * s->count + w->place[l];
  for (int c = 0; c < n; c++) out[c * s->count] = from[c * ODE_LANES + l];
}

/* The instants to be saved after t, up to `next`, of the lanes whose step is taken. */
PORTABLE void ode_save_inside(ode_work *w, const ode_states *s, const int *taken,
                              const int *found) {
  const ode_plan *plan = w->plan;
  const double *at = (const double *)plan->save_at.at;
  int64_t save[ODE_LANES];
  for (int l = 0; l < ODE_LANES; l++) {
    save[l] = taken[l] ? ode_saves_until(plan, w->t[l]) : plan->saves;
  }
  for (;;) {
    double x[ODE_LANES];
    int any = 0;
    for (int l = 0; l < ODE_LANES; l++) {
      const int here = save[l] < plan->saves && !ode_before(plan, w->next[l], at[save[l]]);
      x[l] = here ? (at[save[l]] - w->t[l]) / w->h[l] : 0.0;
      if (ODE_KIND(plan) == ODE_NOISY) x[l] = ode_noise_fraction(x[l]);
      if (!here) save[l] = plan->saves;
      any |= here;
    }
    if (!any) return;
    ode_between(w, x);
    for (int l = 0; l < ODE_LANES; l++) {
      if (save[l] == plan->saves) continue;
      if (at[save[l]] == w->next[l] && !found[l]) { /* not one call: u and v stay registers */
        ode_save(w, s, l, save[l], w->u);
      } else {
        ode_save(w, s, l, save[l], w->v);
      }
      save[l]++;
    }
  }
}

#endif
