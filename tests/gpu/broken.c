/* A GPU that fails in mid-run (here by a kernel that writes where nothing is): its rank's
 * operations answer STATUS_BROKEN and name the kernel, it goes on taking part in sums, all ranks
 * stop at the same step, and none hangs. ranks: 1 2 3 */
#include <string.h>

#include "block_sum.h"
#include "gpu.h"
#include "solve_backend.h"
#include "test.h"

static comm *world;

static void a_failing_gpu_stops_all_ranks(void **state) {
  (void)state;
  const backend *b = &BACKEND_cuda;
  const int mine = comm_rank(world) == comm_size(world) - 1;
  const device_request request = {.node_rank = comm_node_rank(world)};
  const solve_state start = {.scale = 1.0, .limit = 1e300, .target = -1.0};
  device *d;
  dptr s;
  vec r = {.rows = 1000, .block = BLOCK_MAX}, bad = {.data = {(void *)(uintptr_t)64}, .rows = 1000};
  solve_state seen = {0};
  double sum = 0.0;
  assert_ok(b->open(&request, &d));
  assert_ok(b->alloc(d, 8000, "vector", &r.data));
  assert_ok(b->fill(d, r, 1.0));
  assert_ok(b->alloc(d, sizeof start, "state", &s));
  assert_ok(b->copy_in(d, s, (hptr){(void *)(uintptr_t)&start}, sizeof start));
  assert_ok(b->solve->cg_residual(d, r, (vec){.rows = 1000}, r, s));
  assert_ok(b->solve->judge(d, world, JUDGE_CG_START, s, 0));
  assert_ok(b->solve->look(d, s, 1, &seen));
  assert_int_equal(seen.verdict, VERDICT_NONE);
  if (mine) b->fill(d, bad, 1.0);
  status rc = b->dot(d, r, r, 1.0); /* may or may not notice yet */
  rc = b->sums(d, world, 1, NULL, &sum);
  if (comm_size(world) > 1) {
    assert_ok(rc);
    assert_true(sum != sum);
    assert_ok(b->solve->judge(d, world, JUDGE_CG_RESIDUAL, s, 0));
    assert_ok(b->solve->look(d, s, 2, &seen));
    assert_int_equal(seen.verdict, VERDICT_NOT_FINITE);
  } else {
    assert_int_equal(rc, STATUS_BROKEN);
  }
  if (mine) {
    fail_clear();
    assert_int_equal(b->fill(d, r, 1.0), STATUS_BROKEN);
    assert_non_null(strstr(fail_text(), "kernel"));
    assert_non_null(strstr(fail_text(), "cudaErrorIllegalAddress"));
    fail_clear();
  }
  b->release(d, &r.data);
  b->release(d, &s);
  b->close(&d);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_failing_gpu_stops_all_ranks)};
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = gpu_skip(world);
  if (rc == 0) rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
