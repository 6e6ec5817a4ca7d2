/* Phase timers: at any moment exactly one phase is running, so the phases of a rank do not overlap
 * and add up to its total. Switching costs one clock reading. */
#ifndef TIMERS_H
#define TIMERS_H

#include "comm.h"

typedef enum phase {
  PHASE_SETUP,
  PHASE_READ,
  PHASE_COMPUTE,
  PHASE_COMMUNICATE,
  PHASE_WRITE,
  PHASE_CHECKPOINT,
  PHASES
} phase;

typedef struct timers {
  double began, since;
  double seconds[PHASES];
  phase now;
} timers;

typedef struct phase_summary {
  double slowest[PHASES]; /* of the rank with the largest total; they add up to `total` */
  double total;
  double low[PHASES], mean[PHASES], high[PHASES]; /* over ranks */
} phase_summary;

/* Local. Starts in PHASE_SETUP. */
void timers_start(timers *t);

/* Local. Charges the time since the last switch to the phase that was running, and runs `next`;
 * returns the phase that was running. `t` may be NULL. */
phase timers_switch(timers *t, phase next);

/* Collective. */
status timers_summarise(comm *c, timers *t, phase_summary *out);

/* The phase's key in the report. Local. */
const char *phase_name(phase p);

#endif
