/* Jacobians of functions, compiled and interpreted. ranks: 1 2 */
#include "compiler.h"
#include "function.h"

#include <math.h>

#include "alloc.h"
#include "comm.h"
#include "expression.h"
#include "formulas.h"
#include "log.h"

enum { SYSTEM = 3, VARIABLES = 5, LENGTH = 300, MANY = 64 };
static const char *const NAMES[] = {"t", "x", "y", "z", "k", NULL};
static const char *const WHERE[SYSTEM] = {"--x", "--y", "--z"};
static const char *const ROBERTSON[SYSTEM] = {"-0.04*x + k*y*z", "0.04*x - k*y*z - 3e7*y^2",
                                              "3e7*y^2"};

static comm *world;
static compiler *cc;
static int end;
static double columns[VARIABLES][2 * LENGTH], expected[LENGTH];

static void fill_columns(formula_input *in) {
  static const double special[] = {1e300, 1.0 / 0.0, 0.0 / 0.0, -0.0, 0.0, -1e15, 0x1p-1074};
  for (int v = 0; v < VARIABLES; v++) {
    for (int i = 0; i < 2 * LENGTH; i++) {
      const philox_words w = philox_at(11, (uint64_t)i, PHILOX_PROBE, (uint64_t)v, 0);
      columns[v][i] = 8.0 * philox_uniform(w, 0) - 4.0;
    }
    for (int s = 0; s < 7; s++) columns[v][150 + 3 * s + v] = special[s];
    in[v] = (formula_input){columns[v], v == 0 || v == 4 ? 0 : v == 2 ? 2 : 1};
  }
}

static function *made(const char *const *texts, compiler *w, int plain) {
  const function_request r = {
      .texts = texts, .where = WHERE, .names = NAMES, .outputs = SYSTEM, .plain = plain};
  function *f;
  assert_ok(function_create(world, w, &r, &f));
  return f;
}

/* Both of a Jacobian's forms against the derivatives of its texts. */
static void check(const function *jacobian, const char *const *texts, int first, int count) {
  const formula *j = function_formula(jacobian);
  formula_input in[VARIABLES];
  double *out[SYSTEM * VARIABLES];
  fill_columns(in);
  assert_int_equal(j->inputs, VARIABLES);
  assert_int_equal(j->outputs, SYSTEM * count);
  for (int k = 0; k < j->outputs; k++) out[k] = calloc(LENGTH, sizeof(double));
  j->batch(j->context, LENGTH, in, out);
  for (int k = 0; k < j->outputs; k++) {
    expression *e, *d;
    assert_ok(expression_parse(texts[k / count], NAMES, &e));
    assert_ok(expression_derivative(e, first + k % count, &d));
    expression_values(d, LENGTH, in, expected);
    for (int i = 0; i < LENGTH; i++) {
      const double a = out[k][i], b = expected[i];
      if ((a != a && b != b) || bits_of(a) == bits_of(b)) continue;
      fail_msg("d/d%s %s, point %d: %.17g, expected %.17g", NAMES[first + k % count],
               texts[k / count], i, a, b);
    }
    expression_release(&e);
    expression_release(&d);
    free(out[k]);
  }
}

static void robertson(void **state) {
  (void)state;
  for (int plain = 0; plain < 2; plain++) {
    function *f = made(ROBERTSON, cc, plain), *j;
    assert_ok(function_jacobian(world, cc, f, 1, SYSTEM, &j));
    assert_non_null(j);
    const formula *is = function_formula(j);
    assert_string_equal(is->kind, "expression");
    assert_int_equal(is->context == NULL, !plain);
    assert_non_null(strstr(is->text, "PORTABLE void formula_value("));
    assert_non_null(strstr(is->text, "out[8] = "));
    for (int k = 0; k < SYSTEM; k++) {
      assert_false(function_uses(f, k, 0));
      assert_true(function_uses(f, k, 2));
      assert_int_equal(function_uses(f, k, 3), k < 2);
    }
    function_release(&f); /* the Jacobian stands alone */
    check(j, ROBERTSON, 1, SYSTEM);
    const double y[VARIABLES] = {0.0, 0.5, 2e-5, 0.25, 1e4};
    const double exact[SYSTEM * SYSTEM] = {
        -0.04, 2500.0, 1e4 * 2e-5, 0.04, fma(-1e4, 0.25, -1200.0), -1e4 * 2e-5, 0.0, 1200.0, 0.0};
    double value[SYSTEM * SYSTEM], *out[SYSTEM * SYSTEM];
    formula_input in[VARIABLES];
    for (int v = 0; v < VARIABLES; v++) in[v] = (formula_input){&y[v], 0};
    for (int k = 0; k < SYSTEM * SYSTEM; k++) out[k] = &value[k];
    is->batch(is->context, 1, in, out);
    for (int k = 0; k < SYSTEM * SYSTEM; k++) assert_true(value[k] == exact[k]);
    function_release(&j);
  }
}

