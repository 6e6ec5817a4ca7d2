/* Special values of the elementary functions (C11 annex F) and a few exact ones; errors are
 * measured against MPFR in tests/exact. */
#include "elementary.h"
#include "elementary_array.h"
#include "test.h"

#include "philox.h"

static const double INFINITE = 1.0 / 0.0, UNDEFINED = 0.0 / 0.0, HALF_PI = 0x1.921fb54442d18p0;

static void assert_nan(double x) { assert_true(x != x); }

static void exp_special(void **state) {
  (void)state;
  assert_same_bits(elementary_exp(0.0), 1.0);
  assert_same_bits(elementary_exp(-0.0), 1.0);
  assert_same_bits(elementary_exp(INFINITE), INFINITE);
  assert_same_bits(elementary_exp(-INFINITE), 0.0);
  assert_same_bits(elementary_exp(709.79), INFINITE);
  assert_same_bits(elementary_exp(1e300), INFINITE);
  assert_same_bits(elementary_exp(-745.14), 0.0);
  assert_same_bits(elementary_exp(-745.13), 0x1p-1074);
  assert_same_bits(elementary_exp(-1e300), 0.0);
  assert_same_bits(elementary_exp(1.0), 0x1.5bf0a8b145769p+1);
  assert_nan(elementary_exp(UNDEFINED));
}

static void log_special(void **state) {
  (void)state;
  assert_same_bits(elementary_log(1.0), 0.0);
  assert_same_bits(elementary_log(0.0), -INFINITE);
  assert_same_bits(elementary_log(-0.0), -INFINITE);
  assert_same_bits(elementary_log(INFINITE), INFINITE);
  assert_nan(elementary_log(-1.0));
  assert_nan(elementary_log(-0x1p-1074));
  assert_nan(elementary_log(-INFINITE));
  assert_nan(elementary_log(UNDEFINED));
  assert_same_bits(elementary_log(2.0), 0x1.62e42fefa39efp-1);
}

static void log10_special(void **state) {
  (void)state;
  double power = 1.0;
  for (int n = 0; n <= 22; n++, power *= 10.0) assert_same_bits(elementary_log10(power), n);
  assert_same_bits(elementary_log10(0.0), -INFINITE);
  assert_same_bits(elementary_log10(INFINITE), INFINITE);
  assert_nan(elementary_log10(-1.0));
  assert_nan(elementary_log10(UNDEFINED));
}

/* Special values of pow are compared with MPFR in tests/exact. */
static void power_operator(void **state) {
  (void)state;
  const double x = 1.1;
  assert_same_bits(elementary_power(x, 0.0), 1.0);
  assert_same_bits(elementary_power(UNDEFINED, 0.0), 1.0);
  assert_same_bits(elementary_power(x, 2.0), x * x);
  assert_same_bits(elementary_power(x, 3.0), x * x * x);
  assert_same_bits(elementary_power(x, 5.0), (x * x) * (x * x) * x);
  assert_same_bits(elementary_power(x, 6.0), (x * x * x) * (x * x * x));
  assert_same_bits(elementary_power(x, -3.0), 1.0 / (x * x * x));
  assert_same_bits(elementary_power(x, 17.0), elementary_pow(x, 17.0));
  assert_same_bits(elementary_power(x, 0.5), elementary_pow(x, 0.5));
  assert_same_bits(elementary_power(-0.0, -1.0), -INFINITE);
  assert_nan(elementary_power(-1.0, 0.5));
  assert_nan(elementary_power(2.0, UNDEFINED));
  assert_same_bits(elementary_pow(4.0, 0.5), 2.0);
}

