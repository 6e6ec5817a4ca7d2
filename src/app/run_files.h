/* The files a run writes, checked before it works. */
#ifndef RUN_FILES_H
#define RUN_FILES_H

#include "commands.h"

/* That every output of the option table can be written, replaces nothing foreign, and is none of
 * the inputs (the INI file, the table's input files, and `inputs`: files that texts name; NULL ones
 * are passed over), nor another output, nor one of the run's own checkpoints. STATUS_USAGE or
 * STATUS_IO. Collective. */
status run_files_check(const run_context *run, const char *const *inputs, int count);

#endif
