/* The rules for regions: degrees of exactness, weights, the order of sums, places near the ends. */
#include "quad_regions.h"
#include "test.h"

#include <string.h>

static quad_frame frame_of(int dims, quad_region_rule rule) {
  quad_frame f;
  memset(&f, 0, sizeof f);
  f.dims = dims;
  f.rule = (int32_t)rule;
  for (int d = 0; d < dims; d++) f.axis[d].upper = 1.0;
  return f;
}

static double power(double x, int n) {
  double y = 1.0;
  for (int i = 0; i < n; i++) y *= x;
  return y;
}

/* Integral of x^n over [low, high]. */
static double moment(double low, double high, int n) {
  return (power(high, n + 1) - power(low, n + 1)) / (n + 1);
}

static void kronrod_is_exact_to_its_degree(void **state) {
  (void)state;
  const quad_frame f = frame_of(1, QUAD_KRONROD);
  const double edge[2] = {0.1, 1.0};
  for (int n = 0; n <= 30; n++) {
    double g[QUAD_KRONROD_POINTS], kronrod = 0.0, gauss = 0.0, x;
    quad_estimate e;
    for (int k = 0; k < QUAD_KRONROD_POINTS; k++) {
      double w, w7;
      assert_same_bits(quad_region_point(&f, edge, k, &x), 1.0);
      quad_kronrod(k, &w, &w7);
      /* Legendre-like growth: (2 x - 1.1) / 0.9 is the node itself */
      g[k] = power((2.0 * x - 1.1) / 0.9, n);
      kronrod += 0.45 * w * g[k];
      gauss += 0.45 * w7 * g[k];
    }
    const double exact = 0.45 * moment(-1.0, 1.0, n);
    quad_region_estimate(&f, edge, g, &e);
    assert_true(fabs(kronrod - e.value) <= 1e-15);
    if (n <= 23) assert_true(fabs(e.value - exact) <= 1e-15);
    if (n == 24) assert_true(fabs(e.value - exact) > 1e-10);
    if (n <= 13) assert_true(fabs(gauss - exact) <= 1e-15);
    if (n == 14) assert_true(fabs(gauss - exact) > 1e-6);
    assert_true(fabs(e.value - exact) <= e.error);
    if (n <= 13) assert_int_equal(e.axis, QUAD_WHOLE);
  }
}

/* The rule's value of a monomial x_i^a x_j^b x_k^c over [-1/2, 1/2]^dims shifted by 1/2 */
static void malik_value(const quad_frame *f, const int *exponent, double *seven, double *five) {
  double g[QUAD_MALIK_POINTS], x[QUAD_DIMS], edge[2 * QUAD_DIMS];
  for (int d = 0; d < f->dims; d++) {
    edge[2 * d] = 0.0;
    edge[2 * d + 1] = 1.0;
  }
  quad_estimate e;
  *five = 0.0;
  for (int group = 0; group < 5; group++) {
    for (int k = quad_malik_first(f->dims, group); k < quad_malik_first(f->dims, group + 1); k++) {
      double w5;
      quad_malik_weight(f->dims, group, &w5);
      assert_same_bits(quad_region_point(f, edge, k, x), 1.0);
      g[k] = 1.0;
      for (int d = 0; d < f->dims; d++) g[k] *= power(2.0 * x[d] - 1.0, exponent[d]);
      *five += w5 * g[k];
    }
  }
  quad_region_estimate(f, edge, g, &e);
  *seven = e.value;
  assert_true(e.error >= fabs(*seven - *five) * (1.0 - 1e-9) - 1e-15);
}

static double malik_exact(const quad_frame *f, const int *exponent) {
  double exact = 1.0;
  for (int d = 0; d < f->dims; d++) exact *= 0.5 * moment(-1.0, 1.0, exponent[d]);
  return exact;
}

static void malik_is_exact_to_degree_7_and_5(void **state) {
  (void)state;
  for (int dims = 2; dims <= QUAD_DIMS; dims++) {
    const quad_frame f = frame_of(dims, QUAD_MALIK);
    double worst8 = 0.0, worst6 = 0.0;
    assert_int_equal(quad_region_points(&f), quad_malik_first(dims, 5));
    /* up to three directions with an exponent: all monomials of degree 8 or less look like that,
     * or have an odd exponent, or are products of four squares */
    for (int a = 0; a <= 8; a++) {
      for (int b = 0; a + b <= 8; b++) {
        for (int c = 0; a + b + c <= 8 && (c == 0 || dims > 2); c++) {
          int exponent[QUAD_DIMS] = {0};
          double seven, five;
          exponent[0] = a;
          exponent[dims - 1] = b;
          if (dims > 2) exponent[dims / 2] = c;
          malik_value(&f, exponent, &seven, &five);
          const double off7 = fabs(seven - malik_exact(&f, exponent));
          const double off5 = fabs(five - malik_exact(&f, exponent));
          if (a + b + c <= 7) assert_true(off7 <= 4e-13);
          if (a + b + c <= 5) assert_true(off5 <= 4e-13);
          if (a + b + c == 8) worst8 = fmax(worst8, off7);
          if (a + b + c == 6) worst6 = fmax(worst6, off5);
        }
      }
    }
    assert_true(worst8 > 1e-3);
    assert_true(worst6 > 1e-3);
  }
}

