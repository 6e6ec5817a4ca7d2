/* Trajectories on a GPU: one a thread (ode_thread.h), by a kernel that is compiled around the
 * system and for the plan (rtc.h). A thread block has a warp for each scheduler of a
 * multiprocessor, so that few trajectories spread over as many schedulers as there are warps of
 * them; many fill the GPU.
 *
 * Launches are cut so that none lasts much longer than LONGEST: by steps, and by trajectories where
 * so few steps would do that loading and storing them counted. How long a launch takes is known
 * from those before it. All that a trajectory is stays on the device: the host learns how many are
 * still on their way. */
#include "ode_cuda.h" /* before device.h, some of whose names are variables in there */

#include <string.h>

#include "alloc.h"
#include "device.h"
#include "ode_args.h"
#include "ode_define.h"
#include "rtc.h"

_Static_assert((int)ODE_TEXTS <= RTC_TEXTS && (int)ODE_DEFINES <= RTC_DEFINES,
               "a request has room");

static const double LONGEST = 0.2; /* seconds */

/* A thread's arrays at most: all threads that may run at once have theirs. */
static const int64_t THREAD_BYTES = INT64_C(1) << 17;

/* Steps of all trajectories of the first launch, for one component; steps of one that loading and
 * storing it is little beside. */
static const int64_t FIRST_LAUNCH = INT64_C(1) << 24, LEAST = 256;

struct ode_kernel {
  const ode_plan *plan;
  rtc_kernel kernel;
  cudaEvent_t begun, ended;
  int64_t *running;       /* pinned, */
  int64_t *running_there; /* and on the device */
  int64_t full;           /* trajectories at work at once, where there are as many */
  double each;            /* seconds of an attempt of one of at least as many; 0: not known */
  double alone;           /* seconds of an attempt where they are fewer; 0: not known */
  double common[ODE_COMMON];
};

static void release(device *d, ode_kernel **out) {
  ode_kernel *k = *out;
  if (k == NULL) return;
  cudaStreamSynchronize(d->main);
  device_free(d, k->running_there);
  if (k->running != NULL) cudaFreeHost(k->running);
  if (k->begun != NULL) cudaEventDestroy(k->begun);
  if (k->ended != NULL) cudaEventDestroy(k->ended);
  rtc_kernel_release(&k->kernel);
  alloc_free(out);
}

/* Bytes of a thread's arrays (ode_thread.h). */
static int64_t thread_bytes(const ode_plan *plan) {
  const int64_t n = plan->components, parameters = plan->shared + plan->parameters;
  const int64_t noises = plan->kind == ODE_NOISY ? plan->noises : 0;
  const int64_t walk = noises > 0 ? (BROWNIAN_LEVELS + 1) * (noises + 1) : 0;
  const int64_t square = ode_is_stiff(plan->kind) ? n * n : 0;
  const int64_t noise = plan->diagonal ? 2 * n : n * noises * (1 + n);
  return 8 * ((ODE_SLOPES + 4) * n + 2 * parameters + square + walk + (noises > 0 ? noise : 0));
}

/* What is compiled. STATUS_UNAVAILABLE: it cannot be. */
static status make_request(const ode_functions *f, const ode_plan *plan, rtc_request *r) {
  rtc_check_define define[ODE_DEFINES];
  memset(r, 0, sizeof *r);
  r->kernel = "ode_advance";
  r->f = f->rhs;
  r->texts = ODE_TEXTS;
  ode_texts(f, plan, r->text);
  for (int i = 0; i < ODE_TEXTS; i++) {
    const formula *t = r->text[i].f;
    if (t != NULL && t->text == NULL) {
      return fail(STATUS_UNAVAILABLE, "the %s has no text for a GPU", t->kind);
    }
  }
  ode_defines(f, plan, define);
  for (int i = 0; i < ODE_DEFINES; i++) rtc_define(r, define[i].name, define[i].value);
  if (plan->shared > ODE_COMMON) {
    return fail(STATUS_UNAVAILABLE, "a system on a GPU has at most %d shared parameters, not %d",
                ODE_COMMON, (int)plan->shared);
  }
  const int64_t bytes = thread_bytes(plan);
  if (bytes > THREAD_BYTES) {
    return fail(
        STATUS_UNAVAILABLE,
        "a trajectory of %d components takes %lld bytes of a GPU thread, more than %lld; the "
        "CPU backends have no such limit",
        (int)plan->components, (long long)bytes, (long long)THREAD_BYTES);
  }
  return STATUS_OK;
}

status ode_kernel_check(const ode_functions *f, const ode_plan *plan, int64_t *bytes) {
  enum { OLDEST = 80 };
  status rc = STATUS_OK;
  rtc_request r;
  char *code = NULL;
  *bytes = 0;
  TRY(make_request(f, plan, &r));
  TRY(rtc_compile(&r, OLDEST, &code, bytes));
done:
  alloc_free(&code);
  return rc;
}

