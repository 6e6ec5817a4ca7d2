/* Adaptive cubature one region at a time, as it is published (Genz, Malik 1980; Berntsen, Espelid,
 * Genz 1991): start with the whole box; halve the region of the largest error until the errors sum
 * to the tolerance. No generations, no first level, no probes. The yardstick for counts of
 * evaluations. */
#ifndef ONE_AT_A_TIME_H
#define ONE_AT_A_TIME_H

#include "alloc.h"
#include "quad_fixture.h"
#include "quad_regions.h"
#include "region_list.h"

typedef struct yardstick {
  double value, error;
  int64_t evaluations;
} yardstick;

static inline void yardstick_look(const quad_frame *f, const formula *fn, region_list *l,
                                  int64_t id) {
  static double x[QUAD_DIMS][QUAD_MALIK_POINTS], g[QUAD_MALIK_POINTS];
  formula_input in[QUAD_DIMS] = {{NULL, 0}};
  double *out = g, at[QUAD_DIMS], slope[QUAD_MALIK_POINTS];
  quad_estimate e;
  const int points = quad_region_points(f);
  for (int k = 0; k < points; k++) {
    slope[k] = quad_region_point(f, region_list_edge(l, id), k, at);
    for (int d = 0; d < f->dims; d++) x[d][k] = at[d];
  }
  for (int d = 0; d < f->dims; d++) in[d] = (formula_input){x[d], 1};
  fn->batch(fn->context, points, in, &out);
  for (int k = 0; k < points; k++) g[k] = quad_region_term(slope[k], g[k]);
  quad_region_estimate(f, region_list_edge(l, id), g, &e);
  l->at[id] = (region){.value = e.value, .error = e.error, .axis = e.axis};
  region_list_wait(l, id);
}

static inline yardstick one_at_a_time(const quad_case *c) {
  static const char *const names[] = {"x[0]", "x[1]", "x[2]", "x[3]", "x[4]",
                                      "x[5]", "x[6]", "x[7]", "x[8]", "x[9]"};
  const char *used[QUAD_DIMS + 1] = {0};
  expression *tree = NULL;
  for (int d = 0; d < c->dims; d++) used[d] = c->dims == 1 ? "x" : names[d];
  assert_ok(expression_parse(c->f, used, &tree));
  const formula fn = {.inputs = c->dims, .outputs = 1, .batch = fixture_tree, .context = tree};
  quad_frame f = {.dims = c->dims, .rule = c->dims == 1 ? QUAD_KRONROD : QUAD_MALIK};
  region_list l = {.dims = c->dims};
  yardstick y = {0};
  const int points = quad_region_points(&f);
  assert_ok(region_list_reserve(&l, c->max_evaluations / points + 4));
  l.count = 1;
  for (int d = 0; d < c->dims; d++) {
    f.axis[d] = (quad_axis){.lower = c->lower, .upper = c->upper};
    l.edge[2 * d] = 0.0;
    l.edge[2 * d + 1] = c->upper - c->lower;
  }
  yardstick_look(&f, &fn, &l, 0);
  double value = l.at[0].value, error = l.at[0].error;
  y.evaluations = points;
  while (error > fmax(c->rtol * fabs(value), c->atol) && y.evaluations < c->max_evaluations) {
    const int64_t id = region_list_take(&l), half = l.count++;
    const int d = l.at[id].axis;
    if (d == QUAD_WHOLE) break;
    double *left = region_list_edge(&l, id), *right = region_list_edge(&l, half);
    value -= l.at[id].value;
    error -= l.at[id].error;
    memcpy(right, left, 2 * (size_t)c->dims * sizeof *left);
    left[2 * d + 1] = right[2 * d] = 0.5 * (left[2 * d] + left[2 * d + 1]);
    yardstick_look(&f, &fn, &l, id);
    yardstick_look(&f, &fn, &l, half);
    value += l.at[id].value + l.at[half].value;
    error += l.at[id].error + l.at[half].error;
    y.evaluations += 2 * points;
  }
  y.value = value;
  y.error = error;
  region_list_release(&l);
  expression_release(&tree);
  return y;
}

#endif
