/* Methods and preconditioners that work by colours and blocks, against theory on the five-point
 * Laplacian, whose Jacobi iteration has the spectral radius mu = cos(pi / (n + 1)): the rate of
 * Gauss-Seidel is mu^2, of SOR at the best omega = 2 / (1 + sqrt(1 - mu^2)) it is omega - 1, and
 * neighbours of that omega are slower. Preconditioners that keep symmetry are symmetric and
 * positive; all lower the counts of Krylov methods. */
#include "trial.h"

#include <math.h>
#include <stdlib.h>

static const double PI = 3.141592653589793;

static outcome result;

/* Runs on omp; result.x is released. */
static int64_t run(const trial *t) {
  run_trial(t, &BACKEND_omp, 1, &result);
  assert_ok(result.failure);
  alloc_free(&result.x);
  return result.iterations;
}

static trial on_plane(const char *method, int64_t n) {
  return (trial){
      .problem = "poisson2d",
      .n = n,
      .method = solver_find(method),
      .limits = {.rtol = 1e-8, .divergence = 1e5, .max_iterations = 5000, .check_every = 50},
      .omega = 1.0,
      .symmetric = 1,
      .preconditioned = 1,
      .rhs_scale = 1.0};
}

static double residual_at(int64_t k) {
  const char *at = result.history;
  while (at != NULL) {
    at = strchr(at, '\n');
    if (at != NULL && strtoll(++at, NULL, 10) == k && *at != '\0') {
      return strtod(strchr(at, ',') + 1, NULL);
    }
  }
  fail_msg("no row %lld in the history", (long long)k);
  return NAN;
}

/* Mean factor of the residual from k = from to k = to. */
static double rate(int64_t from, int64_t to) {
  return pow(residual_at(to) / residual_at(from), 1.0 / (double)(to - from));
}

static double largest(int64_t n) { return cos(PI / (double)(n + 1)); }

static double best_omega(int64_t n) {
  const double mu = largest(n);
  return 2.0 / (1.0 + sqrt(1.0 - mu * mu));
}

/* Red and black leave all of the error to black: one sweep is the square of a Jacobi step; ssor
 * with omega 1 makes the same black values, its red ones are newer. */
static void gauss_seidel_squares_jacobi(void **state) {
  (void)state;
  const double mu = largest(20);
  trial t = on_plane("gauss-seidel", 20);
  t.limits.fixed_count = 1;
  t.limits.max_iterations = 600;
  run(&t);
  assert_true(fabs(rate(400, 600) / (mu * mu) - 1.0) < 1e-7);
  t.method = solver_find("ssor");
  run(&t);
  assert_true(fabs(rate(400, 600) / (mu * mu) - 1.0) < 1e-7);
  t.method = solver_find("jacobi");
  run(&t);
  assert_true(fabs(rate(400, 600) / mu - 1.0) < 1e-7);
}

/* At the best omega residuals fall like k (omega - 1)^k. */
static void sor_at_the_optimum(void **state) {
  (void)state;
  static const int64_t sizes[] = {9, 20, 31};
  for (int i = 0; i < 3; i++) {
    const int64_t n = sizes[i];
    const double omega = best_omega(n);
    const int64_t to = (int64_t)(25.0 / (2.0 - omega)), from = to / 2;
    trial t = on_plane("sor", n);
    t.omega = omega;
    t.limits.fixed_count = 1;
    t.limits.max_iterations = to;
    run(&t);
    const double growth = pow((double)to / (double)from, 1.0 / (double)(to - from));
    assert_true(fabs(rate(from, to) / growth / (omega - 1.0) - 1.0) < 0.01);
    t = on_plane("sor", n);
    t.omega = omega;
    const int64_t best = run(&t);
    /* k (omega - 1)^k = 1e-8 or so */
    const double expected = log(1e-8 / (double)best) / log(omega - 1.0);
    assert_true(fabs((double)best / expected - 1.0) < 0.15);
    for (int side = -1; side <= 1; side += 2) {
      t.omega = omega + side * 0.4 * (2.0 - omega);
      assert_true(run(&t) > best);
    }
    t.adapts = 1;
    t.omega = 1.0;
    const int64_t found = run(&t);
    assert_true((double)found < 1.3 * (double)best);
    assert_true(fabs(result.omega - omega) < 0.05 * (2.0 - omega));
  }
}

/* Counts of methods and of preconditioned methods on random data, in words: fewer than `share` of
 * what the first one takes. */
