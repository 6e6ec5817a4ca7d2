/* The config grammar, a sentence a test. */
#include "ini.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "test.h"

static ini parsed(const char *text) {
  ini i;
  if (ini_parse("t.ini", text, strlen(text), &i) != STATUS_OK)
    fail_msg("%s: %s", text, fail_text());
  return i;
}

/* The value of the only key of the only section. */
static void value_becomes(const char *text, const char *value) {
  ini i = parsed(text);
  assert_int_equal(i.entries, 1);
  assert_string_equal(i.entry[0].value, value);
  ini_release(&i);
}

/* Refused, and the text says each of the parts. */
static void expect_refused(const char *text, const char *part, const char *other) {
  ini i;
  if (ini_parse("t.ini", text, strlen(text), &i) != STATUS_USAGE) fail_msg("taken: %s", text);
  if (strstr(fail_text(), part) == NULL || strstr(fail_text(), other) == NULL) {
    fail_msg("'%s' does not say '%s' and '%s'", fail_text(), part, other);
  }
  assert_null(i.text);
  fail_clear();
}

static void sections_and_keys_keep_their_lines(void **state) {
  (void)state;
  ini i = parsed("# head\n[solve]\nn = 3\n\nmax-iterations = 4\n[ run ]\nseed=5");
  assert_int_equal(i.sections, 2);
  assert_int_equal(i.entries, 3);
  assert_string_equal(i.entry[1].section, "solve");
  assert_string_equal(i.entry[1].key, "max_iterations");
  assert_int_equal(i.entry[1].line, 5);
  assert_string_equal(i.entry[2].section, "run");
  assert_string_equal(i.entry[2].value, "5");
  assert_int_equal(i.entry[2].section_line, 6);
  ini_release(&i);
}

static void repeats_name_both_lines(void **state) {
  (void)state;
  expect_refused("[a]\nn = 1\nm = 2\nn = 3\n", "t.ini:4:", "line 2");
  expect_refused("[a]\nx-y = 1\nx_y = 3\n", "t.ini:3:", "line 2");
  expect_refused("[a]\nn = 1\n[b]\n\n[a]\n", "t.ini:5:", "line 1");
  ini i = parsed("[a]\nn = 1\n[b]\nn = 2\n");
  assert_int_equal(i.entries, 2);
  ini_release(&i);
}

static void indented_lines_continue(void **state) {
  (void)state;
  value_becomes("[a]\nn = 1,\n  2,\n\t3\n", "1, 2, 3");
  value_becomes("[a]\nn =\n  1\n", "1");
  value_becomes("[a]\nn = 1\n  # a comment\n\n  +2 ; and one\n", "1 +2");
  expect_refused("[a]\n  n = 1\n", "t.ini:2:", "indented");
  expect_refused("  n = 1\n", "t.ini:1:", "indented");
}

static void comments_start_lines_or_follow_blanks(void **state) {
  (void)state;
  value_becomes("[a] # x\n; y\nf = 1 # z\n", "1");
  value_becomes("[a]\nf = 1 ; z\n", "1");
  value_becomes("[a]\nf = a#b;c\n", "a#b;c");
  value_becomes("[a]\nf = \"a # b\" # c\n", "\"a # b\"");
  value_becomes("[a]\nf = 1\t# z \"\n", "1");
}

static void bom_and_crlf_are_accepted(void **state) {
  (void)state;
  value_becomes("\xef\xbb\xbf[a]\r\nf = 1\r\n", "1");
  value_becomes("[a]\nf = \xc3\xa9t\xc3\xa9\n", "\xc3\xa9t\xc3\xa9");
}

static void long_lines(void **state) {
  (void)state;
  char *text;
  ini i;
  assert_ok(alloc_array(&text, INI_LINE_MAX + 64, 1, "text"));
  for (int over = 0; over < 2; over++) {
    memcpy(text, "[a]\nf = ", 8);
    memset(text + 8, 'x', (size_t)(INI_LINE_MAX - 4 + over));
    text[INI_LINE_MAX + 4 + over] = '\n';
    status rc = ini_parse("t.ini", text, (size_t)(INI_LINE_MAX + 5 + over), &i);
    assert_int_equal(rc, over ? STATUS_USAGE : STATUS_OK);
    if (!over) assert_int_equal(strlen(i.entry[0].value), INI_LINE_MAX - 4);
    ini_release(&i);
  }
  assert_non_null(strstr(fail_text(), "t.ini:2:"));
  fail_clear();
  alloc_free(&text);
}

