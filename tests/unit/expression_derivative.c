/* Derivatives of expressions: against differences, operation by operation, and in exact forms. */
#include "expression.h"
#include "expression_tree.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "formulas.h"

static const char *const NAMES[] = {"x", "y", "z", "n", "sigma", NULL};
enum { VARIABLES = 5, POINTS = 6 };
static const double AT[POINTS][VARIABLES] = {
    {0.7, -1.3, 2.9, 3.0, 10.0}, {0.21, 0.6, -0.4, 2.5, 0.3},    {-0.35, 0.8, 1.7, -2.0, 7.0},
    {0.55, 0.45, 0.3, 1.0, 2.0}, {-0.9, -0.15, 0.62, 4.0, -3.0}, {1.9, 0.33, -2.2, 0.5, 1.1}};

static expression *parsed(const char *text) {
  expression *e;
  if (expression_parse(text, NAMES, &e) != STATUS_OK) fail_msg("%.200s: %s", text, fail_text());
  return e;
}

static expression *derived(const expression *e, int v, const char *text) {
  expression *d;
  if (expression_derivative(e, v, &d) != STATUS_OK) fail_msg("%.200s: %s", text, fail_text());
  return d;
}

/* (f(x + h) - f(x - h)) / 2h of variable v, the error of order 2 taken out. */
static double difference(const expression *e, const double *at, int v, double h) {
  double x[VARIABLES], side[4];
  for (int k = 0; k < 4; k++) {
    memcpy(x, at, sizeof x);
    x[v] += (double[]){h, -h, 2.0 * h, -2.0 * h}[k];
    side[k] = expression_value(e, x);
  }
  return (8.0 * (side[0] - side[1]) - (side[2] - side[3])) / (12.0 * h);
}

/* The derivative of `text` by each variable at each point; returns how many had a finite value. */
static int check_by_differences(const char *text) {
  expression *e = parsed(text);
  int checked = 0;
  for (int v = 0; v < VARIABLES; v++) {
    expression *d = derived(e, v, text);
    for (int p = 0; p < POINTS; p++) {
      const double expected = difference(e, AT[p], v, 2e-5), value = expression_value(d, AT[p]);
      if (expected - expected != 0.0) continue;
      checked += value != 0.0;
      if (fabs(value - expected) <= 1e-9 * (1.0 + fabs(expected))) continue;
      fail_msg("d/d%s %s at point %d: %.17g, by differences %.17g", NAMES[v], text, p, value,
               expected);
    }
    expression_release(&d);
  }
  expression_release(&e);
  return checked;
}

/* ---- every operation of the table ---- */

/* Operations that are not functions, as they are written; $ are operands. */
static const char *const SHAPES[OPERATION_COUNT] = {
    [OPERATION_CONSTANT] = "2",
    [OPERATION_VARIABLE] = "x",
    [OPERATION_ADD] = "$+$",
    [OPERATION_SUBTRACT] = "$-$",
    [OPERATION_MULTIPLY] = "$*$",
    [OPERATION_DIVIDE] = "$/$",
    [OPERATION_NEGATE] = "-$",
    [OPERATION_FMA] = "$*$+$",
    [OPERATION_FMA_SUBTRACT] = "$*$-$",
    [OPERATION_FMA_NEGATE] = "$-$*$",
    [OPERATION_LESS] = "$<$",
    [OPERATION_LESS_EQUAL] = "$<=$",
    [OPERATION_GREATER] = "$>$",
    [OPERATION_GREATER_EQUAL] = "$>=$",
    [OPERATION_EQUAL] = "$==$",
    [OPERATION_NOT_EQUAL] = "$!=$",
    [OPERATION_AND] = "$&&$",
    [OPERATION_OR] = "$||$",
    [OPERATION_NOT] = "!$",
    [OPERATION_SELECT] = "$>0.11?$:$",
};

static void write_shape(operation_code code, char *out) {
  const char *name = OPERATIONS[code].name;
  if (name != NULL) {
    snprintf(out, 60, OPERATIONS[code].operands == 1 ? "%s($)" : "%s($,$)", name);
  } else if (SHAPES[code] != NULL) {
    strcpy(out, SHAPES[code]);
  } else {
    fail_msg("operation %d: how is it written?", (int)code);
  }
}

/* `shape` with its operands: number `which` picks for each from `operands`. */
static void fill_shape(const char *shape, const char *const *operands, int count, int which,
                       char *out) {
  *out = '\0';
  for (const char *s = shape; *s != '\0'; s++) {
    if (*s != '$') {
      sprintf(out + strlen(out), "%c", *s);
    } else {
      strcat(out, operands[which % count]);
      which /= count;
    }
  }
}

