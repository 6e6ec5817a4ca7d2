/* Quadrature runs for tests: an expression, a range, a rule; without the command. */
#ifndef QUAD_FIXTURE_H
#define QUAD_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expression.h"
#include "quad_run.h"
#include "test.h"

typedef struct quad_case {
  const char *f; /* in x[0], x[1] ...; x alone in one direction */
  int dims;
  double lower, upper; /* of every direction */
  double rtol, atol;
  int64_t max_evaluations;
} quad_case;

static inline void fixture_tree(const void *context, int64_t n, const formula_input *in,
                                double *const *out) {
  expression_values(context, n, in, out[0]);
}

/* The run's results; its `integral.f`, `work`, `place` are gone. */
static inline status quad_case_run(const quad_case *c, const char *rule, const backend *b,
                                   int threads, comm *world, quad_run *out) {
  static const char *const names[] = {"x[0]", "x[1]", "x[2]", "x[3]", "x[4]",
                                      "x[5]", "x[6]", "x[7]", "x[8]", "x[9]"};
  const char *used[QUAD_DIMS + 1] = {0};
  const device_request request = {.threads = threads};
  expression *tree = NULL;
  for (int d = 0; d < c->dims; d++) used[d] = c->dims == 1 ? "x" : names[d];
  status rc = expression_parse(c->f, used, &tree);
  if (rc != STATUS_OK) return rc;
  const formula f = {.inputs = c->dims, .outputs = 1, .batch = fixture_tree, .context = tree};
  *out = (quad_run){
      .kernels = b,
      .world = world,
      .integral = {.dims = c->dims, .f = &f},
      .limits = {.rtol = c->rtol,
                 .atol = c->atol,
                 .max_evaluations = c->max_evaluations > 0 ? c->max_evaluations : 100000000,
                 .panels = 1}};
  for (int d = 0; d < c->dims; d++) {
    out->integral.lower[d] = c->lower;
    out->integral.upper[d] = c->upper;
  }
  assert_ok(b->open(&request, &out->place));
  assert_ok(b->quad->create(out->place, &f, c->dims, &out->work));
  const quad_rule *r = quad_rule_find(rule);
  assert_non_null(r);
  rc = quad_integrate(out, r);
  b->quad->release(out->place, &out->work);
  b->close(&out->place);
  expression_release(&tree);
  return rc;
}

#endif
