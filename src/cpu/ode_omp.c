/* Trajectories on all cores, ODE_HOST_LANES of them side by side in vectors (ode_threads.h). Steps
 * that factor a matrix are given to ode_omp_stiff.c. */
#define ODE_LANES ODE_HOST_LANES
#include "ode_threads.h"

static void release(device *d, ode_kernel **k) {
  if (*k == NULL || (*k)->of == &ODE_omp) {
    threads_release(d, k);
  } else {
    (*k)->of->release(d, k);
  }
}

static status create(device *d, const ode_functions *f, const ode_plan *plan, ode_kernel **out) {
  if (ode_is_stiff(plan->kind)) return ODE_omp_stiff.create(d, f, plan, out);
  return threads_create(d, &ODE_omp, f, plan, out);
}

static status advance(device *d, ode_kernel *k, const ode_states *s, int64_t attempts) {
  if (k->of != &ODE_omp) return k->of->advance(d, k, s, attempts);
  return threads_advance(d, k, s, attempts);
}

const ode_backend ODE_omp = {.create = create, .release = release, .advance = advance};
