/* Special values of the elementary functions (C11 annex F) and a few exact ones; errors are
 * measured against MPFR in tests/exact. */
#include "elementary.h"
#include "elementary_array.h"
#include "test.h"

static const double INFINITE = 1.0 / 0.0, UNDEFINED = 0.0 / 0.0;

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
      cmocka_unit_test(reductions_agree_where_they_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
