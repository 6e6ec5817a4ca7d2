/* The files a run writes, checked before it works. */
#ifndef RUN_FILES_H
#define RUN_FILES_H

#include "commands.h"

enum { RUN_INPUTS = 16 };

/* That every output can be written, replaces nothing foreign, and is none of the inputs (the INI
 * file, checkpoint.restart, and `inputs`, where NULL ones are passed over; at most RUN_INPUTS - 2),
 * nor another output. Collective. */
status run_files_check(const run_context *run, const char *const *inputs, int count);

#endif
