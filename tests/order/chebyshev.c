/* Chebyshev: the recurrence against the polynomials, the preconditioner as an operator, and the
 * method's rate against theory. ranks: 1 2 */
#include "chebyshev.h"
#include "preconditioner.h"
#include "solver.h"
#include "spectral_fixture.h"

static const double PI = 3.14159265358979323846;

/* T_k(x) for x >= 1 or in [-1, 1]. */
static double chebyshev_of(int k, double x) {
  return fabs(x) <= 1.0 ? cos(k * acos(x)) : cosh(k * acosh(x));
}

/* On a number t instead of a matrix: 1 - t p(t) = T_k((middle - t) / half) / T_k(middle / half). */
static void recurrence_makes_chebyshev_polynomials(void **state) {
  (void)state;
  const chebyshev_interval i = {0.2, 1.8};
  for (double t = 0.05; t < 1.95; t += 0.17) {
    chebyshev_step step = {.ratio = 0.0};
    double x = 0.0, d = 0.0;
    for (int k = 1; k <= 12; k++) {
      chebyshev_next(&i, &step);
      d = step.before * d + step.factor * (1.0 - t * x);
      x += d;
      const double residual = 1.0 - t * x;
      const double known = chebyshev_of(k, (1.0 - t) / 0.8) / chebyshev_of(k, 1.0 / 0.8);
      if (t <= 1.8 + 1e-12 && t >= 0.2 - 1e-12) assert_true(fabs(residual - known) < 1e-13);
      assert_true(residual < 1.0);
    }
  }
}

static double dot(fixture *f, vec x, vec y) {
  double sum;
  assert_ok(linear_dots(&f->s, 1, &x, y, 1.0, &sum));
  return sum;
}

/* x.(M^-1 y) = y.(M^-1 x), x.(M^-1 x) > 0, and with bounds that few steps find. */
static void preconditioner_is_symmetric_and_positive(void **state) {
  (void)state;
  const preconditioner *kind = preconditioner_find("chebyshev");
  assert_non_null(kind);
  for (int degree = 1; degree <= 6; degree++) {
    fixture f;
    vec x, y, mx, my;
    double *host;
    preconditioning made;
    open_problem(&f, "poisson2d", 17, &BACKEND_ref, 1);
    assert_ok(alloc_array(&host, f.s.rows, sizeof *host, "host"));
    assert_ok(linear_vector(&f.s, "x", &x));
    assert_ok(linear_vector(&f.s, "y", &y));
    assert_ok(linear_vector(&f.s, "mx", &mx));
    assert_ok(linear_vector(&f.s, "my", &my));
    for (lidx i = 0; i < f.s.rows; i++) host[i] = problem_random_rhs(5, f.s.first_row + i);
    assert_ok(linear_load(&f.s, x, host));
    for (lidx i = 0; i < f.s.rows; i++) host[i] = problem_random_rhs(6, f.s.first_row + i);
    assert_ok(linear_load(&f.s, y, host));
    for (lidx i = 0; i < f.s.rows; i++) host[i] = 4.0;
    const preconditioner_request q = {
        .owned = &f.owned, .diagonal = host, .symmetric = 1, .threads = 1, .degree = degree};
    assert_ok(preconditioning_open(&f.s, kind, &q, &made));
    assert_ok(preconditioning_apply(&f.s, &made, x, mx));
    assert_ok(preconditioning_apply(&f.s, &made, y, my));
    const double xy = dot(&f, x, my), yx = dot(&f, y, mx), xx = dot(&f, x, mx);
    assert_true(fabs(xy - yx) < 1e-13 * xx);
    assert_true(xx > 0.0);
    preconditioning_close(&f.s, &made);
    linear_vector_release(&f.s, &my);
    linear_vector_release(&f.s, &mx);
    linear_vector_release(&f.s, &y);
    linear_vector_release(&f.s, &x);
    alloc_free(&host);
    close_problem(&f);
  }
}

/* b = ones; the iterations of a method to a tenth of a millionth. */
static int64_t iterations_of(const char *method, int64_t n) {
  fixture f;
  open_problem(&f, "poisson2d", n, &BACKEND_ref, 1);
  solve_run run = {
      .system = &f.s,
      .weight = f.inverse,
      .limits = {.rtol = 1e-7, .divergence = 1e5, .max_iterations = 20000, .check_every = 50}};
  assert_ok(linear_vector(&f.s, "x", &run.x));
  assert_ok(linear_vector(&f.s, "b", &run.b));
  assert_ok(f.s.kernels->fill(f.s.place, run.b, 1.0));
  assert_ok(solver_find(method)->run(&run));
  assert_ok(f.s.failure);
  assert_int_equal(run.reason, REASON_CONVERGED);
  assert_true(run.relative_residual <= 1e-7);
  linear_vector_release(&f.s, &run.x);
  linear_vector_release(&f.s, &run.b);
  close_problem(&f);
  return run.iterations;
}

/* With the exact interval [1 - rho, 1 + rho] the error falls by 2 / (s^k + s^-k), s = (1 + sqrt(1 -
 * rho^2)) / rho: what starts with an interval too small by far comes within a quarter of that. */
static void the_rate_is_that_of_theory(void **state) {
  (void)state;
  static const int64_t sizes[] = {20, 60, 120};
  for (int i = 0; i < 3; i++) {
    const double rho = cos(PI / (double)(sizes[i] + 1)), s = (1.0 + sqrt(1.0 - rho * rho)) / rho;
    const double steps = log(2.0 / 1e-7) / log(s);
    const int64_t got = iterations_of("chebyshev", sizes[i]);
    if ((double)got > 1.25 * steps || (double)got < 0.4 * steps) {
      fail_msg("n = %d: %d steps, theory %g", (int)sizes[i], (int)got, steps);
    }
  }
}

static void indefinite_matrices_are_refused(void **state) {
  (void)state;
  fixture f;
  chebyshev_interval i;
  open_shifted(&f, "poisson1d", 30, -0.5, &BACKEND_ref, 1);
  assert_int_equal(chebyshev_measure(&f.s, f.inverse, 20, "method chebyshev", &i), STATUS_INPUT);
  assert_non_null(strstr(fail_text(), "positive definite"));
  fail_clear();
  close_problem(&f);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recurrence_makes_chebyshev_polynomials),
      cmocka_unit_test(preconditioner_is_symmetric_and_positive),
      cmocka_unit_test(the_rate_is_that_of_theory),
      cmocka_unit_test(indefinite_matrices_are_refused),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
