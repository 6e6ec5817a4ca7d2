#include "fingerprint.h"
#include "test.h"

#include <math.h>
#include <string.h>

static void parts_add_up_to_the_whole(void **state) {
  (void)state;
  double x[100];
  for (int i = 0; i < 100; i++) x[i] = 1.0 / (i + 1);
  uint64_t whole = fingerprint_of(x, 0, 100);
  assert_true(whole == fingerprint_of(x + 37, 37, 63) + fingerprint_of(x, 0, 37));
  assert_false(whole == fingerprint_of(x, 1, 100));
}

static void one_bit_or_two_places_are_seen(void **state) {
  (void)state;
  const double x[] = {1.0, 2.0, 3.0}, last_bit[] = {1.0, 2.0, 0x1.8000000000001p+1},
               exchanged[] = {2.0, 1.0, 3.0};
  uint64_t f = fingerprint_of(x, 0, 3);
  assert_false(f == fingerprint_of(last_bit, 0, 3));
  assert_false(f == fingerprint_of(exchanged, 0, 3));
  assert_false(fingerprint_element(5, 0.0) == fingerprint_element(5, -0.0));
}

static void all_nans_are_one(void **state) {
  (void)state;
  uint64_t f = fingerprint_element(9, double_of(UINT64_C(0x7ff8) << 48));
  assert_true(f == fingerprint_element(9, double_of(UINT64_C(0xfff8) << 48)));
  assert_true(f == fingerprint_element(9, double_of((UINT64_C(0x7ff) << 52) + 12345)));
  assert_false(f == fingerprint_element(9, INFINITY));
}

/* The published first outputs of SplitMix64 seeded with 0 are the mix of 0 and of its increment. */
static void the_mix_is_splitmix64(void **state) {
  (void)state;
  assert_true(fingerprint_mix(0) == UINT64_C(0xe220a8397b1dcdaf));
  assert_true(fingerprint_mix(UINT64_C(0x9e3779b97f4a7c15)) == UINT64_C(0x6e789e6aa1b965f4));
}

static void text_has_16_digits(void **state) {
  (void)state;
  char text[FINGERPRINT_TEXT];
  fingerprint_text(UINT64_C(0x00123456789abcdf), text);
  assert_string_equal(text, "00123456789abcdf");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_add_up_to_the_whole), cmocka_unit_test(one_bit_or_two_places_are_seen),
      cmocka_unit_test(all_nans_are_one),          cmocka_unit_test(the_mix_is_splitmix64),
      cmocka_unit_test(text_has_16_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
