/* Ensembles over ranks: the bits of one rank, with costs that differ a hundredfold and with more
 * ranks than blocks, on every CPU backend; blocks that are lent and come home; and a rank that runs
 * out of memory takes all with it, in order.
 * ranks: 1 2 3 5 */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "balance.h"
#include "function.h"
#include "ode_tableau.h"
#include "statistics.h"
#include "test.h"

enum { N = 2, P = 1, SAVES = 2 };

static comm *world, *self;
static double save_at[SAVES] = {0.25, 1.0}, common[] = {0.5};

/* x'' = -(w x), with a drag that all share. */
static const char *const names[] = {"t", "x", "v", "drag", "w", NULL};
static const char *const rhs[] = {"v", "-w*x - drag*v"};

typedef struct trial {
  ode_ensemble e;
  timers timers;
  device *place;
  function *rhs;
} trial;

/* The last eighth of the trajectories costs a hundred times as much. */
static void start(void *context, int64_t first, int64_t count, double *y, double *p) {
  const int64_t all = *(const int64_t *)context;
  for (int64_t k = 0; k < count; k++) {
    const int64_t i = first + k;
    y[N * k] = 1.0 + 1e-3 * (double)i;
    y[N * k + 1] = (double)(i % 7);
    p[k] = i < all - all / 8 ? 1.0 + 1e-4 * (double)i : 2e5;
  }
}

static void trial_problem(trial *t, comm *c, const backend *b, int threads, int64_t *count) {
  static const char *const where[] = {"test", "test"};
  const device_request wanted = {.threads = threads};
  const function_request request = {
      .texts = rhs, .where = where, .names = names, .outputs = N, .plain = 1};
  memset(t, 0, sizeof *t);
  assert_ok(b->open(&wanted, &t->place));
  assert_ok(function_create(c, NULL, &request, &t->rhs));
  timers_start(&t->timers);
  t->e = (ode_ensemble){.kernels = b, .place = t->place, .world = c, .timers = &t->timers};
  t->e.f.rhs = function_formula(t->rhs);
  t->e.plan = (ode_plan){.kind = ODE_RUNGE_KUTTA, .variant = ODE_TSIT5, .adaptive = 1, .order = 5};
  t->e.plan.components = N;
  t->e.plan.shared = P;
  t->e.plan.parameters = P;
  t->e.plan.t_end = 1.0;
  t->e.plan.rtol = t->e.plan.atol = 1e-4;
  t->e.plan.max_steps = 100000;
  t->e.plan.saves = SAVES;
  t->e.save_at = save_at;
  t->e.common = common;
  t->e.trajectories = *count;
  t->e.start = start;
  t->e.context = count;
}

static void trial_close(trial *t) {
  ode_ensemble_close(&t->e);
  function_release(&t->rhs);
  t->e.kernels->close(&t->place);
}

static void same_row(const ode_rows *a, int64_t i, const ode_rows *b, int64_t k) {
  assert_memory_equal(a->y + N * i, b->y + N * k, N * sizeof(double));
  assert_memory_equal(a->p + P * i, b->p + P * k, P * sizeof(double));
  assert_memory_equal(a->saved + N * SAVES * i, b->saved + N * SAVES * k,
                      N * SAVES * sizeof(double));
  assert_same_bits(a->t[i], b->t[k]);
  assert_same_bits(a->h[i], b->h[k]);
  assert_same_bits(a->memory[i], b->memory[k]);
  assert_int_equal(a->attempts[i], b->attempts[k]);
  assert_int_equal(a->rejected[i], b->rejected[k]);
  assert_int_equal(a->status[i], b->status[k]);
}

static const double quantiles[] = {0.0, 0.37, 1.0};

/* Exact sums and counts: no rank, no order of theirs in it. */
static void same_statistics(const ode_ensemble *a, const ode_ensemble *b) {
  ode_statistics s, t;
  assert_ok(ode_statistics_create(a, quantiles, 3, 9, &s));
  assert_ok(ode_statistics_create(b, quantiles, 3, 9, &t));
  assert_int_equal(s.count, t.count);
  assert_memory_equal(s.mean, t.mean, (4 + 3) * N * sizeof(double)); /* and all behind it */
  assert_memory_equal(s.histogram, t.histogram, 9 * N * sizeof(int64_t));
  assert_true(s.minimum[0] == s.quantile[0] && s.maximum[0] == s.quantile[2 * N]);
  ode_statistics_release(&s);
  ode_statistics_release(&t);
}

static void bits_of_one_rank(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 300, 2000};
  for (int k = 0; k < 3; k++) {
    int64_t count = counts[k];
    trial one, all;
    trial_problem(&one, self, &BACKEND_omp, 1, &count);
    assert_ok(ode_ensemble_open(&one.e));
    assert_ok(ode_ensemble_run(&one.e));
    for (int way = 0; way < (k == 2 ? 2 : 3); way++) { /* ref is slow */
      const backend *b = way == 2 ? &BACKEND_ref : &BACKEND_omp;
      trial_problem(&all, world, b, way == 1 ? 3 : 1, &count);
      assert_ok(ode_ensemble_open(&all.e));
      assert_ok(ode_ensemble_run(&all.e));
      for (int64_t i = 0; i < all.e.mine.count; i++) {
        same_row(&all.e.mine, i, &one.e.mine, all.e.mine.first + i);
      }
      assert_int_equal(all.e.fingerprint, one.e.fingerprint);
      assert_int_equal(all.e.steps, one.e.steps);
      assert_int_equal(all.e.rejected, one.e.rejected);
      assert_int_equal(all.e.steps_this_run, one.e.steps + one.e.rejected);
      assert_int_equal(all.e.ended[ODE_DONE], count);
      assert_int_equal(all.e.first_failed, -1);
      assert_true(all.e.imbalance >= 1.0 - 1e-9);
      same_statistics(&all.e, &one.e);
      trial_close(&all);
    }
    trial_close(&one);
  }
}

