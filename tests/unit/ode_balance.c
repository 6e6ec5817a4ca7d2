/* Who lends how many blocks to whom: loans cover what is wanted as far as there is something to
 * spare, nobody lends what it does not have or needs itself, nobody gets more than may be moved;
 * and round by round there is an end to it. */
#include <string.h>

#include "balance.h"
#include "test.h"

enum { RANKS = 64 };

static uint64_t seed = 1;

static int64_t below(int64_t n) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)((seed >> 33) % (uint64_t)n);
}

static int64_t mean_of(const ode_standing *all, int size) {
  int64_t total = 0;
  for (int r = 0; r < size; r++) total += all[r].unfinished;
  return (total + size - 1) / size;
}

/* What holds of any loans. The blocks moved. */
static int64_t check(const ode_standing *all, int size, int64_t most, const ode_loan *loans,
                     int count) {
  int64_t given[RANKS] = {0}, got[RANKS] = {0}, moved = 0, spare = 0, wanted = 0;
  const int64_t mean = mean_of(all, size);
  assert_in_range(count, 0, size);
  for (int i = 0; i < count; i++) {
    assert_in_range(loans[i].from, 0, size - 1);
    assert_in_range(loans[i].to, 0, size - 1);
    assert_true(loans[i].from != loans[i].to && loans[i].blocks > 0);
    /* messages are laid out in this order */
    if (i > 0) assert_true(loans[i].to >= loans[i - 1].to && loans[i].from >= loans[i - 1].from);
    given[loans[i].from] += loans[i].blocks;
    got[loans[i].to] += loans[i].blocks;
    moved += loans[i].blocks;
  }
  for (int r = 0; r < size; r++) {
    const int64_t has = all[r].unfinished;
    assert_true(given[r] == 0 || has - given[r] >= mean);
    assert_true(got[r] == 0 || has + got[r] <= mean);
    assert_true(got[r] <= most && (got[r] == 0 || 2 * has < mean));
    if (has > mean) spare += has - mean;
    if (2 * has < mean) wanted += mean - has < most ? mean - has : most;
  }
  /* none while all have half of the mean */
  assert_int_equal(moved, count == 0 ? 0 : wanted < spare ? wanted : spare);
  return moved;
}

static void any_standing(void **state) {
  (void)state;
  for (int round = 0; round < 20000; round++) {
    ode_standing all[RANKS];
    ode_loan loans[RANKS];
    const int size = 1 + (int)below(round % 2 ? 6 : RANKS);
    const int64_t high = INT64_C(1) << below(40), most = 1 + below(INT64_C(1) << below(30));
    int poor = 0, rich = 0;
    memset(all, 0, sizeof all);
    for (int r = 0; r < size; r++) {
      all[r].unfinished = below(3) == 0 ? 0 : below(high);
      poor |= all[r].unfinished == 0;
    }
    const int64_t mean = mean_of(all, size);
    const int count = ode_balance(all, size, most, loans);
    const int64_t moved = check(all, size, most, loans, count);
    for (int r = 0; r < size; r++) rich |= all[r].unfinished > mean;
    if (poor && rich) assert_true(moved > 0); /* nobody is idle while others have plenty */
  }
}

static void known(void **state) {
  (void)state;
  ode_standing all[4] = {{.unfinished = 100}};
  ode_loan loans[4];
  assert_int_equal(ode_balance(all, 4, 1000, loans), 3);
  for (int i = 0; i < 3; i++) {
    assert_true(loans[i].from == 0 && loans[i].to == i + 1 && loans[i].blocks == 25);
  }
  assert_int_equal(ode_balance(all, 4, 7, loans), 3);
  assert_int_equal(loans[2].blocks, 7);
  for (int r = 0; r < 4; r++) all[r].unfinished = 50;
  all[3].unfinished = 25; /* more than half of the mean */
  assert_int_equal(ode_balance(all, 4, 1000, loans), 0);
  memset(all, 0, sizeof all);
  assert_int_equal(ode_balance(all, 4, 1000, loans), 0);
  all[2].unfinished = 1; /* cannot be shared */
  assert_int_equal(ode_balance(all, 4, 1000, loans), 0);
  assert_int_equal(ode_balance(all, 1, 1000, loans), 0);
}

/* Every rank ends a block of its own or of a guest a round: all come to their end, in as many
 * rounds as the mean is blocks and a few. */
static void an_end(void **state) {
  (void)state;
  for (int round = 0; round < 200; round++) {
    ode_standing all[RANKS];
    ode_loan loans[RANKS];
    const int size = 2 + (int)below(RANKS - 2);
    int64_t total = 0, rounds = 0;
    memset(all, 0, sizeof all);
    for (int r = 0; r < size; r++) {
      all[r].unfinished = below(4) ? 0 : below(200);
      total += all[r].unfinished;
    }
    const int64_t mean = mean_of(all, size);
    for (; total > 0; rounds++) {
      int64_t away[RANKS] = {0};
      const int count = ode_balance(all, size, 1000, loans);
      assert_true(rounds <= 2 * mean + 10);
      for (int i = 0; i < count; i++) away[loans[i].from] += loans[i].blocks;
      for (int i = 0; i < count; i++) {
        const int own =
            all[loans[i].to].unfinished > 0 || (i > 0 && loans[i].to == loans[i - 1].to);
        if (own) continue; /* it has enough to do in this round */
        all[loans[i].from].unfinished--;
        total--;
      }
      for (int r = 0; r < size; r++) {
        if (all[r].unfinished - away[r] <= 0) continue;
        all[r].unfinished--;
        total--;
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_standing), cmocka_unit_test(known),
                                     cmocka_unit_test(an_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
