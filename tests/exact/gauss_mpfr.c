/* Nodes and weights of Gauss-Legendre against MPFR (case 127): every node as its distance from the
 * nearer end, every weight, their sum and symmetry, for n up to 10000. */
#include <math.h>
#include <stdio.h>

#include <mpfr.h>

#include "alloc.h"
#include "quad_run.h"
#include "test.h"

enum { PRECISION = 200 };

/* P_n and P_{n-1} at x. */
static void legendre(mpfr_t p, mpfr_t before, const mpfr_t x, long n) {
  mpfr_t next, t;
  mpfr_inits2(PRECISION, next, t, (mpfr_ptr)NULL);
  mpfr_set_ui(before, 1, MPFR_RNDN);
  mpfr_set(p, x, MPFR_RNDN);
  for (long k = 1; k < n; k++) {
    mpfr_mul(t, x, p, MPFR_RNDN);
    mpfr_mul_ui(t, t, (unsigned long)(2 * k + 1), MPFR_RNDN);
    mpfr_mul_ui(next, before, (unsigned long)k, MPFR_RNDN);
    mpfr_sub(next, t, next, MPFR_RNDN);
    mpfr_div_ui(next, next, (unsigned long)(k + 1), MPFR_RNDN);
    mpfr_set(before, p, MPFR_RNDN);
    mpfr_set(p, next, MPFR_RNDN);
  }
  mpfr_clears(next, t, (mpfr_ptr)NULL);
}

/* The node near the distance `guess` from the lower end, as that distance, and half its weight. */
static void exact_node(long n, double guess, double *distance, double *weight) {
  mpfr_t x, p, before, square, step, d;
  mpfr_inits2(PRECISION, x, p, before, square, step, d, (mpfr_ptr)NULL);
  mpfr_set_d(d, guess, MPFR_RNDN);
  for (int i = 0; i < 4; i++) {
    mpfr_mul_ui(x, d, 2, MPFR_RNDN);
    mpfr_ui_sub(x, 1, x, MPFR_RNDN); /* counted from the upper end: the same by symmetry */
    legendre(p, before, x, n);
    mpfr_sqr(square, x, MPFR_RNDN);
    mpfr_ui_sub(square, 1, square, MPFR_RNDN);
    if (i == 3) break;
    mpfr_mul(step, x, p, MPFR_RNDN);
    mpfr_sub(step, before, step, MPFR_RNDN);
    mpfr_mul_ui(step, step, (unsigned long)n, MPFR_RNDN);
    mpfr_div(step, square, step, MPFR_RNDN);
    mpfr_mul(step, step, p, MPFR_RNDN);
    mpfr_div_ui(step, step, 2, MPFR_RNDN);
    mpfr_add(d, d, step, MPFR_RNDN);
  }
  mpfr_mul_ui(before, before, (unsigned long)n, MPFR_RNDN);
  mpfr_sqr(before, before, MPFR_RNDN);
  mpfr_div(square, square, before, MPFR_RNDN);
  *distance = mpfr_get_d(d, MPFR_RNDN);
  *weight = mpfr_get_d(square, MPFR_RNDN);
  mpfr_clears(x, p, before, square, step, d, (mpfr_ptr)NULL);
}

static void check(int64_t n, int64_t stride) {
  double *node, *weight, *coarse, sum = 0.0, coarse_sum = 0.0;
  assert_ok(alloc_array(&node, n, sizeof *node, "nodes"));
  assert_ok(alloc_array(&weight, n, sizeof *weight, "weights"));
  assert_ok(alloc_array(&coarse, n, sizeof *coarse, "weights"));
  assert_ok(quad_rule_find("gauss-legendre")->table(n, 1, 0, node, weight, coarse));
  for (int64_t k = 0; k < (n + 1) / 2; k++) {
    assert_same_bits(weight[k], weight[n - 1 - k]);
    if (2 * k + 1 != n) assert_same_bits(node[k], -node[n - 1 - k]);
    if (k > 0) assert_true(node[k] > node[k - 1]);
    if (k % stride != 0 && k != 1 && 2 * k + 1 != n) continue;
    double distance, exact;
    exact_node((long)n, node[k], &distance, &exact);
    assert_same_bits(node[k], distance);
    assert_same_bits(weight[k], exact);
  }
  for (int64_t k = 0; k < n; k++) sum += weight[k], coarse_sum += coarse[k];
  assert_true(fabs(sum - 1.0) < 1e-13);
  if (n > 1) assert_true(fabs(coarse_sum - 1.0) < 1e-12);
  alloc_free(&node);
  alloc_free(&weight);
  alloc_free(&coarse);
}

static void small(void **state) {
  (void)state;
  for (int64_t n = 1; n <= 70; n++) check(n, 1);
}

static void large(void **state) {
  (void)state;
  check(500, 17);
  check(1080, 41);
  check(2000, 150);
  check(10000, 2500);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small), cmocka_unit_test(large)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
