/* The MPI side of a communicator, for the rooms that may see mpi.h (mpi/ and io/). */
#ifndef COMM_NATIVE_H
#define COMM_NATIVE_H

#include <mpi.h>

#include "comm.h"

/* Our duplicate of the world; its errors come back as codes. Owned by c. Local. */
MPI_Comm comm_native(const comm *c);

/* STATUS_OK for MPI_SUCCESS; else STATUS_BROKEN with a text naming `call` and what MPI says, and c
 * is marked broken: comm_close then ends the whole job, because other ranks may be waiting for this
 * one. Local. */
status comm_check(comm *c, int code, const char *call);

/* Prints the recorded text, if any, and ends the whole job with `code`: for when other ranks wait
 * for this one and cannot be told. Does not return. */
void comm_give_up(status code);

/* Tests: the largest count given to one MPI call (INT_MAX unless lowered; at least 1). All ranks
 * must set the same. Local. */
void comm_set_limit(comm *c, int64_t limit);

#endif
