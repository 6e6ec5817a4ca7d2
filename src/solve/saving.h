/* What all methods put into a checkpoint, and how their drivers meet, save and go on. */
#ifndef SAVING_H
#define SAVING_H

#include "linear.h"

enum { SAVING_VECTORS = 8, SAVING_REALS = 15, SAVING_WHOLES = 6 };

struct solve_saver;

typedef struct saved_vector {
  const struct solve_saver *owner;
  vec v;
} saved_vector;

/* Vectors, the state's scalars, the scales and norms that the run started from. */
typedef struct solve_saver {
  solve_run *run;
  saved_vector vector[SAVING_VECTORS]; /* .v may be changed between saves */
  double real[SAVING_REALS];
  int64_t whole[SAVING_WHOLES];
} solve_saver;

/* Where a run goes on. */
typedef struct solve_resumed {
  int found;      /* 0: a fresh start, nothing else is set */
  verdict ended;  /* the run had ended so, under these same limits; VERDICT_NONE: go on */
  int checked;    /* the check due at this k, if any, has been made */
  int new_limits; /* it had ended, under other limits */
} solve_resumed;

/* Registers the vectors (names "/solve/x" ...; `v` must stay where it is). Local. */
status saving_open(solve_saver *v, solve_run *run, const char *const *names, const vec *vectors,
                   int count);

/* Goes on from the checkpoint asked for: vectors, scales and norms of the run, and *state are as
 * they were. Collective. */
status saving_load(solve_saver *v, solve_state *state, solve_resumed *out);

/* True when all ranks are to meet at iterate k of this state. Local, alike on all ranks. */
int saving_is_due(const solve_run *run, const solve_state *state);

/* All ranks have x_k and what the next iteration needs: saves if wanted. *stop: the run is to end.
 * Collective. */
status saving_meet(solve_saver *v, const solve_state *state, int checked, int *stop);

/* The iterations are over, by `ended`: saves what a restart returns at once, or goes on from with
 * other limits. Nothing is saved of a run that broke down. Collective. */
status saving_finish(solve_saver *v, const solve_state *state, int checked, verdict ended);

#endif
