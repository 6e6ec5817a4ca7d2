/* Memory of a device in MPI's hands: what MPI says of itself, and a first exchange that survives
 * finding out that it is not so.
 *
 * The claim is MPIX_Query_cuda_support, which Open MPI, MPICH and MVAPICH have; it is looked up
 * when the program runs, since its header and its library are not everywhere. An MPI that is wrong
 * about itself reads a device address as a host address: the signal comes out of its memcpy, or the
 * kernel refuses the copy between processes. The jump out of the signal leaves MPI in pieces, so
 * nothing is asked of it any more but to end the job. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "comm_native.h"
#include "halo.h"

int comm_device_claim(void) {
  int (*query)(void) = NULL;
  void *found = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
  if (found == NULL) return -1;
  memcpy(&query, &found, sizeof query); /* ISO C has no cast from objects to functions */
  return query() != 0;
}

/* Where the signal handler jumps to: a handler gets no argument of ours. */
static sigjmp_buf before_the_trial;

static void out_of_the_trial(int number) { siglongjmp(before_the_trial, number); }

/* An exchange; STATUS_UNAVAILABLE after a crash. */
static status guarded_exchange(halo *h) {
  if (sigsetjmp(before_the_trial, 1) != 0) return STATUS_UNAVAILABLE;
  const status rc = halo_begin(h);
  return rc != STATUS_OK ? rc : halo_end(h);
}

status halo_trial(halo *h) {
  struct sigaction guard, segv, bus;
  memset(&guard, 0, sizeof guard);
  guard.sa_handler = out_of_the_trial;
  sigaction(SIGSEGV, &guard, &segv);
  sigaction(SIGBUS, &guard, &bus);
  const status rc = guarded_exchange(h);
  sigaction(SIGSEGV, &segv, NULL);
  sigaction(SIGBUS, &bus, NULL);
  if (rc != STATUS_OK) {
    fail_clear();
    fail(STATUS_UNAVAILABLE,
         "transport mpi: MPI says that it takes addresses of GPU memory, and %s on the first one; "
         "use --transport host, which is always there",
         rc == STATUS_UNAVAILABLE ? "crashed" : "failed");
    comm_give_up(STATUS_UNAVAILABLE);
  }
  return rc;
}
