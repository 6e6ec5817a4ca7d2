/* What the benchmarks of trajectories share: an ensemble on a backend, from states on the device to
 * states on the device, timed by the host's clock. */
#ifndef ENSEMBLE_H
#define ENSEMBLE_H

#include "alloc.h"
#include "backend.h"
#include "comm.h"
#include "measured.h"
#include "ode_backend.h"

enum { ENSEMBLE_REPEATS = 51, ENSEMBLE_ARRAYS = 8 };

typedef struct ensemble {
  const backend *b;
  device *d;
  ode_kernel *kernel;
  ode_states s;
  void *start[ENSEMBLE_ARRAYS]; /* host: what the arrays begin with */
  int64_t bytes[ENSEMBLE_ARRAYS];
  double seconds;  /* of a run, median */
  double attempts; /* of a trajectory, on average */
  double first;    /* seconds to make the kernel ready */
} ensemble;

static inline dptr *ensemble_array(ode_states *s, int i) {
  dptr *const all[ENSEMBLE_ARRAYS] = {&s->y,      &s->p,        &s->t,        &s->h,
                                      &s->memory, &s->attempts, &s->rejected, &s->status};
  return all[i];
}

static inline void ensemble_close(ensemble *e) {
  if (e->d == NULL) return;
  e->b->ode->release(e->d, &e->kernel);
  for (int i = 0; i < ENSEMBLE_ARRAYS; i++) {
    if (ensemble_array(&e->s, i)->at != NULL) e->b->release(e->d, ensemble_array(&e->s, i));
    alloc_free((char **)&e->start[i]);
  }
  e->b->close(&e->d);
}

/* start[0] (states) and start[1] (parameters) are zeros: to be filled. The functions and the plan
 * must outlive it. */
static inline status ensemble_open(const backend *b, int threads, const ode_functions *f,
                                   const ode_plan *plan, int64_t count, ensemble *e) {
  status rc = STATUS_OK;
  const device_request request = {.threads = threads};
  *e = (ensemble){.b = b};
  e->s.count = count;
  TRY(b->open(&request, &e->d));
  for (int i = 0; i < ENSEMBLE_ARRAYS; i++) {
    const int64_t each = i == 0 ? plan->components : i == 1 ? plan->parameters : 1;
    e->bytes[i] = i == ENSEMBLE_ARRAYS - 1 ? count : 8 * each * count;
    if (e->bytes[i] == 0) continue;
    TRY(alloc_zeroed((char **)&e->start[i], e->bytes[i], 1, "start"));
    TRY(b->alloc(e->d, e->bytes[i], "trajectories", ensemble_array(&e->s, i)));
  }
  const double begin = comm_clock();
  TRY(b->ode->create(e->d, f, plan, &e->kernel));
  e->first = comm_clock() - begin;
done:
  return rc;
}

/* One run from the start; *seconds: of the steps alone. */
static inline status ensemble_run(ensemble *e, double *seconds) {
  status rc = STATUS_OK;
  for (int i = 0; i < ENSEMBLE_ARRAYS; i++) {
    if (e->bytes[i] == 0) continue;
    TRY(e->b->copy_in(e->d, *ensemble_array(&e->s, i), (hptr){e->start[i]}, e->bytes[i]));
  }
  const double begin = comm_clock();
  TRY(e->b->ode->advance(e->d, e->kernel, &e->s, INT64_MAX));
  *seconds = comm_clock() - begin;
done:
  return rc;
}

/* After runs: the mean of attempts; a trajectory that did not get to its end is a failure. */
static inline status ensemble_look(ensemble *e) {
  status rc = STATUS_OK;
  unsigned char *ends = NULL;
  int64_t *attempts = NULL, sum = 0;
  TRY(alloc_array(&ends, e->s.count, 1, "statuses"));
  TRY(alloc_array(&attempts, e->s.count, 8, "attempts"));
  TRY(e->b->copy_out(e->d, (hptr){ends}, e->s.status, e->s.count));
  TRY(e->b->copy_out(e->d, (hptr){attempts}, e->s.attempts, 8 * e->s.count));
  for (int64_t i = 0; i < e->s.count; i++) {
    sum += attempts[i];
    if (ends[i] == ODE_DONE) continue;
    rc = fail(STATUS_BUG, "trajectory %lld ended with status %d", (long long)i, ends[i]);
    goto done;
  }
  e->attempts = (double)sum / (double)e->s.count;
done:
  alloc_free(&ends);
  alloc_free(&attempts);
  return rc;
}

/* The median of runs, after one that is not counted; repeats <= ENSEMBLE_REPEATS. */
static inline status ensemble_time(ensemble *e, int repeats) {
  status rc = STATUS_OK;
  double t[ENSEMBLE_REPEATS], first;
  TRY(ensemble_run(e, &first));
  for (int r = 0; r < repeats; r++) TRY(ensemble_run(e, &t[r]));
  e->seconds = median_of(t, repeats);
  TRY(ensemble_look(e));
done:
  return rc;
}

#endif
