/* The elementary functions against MPFR: dense and random samples over all exponents and both
 * signs, the arguments where reduction is hardest, special values; and the array forms against the
 * scalar ones, bit for bit. The error is |y - exact| / ulp, ulp the spacing of doubles at the exact
 * value (2^-1074 among subnormals). The largest found is printed. */
#include "elementary.h"
#include "elementary_array.h"
#include "test.h"

#include <mpfr.h>
#include <stdio.h>
#include <string.h>

#include "philox.h"

enum { PRECISION = 160 };

typedef struct function {
  const char *name;
  double (*scalar)(double);
  void (*array)(int64_t n, const double *x, double *y);
  int (*exact)(mpfr_t y, const mpfr_t x, mpfr_rnd_t round);
  double low, high; /* the ordinary arguments, sampled densely */
  double bound;     /* ulp */
} function;

static const function functions[] = {
    {"exp", elementary_exp, elementary_exp_array, mpfr_exp, -745.2, 709.8, 1.0},
    {"log", elementary_log, elementary_log_array, mpfr_log, 0.25, 4.0, 1.0},
    {"log10", elementary_log10, elementary_log10_array, mpfr_log10, 0.25, 4.0, 1.0},
    {"sin", elementary_sin, elementary_sin_array, mpfr_sin, -20.0, 20.0, 1.0},
    {"cos", elementary_cos, elementary_cos_array, mpfr_cos, -20.0, 20.0, 1.0},
    {"tan", elementary_tan, elementary_tan_array, mpfr_tan, -20.0, 20.0, 1.0},
    {"asin", elementary_asin, elementary_asin_array, mpfr_asin, -1.0, 1.0, 1.0},
    {"acos", elementary_acos, elementary_acos_array, mpfr_acos, -1.0, 1.0, 1.0},
    {"atan", elementary_atan, elementary_atan_array, mpfr_atan, -6.0, 6.0, 1.0},
    {"sinh", elementary_sinh, elementary_sinh_array, mpfr_sinh, -24.0, 24.0, 1.0},
    {"cosh", elementary_cosh, elementary_cosh_array, mpfr_cosh, -24.0, 24.0, 1.0},
    {"tanh", elementary_tanh, elementary_tanh_array, mpfr_tanh, -20.0, 20.0, 1.0},
    {"cbrt", elementary_cbrt, elementary_cbrt_array, mpfr_cbrt, -8.0, 8.0, 0.501},
    {"erf", elementary_erf, elementary_erf_array, mpfr_erf, -6.0, 6.0, 1.0},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* Error of y against `exact`, which is used up. */
static double ulp_between(mpfr_t exact, double y) {
  double error = 0.0, rounded = mpfr_get_d(exact, MPFR_RNDN);
  if (y != y || rounded != rounded) {
    error = (y != y) == (rounded != rounded) ? 0.0 : 1e300;
  } else if (mpfr_inf_p(exact) || y - y != 0.0 || rounded - rounded != 0.0) {
    error = y == rounded ? 0.0 : 1e300;
  } else if (!mpfr_zero_p(exact)) {
    mpfr_exp_t e = mpfr_get_exp(exact); /* exact in [2^(e-1), 2^e) */
    mpfr_sub_d(exact, exact, y, MPFR_RNDN);
    mpfr_abs(exact, exact, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, e - 53 < -1074 ? 1074 : 53 - e, MPFR_RNDN);
    error = mpfr_get_d(exact, MPFR_RNDU);
  } else {
    error = y == 0.0 ? 0.0 : 1e300;
  }
  return error;
}

static double ulp_error(const function *f, double x, double y) {
  mpfr_t exact, argument;
  mpfr_init2(exact, PRECISION);
  mpfr_init2(argument, 53);
  mpfr_set_d(argument, x, MPFR_RNDN);
  f->exact(exact, argument, MPFR_RNDN);
  const double error = ulp_between(exact, y);
  mpfr_clear(exact);
  mpfr_clear(argument);
  return error;
}

typedef struct worst {
  double error, at;
} worst;

static void probe(const function *f, double x, worst *w) {
  double error = ulp_error(f, x, f->scalar(x));
  if (error > w->error) w->error = error, w->at = x;
}

static double random_uniform(uint64_t i, int half) {
  return philox_uniform(philox_at(2, i, PHILOX_PROBE, 0, 0), half);
}

static double random_of_any_exponent(uint64_t i) {
  return double_of(philox_bits(philox_at(3, i, PHILOX_PROBE, 0, 0), 0));
}

/* x and the `count` doubles before and after it (NaN before 0). */
static void probe_around(const function *f, double x, uint64_t count, worst *w) {
  const uint64_t b = bits_of(x);
  for (uint64_t k = 0; k <= 2 * count; k++) probe(f, double_of(b + k - count), w);
}

/* Where one form of a function takes over from another (elementary_*.h), or its result ends. */
static const double borders[] = {0x1p-27,
                                 0x1.62e42fefa39efp-2, /* ln 2 / 2, and 3/2 ln 2 */
                                 0x1.0a2b23f3bab73p0,
                                 0x1.a827999fcef32p-2, /* tan pi/8, tan 3 pi/8 */
                                 0x1.3504f333f9de6p1,
                                 0.5,
                                 0.875,
                                 1.0,
                                 5.95,
                                 19.06,
                                 22.0,
                                 0x1.209f6f9bed4fp4,  /* 26 ln 2: sinh(k ln 2) no longer a double */
                                 0x1.4d3c77b4d5e2fp5, /* 60 ln 2 */
                                 709.782712893384,
                                 710.4758600739439,
                                 745.1332191019411,
                                 0x1p30,
                                 0x1p54};

/* The double nearest to i pi/2 and its neighbours, i a power of two times a small number: the
 * hardest reductions there are, together with the known worst one. */
static void probe_multiples_of_pi_2(const function *f, worst *w) {
  mpfr_t pi, multiple;
  mpfr_init2(pi, 2400);
  mpfr_init2(multiple, 2400);
  mpfr_const_pi(pi, MPFR_RNDN);
  for (int power = -1; power < 1022; power++) {
    for (unsigned long factor = 1; factor < 16; factor += 2) {
      mpfr_mul_ui(multiple, pi, factor, MPFR_RNDN);
      mpfr_mul_2si(multiple, multiple, power, MPFR_RNDN);
      double x = mpfr_get_d(multiple, MPFR_RNDN);
      probe(f, x, w);
      probe(f, -double_of(bits_of(x) + 1), w);
    }
  }
  probe(f, 6381956970095103.0 * 0x1p797, w); /* Muller et al., Handbook (2010), table 11.1 */
  mpfr_clear(pi);
  mpfr_clear(multiple);
}

static void errors_stay_below_the_bound(void **state) {
  (void)state;
  enum { DENSE = 12000, RANDOM = 8000 };
  for (int j = 0; j < FUNCTIONS; j++) {
    const function *f = &functions[j];
    worst ordinary = {0.0, 0.0}, any = {0.0, 0.0};
    for (int i = 0; i < DENSE; i++) {
      probe(f, fma((f->high - f->low) / DENSE, i, f->low), &ordinary);
      probe(f, fma(f->high - f->low, random_uniform((uint64_t)i, 0), f->low), &ordinary);
    }
    for (int i = 0; i < RANDOM; i++) probe(f, random_of_any_exponent((uint64_t)i), &any);
    for (uint64_t e = 0; e < 2048; e++) { /* powers of two and their neighbours */
      probe_around(f, double_of(e << 52), 1, &any);
      probe_around(f, -double_of(e << 52), 1, &any);
    }
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++) {
      probe_around(f, borders[i], 100, &ordinary);
      probe_around(f, -borders[i], 100, &ordinary);
    }
    if (f->exact == mpfr_sin || f->exact == mpfr_cos || f->exact == mpfr_tan) {
      probe_multiples_of_pi_2(f, &any);
    }
    print_message("%-5s at most %.4f ulp at %a, and %.4f ulp at %a over all exponents\n", f->name,
                  ordinary.error, ordinary.at, any.error, any.at);
    assert_true(ordinary.error < f->bound);
    assert_true(any.error < f->bound);
  }
}