static void basic_special(void **state) {
  (void)state;
  assert_same_bits(elementary_min(1.0, 2.0), 1.0);
  assert_same_bits(elementary_max(1.0, 2.0), 2.0);
  assert_nan(elementary_min(UNDEFINED, 1.0));
  assert_nan(elementary_min(1.0, UNDEFINED));
  assert_nan(elementary_max(UNDEFINED, 1.0));
  assert_nan(elementary_max(1.0, UNDEFINED));
  assert_same_bits(elementary_sign(-3.0), -1.0);
  assert_same_bits(elementary_sign(-0.0), -0.0);
  assert_same_bits(elementary_step(-0.0), 1.0);
  assert_same_bits(elementary_step(-1e-300), 0.0);
  assert_nan(elementary_step(UNDEFINED));
}

static void sin_cos_special(void **state) {
  (void)state;
  assert_same_bits(elementary_sin(0.0), 0.0);
  assert_same_bits(elementary_sin(-0.0), -0.0);
  assert_same_bits(elementary_sin(-0x1p-1074), -0x1p-1074);
  assert_same_bits(elementary_cos(0.0), 1.0);
  assert_same_bits(elementary_cos(-0x1p-1074), 1.0);
  const double outside[] = {INFINITE, -INFINITE, UNDEFINED};
  for (int i = 0; i < 3; i++) {
    assert_nan(elementary_sin(outside[i]));
    assert_nan(elementary_cos(outside[i]));
  }
  /* sin(10^22), a known trap of range reduction (Ng, 1992) */
  assert_same_bits(elementary_sin(1e22), -0x1.b453ab76bf397p-1);
}

static void tan_special(void **state) {
  (void)state;
  assert_same_bits(elementary_tan(0.0), 0.0);
  assert_same_bits(elementary_tan(-0.0), -0.0);
  assert_same_bits(elementary_tan(-0x1p-1074), -0x1p-1074);
  assert_nan(elementary_tan(INFINITE));
  assert_nan(elementary_tan(-INFINITE));
  assert_nan(elementary_tan(UNDEFINED));
  assert_same_bits(elementary_tan(0x1.921fb54442d18p-1), 0x1.fffffffffffffp-1); /* nearly pi/4 */
  assert_same_bits(elementary_tan(0x1.921fb54442d18p0), 0x1.d02967c31cdb5p53);  /* nearly pi/2 */
}

static void asin_acos_special(void **state) {
  (void)state;
  assert_same_bits(elementary_asin(0.0), 0.0);
  assert_same_bits(elementary_asin(-0.0), -0.0);
  assert_same_bits(elementary_asin(0x1p-1074), 0x1p-1074);
  assert_same_bits(elementary_asin(1.0), HALF_PI);
  assert_same_bits(elementary_asin(-1.0), -HALF_PI);
  assert_same_bits(elementary_acos(1.0), 0.0);
  assert_same_bits(elementary_acos(-1.0), 2.0 * HALF_PI);
  assert_same_bits(elementary_acos(0.0), HALF_PI);
  assert_same_bits(elementary_acos(-0.0), HALF_PI);
  assert_same_bits(elementary_acos(0.5), 0x1.0c152382d7366p0); /* pi/3 */
  const double outside[] = {1.0 + 0x1p-52, -1.0 - 0x1p-52, 1e300, INFINITE, -INFINITE, UNDEFINED};
  for (int i = 0; i < 6; i++) {
    assert_nan(elementary_asin(outside[i]));
    assert_nan(elementary_acos(outside[i]));
  }
}

static void atan_special(void **state) {
  (void)state;
  assert_same_bits(elementary_atan(0.0), 0.0);
  assert_same_bits(elementary_atan(-0.0), -0.0);
  assert_same_bits(elementary_atan(-0x1p-1074), -0x1p-1074);
  assert_same_bits(elementary_atan(1.0), 0.5 * HALF_PI);
  assert_same_bits(elementary_atan(INFINITE), HALF_PI);
  assert_same_bits(elementary_atan(-INFINITE), -HALF_PI);
  assert_same_bits(elementary_atan(1e300), HALF_PI);
  assert_nan(elementary_atan(UNDEFINED));
}

