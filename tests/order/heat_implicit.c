/* Implicit heat schemes (ranks: 1 2 3): the multigrid cycle is a symmetric operator; the number of
 * CG iterations is small, nearly independent of the grid, also for jumps of 1000 : 1 in the
 * conductivity, and the same on any ranks, as is every bit; backward Euler makes no new extremes;
 * nothing is lost whatever the tolerance; tr-bdf2 finds its dt; steady states. */
#include <stdio.h>

#include "heat_try.h"
#include "implicit.h"
#include "philox.h"

static comm *world, *self;

#define D BOUNDARY_DIRICHLET
#define I BOUNDARY_INITIAL
#define N BOUNDARY_NEUMANN
#define R BOUNDARY_ROBIN
#define P BOUNDARY_PERIODIC

static void roughen(heat_try *t, heat_field f, uint64_t seed) {
  const heat_slab *s = &t->run.slab;
  for (int64_t i = 0; i < heat_owned(s); i++) {
    int64_t j[HEAT_DIMS] = {i % s->g.n[0], i / s->g.n[0] % s->g.n[1], 0};
    j[s->g.dims - 1] = i / s->plane + s->first;
    const uint64_t gi = (uint64_t)(i + s->first * s->plane);
    const double value = (double)philox_at(seed, gi, PHILOX_PROBE, 0, 0).word[0] * 0x1p-32;
    t->run.host[i] = heat_holder(&s->g, j) >= 0 ? 0.0 : value;
  }
  assert_ok(heat_load(&t->run, f, t->run.host));
}

static double dot(heat_try *t, heat_field x, heat_field y) {
  heat_run *run = &t->run;
  double sum;
  assert_ok(run->kernels->heat->levels->dot(run->place, run->implicit->grid.level[0].level, x, y));
  assert_ok(run->kernels->sums(run->place, run->world, 1, NULL, &sum));
  return sum;
}

/* (x, A y) = (y, A x) and (x, B y) = (y, B x) > 0 for x = y, with B the cycle. */
static void symmetric(void **state) {
  (void)state;
  static const heat_texts all[] = {
      {"line", 1, {300}, {0}, {0}, "1+x", NULL, "0", NULL, {D, R}, {NULL}, {0, 3}},
      {"plate",
       2,
       {38, 31},
       {0},
       {1, 3},
       "x<0.4?100:1+y",
       NULL,
       "0",
       NULL,
       {N, R, D, N},
       {NULL},
       {0, 2}},
      {"torus", 2, {27, 40}, {0}, {0}, "3", NULL, "0", NULL, {P, P, P, P}, {NULL}, {0}},
      {"box",
       3,
       {14, 9, 12},
       {0},
       {0},
       "sin(9*y)>0?50:1+x*z",
       NULL,
       "0",
       NULL,
       {P, P, N, D, R, N},
       {NULL},
       {0, 0, 0, 0, 1, 0}},
  };
  for (int i = 0; i < 8; i++) {
    heat_try t;
    heat_try_open(&t, i < 4 ? &BACKEND_omp : &BACKEND_ref, world, 2, &all[i % 4],
                  heat_scheme_find("backward-euler"));
    heat_run *run = &t.run;
    heat_multigrid *m = &run->implicit->grid;
    const heat_field x = run->implicit->x, y = run->implicit->y, a = run->implicit->p;
    assert_true(m->levels > 1);
    assert_ok(heat_multigrid_set(run, m, 1.0, 40.0 / run->lambda));
    roughen(&t, x, 1);
    roughen(&t, y, 2);
    assert_ok(heat_level_product(run, m, 0, y, (heat_field){{NULL}}, a));
    const double xay = dot(&t, x, a);
    assert_ok(heat_level_product(run, m, 0, x, (heat_field){{NULL}}, a));
    assert_true(fabs(xay / dot(&t, y, a) - 1.0) < 1e-13);
    assert_ok(heat_implicit_filter(run, y, a));
    const double xby = dot(&t, x, a);
    assert_ok(heat_implicit_filter(run, x, a));
    if (!(fabs(xby / dot(&t, y, a) - 1.0) < 1e-12)) fail_msg("%s: the cycle", all[i % 4].name);
    assert_true(dot(&t, x, a) > 0.0);
    heat_try_close(&t);
  }
}

/* ---- iterations ---- */

