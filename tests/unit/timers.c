/* Phases: one at a time, all of the time, and the slowest rank's add up to its total.
 * ranks: 1 3 */
#define _GNU_SOURCE
#include "timers.h"

#include <time.h>

#include "test.h"

static comm *world;

static void wait_for(double seconds) {
  const double end = comm_clock() + seconds;
  while (comm_clock() < end) {
    const struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
  }
}

static void phases_add_up(void **state) {
  (void)state;
  timers t;
  phase_summary s;
  const int rank = comm_rank(world), size = comm_size(world);
  assert_ok(comm_barrier(world));
  const double began = comm_clock();
  timers_start(&t);
  wait_for(0.02);
  assert_int_equal(timers_switch(&t, PHASE_COMPUTE), PHASE_SETUP);
  wait_for(0.03 * (rank + 1));
  assert_int_equal(timers_switch(&t, PHASE_WRITE), PHASE_COMPUTE);
  assert_int_equal(timers_switch(&t, PHASE_READ), PHASE_WRITE);
  assert_ok(timers_summarise(world, &t, &s));
  double wall = comm_clock() - began, sum = 0.0;
  assert_ok(comm_max_f64(world, &wall, 1));
  for (int p = 0; p < PHASES; p++) {
    sum += s.slowest[p];
    assert_true(s.low[p] <= s.mean[p] * (1 + 1e-12) && s.mean[p] <= s.high[p] * (1 + 1e-12));
  }
  assert_true(sum - s.total < 1e-12 && s.total - sum < 1e-12);
  assert_true(s.slowest[PHASE_SETUP] >= 0.02);
  assert_true(s.high[PHASE_COMPUTE] >= 0.03 * size);
  assert_true(s.low[PHASE_COMPUTE] < s.high[PHASE_COMPUTE] || size == 1);
  assert_true(s.slowest[PHASE_CHECKPOINT] == 0.0);
  assert_true(s.total >= 0.02 + 0.03 * size && s.total <= wall);
}

static void no_timers_is_no_failure(void **state) {
  (void)state;
  assert_int_equal(timers_switch(NULL, PHASE_READ), PHASE_READ);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(phases_add_up),
                                     cmocka_unit_test(no_timers_is_no_failure)};
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
