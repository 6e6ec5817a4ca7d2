/* Normals from Philox words: against Box and Muller's formula in long double, exact symmetry, and
 * the distribution of a million of them. */
#include "gaussian.h"

#include <stdlib.h>

#include "elementary_erf.h"
#include "test.h"

enum { SAMPLES = 1000000 };

static double sample[SAMPLES];

static int fill(void **state) {
  (void)state;
  for (uint64_t i = 0; i < SAMPLES; i += 2) {
    gaussian_pair(philox_at(20, i % 1000, 3, i / 1000, 0), &sample[i], &sample[i + 1]);
  }
  return 0;
}

/* Box and Muller's formula in long double. Turns of the angle by quarters are changes of roles and
 * signs by hand: the sine of an angle near pi would cancel. */
static void slow_pair(philox_words w, long double *x, long double *y) {
  const long double pi = 3.14159265358979323846264338327950288L;
  const long double u = ((long double)(philox_bits(w, 0) >> 12) + 0.5L) / 0x1p52L;
  const long double v = ((long double)(philox_bits(w, 1) >> 12) + 0.5L) / 0x1p52L;
  const long double a = 0.5L * pi * (v - 0.5L);
  const long double radius = sqrtl(-2.0L * logl(u)) * ((w.word[2] & 2) != 0 ? -1.0L : 1.0L);
  *x = radius * ((w.word[2] & 1) != 0 ? sinl(a) : cosl(a));
  *y = radius * ((w.word[2] & 1) != 0 ? cosl(a) : sinl(a));
}

static void near(double z, long double exact, philox_words w) {
  const double error = (double)(fabsl((long double)z - exact) / fabsl(exact)) * 0x1p53;
  if (!(error <= 4.0)) {
    fail_msg("%08x %08x %08x %08x: %.17g, should be %.17Lg", w.word[0], w.word[1], w.word[2],
             w.word[3], z, exact);
  }
}

static void compare(philox_words w) {
  double x, y;
  long double slow_x, slow_y;
  gaussian_pair(w, &x, &y);
  slow_pair(w, &slow_x, &slow_y);
  near(x, slow_x, w);
  near(y, slow_y, w);
}

static void formula(void **state) {
  (void)state;
  const uint32_t edges[] = {0u, 1u, 2u, 3u, 0xfffu, 0x1000u, 0x7fffffffu, 0x80000000u, ~0u};
  enum { EDGES = sizeof edges / sizeof *edges };
  for (int i = 0; i < EDGES * EDGES; i++) {
    for (uint32_t turn = 0; turn < 4; turn++) {
      const uint32_t a = edges[i % EDGES], b = edges[i / EDGES];
      compare((philox_words){{a, b, (0x12345670u & ~3u) | turn, 0x9abcdef0u}});
      compare((philox_words){{0x12345670u, 0x9abcdef0u, (a & ~3u) | turn, b}});
    }
  }
  for (uint64_t i = 0; i < 100000; i++) compare(philox_at(7, i, 0, 0, 0));
}

/* The largest and smallest radius: u = 2^-53 and 1 - 2^-53. */
static void ends(void **state) {
  (void)state;
  const philox_words tail = {{0, 0, 0, 0x80000000u}}, core = {{~0u, ~0u, 0, 0x80000000u}};
  double x, y;
  gaussian_pair(tail, &x, &y);
  assert_true(x > 8.5716 && x < 8.5717 && fabs(y) < 1e-14);
  gaussian_pair(core, &x, &y);
  assert_true(x > 1.4901e-8 && x < 1.4902e-8 && y != 0.0);
}

