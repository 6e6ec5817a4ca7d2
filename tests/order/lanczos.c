/* Lanczos against spectra that are known: every eigenvalue of the Poisson problems, interlacing and
 * residual bounds on the way, definiteness, ends of the Krylov space. ranks: 1 2 3 */
#include "spectral_fixture.h"

static const double PI = 3.14159265358979323846;

/* D^-1 A of poissonNd: 1 + mean of cos(k pi / (n + 1)) over the directions. */
static void poisson_ends_are_found(void **state) {
  (void)state;
  static const struct {
    const char *problem;
    int64_t n;
    int steps;
  } known[] = {
      {"poisson1d", 12, 12}, {"poisson1d", 60, 80}, {"poisson2d", 30, 120}, {"poisson3d", 9, 80}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    fixture f;
    lanczos_interval got;
    open_problem(&f, known[i].problem, known[i].n, &BACKEND_ref, 1);
    assert_ok(lanczos_extremes(&f.s, f.inverse, known[i].steps, &got));
    const double rho = cos(PI / (double)(known[i].n + 1));
    assert_true(fabs(got.low - (1.0 - rho)) < 1e-9);
    assert_true(fabs(got.high - (1.0 + rho)) < 1e-9);
    assert_true(got.low_error < 1e-5 && got.high_error < 1e-5);
    assert_false(got.indefinite);
    /* of A itself */
    const int dims = known[i].problem[7] - '0';
    assert_ok(lanczos_extremes(&f.s, (vec){.rows = 0}, known[i].steps, &got));
    assert_true(fabs(got.high - 2.0 * dims * (1.0 + rho)) < 1e-8);
    close_problem(&f);
  }
}

/* Fewer steps: Ritz values lie inside, and an eigenvalue lies within the bound of each. */
static void bounds_hold_on_the_way(void **state) {
  (void)state;
  enum { N = 40 };
  fixture f;
  open_problem(&f, "poisson2d", N, &BACKEND_ref, 1);
  const double rho = cos(PI / (N + 1));
  double low_before = INFINITY, high_before = 0.0;
  for (int steps = 1; steps <= 25; steps++) {
    lanczos_interval got;
    double nearest_low = INFINITY, nearest_high = INFINITY;
    assert_ok(lanczos_extremes(&f.s, f.inverse, steps, &got));
    assert_int_equal(got.steps, steps);
    assert_true(got.low >= 1.0 - rho - 1e-14 && got.high <= 1.0 + rho + 1e-14);
    assert_true(got.low <= low_before + 1e-14 && got.high >= high_before - 1e-14);
    for (int k = 1; k <= N; k++) {
      for (int l = 1; l <= N; l++) {
        const double value = 1.0 - (cos(k * PI / (N + 1)) + cos(l * PI / (N + 1))) / 2.0;
        nearest_low = fmin(nearest_low, fabs(value - got.low));
        nearest_high = fmin(nearest_high, fabs(value - got.high));
      }
    }
    assert_true(nearest_low <= got.low_error + 1e-13);
    assert_true(nearest_high <= got.high_error + 1e-13);
    low_before = got.low, high_before = got.high;
  }
  assert_true(low_before < 0.05 && high_before > 1.95);
  close_problem(&f);
}

/* Equal diagonal entries and one eigenvalue, or two: the space ends. */
static void small_spaces_end(void **state) {
  (void)state;
  fixture f;
  lanczos_interval got;
  open_problem(&f, "poisson1d", 1, &BACKEND_ref, 1);
  assert_ok(lanczos_extremes(&f.s, f.inverse, 20, &got));
  assert_int_equal(got.steps, 1);
  assert_true(fabs(got.low - 1.0) < 1e-15 && fabs(got.high - 1.0) < 1e-15);
  assert_true(got.low_error < 1e-15);
  close_problem(&f);
  open_problem(&f, "poisson1d", 2, &BACKEND_ref, 1);
  assert_ok(lanczos_extremes(&f.s, f.inverse, 20, &got));
  assert_int_equal(got.steps, 2);
  assert_true(fabs(got.low - 0.5) < 1e-15 && fabs(got.high - 1.5) < 1e-15);
  close_problem(&f);
}

static void indefinite_matrices_are_found_out(void **state) {
  (void)state;
  fixture f;
  lanczos_interval got;
  open_shifted(&f, "poisson1d", 30, -0.5, &BACKEND_ref, 1); /* eigenvalues from -0.49 on */
  assert_ok(lanczos_extremes(&f.s, f.inverse, 30, &got));
  assert_true(got.indefinite && got.low < 0.0);
  close_problem(&f);
  open_shifted(&f, "poisson1d", 30, -3.0, &BACKEND_ref, 1); /* a negative diagonal */
  assert_ok(lanczos_extremes(&f.s, f.inverse, 30, &got));
  assert_true(got.indefinite);
  assert_int_equal(got.steps, 0);
  close_problem(&f);
}

static void same_interval(const lanczos_interval *a, const lanczos_interval *b) {
  assert_int_equal(a->steps, b->steps);
  assert_same_bits(a->low, b->low);
  assert_same_bits(a->high, b->high);
  assert_same_bits(a->low_error, b->low_error);
  assert_same_bits(a->high_error, b->high_error);
}

/* One rank alone, and all of them on every backend. */
static void ranks_threads_and_backends_give_the_same_bits(void **state) {
  (void)state;
  static const char *const problems[] = {"poisson2d", "poisson3d", "poisson1d"};
  static const int64_t sizes[] = {45, 11, 3};
  for (int i = 0; i < 3; i++) {
    lanczos_interval first, got;
    fixture f;
    comm *all = world;
    assert_ok(comm_self(&world));
    open_problem(&f, problems[i], sizes[i], &BACKEND_ref, 1);
    assert_ok(lanczos_extremes(&f.s, f.inverse, 17, &first));
    close_problem(&f);
    comm_close(&world);
    world = all;
    open_problem(&f, problems[i], sizes[i], &BACKEND_ref, 1);
    assert_ok(lanczos_extremes(&f.s, f.inverse, 17, &got));
    same_interval(&got, &first);
    close_problem(&f);
    for (int threads = 1; threads <= 3; threads++) {
      open_problem(&f, problems[i], sizes[i], &BACKEND_omp, threads);
      assert_ok(lanczos_extremes(&f.s, f.inverse, 17, &got));
      same_interval(&got, &first);
      close_problem(&f);
    }
  }
}

static void memory_that_is_short_is_agreed_on(void **state) {
  (void)state;
  for (int nth = 1; nth < 8; nth++) {
    fixture f;
    lanczos_interval got;
    open_problem(&f, "poisson1d", 9, &BACKEND_ref, 1);
    const int64_t live = alloc_live();
    if (comm_rank(world) == comm_size(world) - 1) alloc_fail_at(nth);
    const status rc = lanczos_extremes(&f.s, f.inverse, 5, &got);
    alloc_fail_at(0);
    fail_clear();
    assert_int_equal(alloc_live(), live);
    if (nth <= 5) assert_int_equal(rc, STATUS_UNAVAILABLE);
    close_problem(&f);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(poisson_ends_are_found),
      cmocka_unit_test(bounds_hold_on_the_way),
      cmocka_unit_test(small_spaces_end),
      cmocka_unit_test(indefinite_matrices_are_found_out),
      cmocka_unit_test(ranks_threads_and_backends_give_the_same_bits),
      cmocka_unit_test(memory_that_is_short_is_agreed_on),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
