/* The stiff methods: observed order of fixed steps and of states inside them, on a coupled
 * non-autonomous problem and where the solution is smooth but the system stiff; stability; and what
 * happens to steps that cannot be made. */
#include <stdio.h>

#include "ode_try.h"

enum { METHODS = 3 };

static comm *world;

typedef struct method {
  const char *name;
  int kind, variant, order; /* of the method */
} method;

static const method METHOD[METHODS] = {{"rodas4", ODE_ROSENBROCK, 0, 4},
                                       {"tr-bdf2", ODE_IMPLICIT, ODE_TR_BDF2, 2},
                                       {"backward-euler", ODE_IMPLICIT, ODE_BACKWARD_EULER, 1}};

static ode_plan plan_of(const method *m, int adaptive, double dt, double t_end) {
  ode_plan p = {.kind = m->kind, .variant = m->variant, .adaptive = adaptive};
  p.order = m->order == 4 ? 4 : m->order + 1;
  p.dt = dt;
  p.t_end = t_end;
  p.rtol = 1e-6;
  p.atol = 1e-9;
  return p;
}

/* Runs one trajectory from `start`; the caller closes it. */
static void run(ode_try *e, const ode_setting *is, const double *start) {
  ode_try_open(e, &BACKEND_ref, world, NULL, 1, is, 1);
  for (int c = 0; c < is->components; c++) *ode_try_y(e, c, 0) = start[c];
  ode_try_run(e, INT64_MAX);
}

/* ---- order ---- */

/* x = exp(sin t), y = 1 / (1 + t^2); errors of one drive the other. */
static const char *const names[] = {"t", "x", "y", NULL};
static const char *const coupled[] = {"x*cos(t) + x*(y*(1 + t*t) - 1)",
                                      "-2*t*y*y + y*(x - exp(sin(t)))"};
static const char *const coupled_jacobian[] = {"cos(t) + y*(1 + t*t) - 1", "x*(1 + t*t)", "y",
                                               "-4*t*y + x - exp(sin(t))"};
/* Prothero, Robinson: smooth, and as stiff as one likes. */
static const char *const smooth[] = {"-1e6*(x - cos(t)) - sin(t)", "-1e6*(y - sin(t)) + cos(t)"};

static void exact(int stiff, double t, double *y) {
  y[0] = stiff ? cos(t) : exp(sin(t));
  y[1] = stiff ? sin(t) : 1.0 / (1.0 + t * t);
}

/* The largest error at ends of steps, and inside them, of n steps to t = 2. */
static void errors(const method *m, int stiff, int given, int n, double *at_steps, double *inside) {
  enum { SAVES = 40 };
  static double at[SAVES];
  ode_setting is = {names, stiff ? smooth : coupled, NULL, 2, 0, {0}, NULL};
  ode_try e;
  double start[2], y[2];
  is.plan = plan_of(m, 0, 2.0 / n, 2.0);
  is.plan.rtol = is.plan.atol = 0.0; /* fixed steps do not ask */
  if (given) is.jacobian = coupled_jacobian;
  for (int i = 0; i < SAVES; i++) {
    /* even ones: at ends of steps; odd ones: somewhere inside */
    const int step = (i * n) / SAVES;
    at[i] = (step + (i % 2) * (0.1 + 0.02 * i)) * (2.0 / n);
  }
  is.plan.saves = SAVES;
  is.plan.save_at.at = at;
  exact(stiff, 0.0, start);
  run(&e, &is, start);
  assert_int_equal(ode_try_status(&e, 0), ODE_DONE);
  exact(stiff, 2.0, y);
  *at_steps = fmax(fabs(*ode_try_y(&e, 0, 0) - y[0]), fabs(*ode_try_y(&e, 1, 0) - y[1]));
  *inside = 0.0;
  for (int i = 0; i < 2 * SAVES; i++) {
    exact(stiff, at[i / 2], y);
    const double error = fabs(((double *)e.s.saved.at)[i] - y[i % 2]);
    double *largest = i / 2 % 2 == 0 ? at_steps : inside;
    if (!(error <= *largest)) *largest = error;
  }
  ode_try_close(&e);
}

static void falls(const method *m, const char *what, double coarse, double fine, double order) {
  const double seen = log2(coarse / fine);
  if (seen >= order - 0.3 && fine > 1e-14) return;
  fail_msg("%s, %s: errors %g %g, order %.2f and not %g", m->name, what, coarse, fine, seen, order);
}

