/* Requests to stop from outside: SIGUSR1, SIGTERM, SIGINT. The handlers set a flag and nothing
 * else; the run looks at it once per step and agrees on it over ranks. A second SIGINT ends the
 * process at once. Also the end of the allocation, where Slurm says when that is. Local. */
#ifndef STOP_H
#define STOP_H

#include "status.h"

/* Takes over the signals for the rest of the process; SIGXFSZ is ignored. */
status stop_install(void);

/* The signal that came last; 0: none. */
int stop_signal(void);

/* "SIGTERM" ... */
const char *stop_signal_name(int number);

/* comm_clock() at which the allocation ends (SLURM_JOB_END_TIME); INFINITY: not known. */
double stop_allocation_end(void);

#endif
