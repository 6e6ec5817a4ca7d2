/* Trajectories on all cores, one at a time a thread (ode_threads.h): of stiff methods, where each
 * factors its own matrix, pivots differ and Newton's iterations end at different times; and where
 * there are too few to fill the lanes. */
#define ODE_LANES 1
#include "ode_threads.h"

static status create(device *d, const ode_functions *f, const ode_plan *plan, ode_kernel **out) {
  return threads_create(d, &ODE_omp_single, f, plan, out);
}

const ode_backend ODE_omp_single = {
    .create = create, .release = threads_release, .advance = threads_advance};
