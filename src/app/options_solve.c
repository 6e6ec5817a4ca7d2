/* What `solve` can be told, and which of its keys go together. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "option_checks.h"
#include "problems.h"
#include "solver.h"

/* "|poisson1d|..." and "auto|jacobi|...", from the registries. */
#define PROBLEM(name, dims, row) "|" name
static const char PROBLEMS[] =
#include "problems.def"
    ;
#undef PROBLEM

#define SOLVER(word, name) "|" word
static const char METHODS[] = "auto"
#include "solvers.def"
    ;
#undef SOLVER

#define PRECONDITIONER(word, name) "|" word
static const char PRECONDITIONERS[] = "none"
#include "preconditioners.def"
    ;
#undef PRECONDITIONER

static const option SOLVE[] = {
    {"solve", "matrix", OPTION_INPUT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "the matrix: Matrix Market, plain or gzip, PETSc binary, FILE.h5[:/GROUP] or dense text"},
    {"solve", "problem", OPTION_WORD, NULL, PROBLEMS + 1, 0, 0, OPTION_PROBLEM,
     "a built-in matrix instead of a file"},
    {"solve", "n", OPTION_INTEGERS, NULL, NULL, 1, OPTION_COUNT_MAX, OPTION_PROBLEM,
     "unknowns per direction of a problem, one number or one each; rows of random-dominant"},
    {"solve", "peclet", OPTION_REAL, "1", NULL, 0, OPTION_FINITE, OPTION_PROBLEM,
     "cell Peclet number of convdiff2d"},
    {"solve", "entries_per_row", OPTION_INTEGER, "8", NULL, 1, 1e9, OPTION_PROBLEM,
     "entries in a row of random-dominant, the diagonal included"},
    {"solve", "rhs", OPTION_INPUT, NULL, "ones|A*ones|random", 0, 0, OPTION_PROBLEM,
     "right-hand side: a vector file or a word; absent: the matrix file's own, else A*ones"},
    {"solve", "rhs_column", OPTION_INTEGER, NULL, NULL, 1, 1e9, OPTION_PROBLEM,
     "which column of a file with several right-hand sides, the first is 1"},
    {"solve", "x0", OPTION_INPUT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "starting vector, a file (x.h5, an earlier result, is one); zero when absent"},
    {"solve", "method", OPTION_WORD, "auto", METHODS, 0, 0, OPTION_PROBLEM,
     "auto: by symmetry, diagonal, dominance and a few steps of Lanczos; the report says why"},
    {"solve", "preconditioner", OPTION_WORD, NULL, PRECONDITIONERS, 0, 0, OPTION_PROBLEM,
     "jacobi for Krylov methods when absent, none else"},
    {"solve", "omega", OPTION_REAL, NULL, "auto", OPTION_POSITIVE, OPTION_FINITE, OPTION_PROBLEM,
     "relaxation factor; auto, or absent: of jor 2/(lmin + lmax) of D^-1 A, of sor found on the "
     "way, of ssor 1"},
    {"solve", "block_size", OPTION_INTEGER, "16", NULL, 1, BLOCKS_MOST, OPTION_PROBLEM,
     "rows of a block of block-jacobi"},
    {"solve", "gmres_restart", OPTION_INTEGER, "30", NULL, 1, 10000, OPTION_PROBLEM,
     "steps of gmres between restarts: it keeps as many vectors"},
    {"solve", "degree", OPTION_INTEGER, "4", NULL, 1, 100, OPTION_PROBLEM,
     "degree of preconditioner chebyshev: it makes degree - 1 products"},
    {"solve", "nullspace", OPTION_WORD, "auto", "auto|constant|none", 0, 0, OPTION_PROBLEM,
     "constant: A*ones = 0, as with Neumann conditions all around; auto looks at the sums of rows"},
    {"solve", "scaling", OPTION_WORD, "none", "none|symmetric", 0, 0, OPTION_PROBLEM,
     "symmetric: rows and columns times powers of two, for a diagonal of about 1; convergence is "
     "still that of the given system"},
    {"solve", "rtol", OPTION_REAL, "1e-8", NULL, 0, OPTION_FINITE, 0,
     "converged when |b - A x| <= rtol |b| (2-norms)"},
    {"solve", "atol", OPTION_REAL, "0", NULL, 0, OPTION_FINITE, 0, "... or when |b - A x| <= atol"},
    {"solve", "max_iterations", OPTION_INTEGER, "10000", NULL, 0, OPTION_COUNT_MAX, 0,
     "stop without convergence (exit 4) after so many"},
    {"solve", "iterations", OPTION_INTEGER, NULL, NULL, 0, OPTION_COUNT_MAX, 0,
     "a fixed number of iterations, whatever the residual (exit 0)"},
    {"solve", "monitor", OPTION_WORD, "residual", "residual|update", 0, 0, OPTION_PROBLEM,
     "what is watched each iteration; update is only a hint to compute the true residual"},
    {"solve", "check_every", OPTION_INTEGER, "50", NULL, 1, 1e9, OPTION_PROBLEM,
     "iterations between true residuals with monitor = update"},
    {"solve", "divergence", OPTION_REAL, "1e5", NULL, 1, INFINITY, 0,
     "diverged when |b - A x| exceeds this times max(|b|, |r0|); inf: never"},
    {"solve", "format", OPTION_WORD, "auto", "auto|csr|sell|packed|pattern", 0, 0, 0,
     "matrix storage; the bits of the result do not depend on it"},
    {"solve", "device_memory", OPTION_SIZE, NULL, NULL, 1, OPTION_COUNT_MAX, 0,
     "bytes of GPU memory to use at most, K M G T; a matrix beyond comes from the host in parts"},
    {"solve", "precision", OPTION_WORD, "double", "double|mixed", 0, 0, OPTION_PROBLEM,
     "mixed: iterations in float, corrected in double (jacobi, jor, cg with preconditioner none or "
     "jacobi); as tight a residual, half the bytes"},
    {"solve", "correct_every", OPTION_INTEGER, "100", NULL, 1, 1e9, OPTION_PROBLEM,
     "sweeps in float between corrections; cg corrects at each tenfold fall, at the latest after "
     "ten times as many"},
    {0},
};