static int count(const heat_texts *is, const char *scheme, double dt, comm *c, uint64_t *bits) {
  heat_try t;
  heat_try_open(&t, &BACKEND_omp, c, 1, is, heat_scheme_find(scheme));
  t.run.solver_rtol = 1e-10;
  t.run.dt = dt;
  t.run.last = 1;
  heat_try_march(&t);
  assert_int_equal(t.run.step, 1);
  const int iterations = t.run.implicit->iterations;
  *bits = 0;
  const double *u = heat_try_field(&t);
  for (int64_t i = 0; i < heat_owned(&t.run.slab); i++) {
    *bits += bits_of(u[i]) * (uint64_t)(2 * (i + t.run.slab.first * t.run.slab.plane) + 1);
  }
  heat_try_close(&t);
  return iterations;
}

/* Steady states, the hardest: no mass. */
static void few_iterations(void **state) {
  (void)state;
  static const char *const media[] = {NULL, "(x-0.43)^2+(y-0.57)^2 < 0.06 ? 1000 : 1",
                                      "(x-0.43)^2+(y-0.57)^2 < 0.06 ? 0.001 : 1"};
  static const int64_t sizes[] = {33, 64, 129, 200, 257};
  const int alone = comm_size(world) == 1; /* the large ones */
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < (alone ? 5 : 3); k++) {
      const heat_texts is = {"disc", 2,    {sizes[k], sizes[k]}, {0},    {0}, media[i], "1",
                             "0",    NULL, {D, D, D, D},         {NULL}, {0}};
      uint64_t bits, alike;
      const int n = count(&is, "steady", 1.0, world, &bits);
      if (n > 12 || n < 5) fail_msg("medium %d, %lld^2: %d iterations", i, (long long)sizes[k], n);
      if (alone) continue;
      assert_ok(comm_sum_i64(world, (int64_t *)&bits, 1));
      assert_int_equal(count(&is, "steady", 1.0, self, &alike), n);
      assert_true(bits == alike);
    }
  }
}

/* Odd and even, flat and long, thin slabs and none: all of the same bits as on one rank. */
static void any_shape(void **state) {
  (void)state;
  static const heat_texts all[] = {
      {"tiny", 1, {2}, {0}, {0}, "1+x", "x", "x", NULL, {N, R}, {NULL, "1"}, {0, 1}},
      {"one", 2, {1, 9}, {0}, {0}, NULL, "y", "0", NULL, {R, N, P, P}, {"t"}, {2}},
      {"thin",
       2,
       {200, 3},
       {0},
       {9, 1},
       "1+x*y",
       "y",
       "0",
       NULL,
       {P, P, N, R},
       {NULL, NULL, NULL, "1"},
       {0, 0, 0, 1}},
      {"flat",
       3,
       {23, 16, 2},
       {0},
       {0},
       "x<0.4?90:1",
       "y",
       "0",
       NULL,
       {N, D, P, P, N, N},
       {NULL, "t"},
       {0}},
      {"tower",
       3,
       {3, 2, 70},
       {0},
       {1, 1, 30},
       "1+z",
       "y",
       "0",
       NULL,
       {N, D, N, R, P, P},
       {NULL, "t"},
       {0, 0, 0, 1}},
  };
  for (int i = 0; i < 5; i++) {
    uint64_t bits, alike;
    const int n = count(&all[i], "tr-bdf2", 0.3, world, &bits);
    if (n > 25) fail_msg("%s: %d iterations", all[i].name, n);
    assert_ok(comm_sum_i64(world, (int64_t *)&bits, 1));
    assert_int_equal(count(&all[i], "tr-bdf2", 0.3, self, &alike), n);
    assert_true(bits == alike);
  }
}

/* ---- properties ---- */

static void no_new_extremes(void **state) {
  (void)state;
  static const heat_texts all[] = {
      {"walls",
       2,
       {21, 18},
       {0},
       {1, 2},
       "x<0.5?1000:1",
       NULL,
       "0",
       NULL,
       {N, N, N, I},
       {NULL},
       {0}},
      {"ring", 3, {9, 6, 14}, {0}, {0}, NULL, NULL, "0", NULL, {P, P, I, N, N, N}, {NULL}, {0}},
  };
  for (int i = 0; i < 4; i++) {
    heat_try t;
    heat_totals before, after;
    heat_try_open(&t, &BACKEND_omp, world, 2, &all[i % 2], heat_scheme_find("backward-euler"));
    roughen(&t, t.run.u, 5);
    t.run.dt = (i < 2 ? 1.0 : 1e4) / t.run.lambda;
    assert_ok(heat_totals_of(&t.run, t.run.u, &before));
    for (int step = 1; step < 8; step++) {
      t.run.last = step;
      heat_try_march(&t);
      assert_ok(heat_totals_of(&t.run, t.run.u, &after));
      assert_true(after.minimum >= before.minimum - 1e-12);
      assert_true(after.maximum <= before.maximum + 1e-12);
      before = after;
    }
    heat_try_close(&t);
  }
}