static void what_is_no_config_is_refused(void **state) {
  (void)state;
  expect_refused("[a] b\n", "t.ini:1:", "junk");
  expect_refused("[a\n", "t.ini:1:", "]");
  expect_refused("[]\n", "t.ini:1:", "name");
  expect_refused("[Solve]\n", "t.ini:1:", "lower-case");
  expect_refused("[a]\nN = 1\n", "t.ini:2:", "lower-case");
  expect_refused("[a]\nn 1\n", "t.ini:2:", "key = value");
  expect_refused("[a]\nn: 1\n", "t.ini:2:", "key = value");
  expect_refused("[a]\n= 1\n", "t.ini:2:", "key");
  expect_refused("n = 1\n", "t.ini:1:", "before the first");
  expect_refused("[a]\nn = \"1\n", "t.ini:2:", "quote");
  expect_refused("[a]\nn = 1\x01\n", "t.ini:2:", "control");
  ini i;
  assert_int_equal(ini_parse("t.ini", "[a]\nn = \0001", 10, &i), STATUS_USAGE);
  fail_clear();
  assert_int_equal(ini_read("/", &i), STATUS_USAGE);
  fail_clear();
  assert_int_equal(ini_read("no/such/file.ini", &i), STATUS_USAGE);
  fail_clear();
}

static void scalar_is(const char *text, const char *value) {
  char copy[64], *out;
  snprintf(copy, sizeof copy, "%s", text);
  const char *wrong = ini_scalar(copy, &out);
  if (value == NULL) {
    if (wrong == NULL) fail_msg("%s was taken", text);
  } else {
    assert_null(wrong);
    assert_string_equal(out, value);
  }
}

static void quotes_enclose_a_whole_value(void **state) {
  (void)state;
  scalar_is("\"a, b\"", "a, b");
  scalar_is("\"\"", "");
  scalar_is("\" a \"", " a ");
  scalar_is("a b", "a b");
  scalar_is("", NULL);
  scalar_is("\"a\" b", NULL);
  scalar_is("a \"b\"", NULL);
  scalar_is("\"a\"\"b\"", NULL);
}

/* The items, joined by '|'; NULL: refused. */
static void list_is(const char *text, const char *joined) {
  char copy[128], have[128] = "", *rest = copy, *item;
  snprintf(copy, sizeof copy, "%s", text);
  while (rest != NULL) {
    const char *wrong = ini_list(&rest, &item);
    if (wrong != NULL) {
      if (joined != NULL) fail_msg("%s: %s", text, wrong);
      return;
    }
    if (have[0] != '\0') strcat(have, "|");
    strcat(have, item);
  }
  if (joined == NULL) fail_msg("%s was taken", text);
  assert_string_equal(have, joined);
}

static void lists_are_cut_at_top_level_commas(void **state) {
  (void)state;
  list_is("1", "1");
  list_is("1, 2 ,3", "1|2|3");
  list_is("(0.5, 0.5), (0.2, 0.2)", "(0.5, 0.5)|(0.2, 0.2)");
  list_is("\"a, b\", c", "a, b|c");
  list_is("f(x[0], y), 2", "f(x[0], y)|2");
  list_is("1 2; 3", "1 2; 3");
  list_is("1,", NULL);
  list_is(",1", NULL);
  list_is("1,,2", NULL);
  list_is("(1, 2", NULL);
  list_is("1), 2", NULL);
}

static void command_line_values_have_the_same_grammar(void **state) {
  (void)state;
  char a[] = " 1 # one\n 2 ", b[] = "\"x # y\"", c[] = "\"x", d[] = "", *out;
  assert_ok(ini_argument("--n", a, &out));
  assert_string_equal(out, "1 2");
  assert_ok(ini_argument("--n", b, &out));
  assert_string_equal(out, "\"x # y\"");
  assert_ok(ini_argument("--n", d, &out));
  assert_string_equal(out, "");
  assert_int_equal(ini_argument("--n", c, &out), STATUS_USAGE);
  assert_non_null(strstr(fail_text(), "--n"));
  fail_clear();
}

static void failing_memory_leaks_nothing(void **state) {
  (void)state;
  const char *text = "[a]\nn = 1\n[b]\nm = 2\n";
  int64_t before = alloc_live();
  ini i;
  for (int64_t nth = 1; nth <= 3; nth++) {
    alloc_fail_at(nth);
    assert_int_equal(ini_parse("t.ini", text, strlen(text), &i), STATUS_UNAVAILABLE);
    fail_clear();
    assert_int_equal(alloc_live(), before);
  }
  alloc_fail_at(0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sections_and_keys_keep_their_lines),
      cmocka_unit_test(repeats_name_both_lines),
      cmocka_unit_test(indented_lines_continue),
      cmocka_unit_test(comments_start_lines_or_follow_blanks),
      cmocka_unit_test(bom_and_crlf_are_accepted),
      cmocka_unit_test(long_lines),
      cmocka_unit_test(what_is_no_config_is_refused),
      cmocka_unit_test(quotes_enclose_a_whole_value),
      cmocka_unit_test(lists_are_cut_at_top_level_commas),
      cmocka_unit_test(command_line_values_have_the_same_grammar),
      cmocka_unit_test(failing_memory_leaks_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
