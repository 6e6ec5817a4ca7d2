#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#include "stop.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "comm.h"

/* The one thing a handler may touch. */
static volatile sig_atomic_t signalled;

static void note(int number) { signalled = number; }

status stop_install(void) {
  static const int all[] = {SIGUSR1, SIGTERM, SIGINT};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    /* calls in progress go on; after the first SIGINT the default is back: the second one ends */
    action.sa_flags = SA_RESTART | (all[i] == SIGINT ? (int)SA_RESETHAND : 0);
    if (sigaction(all[i], &action, NULL) != 0) {
      return fail(STATUS_UNAVAILABLE, "cannot handle signal %d: %s", all[i], strerror(errno));
    }
  }
  /* a limit on file sizes is an error of the call that meets it, not the end */
  signal(SIGXFSZ, SIG_IGN);
  return STATUS_OK;
}

int stop_signal(void) { return (int)signalled; }

const char *stop_signal_name(int number) {
  return number == SIGUSR1   ? "SIGUSR1"
         : number == SIGTERM ? "SIGTERM"
         : number == SIGINT  ? "SIGINT"
                             : "a signal";
}

double stop_allocation_end(void) {
  const char *text = getenv("SLURM_JOB_END_TIME");
  char *end;
  if (text == NULL || *text == '\0') return INFINITY;
  errno = 0;
  const long long when = strtoll(text, &end, 10);
  if (errno != 0 || *end != '\0' || when <= 0) return INFINITY;
  return comm_clock() + (double)(when - (long long)time(NULL));
}
