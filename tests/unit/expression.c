#include "expression.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "elementary.h"
#include "formulas.h"
#include "philox.h"

static const char *const NAMES[] = {"x", "y", "z", "t", "x[0]", "x[1]", "sigma", NULL};
enum { VARIABLES = 7 };
static const double AT[VARIABLES] = {0.7, -1.3, 2.9, 0.1, 5.0, 7.0, 10.0};

static double value_of(const char *text) {
  expression *e;
  if (expression_parse(text, NAMES, &e) != STATUS_OK) fail_msg("%s: %s", text, fail_text());
  const double value = expression_value(e, AT);
  expression_release(&e);
  assert_null(e);
  return value;
}

static void precedence_and_values(void **state) {
  (void)state;
  const double x = AT[0], y = AT[1], z = AT[2], t = AT[3];
  const struct {
    const char *text;
    double value;
  } cases[] = {
      {"1/2", 0.5},
      {"1 - 2 - 3", -4.0},
      {"8/4/2", 1.0},
      {"2*3^2", 18.0},
      {"-3^2", -9.0},
      {"(-3)^2", 9.0},
      {"2^3^2", 512.0},
      {"2**3**2", 512.0},
      {"2^-1", 0.5},
      {"2^-1^2", 0.5},
      {"-2^-2", -0.25},
      {"- - 2", 2.0},
      {"+3", 3.0},
      {"!0 + 1", 2.0},
      {"!3", 0.0},
      {"1 < 2 == 1", 1.0},
      {"3 > 2 > 1", 0.0},
      {"1 + 1 < 3", 1.0},
      {"1 || 0 && 0", 1.0},
      {"2 && 3", 1.0},
      {"0 || 0.5", 1.0},
      {"1 <= 1 && 1 >= 1 && 1 != 2", 1.0},
      {"1 ? 2 : 3", 2.0},
      {"-1 ? 2 : 3", 2.0},
      {"log(-1) ? 2 : 3", 2.0},
      {"0 ? 2 : 0 ? 4 : 5", 5.0},
      {"1 ? 0 ? 2 : 3 : 4", 3.0},
      {"min(3, 1, 2)", 1.0},
      {"max(3, 1, 2) + min(4, 5)", 7.0},
      {"abs(-2) + floor(-1.5) + ceil(1.2)", 2.0},
      {"sign(-4) + step(0) + step(-1)", 0.0},
      {"pi", 3.141592653589793},
      {"e", 2.718281828459045},
      {"exp(0) + log(1) + sqrt(16) + log10(1000)", 8.0},
      {"pow(2, 10)", 1024.0},
      {".5e1 + 1.e-1 + 2E0", 7.1},
      {"\t( 1\n+ 2 )  ", 3.0},
      {"x[0] + x[1]*2", 19.0},
      {"sigma*(y-x)", AT[6] * (y - x)},
      {"x", x},
      {"x + y*z", fma(y, z, x)},
      {"x*y + z", fma(x, y, z)},
      {"x*y - z", fma(x, y, -z)},
      {"x - y*z", fma(-y, z, x)},
      {"x*y + z*t", fma(x, y, z * t)},
      {"x*y - z*t", fma(x, y, -(z * t))},
      {"x*y + z*t + x*z", fma(x, z, fma(x, y, z * t))},
      {"x*y*z + t", fma(x * y, z, t)},
      {"-x*y + z", fma(-x, y, z)},
      {"-(x*y) + z", -(x * y) + z},
      {"(x*y) + z", fma(x, y, z)},
      {"x*y/z + t", x * y / z + t},
      {"x^2 + y", x * x + y},
      {"0.1*0.2 + x", fma(0.1, 0.2, x)},
      {"y^3", y * y * y},
      {"sin(x)*exp(-0.05*x)", elementary_sin(x) * elementary_exp(-0.05 * x)},
      {"z^t", elementary_pow(z, t)},
      {"cbrt(27) + cbrt(-8)", 1.0},
      {"tan(x) + asin(x)", elementary_tan(x) + elementary_asin(x)},
      {"acos(x) - atan(y)", elementary_acos(x) - elementary_atan(y)},
      {"atan2(y, x)", elementary_atan2(y, x)},
      {"4*atan2(1, -1)", 3.0 * 3.141592653589793},
      {"sinh(y) + cosh(y)", elementary_sinh(y) + elementary_cosh(y)},
      {"tanh(z) + erf(t)", elementary_tanh(z) + elementary_erf(t)},
      {"cos(pi*x)", elementary_cos(3.141592653589793 * x)},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double value = value_of(cases[i].text);
    if (bits_of(value) != bits_of(cases[i].value)) {
      fail_msg("%s gives %.17g, expected %.17g", cases[i].text, value, cases[i].value);
    }
  }
}

