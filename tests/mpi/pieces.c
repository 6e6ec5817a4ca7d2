/* Counts and positions above 2^31: arithmetic alone, no memory (case 167: 4 ranks with 600000000
 * values each). */
#include "pieces.h"
#include "test.h"

#include <limits.h>

/* The pieces of `count` at this limit tile [0, count), each fits an int. */
static void check_tiling(int64_t count, int64_t limit, int64_t pieces) {
  int64_t at = 0;
  assert_int_equal(pieces_number(count, limit), pieces);
  for (int64_t k = 0; k < pieces; k++) {
    assert_int_equal(pieces_begin(k, limit), at);
    assert_true(pieces_length(count, k, limit) > 0);
    assert_true(pieces_length(count, k, limit) <= limit);
    at += pieces_length(count, k, limit);
  }
  assert_int_equal(at, count);
  assert_int_equal(pieces_length(count, pieces, limit), 0);
}

static void four_ranks_with_600000000_values(void **state) {
  (void)state;
  const int64_t values = 600000000;
  check_tiling(values, INT_MAX, 1);
  check_tiling(4 * values, INT_MAX, 2);     /* gathered values */
  check_tiling(8 * values, INT_MAX, 3);     /* a rank's bytes: 4.8e9 */
  check_tiling(4 * 8 * values, INT_MAX, 9); /* all bytes: 1.92e10 */
}

static void edges(void **state) {
  (void)state;
  check_tiling(0, INT_MAX, 0);
  check_tiling(1, INT_MAX, 1);
  check_tiling(INT_MAX, INT_MAX, 1);
  check_tiling((int64_t)INT_MAX + 1, INT_MAX, 2);
  check_tiling(2 * (int64_t)INT_MAX, INT_MAX, 2);
  check_tiling(7, 1, 7);
  check_tiling(7, 3, 3);
  assert_int_equal(pieces_number(INT64_MAX, INT_MAX), 4294967298 + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(four_ranks_with_600000000_values),
      cmocka_unit_test(edges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
