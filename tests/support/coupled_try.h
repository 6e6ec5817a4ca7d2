/* A run of a coupled system for tests: open with the defaults of a system, change what is to be
 * changed, run, look at what came. */
#ifndef COUPLED_TRY_H
#define COUPLED_TRY_H

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "compiler.h"
#include "coupled_run.h"
#include "fingerprint.h"
#include "test.h"

typedef struct coupled_try {
  coupled_run run;
  double parameter[COUPLED_PARAMETERS];
  double *y; /* [rows] of this rank, once run */
} coupled_try;

/* A run of `name` by `method` to t_end; dt > 0: fixed steps of that length. Not opened yet. */
static inline void coupled_try_start(coupled_try *e, const backend *b, comm *c, compiler *with,
                                     int threads, const char *name, gidx n, const char *method,
                                     double t_end, double dt) {
  const device_request wanted = {.threads = threads};
  memset(e, 0, sizeof *e);
  coupled_run *r = &e->run;
  r->kernels = b;
  assert_ok(b->open(&wanted, &r->place));
  r->world = c;
  r->with = with;
  r->threads = threads;
  r->system = coupled_system_find(name);
  assert_non_null(r->system);
  r->n = n;
  for (int k = 0; k < coupled_parameters(r->system); k++) {
    e->parameter[k] = r->system->parameter[k].value;
  }
  r->parameter = e->parameter;
  r->method = method;
  r->plan = (ode_plan){.adaptive = dt <= 0.0,
                       .t_end = t_end,
                       .dt = dt > 0.0 ? dt : 0.0,
                       .rtol = 1e-8,
                       .atol = 1e-10,
                       .max_steps = 1000000};
}

static inline void coupled_try_open(coupled_try *e) {
  assert_ok(coupled_open(&e->run));
  assert_ok(alloc_array(&e->y, e->run.space.rows, sizeof *e->y, "state"));
}

static inline void coupled_try_march(coupled_try *e) {
  assert_ok(coupled_march(&e->run));
  assert_ok(linear_store(&e->run.space, e->y, e->run.y));
}

static inline void coupled_try_run(coupled_try *e) {
  coupled_try_open(e);
  coupled_try_march(e);
}

static inline void coupled_try_close(coupled_try *e) {
  alloc_free(&e->y);
  coupled_close(&e->run);
  e->run.kernels->close(&e->run.place);
}

/* Of the state, over all ranks. */
static inline uint64_t coupled_try_fingerprint(coupled_try *e) {
  const linear_system *s = &e->run.space;
  int64_t sum = (int64_t)fingerprint_of(e->y, s->first_row, s->rows);
  assert_ok(comm_sum_i64(s->world, &sum, 1));
  return (uint64_t)sum;
}

#endif
