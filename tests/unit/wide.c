/* The wide accumulator against exact values: a table made with Python's fractions (float() of a
 * Fraction is correctly rounded), sums that fit 128-bit integers, and counts reached by arithmetic.
 */
#include "wide.h"
#include "test.h"

#include <math.h>
#include <string.h>

typedef struct exact_sum {
  const char *what;
  int count;
  double term[8];
  double expected;
} exact_sum;

static const exact_sum EXACT[] = {
    {"one and one", 2, {0x1.0000000000000p+0, 0x1.0000000000000p+0}, 0x1.0000000000000p+1},
    {"a tie goes to even, down",
     2,
     {0x1.0000000000000p+0, 0x1.0000000000000p-53},
     0x1.0000000000000p+0},
    {"a tie goes to even, up",
     2,
     {0x1.0000000000001p+0, 0x1.0000000000000p-53},
     0x1.0000000000002p+0},
    {"just above a tie",
     3,
     {0x1.0000000000000p+0, 0x1.0000000000000p-53, 0x0.0000000000001p-1022},
     0x1.0000000000001p+0},
    {"just below a tie",
     3,
     {0x1.0000000000001p+0, 0x1.0000000000000p-53, -0x0.0000000000001p-1022},
     0x1.0000000000001p+0},
    {"cancellation",
     4,
     {0x1.1ccf385ebc8a0p+1023, 0x1.0000000000000p+0, -0x1.1ccf385ebc8a0p+1023,
      0x1.0000000000000p-60},
     0x1.0000000000000p+0},
    {"cancels to zero",
     3,
     {0x1.c000000000000p+1, -0x1.4000000000000p+0, -0x1.2000000000000p+1},
     0.0},
    {"negative",
     3,
     {-0x1.0000000000000p+0, -0x1.0000000000000p-53, -0x0.0000000000001p-1022},
     -0x1.0000000000001p+0},
    {"smallest denormals",
     3,
     {0x0.0000000000001p-1022, 0x0.0000000000001p-1022, 0x0.0000000000001p-1022},
     0x0.0000000000003p-1022},
    {"denormal and normal",
     2,
     {0x1.0000000000000p-1022, -0x0.0000000000001p-1022},
     0x0.fffffffffffffp-1022},
    {"denormal difference",
     2,
     {0x1.0000000000002p-1022, -0x1.0000000000000p-1022},
     0x0.0000000000002p-1022},
    {"denormal carry to normal",
     2,
     {0x0.fffffffffffffp-1022, 0x0.0000000000001p-1022},
     0x1.0000000000000p-1022},
    {"denormal minus more",
     2,
     {0x0.0000000000001p-1022, -0x1.0000000000000p-1022},
     -0x0.fffffffffffffp-1022},
    {"largest", 1, {0x1.fffffffffffffp+1023}, 0x1.fffffffffffffp+1023},
    {"largest and half an ulp", 2, {0x1.fffffffffffffp+1023, 0x1.0000000000000p+970}, INFINITY},
    {"largest and less than half an ulp",
     3,
     {0x1.fffffffffffffp+1023, 0x1.0000000000000p+970, -0x0.0000000000001p-1022},
     0x1.fffffffffffffp+1023},
    {"overflow", 2, {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023}, INFINITY},
    {"overflow and back",
     5,
     {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023,
      -0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+1023},
     0x1.fffffffffffffp+1023},
    {"negative overflow", 2, {-0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+1023}, -INFINITY},
    {"negative overflow and back",
     3,
     {-0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023},
     -0x1.fffffffffffffp+1023},
    {"2^1024 minus one ulp",
     3,
     {0x1.0000000000000p+1023, 0x1.0000000000000p+1023, -0x1.0000000000000p+970},
     INFINITY},
    {"2^1024 minus half an ulp",
     4,
     {0x1.0000000000000p+1023, 0x1.0000000000000p+1023, -0x1.0000000000000p+970,
      0x1.0000000000000p+969},
     INFINITY},
    {"sticky far below",
     3,
     {0x1.0000000000000p+1000, 0x1.0000000000000p+947, 0x0.0000000000001p-1022},
     0x1.0000000000001p+1000},
    {"sticky far below, negative",
     3,
     {-0x1.0000000000000p+1000, -0x1.0000000000000p+947, 0x0.0000000000001p-1022},
     -0x1.0000000000000p+1000},
    {"carry through all limbs",
     2,
     {0x1.0000000000000p+1000, -0x0.0000000000001p-1022},
     0x1.0000000000000p+1000},
    {"thirds",
     4,
     {0x1.5555555555555p-2, 0x1.5555555555555p-2, 0x1.5555555555555p-2, -0x1.0000000000000p+0},
     -0x1.0000000000000p-54},
    {"random 0",
     5,
     {-0x1.128b2f3a47e10p-394, -0x1.5d9dc9f2a6330p-512, -0x1.099950c2c0146p-1001,
      0x1.11e20b87b382ep-616, 0x1.0f21ddba75929p-968},
     -0x1.128b2f3a47e10p-394},
    {"random 1",
     4,
     {-0x1.f9ebdac7131a3p+903, -0x1.4a23d58d69964p+900, -0x1.92276649df154p+901,
      -0x1.94e3bf92474e6p+901},
     -0x1.76798f77e4f2fp+904},
    {"random 2",
     5,
     {-0x0.0000000000001p-1022, 0x0.000000000000cp-1022, 0x0.000000000000ap-1022,
      -0x0.0000000000002p-1022, 0x0.0000000000008p-1022},
     0x0.000000000001bp-1022},
    {"random 3",
     5,
     {0x1.2a3af4d83a7fap+900, -0x1.eeeacbefa595fp+902, -0x1.f646e1f562064p+903,
      0x1.571242563fdc1p+900, -0x1.2a3af4d83a7fap+900},
     -0x1.616cffd1366aep+904},
    {"random 4",
     3,
     {-0x1.0f88081765a84p+653, 0x1.a5aa3c927e891p+658, 0x1.0f88081765a84p+653},
     0x1.a5aa3c927e891p+658},
    {"random 5",
     8,
     {0x1.2b0537f38ca72p-57, 0x1.0f17a306fb8eep-60, -0x1.bd0561e7ec75fp-58, 0x1.eab477dbe2b05p-57,
      -0x1.2a96fb0e5fbe4p-57, 0x1.e225714461b2ep-57, 0x1.b4d66a2d4a1bep-57, -0x1.2b0537f38ca72p-57},
     0x1.cd3ccdd60bfbep-56},
    {"random 6",
     4,
     {-0x1.0316908f84d08p-1018, -0x1.43435cc905939p-1007, -0x0.0000000005ad0p-1022,
      0x0.0003e7fc73881p-1022},
     -0x1.4363bf93478b5p-1007},
    {"random 7",
     7,
     {0x1.65e7e42cc46f4p+903, -0x1.7b4514544c19ap+903, -0x1.30cbc96227b62p+903,
      0x1.298cb3a384886p+901, -0x1.1a358ca001e94p+902, -0x1.f2ee4e4ba2b14p+901,
      -0x1.dfd43f26a78c6p+900},
     -0x1.20cb573446687p+904},
    {"random 8",
     4,
     {0x1.7961fd83ee52dp+17, 0x1.fe3bfadf4a537p-46, 0x1.7bdc9689fab1bp-1, -0x1.7961fd83ee52dp+17},
     0x1.7bdc9689fac1ap-1},
    {"random 9",
     5,
     {-0x1.3488f87e6e794p+23, 0x1.2587be761508ap+50, -0x1.c215a830e645cp+24, -0x1.b239f3db0de82p+9,
      0x1.3488f87e6e794p+23},
     0x1.2587be058ec57p+50},
    {"random 10",
     4,
     {-0x1.9cfc8659f7e66p+981, -0x1.ce5b2a87a9105p+1000, 0x1.bd685179b4d8ep+1004,
      0x1.9cfc8659f7e66p+981},
     0x1.a0829ed13a47ep+1004},
    {"random 11",
     3,
     {0x1.3192b7162923cp-1014, 0x1.727d8359dfc54p-997, -0x1.3192b7162923cp-1014},
     0x1.727d8359dfc54p-997},
    {"random 12",
     4,
     {-0x0.00000559d7daap-1022, -0x0.000005eafb14fp-1022, 0x0.003996ae7a929p-1022,
      -0x0.000000000003dp-1022},
     0x0.00398b69a79f3p-1022},
    {"random 13",
     4,
     {0x1.16353d19a058cp+17, 0x1.7691b06cd8292p+50, -0x1.b98c67c515594p+37, -0x1.070d7104d63a0p+0},
     0x1.7683e40a251adp+50},
    {"random 14",
     6,
     {0x1.27e9e0718e9f8p-387, -0x1.057a40a074adap-499, -0x1.86ce03f7fbdf8p-242,
      -0x1.6f0e229f91d01p-104, -0x1.d37ee91bf70b8p-168, -0x1.27e9e0718e9f8p-387},
     -0x1.6f0e229f91d01p-104},
    {"random 15",
     4,
     {0x1.d58dcda431c16p+933, 0x1.e5cfedeea9414p+907, 0x1.d3bf6d1d5df8ap+984,
      -0x1.8825ae44dbd80p+1012},
     -0x1.8825ae279fe13p+1012},
    {"random 16",
     3,
     {-0x1.c6aa7d5992cdep+28, -0x1.243d356f26daap-1, 0x1.c6aa7d5992cdep+28},
     -0x1.243d356f26daap-1},
    {"random 17",
     7,
     {-0x1.e21b37d1edf22p+1023, -0x1.30f97048dc813p+958, -0x1.81f98b4e7839ap+943,
      -0x1.c28ee91c9bbf3p+1023, -0x1.7178ba0a6b6d4p+1023, -0x1.b156d1a8deb43p+1023,
      0x1.e21b37d1edf22p+1023},
     -INFINITY},
    {"random 18",
     7,
     {0x1.231b3e0d55174p-7, 0x1.712ea6aa1c81ap-53, -0x1.6da79a8257016p-56, 0x1.c8b007e3ea4a4p-47,
      -0x1.f0836096ea744p-3, 0x1.249a45881975ap-19, -0x1.231b3e0d55174p-7},
     -0x1.f0823bfca4cf5p-3},
    {"random 19",
     3,
     {-0x1.2955d6f69a33ep+156, 0x1.56d050cd7b18cp+431, 0x1.518ae442f340ep+190},
     0x1.56d050cd7b18cp+431},
    {"random 20",
     3,
     {-0x1.626467aa9ba17p+391, 0x1.83239efebeaaap+469, -0x1.fc2e6a5d64bf1p+5},
     0x1.83239efebeaaap+469},
    {"random 21",
     3,
     {-0x0.000079fa3e7e4p-1022, 0x0.0000000e0bd49p-1022, 0x1.d97e967d2a4d4p-970},
     0x1.d97e967d2a4d4p-970},
    {"random 22",
     5,
     {0x1.b34e8eca772e6p+24, 0x1.0eba0eb99638ap-5, -0x1.6ce193dca62d2p+34, 0x1.f037afc089e2ap-6,
      -0x1.b34e8eca772e6p+24},
     -0x1.6ce193dca21f7p+34},
    {"random 23",
     4,
     {-0x1.742a80605e966p-964, 0x0.00f69d195ea59p-1022, -0x0.000042c3e1cc3p-1022,
      -0x1.f029052380a06p-984},
     -0x1.742a9f62eee8ap-964},
};
enum { CASES = sizeof EXACT / sizeof EXACT[0] };

