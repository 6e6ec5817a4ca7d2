/* The texts that NVRTC gets, compiled by NVRTC without a GPU: every kernel around expressions, a C
 * file and formulas that are evaluated one point at a time only; a formula that does not compile is
 * the user's error, with the file and line. Skipped where there is no NVRTC. */
#include <stdio.h>
#include <string.h>

#include "coupled_backend.h"
#include "function.h"
#include "ode_backend.h"
#include "ode_tableau.h"
#include "quad.h"
#include "quad_regions.h"
#include "rtc_check.h"
#include "test.h"

enum { SKIP = 77 };

static comm *world;

static const char *const NAMES[] = {"x", "a", NULL};

static function *formula_of(const char *text) {
  const char *where = "test";
  const function_request r = {
      .texts = &text, .where = &where, .names = NAMES, .outputs = 1, .plain = 1};
  function *f;
  if (function_create(world, NULL, &r, &f) != STATUS_OK) fail_msg("%s: %s", text, fail_text());
  return f;
}

static status check(const char *kernel, const formula *f, int points, int kind, int estimate,
                    int single, int rule) {
  int64_t bytes;
  const rtc_check_define defines[] = {{"QUAD_NDIMS", 1},           {"QUAD_KIND", kind},
                                      {"QUAD_ESTIMATE", estimate}, {"QUAD_SINGLE", single},
                                      {"QUAD_RULE", rule},         {"QUAD_RESIDENT", 2},
                                      {"QUAD_FIXED", 0},           {NULL, 0}};
  const status rc = rtc_check(kernel, f, points, defines, &bytes);
  if (rc == STATUS_OK) assert_true(bytes > 1000);
  return rc;
}

static void must(const char *kernel, const formula *f, int points, int kind, int estimate,
                 int single, int rule) {
  if (check(kernel, f, points, kind, estimate, single, rule) != STATUS_OK) {
    fail_msg("%s, %d points, kind %d, estimate %d, single %d: %s", kernel, points, kind, estimate,
             single, fail_text());
  }
}

static void every_kernel(void **state) {
  (void)state;
  function *f = formula_of("sin(3*x)*exp(-a*x) + x^3/sqrt(1 + x^2)");
  const formula *g = function_formula(f);
  must("quad_sum", g, 4, QUAD_PRODUCT, 1, 0, 0);
  must("quad_sum", g, 0, QUAD_SOBOL, 0, 1, 0);
  must("quad_members", g, 4, QUAD_PRODUCT, 1, 0, 0);
  function_release(&f);
}

/* All functions of expressions, several points at a time; conditions are for one at a time. */
static void every_function(void **state) {
  (void)state;
  function *f = formula_of(
      "sin(x) + cos(x) + tan(x) + asin(x) + acos(x) + atan(x) + atan2(x, a) + sinh(x) + cosh(x) + "
      "tanh(x) + exp(x) + log(x) + log10(x) + cbrt(x) + erf(x) + x^a + x^2.5 + x^3 + abs(x) + "
      "floor(x) + ceil(x) + sqrt(x) + sign(x) + min(x, a) + max(x, a) - x/a");
  must("quad_sum", function_formula(f), 4, QUAD_PRODUCT, 0, 0, 0);
  function_release(&f);
  f = formula_of("x < a ? sin(x) : exp(x)");
  must("quad_values", function_formula(f), 0, QUAD_PRODUCT, 0, 0, QUAD_KRONROD);
  assert_int_equal(check("quad_sum", function_formula(f), 4, QUAD_PRODUCT, 0, 0, 0), STATUS_INPUT);
  fail_clear();
  function_release(&f);
}

static const char C_TEXT[] =
    "#include <math.h>\n#include \"elementary.h\"\n#include \"halosweep_functions.h\"\n"
    "#line 1 \"folder/user.c\"\n"
    "static double half(double x) { return 0.5*x; }\n"
    "double integrand(const double *x, const double *p) {\n"
    "  double a[2] = {half(x[0]), p[0]};\n"
    "  return sin(a[0])*fmax(a[1], 0.0)%s\n"
    "}\n"
    "PORTABLE void formula_value(const double *in, double *out) { out[0] = integrand(in, in + 1); "
    "}\n";

static void a_c_file(void **state) {
  (void)state;
  char text[1024];
  formula f = {.inputs = 2, .outputs = 1, .text = text, .kind = "C file"};
  snprintf(text, sizeof text, C_TEXT, ";");
  must("quad_values", &f, 0, QUAD_PRODUCT, 0, 0, QUAD_KRONROD);
  snprintf(text, sizeof text, C_TEXT, "");
  assert_int_equal(check("quad_values", &f, 0, QUAD_PRODUCT, 0, 0, QUAD_KRONROD), STATUS_INPUT);
  if (strstr(fail_text(), "folder/user.c(5)") == NULL) fail_msg("%s", fail_text());
  fail_clear();
}

