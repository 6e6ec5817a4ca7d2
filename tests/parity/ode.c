/* Trajectories on every CPU backend, compiled and interpreted, in one go and interrupted: the same
 * bits of states, times, counts and saved instants, for awkward numbers of them. */
#include <stdio.h>

#include "compiler.h"
#include "ode_tableau.h"
#include "ode_try.h"

static comm *world;
static compiler *with;

static const char *const names[] = {"t", "x", "y", "z", "r", NULL};
static const char *const lorenz[] = {"10*(y - x)", "x*(r - z) - y", "x*y - 8/3*z"};
static const char *const driven[] = {"y", "-x - 0.2*y + cos(1.5*t)*r/28", "1/(1 + t) - z"};
static const char *const blow[] = {"x*x*r/28", "-y", "sin(t)"};
static const char *const names_of_two[] = {"t", "x", "v", "r", NULL};
static const char *const spring[] = {"v", "-r*x + 0*t"};
static double saves[] = {0.0, 0.05, 0.1, 0.3333, 0.5, 0.9999, 1.0};

static ode_plan plan_of(int kind, int variant, int adaptive) {
  ode_plan p = {.kind = kind, .variant = variant, .adaptive = adaptive, .order = 5};
  p.t_end = 1.0;
  p.dt = adaptive ? 0.0 : 0.011;
  p.rtol = 1e-6;
  p.atol = 1e-9;
  return p;
}

static void fill(ode_try *e) {
  for (int64_t i = 0; i < e->s.count; i++) {
    const int n = e->plan.components;
    const double s = (double)i / 100.0;
    *ode_try_y(e, 0, i) = 1.0 + s;
    *ode_try_y(e, 1, i) = 1.0 - s;
    if (n > 2) *ode_try_y(e, 2, i) = 0.5 * s;
    *ode_try_p(e, 0, i) = 20.0 + (double)(i % 17);
  }
}

static void compare(const ode_try *a, const ode_try *b, const char *what) {
  const int64_t count = a->s.count;
  for (int64_t i = 0; i < count; i++) {
    int differ = ode_try_status(a, i) != ode_try_status(b, i) ||
                 bits_of(ode_try_t(a, i)) != bits_of(ode_try_t(b, i)) ||
                 ode_try_steps(a, i) != ode_try_steps(b, i);
    for (int c = 0; c < a->plan.components; c++)
      differ |= bits_of(*ode_try_y(a, c, i)) != bits_of(*ode_try_y(b, c, i));
    for (int64_t k = 0; k < a->plan.saves * a->plan.components; k++) {
      const double x = ((double *)a->s.saved.at)[k * count + i];
      const double y = ((double *)b->s.saved.at)[k * count + i];
      differ |= x == x || y == y ? bits_of(x) != bits_of(y) : 0;
    }
    if (!differ) continue;
    fail_msg("%s: trajectory %d of %d: status %d %d, t %.17g %.17g, steps %d %d, x %.17g %.17g",
             what, (int)i, (int)count, ode_try_status(a, i), ode_try_status(b, i), ode_try_t(a, i),
             ode_try_t(b, i), (int)ode_try_steps(a, i), (int)ode_try_steps(b, i),
             *ode_try_y(a, 0, i), *ode_try_y(b, 0, i));
  }
}

static void one_setting(const ode_setting *is, int64_t count, const char *what) {
  ode_try ref, other;
  char text[200];
  ode_try_open(&ref, &BACKEND_ref, world, NULL, 1, is, count);
  fill(&ref);
  ode_try_run(&ref, INT64_MAX);
  for (int way = 0; way < 4; way++) {
    snprintf(text, sizeof text, "%s, way %d", what, way);
    ode_try_open(&other, way == 0 ? &BACKEND_ref : &BACKEND_omp, world, way == 3 ? NULL : with,
                 way == 2 ? 3 : 1, is, count);
    fill(&other);
    ode_try_run(&other, way == 1 ? INT64_MAX : way == 2 ? 7 : 1000);
    compare(&ref, &other, text);
    ode_try_close(&other);
  }
  ode_try_close(&ref);
}

