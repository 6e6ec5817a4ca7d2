/* What heat conduction does whatever the numbers: no new extremes, mirrored problems have mirrored
 * bits, nothing is lost behind insulated walls, a constant stays constant bit for bit, flux is the
 * same on both sides of a jump in conductivity. Every scheme of the registry. */
#include <stdio.h>

#include "heat_try.h"
#include "philox.h"

static comm *world;

#define D BOUNDARY_DIRICHLET
#define I BOUNDARY_INITIAL
#define N BOUNDARY_NEUMANN
#define R BOUNDARY_ROBIN
#define P BOUNDARY_PERIODIC

/* dt at the limit; for schemes that take any dt, what nine stages are for, or as much. */
static double longest(const heat_scheme *s, const heat_run *run) {
  const double z = isfinite(s->limit(0)) ? s->limit(0) : s->limit(9);
  return (isfinite(z) ? z : 44.0) / run->lambda;
}

static void roughen(heat_try *t, uint64_t seed) {
  const int64_t owned = heat_owned(&t->run.slab);
  for (int64_t i = 0; i < owned; i++) {
    t->run.host[i] = (double)philox_at(seed, (uint64_t)i, PHILOX_PROBE, 0, 0).word[0] * 0x1p-32;
  }
  assert_ok(heat_load(&t->run, t->run.u, t->run.host));
}

/* Explicit Euler below its limit makes averages. (Higher orders do not for rough data.) */
static void no_new_extremes(void **state) {
  (void)state;
  static const heat_texts all[] = {
      {"line", 1, {40}, {0}, {0}, "1+x", NULL, "0", NULL, {I, I}, {NULL}, {0}},
      {"walls", 2, {11, 8}, {0}, {1, 2}, NULL, NULL, "0", NULL, {N, N, N, I}, {NULL}, {0}},
      {"ring", 3, {5, 6, 4}, {0}, {0}, "2+x*y", NULL, "0", NULL, {P, P, I, N, N, N}, {NULL}, {0}},
  };
  for (int i = 0; i < 3; i++) {
    heat_try t;
    heat_totals before, after;
    heat_try_open(&t, &BACKEND_omp, world, 2, &all[i], heat_scheme_find("ftcs"));
    roughen(&t, 5);
    /* the sum of what leaves a point is at most lambda / 2 */
    t.run.dt = 0.5 * longest(t.run.scheme, &t.run);
    assert_ok(heat_totals_of(&t.run, t.run.u, &before));
    for (int step = 1; step < 40; step++) {
      t.run.last = step;
      heat_try_march(&t);
      assert_ok(heat_totals_of(&t.run, t.run.u, &after));
      assert_true(after.minimum >= before.minimum && after.maximum <= before.maximum);
      before = after;
    }
    heat_try_close(&t);
  }
}

/* Same numbers from the other end: faces, conductivity, source and start mirrored in all
 * directions; of implicit schemes, whose coarse grids begin at one end, to the tolerance.
 * Coordinates are symmetric about 0 exactly. */
