/* What theory says of Krylov methods: they end in as many steps as there are distinct eigenvalues,
 * CG's error falls in the A-norm, the residuals of minres and gmres never grow, a full gmres ends
 * in n steps, and cg comes out alike however its preconditioner is applied. ranks: 1 3 */
#include <math.h>

#include "problems.h"
#include "stepping.h"
#include "trial.h"

/* ---- diagonal systems ---- */

/* A run on diag(value[i mod count]) of n rows, b = A (1 + (i mod 10)/10); what came of it. */
typedef struct ended {
  solve_reason reason;
  int64_t iterations;
  double residual, carried;
  char broke[160];
} ended;

static void run_on_rows(const solver *method, csr_rows *a, const ownership *owned,
                        const solve_limits *limits, int restart, const preconditioner *kind,
                        ended *out) {
  csr_block block;
  preconditioning made;
  double *diagonal;
  linear_system s = {.kernels = &BACKEND_omp, .world = world};
  solve_run run = {.system = &s, .limits = *limits, .gmres_restart = restart};
  const device_request where = {.threads = 1};
  assert_ok(BACKEND_omp.open(&where, &s.place));
  assert_ok(alloc_array(&diagonal, a->rows, sizeof *diagonal, "diagonal"));
  survey_diagonal(1, a, diagonal);
  assert_ok(csr_localise(1, a, &block));
  s.global_rows = owned->rows;
  s.first_row = block.first_row;
  s.rows = block.rows;
  s.ghosts = block.ghosts;
  assert_ok(halo_create(world, owned, block.ghost, block.ghosts, &s.plan));
  assert_ok(s.kernels->solve->matrix_create(s.place, &block, &s.a));
  assert_ok(linear_vector(&s, "x", &run.x));
  assert_ok(linear_vector(&s, "b", &run.b));
  const preconditioner_request request = {
      .a = &block, .owned = owned, .diagonal = diagonal, .threads = 1, .symmetric = 1};
  assert_ok(preconditioning_open(&s, kind, &request, &made));
  run.preconditioning = &made;
  double *x;
  assert_ok(alloc_array(&x, s.rows, sizeof *x, "x"));
  for (lidx i = 0; i < s.rows; i++) x[i] = 1.0 + (double)((s.first_row + i) % 10) / 10.0;
  assert_ok(linear_load(&s, run.x, x));
  assert_ok(linear_product(&s, run.x, run.b));
  assert_ok(s.kernels->fill(s.place, run.x, 0.0));
  assert_ok(method->run(&run));
  out->reason = run.reason;
  out->iterations = run.iterations;
  out->residual = run.relative_residual;
  out->carried = run.recursive_residual;
  strcpy(out->broke, run.broke);
  alloc_free(&x);
  alloc_free(&diagonal);
  preconditioning_close(&s, &made);
  linear_vector_release(&s, &run.x);
  linear_vector_release(&s, &run.b);
  s.kernels->solve->matrix_release(s.place, &s.a);
  const transport_side side = linear_side(&s);
  transport_release(&side);
  s.kernels->close(&s.place);
  csr_block_release(&block);
}

/* Row i holds (i, (i + shift) mod n) = value[i mod count]. */
static void run_pattern(const solver *method, gidx n, const double *value, int count, int shift,
                        int restart, ended *out) {
  static const solve_limits limits = {
      .rtol = 1e-10, .divergence = 1e5, .max_iterations = 1000, .check_every = 50};
  ownership owned;
  csr_rows a;
  memset(&a, 0, sizeof a);
  assert_ok(ownership_even(world, n, &owned));
  a.global_rows = a.global_columns = n;
  a.first_row = ownership_begin(&owned);
  a.rows = (lidx)(ownership_end(&owned) - a.first_row);
  assert_ok(alloc_array(&a.offset, a.rows + 1, sizeof *a.offset, "offsets"));
  assert_ok(alloc_array(&a.column, a.rows, sizeof *a.column, "columns"));
  assert_ok(alloc_array(&a.value, a.rows, sizeof *a.value, "values"));
  for (lidx i = 0; i < a.rows; i++) {
    a.offset[i] = i;
    a.column[i] = (a.first_row + i + shift) % n;
    a.value[i] = value[(a.first_row + i) % count];
  }
  a.offset[a.rows] = a.rows;
  run_on_rows(method, &a, &owned, &limits, restart, NULL, out);
  ownership_release(&owned);
}