static void errors_name_the_column(void **state) {
  (void)state;
  const struct {
    const char *text, *column, *what;
  } cases[] = {
      {"", "column 1:", "the end"},
      {"1 +", "column 4:", "the end"},
      {"2x", "column 2:", "written with *"},
      {"2 x", "column 3:", "an operator"},
      {"(1 + 2", "column 7:", "')'"},
      {"1 + )", "column 5:", "')'"},
      {"1 & 2", "column 3:", "'&'"},
      {"x = 1", "column 3:", "'='"},
      {"foo + 1", "column 1:", "'foo'"},
      {"1 + gamma(x)", "column 5:", "exp log log10"},
      {"1 + arctan(x)", "column 5:", "tan asin acos atan atan2 sinh cosh tanh erf"},
      {"atan2(x)", "column 8:", "',' in atan2"},
      {"atan2(x, y, z)", "column 11:", "')' in atan2"},
      {"atan2 + 1", "column 7:", "'('"},
      {"atan(x, y)", "column 7:", "after the argument of atan"},
      {"tanh()", "column 6:", "a number, a name"},
      {"sin x", "column 5:", "'('"},
      {"sin(x, y)", "column 6:", "after the argument of sin"},
      {"min(1)", "column 6:", "','"},
      {"pow(1, 2, 3)", "column 9:", "')'"},
      {"x ? 1", "column 6:", "':'"},
      {"1e999", "column 1:", "fits a double"},
      {"1.2.3", "column 4:", "an operator"},
      {"0x10", "column 2:", "an operator"},
      {"x(2)", "column 2:", "an operator"},
      {"x[2]", "column 2:", "an operator"},
      {"xy", "column 1:", "'xy'"},
      {"inf", "column 1:", "'inf'"},
      {"system(1)", "column 1:", "'system'"},
      {"1 ; 2", "column 3:", "';'"},
      {"1 \xc3\x97 2", "column 3:", "byte 0xc3"},
      {"x % 2", "column 3:", "'%'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    expression *e;
    assert_int_equal(expression_parse(cases[i].text, NAMES, &e), STATUS_USAGE);
    assert_null(e);
    if (strstr(fail_text(), cases[i].column) == NULL ||
        strstr(fail_text(), cases[i].what) == NULL) {
      fail_msg("'%s' says: %s (expected %s %s)", cases[i].text, fail_text(), cases[i].column,
               cases[i].what);
    }
    fail_clear();
  }
}

static void names_hide_constants_and_end_at_words(void **state) {
  (void)state;
  const char *const names[] = {"e", "alpha", "al", "v[1]", "v", NULL};
  const double at[] = {3.0, 5.0, 7.0, 11.0, 13.0};
  expression *e;
  assert_ok(expression_parse("e + alpha + al", names, &e));
  assert_same_bits(expression_value(e, at), 15.0);
  assert_true(expression_uses(e, 1));
  expression_release(&e);
  assert_ok(expression_parse("v[1] + v", names, &e));
  assert_same_bits(expression_value(e, at), 24.0);
  expression_release(&e);
  assert_ok(expression_parse("e*al", names, &e));
  assert_false(expression_uses(e, 1));
  assert_false(expression_constant(e, NULL));
  expression_release(&e);
  double value = 0.0;
  assert_ok(expression_parse("2*pi", NULL, &e));
  assert_true(expression_constant(e, &value));
  assert_same_bits(value, 6.283185307179586);
  expression_release(&e);
  expression_release(&e);
}

static writer formula_writer(uint64_t trial) {
  return (writer){.draws = trial << 20, .names = NAMES, .variables = VARIABLES};
}

static void check_same(double a, double b, const char *text) {
  if (a != a && b != b) return;
  if (bits_of(a) != bits_of(b)) fail_msg("%.17g and %.17g: %s", a, b, text);
}

/* A formula with variables, and the same with their values written in: folding changes no bit. A
 * negative value needs parentheses, so -1.3 becomes a negation of a literal: the same number. */
static void folding_equals_evaluation(void **state) {
  (void)state;
  int folded = 0;
  for (uint64_t trial = 0; trial < 3000; trial++) {
    writer a = formula_writer(trial), b = formula_writer(trial);
    b.constants = AT;
    write_formula(&a, 4);
    write_formula(&b, 4);
    expression *e, *f;
    assert_ok(expression_parse(a.text, NAMES, &e));
    assert_ok(expression_parse(b.text, NAMES, &f));
    double value = 0.0;
    assert_true(expression_constant(f, &value));
    folded += !expression_constant(e, NULL);
    check_same(expression_value(e, AT), value, a.text);
    expression_release(&e);
    expression_release(&f);
  }
  assert_true(folded > 1000);
}

static void blocks_equal_points(void **state) {
  (void)state;
  enum { LENGTH = 300 };
  static double columns[VARIABLES][2 * LENGTH], out[LENGTH];
  for (int v = 0; v < VARIABLES; v++) {
    for (int i = 0; i < 2 * LENGTH; i++) {
      const philox_words w = philox_at(9, (uint64_t)i, PHILOX_PROBE, (uint64_t)v, 0);
      columns[v][i] = 8.0 * philox_uniform(w, 0) - 4.0;
    }
  }
  columns[0][17] = 1e300, columns[0][18] = 1.0 / 0.0, columns[1][19] = -0.0;
  const int lengths[] = {0, 1, 127, 128, 129, LENGTH};
  for (uint64_t trial = 0; trial < 500; trial++) {
    writer w = formula_writer(trial);
    write_formula(&w, 5);
    expression *e;
    assert_ok(expression_parse(w.text, NAMES, &e));
    formula_input inputs[VARIABLES];
    for (int v = 0; v < VARIABLES; v++) {
      inputs[v] = (formula_input){columns[v], v == 3 || v == 6 ? 0 : v == 4 ? 2 : 1};
    }
    const int n = lengths[trial % 6];
    for (int i = 0; i < LENGTH; i++) out[i] = -77.0;
    expression_values(e, n, inputs, out);
    for (int i = 0; i < n; i++) {
      double at[VARIABLES];
      for (int v = 0; v < VARIABLES; v++) at[v] = columns[v][i * inputs[v].step];
      check_same(expression_value(e, at), out[i], w.text);
    }
    for (int i = n; i < LENGTH; i++) assert_same_bits(out[i], -77.0);
    expression_release(&e);
  }
}

static char *repeated(const char *piece, size_t times, const char *end) {
  const size_t length = strlen(piece);
  char *text = malloc(length * times + strlen(end) + 1);
  for (size_t i = 0; i < times; i++) memcpy(text + i * length, piece, length);
  strcpy(text + length * times, end);
  return text;
}

static void long_texts_and_deep_ones(void **state) {
  (void)state;
  expression *e;
  const struct {
    const char *piece;
    size_t times;
    const char *end;
    double value; /* NaN: refused */
  } cases[] = {
      {"1+", 32767, "1", 32768.0},      {"0?1:", 100, "2", 2.0},
      {"(", 65536, "", 0.0 / 0.0},      {"-", 65535, "1", 0.0 / 0.0},
      {"2^", 30000, "1", 0.0 / 0.0},    {"1?", 30000, "1", 0.0 / 0.0},
      {"1?1:", 16000, "1", 0.0 / 0.0},  {"sin(", 16000, "", 0.0 / 0.0},
      {"min(1,", 10000, "", 0.0 / 0.0}, {"!", 250, "0", 0.0},
      {" ", 65535, "1", 1.0},           {" ", 65536, "1", 0.0 / 0.0},
      {"a", 65536, "", 0.0 / 0.0},      {"9", 65536, "", 0.0 / 0.0},
      {"0", 65535, "9", 9.0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *text = repeated(cases[i].piece, cases[i].times, cases[i].end);
    status rc = expression_parse(text, NULL, &e);
    if (cases[i].value == cases[i].value) {
      if (rc != STATUS_OK) fail_msg("%s...: %s", cases[i].piece, fail_text());
      assert_same_bits(expression_value(e, NULL), cases[i].value);
    } else {
      assert_int_equal(rc, STATUS_USAGE);
      assert_true(strlen(fail_text()) < 900);
    }
    fail_clear();
    expression_release(&e);
    free(text);
  }
  /* nested to the right: one slot each if evaluated as written */
  char *open = repeated("x-(", 100, "x"), *text = malloc(1000);
  char *closed = repeated(")", 100, "");
  snprintf(text, 1000, "%s%s", open, closed);
  assert_same_bits(value_of(text), AT[0]);
  free(open);
  free(closed);
  free(text);
}

/* A full tree of choices needs the most slots per character. */
static void a_bushy_tree_fits_the_slots(void **state) {
  (void)state;
  enum { LEVELS = 8 };
  char *text = malloc(70000), *next = malloc(70000);
  strcpy(text, "x");
  for (int level = 0; level < LEVELS; level++) {
    snprintf(next, 70000, "(%s?%s:%s)", text, text, text);
    strcpy(text, next);
  }
  assert_true(strlen(text) < 65536);
  assert_same_bits(value_of(text), AT[0]);
  free(text);
  free(next);
}

/* Broken and shuffled texts never crash, leak or hang; what parses evaluates. */
static void mutations_are_harmless(void **state) {
  (void)state;
  static const char alphabet[] = "()?:+-*/^!&|<>=,.0123456789exyzt[] \"#$\x80sincospi";
  const int64_t before = alloc_live();
  int parsed = 0;
  for (uint64_t trial = 0; trial < 20000; trial++) {
    writer w = formula_writer(trial);
    write_formula(&w, 3);
    const uint32_t changes = 1 + draw(&w, 4);
    for (uint32_t k = 0; k < changes && w.used > 0; k++) {
      const uint32_t at = draw(&w, (uint32_t)w.used);
      w.text[at] = draw(&w, 20) == 0 ? '\0' : alphabet[draw(&w, sizeof alphabet - 1)];
    }
    expression *e;
    const status rc = expression_parse(w.text, NAMES, &e);
    if (rc == STATUS_OK) {
      volatile double value = expression_value(e, AT);
      (void)value;
      parsed++;
    } else {
      assert_int_equal(rc, STATUS_USAGE);
      assert_non_null(strstr(fail_text(), "column"));
    }
    fail_clear();
    expression_release(&e);
  }
  assert_true(parsed > 1000 && parsed < 19000);
  assert_int_equal(alloc_live(), before);
}

/* What the tree alone says of an expression of unknown x and known y, t. */
static void settled_expressions(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double y, t;
    int settled;
  } cases[] = {
      {"3", 1, 1, 1},        {"x", 0, 0, 0},         {"y*x", 0, 1, 1},
      {"x*y", 0, 1, 1},      {"x*y", 1, 0, 0},       {"t + y*x", 0, 5, 1},
      {"t - y*x", 0, 5, 1},  {"y*x - t", 0, 5, 1},   {"t*x + y*x", 0, 5, 0},
      {"sin(y*x)", 0, 1, 1}, {"y/x", 0, 1, 1},       {"x/y", 0, 1, 0},
      {"x^y", 0, 1, 1},      {"y^x", 0, 1, 0},       {"max(0, x - 2)", 0, 0, 0},
      {"y && x", 0, 1, 1},   {"x + y*x^2", 0, 0, 0}, {"y + t", 1, 2, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static const char *const names[] = {"x", "y", "t", NULL};
    const double values[] = {0.0, cases[i].y, cases[i].t};
    expression *e;
    assert_ok(expression_parse(cases[i].text, names, &e));
    if (expression_settled(e, values, 1) != cases[i].settled) fail_msg("%s", cases[i].text);
    expression_release(&e);
  }
}

static void no_memory_is_a_failure(void **state) {
  (void)state;
  const int64_t before = alloc_live();
  for (int nth = 1; nth < 20; nth++) {
    expression *e;
    alloc_fail_at(nth);
    const status rc = expression_parse("x + 2*y", NAMES, &e);
    alloc_fail_at(0);
    if (rc == STATUS_OK) assert_true(nth > 5);
    if (rc != STATUS_OK) assert_int_equal(rc, STATUS_UNAVAILABLE);
    fail_clear();
    expression_release(&e);
    assert_int_equal(alloc_live(), before);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(precedence_and_values),
      cmocka_unit_test(errors_name_the_column),
      cmocka_unit_test(names_hide_constants_and_end_at_words),
      cmocka_unit_test(folding_equals_evaluation),
      cmocka_unit_test(blocks_equal_points),
      cmocka_unit_test(long_texts_and_deep_ones),
      cmocka_unit_test(a_bushy_tree_fits_the_slots),
      cmocka_unit_test(mutations_are_harmless),
      cmocka_unit_test(settled_expressions),
      cmocka_unit_test(no_memory_is_a_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