static status create(device *d, const ode_functions *f, const ode_plan *plan, ode_kernel **out) {
  status rc = STATUS_OK;
  rtc_request r;
  *out = NULL;
  TRY(device_ok(d));
  TRY(make_request(f, plan, &r));
  TRY(alloc_zeroed(out, 1, sizeof **out, "trajectories"));
  ode_kernel *k = *out;
  k->plan = plan;
  TRY(rtc_kernel_create(d, &r, ODE_THREADS, &k->kernel));
  k->full = (int64_t)k->kernel.blocks * ODE_THREADS;
  TRY(device_check(d, cudaEventCreate(&k->begun), "cudaEventCreate"));
  TRY(device_check(d, cudaEventCreate(&k->ended), "cudaEventCreate"));
  TRY(device_check(d, cudaHostAlloc((void **)&k->running, sizeof *k->running, cudaHostAllocDefault),
                   "cudaHostAlloc"));
  TRY(device_alloc(d, sizeof *k->running, "trajectories", &k->running_there));
  if (plan->shared > 0) {
    TRY(cuda_copy_out(d, (hptr){k->common}, plan->common,
                      plan->shared * (int64_t)sizeof *k->common));
  }
done:
  if (rc != STATUS_OK) release(d, out);
  return rc;
}

/* ---- launches of bounded length ---- */

static int64_t at_least(int64_t x, int64_t least) { return x > least ? x : least; }

/* Steps of all trajectories of a launch before anything is known: larger systems take longer. */
static int64_t first_launch(const ode_kernel *k) {
  const int64_t n = k->plan->components;
  return at_least(FIRST_LAUNCH / (n * n), k->full);
}

/* Trajectories of the next launches: so many that a launch of LEAST attempts lasts LONGEST. */
static int64_t next_range(const ode_kernel *k, int64_t left) {
  const double most = k->each > 0.0 ? LONGEST / (k->each * (double)LEAST) : (double)first_launch(k);
  return most >= (double)left ? left : at_least((int64_t)most, k->full < left ? k->full : left);
}

/* Attempts of the next launch, of `left`, while `running` trajectories are on their way. */
static int64_t next_piece(const ode_kernel *k, int64_t running, int64_t left) {
  const int64_t busy = at_least(running, k->full);
  double seconds = k->each * (double)busy;
  if (running < k->full && k->alone > 0.0) seconds = k->alone;
  const double most = seconds > 0.0 ? LONGEST / seconds : (double)first_launch(k) / (double)busy;
  return most >= (double)left ? left : most > 1.0 ? (int64_t)most : 1;
}

/* Launches, waits, and learns from it. *running: before; after. */
static status launch(device *d, ode_kernel *k, ode_advance_args *a, int64_t *running) {
  status rc = STATUS_OK;
  const size_t bytes = sizeof *k->running;
  float ms = 0.0f;
  TRY(device_check(d, cudaMemsetAsync(k->running_there, 0, bytes, d->main), "cudaMemsetAsync"));
  TRY(device_check(d, cudaEventRecord(k->begun, d->main), "cudaEventRecord"));
  TRY(rtc_launch(d, &k->kernel, d->main, (a->end - a->begin + ODE_THREADS - 1) / ODE_THREADS,
                 ODE_THREADS, a, "ode_advance"));
  TRY(device_check(d, cudaEventRecord(k->ended, d->main), "cudaEventRecord"));
  TRY(device_check(
      d, cudaMemcpyAsync(k->running, k->running_there, bytes, cudaMemcpyDeviceToHost, d->main),
      "copy from the GPU"));
  TRY(device_check(d, cudaStreamSynchronize(d->main), "ode_advance"));
  TRY(device_check(d, cudaEventElapsedTime(&ms, k->begun, k->ended), "cudaEventElapsedTime"));
  const double attempt = 1e-3 * (double)ms / (double)a->attempts;
  if (*running >= k->full) {
    k->each = attempt / (double)*running;
  } else {
    k->alone = attempt;
  }
  *running = *k->running;
done:
  return rc;
}

/* How many attempts are more than any trajectory can make. */
static int64_t most_attempts(const ode_plan *plan) {
  return plan->adaptive || plan->steps > plan->max_steps ? plan->max_steps : plan->steps;
}

static status advance(device *d, ode_kernel *k, const ode_states *s, int64_t attempts) {
  status rc = STATUS_OK;
  ode_advance_args a;
  const int64_t most = most_attempts(k->plan);
  TRY(device_settle(d));
  TRY(device_join(d));
  memset(&a, 0, sizeof a);
  a.plan = *k->plan;
  a.states = *s;
  a.running = k->running_there;
  a.step = ode_args_step(k->plan);
  memcpy(a.common, k->common, sizeof a.common);
  for (a.begin = 0; a.begin < s->count; a.begin = a.end) {
    int64_t left = attempts < most ? attempts : most;
    a.end = a.begin + next_range(k, s->count - a.begin);
    for (int64_t running = a.end - a.begin; left > 0 && running > 0; left -= a.attempts) {
      a.attempts = next_piece(k, running, left);
      TRY(launch(d, k, &a, &running));
    }
  }
done:
  return rc;
}

const ode_backend ODE_cuda = {.create = create, .release = release, .advance = advance};
