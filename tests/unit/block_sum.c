/* The order of block sums, against the same order written out naively. */
#include "block_sum.h"
#include "test.h"

static void block_sizes_follow_the_global_length(void **state) {
  (void)state;
  const int64_t expected[][2] = {{0, 1},       {1, 1},       {255, 1},     {256, 1},
                                 {511, 1},     {512, 2},     {1023, 2},    {1024, 4},
                                 {8191, 16},   {8192, 32},   {32767, 64},  {32768, 128},
                                 {65535, 128}, {65536, 256}, {65537, 256}, {INT64_C(1) << 40, 256}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    assert_int_equal(block_size(expected[i][0]), expected[i][1]);
  }
}

/* Values whose sum depends on the order. */
static double term(int i) { return (i % 3 - 1) * (1.0 + 1.0 / (i + 3)) * (i % 5 == 0 ? 1e6 : 1.0); }

/* Lanes min(32, B), missing elements skipped, tree from lanes / 2: word for word. */
static double by_definition(int count, int block, int dot) {
  int lanes = block < 32 ? block : 32;
  double lane[32];
  for (int l = 0; l < lanes; l++) {
    lane[l] = 0.0;
    for (int i = l; i < count; i += lanes) {
      lane[l] = dot ? fma(term(i), term(i + 1), lane[l]) : lane[l] + term(i);
    }
  }
  for (int half = lanes / 2; half >= 1; half /= 2) {
    double old[32];
    for (int l = 0; l < lanes; l++) old[l] = lane[l];
    for (int l = 0; l < lanes; l++) lane[l] = old[l] + old[l ^ half];
  }
  return lane[0];
}

static void sums_and_dots_keep_the_order(void **state) {
  (void)state;
  double x[BLOCK_MAX + 1];
  for (int i = 0; i <= BLOCK_MAX; i++) x[i] = term(i);
  for (int block = 1; block <= BLOCK_MAX; block *= 2) {
    for (int count = 0; count <= block; count++) {
      assert_same_bits(block_sum(x, count), by_definition(count, block, 0));
      assert_same_bits(block_dot(x, x + 1, count), by_definition(count, block, 1));
    }
  }
}

static void missing_elements_are_as_good_as_zeros(void **state) {
  (void)state;
  double x[BLOCK_MAX] = {0.0};
  for (int i = 0; i < 37; i++) x[i] = -0.0;
  assert_same_bits(block_sum(x, 37), 0.0);
  assert_same_bits(block_sum(x, 32), 0.0);
  assert_same_bits(block_sum(x, 1), 0.0);
  for (int i = 0; i < 37; i++) x[i] = term(i);
  assert_same_bits(block_sum(x, 37), block_sum(x, BLOCK_MAX));
  assert_same_bits(block_dot(x, x, 37), block_dot(x, x, BLOCK_MAX));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_sizes_follow_the_global_length),
      cmocka_unit_test(sums_and_dots_keep_the_order),
      cmocka_unit_test(missing_elements_are_as_good_as_zeros),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
