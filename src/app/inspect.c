#include "commands.h"

status command_inspect(run_context *run) {
  (void)run;
  return fail(STATUS_UNAVAILABLE, "inspect: not built yet");
}
