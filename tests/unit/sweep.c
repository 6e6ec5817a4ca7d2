/* Sweeps: values as functions of the member's number, the order of members, and what is said when
 * [sweep] cannot be read. */
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "options_fixture.h"

static options *held;

static status read_words(const char *words, sweep *s) {
  options_release(&held);
  fail_clear();
  if (fixture_load(&FIXTURE, words, &held) != STATUS_OK) fail_msg("%s: %s", words, fail_text());
  return sweep_read(held, s);
}

static void read_ok(const char *words, sweep *s) {
  if (read_words(words, s) != STATUS_OK) fail_msg("%s: %s", words, fail_text());
}

static int release(void **state) {
  (void)state;
  options_release(&held);
  return alloc_live() == 0 ? 0 : -1;
}

static void values(void **state) {
  (void)state;
  sweep s;
  read_ok("--sweep.a|linspace(0, 1, 11)|--sweep.b|geomspace(1, 1000, 4)|--sweep.c|3, -1.5, 1/4",
          &s);
  assert_int_equal(s.grid.axes, 3);
  assert_int_equal(s.grid.members, 132);
  const sweep_axis *a = s.grid.axis;
  assert_same_bits(sweep_value(&a[0], 0), 0.0);
  assert_same_bits(sweep_value(&a[0], 3), fma(3.0, 1.0 / 10.0, 0.0));
  assert_same_bits(sweep_value(&a[0], 10), 1.0);
  for (int i = 0; i < 4; i++) assert_same_bits(sweep_value(&a[1], i), pow(10.0, i));
  assert_same_bits(sweep_value(&a[2], 1), -1.5);
  assert_same_bits(sweep_value(&a[2], 2), 0.25);
  sweep_release(&s);
}

/* The ends exact, the rest within a few ulp and in order. */
static void spaces(void **state) {
  (void)state;
  sweep s;
  read_ok("--sweep.a|linspace(pi, -1, 7)|--sweep.b|geomspace(-3, -1e-5, "
          "1001)|--sweep.c|linspace(2, 9, 1)",
          &s);
  const sweep_axis *a = s.grid.axis;
  assert_same_bits(sweep_value(&a[0], 6), -1.0);
  assert_same_bits(sweep_value(&a[1], 0), -3.0);
  assert_same_bits(sweep_value(&a[1], 1000), -1e-5);
  for (int i = 1; i <= 1000; i++) {
    const double x = sweep_value(&a[1], i), want = -3.0 * pow(1e-5 / 3.0, i / 1000.0);
    assert_true(x > sweep_value(&a[1], i - 1));
    assert_true(fabs(x - want) <= 1e-14 * fabs(want));
  }
  assert_int_equal(a[2].count, 1);
  assert_same_bits(sweep_value(&a[2], 0), 2.0);
  sweep_release(&s);
}

/* The last key is the fastest; a billion members take no memory. */
static void members(void **state) {
  (void)state;
  sweep s;
  double v[SWEEP_AXES];
  char text[SWEEP_TEXT];
  read_ok("--sweep.a|linspace(0, 1, 1e6)|--sweep.b|10, 20|--sweep.c|linspace(1, 5, "
          "5)|--sweep.d|linspace(0,1,100)",
          &s);
  assert_int_equal(s.grid.members, 1000000000);
  sweep_member(&s.grid, 0, v);
  assert_true(v[0] == 0.0 && v[1] == 10.0 && v[2] == 1.0 && v[3] == 0.0);
  sweep_member(&s.grid, 99, v);
  assert_true(v[0] == 0.0 && v[1] == 10.0 && v[2] == 1.0 && v[3] == 1.0);
  sweep_member(&s.grid, 100, v);
  assert_true(v[0] == 0.0 && v[1] == 10.0 && v[2] == 2.0 && v[3] == 0.0);
  sweep_member(&s.grid, 500, v);
  assert_true(v[0] == 0.0 && v[1] == 20.0 && v[2] == 1.0 && v[3] == 0.0);
  sweep_member(&s.grid, 999999999, v);
  assert_true(v[0] == 1.0 && v[1] == 20.0 && v[2] == 5.0 && v[3] == 1.0);
  sweep_describe(&s, text);
  assert_string_equal(text, "a (1000000) x b (2) x c (5) x d (100): 1000000000 members");
  sweep_member_text(&s, 500, text);
  assert_string_equal(text, "a = 0, b = 20, c = 1, d = 0");
  sweep_release(&s);
  read_ok("", &s);
  assert_int_equal(s.grid.axes, 0);
  assert_int_equal(s.grid.members, 1);
  sweep_release(&s);
}

static void refusals(void **state) {
  (void)state;
  static const char *const bad[][2] = {
      {"--sweep.a|linspace(0, 1)", "--sweep.a = linspace(0, 1): three numbers"},
      {"--sweep.a|linspace(0, 1, 2, 3)", "three numbers"},
      {"--sweep.a|linspace 0, 1, 2", "three numbers"},
      {"--sweep.a|linspace(0, 1, 10", "--sweep.a = linspace(0, 1, 10: three numbers"},
      {"--sweep.a|linspace(0, 1, 0)", "n is at least 1"},
      {"--sweep.a|linspace(0, 1, 2.5)", "at '2.5'"},
      {"--sweep.a|linspace(0, one, 2)", "at 'one'"},
      {"--sweep.a|linspace(0, inf, 2)", "inf makes no sense"},
      {"--sweep.a|linspace(-1e308, 1e308, 2)", "overflows"},
      {"--sweep.a|geomspace(0, 1, 3)", "one sign"},
      {"--sweep.a|geomspace(-1, 1, 3)", "one sign"},
      {"--sweep.a|geomspace(1e-200, 1e200, 3)", "overflows"},
      {"--sweep.a|logspace(1, 2, 3)",
       "expected linspace(lo, hi, n), geomspace(lo, hi, n) or a list"},
      {"--sweep.a|1, two, 3", "at 'two'"},
      {"--sweep.a|1, , 3", "--sweep.a"},
      {"--sweep.a|1, 2|--parameters.a|3",
       "is in [sweep], and in [parameters] too (--parameters.a)"},
      {"--sweep.a|linspace(0, 1, 1e10)|--sweep.b|linspace(0, 1, 1e10)", "more than 2^53"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    sweep s;
    const status rc = read_words(bad[i][0], &s);
    if (rc != STATUS_USAGE || strstr(fail_text(), bad[i][1]) == NULL) {
      fail_msg("%s: status %d, '%s'", bad[i][0], rc, fail_text());
    }
    sweep_release(&s);
  }
  fail_clear();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(values, release), cmocka_unit_test_teardown(spaces, release),
      cmocka_unit_test_teardown(members, release), cmocka_unit_test_teardown(refusals, release)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
