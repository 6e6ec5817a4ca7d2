#include "alloc.h"
#include "test.h"

#include <string.h>

static void sizes_that_overflow_are_refused(void **state) {
  (void)state;
  double *p;
  assert_int_equal(alloc_array(&p, INT64_MAX, sizeof *p, "too much"), STATUS_UNAVAILABLE);
  assert_null(p);
  assert_non_null(strstr(fail_text(), "too much"));
  fail_clear();
  assert_int_equal(alloc_array(&p, -1, sizeof *p, "negative"), STATUS_UNAVAILABLE);
  fail_clear();
}

static void the_nth_allocation_fails_once(void **state) {
  (void)state;
  int *a = NULL, *b = NULL;
  int64_t before = alloc_live();
  alloc_fail_at(2);
  assert_ok(alloc_array(&a, 3, sizeof *a, "a"));
  assert_int_equal(alloc_array(&b, 3, sizeof *b, "b"), STATUS_UNAVAILABLE);
  fail_clear();
  assert_ok(alloc_zeroed(&b, 3, sizeof *b, "b"));
  assert_int_equal(b[2], 0);
  alloc_free(&a);
  alloc_free(&b);
  alloc_free(&b);
  assert_int_equal(alloc_live(), before);
}

static void growing_keeps_what_was_there(void **state) {
  (void)state;
  int *a = NULL;
  assert_ok(alloc_grow(&a, 0, 2, sizeof *a, "a"));
  a[0] = 7, a[1] = 8;
  assert_ok(alloc_grow(&a, 2, 1000, sizeof *a, "a"));
  assert_int_equal(a[0], 7);
  assert_int_equal(a[1], 8);
  alloc_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_that_overflow_are_refused),
      cmocka_unit_test(the_nth_allocation_fails_once),
      cmocka_unit_test(growing_keeps_what_was_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
