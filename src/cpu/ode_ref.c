/* Trajectories by the reference backend: one after the other, one lane. */
#define ODE_LANES 1
#include "ode_group.h"

#include "ref_device.h"

struct ode_kernel {
  ode_group group;
};

static void release(device *d, ode_kernel **k) {
  (void)d;
  if (*k == NULL) return;
  ode_group_release(&(*k)->group);
  alloc_free(k);
}

static status create(device *d, const ode_functions *f, const ode_plan *plan, ode_kernel **out) {
  status rc = STATUS_OK;
  TRY(alloc_zeroed(out, 1, sizeof **out, "trajectories"));
  TRY(ode_group_create(f, plan, &(*out)->group));
done:
  if (rc != STATUS_OK) release(d, out);
  return rc;
}

static status advance(device *d, ode_kernel *k, const ode_states *s, int64_t attempts) {
  (void)d;
  ode_march(&k->group.work, s, 0, s->count, attempts);
  return STATUS_OK;
}

const ode_backend ODE_ref = {.create = create, .release = release, .advance = advance};