static void array_forms_have_the_same_bits(void **state) {
  (void)state;
  enum { LENGTH = 4096 + 37 };
  static double x[LENGTH], y[LENGTH];
  for (int j = 0; j < FUNCTIONS; j++) {
    const function *f = &functions[j];
    for (int i = 0; i < LENGTH; i++) {
      x[i] = i % 5 == 0 || i > 2048 ? random_of_any_exponent((uint64_t)i)
                                    : fma(f->high - f->low, random_uniform((uint64_t)i, 1), f->low);
    }
    const double special[] = {0.0,       -0.0,      1.0 / 0.0, -1.0 / 0.0,
                              0.0 / 0.0, 0x1p-1074, 0x1p30,    -0x1p30};
    for (int i = 0; i < 8; i++) x[500 + i] = special[i];
    for (int length = 0; length <= LENGTH; length = length < 130 ? length + 1 : 4 * length) {
      f->array(length, x, y);
      for (int i = 0; i < length; i++) {
        double expected = f->scalar(x[i]);
        if (expected == expected) assert_same_bits(y[i], expected);
        if (expected != expected) assert_true(y[i] != y[i]);
      }
    }
    f->array(LENGTH, x, y);
    for (int i = 0; i < LENGTH; i++) {
      double expected = f->scalar(x[i]);
      if (expected == expected) assert_same_bits(y[i], expected);
    }
    memcpy(y, x, sizeof y);
    f->array(LENGTH, y, y); /* in place */
    for (int i = 0; i < LENGTH; i++) {
      double expected = f->scalar(x[i]);
      if (expected == expected) assert_same_bits(y[i], expected);
      if (expected != expected) assert_true(y[i] != y[i]);
    }
  }
}

