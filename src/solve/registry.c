/* The solvers there are (solvers.def), and how runs end. */
#include "registry.h"
#include "solver.h"

#define SOLVER(word, name) extern const solver SOLVER_##name;
#include "solvers.def"
#undef SOLVER

#define SOLVER(word, name) &SOLVER_##name,
static const solver *const solvers[] = {
#include "solvers.def"
};
#undef SOLVER

REGISTRY(solver, solver, solvers)

typedef struct ending {
  const char *name;
  status code;
} ending;

static const ending endings[] = {
    [REASON_CONVERGED] = {"converged", STATUS_OK},
    [REASON_FIXED_COUNT] = {"fixed_count", STATUS_OK},
    [REASON_MAX_ITERATIONS] = {"max_iterations", STATUS_STOPPED},
    [REASON_STAGNATED] = {"stagnated", STATUS_STOPPED},
    [REASON_INCOMPATIBLE] = {"incompatible", STATUS_STOPPED},
    [REASON_REQUESTED] = {"requested", STATUS_STOPPED},
    [REASON_DIVERGED] = {"diverged", STATUS_DIVERGED},
    [REASON_INDEFINITE] = {"indefinite", STATUS_DIVERGED},
    [REASON_NOT_FINITE] = {"not_finite", STATUS_DIVERGED},
    [REASON_BREAKDOWN] = {"breakdown", STATUS_DIVERGED},
};

const char *solve_reason_name(solve_reason reason) { return endings[reason].name; }

status solve_reason_status(solve_reason reason) { return endings[reason].code; }