static void orders(void **state) {
  (void)state;
  for (int i = 0; i < 2 * METHODS; i++) {
    const method *m = &METHOD[i / 2];
    double coarse[2], fine[2];
    errors(m, 0, i % 2, 80, &coarse[0], &coarse[1]);
    errors(m, 0, i % 2, 160, &fine[0], &fine[1]);
    falls(m, "steps", coarse[0], fine[0], m->order);
    falls(m, "inside", coarse[1], fine[1], m->order);
    assert_true(fine[1] < 4.0 * fine[0]);
  }
}

/* With true derivatives rodas4 keeps its order down to rounding. */
static void small_steps(void **state) {
  (void)state;
  double coarse[2], fine[2];
  errors(&METHOD[0], 0, 1, 800, &coarse[0], &coarse[1]);
  errors(&METHOD[0], 0, 1, 1600, &fine[0], &fine[1]);
  falls(&METHOD[0], "small steps", coarse[0], fine[0], 4.0);
}

/* Where y' = L (y - g(t)) + g'(t), L = -1e6, errors of steps are as small as 1 / L but fall by
 * lower powers of h; inside, Newton's correction leaves of the curve's error what its slope is off,
 * over L. */
static void smooth_orders(void **state) {
  (void)state;
  static const double step_order[] = {1, 2, 1}, inside_order[] = {2, 2, 1};
  static const double step_most[] = {1e-9, 1e-10, 2e-8}, inside_most[] = {1e-10, 5e-11, 2e-8};
  for (int i = 0; i < METHODS; i++) {
    const method *m = &METHOD[i];
    double coarse[2], fine[2];
    errors(m, 1, 0, 80, &coarse[0], &coarse[1]);
    errors(m, 1, 0, 160, &fine[0], &fine[1]);
    falls(m, "stiff, steps", coarse[0], fine[0], step_order[i]);
    falls(m, "stiff, inside", coarse[1], fine[1], inside_order[i]);
    assert_true(coarse[0] < step_most[i]);
    assert_true(coarse[1] < inside_most[i]);
  }
}

/* ---- stability ---- */

static const char *const linear[] = {"a*x - b*y", "b*x + a*y"}; /* eigenvalues a +- b i */
static const char *const names_linear[] = {"t", "x", "y", "a", "b", NULL};

/* |R(z)|, z = a + b i, by one step of 1. */
static double damping(const method *m, double a, double b) {
  ode_setting is = {names_linear, linear, NULL, 2, 2, {0}, NULL};
  ode_try e;
  is.plan = plan_of(m, 0, 1.0, 1.0);
  ode_try_open(&e, &BACKEND_ref, world, NULL, 1, &is, 1);
  *ode_try_y(&e, 0, 0) = 1.0;
  *ode_try_p(&e, 0, 0) = a;
  *ode_try_p(&e, 1, 0) = b;
  ode_try_run(&e, INT64_MAX);
  assert_int_equal(ode_try_status(&e, 0), ODE_DONE);
  const double x = *ode_try_y(&e, 0, 0), y = *ode_try_y(&e, 1, 0);
  ode_try_close(&e);
  return sqrt(x * x + y * y);
}

static void stability(void **state) {
  (void)state;
  for (int i = 0; i < METHODS; i++) {
    for (double b = 0.01; b < 1e6; b *= 3.0) {
      if (!(damping(&METHOD[i], 0.0, b) <= 1.0 + 1e-12)) fail_msg("%s: %g i", METHOD[i].name, b);
      assert_true(damping(&METHOD[i], -0.3 * b, b) < 1.0);
    }
    assert_true(damping(&METHOD[i], -1e6, 0.0) < 3e-5); /* L-stable: R falls as 1 / z */
    assert_true(damping(&METHOD[i], -1e9, 0.0) < 3e-8);
  }
  assert_true(fabs(damping(&METHOD[2], -3.0, 0.0) - 0.25) < 1e-15);
  /* tr-bdf2: ((1 + d z) / (1 - d z) (1 + r) - 1) r ..., here from its two formulas */
  const double d = 1.0 - sqrt(0.5), z = -3.0, middle = (1.0 + d * z) / (1.0 - d * z);
  const double end = (1.0 + (1.0 + sqrt(2.0)) / 2.0 * (middle - 1.0)) / (1.0 - d * z);
  assert_true(fabs(damping(&METHOD[1], z, 0.0) - fabs(end)) < 1e-15);
}

