/* Large coupled systems: observed order of every method, what systems keep or know exactly, and the
 * semi-discrete references of ../shared/references. */
#include <stdlib.h>

#include "coupled_try.h"

static comm *world;
static compiler *with;

static const double PI = 3.141592653589793;

static void start(coupled_try *e, const char *name, gidx n, const char *method, double t_end,
                  double dt) {
  coupled_try_start(e, &BACKEND_omp, world, with, 1, name, n, method, t_end, dt);
}

/* heat1d's exact decay at point i. */
static double decayed(gidx n, gidx i, double t) {
  const double s = sin(0.5 * PI / (double)(n + 1)), k = (double)(n + 1) * (double)(n + 1);
  return sin(PI * (double)(i + 1) / (double)(n + 1)) * exp(-4.0 * k * s * s * t);
}

static double heat_error(const char *method, gidx n, double t_end, double dt) {
  coupled_try e;
  double error = 0.0;
  start(&e, "heat1d", n, method, t_end, dt);
  e.run.plan.rtol = 1e-12;
  e.run.plan.atol = 1e-14;
  coupled_try_run(&e);
  assert_int_equal(e.run.clock.status[0], ODE_DONE);
  for (gidx i = 0; i < n; i++) error = fmax(error, fabs(e.y[i] - decayed(n, i, t_end)));
  coupled_try_close(&e);
  return error;
}

static void methods_have_their_order(void **state) {
  (void)state;
  for (int m = 0; ode_method_at(m) != NULL; m++) {
    const char *name = ode_method_at(m)->name;
    const int kind = (int)ode_method_at(m)->kind, order = ode_method_at(m)->order;
    if (kind != ODE_RUNGE_KUTTA && kind != ODE_IMPLICIT) continue;
    const double dt = order > 2 ? 0.02 : 0.01;
    const double coarse = heat_error(name, 3, 0.2, dt), fine = heat_error(name, 3, 0.2, 0.5 * dt);
    const double seen = log2(coarse / fine);
    if (!(fabs(seen - order) < (order == 5 ? 0.6 : 0.35))) {
      fail_msg("%s: order %.3f seen, errors %.3e and %.3e", name, seen, coarse, fine);
    }
  }
}

/* ---- references ---- */

/* The values of `id` in ode_solutions.tsv at time t against y (components from 1). */
static int check_reference(const char *id, double t, const double *y, double allowed) {
  char path[4096], line[512];
  const char *shared = getenv("HALOSWEEP_SHARED");
  int seen = 0;
  snprintf(path, sizeof path, "%s/references/ode_solutions.tsv", shared == NULL ? "." : shared);
  FILE *f = fopen(path, "r");
  if (f == NULL) return 0;
  while (fgets(line, sizeof line, f) != NULL) {
    char name[64];
    double at, value;
    int component;
    if (sscanf(line, "%63s %lf %d %lf", name, &at, &component, &value) != 4) continue;
    if (strcmp(name, id) != 0 || fabs(at - t) > 1e-12) continue;
    if (!(fabs(y[component - 1] - value) <= allowed)) {
      fail_msg("%s t = %g component %d: %.17g, expected %.17g", id, t, component, y[component - 1],
               value);
    }
    seen++;
  }
  fclose(f);
  return seen;
}

static void references_by(const char *method, double rtol, double allowed) {
  static double times[] = {0.5, 2.0, 5.0, 10.0}, early[] = {0.01, 0.1};
  static const char *const sines[] = {"sin(pi*(i + 1)/(n + 1)) + 0.5*sin(5*pi*(i + 1)/(n + 1))"};
  coupled_try e;
  start(&e, "allen-cahn", 63, method, 10.0, 0.0);
  e.run.plan.rtol = rtol;
  e.run.plan.atol = 1e-2 * rtol;
  e.run.plan.saves = 4;
  e.run.plan.save_at.at = times;
  coupled_try_run(&e);
  assert_int_equal(e.run.clock.status[0], ODE_DONE);
  int seen = check_reference("allencahn", 10.0, e.y, allowed);
  for (int k = 0; k < 4; k++) {
    seen += check_reference("allencahn", times[k], e.run.saved + 63 * k, allowed);
  }
  coupled_try_close(&e);
  start(&e, "heat1d", 49, method, 0.1, 0.0);
  e.run.initial = sines;
  e.run.plan.rtol = rtol;
  e.run.plan.atol = 1e-2 * rtol;
  e.run.plan.saves = 2;
  e.run.plan.save_at.at = early;
  coupled_try_run(&e);
  seen += check_reference("heatmol", 0.1, e.y, allowed);
  seen += check_reference("heatmol", 0.01, e.run.saved, allowed);
  coupled_try_close(&e);
  if (seen == 0) skip();
  assert_int_equal(seen, 25 + 8);
}

