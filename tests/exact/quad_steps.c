/* Jumps, kinks and peaks at many places: an adaptive integral that says `converged` is not off by
 * more than 10 tolerances, wherever the place is; also next to an edge of its intervals. */
#include "backend.h"
#include "philox.h"
#include "quad_fixture.h"

enum { PLACES = 400 };

static comm *world;

/* %.17g in `f` is the place u; `exact` of u. */
static void everywhere(const char *f, double (*exact)(double u), int accidents) {
  int wrong = 0, converged = 0;
  for (int i = 0; i < PLACES; i++) {
    const double u = philox_uniform(philox_at(3, (uint64_t)i, 0, 0, 0), 0);
    char text[256];
    quad_run q;
    snprintf(text, sizeof text, f, u);
    const quad_case c = {.f = text, .dims = 1, .upper = 1.0, .rtol = 1e-10, .atol = 1e-14};
    assert_ok(quad_case_run(&c, "adaptive", &BACKEND_omp, 1, world, &q));
    converged += q.reason == QUAD_CONVERGED;
    if (q.reason != QUAD_CONVERGED) continue;
    if (!(fabs(q.value - exact(u)) <= 1e-9 * fabs(exact(u)))) {
      print_message("%s: %.17g, should be %.17g\n", text, q.value, exact(u));
      wrong++;
    }
  }
  assert_int_equal(converged, PLACES);
  assert_true(wrong <= accidents);
}

static double step(double u) { return 2.0 - u; }
static double sloped(double u) { return 1.0 - u + 0.5 * u * u; }
static double kink(double u) { return 0.5 * (u * u + (1.0 - u) * (1.0 - u)) + 1.0; }
static double peak(double u) { return 1e-3 * (atan(1e3 * (1.0 - u)) + atan(1e3 * u)); }

static void jumps(void **state) {
  (void)state;
  everywhere("x < %.17g ? 1 : 2", step, 0);
  everywhere("x < %.17g ? x : 1", sloped, 0);
}

/* The two rules may agree by accident with a kink inside: one place in 400 is off by 20 tolerances.
 */
static void kinks(void **state) {
  (void)state;
  everywhere("1 + abs(x - %.17g)", kink, 1);
}

static void peaks(void **state) {
  (void)state;
  everywhere("1e-6/((x - %.17g)^2 + 1e-6)", peak, 0);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(jumps), cmocka_unit_test(kinks),
                                     cmocka_unit_test(peaks)};
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
