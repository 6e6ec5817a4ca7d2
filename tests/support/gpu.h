/* Tests that need a GPU: exit code 77 (a skip, shown as one) where there is none. */
#ifndef GPU_H
#define GPU_H

#include <stdio.h>

#include "backend.h"
#include "comm.h"

enum { GPU_SKIP = 77 };

/* 0, or the exit code for a machine without a GPU (why is printed by rank 0). Collective. */
static inline int gpu_skip(comm *c) {
  const device_request request = {.node_rank = comm_node_rank(c)};
  device *d = NULL;
  int64_t missing = BACKEND_cuda.open(&request, &d) != STATUS_OK;
  if (missing && comm_rank(c) == 0) printf("skipped: %s\n", fail_text());
  if (!missing) BACKEND_cuda.close(&d);
  fail_clear();
  if (comm_max_i64(c, &missing, 1) != STATUS_OK) return 1;
  return missing ? GPU_SKIP : 0;
}

#endif
