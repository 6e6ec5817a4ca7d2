/* Dense factorisations: systems whose numbers are exact, the Hilbert matrix (against its known
 * determinant and inverse), what cannot be factored, and the order of operations written out. */
#include "dense.h"
#include "test.h"

#include <float.h>
#include <string.h>

enum { MOST = 40 };

/* Integers in -8 .. 8, a function of the place. */
static double small_at(int i, int j) {
  const uint64_t z = (uint64_t)(i * 131 + j * 17 + 5) * UINT64_C(0x9e3779b97f4a7c15);
  return (double)(int)(z >> 60) - 8.0 + (double)(z >> 40 & 1);
}

static void times(const double *a, int n, const double *x, double *b) {
  for (int i = 0; i < n; i++) {
    b[i] = 0.0;
    for (int j = 0; j < n; j++) b[i] += a[i * n + j] * x[j];
  }
}

/* L L^T with small integers: every step is exact, and so is the answer. */
static void exact_symmetric_systems(void **state) {
  (void)state;
  static double l[MOST * MOST], a[MOST * MOST];
  double x[MOST], b[MOST];
  for (int n = 0; n <= MOST; n += n < 5 ? 1 : 7) {
    for (int i = 0; i < n; i++) {
      x[i] = small_at(i, 99);
      for (int j = 0; j < n; j++) l[i * n + j] = j > i ? 0.0 : j == i ? 1 << i % 3 : small_at(i, j);
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        a[i * n + j] = 0.0;
        for (int k = 0; k < n; k++) a[i * n + j] += l[i * n + k] * l[j * n + k];
      }
    }
    times(a, n, x, b);
    for (int i = 0; i < n; i++) { /* the lower triangle is not read */
      for (int j = 0; j < i; j++) a[i * n + j] = NAN;
    }
    assert_int_equal(dense_cholesky(a, n), n);
    for (int i = 0; i < n; i++) {
      for (int j = 0; j <= i; j++) {
        assert_same_bits(a[i * n + j] + 0.0, l[i * n + j] + 0.0);
        assert_same_bits(a[j * n + i] + 0.0, l[i * n + j] + 0.0);
      }
    }
    dense_cholesky_solve(a, n, b);
    if (n > 5) continue; /* beyond, y outgrows exact integers */
    for (int i = 0; i < n; i++) assert_same_bits(b[i] + 0.0, x[i] + 0.0);
  }
}

static void systems_with_pivoting(void **state) {
  (void)state;
  static double a[MOST * MOST], copy[MOST * MOST];
  double x[MOST], b[MOST];
  int row[MOST];
  for (int n = 1; n <= MOST; n++) {
    for (int i = 0; i < n; i++) {
      x[i] = 1.0 + small_at(i, 7) / 4.0;
      for (int j = 0; j < n; j++) a[i * n + j] = i == j ? 0.0 : small_at(i, j); /* zeros to avoid */
    }
    if (n == 1) a[0] = -3.0;
    memcpy(copy, a, sizeof a);
    times(a, n, x, b);
    assert_int_equal(dense_lu(a, n, row), n);
    for (int i = 0; i < n; i++) {
      assert_in_range(row[i], i, n - 1);
      for (int j = 0; j < i; j++) assert_true(fabs(a[i * n + j]) <= 1.0);
    }
    dense_lu_solve(a, n, row, b);
    for (int i = 0; i < n; i++) assert_true(fabs(b[i] - x[i]) < 1e-10);
  }
  /* a permutation times powers of two: exact */
  double p[9] = {0.0, 4.0, 0.0, 0.0, 0.0, -2.0, 0.5, 0.0, 0.0}, c[3] = {12.0, 6.0, 1.0};
  assert_int_equal(dense_lu(p, 3, row), 3);
  assert_int_equal(row[0], 2);
  dense_lu_solve(p, 3, row, c);
  assert_same_bits(c[0], 2.0);
  assert_same_bits(c[1], 3.0);
  assert_same_bits(c[2], -3.0);
}

