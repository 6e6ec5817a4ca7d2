/* A GPU that fails while the host looks at a verdict. A program of its own: a process whose GPU has
 * failed once cannot use it again. ranks: 1 2 */
#include "block_sum.h"
#include "gpu.h"
#include "solve_backend.h"
#include "test.h"

static comm *world;

/* A device that fails between a step and the look at it, one rank: look() neither waits for a state
 * that will not come nor hands out an old one. Several ranks: the state is the host's, and says
 * "not finite". */
static void a_look_at_a_failing_gpu_ends(void **state) {
  (void)state;
  const backend *b = &BACKEND_cuda;
  const device_request request = {.node_rank = comm_node_rank(world)};
  const solve_state start = {.scale = 1.0, .limit = 1e300, .target = -1.0};
  device *d;
  dptr s;
  vec r = {.rows = 1000, .block = BLOCK_MAX}, bad = {.data = {(void *)(uintptr_t)64}, .rows = 1000};
  solve_state seen = {.verdict = -1};
  assert_ok(b->open(&request, &d));
  assert_ok(b->alloc(d, 8000, "vector", &r.data));
  assert_ok(b->fill(d, r, 1.0));
  assert_ok(b->alloc(d, sizeof start, "state", &s));
  assert_ok(b->copy_in(d, s, (hptr){(void *)(uintptr_t)&start}, sizeof start));
  b->fill(d, bad, 1.0); /* launched: fails while the step below is issued, or before */
  status rc = b->solve->cg_residual(d, r, (vec){.rows = 1000}, r, s);
  if (rc == STATUS_OK || comm_size(world) > 1) rc = b->solve->judge(d, world, JUDGE_CG_START, s, 0);
  if (comm_size(world) > 1) {
    assert_ok(rc);
    assert_ok(b->solve->look(d, s, 1, &seen));
    assert_int_equal(seen.verdict, VERDICT_NOT_FINITE);
  } else {
    if (rc == STATUS_OK) rc = b->solve->look(d, s, 1, &seen);
    assert_int_equal(rc, STATUS_BROKEN);
    assert_int_equal(seen.verdict, -1);
  }
  fail_clear();
  b->release(d, &r.data);
  b->release(d, &s);
  b->close(&d);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_look_at_a_failing_gpu_ends)};
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = gpu_skip(world);
  if (rc == 0) rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