/* A small generator of test values: a function of its argument. */
static uint64_t scramble(uint64_t z) {
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static double sum_of(const double *term, int count) {
  wide w;
  wide_clear(&w);
  for (int i = 0; i < count; i++) wide_add(&w, term[i]);
  return wide_round(&w);
}

static void sums_are_correctly_rounded(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++) {
    double sum = sum_of(EXACT[c].term, EXACT[c].count);
    if (bits_of(sum) != bits_of(EXACT[c].expected)) {
      fail_msg("%s: %a, expected %a", EXACT[c].what, sum, EXACT[c].expected);
    }
  }
}

/* 1 and half an ulp is a tie; the smallest bit anywhere below decides it, at every alignment. */
static void every_bit_below_a_tie_counts(void **state) {
  (void)state;
  for (int shift = -400; shift < 400; shift++) {
    for (int down = 54; down < 260; down++) {
      const double one = ldexp(1.0, shift), half = ldexp(1.0, shift - 53);
      const double bit = ldexp(1.0, shift - down);
      assert_same_bits(sum_of((double[]){one, half, bit}, 3), one * (1.0 + 0x1p-52));
      assert_same_bits(sum_of((double[]){one, half, -bit}, 3), one);
    }
  }
}

static void negated_terms_give_the_negated_sum(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++) {
    double term[8];
    for (int i = 0; i < EXACT[c].count; i++) term[i] = -EXACT[c].term[i];
    double expected = EXACT[c].expected == 0.0 ? 0.0 : -EXACT[c].expected;
    assert_same_bits(sum_of(term, EXACT[c].count), expected);
  }
}

