#include "timers.h"

#include <string.h>

#include "alloc.h"

void timers_start(timers *t) {
  memset(t, 0, sizeof *t);
  t->began = t->since = comm_clock();
  t->now = PHASE_SETUP;
}

phase timers_switch(timers *t, phase next) {
  if (t == NULL) return next;
  const double clock = comm_clock();
  const phase was = t->now;
  t->seconds[was] += clock - t->since;
  t->since = clock;
  t->now = next;
  return was;
}

status timers_summarise(comm *c, timers *t, phase_summary *out) {
  status rc = STATUS_OK;
  const int size = comm_size(c);
  double *all = NULL;
  memset(out, 0, sizeof *out);
  timers_switch(t, t->now);
  TRY(alloc_array(&all, (int64_t)size * PHASES, sizeof *all, "timings"));
  TRY(comm_allgather(c, t->seconds, all, sizeof t->seconds));
  for (int rank = 0; rank < size; rank++) {
    const double *mine = all + (int64_t)rank * PHASES;
    double total = 0.0;
    for (int p = 0; p < PHASES; p++) {
      total += mine[p];
      out->mean[p] += mine[p] / size;
      if (rank == 0 || mine[p] < out->low[p]) out->low[p] = mine[p];
      if (rank == 0 || mine[p] > out->high[p]) out->high[p] = mine[p];
    }
    if (rank == 0 || total > out->total) {
      out->total = total;
      memcpy(out->slowest, mine, sizeof out->slowest);
    }
  }
done:
  alloc_free(&all);
  return rc;
}

const char *phase_name(phase p) {
  static const char *const names[PHASES] = {"setup",       "read",  "compute",
                                            "communicate", "write", "checkpoint"};
  return p < PHASES ? names[p] : "";
}
