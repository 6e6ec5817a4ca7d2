/* Saving, stopping, going on: what every command does with checkpoints, whatever its state is.
 *
 * A command opens one, says what problem it computes, adds the items that make up its state (arrays
 * and a few numbers), and then
 *
 *   checkpointing_load      at the start: is there a checkpoint to go on from?
 *   checkpointing_asks      in every step, for the reduction that is there anyway: does this rank
 *                           want all ranks to meet (a signal, the time limit, a checkpoint due)?
 *   checkpointing_meet      when any rank asked, or the step is a multiple of `every`: agrees on
 *                           why, saves, and says whether to stop
 *   checkpointing_finish    at the end: the state that returns the result at once
 *
 * Clocks and signals never decide locally: rank 0's clock says when a checkpoint is due, and what a
 * rank wants travels in the sum of the step. Saving reads the state and changes nothing in it.
 * Functions are collective and leave all ranks with the same status, unless they say "local". */
#ifndef CHECKPOINTING_H
#define CHECKPOINTING_H

#include "checkpoint_io.h"
#include "history.h"
#include "options.h"
#include "timers.h"

typedef struct checkpointing checkpointing;

typedef enum stop_cause { STOP_NONE, STOP_TIME, STOP_SIGNAL, STOP_FAILURE } stop_cause;

/* What a run that ended by it reports as its reason. Local. */
const char *stop_cause_name(stop_cause cause);

/* What came of a run's checkpoints, for the report and the exit code. */
typedef struct checkpointing_facts {
  char restarted[CHECKPOINT_PATH]; /* the file gone on from, or "" */
  int64_t restarted_at;            /* its number */
  char saved[CHECKPOINT_PATH];     /* the last file written, or "" */
  int64_t count;                   /* files written */
  double seconds;                  /* spent on them, rank 0 */
  stop_cause cause;                /* why the run was asked to stop */
  int signal;                      /* STOP_SIGNAL: which */
  int allocation;                  /* the time limit is the end of the allocation */
  int stopped_safe;                /* stopped, and the state it stopped in is written */
  status failed;                   /* of the last attempt to save */
} checkpointing_facts;

/* Reads [checkpoint] and run.time_limit (counted from comm_clock() `began`). Takes the name's lock,
 * proves its folder writable, and sees that a restart file is there: STATUS_USAGE when restart =
 * FILE is missing, STATUS_IO when the folder cannot be written or another job has the name. Without
 * checkpoint.file it still stops on request. */
status checkpointing_open(comm *c, const options *o, double began, checkpointing **out);
void checkpointing_close(checkpointing **cp); /* collective in name only: local, on all ranks */

/* What the checkpoints are of: `problem` is INI text (options_problem and the content of inputs),
 * compared key by key. All texts are copied. STATUS_USAGE when checkpoints of another problem stand
 * under the name of a run that starts afresh. */
status checkpointing_identify(checkpointing *cp, const char *name, const char *version,
                              const char *config, const char *problem);

/* An item of the state (copied; its name and memory stay the caller's). Local. A replicated item's
 * data and length are taken anew at each save from what `refresh` (may be NULL) sets. */
typedef status (*checkpointing_refresh)(void *context, checkpoint_item *item);
status checkpointing_add(checkpointing *cp, const checkpoint_item *item,
                         checkpointing_refresh refresh, void *context);

/* Forgets all items: another method adds its own. Local. */
void checkpointing_forget(checkpointing *cp);

/* The history travels with the state, as item /run/history. *h is rank 0's, NULL on other ranks;
 * where there is none and checkpoints are written, one without a file is made. checkpointing_load
 * fills it with the rows of the checkpoint gone on from. */
status checkpointing_history(checkpointing *cp, const char *heading, history **h);

/* Loads the state of the checkpoint that `restart` names: *number is its number, or -1 for a fresh
 * start. Distributed items are in place; replicated ones are asked for below.
 * STATUS_USAGE: of another problem, naming the keys. STATUS_IO: damaged. */
status checkpointing_load(checkpointing *cp, int64_t *number);

/* A replicated item as loaded: its array and length, until the next save. Local. */
const void *checkpointing_loaded(const checkpointing *cp, const char *name, int64_t *length);

/* Local. */
int checkpointing_asks(const checkpointing *cp);

/* The next step at which `every` = COUNT saves; INT64_MAX: none. Local. */
int64_t checkpointing_next(const checkpointing *cp, int64_t number);

/* All ranks are at step `number`, whose state the items hold. `failed`: this rank cannot go on. */
status checkpointing_meet(checkpointing *cp, int64_t number, int failed, stop_cause *cause);

/* The same before there is a state: during set-up, where nothing can be saved. */
status checkpointing_early(checkpointing *cp, stop_cause *cause);

/* The end of the run's steps. A failure to save does not lose the result: it is kept in the facts.
 */
status checkpointing_finish(checkpointing *cp, int64_t number);

/* Local. */
const checkpointing_facts *checkpointing_look(const checkpointing *cp);

/* The time of saving is charged to PHASE_CHECKPOINT of these timers. Local. */
void checkpointing_time(checkpointing *cp, timers *t);

#endif
