/* Jacobians of functions, compiled and interpreted. ranks: 1 2 */
#include "compiler.h"
#include "function.h"

#include <math.h>

#include "alloc.h"
#include "captured.h"
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
  function *f = made(all, NULL, 0), *j;
  assert_ok(function_jacobian(world, cc, f, 1, 2, &j));
  assert_null(function_formula(j)->context);
  check(j, all, 1, 2);
  function_release(&f);
  function_release(&j);
  static writer w[SYSTEM];
  const char *texts[SYSTEM];
  for (int k = 0; k < SYSTEM; k++) {
    w[k] = (writer){.draws = (uint64_t)(k + 70) << 20, .names = NAMES, .variables = VARIABLES};
    write_formula(&w[k], 5);
    texts[k] = w[k].text;
  }
  f = made(texts, NULL, 0);
  assert_ok(function_jacobian(world, cc, f, 3, 2, &j));
  assert_null(function_formula(j)->context);
  check(j, texts, 3, 2);
  function_release(&f);
  function_release(&j);
}

/* n on a ring (Lorenz-96); `dense`: and all coupled with all. */
static function *ring(int n, int dense, formula_input *in, double *at) {
  static char name[MANY + 1][8], text[MANY][8000];
  static const char *names[MANY + 2], *texts[MANY];
  for (int i = 0; i <= n; i++) {
    snprintf(name[i], sizeof name[i], i < n ? "y[%d]" : "F", i);
    names[i] = name[i];
    at[i] = 0.25 * i;
    in[i] = (formula_input){&at[i], 0};
  }
  names[n + 1] = NULL;
  for (int i = 0; i < n; i++) {
    texts[i] = text[i];
    snprintf(text[i], 200, "(y[%d] - y[%d])*y[%d] - y[%d] + F", (i + 1) % n, (i + n - 2) % n,
             (i + n - 1) % n, i);
    for (int j = 0; j < n && dense; j++) {
      snprintf(text[i] + strlen(text[i]), 60, " + sin(y[%d] - y[%d])", j, i);
    }
  }
  const function_request r = {.texts = texts, .where = texts, .names = names, .outputs = n};
  function *f;
  assert_ok(function_create(world, NULL, &r, &f));
  return f;
}

static void check_ring(const function *f, int n, const double *at, const double *value) {
  for (int i = 0; i < n; i++) {
    const double behind = at[(i + n - 1) % n];
    for (int k = 0; k < n; k++) {
      const int distance = (k - i + 2 + n) % n; /* -2, -1, 0, 1 */
      const double among[] = {-behind, at[(i + 1) % n] - at[(i + n - 2) % n], -1.0, behind};
      assert_true(value[i * n + k] == (distance < 4 ? among[distance] : 0.0));
      assert_int_equal(function_uses(f, i, k), distance < 4);
    }
  }
}

/* Compiled (constants among its outputs), and up to 4096 outputs. */
static void rings(void **state) {
  (void)state;
  static const int sizes[] = {12, MANY, MANY};
  static double value[MANY * MANY], *out[MANY * MANY], at[MANY + 1];
  formula_input in[MANY + 1];
  for (int k = 0; k < MANY * MANY; k++) out[k] = &value[k];
  for (int c = 0; c < 3; c++) {
    const int n = sizes[c];
    function *f = ring(n, c == 2, in, at), *j;
    assert_ok(function_jacobian(world, c == 0 ? cc : NULL, f, 0, n, &j));
    assert_non_null(j);
    assert_int_equal(function_formula(j)->context == NULL, c == 0);
    memset(value, 0xff, sizeof value);
    function_formula(j)->batch(function_formula(j)->context, 1, in, out);
    if (c < 2) check_ring(f, n, at, value);
    if (c == 2) assert_true(fabs(value[n * 10 + 30] - cos(5.0)) < 1e-15);
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
  function_release(&f);
  static char product[40001];
  for (int i = 0; i < 20000; i++) memcpy(product + 2 * i, i % 2 == 0 ? "*x" : "*y", 2);
  const char *const products[] = {product + 1, product + 1, product + 1};
  f = made(products, NULL, 0);
  assert_ok(function_jacobian(world, NULL, f, 1, SYSTEM, &j)); /* 360 000 nodes */
  assert_null(j);
  assert_ok(function_jacobian(world, NULL, f, 1, 1, &j));
  assert_non_null(j);
  function_release(&j);
  function_release(&f);
  formula_input in[MANY + 1];
  double at[MANY + 1];
  f = ring(MANY, 0, in, at);
  assert_ok(function_jacobian(world, NULL, f, 0, MANY + 1, &j));
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

static void no_memory_is_a_failure(void **state) {
  (void)state;
  char said[CAPTURED_BYTES];
  function *f = made(ROBERTSON, NULL, 0), *j;
  const int64_t before = alloc_live();
  int failed = 0;
  for (int nth = 1; nth < 400; nth += 7) {
    captured s = captured_begin();
    alloc_fail_at(comm_rank(world) == 0 ? nth : 0); /* of one rank: the others leave, too */
    const status rc = function_jacobian(world, NULL, f, 1, SYSTEM, &j);
    alloc_fail_at(0);
    captured_end(&s, world, said);
    assert_int_equal(j == NULL, rc != STATUS_OK);
    if (rc != STATUS_OK) assert_int_equal(rc, STATUS_UNAVAILABLE);
    if (rc != STATUS_OK) assert_non_null(strstr(said, "memory"));
    failed += rc != STATUS_OK;
    function_release(&j);
    assert_int_equal(alloc_live(), before);
    if (rc == STATUS_OK) break;
  }
  assert_true(failed > 5);
  function_release(&f);
}

int main(int argc, char **argv) {
  int pid;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(robertson),
      cmocka_unit_test(every_function_and_random_ones),
      cmocka_unit_test(rings),
      cmocka_unit_test(where_there_is_none),
      cmocka_unit_test(no_memory_is_a_failure),
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