static void fewer_iterations(void **state) {
  (void)state;
  static const struct {
    const char *problem, *method, *preconditioner;
    double share; /* of the count with jacobi */
  } all[] = {
      {"poisson2d", "cg", "ssor", 0.6},          {"poisson2d", "cg", "ic0", 0.6},
      {"poisson2d", "cg", "block-jacobi", 0.95}, {"poisson3d", "cg", "ic0", 0.6},
      {"poisson2d", "minres", "ssor", 0.6},      {"poisson2d", "minres", "ic0", 0.6},
      {"convdiff2d", "gmres", "ilu0", 0.6},      {"convdiff2d", "gmres", "ssor", 0.7},
      {"convdiff2d", "bicgstab", "ilu0", 0.6},   {"convdiff2d", "gmres", "block-jacobi", 0.95}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    trial t = on_plane(all[i].method, strcmp(all[i].problem, "poisson3d") == 0 ? 10 : 31);
    t.problem = all[i].problem;
    t.symmetric = strcmp(all[i].problem, "convdiff2d") != 0;
    t.preconditioner = preconditioner_find("jacobi");
    const int64_t plain = run(&t);
    t.preconditioner = preconditioner_find(all[i].preconditioner);
    const int64_t count = run(&t);
    assert_int_equal(result.reason, REASON_CONVERGED);
    if ((double)count > all[i].share * (double)plain) {
      fail_msg("%s %s + %s: %lld, with jacobi %lld", all[i].problem, all[i].method,
               all[i].preconditioner, (long long)count, (long long)plain);
    }
  }
}

/* ---- x.M^-1 y ---- */

static void load(linear_system *s, vec v, uint64_t salt) {
  double *x;
  assert_ok(alloc_array(&x, s->rows, sizeof *x, "x"));
  for (lidx i = 0; i < s->rows; i++) {
    x[i] = problem_random_rhs(salt, s->first_row + i);
  }
  assert_ok(linear_load(s, v, x));
  alloc_free(&x);
}

static double dot(linear_system *s, vec x, vec y) {
  double sum;
  assert_ok(linear_dot(s, x, y, 1.0, &sum));
  return sum;
}

static void check_symmetry(const preconditioner *kind, const char *problem, int64_t n) {
  const problem_request request = {
      .name = problem, .n = &n, .n_count = 1, .entries_per_row = 6, .threads = 1};
  csr_rows rows;
  csr_block a;
  ownership owned;
  linear_system s = {.kernels = &BACKEND_omp, .world = world};
  preconditioning made;
  vec v[4];
  double *diagonal;
  const device_request where = {.threads = 2};
  assert_ok(problem_build(world, &request, &rows, &owned));
  assert_ok(s.kernels->open(&where, &s.place));
  assert_ok(alloc_array(&diagonal, rows.rows, sizeof *diagonal, "diagonal"));
  survey_diagonal(1, &rows, diagonal);
  assert_ok(csr_localise(1, &rows, &a));
  s.rows = a.rows;
  s.ghosts = a.ghosts;
  s.first_row = a.first_row;
  s.global_rows = owned.rows;
  assert_ok(halo_create(world, &owned, a.ghost, a.ghosts, &s.plan));
  assert_ok(s.kernels->solve->matrix_create(s.place, &a, &s.a));
  const preconditioner_request q = {.a = &a,
                                    .owned = &owned,
                                    .diagonal = diagonal,
                                    .symmetric = 1,
                                    .threads = 2,
                                    .omega = 1.4,
                                    .block_size = 12,
                                    .degree = 3,
                                    .seed = 1};
  assert_ok(preconditioning_open(&s, kind, &q, &made));
  for (int i = 0; i < 4; i++) assert_ok(linear_vector(&s, "v", &v[i]));
  load(&s, v[0], 5);
  load(&s, v[1], 6);
  assert_ok(preconditioning_apply(&s, &made, v[0], v[2]));
  assert_ok(preconditioning_apply(&s, &made, v[1], v[3]));
  const double xy = dot(&s, v[1], v[2]), yx = dot(&s, v[0], v[3]);
  const double xx = dot(&s, v[0], v[2]), yy = dot(&s, v[1], v[3]);
  if (fabs(xy - yx) > 1e-13 * sqrt(xx * yy)) {
    fail_msg("%s on %s: x.M^-1 y = %.17g, y.M^-1 x = %.17g", kind->name, problem, xy, yx);
  }
  assert_true(xx > 0.0 && yy > 0.0);
  assert_true(fabs(xy) < sqrt(xx * yy));
  for (int i = 0; i < 4; i++) linear_vector_release(&s, &v[i]);
  preconditioning_close(&s, &made);
  s.kernels->solve->matrix_release(s.place, &s.a);
  halo_release(&s.plan);
  s.kernels->close(&s.place);
  csr_block_release(&a);
  ownership_release(&owned);
  alloc_free(&diagonal);
}

static void preconditioners_keep_symmetry(void **state) {
  (void)state;
  for (int i = 0; preconditioner_at(i) != NULL; i++) {
    if (!(preconditioner_at(i)->flags & PRECONDITIONER_KEEPS_SYMMETRY)) continue;
    const int64_t live = alloc_live();
    check_symmetry(preconditioner_at(i), "poisson2d", 17);
    check_symmetry(preconditioner_at(i), "poisson3d", 7);
    assert_int_equal(alloc_live(), live);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gauss_seidel_squares_jacobi),
      cmocka_unit_test(sor_at_the_optimum),
      cmocka_unit_test(fewer_iterations),
      cmocka_unit_test(preconditioners_keep_symmetry),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
