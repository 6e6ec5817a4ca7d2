/* Model problems against their definitions written out plainly, on any number of ranks; and the
 * survey against what is known of them.
 * ranks: 1 2 3 7 */
#include "problems.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "survey.h"
#include "test.h"

static comm *world;

/* a(i, j) of the stencil problems from coordinates. */
static double stencil(int dims, const gidx *n, double p, gidx i, gidx j) {
  gidx steps = 0, along = 0;
  for (int d = 0; d < dims; d++) {
    const gidx step = j % n[d] - i % n[d];
    steps += step < 0 ? -step : step;
    along += step;
    i /= n[d], j /= n[d];
  }
  if (steps == 0) return 2.0 * dims + 2.0 * p;
  if (steps > 1) return 0.0;
  return along < 0 ? -1.0 - p : -1.0;
}

static void stencil_matches(const char *name, int dims, gidx nx, gidx ny, gidx nz, double p) {
  const gidx n[3] = {nx, ny, nz};
  const problem_request request = {
      .name = name, .n = n, .n_count = dims, .peclet = p, .threads = 2};
  csr_rows a;
  ownership owned;
  matrix_survey s;
  int64_t entries = 0;
  assert_ok(problem_build(world, &request, &a, &owned));
  const gidx rows = nx * (dims > 1 ? ny : 1) * (dims > 2 ? nz : 1);
  assert_int_equal(a.global_rows, rows);
  assert_int_equal(a.first_row, ownership_begin(&owned));
  for (lidx i = 0; i < a.rows; i++) {
    eidx e = a.offset[i];
    for (gidx j = 0; j < rows; j++) {
      const double expected = stencil(dims, n, p, a.first_row + i, j);
      if (expected == 0.0) continue;
      assert_true(e < a.offset[i + 1]);
      assert_int_equal(a.column[e], j);
      assert_same_bits(a.value[e], expected);
      e++;
    }
    assert_int_equal(e, a.offset[i + 1]);
  }
  entries = a.offset[a.rows];
  assert_ok(comm_sum_i64(world, &entries, 1));
  assert_ok(survey_matrix(world, 1, &a, &s));
  assert_int_equal(s.entries, entries);
  assert_int_equal(s.rows, rows);
  assert_int_equal(s.symmetric, p == 0.0 || rows == 1);
  assert_int_equal(s.missing_diagonal + s.zero_diagonal + s.negative_diagonal + s.empty_rows, 0);
  assert_int_equal(s.weakly_dominant, rows);
  assert_int_equal(s.bandwidth, rows == 1   ? 0
                                : dims == 1 ? 1
                                : dims == 2 ? (ny > 1 ? nx : 1)
                                            : (nz > 1   ? nx * ny
                                               : ny > 1 ? nx
                                                        : 1));
  csr_rows_release(&a);
  ownership_release(&owned);
}

static void stencils(void **state) {
  (void)state;
  stencil_matches("poisson1d", 1, 1, 1, 1, 0.0);
  stencil_matches("poisson1d", 1, 700, 1, 1, 0.0);
  stencil_matches("poisson2d", 2, 7, 5, 1, 0.0);
  stencil_matches("poisson2d", 2, 31, 29, 1, 0.0);
  stencil_matches("poisson3d", 3, 5, 4, 3, 0.0);
  stencil_matches("poisson3d", 3, 9, 1, 8, 0.0);
  stencil_matches("convdiff2d", 2, 6, 9, 1, 1.0);
  stencil_matches("convdiff2d", 2, 6, 9, 1, 0.25);
}

static void one_size_serves_all_directions(void **state) {
  (void)state;
  const int64_t n = 6, each[3] = {6, 6, 6};
  problem_request request = {.name = "poisson3d", .n = &n, .n_count = 1, .threads = 1};
  csr_rows a, b;
  ownership oa, ob;
  assert_ok(problem_build(world, &request, &a, &oa));
  request.n = each;
  request.n_count = 3;
  assert_ok(problem_build(world, &request, &b, &ob));
  assert_int_equal(a.global_rows, 216);
  assert_int_equal(a.rows, b.rows);
  assert_memory_equal(a.value, b.value, (size_t)a.offset[a.rows] * sizeof(double));
  csr_rows_release(&a), csr_rows_release(&b);
  ownership_release(&oa), ownership_release(&ob);
}