static void as_many_steps_as_distinct_eigenvalues(void **state) {
  (void)state;
  static const double positive[] = {4, 7, 1, 30, 0.5, 12, 3}, mixed[] = {4, -7, 1, -30, 0.5, 12};
  static const char *const definite[] = {"cg", "minres", "gmres"};
  ended e;
  for (int count = 1; count <= 7; count++) {
    for (int i = 0; i < 3; i++) {
      run_pattern(solver_find(definite[i]), 700, positive, count, 0, 30, &e);
      assert_int_equal(e.reason, REASON_CONVERGED);
      assert_int_equal(e.iterations, count);
    }
    run_pattern(solver_find("bicgstab"), 700, positive, count, 0, 30, &e);
    assert_int_equal(e.reason, REASON_CONVERGED);
    assert_true(e.iterations <= count + 1);
    if (count > 6) continue;
    for (int i = 1; i < 3; i++) {
      run_pattern(solver_find(definite[i]), 700, mixed, count, 0, 30, &e);
      assert_int_equal(e.reason, REASON_CONVERGED);
      assert_int_equal(e.iterations, count);
    }
  }
}

/* x -> its neighbour, round a ring: the residual of gmres stays at 1 for n - 1 steps, and is 0
 * then; restarted earlier it never moves, which it has to say. Cut off from r~, bicgstab breaks
 * down at once. */
static void a_ring_takes_gmres_n_steps(void **state) {
  (void)state;
  static const double one[] = {1.0};
  ended e;
  run_pattern(solver_find("gmres"), 23, one, 1, 1, 23, &e);
  assert_int_equal(e.reason, REASON_CONVERGED);
  assert_true(e.iterations <= 23 && e.iterations >= 10); /* b has period 10: fewer than n */
  assert_true(e.residual < 1e-13);
}

/* diag(1, 0): the last row cannot be met; minres, gmres, cg say so with finite numbers. */
static void singular_systems_end_in_words(void **state) {
  (void)state;
  static const double value[] = {2.0, 0.0, 3.0};
  static const char *const methods[] = {"minres", "gmres", "bicgstab"};
  ended e;
  for (int i = 0; i < 3; i++) { /* b = A x is in the range: consistent */
    run_pattern(solver_find(methods[i]), 300, value, 3, 0, 30, &e);
    assert_int_equal(e.reason, REASON_CONVERGED);
    assert_true(e.residual <= 1e-10);
  }
}

/* Tridiagonal, symmetric, of a diagonal that M = D does not make constant; `sign` -1: indefinite.
 */
static void run_line(const solver *method, gidx n, double sign, const preconditioner *kind,
                     ended *out) {
  static const solve_limits limits = {
      .rtol = 1e-9, .divergence = 1e5, .max_iterations = 1000, .check_every = 50};
  ownership owned;
  csr_rows a;
  memset(&a, 0, sizeof a);
  assert_ok(ownership_even(world, n, &owned));
  a.global_rows = a.global_columns = n;
  a.first_row = ownership_begin(&owned);
  a.rows = (lidx)(ownership_end(&owned) - a.first_row);
  assert_ok(alloc_array(&a.offset, a.rows + 1, sizeof *a.offset, "offsets"));
  assert_ok(alloc_array(&a.column, 3 * a.rows, sizeof *a.column, "columns"));
  assert_ok(alloc_array(&a.value, 3 * a.rows, sizeof *a.value, "values"));
  eidx at = 0;
  for (lidx i = 0; i < a.rows; i++) {
    const gidx row = a.first_row + i;
    a.offset[i] = at;
    for (gidx j = row - 1; j <= row + 1; j++) {
      if (j < 0 || j >= n) continue;
      a.column[at] = j;
      a.value[at++] = j == row ? (row % 5 == 3 ? sign : 1.0) * (2.0 + (double)(row % 7)) : -1.0;
    }
  }
  a.offset[a.rows] = at;
  run_on_rows(method, &a, &owned, &limits, 30, kind, out);
  ownership_release(&owned);
}

static void carried_residuals_are_the_true_ones(void **state) {
  (void)state;
  static const char *const methods[] = {"cg", "minres", "bicgstab", "gmres"};
  preconditioner apart = *preconditioner_find("jacobi");
  apart.diagonal = NULL;
  ended e;
  for (int i = 0; i < 4; i++) {
    for (int indefinite = 0; indefinite < 2; indefinite++) {
      if (i == 0 && indefinite) continue;
      run_line(solver_find(methods[i]), 400, indefinite ? -1.0 : 1.0, indefinite ? NULL : &apart,
               &e);
      assert_int_equal(e.reason, REASON_CONVERGED);
      assert_true(fabs(e.carried - e.residual) <= 1e-4 * e.residual);
    }
  }
}

/* M has to be positive definite for minres, and is found out where it is not. */
static void an_indefinite_preconditioner_is_named(void **state) {
  (void)state;
  ended e;
  run_line(solver_find("minres"), 400, -1.0, preconditioner_find("jacobi"), &e);
  assert_int_equal(e.reason, REASON_BREAKDOWN);
  assert_non_null(strstr(e.broke, "not positive definite"));
}

/* ---- residuals and errors from step to step ---- */

static outcome result, other;

