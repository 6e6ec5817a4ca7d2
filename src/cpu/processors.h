/* How many CPUs the OpenMP library was given when the program started: unlike the affinity mask,
 * this is not narrowed when OMP_PROC_BIND ties the first thread to its place. Local. */
#ifndef PROCESSORS_H
#define PROCESSORS_H

int processors_at_start(void);

#endif