/* ---- trajectories ---- */

static function *formula_of_several(const char *const *texts, int outputs) {
  static const char *const names[] = {"t", "x", "y", "a", NULL};
  static const char *const where[] = {"test", "test", "test", "test"};
  const function_request r = {
      .texts = texts, .where = where, .names = names, .outputs = outputs, .plain = 1};
  function *f;
  if (function_create(world, NULL, &r, &f) != STATUS_OK) fail_msg("%s", fail_text());
  return f;
}

static void must_march(const ode_functions *f, int kind, int variant, int adaptive) {
  int64_t bytes;
  const ode_plan plan = {.kind = kind,
                         .variant = variant,
                         .adaptive = adaptive,
                         .components = 2,
                         .parameters = 1,
                         .has_event = f->event != NULL,
                         .has_jacobian = f->jacobian != NULL,
                         .has_time = f->time != NULL,
                         .has_noise_jacobian = f->noise_jacobian != NULL,
                         .noises = 2,
                         .diagonal = 1,
                         .dt = 1e-3,
                         .steps = 1000,
                         .saves = adaptive};
  if (ode_kernel_check(f, &plan, &bytes) != STATUS_OK) {
    fail_msg("kind %d, variant %d, adaptive %d: %s", kind, variant, adaptive, fail_text());
  }
  assert_true(bytes > 1000);
}

static void of_trajectories(void **state) {
  (void)state;
  static const char *const rhs[] = {"y", "-a*sin(x) - (t < 1 ? 0.1 : 0.2)*y"};
  static const char *const event[] = {"x - exp(-t)"};
  static const char *const jacobian[] = {"0", "1", "-a*cos(x)", "-0.1"};
  function *f = formula_of_several(rhs, 2), *g = formula_of_several(event, 1);
  function *j = formula_of_several(jacobian, 4);
  const ode_functions with_event = {.rhs = function_formula(f), .event = function_formula(g)};
  const ode_functions without = {.rhs = function_formula(f)};
  must_march(&with_event, ODE_RUNGE_KUTTA, ODE_TSIT5, 1);
  must_march(&without, ODE_RUNGE_KUTTA, ODE_RK4, 0);
  must_march(&without, ODE_VERLET, 0, 0);
  const ode_functions with_jacobian = {
      .rhs = function_formula(f), .jacobian = function_formula(j), .time = function_formula(f)};
  must_march(&with_jacobian, ODE_ROSENBROCK, 0, 1);
  must_march(&without, ODE_IMPLICIT, ODE_TR_BDF2, 1);
  const ode_functions noisy = {.rhs = function_formula(f),
                               .noise = function_formula(f),
                               .noise_jacobian = function_formula(f)};
  must_march(&noisy, ODE_NOISY, ODE_MILSTEIN, 0);
  function_release(&f);
  function_release(&j);
  function_release(&g);
}

/* One file of the user's in two texts. */
static const char C_SYSTEM[] =
    "#include <math.h>\n#include \"elementary.h\"\n#include \"halosweep_functions.h\"\n"
    "#line 1 \"folder/user.c\"\n"
    "static double half(double x) { return 0.5*x; }\n"
    "static void slope(double t, const double *y, const double *p, double *dy) {\n"
    "  dy[0] = half(y[1]); dy[1] = -p[0]*sin(y[0])*fmax(t, 0.0)%s\n"
    "}\n"
    "static double height(double t, const double *y) { return y[0] - half(t); }\n"
    "PORTABLE void formula_value(const double *in, double *out) {%s }\n";

/* What no GPU thread has room for, and what is not text. */
static void too_large(void **state) {
  (void)state;
  const formula f = {.inputs = 1, .outputs = 1, .text = "", .kind = "expression"};
  const formula without = {.inputs = 1, .outputs = 1, .kind = "table"};
  const ode_functions all[] = {{.rhs = &f}, {.rhs = &f}, {.rhs = &f}, {.rhs = &without}};
  const ode_plan plans[] = {{.components = 1366},
                            {.kind = ODE_IMPLICIT, .components = 123},
                            {.components = 1, .shared = 257},
                            {.components = 1}};
  static const char *const said[] = {"1366 components", "123 components", "256 shared", "no text"};
  int64_t bytes;
  for (int i = 0; i < 4; i++) {
    assert_int_equal(ode_kernel_check(&all[i], &plans[i], &bytes), STATUS_UNAVAILABLE);
    if (strstr(fail_text(), said[i]) == NULL) fail_msg("%s", fail_text());
    fail_clear();
  }
}