static void malik_halves_where_the_fourth_difference_is(void **state) {
  (void)state;
  for (int dims = 2; dims <= QUAD_DIMS; dims++) {
    const quad_frame f = frame_of(dims, QUAD_MALIK);
    double g[QUAD_MALIK_POINTS], x[QUAD_DIMS], edge[2 * QUAD_DIMS];
    quad_estimate e;
    for (int axis = 0; axis < dims; axis++) {
      for (int d = 0; d < dims; d++) {
        edge[2 * d] = 0.25;
        edge[2 * d + 1] = d == 1 ? 0.5 : 0.375;
      }
      for (int k = 0; k < quad_region_points(&f); k++) {
        quad_region_point(&f, edge, k, x);
        g[k] = exp(3.0 * x[axis]) + x[0] * x[0] + x[dims - 1];
      }
      quad_region_estimate(&f, edge, g, &e);
      assert_int_equal(e.axis, axis);
    }
    for (int k = 0; k < quad_region_points(&f); k++) g[k] = 0.0;
    quad_region_estimate(&f, edge, g, &e);
    assert_int_equal(e.axis, QUAD_WHOLE);
    assert_int_equal(quad_region_longest(&f, edge), 1);
    /* equal differences: the lower one */
    for (int k = 0; k < quad_region_points(&f); k++) {
      g[k] = 0.0;
      for (int d = 0; d < dims; d++) {
        const int code = quad_malik_code(dims, k, d);
        g[k] += code == 1 || code == 2 ? 1.0 : 0.0;
      }
    }
    quad_region_estimate(&f, edge, g, &e);
    assert_int_equal(e.axis, 0);
  }
}

/* Points of a cut in two are not the same number from both ends, but next to an end they keep all
 * their digits. */
static void places_keep_their_digits_next_to_the_ends(void **state) {
  (void)state;
  quad_axis a = {.range = QUAD_UPWARD, .upper = 1.0, .anchor = 3.0};
  double x;
  assert_same_bits(quad_place(&a, 1, -0x1p-100, &x), 0x1p200);
  assert_same_bits(x, 0x1p100);
  assert_same_bits(quad_place(&a, 0, 0.5, &x), 4.0);
  assert_same_bits(x, 4.0);
  assert_same_bits(quad_place(&a, 1, -0.0, &x), 0.0); /* infinity: does not count */
  assert_true(isfinite(x));
  a = (quad_axis){.range = QUAD_LINE, .lower = -1.0, .upper = 1.0};
  quad_place(&a, 0, 0x1p-80, &x);
  assert_same_bits(x, -0x1p79);
  a = (quad_axis){.range = QUAD_FINITE, .lower = -1.0, .upper = 0.0};
  assert_same_bits(quad_place(&a, 1, -0x1p-1070, &x), 1.0);
  assert_same_bits(x, -0x1p-1070);
}

static void narrow_regions_are_not_halved(void **state) {
  (void)state;
  quad_frame f = frame_of(1, QUAD_KRONROD);
  const double at_zero[2] = {0.0, 0x1p-900}, at_one[2] = {-0x1p-43, 0.0};
  const double wide[2] = {-0x1p-40, 0.0}, inside[2] = {0.25, 0.25 + 0x1p-46};
  assert_int_equal(quad_region_halves(&f, at_zero, 0), 1);
  assert_int_equal(quad_region_halves(&f, at_one, 0), 0);
  assert_int_equal(quad_region_halves(&f, wide, 0), 1);
  assert_int_equal(quad_region_halves(&f, inside, 0), 0);
  f.axis[0].range = QUAD_UPWARD;
  assert_int_equal(quad_region_halves(&f, at_one, 0), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kronrod_is_exact_to_its_degree),
      cmocka_unit_test(malik_is_exact_to_degree_7_and_5),
      cmocka_unit_test(malik_halves_where_the_fourth_difference_is),
      cmocka_unit_test(places_keep_their_digits_next_to_the_ends),
      cmocka_unit_test(narrow_regions_are_not_halved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
