/* From text to formulas. ranks: 1 2 3 */
#include "function.h"
#include "compiler.h"

#include <math.h>
#include <xmmintrin.h>

#include "comm.h"
#include "elementary.h"
#include "expression.h"
#include "formulas.h"
#include "log.h"

static const char *const NAMES[] = {"x", "y", "z", "t", "x[0]", "x[1]", "sigma", NULL};
enum { VARIABLES = 7, LENGTH = 300, BATCH = 12, BATCHES = 1 };
static const char *const WHERE[BATCH] = {"test.ini:1: f", "--g", "--h", "--i", "--j", "--k",
                                         "--l",           "--m", "--n", "--o", "--p", "--q"};

static comm *world;
static compiler *cc;
static int end;

static double columns[VARIABLES][2 * LENGTH], out[BATCH][LENGTH], expected[LENGTH];

static void fill_columns(void) {
  static const double special[] = {1e300, 1.0 / 0.0, 0.0 / 0.0, -0.0, 0x1p30, -1e15, 0x1p-1074};
  for (int v = 0; v < VARIABLES; v++) {
    for (int i = 0; i < 2 * LENGTH; i++) {
      const philox_words w = philox_at(9, (uint64_t)i, PHILOX_PROBE, (uint64_t)v, 0);
      columns[v][i] = 8.0 * philox_uniform(w, 0) - 4.0;
    }
    for (int s = 0; s < 7; s++) columns[v][150 + 3 * s + v] = special[s];
    columns[v][10 + v] = special[2]; /* and where no neighbour is rare */
    columns[v][20 + v] = special[3];
    columns[v][30 + v] = special[6];
  }
}

static void set_inputs(formula_input *in) {
  for (int v = 0; v < VARIABLES; v++) {
    in[v] = (formula_input){columns[v], v == 3 || v == 6 ? 0 : v == 4 ? 2 : 1};
  }
}

static void check_batch(const formula *f, const char *const *texts, int n) {
  formula_input in[VARIABLES];
  double *outs[BATCH];
  set_inputs(in);
  for (int k = 0; k < BATCH; k++) {
    outs[k] = out[k];
    for (int i = 0; i < LENGTH; i++) out[k][i] = -77.0;
  }
  f->batch(f->context, n, in, outs);
  for (int k = 0; k < f->outputs; k++) {
    expression *e;
    assert_ok(expression_parse(texts[k], NAMES, &e));
    expression_values(e, n, in, expected);
    for (int i = 0; i < n; i++) {
      const double a = out[k][i], b = expected[i];
      if ((a != a && b != b) || bits_of(a) == bits_of(b)) continue;
      fail_msg("point %d: compiled %.17g, interpreted %.17g: %s", i, a, b, texts[k]);
    }
    for (int i = n; i < LENGTH; i++) assert_same_bits(out[k][i], -77.0);
    expression_release(&e);
  }
}

/* Compiling takes a while: what does not depend on the ranks is tried with one. */
static void compiled_equals_interpreted(void **state) {
  (void)state;
  if (comm_size(world) > 1) return;
  static const int lengths[] = {0, 1, 127, 128, 129, LENGTH};
  for (int b = 0; b < BATCHES; b++) {
    static writer w[BATCH];
    const char *texts[BATCH];
    for (int k = 0; k < BATCH; k++) {
      w[k] = (writer){.draws = (uint64_t)(b * BATCH + k) << 20, .names = NAMES};
      w[k].variables = VARIABLES;
      write_formula(&w[k], 4);
      texts[k] = w[k].text;
    }
    const function_request r = {.texts = texts, .where = WHERE, .names = NAMES, .outputs = BATCH};
    function *f;
    assert_ok(function_create(world, cc, &r, &f));
    assert_true(function_formula(f)->context == NULL); /* compiled */
    assert_string_equal(function_formula(f)->kind, "expression");
    for (int l = 0; l < 6; l++) check_batch(function_formula(f), texts, lengths[l]);
    function_release(&f);
  }
}

/* Every operation once, every kind of operand. One output with a rare argument would send its whole
 * chunk through the plain code: the first chunk has none. */
