/* A heat run over all ranks has the bits of the same run on one rank alone: every scheme, periodic
 * and other faces, values in time, fewer planes than ranks; totals too. And a rank that runs out of
 * memory takes all with it, in order.
 * ranks: 1 2 3 5 */
#include <stdlib.h>

#include "heat_try.h"

static comm *world, *self;

#define D BOUNDARY_DIRICHLET
#define I BOUNDARY_INITIAL
#define N BOUNDARY_NEUMANN
#define R BOUNDARY_ROBIN
#define P BOUNDARY_PERIODIC

static const heat_texts CASES[] = {
    {.name = "line",
     .dims = 1,
     .n = {1300},
     .initial = "x*x*(2-x)",
     .kind = {N, R},
     .face = {"sin(t)", "t"},
     .h = {0, 2},
     .alpha = "1+x",
     .source = "x*t"},
    {.name = "ring", .dims = 1, .n = {1024}, .initial = "exp(-9*(x-0.4)^2)", .kind = {P, P}},
    {.name = "short ring", .dims = 1, .n = {5}, .initial = "x", .kind = {P, P}, .alpha = "1+x"},
    {.name = "plate",
     .dims = 2,
     .n = {9, 17},
     .initial = "x-y*y",
     .kind = {I, N, D, R},
     .face = {NULL, "y", "x+t", "2"},
     .h = {0, 0, 0, 0.5},
     .source = "3"},
    {.name = "around y",
     .dims = 2,
     .n = {7, 4},
     .initial = "x*y",
     .kind = {P, P, P, P},
     .alpha = "2+x*y"},
    {.name = "one plane", .dims = 2, .n = {30, 1}, .initial = "x", .kind = {N, N, P, P}},
    {.name = "two planes around", .dims = 2, .n = {6, 2}, .initial = "x-y", .kind = {N, D, P, P}},
    {.name = "box",
     .dims = 3,
     .n = {5, 4, 7},
     .length = {1, 2, 3},
     .initial = "x*y+z*z",
     .kind = {D, N, P, P, R, D},
     .face = {"z*t", "y", NULL, NULL, "x", "y*cos(t)"},
     .h = {0, 0, 0, 0, 1.5, 0},
     .alpha = "1+z*x"},
};

enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

static void march(heat_try *t, comm *c, int threads, const heat_texts *x, const heat_scheme *s) {
  heat_try_open(t, &BACKEND_omp, c, threads, x, s);
  const double z = isfinite(s->limit(0)) ? s->limit(0) : s->limit(5);
  t->run.dt = 0.7 * (isfinite(z) ? z : 40.0) / t->run.lambda;
  t->run.t_end = 10.3 * t->run.dt;
  heat_try_march(t);
}

static void bits_of_one_rank(void **state) {
  (void)state;
  const heat_scheme *scheme;
  for (int s = 0; (scheme = heat_scheme_at(s)) != NULL; s++) {
    for (int i = 0; i < CASE_COUNT; i++) {
      heat_try all, one;
      heat_totals sums, ours;
      march(&all, world, 1 + i % 2, &CASES[i], scheme);
      march(&one, self, 1, &CASES[i], scheme);
      assert_same_bits(all.run.lambda, one.run.lambda);
      assert_int_equal(all.run.step, 11);
      assert_ok(heat_totals_of(&all.run, all.run.u, &sums));
      assert_ok(heat_totals_of(&one.run, one.run.u, &ours));
      assert_same_bits(sums.heat, ours.heat);
      assert_same_bits(sums.minimum, ours.minimum);
      assert_same_bits(sums.maximum, ours.maximum);
      const double *u = heat_try_field(&all);
      const double *v = heat_try_field(&one) + all.run.slab.first * all.run.slab.plane;
      for (int64_t k = 0; k < heat_owned(&all.run.slab); k++) {
        if (bits_of(u[k]) == bits_of(v[k])) continue;
        fail_msg("%s, %s: point %lld of rank %d: %.17g, alone %.17g", scheme->name, CASES[i].name,
                 (long long)k, comm_rank(world), u[k], v[k]);
      }
      heat_try_close(&all);
      heat_try_close(&one);
    }
  }
}

/* The n-th allocation of the last rank fails. */
static void no_memory_on_one_rank(void **state) {
  (void)state;
  const int last = comm_rank(world) == comm_size(world) - 1;
  const heat_texts *x = &CASES[7];
  int n = 0, failures = 0;
  for (int done = 0; !done; n++) {
    const device_request request = {.threads = 1};
    heat_try t;
    const int64_t live = alloc_live();
    memset(&t, 0, sizeof t);
    heat_try_problem(&t, x);
    t.run.kernels = &BACKEND_ref;
    t.run.world = world;
    t.run.threads = 1;
    t.run.problem = &t.problem;
    assert_ok(BACKEND_ref.open(&request, &t.run.place));
    if (last) alloc_fail_at(n + 1);
    const status rc = heat_open(&t.run, 1);
    alloc_fail_at(0);
    done = rc == STATUS_OK;
    failures += !done;
    if (!done) assert_int_equal(rc, STATUS_UNAVAILABLE);
    heat_try_close(&t);
    assert_int_equal(alloc_live(), live);
  }
  assert_in_range(failures, 15, 60);
}

/* A rank that fails in the loop: all stop at the next meeting. */
static void a_rank_that_fails(void **state) {
  (void)state;
  heat_try t;
  const int last = comm_rank(world) == comm_size(world) - 1;
  heat_try_open(&t, &BACKEND_omp, world, 1, &CASES[3], heat_scheme_find("ftcs"));
  t.run.dt = 1.0 / t.run.lambda;
  t.run.last = 1000;
  if (last) t.run.failure = fail(STATUS_BROKEN, "a device is gone");
  assert_ok(heat_march(&t.run));
  assert_int_equal(t.run.reason, HEAT_FAILED);
  assert_true(t.run.step < 1000);
  fail_clear();
  heat_try_close(&t);
}

/* What is not finite is found, and where: the same on all ranks. */
static void not_finite(void **state) {
  (void)state;
  heat_try t;
  const heat_texts x = {.name = "NaN",
                        .dims = 2,
                        .n = {7, 9},
                        .kind = {N, N, N, N},
                        .initial = "x == 0.5 && y > 0.7 ? log(-1) : 1"};
  heat_try_open(&t, &BACKEND_omp, world, 1, &x, heat_scheme_find("ftcs"));
  t.run.dt = 1.0 / t.run.lambda;
  t.run.last = 1000;
  assert_ok(heat_march(&t.run));
  assert_int_equal(t.run.reason, HEAT_NOT_FINITE);
  assert_int_equal(t.run.step, 0);
  assert_int_equal(t.run.bad_point[0], 3);
  assert_int_equal(t.run.bad_point[1], 6);
  assert_int_equal(t.run.bad_rank, ownership_owner(&t.run.owned, 6));
  assert_true(isnan(t.run.bad_value));
  heat_try_close(&t);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_of_one_rank),
      cmocka_unit_test(no_memory_on_one_rank),
      cmocka_unit_test(a_rank_that_fails),
      cmocka_unit_test(not_finite),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK || comm_self(&self) != STATUS_OK) return 1;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&self);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