/* C11 F.10.1.4. */
static void atan2_special(void **state) {
  (void)state;
  const double pi = 2.0 * HALF_PI, x[] = {1.0, 0x1p-1074, 1e308};
  for (int i = 0; i < 3; i++) {
    assert_same_bits(elementary_atan2(0.0, x[i]), 0.0);
    assert_same_bits(elementary_atan2(-0.0, x[i]), -0.0);
    assert_same_bits(elementary_atan2(0.0, -x[i]), pi);
    assert_same_bits(elementary_atan2(-0.0, -x[i]), -pi);
    assert_same_bits(elementary_atan2(x[i], 0.0), HALF_PI);
    assert_same_bits(elementary_atan2(-x[i], -0.0), -HALF_PI);
    assert_same_bits(elementary_atan2(x[i], INFINITE), 0.0);
    assert_same_bits(elementary_atan2(-x[i], INFINITE), -0.0);
    assert_same_bits(elementary_atan2(x[i], -INFINITE), pi);
    assert_same_bits(elementary_atan2(-x[i], -INFINITE), -pi);
    assert_same_bits(elementary_atan2(INFINITE, -x[i]), HALF_PI);
    assert_same_bits(elementary_atan2(-INFINITE, x[i]), -HALF_PI);
    assert_same_bits(elementary_atan2(x[i], x[i]), 0.5 * HALF_PI);
    assert_same_bits(elementary_atan2(x[i], -x[i]), 1.5 * HALF_PI);
    assert_nan(elementary_atan2(UNDEFINED, x[i]));
    assert_nan(elementary_atan2(x[i], UNDEFINED));
  }
  assert_same_bits(elementary_atan2(0.0, 0.0), 0.0);
  assert_same_bits(elementary_atan2(-0.0, 0.0), -0.0);
  assert_same_bits(elementary_atan2(0.0, -0.0), pi);
  assert_same_bits(elementary_atan2(-0.0, -0.0), -pi);
  assert_same_bits(elementary_atan2(INFINITE, INFINITE), 0.5 * HALF_PI);
  assert_same_bits(elementary_atan2(-INFINITE, INFINITE), -0.5 * HALF_PI);
  assert_same_bits(elementary_atan2(INFINITE, -INFINITE), 1.5 * HALF_PI);
  assert_same_bits(elementary_atan2(-INFINITE, -INFINITE), -1.5 * HALF_PI);
  assert_nan(elementary_atan2(UNDEFINED, 0.0));
  assert_nan(elementary_atan2(INFINITE, UNDEFINED));
  assert_same_bits(elementary_atan2(3e-320, 2.0), 1.5e-320);
}

static void hyperbolic_special(void **state) {
  (void)state;
  assert_same_bits(elementary_sinh(0.0), 0.0);
  assert_same_bits(elementary_sinh(-0.0), -0.0);
  assert_same_bits(elementary_sinh(-0x1p-1074), -0x1p-1074);
  assert_same_bits(elementary_sinh(-INFINITE), -INFINITE);
  assert_same_bits(elementary_sinh(711.0), INFINITE);
  assert_true(elementary_sinh(710.0) < INFINITE); /* exp(710) is infinite */
  assert_same_bits(elementary_cosh(-0.0), 1.0);
  assert_same_bits(elementary_cosh(0x1p-1074), 1.0);
  assert_same_bits(elementary_cosh(-INFINITE), INFINITE);
  assert_same_bits(elementary_cosh(-1e300), INFINITE);
  assert_true(elementary_cosh(-710.0) < INFINITE);
  assert_same_bits(elementary_tanh(-0.0), -0.0);
  assert_same_bits(elementary_tanh(0x1p-1074), 0x1p-1074);
  assert_same_bits(elementary_tanh(20.0), 1.0);
  assert_same_bits(elementary_tanh(-INFINITE), -1.0);
  assert_nan(elementary_sinh(UNDEFINED));
  assert_nan(elementary_cosh(UNDEFINED));
  assert_nan(elementary_tanh(UNDEFINED));
}