static void probe_pow(double x, double y, worst *w) {
  mpfr_t exact, base, exponent;
  mpfr_init2(exact, PRECISION);
  mpfr_init2(base, 53);
  mpfr_init2(exponent, 53);
  mpfr_set_d(base, x, MPFR_RNDN);
  mpfr_set_d(exponent, y, MPFR_RNDN);
  mpfr_pow(exact, base, exponent, MPFR_RNDN);
  const double error = ulp_between(exact, elementary_pow(x, y));
  if (error > w->error) w->error = error, w->at = x;
  mpfr_clear(exact);
  mpfr_clear(base);
  mpfr_clear(exponent);
}

/* Results over the whole range for bases of all exponents; bases next to 1, where the logarithm
 * cancels; integer and half exponents, negative bases; anything to the power of anything. */
static void pow_errors_stay_below_the_bound(void **state) {
  (void)state;
  worst w = {0.0, 0.0};
  for (uint64_t i = 0; i < 12000; i++) {
    const double u = random_uniform(i, 0), v = random_uniform(i, 1);
    const double any = fabs(random_of_any_exponent(i)), unit = 0.5 + u;
    if (any > 0.0 && any < 1.0 / 0.0) probe_pow(any, (1480.0 * v - 747.0) / log(any), &w);
    probe_pow(unit, (1480.0 * v - 747.0) / log(unit), &w);
    probe_pow(1.0 + (u - 0.5) * 0x1p-20, (1480.0 * v - 747.0) / log(1.0 + (u - 0.5) * 0x1p-20), &w);
    probe_pow(double_of(bits_of(1.0) + i % 9 - 4), (v - 0.5) * 0x1p62, &w);
    probe_pow((u - 0.5) * 20.0, (double)(int64_t)(v * 80.0 - 40.0), &w);
    probe_pow(u * 1e5, (double)(int64_t)(v * 80.0 - 40.0) / 2.0, &w);
    probe_pow(random_of_any_exponent(i), random_of_any_exponent(i + 60000), &w);
  }
  print_message("pow   at most %.4f ulp at base %a\n", w.error, w.at);
  assert_true(w.error < 1.0);
}