/* Five steps of some rows. */
static void advance(ode_ensemble *e, ode_rows *r, int64_t first, int64_t count) {
  int open;
  assert_ok(ode_piece_load(e, r, first, count));
  assert_ok(ode_piece_advance(e, r, 5, &open));
  assert_ok(ode_piece_store(e, r));
}

/* The first rank lends two blocks to the last one, and that its last, which is short, to the first:
 * guests have their own numbers, and what has become of them comes home. */
static void loans(void **state) {
  (void)state;
  const int me = comm_rank(world), size = comm_size(world);
  int64_t count = 2 * 256 * (int64_t)size + 77, block[3];
  ode_loan loan[2] = {{0, size - 1, 2}, {size - 1, 0, 1}}; /* in order of lenders */
  trial t, one;
  ode_guests g;
  if (size == 1) return;
  trial_problem(&t, world, &BACKEND_ref, 1, &count);
  assert_ok(ode_ensemble_open(&t.e));
  trial_problem(&one, self, &BACKEND_ref, 1, &count);
  assert_ok(ode_ensemble_open(&one.e));
  const int64_t first = t.e.mine.first / ODE_BLOCK;
  const int64_t last = (t.e.mine.first + t.e.mine.count - 1) / ODE_BLOCK;
  for (int k = 0; k < 2; k++) block[k] = me == 0 ? first + k : last - k;
  assert_ok(ode_loans_begin(&t.e, loan, 2, block, &g));
  assert_int_equal(g.blocks, me == 0 ? 1 : me == size - 1 ? 2 : 0);
  for (int64_t i = 0; i < g.blocks;) {
    ode_rows view;
    i = ode_guests_run(&t.e, &g, i, &view);
    assert_int_equal(view.count, me == 0 ? 77 : 512); /* the last block is short; two in a row */
    assert_int_equal(view.first, me == 0 ? count - 77 : 0);
    for (int64_t k = 0; k < view.count; k++) same_row(&view, k, &one.e.mine, view.first + k);
    advance(&t.e, &view, view.first, view.count);
  }
  advance(&one.e, &one.e.mine, 0, 512);
  advance(&one.e, &one.e.mine, count - 77, 77);
  assert_ok(ode_loans_end(&t.e, loan, 2, block, &g));
  assert_null(g.block);
  for (int64_t i = 0; i < t.e.mine.count; i++) {
    same_row(&t.e.mine, i, &one.e.mine, t.e.mine.first + i);
  }
  trial_close(&one);
  trial_close(&t);
}

/* The n-th allocation of the last rank fails. */
static void no_memory_on_one_rank(void **state) {
  (void)state;
  const int last = comm_rank(world) == comm_size(world) - 1;
  int64_t count = 600;
  int n = 0, failures = 0;
  for (int done = 0; !done; n++) {
    trial t;
    ode_statistics s = {0};
    const int64_t live = alloc_live();
    trial_problem(&t, world, &BACKEND_omp, 1, &count);
    t.e.plan.rtol = t.e.plan.atol = 0.1;
    if (last) alloc_fail_at(n + 1);
    status rc = ode_ensemble_open(&t.e);
    if (rc == STATUS_OK) rc = ode_ensemble_run(&t.e);
    if (rc == STATUS_OK) rc = ode_statistics_create(&t.e, quantiles, 3, 9, &s);
    alloc_fail_at(0);
    done = rc == STATUS_OK;
    failures += !done;
    if (!done) assert_int_equal(rc, STATUS_UNAVAILABLE);
    ode_statistics_release(&s);
    trial_close(&t);
    assert_int_equal(alloc_live(), live);
  }
  assert_in_range(failures, 20, 200);
}

/* The same while blocks are lent, and on their way home. */
static void no_memory_for_loans(void **state) {
  (void)state;
  const int me = comm_rank(world), size = comm_size(world), last = me == size - 1;
  int64_t count = 256 * (int64_t)size, block = me;
  const ode_loan loan = {0, size - 1, 1};
  int failures = 0;
  if (size == 1) return;
  for (int n = 0, done = 0; !done; n++) {
    trial t;
    ode_guests g;
    const int64_t live = alloc_live();
    trial_problem(&t, world, &BACKEND_ref, 1, &count);
    assert_ok(ode_ensemble_open(&t.e));
    if (last) alloc_fail_at(n + 1);
    status rc = ode_loans_begin(&t.e, &loan, 1, &block, &g);
    if (rc == STATUS_OK) rc = ode_loans_end(&t.e, &loan, 1, &block, &g);
    alloc_fail_at(0);
    done = rc == STATUS_OK;
    failures += !done;
    if (!done) assert_int_equal(rc, STATUS_UNAVAILABLE);
    ode_guests_release(&g);
    trial_close(&t);
    assert_int_equal(alloc_live(), live);
  }
  assert_in_range(failures, 15, 60);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bits_of_one_rank), cmocka_unit_test(loans),
                                     cmocka_unit_test(no_memory_on_one_rank),
                                     cmocka_unit_test(no_memory_for_loans)};
  if (comm_open(&argc, &argv, &world) != STATUS_OK || comm_self(&self) != STATUS_OK) return 1;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&self);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
