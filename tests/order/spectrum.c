/* The spectral radius of Jacobi's iteration from few products, against values that are known: small
 * matrices, convection-diffusion (a similarity makes it symmetric), Poisson. ranks: 1 3 */
#include "spectrum.h"
#include "spectral_fixture.h"

static const double PI = 3.14159265358979323846;

static double radius(int n, const double *h) {
  double last;
  return spectrum_small_radius(n, h, n, &last);
}

static void small_matrices(void **state) {
  (void)state;
  const double rotation[] = {0.6, -0.8, 0.8, 0.6}, nilpotent[] = {0, 1, 1, 0, 0, 1, 0, 0, 0},
               jordan[] = {0.5, 1, 0, 0.5}, signs[] = {-3, 0, 0, 2}, one[] = {-0.25},
               far[] = {1e-200, 0, 1e-201, 2e-200},
               companion[] = {0, 0, 6, 1, 0, -11, 0, 1, 6}; /* roots 1, 2, 3 */
  assert_true(fabs(radius(2, rotation) - 1.0) < 1e-14);
  assert_true(radius(3, nilpotent) == 0.0);
  assert_true(fabs(radius(2, jordan) - 0.5) < 1e-10);
  assert_true(fabs(radius(2, signs) - 3.0) < 1e-14);
  assert_true(fabs(radius(1, one) - 0.25) < 1e-15);
  assert_true(fabs(radius(2, far) / 2e-200 - 1.0) < 1e-12);
  assert_true(fabs(radius(3, companion) - 3.0) < 1e-13);
}

static void measure(fixture *f, int steps, spectrum *out) {
  assert_ok(spectrum_measure(&f->s, &f->facts, f->inverse, steps, out));
}

/* Upwind convdiff2d, p = 1: per direction the couplings multiply to 2, so the eigenvalues of
 * I - D^-1 A are (2 sqrt(2) / 6) (cos + cos): real though the matrix is not symmetric. */
static void convection_by_arnoldi(void **state) {
  (void)state;
  fixture f;
  spectrum p;
  const int64_t n = 5;
  const double rho = 4.0 * sqrt(2.0) / 6.0 * cos(PI / (double)(n + 1));
  open_problem(&f, "convdiff2d", n, &BACKEND_ref, 1);
  measure(&f, 32, &p);
  assert_int_equal(p.how, SPECTRUM_ARNOLDI);
  assert_true(p.resolved);
  assert_true(fabs(p.rho - rho) < 1e-6);
  measure(&f, 6, &p); /* few steps: less is known, and it is said */
  assert_true(p.rho_low <= rho && rho <= p.rho_high);
  assert_true(p.rho_high <= 1.0 + 1e-12); /* row sums */
  close_problem(&f);
}

static void poisson_by_lanczos(void **state) {
  (void)state;
  fixture f;
  spectrum p;
  const double rho = cos(PI / 61.0);
  open_problem(&f, "poisson2d", 60, &BACKEND_ref, 1);
  measure(&f, 8, &p);
  assert_int_equal(p.how, SPECTRUM_LANCZOS);
  assert_false(p.resolved); /* 1 - rho is 1.3e-3 */
  assert_true(p.rho_low <= rho && rho <= p.rho_high && p.rho_high <= 1.0 + 1e-12);
  measure(&f, 200, &p);
  assert_true(p.resolved);
  assert_true(fabs(p.rho - rho) < 1e-9);
  close_problem(&f);
}

static void dominant_rows_are_a_certain_bound(void **state) {
  (void)state;
  fixture f;
  spectrum p;
  open_problem(&f, "random-dominant", 900, &BACKEND_ref, 1);
  measure(&f, 8, &p);
  assert_int_equal(p.how, SPECTRUM_ARNOLDI);
  assert_true(f.facts.off_diagonal < 1.0);
  assert_true(p.rho_high <= f.facts.off_diagonal * (1.0 + 1e-13));
  close_problem(&f);
}

static void what_cannot_be_known_is_not_looked_at(void **state) {
  (void)state;
  fixture f;
  spectrum p;
  open_shifted(&f, "poisson1d", 12, -2.0, &BACKEND_ref, 1); /* the diagonal is zero */
  measure(&f, 8, &p);
  assert_int_equal(p.how, SPECTRUM_UNKNOWN);
  assert_int_equal(p.steps, 0);
  f.facts.zero_diagonal = 0;
  f.facts.columns++; /* not square */
  measure(&f, 8, &p);
  assert_int_equal(p.how, SPECTRUM_UNKNOWN);
  close_problem(&f);
}

static void ranks_and_backends_give_the_same_bits(void **state) {
  (void)state;
  fixture f;
  spectrum first, got;
  comm *all = world;
  assert_ok(comm_self(&world));
  open_problem(&f, "convdiff2d", 40, &BACKEND_ref, 1);
  measure(&f, 12, &first);
  close_problem(&f);
  comm_close(&world);
  world = all;
  for (int threads = 0; threads <= 3; threads++) {
    open_problem(&f, "convdiff2d", 40, threads == 0 ? &BACKEND_ref : &BACKEND_omp,
                 threads == 0 ? 1 : threads);
    measure(&f, 12, &got);
    assert_int_equal(got.steps, 12);
    assert_same_bits(got.rho, first.rho);
    assert_same_bits(got.rho_low, first.rho_low);
    assert_same_bits(got.rho_high, first.rho_high);
    close_problem(&f);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_matrices),
      cmocka_unit_test(convection_by_arnoldi),
      cmocka_unit_test(poisson_by_lanczos),
      cmocka_unit_test(dominant_rows_are_a_certain_bound),
      cmocka_unit_test(what_cannot_be_known_is_not_looked_at),
      cmocka_unit_test(ranks_and_backends_give_the_same_bits),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