/* All pairs of special values agree with MPFR, which follows annex F; zeros with their signs. */
static void pow_special_values(void **state) {
  (void)state;
  const double v[] = {0.0,       0.5,        1.0,       1.5,          2.0,   3.0,
                      0x1p52,    0x1p52 + 1, 1e16,      0x1p53 - 1,   1e300, 0x1p-1074,
                      1.0 / 0.0, 0.0 / 0.0,  0x1p-1022, 1.0 - 0x1p-53};
  enum { VALUES = sizeof v / sizeof v[0] };
  mpfr_t exact, base, exponent;
  mpfr_init2(exact, PRECISION);
  mpfr_init2(base, 53);
  mpfr_init2(exponent, 53);
  for (int i = 0; i < 4 * VALUES * VALUES; i++) {
    const double x = v[i / 4 % VALUES] * (i % 2 == 0 ? 1.0 : -1.0);
    const double y = v[i / 4 / VALUES] * (i / 2 % 2 == 0 ? 1.0 : -1.0);
    mpfr_set_d(base, x, MPFR_RNDN);
    mpfr_set_d(exponent, y, MPFR_RNDN);
    mpfr_pow(exact, base, exponent, MPFR_RNDN);
    const double expected = mpfr_get_d(exact, MPFR_RNDN), got = elementary_pow(x, y);
    const int zero_or_infinite = expected == 0.0 || expected - expected != 0.0;
    if (expected != expected ? got == got : (zero_or_infinite && bits_of(got) != bits_of(expected)))
      fail_msg("pow(%a, %a) is %a, expected %a", x, y, got, expected);
    if (ulp_between(exact, got) >= 1.0) fail_msg("pow(%a, %a) is %a", x, y, got);
  }
  mpfr_clear(exact);
  mpfr_clear(base);
  mpfr_clear(exponent);
}

/* ---- two operands: atan2 ---- */

/* Against MPFR, zeros with their signs. */
static void probe_atan2(double y, double x, worst *w) {
  mpfr_t exact, ordinate, abscissa;
  mpfr_init2(exact, PRECISION);
  mpfr_init2(ordinate, 53);
  mpfr_init2(abscissa, 53);
  mpfr_set_d(ordinate, y, MPFR_RNDN);
  mpfr_set_d(abscissa, x, MPFR_RNDN);
  mpfr_atan2(exact, ordinate, abscissa, MPFR_RNDN);
  const double expected = mpfr_get_d(exact, MPFR_RNDN), got = elementary_atan2(y, x);
  if (expected == expected) assert_int_equal(bits_of(got) >> 63, bits_of(expected) >> 63);
  const double error = ulp_between(exact, got);
  if (error >= 1.0) fail_msg("atan2(%a, %a) is %a, expected %a", y, x, got, expected);
  if (error > w->error) w->error = error, w->at = y;
  mpfr_clear(exact);
  mpfr_clear(ordinate);
  mpfr_clear(abscissa);
}

/* Points all around; of any size, on nearly the same scale and on any; on the borders of octants
 * and of the forms; all pairs of special values. */
