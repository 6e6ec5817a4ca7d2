/* Which noise milstein takes: additive, diagonal, commuting; case 163 is refused, by name. */
#include <stdio.h>
#include <string.h>

#include "noise.h"
#include "test.h"

static comm *world;
static char said[2000]; /* what was said against noise */

static const char *const names[] = {"t", "x", "y", "a", NULL};

/* texts: [2] where diagonal, else [2][noises]. */
static status look(const char *const *texts, int noises, int diagonal, int variant, ode_plan *plan,
                   int *derivatives) {
  const char *where[] = {"noise", "noise", "noise", "noise", "noise", "noise"};
  const double y[] = {1.0, 0.0}, p[] = {3.0};
  function *f = NULL, *jacobian = NULL;
  function_request request = {.texts = texts, .where = where, .names = names};
  const ode_noise_request is = {"method", names, y, p};
  request.outputs = 2 * (diagonal ? 1 : noises);
  *plan = (ode_plan){.kind = ODE_NOISY, .variant = variant, .components = 2, .parameters = 1};
  plan->noises = noises;
  plan->diagonal = diagonal;
  plan->t_end = 1.0;
  assert_ok(function_create(world, NULL, &request, &f));
  if (variant == ODE_MILSTEIN && ode_noise_commutes(f, &is, plan) != STATUS_OK) {
    snprintf(said, sizeof said, "%s", fail_text());
    fail_clear();
  }
  const status rc = ode_noise_create(world, NULL, f, &is, plan, &jacobian);
  *derivatives = jacobian == NULL ? 0 : function_formula(jacobian)->outputs;
  assert_int_equal(plan->has_noise_jacobian, jacobian != NULL);
  function_release(&f);
  function_release(&jacobian);
  return rc;
}

typedef struct example {
  int noises, diagonal;
  const char *texts[4];
} example;

static void taken(void **state) {
  (void)state;
  const example all[] = {
      {2, 1, {"0.3*x", "a*sqrt(1 + y*y)"}},
      {2, 1, {"0.3*x + 0*y*t", "sin(y)"}},     /* names y, and does not depend on it */
      {1, 0, {"x*y", "sin(x + y)"}},           /* one noise always does */
      {2, 0, {"0.5*x", "a*x", "-0.3*y", "y"}}, /* diagonal matrices */
      {2, 0, {"a*y", "x", "-a*x", "y"}},       /* a rotation, and the identity */
      {2, 0, {"x*exp(t)", "0", "0", "1/(2 + y*y)"}}};
  ode_plan plan;
  int derivatives;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const int n = all[i].noises, diagonal = all[i].diagonal;
    if (look(all[i].texts, n, diagonal, ODE_MILSTEIN, &plan, &derivatives) != STATUS_OK) {
      fail_msg("%d: %s", (int)i, fail_text());
    }
    assert_int_equal(derivatives, diagonal ? 2 : 4 * n);
    assert_int_equal(plan.additive, 0);
    assert_ok(look(all[i].texts, n, diagonal, ODE_EULER_MARUYAMA, &plan, &derivatives));
    assert_int_equal(derivatives, 0);
  }
  const example additive = {2, 0, {"1 + t", "a", "0", "t*t"}};
  assert_ok(look(additive.texts, 2, 0, ODE_MILSTEIN, &plan, &derivatives));
  assert_int_equal(plan.additive, 1);
  assert_int_equal(derivatives, 0);
}

static void refused(void **state) {
  (void)state;
  const example all[] = {{2, 1, {"0.3*y", "0.3*x"}}, /* case 163 */
                         {2, 1, {"0.3*x", "0.2*y + 1e-4*x"}},
                         {2, 0, {"1", "0", "0", "x"}},
                         {2, 0, {"a*y", "x", "-a*x", "1.001*y"}},
                         {2, 0, {"x", "1", "0*y", "t*t*y"}},
                         {2, 1, {"log(-x)", "x"}}};
  ode_plan plan;
  int derivatives;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const int n = all[i].noises, diagonal = all[i].diagonal;
    const status rc = look(all[i].texts, n, diagonal, ODE_MILSTEIN, &plan, &derivatives);
    if (rc != STATUS_USAGE) fail_msg("%d: status %d", (int)i, rc);
    assert_non_null(strstr(said, i == 5 ? "not finite" : "does not commute"));
    assert_non_null(strstr(said, "method: "));
    if (i == 0) assert_non_null(strstr(said, " D_2 g_1 is "));
    assert_ok(look(all[i].texts, n, diagonal, ODE_EULER_MARUYAMA, &plan, &derivatives));
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(taken), cmocka_unit_test(refused)};
  assert_ok(comm_open(&argc, &argv, &world));
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
