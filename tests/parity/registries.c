/* Every method of the registry with every preconditioner of the registry that fits it: on all
 * ranks, threads, CPU backends and storage formats the outcome, history and bits of one rank's
 * reference loops over plain rows. Three rows on eight ranks are among them. ranks: 1 3 8 */
#include <stdlib.h>

#include "trial.h"

static comm *all, *self;
static outcome first, other;

/* Symmetric ones are met by all pairs that fit a definite matrix, others by those that ask for no
 * symmetry; `ranks`: on no more than so many. */
static const struct {
  const char *problem;
  int64_t n;
  int symmetric, ranks;
} matrices[] = {{"poisson2d", 17, 1, 3}, {"convdiff2d", 13, 0, 3}, {"poisson1d", 3, 1, 8}};

static const struct {
  const backend *kernels;
  int threads;
} places[] = {{&BACKEND_ref, 1}, {&BACKEND_omp, 2}, {&BACKEND_omp, 3}};

static int fits(const solver *m, const preconditioner *p, int symmetric) {
  if (!symmetric && m->flags & SOLVER_NEEDS_SYMMETRY) return 0;
  if (p == NULL) return 1;
  if (!(m->flags & SOLVER_TAKES_PRECONDITIONER)) return 0;
  if (!symmetric && p->flags & PRECONDITIONER_NEEDS_SYMMETRY) return 0;
  return !(m->flags & SOLVER_NEEDS_SYMMETRY) || p->flags & PRECONDITIONER_KEEPS_SYMMETRY;
}

/* x of all ranks is the first one's part of these rows; histories are rank 0's. */
static void same(const trial *t, const char *where) {
  char what[160];
  const char *p = t->preconditioner != NULL && t->preconditioned ? t->preconditioner->name : "none";
  snprintf(what, sizeof what, "%s + %s on %s, format %d, %s", t->method->name, p, t->problem,
           (int)t->format, where);
  assert_ok(other.failure);
  if (other.reason != first.reason || other.iterations != first.iterations) {
    fail_msg("%s: %s after %lld, alone %s after %lld", what, solve_reason_name(other.reason),
             (long long)other.iterations, solve_reason_name(first.reason),
             (long long)first.iterations);
  }
  assert_same_bits(other.relative_residual, first.relative_residual);
  assert_same_bits(other.recursive_residual, first.recursive_residual);
  assert_same_bits(other.omega, first.omega);
  for (lidx i = 0; i < other.rows; i++) {
    if (bits_of(other.x[i]) != bits_of(first.x[other.first_row + i])) {
      fail_msg("%s: x of row %lld", what, (long long)(other.first_row + i));
    }
  }
  if (comm_rank(all) == 0 && strcmp(other.history, first.history) != 0) {
    fail_msg("%s: another history", what);
  }
}

/* Alone on the reference, then everywhere: formats take turns, starting from `turn`, so that each
 * backend meets all of them over the pairs. */
static void compare(trial t, int turn) {
  t.format = FORMAT_CSR;
  world = self;
  run_trial(&t, &BACKEND_ref, 1, &first);
  world = all;
  if (first.reason != REASON_CONVERGED && first.reason != REASON_MAX_ITERATIONS) {
    fail_msg("%s ends with %s", t.method->name, solve_reason_name(first.reason));
  }
  for (int i = 0; i < (comm_size(all) > 1 ? 2 : 3); i++) {
    t.format = (matrix_format)((turn + i) % (FORMAT_PATTERN + 1));
    run_trial(&t, places[i].kernels, places[i].threads, &other);
    same(&t, i == 0 ? "ref" : i == 1 ? "omp, 2 threads" : "omp, 3 threads");
    alloc_free(&other.x);
  }
  alloc_free(&first.x);
}

static void everything_registered_gives_the_same_bits(void **state) {
  (void)state;
  int turn = 0, pairs = 0;
  for (size_t a = 0; a < sizeof matrices / sizeof *matrices; a++) {
    if (comm_size(all) > matrices[a].ranks) continue;
    for (int i = 0; method_at(i) != NULL; i++) {
      for (int j = -1; j < 0 || preconditioner_at(j) != NULL; j++) {
        const preconditioner *p = j < 0 ? NULL : preconditioner_at(j);
        if (!fits(method_at(i), p, matrices[a].symmetric)) continue;
        const trial t = {
            .problem = matrices[a].problem,
            .n = matrices[a].n,
            .method = method_at(i),
            .limits = {.rtol = 1e-8, .divergence = 1e5, .max_iterations = 11, .check_every = 5},
            .omega = 1.0,
            .adapts = 1,
            .symmetric = matrices[a].symmetric,
            .preconditioned = p != NULL,
            .preconditioner = p,
            .rhs_scale = 1.0};
        compare(t, turn++);
        pairs++;
      }
    }
  }
  assert_true(pairs >= 37);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_registered_gives_the_same_bits),
  };
  if (comm_open(&argc, &argv, &all) != STATUS_OK) return 1;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  trial_mark = comm_rank(all);
  int failed = comm_self(&self) != STATUS_OK;
  if (failed == 0) failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&self);
  comm_close(&all);
  return failed;
}
