/* How this process was started: what the launcher says, before and after MPI does, and how many
 * cores and threads each rank has. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdint.h>

#include "comm.h"
#include "status.h"

/* Beyond any node, and within what the OpenMP library survives. */
enum { LAUNCH_THREADS_MAX = 4096 };

typedef struct launcher {
  int rank;              /* 0 when there is no launcher */
  int64_t size;          /* 0 when no launcher says */
  const char *size_from; /* the variable that said so */
} launcher;

typedef struct placement {
  int threads;              /* of this rank */
  const char *threads_from; /* what decided */
  int cores;                /* physical cores allowed, this rank's share, at least 1 */
  int mask_cores;           /* physical cores of the affinity mask */
  int sharing;              /* ranks that share the mask, this one included */
  int machine_cores;        /* physical cores of this node */
} placement;

/* Read before MPI starts (an MPI library may set such variables itself). Local. */
launcher launch_read(void);

/* Is MPI as large as expected? `stated`: run.ranks, 0 if not given. STATUS_UNAVAILABLE naming the
 * fix, the same on every process of a job. Local. */
status launch_check(const launcher *l, int64_t stated, int mpi_size);

/* Decides the threads: `asked` (--threads, 0 if not given), OMP_NUM_THREADS, SLURM_CPUS_PER_TASK,
 * the cores of the affinity mask over the ranks that share it. Warns when the mask is too small for
 * the threads asked. Collective. */
status launch_place(comm *c, int64_t asked, placement *out);

/* The start-up line: ranks, threads, allowed cores per rank. Collective. */
status launch_announce(comm *c, const char *version, const char *name, const placement *p);

/* The CPUs this thread may run on, "0-3,8"; cut with "..." where they do not fit. Local. */
enum { LAUNCH_CPUS = 96 };
void launch_cpus(char out[LAUNCH_CPUS]);

/* Physical cores in this thread's affinity mask and in the machine. Local. */
void launch_cores(int *mask_cores, int *machine_cores);

#endif
