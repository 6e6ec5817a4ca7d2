/* What the machine gives the OpenMP library. Local. */
#ifndef PROCESSORS_H
#define PROCESSORS_H

#include "status.h"

/* How many CPUs the OpenMP library was given when the program started: unlike the affinity mask,
 * this is not narrowed when OMP_PROC_BIND ties the first thread to its place. */
int processors_at_start(void);

/* Whether this process may have `threads` threads at once, by starting and ending them: the OpenMP
 * library ends the program where it cannot. STATUS_UNAVAILABLE with the number and the reason. */
status processors_try(int threads);

#endif
