/* The texts that NVRTC gets, compiled by NVRTC without a GPU: every kernel around expressions, a C
 * file and formulas that are evaluated one point at a time only; a formula that does not compile is
 * the user's error, with the file and line. Skipped where there is no NVRTC. */
#include <stdio.h>
#include <string.h>

#include "function.h"
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

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_kernel),
                                     cmocka_unit_test(every_function), cmocka_unit_test(a_c_file)};
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