static int has(const expression *e, operation_code code) {
  for (int32_t i = 0; i < e->order_count; i++) {
    if (e->nodes[e->order[i]].code == code) return 1;
  }
  return 0;
}

static int is_flat(operation_code code) {
  return (code >= OPERATION_LESS && code <= OPERATION_NOT) || code == OPERATION_CONSTANT ||
         (code >= OPERATION_FLOOR && code <= OPERATION_STEP);
}

static void every_operation_by_differences(void **state) {
  (void)state;
  enum { OPERANDS = 5 };
  static const char *const operands[OPERANDS] = {"x", "(0.3*x+0.2*y)", "sin(2*x-z)", "1.7",
                                                 "(n*x/sigma)"};
  char shape[60], text[400];
  for (int code = 0; code < OPERATION_COUNT; code++) {
    int ways = 1, found = 0, checked = 0;
    write_shape((operation_code)code, shape);
    for (const char *s = shape; *s != '\0'; s++) ways *= *s == '$' ? OPERANDS : 1;
    for (int which = 0; which < ways; which++) {
      fill_shape(shape, operands, OPERANDS, which, text);
      expression *e = parsed(text);
      found += has(e, (operation_code)code);
      expression_release(&e);
      checked += check_by_differences(text);
    }
    if (found == 0) fail_msg("%s does not make operation %d", shape, code);
    if (is_flat((operation_code)code) ? checked > 0 : checked < 3) {
      fail_msg("%s: %d derivatives were not 0", shape, checked);
    }
  }
}

/* ---- exact forms ---- */

static void exact_forms(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int v;
    const char *derivative; /* with its bits and its size */
  } cases[] = {
      {"x", 0, "1"},
      {"y", 0, "0"},
      {"7", 0, "0"},
      {"0*x + y", 0, "0"},
      {"x^0 + floor(x) + (x > y)", 0, "0"},
      {"x^1", 0, "1"},
      {"x^2", 0, "2*x"},
      {"x^3", 0, "3*x^2"},
      {"x^-1", 0, "-x^-2"},
      {"x*x", 0, "x + x"},
      {"x*(x*(0.5*x - 1) + 3) + 2", 0, "x*(0.5*x - 1) + 3 + x*(0.5*x - 1 + x*0.5)"},
      {"3*x^2 - 2*x + y", 0, "6*x - 2"},
      {"1/x", 0, "-1/x/x"},
      {"x/y", 0, "1/y"},
      {"x/4", 0, "0.25"},
      {"sqrt(x)", 0, "0.5/sqrt(x)"},
      {"log(x)", 0, "1/x"},
      {"exp(-x)", 0, "-exp(-x)"},
      {"exp(x) + exp(-x)", 0, "exp(x) - exp(-x)"},
      {"exp(-x) + exp(x)", 0, "exp(x) - exp(-x)"},
      {"exp(x) - exp(-x)", 0, "exp(x) + exp(-x)"},
      {"y*exp(-x) + x*z", 0, "z - y*exp(-x)"},
      {"exp(-x)*y + x*z", 0, "z - exp(-x)*y"},
      {"exp(-x)/y + x*z", 0, "z - exp(-x)/y"},
      {"sin(x)/1", 0, "cos(x)"},
      {"1 ? sin(x) : x", 0, "cos(x)"},
      {"sin(2*x)", 0, "2*cos(2*x)"},
      {"cos(x)", 0, "-sin(x)"},
      {"max(x, 3)", 0, "x > 3 ? 1 : 0"},
      {"y > 0 ? x : x", 0, "1"},
      {"y > 0 ? x : 2*x", 0, "y > 0 ? 1 : 2"},
      {"abs(x)", 0, "sign(x)"},
      {"sigma*(y - x)", 0, "-sigma"}, /* Lorenz */
      {"sigma*(y - x)", 1, "sigma"},
      {"x*(sigma - z) - y", 0, "sigma - z"},
      {"x*(sigma - z) - y", 1, "-1"},
      {"x*(sigma - z) - y", 2, "-x"},
      {"x*y - sigma*z", 2, "-sigma"},
      {"-0.04*x + 1e4*y*z", 0, "-0.04"}, /* Robertson */
      {"-0.04*x + 1e4*y*z", 1, "1e4*z"},
      {"-0.04*x + 1e4*y*z", 2, "1e4*y"},
      {"0.04*x - 1e4*y*z - 3e7*y^2", 0, "0.04"},
      {"0.04*x - 1e4*y*z - 3e7*y^2", 1, "-1e4*z - 6e7*y"},
      {"0.04*x - 1e4*y*z - 3e7*y^2", 2, "-1e4*y"},
      {"3e7*y^2", 0, "0"},
      {"3e7*y^2", 1, "6e7*y"},
      {"3e7*y^2", 2, "0"},
      {"-1.71*x + 0.43*y + 8.32*z + 0.0007", 0, "-1.71"}, /* HIRES */
      {"-1.71*x + 0.43*y + 8.32*z + 0.0007", 2, "8.32"},
      {"-280*x*y + 0.69*z + 1.71*n - 0.43*x + 0.69*y", 0, "-280*y - 0.43"},
      {"-280*x*y + 0.69*z + 1.71*n - 0.43*x + 0.69*y", 1, "-280*x + 0.69"},
      {"280*x*y - 1.81*y", 1, "280*x - 1.81"},
      {"n*(1 - x^2)*y - x", 1, "n*(1 - x^2)"}, /* van der Pol */
      {"1 + x^2*y - 4*x", 1, "x^2"},           /* Brusselator */
      {"77.27*(y + x*(1 - 8.375e-6*x - y))", 1, "77.27*(1 - x)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    expression *e = parsed(cases[i].text), *expected = parsed(cases[i].derivative);
    expression *d = derived(e, cases[i].v, cases[i].text);
    for (int p = 0; p < POINTS; p++) {
      const double a = expression_value(d, AT[p]), b = expression_value(expected, AT[p]);
      if ((a != a && b != b) || bits_of(a) == bits_of(b)) continue;
      fail_msg("d/d%s %s: %.17g, %s is %.17g", NAMES[cases[i].v], cases[i].text, a,
               cases[i].derivative, b);
    }
    if (expression_size(d) > expression_size(expected)) {
      fail_msg("d/d%s %s: %d nodes, %s has %d", NAMES[cases[i].v], cases[i].text,
               expression_size(d), cases[i].derivative, expression_size(expected));
    }
    expression_release(&e);
    expression_release(&d);
    expression_release(&expected);
  }
}

