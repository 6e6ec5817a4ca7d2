/* How halos travel between the ranks' devices, chosen at start and named in the report. `host`: the
 * backend packs into host memory and MPI sends that; always right, always there. `mpi`: MPI is
 * handed addresses of the backend's memory; taken only when a real exchange has proved it. The bits
 * are the same. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include "solver.h"

enum { TRANSPORTS_TRIED = 2 };

typedef struct transport_trial {
  const char *name;
  const char *refused; /* why not; NULL: it is the one taken */
} transport_trial;

typedef struct transport_choice {
  const char *name; /* "host", "mpi"; "none" on one rank */
  int tried;
  transport_trial trial[TRANSPORTS_TRIED];
} transport_choice;

/* Refuses what no version of this program has yet: STATUS_UNAVAILABLE. `asked` is run.transport.
 * Local. */
status transport_check(const char *asked);

/* Chooses for a system whose plan and device are there (no matrix yet: the proof needs some device
 * memory for a moment) and moves the plan's buffers to where they belong. `auto` tries mpi where
 * the backend has memory of its own and MPI claims to take it (`claim`: comm_device_claim()).
 * STATUS_UNAVAILABLE when mpi was asked for and is not usable. Collective; all ranks leave with the
 * same status. */
status transport_choose(linear_system *s, const char *asked, int claim, transport_choice *out);

#endif