const command COMMAND_solve = {
    "solve", "sparse linear systems A x = b from a matrix file or a built-in problem", "matrix",
    SOLVE, NULL};

/* n: one number, or one per direction. */
static status check_size(const options *o, const char *problem) {
  const int64_t *n;
  int given = options_integers(o, "solve.n", &n);
  const int directions = problem_dims(problem);
  if (given == 0) {
    return fail(STATUS_USAGE, "%s = %s needs n, the unknowns per direction",
                options_where(o, "solve.problem"), problem);
  }
  if (given != 1 && given != directions) {
    char several[32] = "";
    if (directions > 1) snprintf(several, sizeof several, " or %d", directions);
    return fail(STATUS_USAGE, "%s: %d numbers; %s takes 1%s", options_where(o, "solve.n"), given,
                problem, several);
  }
  return STATUS_OK;
}

/* What the option tables cannot know: the flags of methods. */
static status check_combination(const options *o) {
  const solver *method = solver_find(options_text(o, "solve.method"));
  if (method == NULL) return STATUS_OK; /* auto */
  const char *preconditioner = options_text(o, "solve.preconditioner");
  if (strcmp(options_text(o, "solve.scaling"), "symmetric") == 0 &&
      method->flags & SOLVER_DIVIDES_BY_DIAGONAL) {
    return fail(STATUS_USAGE, "%s: method %s divides by the diagonal: scaling changes nothing",
                options_where(o, "solve.scaling"), method->name);
  }
  if (preconditioner != NULL && strcmp(preconditioner, "none") != 0 &&
      !(method->flags & SOLVER_TAKES_PRECONDITIONER)) {
    return fail(STATUS_USAGE, "%s: method %s takes no preconditioner",
                options_where(o, "solve.preconditioner"), method->name);
  }
  if (strcmp(options_text(o, "solve.monitor"), "update") == 0 &&
      !(method->flags & SOLVER_MONITORS_UPDATE)) {
    return fail(STATUS_USAGE, "%s: update is for the Jacobi family; method %s watches its residual",
                options_where(o, "solve.monitor"), method->name);
  }
  return STATUS_OK;
}

static int is_named(const char *name, const char *word) {
  return name != NULL && strcmp(name, word) == 0;
}

