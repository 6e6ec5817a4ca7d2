/* Ensembles: many trajectories of one system, over ranks.
 *
 * Every rank owns a run of whole blocks of 256 trajectories and keeps their states between steps,
 * so that a run can stop anywhere. Work goes in rounds of a fraction of a second: each rank
 * advances its unfinished blocks, then all meet, to look at requests to stop, to save, and to even
 * out what is left (balance.h): a rank that has nothing left gets whole blocks of others for a
 * round. What a trajectory becomes depends on its number alone, so none of this changes a bit.
 *
 * Memory: components + parameters + 5 numbers a trajectory, and its saved instants. */
#ifndef ENSEMBLE_H
#define ENSEMBLE_H

#include "backend.h"
#include "checkpointing.h"
#include "ode_backend.h"
#include "ownership.h"
#include "progress.h"
#include "timers.h"

/* Trajectories [first, first + count): a row each. */
typedef struct ode_rows {
  int64_t first, count;
  double *y;                    /* [count][components] */
  double *p;                    /* [count][parameters] */
  double *t, *h, *memory;       /* [count], as in ode_states */
  int64_t *attempts, *rejected; /* [count] */
  unsigned char *status;        /* [count] */
  double *saved;                /* [count][saves][components]; NaN where not met */
} ode_rows;

typedef struct ode_staging ode_staging; /* a piece of an ensemble in the backend's memory */

typedef enum ode_only { ONLY_ALL, ONLY_FAILED, ONLY_UNFINISHED } ode_only;

typedef struct ode_ensemble {
  const backend *kernels;
  device *place;
  comm *world;
  timers *timers;
  progress *progress;
  checkpointing *saving;
  ode_functions f;
  ode_plan plan; /* its arrays in the backend's memory; made by ode_ensemble_open */
  const double *save_at, *common; /* the same in host memory, the caller's */
  int64_t trajectories;
  /* y and p of trajectories [first, first + count), a row each. */
  void (*start)(void *context, int64_t first, int64_t count, double *y, double *p);
  void *context;
  ode_only only; /* which ones a restart goes on with */

  ownership owned;
  ode_rows mine;
  ode_kernel *kernel;
  ode_staging *staging;
  /* of a checkpoint gone on from: at how many instants it has states, and those where they are not
   * as many as this run's; [count][instants_there][components] */
  int64_t instants_there;
  double *saved_there;
  int64_t piece; /* trajectories that staging has room for */

  /* results, of all ranks */
  stop_cause cause; /* STOP_NONE: ran to its end */
  int64_t ended[ODE_STATUSES];
  int64_t steps, rejected; /* steps taken, and thrown away */
  int64_t steps_this_run;
  int64_t first_failed; /* -1: none */
  double imbalance;     /* longest of the ranks' seconds of work over their mean */
  uint64_t fingerprint; /* of the states */
} ode_ensemble;

/* "done", "step_limit", ... Local. */
const char *ode_status_name(ode_status s);

/* Whether the trajectory has failed. Local. */
static inline int ode_has_failed(int s) {
  return s == ODE_STEP_LIMIT || s == ODE_STEP_TOO_SMALL || s == ODE_NOT_FINITE;
}

/* Bytes a trajectory takes on its rank. Local. */
double ode_row_bytes(const ode_plan *plan);

/* Owned rows at their start, the kernel, the backend's memory. e's first part is given. */
status ode_ensemble_open(ode_ensemble *e);

/* Runs: from a checkpoint if e->saving has one, to the end or to a request to stop. */
status ode_ensemble_run(ode_ensemble *e);

void ode_ensemble_close(ode_ensemble *e);

/* ---- rows ---- */

/* Room for `count` rows from number `first` on. Local; released also after a failure. */
status ode_rows_create(const ode_plan *plan, int64_t first, int64_t count, ode_rows *out);
void ode_rows_release(ode_rows *r);

/* Rows [first, first + count) put to their start. Local. */
void ode_rows_start(ode_ensemble *e, ode_rows *r, int64_t first, int64_t count);

/* ---- staging ---- */

/* Room for pieces of so many trajectories. Local. */
status ode_staging_create(ode_ensemble *e, int64_t most, ode_staging **out);
void ode_staging_release(ode_ensemble *e, ode_staging **s);

/* Rows [first, first + count) of r become the piece in the backend's memory; the piece becomes r's
 * rows again. Local. */
status ode_piece_load(ode_ensemble *e, ode_rows *r, int64_t first, int64_t count);
status ode_piece_store(ode_ensemble *e, ode_rows *r);

/* Advances the piece, each trajectory by at most `attempts` steps; r gets to know who has ended.
 * *open: somebody has not. Local. */
status ode_piece_advance(ode_ensemble *e, ode_rows *r, int64_t attempts, int *open);

/* ---- ensemble_saving.c ---- */

/* The items of a checkpoint: the owned rows. Local. */
status ode_saving_add(ode_ensemble *e);

/* Goes on from the checkpoint that `restart` names, if any. */
status ode_saving_load(ode_ensemble *e);

#endif
