/* Which backend a run gets, and how halos travel between its ranks: the answer to run.backend and
 * run.transport, the same for every command. */
#ifndef BACKEND_CHOICE_H
#define BACKEND_CHOICE_H

#include "backend.h"
#include "commands.h"
#include "transport.h"

typedef struct backend_choice {
  const backend *kernels;
  device *place;
  transport_choice transport;
  device_facts *devices; /* [ranks], on every rank; NULL where the backend is the host itself */
} backend_choice;

/* How large a problem is, and from where on `auto` gives it to a GPU: below, starting one (0.3 s
 * for its context) costs more than it can save (docs/performance.md has the measurements). */
typedef struct problem_size {
  int64_t count;    /* 0: not known in advance */
  const char *unit; /* "rows" */
  int64_t gpu_from;
  int64_t device_memory; /* bytes of the GPU that may be used; 0: all */
} problem_size;

/* Opens the backend asked for. `auto` takes a GPU where every rank can open one and the problem is
 * large enough (a function of the problem, not of timing), else all cores; one line of the log says
 * which of these decided. STATUS_UNAVAILABLE when what was asked for is not there.
 * On failure nothing stays open. Collective; all ranks leave with the same status. */
status backend_choose(const run_context *run, const problem_size *size, backend_choice *out);

/* Chooses how halos travel (transport.h) for a system whose plan is made. Collective; all ranks
 * leave with the same status. */
status backend_transport(const run_context *run, const transport_side *side, backend_choice *b);

/* Asks the devices again, for their peak memory. Collective. */
status backend_devices(const run_context *run, backend_choice *b);

/* Closes the device and frees; accepts a zeroed choice. Local. */
void backend_choice_release(backend_choice *b);

#endif
