/* Checkpoints of sweeps: the results of the members that are done, wherever they are in the sweep;
 * so any number of ranks goes on. Functions are collective; without a saver, or where results are
 * not kept, they do nothing. */
#ifndef QUAD_SWEEP_SAVING_H
#define QUAD_SWEEP_SAVING_H

#include "quad_sweep.h"

/* The ending of a member nobody has come to. */
enum { QUAD_UNDONE = 255 };

/* Marks all members of s->mine undone, and loads what `restart` names into it. */
status quad_sweep_load(quad_run *run, quad_sweep *s);

/* So many members are done, on all ranks: saves when due; sets run->reason when the run is to stop.
 */
status quad_sweep_meet(quad_run *run, int64_t members);

/* At most how many members the next step may take, for `every` = COUNT to be met. Local. */
int64_t quad_sweep_until(const quad_run *run, int64_t members);

/* All members are done. */
status quad_sweep_finish(quad_run *run, const quad_sweep *s);

#endif
