/* Every time scheme of the registry: its order in time against manufactured solutions that the grid
 * has no error for. The window is two-sided. */
#include <stdio.h>

#include "heat_solutions.h"

static comm *world;

static double time_error(const space_case *c, const heat_scheme *scheme, int64_t steps) {
  heat_try t;
  heat_try_open(&t, &BACKEND_omp, world, 1, &c->is, scheme);
  t.run.dt = c->t_end / (double)steps;
  assert_true(t.run.dt * t.run.lambda <= scheme->limit(0));
  t.run.t_end = c->t_end;
  heat_try_march(&t);
  assert_int_equal(t.run.step, steps);
  const double error = heat_try_error(&t);
  heat_try_close(&t);
  return error;
}

static void order_in_time(void **state) {
  (void)state;
  const heat_scheme *scheme;
  for (int s = 0; (scheme = heat_scheme_at(s)) != NULL; s++) {
    for (int i = 0; i < TIMES && scheme->order > 0; i++) {
      /* few stages for stabilised schemes too: their asymptotic range */
      const double coarse = time_error(&TIME[i], scheme, 128);
      const double fine = time_error(&TIME[i], scheme, 256);
      const double order = log2(coarse / fine);
      if (!(order > scheme->order - 0.15 && order < scheme->order + 0.3)) {
        fail_msg("%s, %s: errors %.3e, %.3e: order %.2f in time, expected %d", scheme->name,
                 TIME[i].is.name, coarse, fine, order, scheme->order);
      }
    }
  }
}

/* Many stages: stable, and still of second order. */
static void many_stages(void **state) {
  (void)state;
  const space_case c = {
      {"h01", 1, {65}, {0}, {1}, NULL, NULL, "sin(pi*x)", "0", {D, D}, {NULL}, {0}}, 0.0625};
  const heat_scheme *rkl2 = heat_scheme_find("rkl2");
  const double dx = 1.0 / 64, mu = 4.0 / (dx * dx) * pow(sin(PI * dx / 2.0), 2.0);
  double error[2];
  for (int i = 0; i < 2; i++) {
    heat_try t;
    heat_try_open(&t, &BACKEND_omp, world, 1, &c.is, rkl2);
    t.run.dt = c.t_end / (8 << i);
    assert_true(rkl2->stages(t.run.dt * t.run.lambda) > 10);
    t.run.last = 8 << i;
    heat_try_march(&t);
    error[i] = fabs(heat_try_field(&t)[32] - exp(-mu * c.t_end)); /* the grid's own solution */
    heat_try_close(&t);
  }
  const double order = log2(error[0] / error[1]);
  if (!(order > 1.8 && order < 2.3)) fail_msg("errors %.3e, %.3e", error[0], error[1]);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_in_time),
      cmocka_unit_test(many_stages),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
