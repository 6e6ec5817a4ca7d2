/* Checkpoints and requests to stop, as `ode` meets them. */
#ifndef ODE_SAVING_H
#define ODE_SAVING_H

#include "ode_job.h"

status ode_saving_open(ode_job *j); /* collective */
void ode_saving_close(ode_job *j);

/* The exit code and the failure of a run that was asked to stop, or whose last checkpoint failed;
 * STATUS_OK for others. The reason of any run. Local. */
status ode_saving_code(const ode_job *j);
status ode_saving_outcome(const ode_job *j);
const char *ode_saving_reason(const ode_job *j);

#endif
