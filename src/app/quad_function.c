/* The integrand of `quad`: from its text and the names of its inputs to a formula. */
#include "alloc.h"
#include "expression.h"
#include "quad_job.h"

struct function {
  formula f;
  expression *tree;
};

static void tree_batch(const void *context, int64_t n, const formula_input *in,
                       double *const *out) {
  expression_values(context, n, in, out[0]);
}

status quad_function_create(quad_job *j) {
  status rc = STATUS_OK;
  const quad_inputs *in = &j->in;
  TRY(alloc_zeroed(&j->function, 1, sizeof *j->function, "integrand"));
  struct function *fn = j->function;
  TRY(expression_parse(in->text, in->names, &fn->tree));
  fn->f = (formula){.inputs = in->dims + in->fixed + in->swept.grid.axes,
                    .outputs = 1,
                    .batch = tree_batch,
                    .context = fn->tree,
                    .kind = "expression"};
  j->quad.integral.f = &fn->f;
done:
  return comm_agree(j->run->c, rc);
}

void quad_function_release(quad_job *j) {
  if (j->function != NULL) expression_release(&j->function->tree);
  alloc_free(&j->function);
}