/* Methods, and what goes with them, that have no version in float. */
static status check_precision(const options *o) {
  status rc = STATUS_OK;
  const int mixed = strcmp(options_text(o, "solve.precision"), "mixed") == 0;
  const char *preconditioner = options_text(o, "solve.preconditioner");
  const solver *method = solver_find(options_text(o, "solve.method"));
  TRY(check_needs(o, "solve.correct_every", mixed, "correct_every is for precision = mixed"));
  if (!mixed) goto done;
  if (method != NULL && !(method->flags & SOLVER_TAKES_MIXED)) {
    return fail(STATUS_USAGE, "%s: method %s has no version in float: expected %s",
                options_where(o, "solve.precision"), method->name, "jacobi, jor or cg");
  }
  if (preconditioner != NULL && strcmp(preconditioner, "none") != 0 &&
      strcmp(preconditioner, "jacobi") != 0) {
    return fail(STATUS_USAGE,
                "%s: preconditioner %s has no version in float: expected none or "
                "jacobi",
                options_where(o, "solve.precision"), preconditioner);
  }
  TRY(check_needs(o, "solve.monitor", strcmp(options_text(o, "solve.monitor"), "update") != 0,
                  "precision = mixed watches residuals: monitor = update is for double"));
done:
  return rc;
}

/* omega and block_size have a use; those of SOR are below 2. */
static status check_relaxation(const options *o) {
  status rc = STATUS_OK;
  const char *name = options_text(o, "solve.method");
  const char *preconditioner = options_text(o, "solve.preconditioner");
  const solver *method = solver_find(name);
  const int sor =
      is_named(name, "sor") || is_named(name, "ssor") || is_named(preconditioner, "ssor");
  TRY(check_needs(o, "solve.omega", sor || (method != NULL && method->flags & SOLVER_TAKES_OMEGA),
                  "omega is for methods jor, sor, ssor and preconditioner ssor"));
  TRY(check_needs(o, "solve.block_size",
                  is_named(name, "block-jacobi") || is_named(preconditioner, "block-jacobi"),
                  "block_size is for block-jacobi"));
  if (sor && options_real(o, "solve.omega") >= 2.0) {
    rc = fail(STATUS_USAGE, "%s = %g: SOR converges for no omega from 2 on; expected 0 < omega < 2",
              options_where(o, "solve.omega"), options_real(o, "solve.omega"));
  }
done:
  return rc;
}

status check_solve(const options *o) {
  status rc = STATUS_OK;
  const char *problem = options_text(o, "solve.problem");
  const char *method = options_text(o, "solve.method");
  const char *preconditioner = options_text(o, "solve.preconditioner");
  int file = options_has(o, "solve.matrix");
  if (file && problem != NULL) {
    return fail(STATUS_USAGE,
                "the matrix file %s and problem = %s are both given: expected exactly one",
                options_text(o, "solve.matrix"), problem);
  }
  if (!file && problem == NULL) {
    return fail(STATUS_USAGE, "solve: no matrix: expected a matrix file or --problem NAME --n N");
  }
  if (problem != NULL) TRY(check_size(o, problem));
  TRY(check_needs(o, "solve.n", problem != NULL,
                  "n is the size of a problem, not of a matrix file"));
  TRY(check_needs(o, "solve.peclet", problem != NULL && strcmp(problem, "convdiff2d") == 0,
                  "peclet is for problem = convdiff2d"));
  TRY(check_needs(o, "solve.entries_per_row",
                  problem != NULL && strcmp(problem, "random-dominant") == 0,
                  "entries_per_row is for problem = random-dominant"));
  TRY(check_needs(o, "solve.gmres_restart",
                  strcmp(method, "gmres") == 0 || strcmp(method, "auto") == 0,
                  "gmres_restart is for method = gmres"));
  TRY(check_needs(o, "solve.degree",
                  preconditioner != NULL && strcmp(preconditioner, "chebyshev") == 0,
                  "degree is for preconditioner = chebyshev"));
  TRY(check_relaxation(o));
  TRY(check_needs(o, "solve.scaling",
                  strcmp(options_text(o, "solve.scaling"), "none") == 0 ||
                      strcmp(options_text(o, "solve.nullspace"), "constant") != 0,
                  "scaling and nullspace = constant are both given: scaled constants are none"));
  TRY(check_needs(o, "solve.rhs_column",
                  options_given(o, "solve.rhs") && !options_is_word(o, "solve.rhs"),
                  "rhs_column needs rhs = FILE"));
  TRY(check_needs(o, "solve.max_iterations", !options_given(o, "solve.iterations"),
                  "max_iterations and iterations (a fixed count) are both given: expected one"));
  TRY(check_needs(o, "solve.device_memory",
                  strcmp(options_text(o, "run.backend"), "omp") != 0 &&
                      strcmp(options_text(o, "run.backend"), "ref") != 0,
                  "device_memory is for backend = cuda or auto"));
  TRY(check_combination(o));
  TRY(check_precision(o));
  rc = check_output_kind(options_text(o, "run.output"), ".h5|.hdf5|.mtx|.txt", ".h5, .mtx or .txt");
done:
  return rc;
}
