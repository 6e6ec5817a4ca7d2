/* What `info` can be told: problems to ask about, besides those of an INI. */
#include "commands.h"
#include "problems.h"

/* "|poisson1d|...", from the registry. */
#define PROBLEM(name, dims, row) "|" name
static const char PROBLEMS[] =
#include "problems.def"
    ;
#undef PROBLEM

static const option INFO[] = {
    {"info", "matrix", OPTION_INPUT, NULL, NULL, 0, 0, 0,
     "a matrix file: is it large enough for a GPU?"},
    {"info", "problem", OPTION_WORD, NULL, PROBLEMS + 1, 0, 0, 0,
     "a built-in matrix of solve: is it large enough for a GPU?"},
    {"info", "n", OPTION_INTEGERS, NULL, NULL, 1, OPTION_COUNT_MAX, 0,
     "unknowns per direction of the problem, one number or one each"},
    {"info", "bandwidth", OPTION_FLAG, "on", NULL, 0, 0, 0,
     "measure the memory bandwidth of all ranks at once (half a second)"},
    {0},
};

const command COMMAND_info = {"info",
                              "this build and this machine, and whether a problem is worth a GPU",
                              "matrix", INFO, NULL};

status check_info(const options *o) {
  if (options_has(o, "info.problem") == options_has(o, "info.n")) return STATUS_OK;
  return fail(STATUS_USAGE, "info: problem and n go together: --problem poisson3d --n 200");
}
