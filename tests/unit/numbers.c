/* Numbers as people write them: each line of the tables is a sentence of the grammar. */
#include "numbers.h"
#include "status.h" /* before cmocka, which has a macro fail */

#include <math.h>
#include <string.h>

#include "test.h"

typedef struct real_case {
  const char *text;
  double value;
} real_case;

static void reals_take_literals_pi_inf_and_arithmetic(void **state) {
  (void)state;
  const real_case good[] = {
      {"1", 1.0},
      {"-0.5", -0.5},
      {"1e-8", 1e-8},
      {".5", 0.5},
      {"5.", 5.0},
      {" 2 ", 2.0},
      {"pi", 3.141592653589793},
      {"2*pi", 6.283185307179586},
      {"-pi/2", -1.5707963267948966},
      {"1/3", 1.0 / 3.0},
      {"2^10", 1024.0},
      {"2**10", 1024.0},
      {"2^3^2", 512.0},
      {"-2^2", -4.0},
      {"(-2)^2", 4.0},
      {"2^-1", 0.5},
      {"10^-3", 1e-3},
      {"4^0.5", 2.0},
      {"2^1.5", 2.0 * 1.4142135623730951},
      {"1+2*3", 7.0},
      {"(1+2)*3", 9.0},
      {"7-2-1", 4.0},
      {"8/2/2", 2.0},
      {"--3", 3.0},
      {"inf", INFINITY},
      {"-inf", -INFINITY},
      {"1.7976931348623157e308", 1.7976931348623157e308},
      {"5e-324", 4.9406564584124654e-324},
      {"0.1", 0.1},
      {"0e-999", 0.0},
  };
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    double x = -1.0;
    const char *wrong = number_real(good[i].text, &x, NULL);
    if (wrong != NULL) fail_msg("%s: %s", good[i].text, wrong);
    if (bits_of(x) != bits_of(good[i].value)) fail_msg("%s gave %.17g", good[i].text, x);
  }
}

static void other_reals_are_refused(void **state) {
  (void)state;
  const char *const bad[] = {
      "",      " ",    "nan",   "NaN", "-nan",     "1e999", "1e-999",  "1e308*10", "1x",
      "1 2",   "0x10", "1e",    "1,5", "infinity", "Inf",   "inf-inf", "0*inf",    "1/0",
      "(1",    "1)",   "()",    "+",   "2^",       "2^0.3", "(-4)^.5", "e",        "sin(1)",
      "2^1e9", "1..2", "\"1\"", "1d0", "0/0",      "*2",    "2//3"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double x;
    const char *at = NULL;
    if (number_real(bad[i], &x, &at) == NULL) fail_msg("'%s' was taken as %.17g", bad[i], x);
    assert_true(at >= bad[i] && at <= bad[i] + strlen(bad[i]));
  }
}

static void the_place_of_junk_is_told(void **state) {
  (void)state;
  double x;
  const char *text = "1e-8 x", *at = NULL;
  assert_non_null(number_real(text, &x, &at));
  assert_ptr_equal(at, text + 5);
}

static void deep_nesting_is_refused_not_fatal(void **state) {
  (void)state;
  static char text[60001];
  double x;
  const char *const fills[] = {"(", "2^", "-(", "1+("};
  for (size_t f = 0; f < sizeof fills / sizeof *fills; f++) {
    size_t length = strlen(fills[f]);
    for (size_t i = 0; i + length < sizeof text; i += length) memcpy(text + i, fills[f], length);
    text[60000 / length * length] = '\0';
    const char *wrong = number_real(text, &x, NULL);
    assert_non_null(wrong);
    assert_non_null(strstr(wrong, "nested"));
  }
  memset(text, '-', 50000); /* an even number of signs */
  strcpy(text + 50000, "1");
  assert_null(number_real(text, &x, NULL));
  assert_same_bits(x, 1.0);
}