static void random_rows(void **state) {
  (void)state;
  const int64_t n = 900;
  const problem_request request = {.name = "random-dominant",
                                   .n = &n,
                                   .n_count = 1,
                                   .entries_per_row = 12,
                                   .seed = 5,
                                   .threads = 1};
  csr_rows a;
  ownership owned;
  matrix_survey s;
  assert_ok(problem_build(world, &request, &a, &owned));
  for (lidx i = 0; i < a.rows; i++) {
    double others = 0.0, diagonal = 0.0;
    assert_int_equal(a.offset[i + 1] - a.offset[i], 12);
    for (eidx e = a.offset[i]; e < a.offset[i + 1]; e++) {
      assert_in_range(a.column[e], 0, n - 1);
      if (e > a.offset[i]) assert_true(a.column[e - 1] < a.column[e]);
      if (a.column[e] == a.first_row + i) {
        diagonal = a.value[e];
      } else {
        assert_true(fabs(a.value[e]) < 1.0);
        others += fabs(a.value[e]);
      }
    }
    assert_true(diagonal > others + 0.5);
  }
  assert_ok(survey_matrix(world, 1, &a, &s));
  assert_int_equal(s.strictly_dominant, n);
  assert_int_equal(s.symmetric, 0);
  csr_rows_release(&a);
  ownership_release(&owned);
}

static void full_random_rows(void **state) {
  (void)state;
  const int64_t n = 5;
  const problem_request request = {.name = "random-dominant",
                                   .n = &n,
                                   .n_count = 1,
                                   .entries_per_row = 50,
                                   .seed = 5,
                                   .threads = 1};
  csr_rows a;
  ownership owned;
  assert_ok(problem_build(world, &request, &a, &owned));
  for (lidx i = 0; i < a.rows; i++) {
    assert_int_equal(a.offset[i + 1] - a.offset[i], 5);
    for (int k = 0; k < 5; k++) assert_int_equal(a.column[a.offset[i] + k], k);
  }
  csr_rows_release(&a);
  ownership_release(&owned);
}

static void refused(const char *name, const int64_t *n, int count) {
  const problem_request request = {
      .name = name, .n = n, .n_count = count, .entries_per_row = 3, .threads = 1};
  csr_rows a;
  ownership owned;
  assert_int_equal(problem_build(world, &request, &a, &owned), STATUS_USAGE);
}

static void sizes_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static const int64_t large[] = {1 << 22, 1 << 22, 1 << 22}, two[] = {3, 4}, zero[] = {0};
  refused("poisson3d", large, 3);
  refused("poisson3d", two, 2);
  refused("poisson2d", zero, 1);
  refused("poisson2d", NULL, 0);
  refused("poisson9d", two, 1);
}

static void right_sides_depend_on_seed_and_row(void **state) {
  (void)state;
  double sum = 0.0, squares = 0.0;
  enum { COUNT = 10000 };
  for (gidx i = 0; i < COUNT; i++) {
    const double b = problem_random_rhs(1, i);
    assert_true(b > -1.0 && b < 1.0);
    sum += b;
    squares += b * b;
  }
  /* mean 0 +- 4 sigma/sqrt(n), variance 1/3 */
  assert_true(fabs(sum / COUNT) < 4.0 * 0.5774 / 100.0);
  assert_true(fabs(squares / COUNT - 1.0 / 3.0) < 4.0 * 0.2981 / 100.0);
  assert_true(problem_random_rhs(1, 7) != problem_random_rhs(2, 7));
  assert_true(problem_random_rhs(1, 7) != problem_random_rhs(1, 8));
}

/* One entry changed by one bit, anywhere, is no longer symmetric; stored zeros do not matter. */
static void symmetry_is_exact(void **state) {
  (void)state;
  const int64_t n = 20;
  const problem_request request = {.name = "poisson2d", .n = &n, .n_count = 1, .threads = 1};
  csr_rows a;
  ownership owned;
  matrix_survey s;
  for (gidx row = 0; row < 400; row += 37) {
    assert_ok(problem_build(world, &request, &a, &owned));
    const gidx local = row - a.first_row;
    if (local >= 0 && local < a.rows) {
      const eidx e = a.offset[local]; /* never the diagonal but in row 0 */
      a.value[row == 0 ? e + 1 : e] = nextafter(-1.0, 0.0);
    }
    assert_ok(survey_matrix(world, 1, &a, &s));
    assert_int_equal(s.symmetric, 0);
    if (comm_size(world) == 1) assert_true(s.odd_row >= 0);
    if (local >= 0 && local < a.rows)
      a.value[row == 0 ? a.offset[local] + 1 : a.offset[local]] = 0.0;
    assert_ok(survey_matrix(world, 1, &a, &s));
    assert_int_equal(s.symmetric, 0);
    csr_rows_release(&a);
    ownership_release(&owned);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stencils),
      cmocka_unit_test(one_size_serves_all_directions),
      cmocka_unit_test(random_rows),
      cmocka_unit_test(full_random_rows),
      cmocka_unit_test(sizes_that_do_not_fit_are_refused),
      cmocka_unit_test(right_sides_depend_on_seed_and_row),
      cmocka_unit_test(symmetry_is_exact),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
