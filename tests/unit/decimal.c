/* decimal.h against strtod (glibc's is correctly rounded) in the C locale: random bits, random
 * digits, points halfway between doubles and their neighbours in the last digit, both ends of the
 * range, and what is not a number. */
#include "decimal.h"
#include "status.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t next(uint64_t *seed) {
  uint64_t z = *seed += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static char room[4096];

static double read_all(const char *text) {
  double value = -1.0;
  snprintf(room, sizeof room - DECIMAL_MARGIN, "%s\n", text);
  const char *end = decimal_read(room, &value);
  if (end == NULL || *end != '\n') fail_msg("'%s' is not read to its end", text);
  return value;
}

static void check(const char *text) {
  double mine = read_all(text), right = strtod(text, NULL);
  if (bits_of(mine) != bits_of(right)) fail_msg("'%s': %a, not %a", text, mine, right);
}

static void random_bits_come_back(void **state) {
  (void)state;
  uint64_t seed = 1;
  char text[64];
  for (int i = 0; i < 400000; i++) {
    double x = double_of(next(&seed));
    if (!isfinite(x)) continue;
    snprintf(text, sizeof text, "%.*g", 1 + i % 20, x);
    check(text);
    snprintf(text, sizeof text, "%.17g", x);
    assert_same_bits(read_all(text), x);
  }
}

static void random_digits(void **state) {
  (void)state;
  uint64_t seed = 2;
  char text[1024];
  for (int i = 0; i < 400000; i++) {
    int at = 0, digits = 1 + (int)(next(&seed) % (i % 16 == 0 ? 800 : 26));
    int point = (int)(next(&seed) % (unsigned)(digits + 1));
    if (next(&seed) % 2) text[at++] = '-';
    for (int d = 0; d < digits; d++) {
      if (d == point) text[at++] = '.';
      text[at++] = (char)('0' + next(&seed) % (i % 3 == 0 ? 2 : 10));
    }
    int exponent = (int)(next(&seed) % (i % 2 ? 60 : 760)) - (i % 2 ? 30 : 400);
    snprintf(text + at, sizeof text - (size_t)at, "%c%d", "eE"[i % 2], exponent);
    check(text);
  }
}

/* The exact decimal text of the point halfway between x and the next double above: long double
 * holds it (64 bits), and glibc prints it exactly. */
static int halfway_text(char *text, size_t size, double x) {
  long double middle = ((long double)x + (long double)nextafter(x, INFINITY)) / 2;
  return snprintf(text, size, "%.780Le", middle);
}

static void halfway_points_and_their_neighbours(void **state) {
  (void)state;
  uint64_t seed = 3;
  char text[1024];
  for (int i = 0; i < 20000; i++) {
    double x = fabs(double_of(next(&seed)));
    if (i % 4 == 0) x = double_of(next(&seed) >> (12 + i % 50)); /* subnormal */
    if (i % 4 == 1) x = (double)(next(&seed) >> 11) * ldexp(1.0, i % 64 - 32);
    if (!isfinite(x) || x >= 1.7e308) continue;
    halfway_text(text, sizeof text, x);
    check(text);
    char *e = strchr(text, 'e');
    e[-1] = '1'; /* a hair above, at digit 781 */
    check(text);
    e[-1] = '0';
    char *d = e - 1;
    while (d > text && (*d == '0' || *d == '.')) d--;
    *d -= 1; /* and below */
    check(text);
  }
}

static void beyond_eight_hundred_digits(void **state) {
  (void)state;
  char text[2048];
  int at = snprintf(text, sizeof text, "9007199254740993."); /* halfway: to even */
  memset(text + at, '0', 1000);
  text[at + 1000] = '\0';
  check(text);
  assert_same_bits(read_all(text), 9007199254740992.0);
  text[at + 999] = '1';
  check(text);
  assert_same_bits(read_all(text), 9007199254740994.0);
}

static void both_ends_of_the_range(void **state) {
  (void)state;
  static const char *const texts[] = {
      "0",
      "-0",
      "0.0e999999999",
      "1e999999999999",
      "-1e-999999999999",
      "4.9e-324",
      "2.4703282292062327e-324",
      "2.4703282292062328e-324",
      "2.2250738585072011e-308",
      "2.2250738585072014e-308",
      "1.7976931348623157e308",
      "1.7976931348623158e308",
      "1.7976931348623159e308",
      "1e308",
      "1e309",
      "17976931348623157081452742373170435679807056752584499659891747680315726078002853876058955863"
      "276"
      "68781715404589535143824642343213268894641827684675467035375169860499105765512820762454900903"
      "893"
      "28944075868508455133942304583236903222948165808559332123347747979e-1",
      "9007199254740993",
      "9007199254740992.9999999999999999999",
      "18446744073709551615",
      "18446744073709551616",
      "99999999999999999999",
      "00000000000000000000000000000000001.5",
      ".00000000000000000000000000000000000000015",
      "1.",
      ".5",
      "+10",
      "-.4e2",
      "2.5E+1"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check(texts[i]);
}

static void fortran_exponents(void **state) {
  (void)state;
  assert_same_bits(read_all("0.15D+02"), 15.0);
  assert_same_bits(read_all("2.5d1"), 25.0);
  assert_same_bits(read_all("-4.0D-1"), -0.4);
}

static void what_is_not_a_number(void **state) {
  (void)state;
  static const char *const texts[] = {"",    ".",   "-",   "+.",        "e5", "1e",
                                      "1e+", "nan", "inf", "-Infinity", "x"};
  double value;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    snprintf(room, sizeof room - DECIMAL_MARGIN, "%s\n", texts[i]);
    if (decimal_read(room, &value) != NULL) fail_msg("'%s' was taken for a number", texts[i]);
  }
  snprintf(room, sizeof room - DECIMAL_MARGIN, "4,75\n");
  assert_int_equal(*decimal_read(room, &value), ',');
  snprintf(room, sizeof room - DECIMAL_MARGIN, "0x10\n");
  assert_int_equal(*decimal_read(room, &value), 'x');
}

static void whole_numbers(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t value;
  } cases[] = {{"0", 0},
               {"7", 7},
               {"12345678", 12345678},
               {"123456789", 123456789},
               {"00000000000000000000042", 42},
               {"9223372036854775807", INT64_MAX},
               {"9223372036854775808", -1},
               {"18446744073709551615", -1},
               {"", -1},
               {"-3", -1},
               {"^", -1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t value = -1;
    snprintf(room, sizeof room - DECIMAL_MARGIN, "%s ", cases[i].text);
    const char *end = decimal_index(room, &value);
    if (cases[i].value < 0) {
      if (end != NULL) fail_msg("'%s' was taken for an index", cases[i].text);
    } else {
      assert_int_equal(value, cases[i].value);
      assert_int_equal(*end, ' ');
    }
  }
  uint64_t seed = 4;
  for (int i = 0; i < 100000; i++) {
    int64_t number = (int64_t)(next(&seed) >> (1 + i % 63)), value = -1;
    snprintf(room, sizeof room - DECIMAL_MARGIN, "%lld%c", (long long)number, " \t\r\n.:/"[i % 7]);
    assert_non_null(decimal_index(room, &value));
    assert_int_equal(value, number);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_bits_come_back),
      cmocka_unit_test(random_digits),
      cmocka_unit_test(halfway_points_and_their_neighbours),
      cmocka_unit_test(beyond_eight_hundred_digits),
      cmocka_unit_test(both_ends_of_the_range),
      cmocka_unit_test(fortran_exponents),
      cmocka_unit_test(what_is_not_a_number),
      cmocka_unit_test(whole_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
