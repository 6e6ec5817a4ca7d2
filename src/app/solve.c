#include "commands.h"

status command_solve(run_context *run) {
  (void)run;
  return fail(STATUS_UNAVAILABLE, "solve: not built yet");
}