static void atan2_errors_stay_below_the_bound(void **state) {
  (void)state;
  const double v[] = {0.0,
                      0x1p-1074,
                      0x1p-1022,
                      1e-300,
                      0x1p-450,
                      1.0,
                      2.0,
                      0x1p500,
                      1e300,
                      0x1p1023,
                      0x1.8p1023,
                      0x1.fffffffffffffp1023,
                      1.0 / 0.0,
                      0x1.a827999fcef32p-2,
                      0x1.3504f333f9de6p1,
                      0x1p-60,
                      0x1p60,
                      0.0 / 0.0};
  enum { VALUES = sizeof v / sizeof v[0] };
  worst w = {0.0, 0.0};
  for (int i = 0; i < 4 * VALUES * VALUES; i++) {
    probe_atan2(v[i / 4 % VALUES] * (i % 2 == 0 ? 1.0 : -1.0),
                v[i / 4 / VALUES] * (i / 2 % 2 == 0 ? 1.0 : -1.0), &w);
  }
  for (uint64_t i = 0; i < 12000; i++) {
    const double u = random_uniform(i, 0), t = random_uniform(i, 1), x = random_of_any_exponent(i);
    probe_atan2(2.0 * u - 1.0, 2.0 * t - 1.0, &w);
    probe_atan2(u * 0x1p-1015, t * 0x1p-1015, &w);
    probe_atan2(u * 0x1.8p1023, -t * 0x1.8p1023, &w);
    probe_atan2(x * (0.25 + 4.0 * u), x, &w);
    probe_atan2(x * ldexp(u - 0.5, (int)(140.0 * t) - 70), x, &w);
    probe_atan2(x, random_of_any_exponent(i + 60000), &w);
    probe_atan2(double_of(bits_of(t * v[13 + i % 2]) + i % 7 - 3), t, &w);
    probe_atan2(double_of(bits_of(t) + i % 7 - 3), i % 2 == 0 ? t : -t, &w);
  }
  print_message("atan2 at most %.4f ulp at ordinate %a\n", w.error, w.at);
}

static void atan2_array_has_the_same_bits(void **state) {
  (void)state;
  enum { LENGTH = 301 };
  static double x[LENGTH], y[LENGTH], z[LENGTH];
  for (int i = 0; i < LENGTH; i++) {
    x[i] = i % 3 == 0 ? random_of_any_exponent((uint64_t)i) : random_uniform((uint64_t)i, 0) - 0.5;
    y[i] = i % 5 == 0 ? random_of_any_exponent((uint64_t)i + 999) : x[i] * (i % 7 - 3);
  }
  x[17] = 0.0, x[18] = -0.0, x[19] = -1.0 / 0.0, y[18] = -0.0, y[20] = 1.0 / 0.0;
  for (int length = 0; length <= LENGTH; length = length < 20 ? length + 1 : length + 281) {
    elementary_atan2_array(length, y, x, z);
    for (int i = 0; i < length; i++) {
      const double expected = elementary_atan2(y[i], x[i]);
      if (expected == expected) assert_same_bits(z[i], expected);
      if (expected != expected) assert_true(z[i] != z[i]);
    }
  }
}

static void power_array_has_the_same_bits(void **state) {
  (void)state;
  enum { LENGTH = 301 };
  static double x[LENGTH], y[LENGTH], z[LENGTH];
  for (int kind = 0; kind < 40; kind++) {
    for (int i = 0; i < LENGTH; i++) {
      x[i] =
          i % 3 == 0 ? random_of_any_exponent((uint64_t)i) : 4.0 * random_uniform((uint64_t)i, 0);
      y[i] = kind < 36 ? kind - 18 : 5.0 * random_uniform((uint64_t)i, 1);
      if (kind > 36 && i % kind == 0) y[i] = i % 7; /* some small integers among others */
    }
    elementary_power_array(LENGTH, x, y, z);
    for (int i = 0; i < LENGTH; i++) {
      double expected = elementary_power(x[i], y[i]);
      if (expected == expected) assert_same_bits(z[i], expected);
      if (expected != expected) assert_true(z[i] != z[i]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_stay_below_the_bound),
      cmocka_unit_test(array_forms_have_the_same_bits),
      cmocka_unit_test(pow_errors_stay_below_the_bound),
      cmocka_unit_test(pow_special_values),
      cmocka_unit_test(power_array_has_the_same_bits),
      cmocka_unit_test(atan2_errors_stay_below_the_bound),
      cmocka_unit_test(atan2_array_has_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
