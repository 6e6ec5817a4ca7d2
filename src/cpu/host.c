/* Memory operations of the CPU backends (host.h). */
#define _DEFAULT_SOURCE /* madvise */
#include "host.h"

#include <string.h>
#include <sys/mman.h>

#include "alloc.h"

void host_large_pages(void *p, int64_t bytes) {
  const uintptr_t page = 4096, begin = ((uintptr_t)p + page - 1) / page * page;
  const uintptr_t end = ((uintptr_t)p + (uintptr_t)bytes) / page * page;
  if (bytes >= 4 << 20) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

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