static void mirrored_bits(void **state) {
  (void)state;
  heat_texts there = {"there",
                      3,
                      {9, 5, 17},
                      {-1, -1, -1},
                      {2, 2, 2},
                      "1.5+0.25*x-0.5*y*z",
                      "x+y*z*exp(-t)",
                      "cos(x+2*y)*exp(z)",
                      NULL,
                      {N, R, D, N, R, D},
                      {"y*z", "2", "3+x*z", "z", "1+x*t", "3+y"},
                      {0, 0.7, 0, 0, 0.3, 0}};
  heat_texts back = {"back",
                     3,
                     {9, 5, 17},
                     {-1, -1, -1},
                     {2, 2, 2},
                     "1.5+0.25*(-x)-0.5*(-y)*(-z)",
                     "(-x)+(-y)*(-z)*exp(-t)",
                     "cos((-x)+2*(-y))*exp(-z)",
                     NULL,
                     {R, N, N, D, D, R},
                     {"2", "(-y)*(-z)", "(-z)", "3+(-x)*(-z)", "3+(-y)", "1+(-x)*t"},
                     {0.7, 0, 0, 0, 0, 0.3}};
  const heat_scheme *scheme;
  for (int s = 0; (scheme = heat_scheme_at(s / 2)) != NULL; s++) {
    heat_try a, b;
    there.alpha = s % 2 == 0 ? "1.5+0.25*x-0.5*y*z" : "0.7";
    back.alpha = s % 2 == 0 ? "1.5+0.25*(-x)-0.5*(-y)*(-z)" : "0.7";
    heat_try_open(&a, &BACKEND_omp, world, 2, &there, scheme);
    heat_try_open(&b, &BACKEND_omp, world, 1, &back, scheme);
    assert_same_bits(a.run.lambda, b.run.lambda);
    a.run.dt = b.run.dt = 0.8 * longest(scheme, &a.run);
    a.run.last = b.run.last = scheme->order == 0 ? 1 : 12;
    heat_try_march(&a);
    heat_try_march(&b);
    const double *u = heat_try_field(&a), *v = heat_try_field(&b);
    const int64_t points = heat_owned(&a.run.slab);
    for (int64_t i = 0; i < points; i++) {
      const double w = v[points - 1 - i];
      if (scheme->implicit ? fabs(u[i] - w) > 1e-11 : bits_of(u[i]) != bits_of(w)) {
        fail_msg("%s: point %lld: %.17g, mirrored %.17g", scheme->name, (long long)i, u[i],
                 v[points - 1 - i]);
      }
    }
    heat_try_close(&a);
    heat_try_close(&b);
  }
}

/* Case 92: one hot cell behind insulated walls; what is there stays there, and spreads evenly. */
static void nothing_is_lost(void **state) {
  (void)state;
  static const int64_t sizes[][2] = {{16, 16}, {31, 17}};
  const heat_scheme *scheme;
  for (int s = 0; (scheme = heat_scheme_at(s)) != NULL; s++) {
    for (int i = 0; i < 4; i++) {
      const int64_t *n = sizes[i % 2];
      const heat_texts is = {"insulated",  2,
                             {n[0], n[1]}, {0},
                             {1, 1},       i < 2 ? NULL : "1+x*y+0.5*sin(9*x)",
                             NULL,         "x < 0.01 && y < 0.01 ? 1 : 0",
                             NULL,         {N, N, N, N},
                             {NULL},       {0}};
      heat_try t;
      heat_totals before, after;
      heat_try_open(&t, &BACKEND_omp, world, 2, &is, scheme);
      assert_ok(heat_totals_of(&t.run, t.run.u, &before));
      const double dx = 1.0 / (double)(n[0] - 1), dy = 1.0 / (double)(n[1] - 1);
      assert_true(fabs(before.heat / (dx * dy / 4.0) - 1.0) < 1e-15);
      t.run.dt = 0.45 * longest(scheme, &t.run);
      t.run.last = scheme->implicit ? 40 : 1000;
      if (scheme->implicit) t.run.solver_rtol = 1e-4; /* what is lost does not depend on it */
      heat_try_march(&t);
      assert_ok(heat_totals_of(&t.run, t.run.u, &after));
      if (!(fabs(after.heat / before.heat - 1.0) < 1e-12)) {
        fail_msg("%s: %.17g of %.17g", scheme->name, after.heat, before.heat);
      }
      if (strcmp(scheme->name, "ftcs") == 0) assert_true(after.minimum >= 0.0);
      if (strcmp(scheme->name, "ftcs") != 0) {
        heat_try_close(&t);
        continue;
      }
      t.run.last = 8000;
      heat_try_march(&t);
      assert_ok(heat_totals_of(&t.run, t.run.u, &after));
      assert_true(fabs(after.maximum / before.heat - 1.0) < 0.02); /* the domain has volume 1 */
      assert_true(fabs(after.minimum / before.heat - 1.0) < 0.02);
      heat_try_close(&t);
    }
  }
}

