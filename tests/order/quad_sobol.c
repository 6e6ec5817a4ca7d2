/* Randomised quasi-Monte Carlo: how fast its error falls, how honest its bars are. */
#include <stdio.h>

#include "integrands.h"
#include "quad_try.h"

static comm *world;

static const char *const x10[] = {"x[0]", "x[1]", "x[2]", "x[3]", "x[4]", "x[5]",
                                  "x[6]", "x[7]", "x[8]", "x[9]", NULL};

/* The root of the mean square error over seeds at 16 x 2^k points. */
static double rms(quad_try *t, int k, double exact) {
  enum { SEEDS = 8 };
  const quad_rule *rule = quad_rule_find("sobol");
  double squares = 0.0;
  t->run.limits.n = INT64_C(16) << k;
  for (int seed = 0; seed < SEEDS; seed++) {
    t->run.limits.seed = (uint64_t)seed;
    assert_ok(quad_integrate(&t->run, rule));
    assert_int_equal(t->run.reason, QUAD_FIXED_COUNT);
    assert_int_equal(t->run.points[0], t->run.limits.n);
    squares += (t->run.value - exact) * (t->run.value - exact);
  }
  return sqrt(squares / SEEDS);
}

/* Slope of log error over log points, by least squares. */
static double slope(const char *text, int dims, int low, int high, double exact) {
  quad_try t;
  const char *names[11] = {NULL};
  double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  for (int d = 0; d < dims; d++) names[d] = x10[d];
  quad_try_open(&t, &BACKEND_omp, world, 1, text, dims, names);
  for (int k = low; k <= high; k++) {
    const double x = k * log(2.0), y = log(rms(&t, k, exact));
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  quad_try_close(&t);
  const double n = high - low + 1;
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/* Scrambled nets reach -1.5 on smooth integrands; more would be luck, or no points at all. */
static void falls(void **state) {
  (void)state;
  const struct {
    const char *text;
    int dims;
    double exact;
  } smooth[] = {
      {"exp(x[0]+x[1]+x[2])", 3, 5.07321411177285276655318109968691},
      {"cos(x[0])*cos(x[1])*cos(x[2])*cos(x[3])*cos(x[4])*cos(x[5])", 6,
       0.355005329261721821768214438938},
      {"sin(3*x[0])", 1, (1.0 - -0.98999249660044545727) / 3.0},
  };
  for (int i = 0; i < 3; i++) {
    const double s = slope(smooth[i].text, smooth[i].dims, 4, 12, smooth[i].exact);
    printf("%s: error falls like N^%.2f\n", smooth[i].text, s);
    if (!(s <= -0.9 && s >= -2.0)) fail_msg("%s: slope %.3f", smooth[i].text, s);
  }
  const double jump = slope("x[0]+x[1] < 0.7 ? 1 : 0", 2, 4, 12, 0.245);
  printf("a jump: N^%.2f\n", jump);
  if (!(jump <= -0.5 && jump >= -1.1)) fail_msg("jump: slope %.3f", jump);
}

/* Genz's families in 2 to 6 directions, several seeds: the true error is within the bar nearly
 * always (the bar is a 99 % one), within three bars at least in nine of ten, and not always far
 * below it. */
static void honest(void **state) {
  (void)state;
  int cases = 0, within_one = 0, within_three = 0, within_fifth = 0;
  for (int i = 0; integrand_at(i) != NULL; i++) {
    const integrand *f = integrand_at(i);
    for (int dims = f->dims_min < 2 ? 7 : 2; dims <= 6; dims++) {
      char text[INTEGRAND_TEXT], own[2 * QUAD_DIMS][16];
      const char *names[TRY_NAMES] = {NULL};
      quad_try t;
      double values[INTEGRAND_PARAMETERS];
      const int parameters = integrand_parameters(f, dims);
      integrand_text(f, dims, text);
      for (int d = 0; d < dims; d++) names[d] = x10[d];
      for (int k = 0; k < parameters; k++) {
        integrand_parameter(f, dims, k, own[k], &values[k]);
        names[dims + k] = own[k];
      }
      quad_try_open(&t, &BACKEND_omp, world, 1, text, dims, names);
      memcpy(t.parameters, values, sizeof values);
      t.run.limits.n = 16 * 256;
      for (int seed = 1; seed <= 6; seed++, cases++) {
        t.run.limits.seed = (uint64_t)seed;
        assert_ok(quad_integrate(&t.run, quad_rule_find("sobol")));
        const double error = fabs(t.run.value - f->exact(dims, values));
        within_one += error <= t.run.error;
        within_three += error <= 3.0 * t.run.error;
        within_fifth += error <= t.run.error / 5.0;
      }
      quad_try_close(&t);
    }
  }
  printf("%d cases: %d within a bar, %d within three, %d within a fifth\n", cases, within_one,
         within_three, within_fifth);
  assert_int_equal(cases, 6 * 5 * 6);
  assert_true(within_one * 100 >= cases * 95);
  assert_true(within_three * 100 >= cases * 99);
  assert_true(within_fifth * 100 <= cases * 70); /* the bars are not simply huge */
}

/* Without a number of points: the tolerance is met, and no more points than that took. */
static void refines(void **state) {
  (void)state;
  quad_try t;
  const char *names[] = {"x[0]", "x[1]", "x[2]", NULL};
  quad_try_open(&t, &BACKEND_omp, world, 2, "exp(x[0]+x[1]+x[2])", 3, names);
  t.run.limits.rtol = 1e-6;
  assert_ok(quad_integrate(&t.run, quad_rule_find("sobol")));
  assert_int_equal(t.run.reason, QUAD_CONVERGED);
  assert_true(t.run.error <= 1e-6 * t.run.value);
  assert_true(fabs(t.run.value - 5.07321411177285276655) <= 1e-5);
  assert_int_equal(t.run.evaluations, t.run.points[0]); /* none twice */
  assert_true(t.run.evaluations <= 1 << 20);
  t.run.limits.rtol = 1e-15;
  t.run.limits.max_evaluations = 100000;
  t.run.evaluations = 0;
  assert_ok(quad_integrate(&t.run, quad_rule_find("sobol")));
  assert_int_equal(t.run.reason, QUAD_MAX_EVALUATIONS);
  assert_int_equal(t.run.evaluations, 65536);
  quad_try_close(&t);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(falls), cmocka_unit_test(honest),
                                     cmocka_unit_test(refines)};
  assert_ok(comm_open(&argc, &argv, &world));
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