static void cbrt_special(void **state) {
  (void)state;
  for (int i = -200; i <= 200; i++) assert_true(elementary_cbrt((double)i * i * i) == i);
  assert_same_bits(elementary_cbrt(-0.0), -0.0);
  assert_same_bits(elementary_cbrt(0x1p-1074), 0x1p-358);
  assert_same_bits(elementary_cbrt(-0x1p-1022), -0x1.428a2f98d728bp-341);
  assert_same_bits(elementary_cbrt(0x1p1023), 0x1p341);
  assert_same_bits(elementary_cbrt(INFINITE), INFINITE);
  assert_same_bits(elementary_cbrt(-INFINITE), -INFINITE);
  assert_nan(elementary_cbrt(UNDEFINED));
}

static void erf_special(void **state) {
  (void)state;
  assert_same_bits(elementary_erf(0.0), 0.0);
  assert_same_bits(elementary_erf(-0.0), -0.0);
  assert_same_bits(elementary_erf(-0x1p-1074), -0x1p-1074);
  assert_same_bits(elementary_erf(6.0), 1.0);
  assert_same_bits(elementary_erf(INFINITE), 1.0);
  assert_same_bits(elementary_erf(-INFINITE), -1.0);
  assert_nan(elementary_erf(UNDEFINED));
}

/* f(-x) is -f(x), or f(x), in every bit. */
static void symmetry_is_exact(void **state) {
  (void)state;
  double (*const odd[])(double) = {elementary_sin,  elementary_tan,  elementary_asin,
                                   elementary_atan, elementary_sinh, elementary_tanh,
                                   elementary_cbrt, elementary_erf};
  double (*const even[])(double) = {elementary_cos, elementary_cosh};
  for (uint64_t i = 0; i < 20000; i++) {
    const philox_words w = philox_at(4, i, PHILOX_PROBE, 0, 0);
    const double x = i % 2 == 0 ? double_of(philox_bits(w, 0)) : 8.0 * philox_uniform(w, 0);
    for (int j = 0; j < 8; j++) {
      const double y = odd[j](x);
      if (y == y) assert_same_bits(odd[j](-x), -y);
    }
    for (int j = 0; j < 2; j++) {
      const double y = even[j](x);
      if (y == y) assert_same_bits(even[j](-x), y);
    }
    const double y = elementary_atan2(x, 0.3);
    if (y == y) assert_same_bits(elementary_atan2(-x, 0.3), -y);
  }
}

static void reductions_agree_where_they_meet(void **state) {
  (void)state;
  for (int i = 0; i < 20000; i++) {
    double x = fma(i, 53687.0913, 1.0) * (i % 2 == 0 ? 1.0 : -1.0);
    elementary_angle large = elementary_reduce_large(x), plain = elementary_reduce(x);
    double difference = (large.high - plain.high) + (large.low - plain.low);
    assert_int_equal(large.quadrant & 3, plain.quadrant & 3);
    assert_true(fabs(difference) <= 0x1p-100 * fabs(plain.high));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exp_special),
      cmocka_unit_test(log_special),
      cmocka_unit_test(log10_special),
      cmocka_unit_test(power_operator),
      cmocka_unit_test(basic_special),
      cmocka_unit_test(sin_cos_special),
      cmocka_unit_test(tan_special),
      cmocka_unit_test(asin_acos_special),
      cmocka_unit_test(atan_special),
      cmocka_unit_test(atan2_special),
      cmocka_unit_test(hyperbolic_special),
      cmocka_unit_test(cbrt_special),
      cmocka_unit_test(erf_special),
      cmocka_unit_test(symmetry_is_exact),
      cmocka_unit_test(reductions_agree_where_they_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