/* Values that several nodes share, across parts of the compiled code. */
static void every_function_and_random_ones(void **state) {
  (void)state;
  if (comm_size(world) > 1) return;
  static const char *const all[SYSTEM] = {
      "sin(x*y)*cos(x)/tan(z) + sinh(x)*cosh(y) + tanh(x*z)*erf(y) + exp(-x^2)*log(abs(y) + 1)",
      "sqrt(x^2 + y^2)*atan2(y, x) + cbrt(x*y) + asin(x/4)*acos(y/4) + atan(x)^3 + log10(x^2 + 1)",
      "x^y + max(x*y, min(y, z)) + (x > y ? x^0.5 : z^k)/(1 + exp(-x)) - floor(x)*abs(z)"};
  function *f = made(all, cc, 0), *j;
  assert_ok(function_jacobian(world, cc, f, 0, VARIABLES, &j));
  assert_null(function_formula(j)->context);
  check(j, all, 0, VARIABLES);
  function_release(&f);
  function_release(&j);
  static writer w[SYSTEM];
  const char *texts[SYSTEM];
  for (int k = 0; k < SYSTEM; k++) {
    w[k] = (writer){.draws = (uint64_t)(k + 70) << 20, .names = NAMES, .variables = VARIABLES};
    write_formula(&w[k], 6);
    texts[k] = w[k].text;
  }
  f = made(texts, cc, 0);
  assert_ok(function_jacobian(world, cc, f, 1, SYSTEM, &j));
  assert_null(function_formula(j)->context);
  check(j, texts, 1, SYSTEM);
  function_release(&f);
  function_release(&j);
}

/* A ring of 64 (Lorenz-96), and one with all pairs coupled: 4096 outputs. */
static void systems_of_64(void **state) {
  (void)state;
  static char name[MANY + 1][8], text[MANY][8000];
  static const char *names[MANY + 2], *texts[MANY];
  static double value[MANY * MANY], *out[MANY * MANY], at[MANY + 1];
  formula_input in[MANY + 1];
  for (int i = 0; i <= MANY; i++) {
    snprintf(name[i], sizeof name[i], i < MANY ? "y[%d]" : "F", i);
    names[i] = name[i];
    at[i] = 0.25 * i;
    in[i] = (formula_input){&at[i], 0};
  }
  for (int k = 0; k < MANY * MANY; k++) out[k] = &value[k];
  for (int dense = 0; dense < 2; dense++) {
    for (int i = 0; i < MANY; i++) {
      texts[i] = text[i];
      snprintf(text[i], 200, "(y[%d] - y[%d])*y[%d] - y[%d] + F", (i + 1) % MANY,
               (i + MANY - 2) % MANY, (i + MANY - 1) % MANY, i);
      for (int j = 0; j < MANY && dense; j++) {
        snprintf(text[i] + strlen(text[i]), 60, " + sin(y[%d] - y[%d])", j, i);
      }
    }
    const function_request r = {
        .texts = texts, .where = texts, .names = names, .outputs = MANY, .plain = dense};
    function *f, *j;
    assert_ok(function_create(world, dense ? NULL : cc, &r, &f));
    assert_ok(function_jacobian(world, dense ? NULL : cc, f, 0, MANY, &j));
    assert_non_null(j);
    function_formula(j)->batch(function_formula(j)->context, 1, in, out);
    for (int i = 0; i < MANY && !dense; i++) {
      for (int k = 0; k < MANY; k++) {
        const double behind = at[(i + MANY - 1) % MANY];
        double want = k == i ? -1.0 : 0.0;
        if (k == (i + 1) % MANY) want = behind;
        if (k == (i + MANY - 2) % MANY) want = -behind;
        if (k == (i + MANY - 1) % MANY) want = at[(i + 1) % MANY] - at[(i + MANY - 2) % MANY];
        assert_true(value[i * MANY + k] == want);
        const int distance = (k - i + 2 + MANY) % MANY; /* -2, -1, 0, 1 */
        assert_int_equal(function_uses(f, i, k), distance < 4);
      }
    }
    if (dense) assert_true(fabs(value[MANY * 10 + 30] - cos(5.0)) < 1e-15);
    function_release(&f);
    function_release(&j);
  }
}

static void where_there_is_none(void **state) {
  (void)state;
  static char deep[60000] = "x", next[60000];
  for (int k = 0; k < 9; k++) {
    snprintf(next, sizeof next, "(%.19900s*%.19900s-%.19900s)", deep, deep, deep);
    strcpy(deep, next);
  }
  const char *const texts[] = {"x", deep, "y"};
  const int64_t before = alloc_live();
  function *f = made(texts, NULL, 0), *j;
  assert_ok(function_jacobian(world, NULL, f, 1, SYSTEM, &j));
  assert_null(j);
  assert_string_equal(fail_text(), "");
  assert_ok(function_jacobian(world, NULL, f, 3, 0, &j));
  assert_null(j);
  assert_ok(function_jacobian(world, NULL, f, 0, JACOBIAN_OUTPUTS_MAX / SYSTEM + 1, &j));
  assert_null(j);
  function_release(&f);
  assert_int_equal(alloc_live(), before);
  if (comm_rank(world) == 0) {
    FILE *file = fopen("rhs.c", "w");
    if (file == NULL || fputs("double f(const double *in) { return in[1]; }\n", file) < 0) abort();
    fclose(file);
  }
  assert_ok(comm_barrier(world));
  const char *const name[] = {"rhs.c"};
  const function_request r = {.texts = name,
                              .where = WHERE,
                              .names = NAMES,
                              .outputs = 1,
                              .prototype = "double f(const double *in)",
                              .call = "out[0] = f(in);",
                              .plain = 1};
  assert_ok(function_create(world, cc, &r, &f));
  assert_true(function_uses(f, 0, 0));
  assert_ok(function_jacobian(world, cc, f, 1, SYSTEM, &j));
  assert_null(j);
  function_release(&f);
}

int main(int argc, char **argv) {
  int pid;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(robertson),
      cmocka_unit_test(every_function_and_random_ones),
      cmocka_unit_test(systems_of_64),
      cmocka_unit_test(where_there_is_none),
  };
  unsetenv("HALOSWEEP_CC");
  end = test_helper(&pid);
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  log_open(comm_rank(world) == 0, 0);
  test_own_cache("cache", comm_rank(world) == 0);
  cc = test_compiler(end);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  compiler_close(&cc);
  close(end);
  comm_close(&world);
  return failed;
}