static void same_bits(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 63, 64, 65, 257};
  static const char *const *const systems[] = {lorenz, driven, blow};
  for (int variant = ODE_EULER; variant <= ODE_TSIT5; variant++) {
    for (int adaptive = 0; adaptive <= (variant >= ODE_DOPRI5); adaptive++) {
      for (int system = 0; system < 3; system++) {
        char what[100];
        ode_setting is = {
            names, systems[system], NULL, 3, 1, plan_of(ODE_RUNGE_KUTTA, variant, adaptive), NULL};
        if (system == 1) is.event = "x - 1.3";
        if (variant % 2 == 1) is.plan.saves = 7;
        is.plan.save_at.at = saves;
        snprintf(what, sizeof what, "method %d adaptive %d system %d", variant, adaptive, system);
        one_setting(&is, counts[(variant + system + adaptive) % 5], what);
      }
    }
  }
  ode_setting is = {names_of_two, spring, NULL, 2, 1, plan_of(ODE_VERLET, 0, 0), NULL};
  one_setting(&is, 65, "verlet");
}

static const char *const lorenz_jacobian[] = {"-10", "10", "0", "r - z", "-1",
                                              "-x",  "y",  "x", "-8/3"};

static void stiff_same_bits(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 63, 257};
  static const char *const *const systems[] = {lorenz, driven, blow};
  static const int kinds[] = {ODE_ROSENBROCK, ODE_IMPLICIT, ODE_IMPLICIT}, orders[] = {4, 2, 3};
  for (int method = 0; method < 3; method++) {
    for (int adaptive = 0; adaptive < 2; adaptive++) {
      for (int system = 0; system < 3; system++) {
        char what[100];
        ode_setting is = {names, systems[system], NULL, 3, 1, plan_of(kinds[method], 0, adaptive),
                          NULL};
        is.plan.variant = method == 2 ? ODE_TR_BDF2 : 0;
        is.plan.order = orders[method];
        is.plan.rtol = method == 1 ? 1e-2 : 1e-4; /* few steps */
        is.plan.t_end = 0.5;
        if (system == 0) is.jacobian = lorenz_jacobian;
        if (system == 1) is.event = "x - 1.3";
        if ((system + adaptive) % 2 == 1) is.plan.saves = 7;
        is.plan.save_at.at = saves;
        snprintf(what, sizeof what, "stiff %d adaptive %d system %d", method, adaptive, system);
        one_setting(&is, counts[(method + system) % 3], what);
      }
    }
  }
}

/* What is saved on the way changes no bit of where a trajectory gets, by any kind of step. */
static void saving_changes_nothing(void **state) {
  (void)state;
  static const int kinds[][2] = {{ODE_RUNGE_KUTTA, ODE_RK4},
                                 {ODE_RUNGE_KUTTA, ODE_TSIT5},
                                 {ODE_ROSENBROCK, 0},
                                 {ODE_IMPLICIT, ODE_TR_BDF2},
                                 {ODE_IMPLICIT, ODE_BACKWARD_EULER}};
  for (int k = 0; k < 5; k++) {
    ode_setting is = {names, lorenz, NULL, 3, 1, plan_of(kinds[k][0], kinds[k][1], k != 0), NULL};
    is.plan.order = 3;
    ode_try without, with_saves;
    ode_try_open(&without, &BACKEND_omp, world, NULL, 1, &is, 9);
    is.plan.saves = 7;
    is.plan.save_at.at = saves;
    ode_try_open(&with_saves, &BACKEND_omp, world, NULL, 1, &is, 9);
    fill(&without);
    fill(&with_saves);
    ode_try_run(&without, INT64_MAX);
    ode_try_run(&with_saves, INT64_MAX);
    compare(&without, &with_saves, "with saved instants");
    ode_try_close(&without);
    ode_try_close(&with_saves);
  }
}

/* That the comparison has something to compare: some end well, some blow up, events happen. */
static void of_all_kinds(void **state) {
  (void)state;
  ode_setting is = {names, blow, NULL, 3, 1, plan_of(ODE_RUNGE_KUTTA, ODE_TSIT5, 1), NULL};
  ode_try e;
  int ends[ODE_STATUSES] = {0};
  ode_try_open(&e, &BACKEND_omp, world, with, 2, &is, 257);
  fill(&e);
  ode_try_run(&e, INT64_MAX);
  for (int64_t i = 0; i < 257; i++) ends[ode_try_status(&e, i)]++;
  assert_true(ends[ODE_DONE] > 0);
  assert_true(ends[ODE_STEP_TOO_SMALL] + ends[ODE_NOT_FINITE] > 0);
  ode_try_close(&e);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(stiff_same_bits),
                                     cmocka_unit_test(saving_changes_nothing),
                                     cmocka_unit_test(of_all_kinds)};
  int pid;
  const int end = test_helper(&pid);
  test_own_cache("ode_cache", 0);
  assert_ok(comm_open(&argc, &argv, &world));
  assert_ok(compiler_open(end, pid, &with));
  compiler_settle(with, world);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  compiler_close(&with);
  comm_close(&world);
  return failed;
}
