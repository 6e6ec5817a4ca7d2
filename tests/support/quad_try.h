/* Quadrature without the command: a formula from text, an opened backend, a run. */
#ifndef QUAD_TRY_H
#define QUAD_TRY_H

#include <math.h>
#include <string.h>

#include "expression.h"
#include "quad_run.h"
#include "test.h"

enum { TRY_NAMES = 40 };

typedef struct quad_try {
  expression *tree;
  formula f;
  quad_run run;
  double parameters[TRY_NAMES];
} quad_try;

static inline void quad_try_batch(const void *context, int64_t n, const formula_input *in,
                                  double *const *out) {
  expression_values(context, n, in, out[0]);
}

/* names: of all inputs, ends with NULL; the first `dims` are coordinates. */
static inline void quad_try_open(quad_try *t, const backend *b, comm *world, int threads,
                                 const char *text, int dims, const char *const *names) {
  const device_request request = {.threads = threads};
  int inputs = 0;
  memset(t, 0, sizeof *t);
  while (names[inputs] != NULL) inputs++;
  if (expression_parse(text, names, &t->tree) != STATUS_OK) fail_msg("%s: %s", text, fail_text());
  t->f = (formula){
      .inputs = inputs, .outputs = 1, .batch = quad_try_batch, .context = t->tree, .kind = "test"};
  t->run.kernels = b;
  t->run.world = world;
  t->run.integral = (quad_integral){.dims = dims, .f = &t->f, .parameters = t->parameters};
  t->run.limits = (quad_limits){
      .rtol = 1e-10, .atol = 1e-14, .max_evaluations = 100000000, .seed = 1, .panels = 1};
  for (int d = 0; d < dims; d++) t->run.integral.upper[d] = 1.0;
  assert_ok(b->open(&request, &t->run.place));
  assert_ok(b->quad->create(t->run.place, &t->f, dims, &t->run.work));
}

static inline void quad_try_close(quad_try *t) {
  t->run.kernels->quad->release(t->run.place, &t->run.work);
  t->run.kernels->close(&t->run.place);
  expression_release(&t->tree);
}

#endif
