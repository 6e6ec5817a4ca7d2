/* Checkpoints of long sums. A run is a sequence of sums over grids, each decided by the ones before
 * it; so its state is the list of sums done, the exact words of the one at work, and its next
 * block. Going on runs the driver again from its start: sums in the list are recalled, not made.
 * Functions are collective unless they say local; a NULL saver does nothing. */
#ifndef QUAD_SAVING_H
#define QUAD_SAVING_H

#include "checkpointing.h"
#include "quad_run.h"

enum { QUAD_SAVER_SUMS = 2, QUAD_SAVER_WORDS = 4 * WIDE_WORDS + 1 };

typedef struct quad_saver {
  checkpointing *is;
  int sums;     /* fixed rules: what follows is in use */
  double *done; /* [QUAD_SAVER_SUMS * count], of completed sums, in order */
  int64_t count, room;
  int64_t recalled; /* of them, how many this run has asked for again */
  int64_t at;       /* next block of the sum at work */
  int64_t blocks;   /* in all sums that are done: checkpoints are numbered by blocks */
  int64_t word[QUAD_SAVER_WORDS]; /* exact totals at work */
  int64_t whole[2];               /* as saved: at, blocks */
  double limits[4];               /* of sweeps: as saved (quad_sweep_saving.c) */
  int resumed;                    /* `word` and `at` are for the next sum */
} quad_saver;

/* Adds the items of the state of fixed rules; the items of sweeps and adaptive rules are added by
 * their drivers. Local. */
status quad_saver_open(quad_saver *s, checkpointing *is, int sums);
void quad_saver_close(quad_saver *s); /* local */

/* Loads what `restart` names. */
status quad_saver_load(quad_run *run);

/* The next sum, if it was done before: 1, and its values. Local. */
int quad_saver_recall(quad_saver *s, int count, double *out);

/* Where the next sum was broken off, if it was. Local. */
void quad_saver_resume(quad_saver *s, wide *total, int64_t *at);

/* `end`, or the block before it at which `every` = COUNT wants a checkpoint. Local. */
int64_t quad_saver_until(const quad_saver *s, int64_t at, int64_t end);

/* Between stretches: saves when due; sets run->reason when the run is to stop. */
status quad_saver_meet(quad_run *run, const wide *total, int64_t at);

/* The same for a state that is in place, of a run at `number`. */
status quad_saver_look(quad_run *run, int64_t number);

/* A sum is done. Local. */
status quad_saver_note(quad_saver *s, int count, const double *out, int64_t blocks);

status quad_saver_finish(quad_run *run);

#endif
