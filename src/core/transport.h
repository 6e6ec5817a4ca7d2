/* How halos travel between the ranks' devices, chosen at start and named in the report. `host`: the
 * backend packs into host memory and MPI sends that; always right, always there. `mpi`: MPI is
 * handed addresses of the backend's memory; taken only when a real exchange has proved it. The bits
 * are the same. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include "backend.h"

/* A rank's side of the exchanges of one family's vectors: the plan, the device that packs and
 * unpacks for it, and the plan's buffers where they are the backend's (else at NULL). The family
 * owns what the pointers point to. */
typedef struct transport_side {
  const backend *kernels;
  device *place;
  comm *world;
  halo *plan;
  dptr *send, *ghost;
} transport_side;

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

/* Chooses for a plan and a device that are there (before memory is filled: the proof needs some of
 * the device's for a moment) and moves the plan's buffers to where they belong. `auto` tries mpi
 * where the backend has memory of its own and MPI claims to take it (`claim`: comm_device_claim()).
 * STATUS_UNAVAILABLE when mpi was asked for and is not usable. Collective; all ranks leave with the
 * same status. */
status transport_choose(const transport_side *side, const char *asked, int claim,
                        transport_choice *out);

/* Moves the plan's buffers into the backend's memory; releases the plan and its buffers. Local. */
status transport_adopt(const transport_side *side);
void transport_release(const transport_side *side);

#endif
