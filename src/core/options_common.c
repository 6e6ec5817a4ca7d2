/* The options every command has, and the sections a file may hold besides. */
#include <math.h>
#include <string.h>

#include "options_internal.h"

const option OPTIONS_COMMON[] = {
    {"run", "backend", OPTION_WORD, "auto", "auto|omp|cuda|ref", 0, 0, 0,
     "who computes: all cores (omp), a GPU per rank (cuda), plain serial loops (ref)"},
    {"run", "threads", OPTION_INTEGER, NULL, NULL, 1, 4096, 0,
     "threads per rank; without it OMP_NUM_THREADS, SLURM_CPUS_PER_TASK, or the allowed cores"},
    {"run", "ranks", OPTION_INTEGER, NULL, NULL, 1, 1e9, 0,
     "the number of MPI ranks expected, whatever the launcher says; another one is exit 7"},
    {"run", "output", OPTION_OUTPUT, NULL, NULL, 0, 0, 0,
     "file for the result: .h5; of solve and heat also .mtx and .txt, of heat .vtkhdf"},
    {"run", "report", OPTION_OUTPUT, NULL, NULL, 0, 0, 0,
     "file for the report (JSON); - is standard output"},
    {"run", "history", OPTION_OUTPUT, NULL, NULL, 0, 0, 0,
     "file for the history (CSV), a row per iteration or step"},
    {"run", "seed", OPTION_INTEGER, "1", NULL, 0, OPTION_COUNT_MAX, OPTION_PROBLEM,
     "seed of everything random"},
    {"run", "progress", OPTION_WORD, "auto", "auto|on|off", 0, 0, 0,
     "a bar on a terminal, else a line per 5 s at most; auto: unless quiet"},
    {"run", "quiet", OPTION_FLAG, "off", NULL, 0, 0, 0, "only results, warnings and errors"},
    {"run", "transport", OPTION_WORD, "auto", "auto|host|mpi|nccl|ipc", 0, 0, 0,
     "how halos travel between GPUs"},
    {"run", "time_limit", OPTION_DURATION, NULL, NULL, OPTION_POSITIVE, 1e9, 0,
     "stop in order after this long (30s, 5m, 2h, HH:MM:SS)"},
    {"run", "dry_run", OPTION_FLAG, "off", NULL, 0, 0, 0,
     "check options, inputs and memory, print the plan, do not run"},

    {"checkpoint", "file", OPTION_OUTPUT, NULL, NULL, 0, 0, 0,
     "checkpoints to write: ck.h5 makes ck.000200.h5 ...; --checkpoint is short for it"},
    {"checkpoint", "every", OPTION_INTERVAL, "10m", NULL, 0, 0, 0,
     "a duration, or a number of iterations, steps or members"},
    {"checkpoint", "keep", OPTION_INTEGER, "2", NULL, 1, 1e6, 0,
     "how many of the latest checkpoints stay"},
    {"checkpoint", "restart", OPTION_INPUT, NULL, "latest", 0, 0, OPTION_ONCE,
     "the checkpoint to go on from, or latest; --restart is short for it"},
    {"checkpoint", "on_failure", OPTION_WORD, "stop", "stop|continue", 0, 0, 0,
     "when a checkpoint cannot be written"},

    {"parameters", OPTION_ANY_KEY, OPTION_REAL, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "constants for expressions and systems: --parameters.sigma 10"},
    {"sweep", OPTION_ANY_KEY, OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "parameters swept: linspace(lo, hi, n), geomspace(lo, hi, n), or a list"},
    {"sample", OPTION_ANY_KEY, OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "parameters drawn: uniform(lo, hi), normal(mean, sigma), sobol(lo, hi)"},
    {0},
};

const char OPTIONS_SECTIONS[] = "solve|heat|quad|ode|equations|inspect|convert|info|scale|plot";

int options_foreign_section(const command *cmd, const char *section) {
  if (strcmp(cmd->name, section) == 0) return 0;
  return options_word_in(OPTIONS_SECTIONS, section) && options_find(cmd, section, NULL) == NULL;
}
