/* Every built-in integrand, in every number of directions it has, by the rule that suits it: the
 * value against the exact one beside it in the registry. Parameters away from their defaults too,
 * so that an exact value for the defaults alone cannot pass. */
#include <stdio.h>

#include "integrands.h"
#include "quad_try.h"

static comm *world;

static const char *const x10[] = {"x[0]", "x[1]", "x[2]", "x[3]", "x[4]",
                                  "x[5]", "x[6]", "x[7]", "x[8]", "x[9]"};

static void compare(const integrand *f, int dims, double nudge) {
  char text[INTEGRAND_TEXT], own[INTEGRAND_PARAMETERS][16];
  const char *names[TRY_NAMES] = {NULL};
  double values[INTEGRAND_PARAMETERS] = {0.0};
  quad_try t;
  const int parameters = integrand_parameters(f, dims), smooth = dims <= 3;
  integrand_text(f, dims, text);
  for (int d = 0; d < dims; d++) names[d] = x10[d];
  for (int k = 0; k < parameters; k++) {
    integrand_parameter(f, dims, k, own[k], &values[k]);
    values[k] *= nudge;
    names[dims + k] = own[k];
  }
  quad_try_open(&t, &BACKEND_omp, world, 2, text, dims, names);
  memcpy(t.parameters, values, sizeof values);
  for (int d = 0; d < dims; d++) {
    t.run.integral.lower[d] = f->lower;
    t.run.integral.upper[d] = f->upper;
  }
  const int cubature = dims > 1 && smooth && strstr(f->name, "continuous") == NULL;
  if (dims > 1 && !cubature) t.run.limits.n = 1 << 17;
  t.run.limits.rtol = dims == 1 ? 1e-9 : 1e-6;
  const quad_rule *rule = quad_rule_find(dims == 1  ? "adaptive"
                                         : cubature ? "genz-malik"
                                                    : "sobol");
  assert_ok(quad_integrate(&t.run, rule));
  const double exact = f->exact(dims, values), error = fabs(t.run.value - exact);
  const double bound = t.run.limits.n == 0 ? 10.0 * t.run.limits.rtol * fabs(exact)
                                           : fmin(3.0 * t.run.error, 0.05 * fabs(exact));
  if (quad_reason_status(t.run.reason) != STATUS_OK || !(error <= bound)) {
    fail_msg("%s in %d directions by %s: %s, %.17g, exact %.17g", f->name, dims, rule->name,
             quad_reason_name(t.run.reason), t.run.value, exact);
  }
  quad_try_close(&t);
}

static void all(void **state) {
  (void)state;
  for (int i = 0; integrand_at(i) != NULL; i++) {
    const integrand *f = integrand_at(i);
    for (int dims = f->dims_min; dims <= f->dims_max; dims++) {
      compare(f, dims, 1.0);
      if (dims <= 3) compare(f, dims, 0.8);
    }
    assert_ptr_equal(integrand_find(f->name), f);
    char listed[64];
    snprintf(listed, sizeof listed, "%s", f->name);
    assert_non_null(strstr(integrand_names(), listed));
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
  assert_ok(comm_open(&argc, &argv, &world));
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
