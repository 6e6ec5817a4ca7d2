/* What `auto` takes, from facts made by hand: five classes of matrices and what is refused. */
#include <math.h>
#include <string.h>

#include "choice.h"
#include "solver.h"
#include "test.h"

static matrix_survey square(int symmetric) {
  return (matrix_survey){.rows = 100,
                         .columns = 100,
                         .entries = 500,
                         .symmetric = symmetric,
                         .odd_row = symmetric ? -1 : 3,
                         .odd_column = symmetric ? -1 : 8,
                         .odd_value = 1.0,
                         .odd_mirror = 2.0,
                         .weakly_dominant = 90,
                         .strictly_dominant = 40};
}

static spectrum lanczos_of(double low, double high, double error) {
  return (spectrum){.how = SPECTRUM_LANCZOS,
                    .steps = 8,
                    .ends = {.steps = 8,
                             .low = low,
                             .high = high,
                             .low_error = error,
                             .high_error = error,
                             .indefinite = low < 0.0},
                    .rho = fmax(1.0 - low, high - 1.0),
                    .rho_low = fmax(1.0 - low, high - 1.0),
                    .rho_high = fmax(1.0 - low, high - 1.0) + error,
                    .resolved = error == 0.0};
}

static spectrum arnoldi_of(double rho, double error) {
  return (spectrum){.how = SPECTRUM_ARNOLDI,
                    .steps = 8,
                    .rho = rho,
                    .rho_low = rho - error,
                    .rho_high = rho + error};
}

static void expect(const matrix_survey *s, const spectrum *p, const char *method,
                   const char *preconditioner, const char *next, const char *words) {
  method_choice c;
  choice_make(s, p, &c);
  assert_string_equal(c.method, method);
  assert_string_equal(c.preconditioner, preconditioner);
  if (next == NULL) {
    assert_null(c.next);
  } else {
    assert_string_equal(c.next, next);
    assert_non_null(solver_find(c.next));
  }
  if (strcmp(method, "none") != 0) assert_non_null(solver_find(c.method));
  if (strstr(c.why, words) == NULL) fail_msg("no '%s' in: %s", words, c.why);
}

static void five_classes(void **state) {
  (void)state;
  matrix_survey s = square(1);
  spectrum p = lanczos_of(0.01, 1.9, 0.0);
  expect(&s, &p, "cg", "jacobi", "minres", "D^-1 A in [0.01, 1.9]");
  p = lanczos_of(-0.2, 1.9, 0.0);
  expect(&s, &p, "minres", "jacobi", NULL, "indefinite for certain");
  s.negative_diagonal = 3;
  p = arnoldi_of(2.0, 0.1);
  expect(&s, &p, "minres", "none", NULL, "3 of 100 diagonal entries negative");
  s = square(0);
  p = arnoldi_of(0.4, 0.1);
  expect(&s, &p, "jacobi", "none", "bicgstab", "not symmetric: a(4,9) = 1 but a(9,4) = 2");
  p = arnoldi_of(0.97, 0.1);
  expect(&s, &p, "bicgstab", "jacobi", "gmres", "not resolved");
}

static void other_matrices(void **state) {
  (void)state;
  matrix_survey s = square(0);
  spectrum p = {.how = SPECTRUM_UNKNOWN};
  s.zero_diagonal = 4;
  s.missing_diagonal = 1;
  expect(&s, &p, "gmres", "none", NULL, "5 diagonal entries zero or missing");
  s.symmetric = 1;
  expect(&s, &p, "minres", "none", NULL, "zero or missing");
  s.empty_rows = 1;
  expect(&s, &p, "none", "none", NULL, "singular");
  s.columns = 99;
  expect(&s, &p, "none", "none", NULL, "square");
  s.rows = s.columns = 0;
  expect(&s, &p, "none", "none", NULL, "empty");
}

/* The verdict on Jacobi: above 0.99 it is not insisted on; diverging is said only where it is. */
static void verdicts_on_jacobi(void **state) {
  (void)state;
  const matrix_survey s = square(1);
  spectrum p = lanczos_of(0.3, 1.7, 0.0);
  expect(&s, &p, "cg", "jacobi", "minres", "Jacobi converges");
  p = lanczos_of(0.005, 1.9, 0.0);
  expect(&s, &p, "cg", "jacobi", "minres", "Jacobi would be slow");
  p = lanczos_of(0.02, 1.9, 0.05);
  expect(&s, &p, "cg", "jacobi", "minres", "Jacobi would be slow");
  p = lanczos_of(0.2, 2.5, 0.0);
  expect(&s, &p, "cg", "jacobi", "minres", "Jacobi diverges");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(five_classes),
      cmocka_unit_test(other_matrices),
      cmocka_unit_test(verdicts_on_jacobi),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
