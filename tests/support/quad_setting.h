/* Integrals from text, run in the test's process on one backend. */
#ifndef QUAD_SETTING_H
#define QUAD_SETTING_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "expression.h"
#include "quad_run.h"
#include "test.h"

typedef struct setting {
  const char *text; /* in x, or x[0], x[1] ... */
  int dims;
  double lower, upper; /* of every direction */
  quad_limits limits;
  const double *breaks;
  int break_count;
  const backend *on; /* NULL: ref */
  int threads;
} setting;

static comm *world;

static void tree_values(const void *context, int64_t n, const formula_input *in,
                        double *const *out) {
  expression_values(context, n, in, out[0]);
}

/* The expression of a text; NULL when it is not one. */
static inline expression *setting_parse(const char *text, int dims) {
  static const char *const many[] = {"x[0]", "x[1]", "x[2]", "x[3]", "x[4]",
                                     "x[5]", "x[6]", "x[7]", "x[8]", "x[9]"};
  static const char *const few[] = {"x", "y", "z"};
  const char *names[QUAD_DIMS + 1] = {NULL};
  for (int d = 0; d < dims; d++) names[d] = strstr(text, "x[") != NULL ? many[d] : few[d];
  expression *tree = NULL;
  return expression_parse(text, names, &tree) == STATUS_OK ? tree : NULL;
}

static inline int setting_parses(const char *text, int dims) {
  expression *tree = setting_parse(text, dims);
  const int parses = tree != NULL;
  fail_clear();
  expression_release(&tree);
  return parses;
}

static inline void integrate(const setting *s, const quad_rule *rule, quad_run *run) {
  expression *tree = setting_parse(s->text, s->dims);
  if (tree == NULL) fail_msg("%s: %s", s->text, fail_text());
  const formula f = {.inputs = s->dims, .outputs = 1, .batch = tree_values, .context = tree};
  memset(run, 0, sizeof *run);
  run->kernels = s->on == NULL ? &BACKEND_ref : s->on;
  run->world = world;
  run->integral = (quad_integral){.dims = s->dims, .f = &f};
  run->integral.breaks = s->breaks;
  run->integral.break_count = s->break_count;
  for (int d = 0; d < s->dims; d++) {
    run->integral.lower[d] = s->lower;
    run->integral.upper[d] = s->upper;
  }
  run->limits = s->limits;
  const device_request request = {.threads = s->threads > 0 ? s->threads : 1};
  assert_ok(run->kernels->open(&request, &run->place));
  assert_ok(run->kernels->quad->create(run->place, &f, s->dims, &run->work));
  assert_ok(quad_integrate(run, rule));
  run->kernels->quad->release(run->place, &run->work);
  run->kernels->close(&run->place);
  expression_release(&tree);
  run->integral.f = NULL;
}

static inline int run_quad_tests(int argc, char **argv, const struct CMUnitTest *tests,
                                 size_t count) {
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  const int rc = _cmocka_run_group_tests("quad", tests, count, NULL, NULL);
  comm_close(&world);
  return rc;
}

#endif
