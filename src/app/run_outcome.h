/* How a run ends that was asked to stop, or whose last checkpoint could not be written: reason,
 * exit code and text, the same for every command that saves. All local. */
#ifndef RUN_OUTCOME_H
#define RUN_OUTCOME_H

#include "checkpointing.h"
#include "commands.h"

typedef struct run_ending {
  const checkpointing_facts *saved;
  int stopped;        /* the method ended because it was asked to */
  status code;        /* the exit code of the method's own reason */
  const char *reason; /* its name */
  const char *done;   /* "34 iterations" */
  const char *state;  /* of the unfinished result: "not converged: |b - Ax| / |b| = 1e-3" */
} run_ending;

/* The report's `reason`, and the exit code: 75 with the state of the stop on disk; without
 * checkpoints 128 + signal, or `code` at the time limit; 6 when the last checkpoint failed, unless
 * the run broke down anyway. */
const char *run_ending_reason(const run_ending *e);
status run_ending_code(const run_ending *e);

/* The failure, with its text, of a run that was stopped or whose last checkpoint failed; STATUS_OK
 * for others. */
status run_ending_failure(const run_ending *e);

/* Between the steps of a set-up: whether someone asked to stop. Nothing can be saved yet: with
 * checkpoint.file 75 (run again), else 128 + signal, or 4 at the time limit. `doing` says what was
 * done last ("reading the matrix"). Collective. */
status run_stop_early(const run_context *run, checkpointing *cp, const char *doing);

#endif
