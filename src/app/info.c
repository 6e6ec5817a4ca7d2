/* `info`: what this build is and what it finds here, as "name: value" lines on standard output. */
#include <stdio.h>

#include "backend.h"
#include "commands.h"

static const backend *const BACKENDS[] = {&BACKEND_ref, &BACKEND_omp, &BACKEND_cuda};

status command_info(run_context *run) {
  if (comm_rank(run->c) != 0) return STATUS_OK;
  printf("version: %s\n", HALOSWEEP_VERSION);
  printf("compiler: %s\n", HALOSWEEP_COMPILER);
  printf("build: %s, x86-64-v3, no contraction\n", HALOSWEEP_BUILD);
  for (size_t i = 0; i < sizeof BACKENDS / sizeof *BACKENDS; i++) {
    printf("backend %s: %s\n", BACKENDS[i]->name, BACKENDS[i]->help);
  }
  printf("ranks: %d\n", comm_size(run->c));
  printf("ranks on this node: %d\n", comm_node_size(run->c));
  printf("threads per rank: %d (%s)\n", run->threads, run->seat->threads_from);
  printf("cores of this node: %d\n", run->seat->machine_cores);
  printf("cores of the affinity mask: %d, shared by %d rank%s\n", run->seat->mask_cores,
         run->seat->sharing, run->seat->sharing == 1 ? "" : "s");
  return STATUS_OK;
}
