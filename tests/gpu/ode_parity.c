/* Trajectories on the GPU against the reference backend, bit for bit: every method, fixed and
 * adaptive, with noise, with events, saved instants, shared parameters, blow-ups, many components;
 * in one call and in calls of few attempts; more trajectories than a launch takes. An argument
 * chooses cases by name, for slow checkers. */
#include "gpu.h"
#include "ode_cases.h"

static comm *world;

/* Arrays of a run: bytes of each, in the order of `arrays`. */
enum { ARRAYS = 9 };

static void arrays_of(ode_states *s, const ode_plan *plan, dptr **at, int64_t *bytes) {
  const int64_t state = plan->components * s->count * 8;
  dptr *all[ARRAYS] = {&s->y,        &s->p,        &s->t,      &s->h,    &s->memory,
                       &s->attempts, &s->rejected, &s->status, &s->saved};
  for (int i = 0; i < ARRAYS; i++) {
    at[i] = all[i];
    bytes[i] = s->count * 8;
  }
  bytes[0] = state;
  bytes[1] = plan->parameters * s->count * 8;
  bytes[7] = s->count;
  bytes[8] = plan->saves * state;
}

static dptr place(const backend *b, device *d, const void *from, int64_t bytes) {
  dptr to = {NULL};
  if (bytes == 0) return to;
  assert_ok(b->alloc(d, bytes, "test", &to));
  assert_ok(b->copy_in(d, to, (hptr){(void *)(uintptr_t)from}, bytes));
  return to;
}

/* ode_try_run() of e's arrays on the GPU; they come back. */
static void run_there(ode_try *e, int64_t attempts) {
  const backend *b = &BACKEND_cuda;
  const device_request request = {.threads = 1};
  device *d;
  ode_kernel *kernel;
  ode_states there = e->s;
  ode_plan plan = e->plan;
  dptr *here_at[ARRAYS], *at[ARRAYS];
  int64_t bytes[ARRAYS];
  assert_ok(b->open(&request, &d));
  plan.save_at = place(b, d, e->plan.save_at.at, plan.saves * 8);
  plan.common = place(b, d, e->plan.common.at, plan.shared * 8);
  arrays_of(&e->s, &plan, here_at, bytes);
  arrays_of(&there, &plan, at, bytes);
  for (int i = 0; i < ARRAYS; i++) *at[i] = place(b, d, here_at[i]->at, bytes[i]);
  assert_ok(b->ode->create(d, &e->f, &plan, &kernel));
  for (int running = 1; running;) {
    assert_ok(b->ode->advance(d, kernel, &there, attempts));
    assert_ok(b->copy_out(d, (hptr){e->s.status.at}, there.status, e->s.count));
    running = 0;
    for (int64_t i = 0; i < e->s.count; i++) running |= ode_try_status(e, i) == ODE_RUNNING;
  }
  for (int i = 0; i < ARRAYS; i++) {
    if (bytes[i] > 0) assert_ok(b->copy_out(d, (hptr){here_at[i]->at}, *at[i], bytes[i]));
    b->release(d, at[i]);
  }
  b->release(d, &plan.save_at);
  b->release(d, &plan.common);
  b->ode->release(d, &kernel);
  b->close(&d);
}

static void one_case(const ode_setting *is, const char *const *noise, int64_t count,
                     const char *what) {
  static const int64_t attempts[] = {INT64_MAX, 37};
  ode_try want, got;
  char name[200];
  ode_try_open_noisy(&want, &BACKEND_ref, world, NULL, 1, is, noise, count);
  ode_case_fill(&want);
  ode_try_run(&want, INT64_MAX);
  for (int i = 0; i < 2; i++) {
    snprintf(name, sizeof name, "%s, %lld attempts at a time", what, (long long)attempts[i]);
    ode_try_open_noisy(&got, &BACKEND_ref, world, NULL, 1, is, noise, count);
    ode_case_fill(&got);
    run_there(&got, attempts[i]);
    ode_case_compare(&want, &got, name);
    ode_try_close(&got);
  }
  ode_try_close(&want);
}

static void every_way(void **state) {
  (void)state;
  ode_cases(one_case, 0);
  ode_cases_noisy(one_case);
}

/* A part of them, for slow checkers: when asked for. */
static void some_ways(void **state) {
  (void)state;
  ode_cases(one_case, 1);
  ode_cases_noisy(one_case);
}

/* 1.9e6 of three components are the first launch's. */
static void of_many(void **state) {
  (void)state;
  static const char *const names[] = {"t", "x", "y", "z", "r", NULL};
  static const char *const lorenz[] = {"10*(y - x)", "x*(r - z) - y", "x*y - 8/3*z"};
  ode_setting is = {names, lorenz, NULL, 3, 1, ode_case_plan(ODE_RUNGE_KUTTA, ODE_RK4, 0), NULL};
  is.plan.dt = 0.25;
  one_case(&is, NULL, 2000003, "two million");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_way), cmocka_unit_test(some_ways),
                                     cmocka_unit_test(of_many)};
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  cmocka_set_skip_filter("some_ways");
  if (argc > 1) {
    cmocka_set_skip_filter(NULL);
    cmocka_set_test_filter(argv[1]);
  }
  int rc = gpu_skip(world);
  if (rc == 0) rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