/* Random finite doubles of all sizes. */
static double any_double(uint64_t i) {
  uint64_t bits = scramble(i + 1);
  return (bits >> 52 & 0x7ff) == 0x7ff ? 1.0 : double_of(bits);
}

static void any_order_and_any_grouping_give_the_same_words(void **state) {
  (void)state;
  enum { TERMS = 1000, GROUPS = 7 };
  wide forward, backward, group[GROUPS], merged;
  wide_clear(&forward);
  wide_clear(&backward);
  wide_clear(&merged);
  for (int g = 0; g < GROUPS; g++) wide_clear(&group[g]);
  for (int i = 0; i < TERMS; i++) {
    wide_add(&forward, any_double((uint64_t)i));
    wide_add(&backward, any_double((uint64_t)(TERMS - 1 - i)));
    wide_add(&group[i % GROUPS], any_double((uint64_t)i));
    if (i % 100 == 0) wide_normalise(&backward);
  }
  for (int g = GROUPS - 1; g >= 0; g--) {
    wide_normalise(&group[g]);
    wide_merge(&merged, &group[g]);
  }
  wide_normalise(&forward);
  wide_normalise(&backward);
  wide_normalise(&merged);
  assert_memory_equal(&forward, &backward, sizeof forward);
  assert_memory_equal(&forward, &merged, sizeof forward);
}

