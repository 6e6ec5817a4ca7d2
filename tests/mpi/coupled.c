/* Large coupled systems over ranks. The fingerprint of the state, of the saved instants, and the
 * steps are those of one rank (each rank makes that run by itself), for lines, rings and grids
 * whose points do not divide by the ranks, reaches wider than what a rank owns, ranks without
 * points.
 *
 * ranks: 1 2 3 5 */
#include "coupled_try.h"

static comm *world, *self;

typedef struct setting {
  const char *name;
  gidx n, m;
  const char *method;
  double t_end, dt;
} setting;

static double instants[] = {0.0, 0.011, 0.02};

static void prepare(coupled_try *e, const setting *is, comm *c, int threads) {
  coupled_try_start(e, &BACKEND_omp, c, NULL, threads, is->name, is->n, is->method, is->t_end,
                    is->dt);
  e->run.m = is->m;
  e->run.plan.rtol = 1e-6;
  e->run.plan.saves = 3;
  e->run.plan.save_at.at = instants;
}

/* Of the instants saved, over all ranks. */
static uint64_t saved_fingerprint(const coupled_try *e) {
  const linear_system *s = &e->run.space;
  uint64_t mark = 0;
  for (int64_t k = 0; k < e->run.plan.saves; k++) {
    mark += fingerprint_of(e->run.saved + k * s->rows, k * s->global_rows + s->first_row, s->rows);
  }
  int64_t sum = (int64_t)mark;
  assert_ok(comm_sum_i64(s->world, &sum, 1));
  return (uint64_t)sum;
}

static void compare(const setting *is, int threads) {
  coupled_try one, all;
  prepare(&one, is, self, 1);
  coupled_try_run(&one);
  prepare(&all, is, world, threads);
  coupled_try_run(&all);
  const ode_work *a = &one.run.clock, *b = &all.run.clock;
  if (a->attempts[0] != b->attempts[0] || a->rejected[0] != b->rejected[0] ||
      a->status[0] != b->status[0] || bits_of(a->h[0]) != bits_of(b->h[0]) ||
      coupled_try_fingerprint(&one) != coupled_try_fingerprint(&all) ||
      saved_fingerprint(&one) != saved_fingerprint(&all)) {
    fail_msg("%s n = %d, %s: %d and %d steps, first values %.17g and %.17g", is->name, (int)is->n,
             is->method, (int)a->attempts[0], (int)b->attempts[0], one.y[0],
             all.run.space.rows > 0 ? all.y[0] : 0.0);
  }
  assert_int_equal(b->status[0], ODE_DONE);
  assert_true(b->attempts[0] > 1);
  coupled_try_close(&one);
  coupled_try_close(&all);
}

static void same_bits_as_one_rank(void **state) {
  (void)state;
  static const setting of[] = {{"lorenz96", 40, 0, "tsit5", 0.5, 0.0},
                               {"lorenz96", 3, 0, "rk4", 0.05, 0.01},
                               {"lorenz96", 1, 0, "rk4", 0.05, 0.01},
                               {"lorenz96", 1031, 0, "dopri5", 0.1, 0.0},
                               {"kuramoto-ring", 77, 0, "euler", 0.1, 0.01},
                               {"rc-ladder", 600, 0, "tsit5", 0.3, 0.0},
                               {"heat1d", 49, 0, "tsit5", 0.02, 0.0},
                               {"allen-cahn", 2, 0, "tsit5", 1.0, 0.0},
                               {"reaction-diffusion", 13, 11, "tsit5", 1.0, 0.01},
                               {"reaction-diffusion", 70, 3, "dopri5", 20.0, 0.0},
                               {"reaction-diffusion", 1, 40, "rk4", 0.1, 0.01},
                               {"heat1d", 300, 0, "tr-bdf2", 2e-3, 5e-4},
                               {"allen-cahn", 63, 0, "backward-euler", 1.0, 0.2},
                               {"reaction-diffusion", 17, 9, "tr-bdf2", 4.0, 0.0},
                               {"rc-ladder", 5, 0, "tr-bdf2", 0.5, 0.0},
                               {"lorenz96", 3, 0, "backward-euler", 0.03, 0.01},
                               {"n-body", 61, 0, "dopri5", 0.1, 0.0},
                               {"n-body", 2, 0, "tsit5", 0.1, 0.0},
                               {"n-body", 19, 0, "verlet", 0.1, 0.01}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) compare(&of[i], i % 6 == 5 ? 2 : 1);
}

