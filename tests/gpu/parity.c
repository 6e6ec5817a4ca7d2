/* The CUDA backend against the reference backend, bit for bit; packed and plain storage, and
 * matrices that come from the host in parts. An argument chooses cases by name, for slow checkers
 * (test_gpu_parity '*large*'), a second one the storage, by its number below. */
#include "parity.h"

#include <stdlib.h>

#include "cuda_plain.h"
#include "gpu.h"

static void sizes_around_warps_and_tiles(void **state) {
  (void)state;
  static const lidx sizes[] = {1, 31, 32, 33, 255, 256, 257, 1000, 65536 + 3};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const shape p = {.what = "gpu", .rows = sizes[i], .ghosts = sizes[i] % 2 * 40};
    const shape band = {.what = "gpu band", .rows = sizes[i], .stencil = 1};
    for (int split = 0; split < 2; split++) {
      all_operations(&p, 1, p.rows, split, FORMAT_AUTO);
      all_operations(&p, 1, INT64_C(1) << 33, split, FORMAT_AUTO);
      all_operations(&band, 1, band.rows, split, FORMAT_AUTO);
    }
  }
}

/* Every size of sum block: totals 256 B .. 512 B - 1 have blocks of B. */
static void every_sum_block(void **state) {
  (void)state;
  for (gidx block = 1; block <= 256; block *= 2) {
    const shape p = {.what = "sum block", .rows = 777, .ghosts = 5};
    all_operations(&p, 1, 256 * block, 0, FORMAT_AUTO);
    all_operations(&p, 1, 512 * block - 1, 1, FORMAT_AUTO);
  }
}

int main(int argc, char **argv) {
  static const int threads[] = {1, 1};
  static const backend *const subjects[] = {&BACKEND_cuda, &BACKEND_cuda_plain,
                                            &BACKEND_cuda_streamed};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_rows),
      cmocka_unit_test(random_matrices_of_awkward_sizes),
      cmocka_unit_test(stencils_of_awkward_sizes),
      cmocka_unit_test(sizes_around_warps_and_tiles),
      cmocka_unit_test(every_sum_block),
      cmocka_unit_test(long_rows),
      cmocka_unit_test(not_finite_entries),
      cmocka_unit_test(large_vectors),
      cmocka_unit_test(the_largest_entry),
      cmocka_unit_test(failing_allocations),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  int rc = gpu_skip(world);
  thread_counts = threads;
  thread_count_count = 2;
  for (int i = 0; i < 3 && rc == 0; i++) {
    if (argc > 2 && atoi(argv[2]) != i) continue;
    subject = subjects[i];
    rc = cmocka_run_group_tests(tests, NULL, NULL);
  }
  comm_close(&world);
  return rc;
}