/* Where a product of the rule would be 0 times infinity, and at ends of domains. */
static void special_points(void **state) {
  (void)state;
  const double infinite = 1.0 / 0.0, tiny = 1e-200;
  const struct {
    const char *text;
    int v;
    double x, y, value;
  } cases[] = {
      {"x^2", 0, 0, 0, 0},
      {"x^3", 0, 0, 0, 0},
      {"x^1.5", 0, 0, 0, 0},
      {"x^20", 0, 0, 0, 0},
      {"x^y", 0, 0, 0, 0},
      {"x^y", 0, 0, 1, 1},
      {"x^y", 0, 0, 2, 0},
      {"x^y", 0, 0, 2.5, 0},
      {"x^y", 0, -3, 3, 27},
      {"x^y", 1, 0, 2, 0},
      {"x^y", 1, 1, 5, 0},
      {"sqrt(x)", 0, 0, 0, infinite},
      {"cbrt(x)", 0, 0, 0, infinite},
      {"x^0.5", 0, 0, 0, infinite},
      {"asin(x)", 0, 1, 0, infinite},
      {"acos(x)", 0, 1, 0, -infinite},
      {"sqrt(x^4)", 0, 0, 0, 0},
      {"sqrt(x^2 + y^2)", 0, 0, 0, 0},
      {"cbrt(x^6)", 0, 0, 0, 0},
      {"(x^4)^0.5", 0, 0, 0, 0},
      {"(x^4)^(y - 0.5)", 0, 0, 1, 0},
      {"abs(x)", 0, 0, 0, 0},
      {"abs(x)^3", 0, 0, 0, 0},
      {"1/(1 + exp(x))", 0, 800, 0, -0.0},
      {"1/(1 + exp(-x))", 0, -800, 0, 0},
      {"x/(1 + exp(x))", 0, 800, 0, 0},
      {"atan2(y, x)", 1, tiny, 0, 1.0 / tiny},
      {"atan2(y, x)", 0, 0, tiny, -1.0 / tiny},
      {"atan(x)", 0, 1e300, 0, 0},
      {"erf(x)", 0, 1e200, 0, 0},
      {"1e-200*(1e-200*x^2)", 0, 1e250, 0, 1e-200 * (2e-200 * 1e250)},
      {"1e200*(1e200*x^2)", 0, 1e-250, 0, 1e200 * (2e200 * 1e-250)},
      {"tanh(x)", 0, 1e200, 0, 0},
      {"max(x, y)", 0, 1, 1, 0}, /* the second is taken */
      {"max(x, y)", 1, 1, 1, 1},
      {"x > 0 ? x : 1/x*0 + log(x)", 0, 2, 0, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double at[VARIABLES] = {cases[i].x, cases[i].y, 0.0, 0.0, 0.0};
    expression *e = parsed(cases[i].text), *d = derived(e, cases[i].v, cases[i].text);
    const double value = expression_value(d, at);
    if (value != cases[i].value) {
      fail_msg("d/d%s %s at (%g, %g): %.17g, expected %.17g", NAMES[cases[i].v], cases[i].text,
               at[0], at[1], value, cases[i].value);
    }
    expression_release(&e);
    expression_release(&d);
  }
}

/* ---- size and depth ---- */

/* q = 1/(1 + E): q' = (q ? q E : 0)/(1 + E), in which q, E and their operands are there once. */
static void values_are_shared(void **state) {
  (void)state;
  expression *e = parsed("1/(1 + exp(-x))"), *d = derived(e, 0, "1/(1 + exp(-x))");
  assert_int_equal(expression_size(e), 7);
  assert_int_equal(expression_size(d), 11);
  expression_release(&e);
  expression_release(&d);
}

/* `begin` n times, middle, `end` n times. */
static char *nested(const char *begin, int n, const char *middle, const char *end) {
  char *text = malloc((strlen(begin) + strlen(end)) * (size_t)n + strlen(middle) + 1), *at = text;
  for (int i = 0; i < n; i++) at = stpcpy(at, begin);
  at = stpcpy(at, middle);
  for (int i = 0; i < n; i++) at = stpcpy(at, end);
  return text;
}

/* At x = 1 these have derivatives that are known: how they grow is what is tested. */
static void long_and_deep_ones_stay_linear(void **state) {
  (void)state;
  static const struct {
    const char *begin;
    int n;
    const char *middle, *end;
    double value;
  } cases[] = {{"x*", 32000, "x", "", 32001.0},  {"x+", 32000, "x", "", 32001.0},
               {"x-(", 120, "x", ")", 1.0},      {"x*(", 120, "x", ")", 121.0},
               {"(", 120, "x", ")*x", 121.0},    {"x*x-", 15000, "x", "", -29997.0},
               {"x/(", 120, "x", ")", 1.0},      {"sqrt(", 20, "x", ")", 0x1p-20},
               {"abs(", 120, "x", ")", 1.0},     {"x^2*(", 60, "x", ")", 121.0},
               {"(", 60, "x", ")^x", -1.0},      {"max(x,", 100, "x", ")", 1.0},
               {"x>2?x*2:", 100, "x*3", "", 3.0}};
  const double at[VARIABLES] = {1.0, 0.0, 0.0, 0.0, 0.0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = nested(cases[i].begin, cases[i].n, cases[i].middle, cases[i].end);
    expression *e = parsed(text), *d = derived(e, 0, text);
    const double value = expression_value(d, at);
    if (cases[i].value >= 0.0 && value != cases[i].value) {
      fail_msg("%s...: %.17g, expected %.17g", cases[i].begin, value, cases[i].value);
    }
    if (expression_size(d) > 8 * expression_size(e)) {
      fail_msg("%s...: %d nodes from %d", cases[i].begin, expression_size(d), expression_size(e));
    }
    expression_release(&e);
    expression_release(&d);
    free(text);
  }
}

/* Full trees need the most values at once. */
static char *tree(const char *shape, int levels) {
  char *text = malloc(70000), *next = malloc(70000);
  strcpy(text, "x");
  for (int k = 0; k < levels; k++) {
    char *at = next;
    for (const char *s = shape; *s != '\0'; s++) {
      if (*s == '$') {
        at = stpcpy(at, text);
      } else {
        *at++ = *s, *at = '\0';
      }
    }
    char *swap = text;
    text = next;
    next = swap;
  }
  free(next);
  return text;
}

static void bushy_trees_fit_or_are_refused(void **state) {
  (void)state;
  const double at[VARIABLES] = {1.0, 0.0, 0.0, 0.0, 0.0};
  const int64_t before = alloc_live();
  char *text = tree("($*$)", 14);
  expression *e = parsed(text), *d = derived(e, 0, "a product");
  assert_same_bits(expression_value(d, at), 16384.0);
  expression_release(&e);
  expression_release(&d);
  free(text);
  text = tree("($*$-$)", 9);
  e = parsed(text);
  assert_int_equal(expression_derivative(e, 0, &d), STATUS_USAGE);
  assert_null(d);
  assert_non_null(strstr(fail_text(), "more than 32 values"));
  fail_clear();
  expression_release(&e);
  free(text);
  assert_int_equal(alloc_live(), before);
}

/* ---- random formulas ---- */

/* Differences are believed where two steps agree. Where a formula swallows its variable (1e17 + x)
 * or jumps nearby they lie: that happens to few. */
static void random_formulas(void **state) {
  (void)state;
  enum { TRIALS = 4000 };
  int checked = 0, wrong = 0;
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    writer w = {.draws = trial << 20, .names = NAMES, .variables = VARIABLES};
    write_formula(&w, 4);
    expression *e = parsed(w.text);
    const int v = (int)(trial % VARIABLES), p = (int)(trial % POINTS);
    expression *d = derived(e, v, w.text);
    const double a = difference(e, AT[p], v, 1e-4), b = difference(e, AT[p], v, 0.37e-4);
    const double value = expression_value(d, AT[p]);
    const double allowed = 1e-6 * fabs(a) + 1e-9 * (1.0 + fabs(expression_value(e, AT[p])));
    if (a - a == 0.0 && a != 0.0 && fabs(a - b) <= 0.1 * allowed) {
      checked++;
      if (!(fabs(value - a) <= allowed)) {
        wrong++;
        print_message("d/d%s %s at point %d: %.17g, by differences %.17g\n", NAMES[v], w.text, p,
                      value, a);
      }
    }
    if (!expression_uses(e, v)) assert_true(expression_constant(d, NULL));
    expression_release(&e);
    expression_release(&d);
  }
  if (checked < 400 || wrong > 0) fail_msg("%d of %d are wrong", wrong, checked);
}