static trial usual_trial(const char *method, const char *problem, int64_t n) {
  return (trial){
      .problem = problem,
      .n = n,
      .method = solver_find(method),
      .limits = {.rtol = 1e-9, .divergence = 1e5, .max_iterations = 2000, .check_every = 50},
      .omega = 1.0,
      .preconditioned = 1,
      .rhs_scale = 1.0};
}

static void minimal_residuals_never_grow(void **state) {
  (void)state;
  static const char *const methods[] = {"gmres", "minres", "gmres"};
  static const char *const problems[] = {"convdiff2d", "poisson2d", "random-dominant"};
  for (int i = 0; i < 3; i++) {
    trial t = usual_trial(methods[i], problems[i], i == 2 ? 500 : 17);
    run_trial(&t, &BACKEND_omp, 1, &result);
    assert_int_equal(result.reason, REASON_CONVERGED);
    double last = INFINITY, residual;
    int rows = 0;
    for (const char *line = strchr(result.history, '\n'); line != NULL && line[1] != '\0';
         line = strchr(line + 1, '\n')) {
      assert_int_equal(sscanf(line + 1, "%*d,%lf", &residual), 1);
      assert_true(residual <= last * (1.0 + 1e-12));
      last = residual;
      rows++;
    }
    if (comm_rank(world) == 0) assert_int_equal(rows, result.iterations + 1);
    alloc_free(&result.x);
  }
}

/* |x - x*| in the A-norm, squared: (e, A e) by differences, on one rank's whole line. */
static double energy(const outcome *o) {
  double sum = 0.0, before = 0.0;
  for (lidx i = 0; i <= o->rows; i++) {
    const double e = i < o->rows ? o->x[i] - (1.0 + (double)(i % 10) / 10.0) : 0.0;
    sum += (e - before) * (e - before); /* poisson1d: e'Ae = sum of (e_i - e_{i-1})^2 */
    before = e;
  }
  return sum;
}

static void errors_of_cg_fall_in_the_a_norm(void **state) {
  (void)state;
  if (comm_size(world) > 1) return;
  double last = INFINITY;
  for (int k = 0; k <= 40; k++) {
    trial t = usual_trial("cg", "poisson1d", 90);
    t.limits.fixed_count = 1;
    t.limits.max_iterations = k;
    run_trial(&t, &BACKEND_omp, 1, &result);
    const double now = energy(&result);
    assert_true(now < last);
    last = now;
    alloc_free(&result.x);
  }
}

/* The shared driver's cg and the one on the device are the same method. */
static void cg_is_one_method(void **state) {
  (void)state;
  preconditioner apart = *preconditioner_find("jacobi");
  apart.diagonal = NULL;
  trial t = usual_trial("cg", "poisson2d", 31);
  run_trial(&t, &BACKEND_omp, 1, &result);
  t.preconditioner = &apart;
  for (int threads = 1; threads <= 2; threads++) {
    run_trial(&t, threads == 1 ? &BACKEND_ref : &BACKEND_omp, threads, &other);
    same_outcome(&result, &other, "cg, host-driven");
    alloc_free(&other.x);
  }
  assert_int_equal(result.reason, REASON_CONVERGED);
  alloc_free(&result.x);
}

/* A carried residual that lies is found out: restarts, and the end by the true one. */
static status lying_step(stepping *t) {
  t->residual = 0.5 * t->run->limits.rtol * t->run->norm_b;
  t->whole = 1;
  return STATUS_OK;
}

static status lying_start(stepping *t) {
  t->real[0] += 1.0;
  return STATUS_OK;
}

static status run_lying(solve_run *run) {
  static const step_method lying = {.start = lying_start, .step = lying_step};
  return stepping_run(run, &lying);
}

static void a_lying_residual_is_found_out(void **state) {
  (void)state;
  const solver liar = {.name = "liar", .run = run_lying};
  trial t = usual_trial("cg", "poisson2d", 9);
  t.method = &liar;
  run_trial(&t, &BACKEND_omp, 1, &result);
  assert_int_equal(result.reason, REASON_STAGNATED);
  assert_int_equal(result.restarts, 5);
  assert_int_equal(result.iterations, 6);
  assert_same_bits(result.relative_residual, 1.0);
  alloc_free(&result.x);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_many_steps_as_distinct_eigenvalues),
      cmocka_unit_test(a_ring_takes_gmres_n_steps),
      cmocka_unit_test(singular_systems_end_in_words),
      cmocka_unit_test(carried_residuals_are_the_true_ones),
      cmocka_unit_test(an_indefinite_preconditioner_is_named),
      cmocka_unit_test(minimal_residuals_never_grow),
      cmocka_unit_test(errors_of_cg_fall_in_the_a_norm),
      cmocka_unit_test(cg_is_one_method),
      cmocka_unit_test(a_lying_residual_is_found_out),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