static void references_explicit(void **state) {
  (void)state;
  references_by("tsit5", 1e-9, 3e-8);
  references_by("dopri5", 1e-9, 3e-8);
}

static void references_implicit(void **state) {
  (void)state;
  references_by("tr-bdf2", 1e-7, 3e-6);
}

/* Case 142: 1000 points, from 1 between cold ends, to t = 0.05: an explicit method says what bounds
 * its steps, auto changes the method and is through in few. */
static void stiffness_is_noticed(void **state) {
  (void)state;
  static const char *const one[] = {"1"};
  coupled_try e;
  start(&e, "heat1d", 1000, "tsit5", 0.05, 0.0);
  e.run.initial = one;
  e.run.plan.rtol = 1e-6;
  e.run.plan.atol = 1e-9;
  e.run.plan.max_steps = 2000;
  coupled_try_run(&e);
  char text[600];
  coupled_explain(&e.run, text, sizeof text);
  assert_int_equal(e.run.clock.status[0], ODE_STEP_LIMIT);
  assert_true(e.run.told);
  assert_true(e.run.stiff_product > 3.0 && e.run.stiff_product < 4.5);
  assert_non_null(strstr(text, "stiff"));
  coupled_try_close(&e);
  start(&e, "heat1d", 1000, "auto", 0.05, 0.0);
  e.run.initial = one;
  e.run.plan.rtol = 1e-6;
  e.run.plan.atol = 1e-9;
  coupled_try_run(&e);
  assert_int_equal(e.run.clock.status[0], ODE_DONE);
  assert_true(e.run.switched > 0 && e.run.clock.attempts[0] < 3000);
  /* the first modes: 4/((2k + 1) pi) sin((2k + 1) pi x) exp(-((2k + 1) pi)^2 t), and of dx^2 */
  double middle = 0.0;
  for (int k = 0; k < 6; k++) {
    const double a = (2 * k + 1) * PI, x = 500.0 / 1001.0;
    middle += 4.0 / a * sin(a * x) * exp(-a * a * 0.05);
  }
  if (!(fabs(e.y[499] - middle) < 1e-5)) fail_msg("%.17g, expected %.17g", e.y[499], middle);
  coupled_try_close(&e);
}

/* A solution that ends in finite time: steps never go on where time stands still. */
static void blow_up_ends(void **state) {
  (void)state;
  static const char *const methods[] = {"tsit5", "tr-bdf2"};
  static const coupled_system square = {.name = "square",
                                        .dims = 1,
                                        .edge = COUPLED_PERIODIC,
                                        .n = 3,
                                        .derivative = {{"u", "u^2 + 0*u[1]"}},
                                        .initial = {{"u", "1"}}};
  for (int i = 0; i < 2; i++) {
    coupled_try e;
    start(&e, "heat1d", 3, methods[i], 2.0, 0.0);
    e.run.system = &square;
    e.run.plan.rtol = 1e-5;
    coupled_try_run(&e);
    assert_int_equal(e.run.clock.status[0], ODE_STEP_TOO_SMALL);
    assert_true(fabs(e.run.clock.t[0] - 1.0) < 1e-2 && fabs(e.y[0]) < 1e30);
    coupled_try_close(&e);
  }
}

/* ---- what systems keep ---- */

static void the_mean_phase_moves_evenly(void **state) {
  (void)state;
  coupled_try e;
  double before = 0.0, after = 0.0;
  start(&e, "kuramoto-ring", 101, "tsit5", 3.0, 0.0);
  coupled_try_open(&e);
  assert_ok(linear_store(&e.run.space, e.y, e.run.y));
  for (int i = 0; i < 101; i++) before += e.y[i] / 101.0;
  coupled_try_march(&e);
  for (int i = 0; i < 101; i++) after += e.y[i] / 101.0;
  assert_true(fabs(after - before - 3.0) < 1e-12);
  coupled_try_close(&e);
}

