#include "philox.h"
#include "test.h"

static void check_known(philox_words counter, uint64_t key, philox_words expected) {
  philox_words w = philox_rounds(counter, key);
  for (int i = 0; i < 4; i++) assert_int_equal(w.word[i], expected.word[i]);
}

/* The three vectors Random123 publishes for philox4x32-10 (its kat_vectors file). */
static void known_answers(void **state) {
  (void)state;
  check_known((philox_words){{0, 0, 0, 0}}, 0,
              (philox_words){{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  check_known((philox_words){{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, UINT64_MAX,
              (philox_words){{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  check_known((philox_words){{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822u,
              (philox_words){{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

/* Every field lands in bits of its own: 40 + 8 + 48 + 32 of them. */
static void counter_fields_do_not_overlap(void **state) {
  (void)state;
  philox_words a = philox_counter((1ull << 40) - 1, 0, 0, 0), b = philox_counter(0, 255, 0, 0);
  philox_words c = philox_counter(0, 0, (1ull << 48) - 1, 0), d = philox_counter(0, 0, 0, ~0u);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(a.word[i] & b.word[i], 0);
    assert_int_equal(c.word[i] & d.word[i], 0);
    assert_int_equal((a.word[i] | b.word[i]) & (c.word[i] | d.word[i]), 0);
    assert_int_equal(a.word[i] | b.word[i] | c.word[i] | d.word[i], 0xffffffffu);
  }
  philox_words e = philox_counter(0x123456789a, 0xbc, 0xdef012345678, 0x9abcdef0);
  assert_int_equal(e.word[3], 0x12345678);
  assert_int_equal(e.word[2], 0x9abcdef0);
  assert_int_equal(e.word[1], 0x12345678);
  assert_int_equal(e.word[0], 0x9abcdef0);
}

static void uniforms_stay_inside_and_are_even(void **state) {
  (void)state;
  philox_words low = {{0, 0, 0, 0}}, high = {{~0u, ~0u, ~0u, ~0u}};
  assert_same_bits(philox_uniform(low, 0), 0x1p-53);
  assert_same_bits(philox_uniform(high, 1), 1.0 - 0x1p-53);
  enum { SAMPLES = 100000 };
  double sum = 0.0, square = 0.0, product = 0.0;
  for (uint64_t i = 0; i < SAMPLES; i++) {
    philox_words w = philox_at(1, i, PHILOX_RHS, 0, 0);
    double u = philox_uniform(w, 0) - 0.5, v = philox_uniform(w, 1) - 0.5;
    sum += u + v;
    square += u * u + v * v;
    product += u * v;
  }
  /* means of 2e5 draws: standard deviations 6.5e-4, 1.7e-4 and 2.6e-4; five of them allowed */
  assert_true(sum / (2 * SAMPLES) < 3.3e-3 && sum / (2 * SAMPLES) > -3.3e-3);
  assert_true(square / (2 * SAMPLES) < 1.0 / 12 + 8.5e-4 &&
              square / (2 * SAMPLES) > 1.0 / 12 - 8.5e-4);
  assert_true(product / SAMPLES < 1.3e-3 && product / SAMPLES > -1.3e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_answers),
      cmocka_unit_test(counter_fields_do_not_overlap),
      cmocka_unit_test(uniforms_stay_inside_and_are_even),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
