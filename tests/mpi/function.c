/* From text to formulas. ranks: 1 2 3 */
#include "function.h"
#include "helper.h"

#include <math.h>

#include "comm.h"
#include "elementary.h"
#include "expression.h"
#include "formulas.h"
#include "log.h"

static const char *const NAMES[] = {"x", "y", "z", "t", "x[0]", "x[1]", "sigma", NULL};
enum { VARIABLES = 7, LENGTH = 300, BATCH = 12, BATCHES = 6 };
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

static void compiled_equals_interpreted(void **state) {
  (void)state;
  static const int lengths[BATCHES] = {0, 1, 127, 128, 129, LENGTH};
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
    for (int l = 0; l < BATCHES; l++) check_batch(function_formula(f), texts, lengths[l]);
    function_release(&f);
  }
}

int main(int argc, char **argv) {
  int pid;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compiled_equals_interpreted),
  };
  end = helper_fork(&pid);
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  log_open(comm_rank(world) == 0, 0);
  helper_own_cache("cache");
  cc = helper_compiler(end);
  fill_columns();
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  compiler_close(&cc);
  comm_close(&world);
  return failed;
}
