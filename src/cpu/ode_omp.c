/* Trajectories on all cores, ODE_HOST_LANES of them side by side in vectors (ode_threads.h). Steps
 * that factor a matrix are given to ode_omp_single.c, and so are a few trajectories: the lanes cost
 * what about eight of them do one after the other. */
#define ODE_LANES ODE_HOST_LANES
#include "ode_threads.h"

enum { FEW = 8 };

static void release(device *d, ode_kernel **k) {
  if (*k == NULL) return;
  if ((*k)->of != &ODE_omp) {
    (*k)->of->release(d, k);
    return;
  }
  ODE_omp_single.release(d, &(*k)->few);
  threads_release(d, k);
}

static status create(device *d, const ode_functions *f, const ode_plan *plan, ode_kernel **out) {
  status rc = STATUS_OK;
  if (ode_is_stiff(plan->kind)) return ODE_omp_single.create(d, f, plan, out);
  TRY(threads_create(d, &ODE_omp, f, plan, out));
  TRY(ODE_omp_single.create(d, f, plan, &(*out)->few));
done:
  if (rc != STATUS_OK) release(d, out);
  return rc;
}

static status advance(device *d, ode_kernel *k, const ode_states *s, int64_t attempts) {
  if (k->of != &ODE_omp) return k->of->advance(d, k, s, attempts);
  if (s->count <= FEW) return k->few->of->advance(d, k->few, s, attempts);
  return threads_advance(d, k, s, attempts);
}

const ode_backend ODE_omp = {.create = create, .release = release, .advance = advance};
