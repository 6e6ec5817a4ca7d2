#include "take_up.h"

status ode_take_up(const ode_plan *plan, double t, int64_t attempts, int stands, int *out) {
  *out = stands;
  if (ode_before(plan, plan->t_end, t)) {
    return fail(STATUS_USAGE, "ode: the checkpoint is at t = %g already, behind t_end = %g", t,
                plan->t_end);
  }
  if (stands != ODE_DONE || !ode_before(plan, t, plan->t_end)) return STATUS_OK;
  *out = ODE_RUNNING;
  if (plan->adaptive || ode_instant(plan, attempts) == t) return STATUS_OK;
  return fail(STATUS_USAGE,
              "ode: the checkpoint's run ended at t = %.17g, which is not a whole number of steps "
              "of %g: another t_end takes a fresh start",
              t, plan->dt);
}
