/* Saved states of a run that goes on from a checkpoint with another save_at. Instants that both
 * have keep the checkpoint's states; new ones that are ahead of a trajectory are met on its way;
 * states at new ones that it is past cannot be made any more, and refuse the restart. So what is
 * saved has the bits of a run with this save_at from its start. */
#ifndef INSTANTS_H
#define INSTANTS_H

#include "comm.h"
#include "ode.h"

typedef struct instants {
  const ode_plan *plan;
  const double *now, *then; /* [plan->saves], [there]: those of this run, of the checkpoint */
  int64_t there;
  int64_t *from;   /* [plan->saves] which one of the checkpoint's; -1: new */
  int64_t *missed; /* [plan->saves] so many trajectories are past it: counted by instants_source */
} instants;

/* now and then are the caller's, in the order they are met. Local; released also after a failure.
 */
status instants_match(const ode_plan *plan, const double *now, const double *then, int64_t there,
                      instants *out);
void instants_release(instants *m);

/* Where the state of a trajectory at instant k comes from: the checkpoint's instant of that number,
 * or one of these. t, ending: its time and ode_status in the checkpoint. Local. */
enum { INSTANT_NONE = -1 /* not met: NaN */, INSTANT_NOW = -2 /* the state it has */ };
int64_t instants_source(instants *m, int64_t k, double t, int ending);

/* STATUS_USAGE, naming them, where trajectories are past new instants. Collective. */
status instants_check(comm *c, instants *m, int64_t trajectories);

#endif