static void a_constant_stays(void **state) {
  (void)state;
  static const heat_texts all[] = {
      {"line", 1, {40}, {0}, {0}, "1+x", NULL, "0.1", NULL, {I, N}, {NULL}, {0}},
      {"held", 2, {9, 8}, {0}, {0}, NULL, NULL, "1/3", NULL, {D, P, P, N}, {"1/3"}, {0}},
      {"ring",
       3,
       {5, 6, 7},
       {0},
       {0},
       "2+x*y",
       NULL,
       "-1.9999999",
       NULL,
       {P, P, I, N, N, N},
       {NULL},
       {0}},
      {"air",
       2,
       {7, 7},
       {0},
       {0},
       NULL,
       NULL,
       "pi",
       NULL,
       {R, R, R, R},
       {"pi", "pi", "pi", "pi"},
       {1, 2, 3, 4}},
  };
  const heat_scheme *scheme;
  for (int s = 0; (scheme = heat_scheme_at(s)) != NULL; s++) {
    for (int i = 0; i < 4; i++) {
      heat_try t;
      heat_texts is = all[i];
      if (is.kind[0] == D) is.kind[1] = D, is.face[1] = "1/3", is.kind[2] = P, is.kind[3] = P;
      heat_try_open(&t, &BACKEND_omp, world, 1, &is, scheme);
      t.run.dt = longest(scheme, &t.run);
      t.run.last = 50;
      const double c = heat_try_field(&t)[0];
      heat_try_march(&t);
      const double *u = heat_try_field(&t);
      for (int64_t k = 0; k < heat_owned(&t.run.slab); k++) assert_same_bits(u[k], c);
      heat_try_close(&t);
    }
  }
}

/* Two materials, 1000 : 1, that meet between two points: the steady state is linear in each, and
 * with the harmonic mean the grid knows it exactly. */
static void two_materials(void **state) {
  (void)state;
  const heat_texts is = {"wall", 1,
                         {10},   {0},
                         {9},    "x < 4.5 ? 1000 : 1",
                         NULL,   "x < 4.5 ? x/1000 : 4.5/1000 + (x - 4.5)",
                         NULL,   {I, I},
                         {NULL}, {0}};
  heat_try t;
  heat_try_open(&t, &BACKEND_omp, world, 1, &is, heat_scheme_find("ftcs"));
  double before[10];
  memcpy(before, heat_try_field(&t), sizeof before);
  t.run.dt = 0.9 * longest(t.run.scheme, &t.run);
  t.run.last = 100;
  heat_try_march(&t);
  const double *u = heat_try_field(&t);
  for (int i = 0; i < 10; i++) assert_true(fabs(u[i] - before[i]) < 1e-13);
  heat_try_close(&t);
}

/* The end time is hit by a shorter last step, and the time of a step is a product. */
static void times(void **state) {
  (void)state;
  const heat_texts is = {"time", 1, {5}, {0}, {0}, NULL, NULL, "x", NULL, {I, I}, {NULL}, {0}};
  heat_try t;
  heat_try_open(&t, &BACKEND_omp, world, 1, &is, heat_scheme_find("ftcs"));
  t.run.dt = 0.002;
  t.run.t_end = 0.0205;
  heat_plan_steps(&t.run);
  assert_int_equal(t.run.last, 11);
  assert_same_bits(heat_time(&t.run, 10), 10 * 0.002);
  assert_same_bits(heat_time(&t.run, 11), 0.0205);
  t.run.t_end = 0.02; /* ten steps, not eleven, though 0.02 / 0.002 may round either way */
  heat_plan_steps(&t.run);
  assert_int_equal(t.run.last, 10);
  t.run.dt = 0.1;
  t.run.t_end = 1.1; /* 1.1 / 0.1 is above 11 in doubles */
  heat_plan_steps(&t.run);
  assert_int_equal(t.run.last, 11);
  t.run.t_end = 0.0;
  heat_plan_steps(&t.run);
  assert_int_equal(t.run.last, 0);
  heat_try_close(&t);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_new_extremes), cmocka_unit_test(mirrored_bits),
      cmocka_unit_test(nothing_is_lost), cmocka_unit_test(a_constant_stays),
      cmocka_unit_test(two_materials),   cmocka_unit_test(times),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
