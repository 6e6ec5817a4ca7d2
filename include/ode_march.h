/* Trajectories from one state to a later one: the loop around the steps. A lane that is through
 * takes the next trajectory that waits.
 *
 * Fixed steps of Runge-Kutta methods and of noisy ones between two instants that anybody asks about
 * go in stretches without a look (ode_steps); a stretch that ends in a state that is not finite is
 * made again step by step, to find the first bad one. States once not finite stay so. */
#ifndef ODE_MARCH_H
#define ODE_MARCH_H

#include "ode_control.h"
#include "ode_inside.h"

enum { ODE_STRETCH = ODE_LANES == 1 ? 512 : 64 };

/* ---- from and to ode_states ---- */

PORTABLE void ode_load(ode_work *w, const ode_states *s, int l, int64_t i) {
  const double *y = (const double *)s->y.at, *p = (const double *)s->p.at;
  const int n = ODE_COMPONENTS(w->plan), parameters = ODE_PARAMETERS(w->plan);
  for (int c = 0; c < n; c++) w->y[c * ODE_LANES + l] = y[c * s->count + i];
  for (int j = 0; j < parameters; j++) {
    w->p[(ODE_SHARED(w->plan) + j) * ODE_LANES + l] = p[j * s->count + i];
  }
  w->t[l] = ((const double *)s->t.at)[i];
  w->h[l] = ((const double *)s->h.at)[i];
  w->memory[l] = ((const double *)s->memory.at)[i];
  w->attempts[l] = ((const int64_t *)s->attempts.at)[i];
  w->rejected[l] = ((const int64_t *)s->rejected.at)[i];
  w->status[l] = ODE_RUNNING;
  w->place[l] = i;
  w->trajectory[l] = (uint64_t)(s->first + i);
}

PORTABLE void ode_store(ode_work *w, const ode_states *s, int l) {
  const int64_t i = w->place[l];
  const int n = ODE_COMPONENTS(w->plan);
  double *y = (double *)s->y.at;
  for (int c = 0; c < n; c++) y[c * s->count + i] = w->y[c * ODE_LANES + l];
  ((double *)s->t.at)[i] = w->t[l];
  ((double *)s->h.at)[i] = w->h[l];
  ((double *)s->memory.at)[i] = w->memory[l];
  ((int64_t *)s->attempts.at)[i] = w->attempts[l];
  ((int64_t *)s->rejected.at)[i] = w->rejected[l];
  ((unsigned char *)s->status.at)[i] = (unsigned char)w->status[l];
  w->place[l] = -1;
}

/* Stores the lanes that are through and gives them the next that wait; with noise only one that is
 * at the step of those that are there, since lanes walk their paths in step. fresh[l]: it has one
 * that was not there. Not 0: somebody is there. */
PORTABLE int ode_change(ode_work *w, const ode_states *s, int64_t *waiting, int64_t end,
                        int64_t attempts, int *fresh) {
  const int together = ODE_KIND(w->plan) == ODE_NOISY;
  const int64_t *step = (const int64_t *)s->attempts.at;
  int there = 0;
  for (int l = 0; l < ODE_LANES; l++) {
    fresh[l] = 0;
    if (w->place[l] >= 0 && (w->status[l] != ODE_RUNNING || w->left[l] <= 0)) ode_store(w, s, l);
    there |= w->place[l] >= 0;
  }
  int64_t now = together && there ? ode_noise_now(w) : 0;
  for (int l = 0; l < ODE_LANES; l++) {
    for (; w->place[l] < 0 && *waiting < end; ++*waiting) {
      if (((const unsigned char *)s->status.at)[*waiting] != ODE_RUNNING) continue;
      if (together && there && step[*waiting] != now) return 1;
      ode_load(w, s, l, *waiting);
      w->left[l] = attempts;
      fresh[l] = 1;
      w->slope_known = 0;
      w->walked = -1;
      now = w->attempts[l];
      there = 1;
    }
  }
  return there;
}

/* What trajectories that are new here need: the slope, a first step, the event's sign; and, at
 * their start, what is saved there, and a look at state and slope. */
PORTABLE void ode_arrive(ode_work *w, const ode_states *s, const int *fresh) {
  const ode_plan *plan = w->plan;
  const int n = ODE_COMPONENTS(plan);
  double g[ODE_LANES];
  int any = 0, hurry = 0;
  for (int l = 0; l < ODE_LANES; l++) any |= fresh[l];
  if (!any) return;
  ode_rhs(w->call, w->t, w->y, ode_slope(w, 0));
  w->slope_known = 1;
  if (plan->has_event) ode_event(w->call, w->t, w->y, g);
  for (int l = 0; l < ODE_LANES; l++) {
    double look = 0.0;
    if (!fresh[l]) continue;
    if (plan->has_event) w->event[l] = g[l];
    if (plan->has_event && g[l] != g[l]) look = g[l];
    hurry |= plan->adaptive && w->h[l] == 0.0;
    if (w->attempts[l] > 0) continue;
    for (int64_t i = 0;
         i < plan->saves && !ode_before(plan, plan->t_start, ((const double *)plan->save_at.at)[i]);
         i++) {
      ode_save(w, s, l, i, w->y);
    }
    for (int c = 0; c < n; c++) {
      look = fma(0.0, w->y[c * ODE_LANES + l], look);
      look = fma(0.0, ode_slope(w, 0)[c * ODE_LANES + l], look);
    }
    if (look != 0.0) w->status[l] = ODE_NOT_FINITE;
  }
  if (hurry) ode_first_steps(w);
}

