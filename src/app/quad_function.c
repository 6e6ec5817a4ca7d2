/* The integrand of `quad`: from options to a formula of x[0] .. x[dims - 1] and the parameters. */
#include <stdio.h>

#include "alloc.h"
#include "expression.h"
#include "quad_job.h"

enum { NAMES_MAX = 2 * QUAD_DIMS + 64, NAME_ROOM = 64 };

struct function {
  formula f;
  expression *tree;
  char name[NAMES_MAX][NAME_ROOM];
  const char *names[NAMES_MAX + 1];
};

static void tree_batch(const void *context, int64_t n, const formula_input *in,
                       double *const *out) {
  expression_values(context, n, in, out[0]);
}

status quad_function_create(quad_job *j) {
  status rc = STATUS_OK;
  const options *o = j->run->o;
  const int dims = j->quad.integral.dims;
  const char *parameter;
  int count = 0, parameters = 0;
  TRY(alloc_zeroed(&j->function, 1, sizeof *j->function, "integrand"));
  struct function *fn = j->function;
  for (int d = 0; d < dims; d++) {
    if (dims <= 3)
      snprintf(fn->name[count++], NAME_ROOM, "%c", "xyz"[d]);
    else
      snprintf(fn->name[count++], NAME_ROOM, "x[%d]", d);
  }
  while ((parameter = options_free_key(o, "parameters", parameters)) != NULL) {
    snprintf(fn->name[count++], NAME_ROOM, "%.60s", parameter);
    parameters++;
  }
  TRY(alloc_zeroed(&j->parameters, parameters + 1, sizeof(double), "parameters"));
  for (int i = 0; i < parameters; i++) {
    char key[128];
    snprintf(key, sizeof key, "parameters.%.60s", options_free_key(o, "parameters", i));
    j->parameters[i] = options_real(o, key);
  }
  for (int i = 0; i < count; i++) fn->names[i] = fn->name[i];
  TRY(expression_parse(options_text(o, "quad.f"), fn->names, &fn->tree));
  fn->f = (formula){.inputs = count,
                    .outputs = 1,
                    .batch = tree_batch,
                    .context = fn->tree,
                    .kind = "expression"};
  j->quad.integral.f = &fn->f;
  j->quad.integral.parameters = j->parameters;
done:
  return comm_agree(j->run->c, rc);
}

void quad_function_release(quad_job *j) {
  if (j->function != NULL) expression_release(&j->function->tree);
  alloc_free(&j->function);
  alloc_free(&j->parameters);
}
