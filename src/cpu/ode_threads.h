/* Trajectories on all cores: blocks of 256 are dealt to the threads as they come free; within a
 * block ODE_LANES lanes are advanced together, and a lane that is through takes the block's next
 * trajectory. Memory: a group a thread, in the first-level cache for small systems.
 *
 * Written for a file each: ode_omp.c has lanes in vectors, ode_omp_single.c one lane, for steps
 * that factor a matrix of their own, and for few trajectories. Define ODE_LANES before including
 * this. */
#ifndef ODE_THREADS_H
#define ODE_THREADS_H

#include "ode_group.h"

#include <omp.h>

#include "omp_team.h"

/* The steps of one lane: see ode_omp_single.c. */
extern const ode_backend ODE_omp_single;

struct ode_kernel {
  const ode_backend *of; /* who made it: the groups are of its lanes */
  int threads;
  ode_group *group; /* [threads] */
  ode_kernel *few;  /* of one lane, for few trajectories; NULL: not there */
};

static void threads_release(device *d, ode_kernel **k) {
  (void)d;
  if (*k == NULL) return;
  for (int t = 0; (*k)->group != NULL && t < (*k)->threads; t++) {
    ode_group_release(&(*k)->group[t]);
  }
  alloc_free(&(*k)->group);
  alloc_free(k);
}

static status threads_create(device *d, const ode_backend *of, const ode_functions *f,
                             const ode_plan *plan, ode_kernel **out) {
  status rc = STATUS_OK;
  TRY(alloc_zeroed(out, 1, sizeof **out, "trajectories"));
  ode_kernel *k = *out;
  k->of = of;
  k->threads = d->threads;
  TRY(alloc_zeroed(&k->group, d->threads, sizeof *k->group, "trajectories"));
  for (int t = 0; t < d->threads; t++) TRY(ode_group_create(f, plan, &k->group[t]));
done:
  if (rc != STATUS_OK) threads_release(d, out);
  return rc;
}

static status threads_advance(device *d, ode_kernel *k, const ode_states *s, int64_t attempts) {
  const int64_t blocks = (s->count + ODE_BLOCK - 1) / ODE_BLOCK;
  const int team = blocks > 1 ? d->threads : 1;
#pragma omp parallel for num_threads(team) schedule(dynamic)
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t begin = b * ODE_BLOCK, end = begin + ODE_BLOCK;
    ode_march(&k->group[omp_get_thread_num()].work, s, begin, end < s->count ? end : s->count,
              attempts);
  }
  return STATUS_OK;
}

#endif
