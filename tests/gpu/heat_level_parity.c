/* The levels of implicit heat schemes on cuda against ref, bit for bit (ranks: 1 2). */
#include "gpu.h"
#include "heat_levels.h"

static comm *world;

static void levels(void **state) {
  (void)state;
  level_parity_all(&BACKEND_cuda, world, 1);
}

/* Large enough that a thread goes through several planes. */
static void large(void **state) {
  (void)state;
  static const heat_texts all[] = {
      {.name = "large plate",
       .dims = 2,
       .n = {1801, 1207},
       .alpha = "1+x*y",
       .kind = {BOUNDARY_DIRICHLET, BOUNDARY_NEUMANN, BOUNDARY_NEUMANN, BOUNDARY_DIRICHLET}},
      {.name = "large box",
       .dims = 3,
       .n = {107, 111, 129},
       .kind = {BOUNDARY_DIRICHLET, BOUNDARY_NEUMANN, BOUNDARY_PERIODIC, BOUNDARY_PERIODIC,
                BOUNDARY_NEUMANN, BOUNDARY_DIRICHLET}}};
  for (int i = 0; i < 2; i++) level_parity(&BACKEND_cuda, world, 1, &all[i]);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(levels), cmocka_unit_test(large)};
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  int rc = gpu_skip(world);
  if (rc == 0) rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
