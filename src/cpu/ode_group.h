/* A group of ODE_LANES trajectories on a CPU: its memory, and its functions as formulas that are
 * evaluated for all lanes at once. Define ODE_LANES before including this. */
#ifndef ODE_GROUP_H
#define ODE_GROUP_H

#include "alloc.h"
#include "ode_backend.h"

#define ODE_SYSTEM_H

typedef struct ode_call {
  const ode_functions *f;
  formula_input *in; /* [1 + components + shared + parameters] */
  double **out;      /* [components] */
  int components;
} ode_call;

#define ODE_COMPONENTS(plan) ((plan)->components)
#define ODE_SHARED(plan)     ((plan)->shared)
#define ODE_PARAMETERS(plan) ((plan)->parameters)
#define ODE_KIND(plan)       ((plan)->kind)
#define ODE_VARIANT(plan)    ((plan)->variant)

static inline void ode_evaluate(const ode_call *call, const formula *f, const double *t,
                                const double *y, double *values) {
  call->in[0].at = t;
  for (int c = 0; c < call->components; c++) call->in[1 + c].at = y + c * ODE_LANES;
  for (int k = 0; k < f->outputs; k++) call->out[k] = values + k * ODE_LANES;
  f->batch(f->context, ODE_LANES, call->in, call->out);
}

static inline void ode_rhs(const ode_call *call, const double *t, const double *y, double *dy) {
  ode_evaluate(call, call->f->rhs, t, y, dy);
}

static inline void ode_event(const ode_call *call, const double *t, const double *y, double *g) {
  ode_evaluate(call, call->f->event, t, y, g);
}

static inline void ode_noise(const ode_call *call, const double *t, const double *y, double *g) {
  ode_evaluate(call, call->f->noise, t, y, g);
}

static inline void ode_noise_jacobian(const ode_call *call, const double *t, const double *y,
                                      double *dg) {
  ode_evaluate(call, call->f->noise_jacobian, t, y, dg);
}

static inline void ode_jacobian(const ode_call *call, const double *t, const double *y, double *j) {
  ode_evaluate(call, call->f->jacobian, t, y, j);
}

static inline void ode_time(const ode_call *call, const double *t, const double *y, double *ft) {
  ode_evaluate(call, call->f->time, t, y, ft);
}

#include "ode_explicit.h"
#include "ode_noisy.h"

static inline void ode_steps(ode_work *w, int64_t count) {
  if (w->plan->kind == ODE_NOISY) {
    ode_steps_noisy(w, count);
  } else if (w->call->f->fused.steps != NULL && ODE_LANES == ODE_HOST_LANES) {
    w->call->f->fused.steps(w, count);
  } else {
    ode_steps_explicit(w, count);
  }
}

static inline void ode_try(ode_work *w) {
  if (w->call->f->fused.attempt != NULL && ODE_LANES == ODE_HOST_LANES) {
    w->call->f->fused.attempt(w);
  } else {
    ode_attempt_explicit(w);
  }
}

#include "ode_march.h"

typedef struct ode_group {
  ode_work work;
  ode_call call;
  double *memory, *noise;
  int *pivot;
} ode_group;

static inline void ode_group_release(ode_group *g) {
  alloc_free(&g->memory);
  alloc_free(&g->noise);
  alloc_free(&g->pivot);
  alloc_free(&g->call.in);
  alloc_free(&g->call.out);
}

/* The most outputs a function of the system has. */
static inline int ode_outputs(const ode_functions *f) {
  const formula *all[] = {f->rhs, f->jacobian, f->time, f->noise, f->noise_jacobian, f->event};
  int most = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i] != NULL && all[i]->outputs > most) most = all[i]->outputs;
  }
  return most;
}

static inline status ode_group_create(const ode_functions *f, const ode_plan *plan, ode_group *g) {
  status rc = STATUS_OK;
  const int n = plan->components, parameters = plan->shared + plan->parameters;
  const int64_t state = (int64_t)n * ODE_LANES;
  const int64_t slopes = (int64_t)ODE_SLOPES * state;
  const int64_t matrix = ode_is_stiff(plan->kind) ? (int64_t)n * state : 0;
  g->call.f = f;
  g->call.components = n;
  TRY(alloc_zeroed(&g->memory, 3 * state + slopes + matrix + (int64_t)parameters * ODE_LANES,
                   sizeof(double), "trajectories at work"));
  if (matrix > 0) TRY(alloc_zeroed(&g->pivot, n, sizeof *g->pivot, "trajectories at work"));
  TRY(alloc_zeroed(&g->call.in, 1 + n + parameters, sizeof *g->call.in, "trajectories at work"));
  TRY(alloc_zeroed(&g->call.out, ode_outputs(f), sizeof *g->call.out, "trajectories at work"));
  ode_work *w = &g->work;
  w->plan = plan;
  w->call = &g->call;
  w->y = g->memory;
  w->u = w->y + state;
  w->v = w->u + state;
  w->k = w->v + state;
  w->p = w->k + slopes;
  TRY(alloc_zeroed(&g->noise, ode_noise_numbers(plan) * ODE_LANES, sizeof(double),
                   "trajectories at work"));
  ode_noise_lay(w, g->noise);
  w->matrix = matrix > 0 ? w->p + (int64_t)parameters * ODE_LANES : NULL;
  w->pivot = g->pivot;
  for (int j = 0; j < plan->shared; j++) {
    const double value = ((const double *)plan->common.at)[j];
    for (int l = 0; l < ODE_LANES; l++) w->p[j * ODE_LANES + l] = value;
  }
  for (int i = 0; i < 1 + n; i++) g->call.in[i].step = 1;
  for (int j = 0; j < parameters; j++) {
    g->call.in[1 + n + j] = (formula_input){w->p + j * ODE_LANES, 1};
  }
done:
  return rc;
}

#endif