static void every_operation(void **state) {
  (void)state;
  static const char *const texts[BATCH] = {
      "sin(x) + cos(10*y)",
      "x*y - z",
      "x - y*sigma",
      "pow(sin(y), z)",
      "x^y + x^5 + y^-3 + x^0 + y^0.5 + abs(z)^-1.5 + x^17",
      "max(sin(x), 0.5) - max(y, 2)",
      "(x < y) + 2*(x <= t) + 4*(y > z) + 8*(x >= z) + 16*(x == y) + 32*(x != t)",
      "(x && y > 1) + 2*(x > 0 || !y)",
      "x > 1 ? sin(y) : y > z ? log10(z) : x[0]",
      "sign(x) + step(y) - abs(z) + floor(x[0]) + ceil(x[1])",
      "exp(log(abs(x)))/sqrt(y) - (-z) + tan(x) + cbrt(y) + asin(z/4) + atan2(x, y)",
      "min(x, 1) + 1e-310*min(2, y) + acos(x/4) + atan(y) + sinh(z) + cosh(x) + tanh(y) + erf(z)",
  };
  const function_request r = {.texts = texts, .where = WHERE, .names = NAMES, .outputs = BATCH};
  function *f;
  assert_ok(function_create(world, cc, &r, &f));
  assert_null(function_formula(f)->context);
  check_batch(function_formula(f), texts, LENGTH);
  function_release(&f);
}

/* Texts that are cut into parts, with values that cross from one to the next. */
static void long_expressions_are_cut(void **state) {
  (void)state;
  if (comm_size(world) > 1) return;
  static char chain[3000], nest[3000], tree[60000], level[60000];
  for (int k = 0; k < 10; k++) {
    snprintf(chain + strlen(chain), 60, "%ssin(%d*x + y)*exp(-z/%d)", k > 0 ? " - " : "", k, k + 1);
    snprintf(nest + strlen(nest), 60, "cos(x + %d*(y - ", k);
  }
  strcat(nest, "z");
  for (int k = 0; k < 10; k++) strcat(nest, "))");
  strcpy(tree, "log(abs(x) + 1)");
  for (int k = 0; k < 2; k++) {
    snprintf(level, sizeof level, "sin((%.20000s) - %d*(%.20000s))", tree, k + 1, tree);
    strcpy(tree, level);
  }
  const char *const texts[] = {chain, nest, tree};
  const function_request r = {.texts = texts, .where = WHERE, .names = NAMES, .outputs = 3};
  function *f;
  assert_ok(function_create(world, cc, &r, &f));
  assert_null(function_formula(f)->context);
  check_batch(function_formula(f), texts, LENGTH);
  function_release(&f);
}

static void constants_variables_and_reference(void **state) {
  (void)state;
  const char *const texts[] = {"2^0.5", "y", "0/0", "-1/0"};
  function_request r = {.texts = texts, .where = WHERE, .names = NAMES, .outputs = 4};
  function *f;
  double value;
  assert_ok(function_create(world, cc, &r, &f));
  check_batch(function_formula(f), texts, 130);
  assert_false(function_constant(f, &value));
  function_release(&f);
  r.plain = 1;
  assert_ok(function_create(world, cc, &r, &f));
  assert_ptr_equal(function_formula(f)->context, f);
  check_batch(function_formula(f), texts, 130);
  function_release(&f);
  r.outputs = 1;
  assert_ok(function_create(world, NULL, &r, &f));
  assert_true(function_constant(f, &value));
  assert_same_bits(value, elementary_pow(2.0, 0.5));
  function_release(&f);
  function_release(&f);
}

/* ---- refusals: the agreement prints the text, so it is captured ---- */

static void refused(const function_request *r, compiler *w, status code, const char *a,
                    const char *b) {
  function *f;
  FILE *said = tmpfile();
  fflush(stderr);
  const int kept = dup(2);
  dup2(fileno(said), 2);
  const status rc = function_create(world, w, r, &f);
  fflush(stderr);
  dup2(kept, 2);
  close(kept);
  static char text[20000];
  rewind(said);
  text[fread(text, 1, sizeof text - 1, said)] = '\0';
  fclose(said);
  if (rc != code) fail_msg("code %d, expected %d: %s", (int)rc, (int)code, text);
  assert_null(f);
  if (comm_rank(world) != 0) return; /* the lowest rank that failed speaks */
  if (strstr(text, a) == NULL || strstr(text, b) == NULL) {
    fail_msg("says: %s (expected %s and %s)", text, a, b);
  }
}

