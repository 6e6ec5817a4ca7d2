#include "fp_check.h"
#include "test.h"

#include <fenv.h>
#include <string.h>
#include <xmmintrin.h>

enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x0040 };

static void refused_for(const char *what) {
  assert_int_equal(fp_check("in a test"), STATUS_UNAVAILABLE);
  assert_non_null(strstr(fail_text(), what));
  assert_non_null(strstr(fail_text(), "in a test"));
  fail_clear();
}

static void a_plain_thread_passes(void **state) {
  (void)state;
  assert_ok(fp_check("at start"));
  assert_string_equal(fail_text(), "");
}

static void other_rounding_is_refused(void **state) {
  (void)state;
  const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (int i = 0; i < 3; i++) {
    fesetround(modes[i]);
    status rc = fp_check("in a test");
    fesetround(FE_TONEAREST);
    assert_int_equal(rc, STATUS_UNAVAILABLE);
    assert_non_null(strstr(fail_text(), "rounding mode"));
    fail_clear();
  }
  assert_ok(fp_check("afterwards"));
}

static void flushed_denormals_are_refused(void **state) {
  (void)state;
  unsigned plain = _mm_getcsr();
  _mm_setcsr(plain | FLUSH_TO_ZERO);
  refused_for("results are flushed");
  _mm_setcsr(plain | DENORMALS_ARE_ZERO);
  refused_for("operands are read as zero");
  _mm_setcsr(plain | DENORMALS_ARE_ZERO | FLUSH_TO_ZERO);
  refused_for("-ffast-math");
  _mm_setcsr(plain);
  assert_ok(fp_check("afterwards"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plain_thread_passes),
      cmocka_unit_test(other_rounding_is_refused),
      cmocka_unit_test(flushed_denormals_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