static void sums_within_128_bits_agree_with_integers(void **state) {
  (void)state;
  __extension__ typedef __int128 integer;
  for (int trial = 0; trial < 20000; trial++) {
    int shift = (int)(scramble((uint64_t)trial) % 1900) - 1074; /* no term overflows */
    integer exact = 0;
    wide w;
    wide_clear(&w);
    for (int i = 0; i < 9; i++) {
      uint64_t random = scramble((uint64_t)(trial * 16 + i) + 77);
      integer term = (integer)((int64_t)random >> 11) * ((integer)1 << random % 70);
      /* every other time all but the last bits of the sum go away */
      if (i == 8 && trial % 2 == 0) term = -(integer)(double)exact;
      exact += term;
      wide_add(&w, ldexp((double)term, shift)); /* exact: 53 bits and zeros */
    }
    double expected = ldexp((double)exact, shift);
    /* (double) rounds; ldexp into the denormals would round again */
    if (fabs(expected) < 0x1p-1022 && exact != (integer)(double)exact) continue;
    assert_same_bits(wide_round(&w), expected);
  }
}

/* value * count added at once: what `count` additions leave in the limbs. */
static void add_times(wide *w, double value, int64_t count) {
  int64_t digit[3];
  int at = wide_split(value, digit);
  for (int i = 0; i < 3; i++) w->word[at + i] += digit[i] * count;
}