static void expressions_are_refused_with_their_column(void **state) {
  (void)state;
  const char *const texts[] = {"x", "x + foo"};
  const function_request r = {.texts = texts, .where = WHERE, .names = NAMES, .outputs = 2};
  refused(&r, cc, STATUS_USAGE, "--g: expression, column 5: found 'foo'", "expected x");
  const char *const file[] = {"f.c"};
  const function_request none = {.texts = file, .where = WHERE, .names = NAMES, .outputs = 1};
  refused(&none, cc, STATUS_USAGE, "test.ini:1: f: found the C file f.c", "expected an expression");
}

/* ---- C files ---- */

static void write_text(const char *name, const char *text) {
  if (comm_rank(world) == 0) {
    FILE *file = fopen(name, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) abort();
  }
  assert_ok(comm_barrier(world));
}

static function_request c_request(const char *const *name) {
  return (function_request){.texts = name,
                            .where = WHERE + 1,
                            .names = NAMES,
                            .outputs = 1,
                            .prototype = "double integrand(const double *x, const double *p)",
                            .call = "out[0] = integrand(in, in + 3);"};
}

static const char *const GOOD = "good.c";

static void c_files_equal_expressions(void **state) {
  (void)state;
  write_text("beside.h", "static double twice(double v) { return v + v; }\n");
  write_text(GOOD, "#include <math.h>\n#include \"halosweep_functions.h\"\n#include \"beside.h\"\n"
                   "double helper(double v);\n"
                   "double integrand(const double *x, const double *p) {\n"
                   "  return fma(helper(x[0]), exp(-x[1]), twice(pow(x[2], 2.5) * p[3]));\n}\n"
                   "double helper(double v) { return sin(v) - cos(v + 1.0); }\n");
  const char *const same[] = {"(sin(x) - cos(x + 1))*exp(-y) + (2*(z^2.5*sigma))"};
  for (int plain = 0; plain < 2; plain++) {
    function_request r = c_request(&GOOD);
    function *f;
    r.plain = plain;
    assert_ok(function_create(world, cc, &r, &f));
    assert_string_equal(function_formula(f)->kind, "C file");
    assert_non_null(strstr(function_formula(f)->text, "PORTABLE void formula_value("));
    assert_non_null(strstr(function_formula(f)->text, "double helper(double v) {"));
    check_batch(function_formula(f), same, LENGTH);
    function_release(&f);
  }
}

/* A header beside the file belongs to what is compiled: another one is other code. */
static void c_files_are_cached_with_what_they_include(void **state) {
  (void)state;
  write_text("beside.h", "static double twice(double v) { return v + v + 1.0; }\n");
  const function_request r = c_request(&GOOD);
  function *f;
  assert_ok(function_create(world, cc, &r, &f));
  formula_input in[VARIABLES];
  double *outs[] = {out[0]}, at[VARIABLES] = {0.3, 0.4, 1.7, 0.0, 0.0, 0.0, 0.6};
  for (int v = 0; v < VARIABLES; v++) in[v] = (formula_input){&at[v], 0};
  function_formula(f)->batch(function_formula(f)->context, 1, in, outs);
  const double product = elementary_pow(at[2], 2.5) * at[6];
  const double sum = elementary_sin(at[0]) - elementary_cos(at[0] + 1.0);
  const double twice = product + product + 1.0;
  const double value = fma(sum, elementary_exp(-at[1]), twice);
  assert_same_bits(out[0][0], value);
  function_release(&f);
}

static void c_files_are_refused_with_their_line(void **state) {
  (void)state;
  static const struct {
    const char *text;
    status code;
    const char *a, *b;
  } cases[] = {
      {"double integrand(const double *x, const double *p) {\n  return x[0] +;\n}\n", STATUS_INPUT,
       "bad.c:2:", "does not compile"},
      {"double integrand(const double *x, const double *p) {\n  return tgamma(x[0]);\n}\n",
       STATUS_INPUT, "bad.c:2:", "implicit declaration"},
      {"double other(double x) { return x; }\n", STATUS_INPUT, "undefined symbol: integrand",
       "expected it to define double integrand(const double *x"},
      {"double integrand(double x) { return x; }\n", STATUS_INPUT, "bad.c:1:", "does not compile"},
  };
  const char *const bad[] = {"bad.c"}, *const absent[] = {"absent.c"}, *const home[] = {"~/f.c"};
  function_request r = c_request(bad);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_text("bad.c", cases[i].text);
    refused(&r, cc, cases[i].code, cases[i].a, cases[i].b);
  }
  r.texts = absent;
  refused(&r, cc, STATUS_INPUT, "--g: absent.c cannot be opened", "No such file");
  r.texts = home;
  refused(&r, cc, STATUS_INPUT, "~/f.c", "not expanded");
}

