/* The GPU's short forms of elementary functions give the bits of elementary.h, here by the host
 * compiler: dense around every limit where the way changes, and everywhere else at random. */
#include "elementary_gpu.h"
#include "philox.h"
#include "test.h"

typedef double function_of(double);

static double sin_of(double x) { return elementary_sin(x); }
static double cos_of(double x) { return elementary_cos(x); }
static double tan_of(double x) { return elementary_tan(x); }
static double exp_of(double x) { return elementary_exp(x); }
static double gpu_sin_of_x(double x) { return gpu_sin(x); }
static double gpu_cos_of_x(double x) { return gpu_cos(x); }
static double gpu_tan_of_x(double x) { return gpu_tan(x); }
static double gpu_exp_of_x(double x) { return gpu_exp(x); }

static const struct pair {
  const char *name;
  function_of *want, *got;
} PAIRS[] = {{"sin", sin_of, gpu_sin_of_x},
             {"cos", cos_of, gpu_cos_of_x},
             {"tan", tan_of, gpu_tan_of_x},
             {"exp", exp_of, gpu_exp_of_x}};

static void compare(double x) {
  for (int i = 0; i < 4; i++) {
    const double want = PAIRS[i].want(x), got = PAIRS[i].got(x);
    if (want != want && got != got) continue;
    if (bits_of(want) != bits_of(got)) {
      fail_msg("%s(%a) is %a, should be %a", PAIRS[i].name, x, got, want);
    }
  }
}

static void compare_both(double x) {
  compare(x);
  compare(-x);
}

static void around_limits(void **state) {
  (void)state;
  const double limits[] = {0.0,
                           0x1p-1074,
                           0x1p-1022,
                           0x1p-27,
                           0x1p-20,
                           0.34375,
                           0x1.62e42fefa39efp-2,
                           0x1.921fbp-1,
                           0x1.921fb54442d18p-1,
                           0x1.921fb54442d18p0,
                           0x1.921fb54442d18p1,
                           0x1.2d97c7f3321d2p1,
                           0x1.f6a7a2955385ep1,
                           1.0,
                           708.0,
                           709.782712893384,
                           710.0,
                           745.1332191019411,
                           746.0,
                           0x1p30,
                           0x1p31,
                           0x1.fffffffffffffp1023,
                           1.0 / 0.0};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    for (uint64_t k = 0; k < 2000; k++) {
      compare_both(double_of(bits_of(limits[i]) + k));
      if (bits_of(limits[i]) >= k) compare_both(double_of(bits_of(limits[i]) - k));
    }
  }
  compare(0.0 / 0.0);
}

/* Next to multiples of pi/2 the reduction cancels: both ways of its error are taken. */
static void near_multiples(void **state) {
  (void)state;
  for (int n = 1; n < 20000; n++) {
    const double x = n * ELEMENTARY_PI_2_HIGH;
    for (int k = -3; k <= 3; k++) compare_both(double_of(bits_of(x) + (uint64_t)(int64_t)k));
    for (int k = 1; k < 30; k++) compare_both(x + 0x1p-45 * (double)(1 << k));
  }
}

static void at_random(void **state) {
  (void)state;
  for (uint64_t i = 0; i < 100000; i++) {
    const philox_words w = philox_at(3, i, PHILOX_PROBE, 0, 0);
    compare(double_of(philox_bits(w, 0))); /* any bits */
    const double u = philox_uniform(w, 1);
    compare_both(u * 4.0);
    compare_both(u * 1000.0);
    compare_both(u * 1e9);
    compare_both(u * 1e-3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(around_limits),
                                     cmocka_unit_test(near_multiples), cmocka_unit_test(at_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
