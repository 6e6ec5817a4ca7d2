/* What `halosweep info` finds out, and the parts that find it. */
#ifndef INFO_H
#define INFO_H

#include "backend.h"
#include "commands.h"
#include "report.h"

/* info_bandwidth.c: how fast this job's ranks move memory, all at once. */
typedef struct bandwidth {
  double rate;   /* bytes per second over all ranks; 0: not measured */
  double bytes;  /* moved by one pass, over all ranks */
  int passes;    /* of which the best counts */
  int in_cache;  /* not large beside the caches: the memory may be slower */
  int no_memory; /* a rank had none for it */
} bandwidth;

/* Takes half a second. Collective. */
status info_bandwidth(const run_context *run, bandwidth *out);

/* info_problems.c: what is asked about is worth a GPU or not; printed where `prints`, and added to
 * r (may be NULL) as the list "problems". Collective. */
status info_problems(const run_context *run, int prints, report *r);

/* info_seats.c: where each rank sits. */
typedef struct info_seat {
  char host[64], cpus[LAUNCH_CPUS];
  int threads, cores; /* of the rank; physical cores it is allowed */
  int has_gpu;
  device_facts gpu;
  char no_gpu[200]; /* why there is none */
} info_seat;

/* *seats: [ranks], freed with alloc_free. Opens and closes a GPU per rank. Collective. */
status info_seats(const run_context *run, info_seat **seats);
void info_seats_print(const run_context *run, const info_seat *seats);
void info_seats_report(const run_context *run, const info_seat *seats, report *r);

#endif