/* With a tolerance of a tenth, the heat is what flux and source make it. */
static void conservation(void **state) {
  (void)state;
  const heat_texts is = {"fed", 2,       {40, 33}, {0},          {1, 1},      "1+30*x*y",
                         "2",   "x*x*y", NULL,     {N, N, P, P}, {"3", "-1"}, {0}};
  const heat_scheme *scheme;
  for (int s = 0; (scheme = heat_scheme_at(s)) != NULL; s++) {
    heat_try t;
    heat_totals before, after;
    if (!scheme->implicit || scheme->order == 0) continue;
    heat_try_open(&t, &BACKEND_omp, world, 1, &is, scheme);
    t.run.solver_rtol = 0.1;
    t.run.dt = 0.01;
    t.run.last = 20;
    assert_ok(heat_totals_of(&t.run, t.run.u, &before));
    heat_try_march(&t);
    assert_ok(heat_totals_of(&t.run, t.run.u, &after));
    const double expected = before.heat + 0.2 * (2.0 + 3.0 - 1.0);
    if (!(fabs(after.heat / expected - 1.0) < 1e-12)) {
      fail_msg("%s: %.17g, expected %.17g", scheme->name, after.heat, expected);
    }
    heat_try_close(&t);
  }
}

/* The error at the end goes with rtol; a sudden source is seen, and steps over it rejected. */
static void chosen_steps(void **state) {
  (void)state;
  const heat_texts is = {"h01", 1,           {65}, {0},    {1},    NULL,
                         NULL,  "sin(pi*x)", NULL, {D, D}, {NULL}, {0}};
  const double dx = 1.0 / 64, mu = 4.0 / (dx * dx) * pow(sin(3.14159265358979323846 * dx / 2), 2);
  double error[2];
  for (int i = 0; i < 2; i++) {
    heat_try t;
    heat_totals top;
    heat_try_open(&t, &BACKEND_omp, world, 1, &is, heat_scheme_find("tr-bdf2"));
    t.run.rtol = i == 0 ? 1e-4 : 1e-6;
    t.run.atol = 1e-2 * t.run.rtol;
    t.run.dt = 1e-4;
    t.run.t_end = 0.2;
    heat_try_march(&t);
    assert_same_bits(heat_time(&t.run, t.run.step), 0.2);
    assert_ok(heat_totals_of(&t.run, t.run.u, &top));
    error[i] = fabs(top.maximum / exp(-mu * 0.2) - 1.0);
    assert_true(error[i] < 100.0 * t.run.rtol && t.run.step > 10 && t.run.step < 2000);
    heat_try_close(&t);
  }
  assert_true(error[0] / error[1] > 8.0 && error[0] / error[1] < 120.0); /* 100^(2/3) = 21.5 */

  heat_texts sudden = is;
  sudden.source = "t < 0.05 ? 0 : 100*sin(pi*x)";
  heat_try t;
  heat_try_open(&t, &BACKEND_omp, world, 1, &sudden, heat_scheme_find("tr-bdf2"));
  t.run.rtol = 1e-5;
  t.run.atol = 1e-7;
  t.run.dt = 0.1;
  t.run.t_end = 0.2;
  heat_try_march(&t);
  assert_true(t.run.rejected > 0);
  const double exact = exp(-mu * 0.2) + 100.0 / mu * (1.0 - exp(-mu * 0.15));
  heat_totals top;
  assert_ok(heat_totals_of(&t.run, t.run.u, &top));
  assert_true(fabs(top.maximum / exact - 1.0) < 1e-3);
  heat_try_close(&t);
}

/* ---- steady states ---- */

static double worst(heat_try *t) {
  double error = heat_try_error(t);
  assert_ok(comm_max_f64(world, &error, 1));
  return error;
}