/* Shared nodes in blocks of points, and with every step of the inputs. */
static void blocks_equal_points(void **state) {
  (void)state;
  enum { LENGTH = 130 };
  static double columns[VARIABLES][2 * LENGTH], out[LENGTH];
  for (int v = 0; v < VARIABLES; v++) {
    for (int i = 0; i < 2 * LENGTH; i++) {
      columns[v][i] = AT[i % POINTS][v] + 0.01 * (double)(i / POINTS);
    }
  }
  for (uint64_t trial = 0; trial < 1000; trial++) {
    writer w = {.draws = (trial + 10000) << 20, .names = NAMES, .variables = VARIABLES};
    write_formula(&w, 5);
    expression *e = parsed(w.text), *d = derived(e, (int)(trial % VARIABLES), w.text);
    formula_input in[VARIABLES];
    for (int v = 0; v < VARIABLES; v++) in[v] = (formula_input){columns[v], v == 3 ? 0 : 1 + v % 2};
    expression_values(d, LENGTH, in, out);
    for (int i = 0; i < LENGTH; i++) {
      double at[VARIABLES];
      for (int v = 0; v < VARIABLES; v++) at[v] = columns[v][i * in[v].step];
      const double value = expression_value(d, at);
      if (value != value && out[i] != out[i]) continue;
      if (bits_of(value) != bits_of(out[i])) fail_msg("%.17g, %.17g: %s", value, out[i], w.text);
    }
    expression_release(&e);
    expression_release(&d);
  }
}

static void no_memory_is_a_failure(void **state) {
  (void)state;
  expression *e = parsed("x*exp(-y*x)/(1 + x^2) - atan2(x, y)"), *d;
  const int64_t before = alloc_live();
  int nth = 1;
  for (; nth < 40; nth++) {
    alloc_fail_at(nth);
    const status rc = expression_derivative(e, 0, &d);
    alloc_fail_at(0);
    if (rc == STATUS_OK) break;
    assert_int_equal(rc, STATUS_UNAVAILABLE);
    assert_null(d);
    fail_clear();
    assert_int_equal(alloc_live(), before);
  }
  assert_true(nth > 5 && nth < 40);
  expression_release(&d);
  expression_release(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_by_differences),
      cmocka_unit_test(exact_forms),
      cmocka_unit_test(special_points),
      cmocka_unit_test(values_are_shared),
      cmocka_unit_test(long_and_deep_ones_stay_linear),
      cmocka_unit_test(bushy_trees_fit_or_are_refused),
      cmocka_unit_test(random_formulas),
      cmocka_unit_test(blocks_equal_points),
      cmocka_unit_test(no_memory_is_a_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