static void a_c_file_of_trajectories(void **state) {
  (void)state;
  char rhs_text[1024], event_text[1024];
  formula rhs = {.inputs = 4, .outputs = 2, .text = rhs_text, .kind = "C file"};
  formula event = {.inputs = 4, .outputs = 1, .text = event_text, .kind = "C file"};
  const ode_functions f = {.rhs = &rhs, .event = &event};
  const ode_plan plan = {.components = 2, .parameters = 1, .has_event = 1};
  int64_t bytes;
  snprintf(rhs_text, sizeof rhs_text, C_SYSTEM, ";", "slope(in[0], in + 1, in + 3, out);");
  snprintf(event_text, sizeof event_text, C_SYSTEM, ";", "out[0] = height(in[0], in + 1);");
  must_march(&f, ODE_RUNGE_KUTTA, ODE_EULER, 0);
  snprintf(rhs_text, sizeof rhs_text, C_SYSTEM, "", "slope(in[0], in + 1, in + 3, out);");
  assert_int_equal(ode_kernel_check(&f, &plan, &bytes), STATUS_INPUT);
  if (strstr(fail_text(), "folder/user.c(4)") == NULL) fail_msg("%s", fail_text());
  fail_clear();
}

/* ---- coupled systems ---- */

/* Two fields on a grid, reaches in pairs and alone; a sum; a Jacobian. */
static void of_coupled_systems(void **state) {
  (void)state;
  static const char *const names[] = {"t", "i",      "j",      "n",      "m", "",  "u",
                                      "v", "u[1,0]", "u[0,1]", "v[0,1]", "a", NULL};
  static const char *const texts[] = {"u[1,0] - u + a*i", "u[0,1]*v[0,1] - sin(v)"};
  static const char *const jacobian[] = {"-1", "0",       "1", "0",      "0",
                                         "0",  "-cos(v)", "0", "v[0,1]", "u[0,1]"};
  static const char *const sum_names[] = {"t", "i", "j",    "n",    "m", "k",
                                          "u", "v", "u[k]", "v[k]", "a", NULL};
  static const char *const sum[] = {"k == i ? 0 : a*(u[k] - u)/sqrt(1 + v[k]^2)"};
  static const char *const where[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};
  function *made[3];
  const function_request r[] = {
      {.texts = texts, .where = where, .names = names, .outputs = 2, .plain = 1},
      {.texts = sum, .where = where, .names = sum_names, .outputs = 1, .plain = 1},
      {.texts = jacobian, .where = where, .names = names, .outputs = 10, .plain = 1}};
  for (int i = 0; i < 3; i++) {
    if (function_create(world, NULL, &r[i], &made[i]) != STATUS_OK) fail_msg("%s", fail_text());
  }
  const double a = 0.5;
  const coupled_functions f = {function_formula(made[0]), function_formula(made[1]),
                               function_formula(made[2]), &a, 1};
  coupled_layout l = {.n = 1000,
                      .m = 2000,
                      .fields = 2,
                      .reaches = 5,
                      .reach = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}},
                      .count = 2000000};
  for (int which = 0; which < 3; which++) {
    int64_t bytes;
    l.sums = which == 1;
    if (coupled_kernel_check(&l, &f, which, &bytes) != STATUS_OK) fail_msg("%s", fail_text());
    assert_true(bytes > 1000);
  }
  for (int i = 0; i < 3; i++) function_release(&made[i]);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kernel),      cmocka_unit_test(every_function),
      cmocka_unit_test(a_c_file),          cmocka_unit_test(of_trajectories),
      cmocka_unit_test(too_large),         cmocka_unit_test(a_c_file_of_trajectories),
      cmocka_unit_test(of_coupled_systems)};
  assert_ok(comm_open(&argc, &argv, &world));
  const formula f = {.inputs = 2,
                     .outputs = 1,
                     .kind = "expression",
                     .text =
                         "PORTABLE void formula_value(const double *in, double *out) { out[0] = "
                         "in[0]; }\n"};
  int rc = 0;
  if (check("quad_values", &f, 0, QUAD_PRODUCT, 0, 0, QUAD_KRONROD) == STATUS_UNAVAILABLE) {
    printf("skipped: %s\n", fail_text());
    fail_clear();
    rc = SKIP;
  }
  if (rc == 0) rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
