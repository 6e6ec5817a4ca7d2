/* Time and step control of a coupled system: those of one trajectory (ode_control.h), with the
 * error norm of all ranks. Of ode_work only what control reads and writes is used: plan, t, h,
 * next, error (squared), memory, attempts, rejected, status. */
#ifndef COUPLED_CLOCK_H
#define COUPLED_CLOCK_H

#define ODE_SYSTEM_H
#define ODE_LANES            1
#define ODE_COMPONENTS(plan) 1
#define ODE_SHARED(plan)     0
#define ODE_PARAMETERS(plan) 0
#define ODE_KIND(plan)       ((plan)->kind)
#define ODE_VARIANT(plan)    ((plan)->variant)

#include "portable.h"

/* Never called: the right-hand side of all ranks is coupled_rhs (coupled_run.h). */
typedef struct ode_call {
  int nothing;
} ode_call;

PORTABLE void ode_rhs(const ode_call *call, const double *t, const double *y, double *dy) {
  (void)call, (void)t, (void)y, (void)dy;
}

#include "ode_control.h"

#endif