/* ---- Newton's method and the Jacobian ---- */

static const char *const name_one[] = {"t", "x", NULL};

/* One step of u = 3 - h u^2, to rounding. */
static void to_rounding(void **state) {
  (void)state;
  static const char *const square[] = {"-x*x"};
  static const double start = 3.0;
  for (double h = 0.01; h < 200.0; h *= 10.0) {
    ode_setting is = {name_one, square, NULL, 1, 0, {0}, NULL};
    ode_try e;
    is.plan = plan_of(&METHOD[2], 0, h, h);
    run(&e, &is, &start);
    assert_int_equal(ode_try_status(&e, 0), ODE_DONE);
    const double u = 6.0 / (1.0 + sqrt(1.0 + 12.0 * h)), got = *ode_try_y(&e, 0, 0);
    if (!(fabs(got - u) <= 4e-15 * u)) fail_msg("h = %g: %.17g, expected %.17g", h, got, u);
    ode_try_close(&e);
  }
}

/* The state at t = 1 of the coupled problem by rodas4, with this Jacobian. */
static double with_jacobian(const method *m, const char *const *jacobian) {
  ode_setting is = {names, coupled, NULL, 2, 0, {0}, jacobian};
  ode_try e;
  double start[2];
  exact(0, 0.0, start);
  is.plan = plan_of(m, 0, 0.02, 1.0);
  run(&e, &is, start);
  const double x = *ode_try_y(&e, 0, 0);
  ode_try_close(&e);
  return x;
}

/* A given Jacobian is used, and differences are as good. */
static void jacobians(void **state) {
  (void)state;
  static const char *const none[] = {"0", "0", "0", "0"};
  for (int i = 0; i < METHODS; i++) {
    const double given = with_jacobian(&METHOD[i], coupled_jacobian);
    const double differences = with_jacobian(&METHOD[i], NULL);
    const double without = with_jacobian(&METHOD[i], none);
    assert_true(fabs(given - differences) < (i == 0 ? 1e-10 : 1e-12));
    if (i == 0) assert_true(fabs(given - without) > 1e-8); /* its order needs the Jacobian */
    if (i > 0) assert_true(fabs(given - without) < 1e-11); /* Newton's method does not */
  }
}

/* ---- steps that cannot be made ---- */

static void ends(const method *m, const char *rhs, const char *jacobian, int adaptive, double dt,
                 ode_status expected, ode_try *e) {
  static const double start = 1.0;
  const ode_setting is = {
      name_one, &rhs, NULL, 1, 0, plan_of(m, adaptive, dt, 2.0), jacobian ? &jacobian : NULL};
  run(e, &is, &start);
  if (ode_try_status(e, 0) == (int)expected) return;
  fail_msg("%s, %s: status %d at %g, expected %d", m->name, rhs, ode_try_status(e, 0),
           ode_try_t(e, 0), (int)expected);
}

/* 1 - h L = 0 for backward-euler, 1 / (h / 4) - L for rodas4: fixed steps end, adaptive go on. */
static void singular(void **state) {
  (void)state;
  static const int which[] = {0, 2};
  for (int i = 0; i < 2; i++) {
    const method *m = &METHOD[which[i]];
    const char *rhs = i == 0 ? "8*x" : "2*x", *jacobian = i == 0 ? "8" : "2";
    ode_try e;
    ends(m, rhs, jacobian, 0, 0.5, ODE_NOT_FINITE, &e);
    assert_same_bits(*ode_try_y(&e, 0, 0), 1.0);
    assert_same_bits(ode_try_t(&e, 0), 0.0);
    ode_try_close(&e);
    ends(m, rhs, jacobian, 1, 0.5, ODE_DONE, &e);
    assert_true(*(int64_t *)e.s.rejected.at > 0);
    const double truth = exp(i == 0 ? 16.0 : 4.0);
    assert_true(fabs(*ode_try_y(&e, 0, 0) / truth - 1.0) < (i == 0 ? 1e-4 : 2e-2));
    ode_try_close(&e);
  }
}