static void the_ladder_gets_its_voltage(void **state) {
  (void)state;
  coupled_try e;
  start(&e, "rc-ladder", 8, "tsit5", 1000.0, 0.0);
  e.parameter[2] = 5.0;
  coupled_try_run(&e);
  for (int i = 0; i < 8; i++) assert_true(fabs(e.y[i] - 5.0) < 1e-7);
  coupled_try_close(&e);
}

/* Energy and momentum of bodies of mass 1/n, G = 1, eps = 0.05. */
static double energy(const double *y, int n, double momentum[3]) {
  double sum = 0.0;
  for (int d = 0; d < 3; d++) momentum[d] = 0.0;
  for (int i = 0; i < n; i++) {
    for (int d = 0; d < 3; d++) {
      sum += 0.5 * y[6 * i + 3 + d] * y[6 * i + 3 + d] / n;
      momentum[d] += y[6 * i + 3 + d] / n;
    }
    for (int j = 0; j < i; j++) {
      double square = 0.05 * 0.05;
      for (int d = 0; d < 3; d++) square += pow(y[6 * i + d] - y[6 * j + d], 2.0);
      sum -= 1.0 / sqrt(square) / n / n;
    }
  }
  return sum;
}

static void bodies_keep_energy_and_momentum(void **state) {
  (void)state;
  enum { N = 60 };
  coupled_try e;
  double p[3], q[3];
  start(&e, "n-body", N, "dopri5", 1.0, 0.0);
  coupled_try_open(&e);
  assert_ok(linear_store(&e.run.space, e.y, e.run.y));
  const double before = energy(e.y, N, p), x = e.y[0];
  coupled_try_march(&e);
  const double after = energy(e.y, N, q);
  if (!(fabs(after - before) < 1e-8)) fail_msg("energy %.17g, then %.17g", before, after);
  for (int d = 0; d < 3; d++) assert_true(fabs(p[d] - q[d]) < 1e-14);
  assert_true(fabs(e.y[0] - x) > 0.01);
  coupled_try_close(&e);
}

/* Verlet's energy stays near what it was, its error falls by four when the step is halved. */
static void verlet_keeps_energy(void **state) {
  (void)state;
  enum { N = 12 };
  double error[2];
  for (int half = 0; half < 2; half++) {
    coupled_try e;
    double p[3], q[3];
    start(&e, "n-body", N, "verlet", 0.5, half ? 0.0025 : 0.005);
    coupled_try_open(&e);
    assert_ok(linear_store(&e.run.space, e.y, e.run.y));
    const double before = energy(e.y, N, p);
    coupled_try_march(&e);
    error[half] = fabs(energy(e.y, N, q) - before);
    for (int d = 0; d < 3; d++) assert_true(fabs(p[d] - q[d]) < 1e-14);
    coupled_try_close(&e);
  }
  if (!(error[0] < 1e-3 && fabs(log2(error[0] / error[1]) - 2.0) < 0.3)) {
    fail_msg("energy off by %.3e, with half the step by %.3e", error[0], error[1]);
  }
}

/* Without diffusion every point of the grid is alone; with it and alike values too. */
static void a_grid_of_equals_stays_equal(void **state) {
  (void)state;
  static const char *const alike[] = {"0.6", "0.3"};
  coupled_try e;
  start(&e, "reaction-diffusion", 7, "tsit5", 5.0, 0.0);
  e.run.m = 5;
  e.run.initial = alike;
  coupled_try_run(&e);
  assert_int_equal(e.run.space.rows, 70);
  for (int k = 2; k < 70; k++) assert_same_bits(e.y[k], e.y[k % 2]);
  assert_true(fabs(e.y[0] - 0.6) > 0.01);
  coupled_try_close(&e);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(methods_have_their_order),
      cmocka_unit_test(references_explicit),
      cmocka_unit_test(references_implicit),
      cmocka_unit_test(stiffness_is_noticed),
      cmocka_unit_test(blow_up_ends),
      cmocka_unit_test(the_mean_phase_moves_evenly),
      cmocka_unit_test(the_ladder_gets_its_voltage),
      cmocka_unit_test(bodies_keep_energy_and_momentum),
      cmocka_unit_test(verlet_keeps_energy),
      cmocka_unit_test(a_grid_of_equals_stays_equal),
  };
  int pid;
  const int end = test_helper(&pid);
  test_own_cache("coupled_cache", 0);
  assert_ok(comm_open(&argc, &argv, &world));
  assert_ok(compiler_open(end, pid, &with));
  compiler_settle(with, world);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  compiler_close(&with);
  comm_close(&world);
  return failed;
}
