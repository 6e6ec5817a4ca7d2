/* How a run that checkpoints ends: what every command does with it. Local. */
#ifndef RUN_SAVING_H
#define RUN_SAVING_H

#include "checkpointing.h"

/* A run's end, as its command sees it. */
typedef struct run_ending {
  status code;      /* without checkpoints */
  int stopped;      /* asked to stop */
  int by_signal;    /* by a signal, else by the clock */
  const char *done; /* "120 iterations" */
  const char *left; /* what was reached, for a run that cannot be continued; may be "" */
} run_ending;

/* The exit code with what became of the checkpoints. */
status run_saving_exit_code(const checkpointing_facts *facts, const run_ending *end);

/* The failure, with its text, of a run that was stopped or whose last checkpoint failed; STATUS_OK:
 * neither. */
status run_saving_stopped(const checkpointing_facts *facts, const run_ending *end);

#endif
