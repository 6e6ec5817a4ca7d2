/* The steps of every kind of method behind two names: a step tried, and a state inside it. */
#ifndef ODE_STEPS_H
#define ODE_STEPS_H

#include "ode_explicit.h"
#include "ode_implicit.h"
#include "ode_noisy.h"
#include "ode_rosenbrock.h"

/* Tries the step from t to `next` (h = the difference but for rounding): u, its slope `end`, and
 * error. k[0] = f(t, y) is known and stays. */
PORTABLE void ode_attempt(ode_work *w) {
  switch (ODE_KIND(w->plan)) {
  case ODE_VERLET:
    ode_attempt_verlet(w);
    break;
  case ODE_NOISY:
    ode_attempt_noisy(w);
    break;
  case ODE_ROSENBROCK:
    if (ODE_LANES == 1) ode_attempt_rosenbrock(w);
    break;
  case ODE_IMPLICIT:
    if (ODE_LANES == 1) ode_attempt_implicit(w);
    break;
  default:
    ode_try(w);
  }
}

/* v = the state at the fractions x of the step tried, x in [0, 1]. */
PORTABLE void ode_between(ode_work *w, const double *x) {
  switch (ODE_KIND(w->plan)) {
  case ODE_RUNGE_KUTTA:
    ode_between_explicit(w, x);
    break;
  case ODE_NOISY:
    ode_between_noisy(w, x);
    break;
  case ODE_ROSENBROCK:
    if (ODE_LANES == 1) ode_between_rosenbrock(w, x);
    break;
  case ODE_IMPLICIT:
    if (ODE_LANES == 1) ode_between_implicit(w, x);
    break;
  default:
    ode_hermite(w, x);
  }
}

#endif
