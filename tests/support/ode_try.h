/* An ensemble on a backend, from texts, for tests: open, set y and p, run, look at what came. */
#ifndef ODE_TRY_H
#define ODE_TRY_H

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "backend.h"
#include "function.h"
#include "fused.h"
#include "noise.h"
#include "ode_backend.h"
#include "test.h"

typedef struct ode_try {
  const backend *kernels;
  device *place;
  function *rhs, *event, *jacobian, *time, *noise, *noise_jacobian;
  ode_functions f;
  module *fused;
  ode_plan plan;
  ode_states s;
  ode_kernel *kernel;
} ode_try;

/* What a test says of its system; names: t, the components, the parameters (all of them each
 * trajectory's own), NULL. */
typedef struct ode_setting {
  const char *const *names;
  const char *const *rhs;
  const char *event; /* NULL: none */
  int components, parameters;
  ode_plan plan;               /* method, instants, tolerances */
  const char *const *jacobian; /* with it d rhs / d t is exact, too; NULL: differences */
} ode_setting;

/* Takes the noise in; as an expression with its derivatives where the method uses them. */
static inline void ode_try_noise(ode_try *e, comm *c, compiler *with, function_request *request,
                                 const char *const *noise) {
  double near[64];
  for (int i = 0; i < 64; i++) near[i] = 1.0;
  const ode_noise_request what = {.where = "test", .names = request->names, .y = near, .p = near};
  request->texts = noise;
  request->outputs = e->plan.components * (e->plan.diagonal ? 1 : e->plan.noises);
  assert_ok(function_create(c, with, request, &e->noise));
  assert_ok(ode_noise_create(c, with, e->noise, &what, &e->plan, &e->noise_jacobian));
  e->f.noise = function_formula(e->noise);
  e->f.noise_jacobian = e->noise_jacobian != NULL ? function_formula(e->noise_jacobian) : NULL;
}

/* noise: texts for plan.kind ODE_NOISY, with plan.noises and plan.diagonal; NULL: none. */
static inline void ode_try_open_noisy(ode_try *e, const backend *b, comm *c, compiler *with,
                                      int threads, const ode_setting *is, const char *const *noise,
                                      int64_t count) {
  const char *where[64];
  const device_request wanted = {.threads = threads};
  memset(e, 0, sizeof *e);
  for (int i = 0; i < 64; i++) where[i] = "test";
  e->kernels = b;
  assert_ok(b->open(&wanted, &e->place));
  function_request request = {
      .texts = is->rhs, .where = where, .names = is->names, .outputs = is->components};
  request.plain = strcmp(b->name, "ref") == 0;
  assert_ok(function_create(c, with, &request, &e->rhs));
  if (is->event != NULL) {
    request.texts = &is->event;
    request.outputs = 1;
    assert_ok(function_create(c, with, &request, &e->event));
    e->f.event = function_formula(e->event);
  }
  if (is->jacobian != NULL) {
    request.texts = is->jacobian;
    request.outputs = is->components * is->components;
    assert_ok(function_create(c, with, &request, &e->jacobian));
    e->f.jacobian = function_formula(e->jacobian);
    assert_ok(function_jacobian(c, with, e->rhs, 0, 1, &e->time));
    e->f.time = function_formula(e->time);
  }
  e->f.rhs = function_formula(e->rhs);
  e->plan = is->plan;
  e->plan.components = is->components;
  e->plan.parameters = is->parameters;
  e->plan.has_event = is->event != NULL;
  if (noise != NULL) ode_try_noise(e, c, with, &request, noise);
  e->plan.has_jacobian = e->plan.has_time = is->jacobian != NULL;
  if (e->plan.max_steps == 0) e->plan.max_steps = 1000000;
  if (!e->plan.adaptive) {
    e->plan.steps = ode_step_count(e->plan.t_start, e->plan.t_end, e->plan.dt);
  }
  e->s.count = count;
  const int64_t saved = e->plan.saves * is->components * count;
  assert_ok(alloc_zeroed((double **)&e->s.y.at, is->components * count, sizeof(double), "y"));
  assert_ok(alloc_zeroed((double **)&e->s.p.at, is->parameters * count, sizeof(double), "p"));
  assert_ok(alloc_zeroed((double **)&e->s.t.at, count, sizeof(double), "t"));
  assert_ok(alloc_zeroed((double **)&e->s.h.at, count, sizeof(double), "h"));
  assert_ok(alloc_zeroed((double **)&e->s.memory.at, count, sizeof(double), "memory"));
  assert_ok(alloc_zeroed((int64_t **)&e->s.attempts.at, count, sizeof(int64_t), "attempts"));
  assert_ok(alloc_zeroed((int64_t **)&e->s.rejected.at, count, sizeof(int64_t), "rejected"));
  assert_ok(alloc_zeroed((char **)&e->s.status.at, count, 1, "status"));
  assert_ok(alloc_zeroed((double **)&e->s.saved.at, saved, sizeof(double), "saved"));
  for (int64_t i = 0; i < count; i++) {
    ((double *)e->s.t.at)[i] = e->plan.t_start;
    ((double *)e->s.h.at)[i] = e->plan.adaptive ? e->plan.dt : 0.0;
  }
  for (int64_t i = 0; i < saved; i++) ((double *)e->s.saved.at)[i] = NAN;
  if (b == &BACKEND_omp) {
    assert_ok(ode_fused_create(c, with, e->f.rhs, &e->plan, &e->fused, &e->f.fused));
  }
  assert_ok(b->ode->create(e->place, &e->f, &e->plan, &e->kernel));
}

static inline void ode_try_open(ode_try *e, const backend *b, comm *c, compiler *with, int threads,
                                const ode_setting *is, int64_t count) {
  ode_try_open_noisy(e, b, c, with, threads, is, NULL, count);
}

static inline void ode_try_close(ode_try *e) {
  e->kernels->ode->release(e->place, &e->kernel);
  void **arrays[] = {&e->s.y.at,        &e->s.p.at,      &e->s.t.at,
                     &e->s.h.at,        &e->s.memory.at, &e->s.attempts.at,
                     &e->s.rejected.at, &e->s.status.at, &e->s.saved.at};
  for (int i = 0; i < 9; i++) alloc_free((char **)arrays[i]);
  module_release(&e->fused);
  function_release(&e->rhs);
  function_release(&e->event);
  function_release(&e->noise);
  function_release(&e->noise_jacobian);
  function_release(&e->jacobian);
  function_release(&e->time);
  e->kernels->close(&e->place);
}

static inline double *ode_try_y(const ode_try *e, int c, int64_t i) {
  return (double *)e->s.y.at + c * e->s.count + i;
}
static inline double *ode_try_p(const ode_try *e, int j, int64_t i) {
  return (double *)e->s.p.at + j * e->s.count + i;
}
static inline double ode_try_t(const ode_try *e, int64_t i) { return ((double *)e->s.t.at)[i]; }
static inline int ode_try_status(const ode_try *e, int64_t i) {
  return ((unsigned char *)e->s.status.at)[i];
}
static inline int64_t ode_try_steps(const ode_try *e, int64_t i) {
  return ((int64_t *)e->s.attempts.at)[i] - ((int64_t *)e->s.rejected.at)[i];
}

/* Until none is running, `attempts` at a time. */
static inline void ode_try_run(ode_try *e, int64_t attempts) {
  for (int running = 1; running;) {
    assert_ok(e->kernels->ode->advance(e->place, e->kernel, &e->s, attempts));
    running = 0;
    for (int64_t i = 0; i < e->s.count; i++) running |= ode_try_status(e, i) == ODE_RUNNING;
  }
}

#endif
