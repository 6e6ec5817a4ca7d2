/* The report: order, digits, exact integers, non-finite numbers, nesting, files. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "test.h"

static report *filled(void) {
  report *r;
  assert_ok(report_create(&r));
  report_word(r, "program", "halosweep");
  report_integer(r, "large", INT64_MAX);
  report_real(r, "third", 1.0 / 3.0);
  report_real(r, "bad", NAN);
  report_real(r, "down", -INFINITY);
  report_flag(r, "yes", 1);
  report_word(r, "nothing", NULL);
  report_open(r, "inner");
  report_open_list(r, "list");
  report_integer(r, NULL, 7);
  report_word(r, NULL, "a \"quoted\" word");
  report_close(r);
  report_real(r, "tiny", 5e-324);
  report_close(r);
  report_integer(r, "last", -1);
  return r;
}

static void same_value(const char *text, const char *key, const char *expected) {
  char *value = report_lookup(text, key);
  assert_non_null(value);
  assert_string_equal(value, expected);
  alloc_free(&value);
}

static void values_come_back(void **state) {
  (void)state;
  const int64_t live = alloc_live();
  report *r = filled();
  const char *text;
  assert_ok(report_text(r, &text));
  same_value(text, "large", "9223372036854775807");
  same_value(text, "third", "0.33333333333333331");
  same_value(text, "bad", "null");
  same_value(text, "bad_is", "nan");
  same_value(text, "down_is", "-inf");
  same_value(text, "yes", "true");
  same_value(text, "nothing", "null");
  same_value(text, "last", "-1");
  assert_null(report_lookup(text, "third_is"));
  assert_null(report_lookup(text, "missing"));
  assert_null(report_lookup("{ not json", "large"));
  /* the order is that of building, and what was nested is not at the top */
  assert_true(strstr(text, "large") < strstr(text, "third"));
  assert_true(strstr(text, "inner") < strstr(text, "last"));
  assert_null(report_lookup(text, "tiny"));
  assert_non_null(strstr(text, "\"tiny\": 4.9406564584124654e-324"));
  report_release(&r);
  assert_int_equal(alloc_live(), live);
}

static void files(void **state) {
  (void)state;
  report *r = filled();
  const char *text;
  char back[2000];
  assert_int_equal(report_write(r, "no-such-folder/r.json"), STATUS_IO);
  assert_non_null(strstr(fail_text(), "no-such-folder/r.json"));
  fail_clear();
  assert_ok(report_write(r, "report-test.json"));
  FILE *file = fopen("report-test.json", "r");
  assert_non_null(file);
  back[fread(back, 1, sizeof back - 1, file)] = '\0';
  fclose(file);
  remove("report-test.json");
  assert_ok(report_text(r, &text));
  assert_int_equal(strlen(back), strlen(text) + 1);
  assert_memory_equal(back, text, strlen(text));
  report_release(&r);
  report_release(&r);
}

static void sizes_to_read(void **state) {
  (void)state;
  char text[REPORT_BYTES];
  static const struct {
    double bytes;
    const char *text;
  } cases[] = {{0.0, "0.0 kB"},   {4160.0, "4.2 kB"}, {999949.0, "999.9 kB"}, {999950.0, "1.0 MB"},
               {2.5e9, "2.5 GB"}, {7e12, "7.0 TB"},   {4e15, "4000.0 TB"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    report_bytes(cases[i].bytes, text);
    assert_string_equal(text, cases[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_come_back), cmocka_unit_test(files),
                                     cmocka_unit_test(sizes_to_read)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
