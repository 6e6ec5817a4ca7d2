/* The part of `inspect` for checkpoints. */
#ifndef INSPECT_CHECKPOINT_H
#define INSPECT_CHECKPOINT_H

#include "commands.h"

/* Describes the checkpoint at `path`; *is_one: whether it is one, nothing is said otherwise.
 * Collective. */
status inspect_checkpoint(run_context *run, const char *path, int *is_one);

#endif
