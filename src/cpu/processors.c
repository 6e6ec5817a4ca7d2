#include "processors.h"

#include <omp.h>
#include <pthread.h>
#include <string.h>

#include "alloc.h"

int processors_at_start(void) { return omp_get_num_procs(); }

/* Lives until the gate opens. */
static void *wait_at(void *gate) {
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

status processors_try(int threads) {
  status rc = STATUS_OK;
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_t *thread = NULL;
  int started = 0, code = 0;
  TRY(alloc_array(&thread, threads, sizeof *thread, "threads"));
  pthread_mutex_lock(&gate);
  while (code == 0 && started < threads - 1) { /* this one runs already */
    code = pthread_create(&thread[started], NULL, wait_at, &gate);
    started += code == 0;
  }
  pthread_mutex_unlock(&gate);
  for (int t = 0; t < started; t++) pthread_join(thread[t], NULL);
  if (code != 0) {
    rc = fail(STATUS_UNAVAILABLE, "%d threads were asked for, but only %d can be started: %s",
              threads, started + 1, strerror(code));
  }
done:
  alloc_free(&thread);
  return rc;
}
