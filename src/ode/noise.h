/* The noise of a run as its method sees it: additive or not, its derivatives, whether it commutes
 * (ode_noisy.h). */
#ifndef NOISE_H
#define NOISE_H

#include "compile.h"
#include "function.h"
#include "ode_backend.h"

/* What is known of a run's noise. */
typedef struct ode_noise_request {
  const char *where;        /* begins messages: how the method was asked for */
  const char *const *names; /* of the inputs: t, the components, the parameters */
  const double *y, *p;      /* of trajectory 0: [components], [shared + parameters] */
} ode_noise_request;

/* Whether noise commutes: STATUS_USAGE, with two noises that do not and where, else. That is read
 * off the expressions where they show it; else D_j g_k = D_k g_j is tried by differences at 16
 * points around y, at random instants of the run: noise that commutes at all of them and not
 * elsewhere is taken for commuting. Local. */
status ode_noise_commutes(const function *noise, const ode_noise_request *is, const ode_plan *plan);

/* Completes a plan (kind, variant, components, noises, diagonal, instants) for the noise given:
 * sets additive and has_noise_jacobian. *jacobian: the noise_jacobian of ode_functions, NULL where
 * the method or the noise has none; function_release. STATUS_USAGE: milstein, and the noise does
 * not commute. Collective, the same result on every rank. */
status ode_noise_create(comm *c, compiler *with, const function *noise, const ode_noise_request *is,
                        ode_plan *plan, function **jacobian);

#endif
