/* Whether a matrix will fit in memory, asked before it is read or made. */
#ifndef RUN_MEMORY_H
#define RUN_MEMORY_H

#include "commands.h"

/* By what the head of the file promises: to read it, and, where `solves`, to solve with it.
 * STATUS_UNAVAILABLE with both numbers. Collective. */
status run_memory_to_read(const run_context *run, const char *path, int solves);

#endif
