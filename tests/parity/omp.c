/* The OpenMP backend against the reference backend, bit for bit. */
#include "parity.h"

int main(int argc, char **argv) {
  static const int threads[] = {1, 2, 3, 7};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_rows),
      cmocka_unit_test(random_matrices_of_awkward_sizes),
      cmocka_unit_test(stencils_of_awkward_sizes),
      cmocka_unit_test(long_rows),
      cmocka_unit_test(not_finite_entries),
      cmocka_unit_test(large_vectors),
      cmocka_unit_test(the_largest_entry),
      cmocka_unit_test(failing_allocations),
  };
  subject = &BACKEND_omp;
  thread_counts = threads;
  thread_count_count = 4;
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
