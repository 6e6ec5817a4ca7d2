/* Values at the points of a box (value.h): lines along the first direction that has several points;
 * the other coordinates, time and parameters are shared by a line's points. */
#include "value.h"

#include <stddef.h>

#include "team.h"

int64_t heat_box_points(const heat_box *b) {
  int64_t points = 1;
  for (int d = 0; d < b->dims; d++) points *= b->count[d];
  return points;
}

typedef struct filling {
  const heat_value *v;
  const heat_box *b;
  double t;
  double *out;
  int along; /* direction of lines */
} filling;

/* Inputs at the points of line number `line`, from point `from` of it on. */
static void bind(const filling *f, int64_t line, int64_t from, formula_input *in) {
  const heat_value *v = f->v;
  for (int d = 0; d < v->dims; d++) {
    if (d == f->along) {
      in[d] = (formula_input){f->b->axis[d] + from, 1};
    } else if (d < f->along) {
      in[d] = (formula_input){f->b->axis[d], 0};
    } else {
      in[d] = (formula_input){f->b->axis[d] + line % f->b->count[d], 0};
      line /= f->b->count[d];
    }
  }
  if (v->timed) in[v->dims] = (formula_input){&f->t, 0};
  for (int i = v->dims + v->timed; i < v->f->inputs; i++) {
    in[i] = (formula_input){&v->parameters[i - v->dims - v->timed], 0};
  }
}

static void fill_run(void *context, int part, int64_t begin, int64_t end) {
  (void)part;
  const filling *f = context;
  const int64_t length = f->b->count[f->along];
  formula_input in[HEAT_INPUTS];
  while (begin < end) {
    const int64_t line = begin / length, from = begin % length;
    const int64_t n = length - from < end - begin ? length - from : end - begin;
    double *out = f->out + begin;
    bind(f, line, from, in);
    f->v->f->batch(f->v->f->context, n, in, &out);
    begin += n;
  }
}

static void fill_number(void *context, int part, int64_t begin, int64_t end) {
  (void)part;
  const filling *f = context;
  for (int64_t i = begin; i < end; i++) f->out[i] = f->v->number;
}

void heat_value_fill(const heat_value *v, const heat_box *b, double t, int threads, double *out) {
  filling f = {.v = v, .b = b, .t = t, .out = out};
  while (f.along < b->dims - 1 && b->count[f.along] == 1) f.along++;
  team_for(threads, heat_box_points(b), v->f == NULL ? fill_number : fill_run, &f);
}

double heat_value_at(const heat_value *v, const double *x, double t) {
  static const double nowhere[HEAT_DIMS] = {0.0};
  const double *at = x != NULL ? x : nowhere;
  const heat_box b = {v->dims, {1, 1, 1}, {at, at + 1, at + 2}};
  double out;
  heat_value_fill(v, &b, t, 1, &out);
  return out;
}