/* The set of values is symmetric, exactly: signs, exchange, mirrored angle. */
static void symmetric(void **state) {
  (void)state;
  for (uint64_t i = 0; i < 10000; i++) {
    const philox_words w = philox_at(9, i, 0, 0, 0);
    double x, y, u, v;
    gaussian_pair(w, &x, &y);
    gaussian_pair(gaussian_opposite(w, 1), &u, &v);
    assert_same_bits(u, -x);
    assert_same_bits(v, -y);
    gaussian_pair(gaussian_opposite(w, 0), &u, &v);
    assert_same_bits(u, x);
    philox_words other = w;
    other.word[2] ^= 1;
    gaussian_pair(other, &u, &v);
    assert_same_bits(u, y);
    assert_same_bits(v, x);
    other = w;
    other.word[2] ^= 0xfffff000u;
    other.word[3] ^= 0xffffffffu;
    gaussian_pair(other, &u, &v);
    assert_same_bits((w.word[2] & 1) != 0 ? v : u, (w.word[2] & 1) != 0 ? y : x);
    assert_same_bits((w.word[2] & 1) != 0 ? u : v, (w.word[2] & 1) != 0 ? -x : -y);
  }
}

static void within(const char *what, double found, double expected, double allowed) {
  if (!(fabs(found - expected) <= allowed)) {
    fail_msg("%s is %.6g, should be %.6g +- %.2g", what, found, expected, allowed);
  }
}

/* Mean, variance, skewness, kurtosis and the correlation of pairs within five standard errors. */
static void moments(void **state) {
  (void)state;
  double sum[4] = {0.0}, product = 0.0, squares = 0.0;
  for (int i = 0; i < SAMPLES; i++) {
    double power = 1.0;
    for (int k = 0; k < 4; k++) sum[k] += power *= sample[i];
  }
  for (int i = 0; i < SAMPLES; i += 2) {
    product += sample[i] * sample[i + 1];
    squares += sample[i] * sample[i] * sample[i + 1] * sample[i + 1];
  }
  const double n = SAMPLES, mean = sum[0] / n, variance = sum[1] / n - mean * mean;
  within("mean", mean, 0.0, 5.0 / sqrt(n));
  within("variance", variance, 1.0, 5.0 * sqrt(2.0 / n));
  within("skewness", sum[2] / n - 3.0 * mean * variance, 0.0, 5.0 * sqrt(6.0 / n));
  within("kurtosis", sum[3] / n, 3.0, 5.0 * sqrt(96.0 / n));
  within("correlation of a pair", 2.0 * product / n, 0.0, 5.0 * sqrt(2.0 / n));
  within("correlation of squares", 2.0 * squares / n, 1.0, 5.0 * sqrt(2.0 * 8.0 / n));
}

static double normal_cdf(double x) { return 0.5 * (1.0 + elementary_erf(x * 0.70710678118654752)); }

/* How many lie beyond 1, 2, 3 and 4 on either side; five standard errors of the count. */
static void tails(void **state) {
  (void)state;
  for (int limit = 1; limit <= 4; limit++) {
    int above = 0, below = 0;
    for (int i = 0; i < SAMPLES; i++) {
      above += sample[i] > limit;
      below += sample[i] < -limit;
    }
    const double expected = SAMPLES * normal_cdf(-limit);
    within("numbers above", above, expected, 5.0 * sqrt(expected));
    within("numbers below", below, expected, 5.0 * sqrt(expected));
  }
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: sqrt(n) times the largest distance exceeds 2.2 once in 8000 times. Of the
 * first and second numbers separately. */
static void distribution(void **state) {
  (void)state;
  enum { COUNT = 100000 };
  static double sorted[COUNT];
  for (int which = 0; which < 2; which++) {
    double distance = 0.0;
    for (int i = 0; i < COUNT; i++) sorted[i] = sample[2 * i + which];
    qsort(sorted, COUNT, sizeof *sorted, ascending);
    for (int i = 0; i < COUNT; i++) {
      const double at = normal_cdf(sorted[i]);
      distance = fmax(distance, fmax((i + 1.0) / COUNT - at, at - (double)i / COUNT));
    }
    within("Kolmogorov's distance", sqrt(COUNT) * distance, 0.0, 2.2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(formula),   cmocka_unit_test(ends),
                                     cmocka_unit_test(symmetric), cmocka_unit_test(moments),
                                     cmocka_unit_test(tails),     cmocka_unit_test(distribution)};
  return cmocka_run_group_tests(tests, fill, NULL);
}