/* Right-hand sides and Jacobians that are not numbers end trajectories, where they begin to be. */
static void not_numbers(void **state) {
  (void)state;
  for (int i = 0; i < 2 * METHODS; i++) {
    const method *m = &METHOD[i / 2];
    ode_try e;
    ends(m, "sqrt(1.3 - t)", NULL, i % 2, 0.1, ODE_NOT_FINITE, &e);
    assert_true(ode_try_t(&e, 0) <= 1.3 + 1e-15 && ode_try_t(&e, 0) > 1.0);
    ode_try_close(&e);
    ends(m, "0*x/0", NULL, i % 2, 0.1, ODE_NOT_FINITE, &e);
    ode_try_close(&e);
    ends(m, "-x", "0*x/0", i % 2, 0.1, ODE_NOT_FINITE, &e);
    ode_try_close(&e);
  }
}

/* An implicit step that has no solution: u = 1 + h (1 + u^2) for h > 0.2071. */
static void no_solution(void **state) {
  (void)state;
  ode_try e;
  ends(&METHOD[2], "1 + x*x", NULL, 0, 0.4, ODE_NOT_FINITE, &e);
  assert_same_bits(ode_try_t(&e, 0), 0.0);
  assert_same_bits(*ode_try_y(&e, 0, 0), 1.0);
  ode_try_close(&e);
}

/* ---- adaptive steps ---- */

/* f is asked neither beyond a zero that a component has not passed nor outside the step. */
static void edges(void **state) {
  (void)state;
  static const char *const root[] = {"1 - sqrt(x)"}, *const span[] = {"sqrt(t)*sqrt(1 - t)"};
  static const double starts[] = {1e-20, 0.0};
  for (int i = 0; i < 2 * METHODS; i++) {
    const method *m = &METHOD[i / 2];
    ode_setting is = {name_one, i % 2 ? span : root, NULL, 1, 0, {0}, NULL};
    ode_try e;
    is.plan = plan_of(m, 1, 1e-3, 1.0);
    run(&e, &is, &starts[i % 2]);
    assert_int_equal(ode_try_status(&e, 0), ODE_DONE);
    if (i % 2) assert_true(fabs(*ode_try_y(&e, 0, 0) - 3.14159265358979 / 8.0) < 1e-3);
    ode_try_close(&e);
  }
}

/* To an earlier time. */
static void backwards(void **state) {
  (void)state;
  for (int i = 0; i < METHODS; i++) {
    ode_setting is = {names, coupled, NULL, 2, 0, {0}, NULL};
    ode_try e;
    double start[2], y[2];
    exact(0, 0.0, start);
    exact(0, -1.0, y);
    is.plan = plan_of(&METHOD[i], 1, 0.0, -1.0);
    run(&e, &is, start);
    assert_int_equal(ode_try_status(&e, 0), ODE_DONE);
    const double most = 2e-6 * (i == 0 ? 10.0 : (double)ode_try_steps(&e, 0));
    for (int c = 0; c < 2; c++) assert_true(fabs(*ode_try_y(&e, c, 0) - y[c]) < most);
    ode_try_close(&e);
  }
}

/* An event while the solution follows a slow curve, by steps so long that what is between their
 * ends needs care: (L^2 cos t + L sin t) / (L^2 + 1) falls to 0.3. */
static void events(void **state) {
  (void)state;
  static const char *const follow[] = {"-1e4*(x - cos(t))"};
  static const double start = 1.0;
  double truth = 1.2;
  for (int i = 0; i < 50; i++) truth += (cos(truth) + 1e-4 * sin(truth) - 0.3 * (1.0 + 1e-8));
  for (int i = 0; i < METHODS; i++) {
    ode_setting is = {name_one, follow, "x - 0.3", 1, 0, {0}, NULL};
    ode_try e;
    is.plan = plan_of(&METHOD[i], 1, 0.0, 20.0);
    run(&e, &is, &start);
    assert_int_equal(ode_try_status(&e, 0), ODE_EVENT);
    if (!(fabs(ode_try_t(&e, 0) - truth) < 1e-6)) {
      fail_msg("%s: %.17g, expected %.17g", METHOD[i].name, ode_try_t(&e, 0), truth);
    }
    ode_try_close(&e);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(orders),    cmocka_unit_test(small_steps), cmocka_unit_test(smooth_orders),
      cmocka_unit_test(stability), cmocka_unit_test(to_rounding), cmocka_unit_test(jacobians),
      cmocka_unit_test(singular),  cmocka_unit_test(not_numbers), cmocka_unit_test(no_solution),
      cmocka_unit_test(edges),     cmocka_unit_test(backwards),   cmocka_unit_test(events)};
  assert_ok(comm_open(&argc, &argv, &world));
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