/* ---- steps ---- */

/* One step of every lane, looked at. */
PORTABLE void ode_step(ode_work *w, const ode_states *s) {
  const ode_plan *plan = w->plan;
  int taken[ODE_LANES], found[ODE_LANES];
  double x[ODE_LANES];
  for (int l = 0; l < ODE_LANES; l++) {
    if (w->place[l] >= 0) ode_aim(w, l);
    found[l] = 0;
    x[l] = 1.0;
  }
  ode_attempt(w);
  if (plan->adaptive) ode_judge(w);
  for (int l = 0; l < ODE_LANES; l++) {
    taken[l] = w->place[l] >= 0 && w->status[l] == ODE_RUNNING && w->error[l] <= 1.0;
  }
  if (plan->has_event) ode_find_events(w, taken, found, x);
  if (plan->saves > 0) ode_save_inside(w, s, taken, found);
  if (plan->has_event) ode_settle_events(w, found, x);
  for (int l = 0; l < ODE_LANES; l++) {
    if (w->place[l] < 0 || (w->status[l] != ODE_RUNNING && !found[l])) continue;
    w->attempts[l]++;
    w->left[l]--;
    if (found[l]) continue;
    if (taken[l]) {
      ode_accept(w, l);
    } else {
      ode_reject(w, l);
    }
    if (w->status[l] == ODE_RUNNING && w->attempts[l] >= plan->max_steps) {
      w->status[l] = ODE_STEP_LIMIT;
    }
  }
  const int n = ODE_COMPONENTS(plan);
  double *first = ode_slope(w, 0);
  for (int i = 0; i < n; i++) {
    const int at = i * ODE_LANES;
    EACH_LANE for (int l = 0; l < ODE_LANES; l++) {
      w->y[at + l] = taken[l] ? w->u[at + l] : w->y[at + l];
      first[at + l] = taken[l] ? w->end[at + l] : first[at + l];
    }
  }
  EACH_LANE for (int l = 0; l < ODE_LANES; l++) w->t[l] = taken[l] ? w->next[l] : w->t[l];
}

/* How many steps all lanes can make without a look. */
PORTABLE int64_t ode_stretch(const ode_work *w) {
  const ode_plan *plan = w->plan;
  int64_t least = ODE_STRETCH;
  if (ODE_KIND(plan) != ODE_RUNGE_KUTTA && ODE_KIND(plan) != ODE_NOISY) return 0;
  if (plan->adaptive || plan->has_event) return 0;
  for (int l = 0; l < ODE_LANES; l++) {
    if (w->place[l] < 0) continue;
    int64_t here = plan->steps - 1 - w->attempts[l];
    const int64_t allowed = plan->max_steps - 1 - w->attempts[l];
    if (allowed < here) here = allowed;
    if (w->left[l] < here) here = w->left[l];
    const int64_t save = plan->saves > 0 ? ode_saves_until(plan, w->t[l]) : plan->saves;
    if (save < plan->saves) { /* up to a step before it: rounding may put it on either side */
      const double at = ((const double *)plan->save_at.at)[save];
      const double before = floor((at - plan->t_start) / plan->dt) - 1.0;
      if (before < (double)(w->attempts[l] + here)) here = (int64_t)before - w->attempts[l];
    }
    if (here < least) least = here;
  }
  return least;
}

/* Makes them. 0: one of the states is not finite, and nothing has been done. */
PORTABLE int ode_stretch_make(ode_work *w, int64_t count) {
  const int numbers = ODE_COMPONENTS(w->plan) * ODE_LANES;
  double look[ODE_LANES];
  int finite = 1;
  EACH_LANE for (int i = 0; i < numbers; i++) w->u[i] = w->y[i];
  ode_steps(w, count);
  for (int l = 0; l < ODE_LANES; l++) look[l] = 0.0;
  for (int i = 0; i < numbers; i++) look[i % ODE_LANES] = fma(0.0, w->y[i], look[i % ODE_LANES]);
  for (int l = 0; l < ODE_LANES; l++) finite &= w->place[l] < 0 || look[l] == 0.0;
  for (int i = 0; !finite && i < numbers; i++) w->y[i] = w->u[i];
  for (int l = 0; l < ODE_LANES; l++) {
    if (finite && w->place[l] >= 0) {
      w->attempts[l] += count;
      w->left[l] -= count;
    }
    if (w->place[l] >= 0) w->t[l] = ode_instant(w->plan, w->attempts[l]);
  }
  if (!finite) w->slope_known = 0;
  return finite;
}

/* Advances trajectories [begin, end) of `s` that are running, each by `attempts` steps at most. */
PORTABLE void ode_march(ode_work *w, const ode_states *s, int64_t begin, int64_t end,
                        int64_t attempts) {
  int64_t waiting = begin, careful = 0;
  int fresh[ODE_LANES];
  for (int l = 0; l < ODE_LANES; l++) w->place[l] = -1;
  if (ODE_KIND(w->plan) == ODE_NOISY) w->paths = ode_paths(w->plan);
  while (ode_change(w, s, &waiting, end, attempts, fresh)) {
    ode_arrive(w, s, fresh);
    const int64_t count = careful > 0 ? 0 : ode_stretch(w);
    if (count > 1) {
      if (!ode_stretch_make(w, count)) careful = count;
      continue;
    }
    if (careful > 0) careful--;
    if (!w->slope_known) ode_rhs(w->call, w->t, w->y, ode_slope(w, 0));
    w->slope_known = 1;
    ode_step(w, s);
  }
}

#endif
