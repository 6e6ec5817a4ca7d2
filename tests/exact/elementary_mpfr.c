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
    {"sin", elementary_sin, elementary_sin_array, mpfr_sin, -20.0, 20.0, 1.0},
    {"cos", elementary_cos, elementary_cos_array, mpfr_cos, -20.0, 20.0, 1.0},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static double ulp_error(const function *f, double x, double y) {
  mpfr_t exact, argument;
  mpfr_init2(exact, PRECISION);
  mpfr_init2(argument, 53);
  mpfr_set_d(argument, x, MPFR_RNDN);
  f->exact(exact, argument, MPFR_RNDN);
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

/* The double nearest to i pi/2 and its neighbours, i a power of two times a small number: the
 * hardest reductions there are, together with the known worst one. */
static void probe_multiples_of_pi_2(const function *f, worst *w) {
  mpfr_t pi, multiple;
  mpfr_init2(pi, 2400);
  mpfr_init2(multiple, 2400);
  mpfr_const_pi(pi, MPFR_RNDN);
  for (int power = -1; power < 1022; power++) {
    for (unsigned long factor = 1; factor < 32; factor += 2) {
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
  enum { DENSE = 60000, RANDOM = 60000 };
  for (int j = 0; j < FUNCTIONS; j++) {
    const function *f = &functions[j];
    worst ordinary = {0.0, 0.0}, any = {0.0, 0.0};
    for (int i = 0; i < DENSE; i++) {
      probe(f, fma((f->high - f->low) / DENSE, i, f->low), &ordinary);
      probe(f, fma(f->high - f->low, random_uniform((uint64_t)i, 0), f->low), &ordinary);
    }
    for (int i = 0; i < RANDOM; i++) probe(f, random_of_any_exponent((uint64_t)i), &any);
    for (int e = 0; e < 2048; e++) { /* powers of two and their neighbours */
      uint64_t b = (uint64_t)e << 52;
      for (uint64_t k = 0; k < 3; k++) {
        probe(f, double_of(b + k), &any);
        probe(f, double_of(b + (1ull << 52) - 1 - k), &any);
        probe(f, -double_of(b + k), &any);
      }
    }
    if (f->exact == mpfr_sin || f->exact == mpfr_cos) probe_multiples_of_pi_2(f, &any);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_stay_below_the_bound),
      cmocka_unit_test(array_forms_have_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