static void integers_are_exact(void **state) {
  (void)state;
  const struct {
    const char *text;
    int64_t value;
  } good[] = {
      {"0", 0},
      {"-7", -7},
      {"1e6", 1000000},
      {"1.5e3", 1500},
      {"10.0", 10},
      {"100e-2", 1},
      {"1e18", INT64_C(1000000000000000000)},
      {"9223372036854775807", INT64_MAX},
      {"9007199254740993", INT64_C(9007199254740993)},
      {"2^20", 1048576},
      {"3*256", 768},
      {"0e99999999999", 0},
  };
  const char *const bad[] = {"1.5",
                             "1e-1",
                             "1e19",
                             "9223372036854775808",
                             "1e99999999999",
                             "2^60*1",
                             "inf",
                             "nan",
                             "pi",
                             "10 20",
                             "10x",
                             "",
                             "1/3",
                             "1e6.5"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    int64_t n = -1;
    const char *wrong = number_integer(good[i].text, &n, NULL);
    if (wrong != NULL || n != good[i].value) {
      fail_msg("%s gave %lld %s", good[i].text, (long long)n, wrong == NULL ? "" : wrong);
    }
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int64_t n;
    if (number_integer(bad[i], &n, NULL) == NULL) {
      fail_msg("'%s' was taken as %lld", bad[i], (long long)n);
    }
  }
}

static void durations_need_a_unit_or_colons(void **state) {
  (void)state;
  const real_case good[] = {
      {"30s", 30.0},     {"5m", 300.0},          {"2h", 7200.0},       {"1.5h", 5400.0},
      {"2 m", 120.0},    {"10:00", 600.0},       {"1:2", 62.0},        {"90:00", 5400.0},
      {"1:2:3", 3723.0}, {"36:00:00", 129600.0}, {"1-0:0:0", 86400.0}, {"2-03:04:05", 183845.0},
  };
  const char *const bad[] = {"30",      "",     "s",        "30d",        "30sec", "1h30m",
                             "-5m",     "1:60", "1:60:0",   "1-24:00:00", "1-2:3", "1-2",
                             "1:2:3:4", ":30",  "30:",      "1::2",       "1:2x",  "1e400s",
                             "nans",    "inf",  "1-2-3:4:5"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    double s = -1.0;
    const char *wrong = number_duration(good[i].text, &s, NULL);
    if (wrong != NULL || s != good[i].value) {
      fail_msg("%s gave %g %s", good[i].text, s, wrong == NULL ? "" : wrong);
    }
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double s;
    if (number_duration(bad[i], &s, NULL) == NULL) fail_msg("'%s' was taken as %g", bad[i], s);
  }
  double s;
  assert_non_null(strstr(number_duration("30", &s, NULL), "Slurm"));
}

static void sizes_are_powers_of_1024(void **state) {
  (void)state;
  int64_t b;
  assert_null(number_size("64", &b, NULL));
  assert_int_equal(b, 64);
  assert_null(number_size("2K", &b, NULL));
  assert_int_equal(b, 2048);
  assert_null(number_size("1.5G", &b, NULL));
  assert_int_equal(b, INT64_C(1610612736));
  assert_null(number_size("3T", &b, NULL));
  assert_int_equal(b, INT64_C(3298534883328));
  const char *const bad[] = {"", "K", "1k", "1MB", "1P", "0.3", "1e30T", "-1", "nan"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (number_size(bad[i], &b, NULL) == NULL) fail_msg("'%s' was taken", bad[i]);
  }
}

static void printed_numbers_read_back(void **state) {
  (void)state;
  const double values[] = {0.1, 1.0 / 3.0, 1e-8,    5e-324, 1.7976931348623157e308,
                           1e5, 0.0,       INFINITY};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    char text[NUMBER_TEXT];
    double x;
    number_print(values[i], text);
    assert_null(number_real(text, &x, NULL));
    assert_same_bits(x, values[i]);
  }
  char text[NUMBER_TEXT];
  number_print(0.1, text);
  assert_string_equal(text, "0.1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reals_take_literals_pi_inf_and_arithmetic),
      cmocka_unit_test(other_reals_are_refused),
      cmocka_unit_test(the_place_of_junk_is_told),
      cmocka_unit_test(deep_nesting_is_refused_not_fatal),
      cmocka_unit_test(integers_are_exact),
      cmocka_unit_test(durations_need_a_unit_or_colons),
      cmocka_unit_test(sizes_are_powers_of_1024),
      cmocka_unit_test(printed_numbers_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
