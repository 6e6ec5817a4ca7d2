/* Heat runs without the command: a problem from texts, an opened backend, a march. */
#ifndef HEAT_TRY_H
#define HEAT_TRY_H

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "expression.h"
#include "scheme.h"
#include "test.h"

enum { TRY_VALUES = 10 };

/* What a problem is made of; a text of NULL is 0 (alpha: 1). */
typedef struct heat_texts {
  const char *name;
  int dims;
  int64_t n[HEAT_DIMS];
  double origin[HEAT_DIMS], length[HEAT_DIMS]; /* length 0: 1 */
  const char *alpha, *source, *initial, *exact;
  boundary_kind kind[HEAT_FACES];
  const char *face[HEAT_FACES];
  double h[HEAT_FACES];
} heat_texts;

typedef struct heat_try {
  heat_problem problem;
  heat_run run;
  heat_value exact;
  expression *tree[TRY_VALUES];
  formula f[TRY_VALUES];
  int trees;
} heat_try;

static inline void heat_try_batch(const void *context, int64_t n, const formula_input *in,
                                  double *const *out) {
  expression_values(context, n, in, out[0]);
}

static inline heat_value heat_try_value(heat_try *t, int dims, const char *text, double otherwise) {
  static const char *const names[3][5] = {
      {"x", "t", NULL}, {"x", "y", "t", NULL}, {"x", "y", "z", "t", NULL}};
  heat_value v = {.number = otherwise, .dims = dims, .timed = 1};
  if (text == NULL) return v;
  expression **e = &t->tree[t->trees];
  formula *f = &t->f[t->trees++];
  if (expression_parse(text, names[dims - 1], e) != STATUS_OK)
    fail_msg("%s: %s", text, fail_text());
  *f = (formula){
      .inputs = dims + 1, .outputs = 1, .batch = heat_try_batch, .context = *e, .kind = "test"};
  for (int d = 0; d < dims; d++) v.in_space |= expression_uses(*e, d);
  v.in_time = expression_uses(*e, dims);
  if (expression_constant(*e, &v.number)) return v;
  v.f = f;
  return v;
}

static inline void heat_try_problem(heat_try *t, const heat_texts *x) {
  heat_grid *g = &t->problem.grid;
  g->dims = x->dims;
  for (int d = 0; d < HEAT_DIMS; d++) {
    g->n[d] = d < x->dims ? x->n[d] : 1;
    g->origin[d] = x->origin[d];
    g->spacing[d] = x->length[d] > 0.0 ? x->length[d] : 1.0;
    const int64_t cells = x->kind[2 * d] == BOUNDARY_PERIODIC ? g->n[d] : g->n[d] - 1;
    if (cells > 0) g->spacing[d] /= (double)cells;
  }
  t->problem.initial = heat_try_value(t, x->dims, x->initial, 0.0);
  t->problem.alpha = heat_try_value(t, x->dims, x->alpha, 1.0);
  t->problem.source = heat_try_value(t, x->dims, x->source, 0.0);
  t->exact = heat_try_value(t, x->dims, x->exact, 0.0);
  for (int f = 0; f < 2 * x->dims; f++) {
    heat_boundary *b = &t->problem.face[f];
    b->kind = x->kind[f];
    b->h = x->h[f];
    b->value = heat_try_value(t, x->dims, x->face[f], 0.0);
    g->face[f] = b->kind == BOUNDARY_PERIODIC                                   ? HEAT_PERIODIC
                 : b->kind == BOUNDARY_DIRICHLET || b->kind == BOUNDARY_INITIAL ? HEAT_HELD
                                                                                : HEAT_FLUX;
  }
}

/* Ready to march: set t->run.dt, and .last or .t_end, then heat_try_march. Passes of up to `depth`
 * stages; 0: as many as serve. */
static inline void heat_try_open_deep(heat_try *t, const backend *b, comm *world, int threads,
                                      const heat_texts *x, const heat_scheme *scheme,
                                      int64_t depth) {
  const device_request request = {.threads = threads};
  memset(t, 0, sizeof *t);
  heat_try_problem(t, x);
  t->run.kernels = b;
  t->run.world = world;
  t->run.threads = threads;
  t->run.problem = &t->problem;
  t->run.t_end = NAN;
  t->run.solver_rtol = 1e-13;
  assert_ok(b->open(&request, &t->run.place));
  assert_ok(heat_open(&t->run, depth));
  assert_ok(heat_open_scheme(&t->run, scheme));
}

static inline void heat_try_open(heat_try *t, const backend *b, comm *world, int threads,
                                 const heat_texts *x, const heat_scheme *scheme) {
  heat_try_open_deep(t, b, world, threads, x, scheme, 0);
}

static inline void heat_try_march(heat_try *t) {
  heat_plan_steps(&t->run);
  assert_ok(heat_march(&t->run));
  assert_ok(t->run.failure);
}

/* The field, in run.host, owned points. */
static inline const double *heat_try_field(heat_try *t) {
  assert_ok(heat_store(&t->run, t->run.host, t->run.u));
  return t->run.host;
}

/* The largest error of this rank's points. */
static inline double heat_try_error(heat_try *t) {
  const heat_box box = heat_slab_box(&t->run, 0);
  const int64_t points = heat_owned(&t->run.slab);
  double *exact, worst = 0.0;
  assert_ok(alloc_array(&exact, points, sizeof *exact, "exact"));
  heat_value_fill(&t->exact, &box, heat_time(&t->run, t->run.step), 1, exact);
  const double *u = heat_try_field(t);
  for (int64_t i = 0; i < points; i++) worst = fmax(worst, fabs(u[i] - exact[i]));
  alloc_free(&exact);
  return worst;
}

static inline void heat_try_close(heat_try *t) {
  heat_close(&t->run);
  t->run.kernels->close(&t->run.place);
  for (int i = 0; i < t->trees; i++) expression_release(&t->tree[i]);
}

#endif
