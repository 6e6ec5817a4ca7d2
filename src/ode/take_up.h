/* Runs that go on from a checkpoint to another t_end. */
#ifndef TAKE_UP_H
#define TAKE_UP_H

#include "ode.h"
#include "status.h"

/* What stands at t after `attempts` steps, with the ode_status `stands`, in a checkpoint: what it
 * is in this run, ODE_RUNNING where it was at an earlier t_end. STATUS_USAGE: it is behind this
 * run's t_end, or its last step was shortened, so that no run with fixed steps comes by. Local. */
status ode_take_up(const ode_plan *plan, double t, int64_t attempts, int stands, int *out);

#endif
