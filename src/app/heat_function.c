/* The functions of `heat`: from their texts to formulas. */
#include <stdio.h>
#include <string.h>

#include "heat_job.h"

/* Fewer values than this are sooner interpreted than compiled; the bits are the same. */
static const double WORTH_COMPILING = 2e7;

/* C files: which may be one, and how it is called after `dims` coordinates. */
static const char *prototype_of(int which, int dims, char call[64]) {
  switch (which) {
  case HEAT_INITIAL:
    snprintf(call, 64, "out[0] = initial(in, in + %d);", dims);
    return "double initial(const double *x, const double *p)";
  case HEAT_ALPHA:
    snprintf(call, 64, "out[0] = alpha(in, in + %d);", dims);
    return "double alpha(const double *x, const double *p)";
  case HEAT_SOURCE:
    snprintf(call, 64, "out[0] = source(in, in[%d], in + %d);", dims, dims + 1);
    return "double source(const double *x, double t, const double *p)";
  default:
    return NULL;
  }
}

/* How often it is evaluated: once, or in each step where it depends on time. */
static double evaluations(const heat_job *j, int which, const heat_value *v) {
  const options *o = j->run->o;
  const heat_grid *g = &j->in.problem.grid;
  double points = (double)g->n[0] * (double)g->n[1] * (double)g->n[2];
  const int across = (which - HEAT_FACE) / 2; /* of a face */
  if (which >= HEAT_FACE) points /= (double)g->n[across];
  if (!v->in_time || which == HEAT_EXACT) return points;
  return points * (options_has(o, "heat.steps") ? (double)options_integer(o, "heat.steps") : 1e4);
}

static status create(heat_job *j, int which) {
  status rc = STATUS_OK;
  const options *o = j->run->o;
  heat_text *t = &j->in.of[which];
  heat_value *v = heat_inputs_value(&j->in, which);
  char call[64] = "", where[400];
  const char *texts[] = {t->text}, *wheres[] = {where};
  snprintf(where, sizeof where, "%.390s", options_where(o, t->key));
  const function_request request = {.texts = texts,
                                    .where = wheres,
                                    .ini = options_file(o),
                                    .names = t->timed ? j->in.timed_names : j->in.names,
                                    .outputs = 1,
                                    .prototype = prototype_of(which, v->dims, call),
                                    .call = call,
                                    .plain = strcmp(j->chosen.kernels->name, "ref") == 0 ||
                                             evaluations(j, which, v) < WORTH_COMPILING};
  TRY(function_create(j->run->c, j->run->compiler, &request, &t->made));
  v->f = function_formula(t->made);
done:
  return rc;
}

status heat_functions_create(heat_job *j) {
  status rc = STATUS_OK;
  for (int i = 0; i < HEAT_FUNCTIONS; i++) {
    const heat_value *v = heat_inputs_value(&j->in, i);
    const char *text = j->in.of[i].text;
    if (text == NULL || field_is_file(text)) continue;
    if (v->in_space || v->in_time) TRY(create(j, i));
  }
done:
  return rc;
}
