/* Memory operations of the CPU backends (host.h). */
#include "host.h"

#include <string.h>

#include "alloc.h"

void host_release(device *d, dptr *p) {
  (void)d;
  alloc_free(&p->at);
}

status host_copy_in(device *d, dptr to, hptr from, int64_t bytes) {
  (void)d;
  if (bytes > 0) memcpy(to.at, from.at, (size_t)bytes);
  return STATUS_OK;
}

status host_copy_out(device *d, hptr to, dptr from, int64_t bytes) {
  (void)d;
  if (bytes > 0) memcpy(to.at, from.at, (size_t)bytes);
  return STATUS_OK;
}

/* Nothing runs ahead on a CPU: the state is that of the last judged step. */
status host_look(device *d, dptr state, int64_t step, solve_state *out) {
  (void)d;
  (void)step;
  *out = *state_at(state);
  return STATUS_OK;
}
