/* The integrand of `quad`: from its text and the names of its inputs to a formula. */
#include <stdio.h>
#include <string.h>

#include "quad_job.h"

status quad_function_create(quad_job *j) {
  status rc = STATUS_OK;
  const options *o = j->run->o;
  const quad_inputs *in = &j->in;
  char call[64], where[400];
  const char *texts[] = {in->text}, *wheres[] = {where};
  snprintf(call, sizeof call, "out[0] = integrand(in, in + %d);", in->dims);
  snprintf(where, sizeof where, "%.390s", options_where(o, in->key));
  const function_request request = {.texts = texts,
                                    .where = wheres,
                                    .ini = options_file(o),
                                    .names = in->names,
                                    .outputs = 1,
                                    .prototype =
                                        "double integrand(const double *x, const double *p)",
                                    .call = call,
                                    .plain = strcmp(j->chosen.kernels->name, "ref") == 0};
  TRY(function_create(j->run->c, j->run->compiler, &request, &j->function));
  j->quad.integral.f = function_formula(j->function);
done:
  return rc;
}

void quad_function_release(quad_job *j) { function_release(&j->function); }