/* ---- compilers ---- */

static compiler *compiler_called(const char *path) {
  setenv("HALOSWEEP_CC", path, 1);
  compiler *w = test_compiler(end);
  unsetenv("HALOSWEEP_CC");
  return w;
}

/* The compiler with more flags, as a wrapper script. */
static compiler *wrapped(const char *name, const char *flags) {
  char path[4096], text[8192];
  if (getcwd(path, 3000) == NULL) abort();
  snprintf(path + strlen(path), 100, "/%s", name);
  snprintf(text, sizeof text, "#!/bin/sh\nexec '%.4000s' \"$@\" %s\n", compiler_name(cc), flags);
  write_text(path, text);
  chmod(path, 0755);
  return compiler_called(path);
}

static void without_a_compiler(void **state) {
  (void)state;
  const char *const texts[] = {"x + y*sin(z)"}, *const file[] = {GOOD};
  function_request r = {.texts = texts, .where = WHERE, .names = NAMES, .outputs = 1};
  static const char *const paths[] = {"/nonexistent/cc", "/bin/false", "no-such-compiler"};
  for (int i = 0; i < 3; i++) {
    compiler *w = compiler_called(paths[i]);
    function *f;
    assert_ok(function_create(world, w, &r, &f));
    assert_ptr_equal(function_formula(f)->context, f); /* interpreted */
    assert_non_null(function_formula(f)->text);
    check_batch(function_formula(f), texts, LENGTH);
    function_release(&f);
    compiler_close(&w);
  }
  assert_non_null(strstr(log_warning_at(0), "interpreted"));
  assert_non_null(strstr(log_warning_at(0), "/nonexistent/cc: No such file"));
  compiler *w = compiler_called(paths[0]);
  r = c_request(file);
  refused(&r, w, STATUS_UNAVAILABLE, "no compiler for the C file good.c", "/nonexistent/cc");
  compiler_close(&w);
}

static void compilers_that_change_the_arithmetic(void **state) {
  (void)state;
  const char *const texts[] = {"x + 1e16 - 1e16"};
  const function_request r = {.texts = texts, .where = WHERE, .names = NAMES, .outputs = 1};
  compiler *w = wrapped("associative", "-fassociative-math -fno-signed-zeros");
  refused(&r, w, STATUS_UNAVAILABLE, "computes other bits", "associative");
  compiler_close(&w);
  const unsigned plain = _mm_getcsr();
  w = wrapped("fast", "-ffast-math");
  refused(&r, w, STATUS_UNAVAILABLE, "fast", "");
  compiler_close(&w);
  _mm_setcsr(plain);
  /* not compiled here, so not seen by the trial: the state it leaves is */
  const char *const file[] = {GOOD};
  const function_request c = c_request(file);
  w = wrapped("fast", "-ffast-math");
  refused(&c, w, STATUS_UNAVAILABLE, "denormal", "-ffast-math");
  compiler_close(&w);
  _mm_setcsr(plain);
}

int main(int argc, char **argv) {
  int pid;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compiled_equals_interpreted),
      cmocka_unit_test(every_operation),
      cmocka_unit_test(long_expressions_are_cut),
      cmocka_unit_test(constants_variables_and_reference),
      cmocka_unit_test(expressions_are_refused_with_their_column),
      cmocka_unit_test(c_files_equal_expressions),
      cmocka_unit_test(c_files_are_cached_with_what_they_include),
      cmocka_unit_test(c_files_are_refused_with_their_line),
      cmocka_unit_test(without_a_compiler),
      cmocka_unit_test(compilers_that_change_the_arithmetic),
  };
  unsetenv("HALOSWEEP_CC");
  end = test_helper(&pid);
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  log_open(comm_rank(world) == 0, 0);
  test_own_cache("cache", comm_rank(world) == 0);
  cc = test_compiler(end);
  fill_columns();
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  compiler_close(&cc);
  close(end);
  comm_close(&world);
  return failed;
}