/* H_ij = 1 / (i + j + 1): det H_6 = 1 / 186313420339200000, sum of the inverse's entries is n^2. */
static void hilbert(void **state) {
  (void)state;
  enum { N = 6 };
  double a[N * N], u[N * N], b[N], c[N], determinant = 1.0, other = 1.0, sum = 0.0, sum_lu = 0.0;
  int row[N];
  for (int i = 0; i < N * N; i++) u[i] = a[i] = 1.0 / (i / N + i % N + 1);
  assert_int_equal(dense_cholesky(a, N), N);
  assert_int_equal(dense_lu(u, N, row), N);
  for (int i = 0; i < N; i++) {
    determinant *= a[i * N + i] * a[i * N + i];
    other *= row[i] == i ? u[i * N + i] : -u[i * N + i];
    b[i] = c[i] = 1.0;
  }
  assert_true(fabs(determinant * 186313420339200000.0 - 1.0) < 1e-8);
  assert_true(fabs(other * 186313420339200000.0 - 1.0) < 1e-8);
  dense_cholesky_solve(a, N, b);
  dense_lu_solve(u, N, row, c);
  for (int i = 0; i < N; i++) {
    sum += b[i];
    sum_lu += c[i];
  }
  assert_true(fabs(sum - N * N) < 1e-7);
  assert_true(fabs(sum_lu - N * N) < 1e-7);
}

static void what_cannot_be_factored(void **state) {
  (void)state;
  int row[3];
  double singular[9] = {4.0, 2.0, 2.0, 2.0, 1.0, 1.0, 2.0, 1.0, 5.0};
  assert_int_equal(dense_cholesky(singular, 3), 1);
  double indefinite[9] = {1.0, 0.0, 3.0, 0.0, 1.0, 0.0, 3.0, 0.0, 1.0};
  assert_int_equal(dense_cholesky(indefinite, 3), 2);
  double negative[1] = {-1.0}, nothing[1] = {NAN}, endless[1] = {INFINITY};
  assert_int_equal(dense_cholesky(negative, 1), 0);
  assert_int_equal(dense_cholesky(nothing, 1), 0);
  assert_int_equal(dense_cholesky(endless, 1), 0);
  double twice[9] = {1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 0.0, 1.0};
  assert_int_equal(dense_lu(twice, 3, row), 2);
  double spoilt[4] = {1.0, 2.0, NAN, 1.0}, zero[1] = {0.0};
  assert_int_equal(dense_lu(spoilt, 2, row), 0);
  assert_int_equal(dense_lu(zero, 1, row), 0);
}

/* Each entry of a factor is one chain, as in the textbook's row form. */
static void the_order_of_operations(void **state) {
  (void)state;
  enum { N = 23 };
  double a[N * N], l[N * N], b[N], y[N];
  for (int i = 0; i < N; i++) {
    b[i] = y[i] = 1.0 / (3.0 + i);
    for (int j = 0; j < N; j++) {
      const double far = i > j ? i - j : j - i;
      a[i * N + j] = i == j ? 3.0 + 1.0 / (1.0 + i) : -1.0 / (1.0 + far * far);
    }
  }
  memcpy(l, a, sizeof l);
  for (int i = 0; i < N; i++) {
    for (int k = 0; k <= i; k++) {
      double sum = l[i * N + k];
      for (int j = 0; j < k; j++) sum = fma(-l[i * N + j], l[k * N + j], sum);
      l[i * N + k] = k < i ? sum / l[k * N + k] : sqrt(sum);
    }
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) y[i] = fma(-l[i * N + j], y[j], y[i]);
    y[i] /= l[i * N + i];
  }
  for (int i = N - 1; i >= 0; i--) {
    for (int j = N - 1; j > i; j--) y[i] = fma(-l[j * N + i], y[j], y[i]);
    y[i] /= l[i * N + i];
  }
  assert_int_equal(dense_cholesky(a, N), N);
  dense_cholesky_solve(a, N, b);
  for (int i = 0; i < N; i++) {
    assert_same_bits(b[i], y[i]);
    for (int j = 0; j <= i; j++) assert_same_bits(a[i * N + j], l[i * N + j]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_symmetric_systems),
      cmocka_unit_test(systems_with_pivoting),
      cmocka_unit_test(hilbert),
      cmocka_unit_test(what_cannot_be_factored),
      cmocka_unit_test(the_order_of_operations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