static void steady_states(void **state) {
  (void)state;
  /* linear and quadratic solutions, which the grid has no error for; in the second the heat at the
   * start, 1/4 of a mean, decides the constant; cos has an error of second order */
  static const heat_texts all[] = {
      {"line", 1, {40}, {0}, {0}, NULL, NULL, "0", "1+2*x", {D, R}, {"1", "5"}, {0, 1}},
      {"parabola",
       1,
       {65},
       {0},
       {0},
       NULL,
       "2",
       "0.25",
       "x*(1-x)+0.25-1/6*(1-1/4096)",
       {N, N},
       {"-1", "-1"},
       {0}},
      {"plate",
       2,
       {30, 25},
       {0},
       {1, 2},
       NULL,
       "-2",
       "0",
       "x*x+y",
       {D, N, D, D},
       {"y", "2", "x*x", "x*x+2"},
       {0}},
      {"box",
       3,
       {9, 8, 7},
       {0},
       {0},
       NULL,
       NULL,
       "0",
       "x+y*z",
       {D, N, D, R, N, D},
       {"y*z", "1", "x", "x+2*z", "-y", "x+y"},
       {0, 0, 0, 1, 0, 0}},
  };
  for (int i = 0; i < 4; i++) {
    heat_try t;
    heat_try_open(&t, &BACKEND_omp, world, 2, &all[i], heat_scheme_find("steady"));
    t.run.dt = 1.0;
    t.run.last = 1;
    heat_try_march(&t);
    const double error = worst(&t);
    if (!(error < 1e-11)) fail_msg("%s: error %.3e", all[i].name, error);
    heat_try_close(&t);
  }
  double error[2];
  for (int i = 0; i < 2; i++) {
    const heat_texts is = {"ring",
                           2,
                           {16 << i, 12},
                           {0},
                           {1, 1},
                           NULL,
                           "4*pi^2*cos(2*pi*x)",
                           "3",
                           "3+cos(2*pi*x)",
                           {P, P, P, P},
                           {NULL},
                           {0}};
    heat_try t;
    heat_try_open(&t, &BACKEND_omp, world, 1, &is, heat_scheme_find("steady"));
    t.run.dt = 1.0;
    t.run.last = 1;
    heat_try_march(&t);
    error[i] = worst(&t);
    heat_try_close(&t);
  }
  assert_true(log2(error[0] / error[1]) > 1.9 && log2(error[0] / error[1]) < 2.1);
}

/* What flows in cannot leave: refused, with how much it is. */
static void no_steady_state(void **state) {
  (void)state;
  const heat_texts is = {"fed", 2,   {20, 20}, {0},          {0},      NULL,
                         "0.5", "0", NULL,     {N, N, P, P}, {"0.25"}, {0}};
  heat_try t;
  heat_try_open(&t, &BACKEND_omp, world, 1, &is, heat_scheme_find("steady"));
  t.run.dt = 1.0;
  t.run.last = 1;
  assert_int_equal(heat_march(&t.run), STATUS_USAGE);
  assert_non_null(strstr(fail_text(), "0.75 K/s on average"));
  heat_try_close(&t);
}

/* A solve that cannot get there is said to have stopped, at its step. */
static void unsolved(void **state) {
  (void)state;
  const heat_texts is = {"far", 2,   {65, 65}, {0},          {0},    NULL,
                         "1",   "0", NULL,     {D, D, D, D}, {NULL}, {0}};
  heat_try t;
  heat_try_open(&t, &BACKEND_omp, world, 1, &is, heat_scheme_find("backward-euler"));
  t.run.dt = 1e12;
  t.run.plain = 1;
  t.run.lambda = 0.0; /* no room for round-off */
  t.run.solver_rtol = 1e-30;
  t.run.last = 4;
  assert_ok(heat_march(&t.run));
  assert_int_equal(t.run.reason, HEAT_UNSOLVED);
  assert_int_equal(t.run.step, 0);
  heat_try_close(&t);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(symmetric),     cmocka_unit_test(few_iterations),
      cmocka_unit_test(any_shape),     cmocka_unit_test(no_new_extremes),
      cmocka_unit_test(conservation),  cmocka_unit_test(chosen_steps),
      cmocka_unit_test(steady_states), cmocka_unit_test(no_steady_state),
      cmocka_unit_test(unsolved),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (comm_self(&self) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&self);
  comm_close(&world);
  return rc;
}
