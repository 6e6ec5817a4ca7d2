/* The levels of implicit heat schemes on omp against ref, bit for bit (ranks: 1 3). */
#include "heat_levels.h"

static comm *world;

static void levels(void **state) {
  (void)state;
  level_parity_all(&BACKEND_omp, world, 3);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(levels)};
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