static void the_allowed_number_of_additions_loses_nothing(void **state) {
  (void)state;
  const double value[] = {0x1.fffffffffffffp+0,    -0x1.fffffffffffffp+0,
                          0x1.fffffffffffffp-1000, -0x1.fffffffffffffp-1000,
                          0x0.fffffffffffffp-1022, -0x1.8p+700};
  for (int v = 0; v < 6; v++) {
    wide w;
    wide_clear(&w);
    add_times(&w, value[v], WIDE_ADDITIONS - 1);
    wide_add(&w, value[v]);
    assert_same_bits(wide_round(&w), ldexp(value[v], 30));
    /* 2^40 in all, carried every 2^30; then once more on top of a full accumulator */
    for (int i = 1; i < 1024; i++) {
      wide_normalise(&w);
      add_times(&w, value[v], WIDE_ADDITIONS);
    }
    assert_same_bits(wide_round(&w), ldexp(value[v], 40));
    wide_normalise(&w);
    add_times(&w, -value[v], WIDE_ADDITIONS);
    assert_same_bits(wide_round(&w), value[v] * (0x1p40 - 0x1p30));
  }
}

static void many_normalised_accumulators_may_be_merged(void **state) {
  (void)state;
  wide w, total;
  wide_clear(&w);
  wide_add(&w, -0x1p-1074);
  wide_normalise(&w); /* every limb full */
  total = w;
  for (int i = 0; i < WIDE_WORDS; i++) total.word[i] *= WIDE_ADDITIONS;
  assert_same_bits(wide_round(&total), -0x1p-1044);
}

static void millions_of_largest_doubles_still_come_back(void **state) {
  (void)state;
  wide w;
  wide_clear(&w);
  const double largest = 0x1.fffffffffffffp+1023;
  add_times(&w, largest, WIDE_ADDITIONS);
  assert_same_bits(wide_round(&w), INFINITY);
  wide_normalise(&w);
  add_times(&w, -largest, WIDE_ADDITIONS - 1);
  assert_same_bits(wide_round(&w), largest);
}

static void not_finite_terms_follow_the_rules(void **state) {
  (void)state;
  double nan = double_of(UINT64_C(0xfff8) << 48);
  assert_true(isnan(sum_of((double[]){1.0, nan}, 2)));
  assert_true(isnan(sum_of((double[]){INFINITY, nan}, 2)));
  assert_true(isnan(sum_of((double[]){INFINITY, 1.0, -INFINITY}, 3)));
  assert_true(isnan(sum_of((double[]){double_of((UINT64_C(0x7ff) << 52) + 1)}, 1)));
  assert_same_bits(sum_of((double[]){INFINITY, -1e308, INFINITY}, 3), INFINITY);
  assert_same_bits(sum_of((double[]){1e308, -INFINITY, 1e308}, 3), -INFINITY);
}

static void zero_is_positive(void **state) {
  (void)state;
  assert_same_bits(sum_of((double[]){-0.0, -0.0}, 2), 0.0);
  assert_same_bits(sum_of((double[]){0.0}, 0), 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_correctly_rounded),
      cmocka_unit_test(every_bit_below_a_tie_counts),
      cmocka_unit_test(negated_terms_give_the_negated_sum),
      cmocka_unit_test(any_order_and_any_grouping_give_the_same_words),
      cmocka_unit_test(sums_within_128_bits_agree_with_integers),
      cmocka_unit_test(the_allowed_number_of_additions_loses_nothing),
      cmocka_unit_test(many_normalised_accumulators_may_be_merged),
      cmocka_unit_test(millions_of_largest_doubles_still_come_back),
      cmocka_unit_test(not_finite_terms_follow_the_rules),
      cmocka_unit_test(zero_is_positive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