/* Every rank sees every place it should: a state and a derivative that are functions of the global
 * number, so that a wrong neighbour cannot pass. */
static void every_neighbour_is_the_right_one(void **state) {
  (void)state;
  static const coupled_system far_ring = {
      .name = "far ring",
      .dims = 1,
      .edge = COUPLED_PERIODIC,
      .derivative = {{"u", "u[-7] + 3*v[12] + 0*u"}, {"v", "u[1] - v[-1] + 0*t"}},
      .initial = {{"u", "i*i"}, {"v", "5*i"}}};
  static const coupled_system grid = {.name = "grid",
                                      .dims = 2,
                                      .edge = COUPLED_COPY,
                                      .derivative = {{"u", "u[-1,2] + 1000*u[2,-1] + 0*u[1,0]"}},
                                      .initial = {{"u", "i + 100*j"}}};
  for (int which = 0; which < 2; which++) {
    for (gidx n = 1; n < 60; n += 9) {
      coupled_try e;
      const setting is = {"lorenz96", n, which == 0 ? 0 : 7, "rk4", 1.0, 0.5};
      prepare(&e, &is, world, 2);
      e.run.system = which == 0 ? &far_ring : &grid;
      e.run.plan.saves = 0;
      coupled_try_open(&e);
      assert_ok(coupled_rhs(&e.run, 0.0, e.run.y, e.run.u));
      assert_ok(linear_store(&e.run.space, e.y, e.run.u));
      for (lidx q = 0; q < e.run.layout.count; q++) {
        const gidx p = e.run.layout.first + q;
        if (which == 0) {
          const gidx far = ((p - 7) % n + n) % n, ahead = (p + 12) % n;
          assert_same_bits(e.y[2 * q], (double)(far * far + 15 * ahead));
          const gidx after = (p + 1) % n, before = (p + n - 1) % n;
          assert_same_bits(e.y[2 * q + 1], (double)(after * after - 5 * before));
        } else {
          const gidx i = p % n, j = p / n;
          const gidx left = i > 0 ? i - 1 : 0, right = i + 2 < n ? i + 2 : n - 1;
          const gidx up = j + 2 < 7 ? j + 2 : 6, down = j > 0 ? j - 1 : 0;
          assert_same_bits(e.y[q], (double)(left + 100 * up + 1000 * (right + 100 * down)));
        }
      }
      coupled_try_close(&e);
    }
  }
}

static void a_bad_start_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"i == 30 ? 0/0 : 1"};
  coupled_try e;
  const setting is = {"heat1d", 49, 0, "tsit5", 1.0, 0.0};
  prepare(&e, &is, world, 1);
  e.run.initial = bad;
  assert_int_equal(coupled_open(&e.run), STATUS_INPUT);
  coupled_try_close(&e);
}

/* The last rank has no memory for its n-th array: all end alike, nobody waits. */
static void one_rank_without_memory(void **state) {
  (void)state;
  const setting is = {"heat1d", 49, 0, "tr-bdf2", 0.02, 0.01};
  int64_t failures = 0;
  for (int n = 3; n < 260; n += 16) {
    coupled_try e;
    prepare(&e, &is, world, 1);
    if (comm_rank(world) == comm_size(world) - 1) alloc_fail_at(n);
    status rc = coupled_open(&e.run);
    if (rc == STATUS_OK) rc = coupled_march(&e.run);
    alloc_fail_at(0);
    int64_t code[2] = {rc, -(int64_t)rc};
    assert_ok(comm_max_i64(world, code, 2));
    assert_int_equal(code[0], -code[1]);
    failures += rc == STATUS_UNAVAILABLE;
    coupled_try_close(&e);
  }
  assert_true(failures > 3);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_bits_as_one_rank), cmocka_unit_test(every_neighbour_is_the_right_one),
      cmocka_unit_test(a_bad_start_is_refused), cmocka_unit_test(one_rank_without_memory)};
  assert_ok(comm_open(&argc, &argv, &world));
  assert_ok(comm_self(&self));
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&self);
  comm_close(&world);
  return failed;
}
