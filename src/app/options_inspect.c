/* What `inspect` can be told. */
#include "commands.h"

static const option INSPECT[] = {
    {"inspect", "file", OPTION_INPUT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "a matrix file, or a result or checkpoint written by halosweep"},
    {"inspect", "for_ranks", OPTION_INTEGERS, "1, 2, 4, 8", NULL, 1, 1e6, 0,
     "rank counts to show the memory per rank for"},
    {"inspect", "steps", OPTION_INTEGER, "50", NULL, 0, 1000, 0,
     "products spent on the spectrum of D^-1 A (Lanczos; Arnoldi at most 32); 0: none"},
    {"inspect", "config", OPTION_FLAG, "off", NULL, 0, 0, 0,
     "of a result or checkpoint: print an INI that reproduces the run, nothing else"},
    {0},
};

const command COMMAND_inspect = {
    "inspect", "facts about a matrix file (which method will work, memory) or a result file",
    "file", INSPECT, NULL};

status check_inspect(const options *o) {
  if (options_has(o, "inspect.file")) return STATUS_OK;
  return fail(STATUS_USAGE, "inspect: no file: expected halosweep inspect FILE");
}
