/* What trajectories cost on a CPU: bench_ode [TRAJECTORIES [STEPS [ROUNDS]]]. JSON.
 *
 * Lorenz by RK4 with fixed steps, as expressions compiled at run time, on one thread, against the
 * loop one would write in C, a trajectory after the other; and by Tsit5 to t = 1 at 1e-8. Geometric
 * Brownian motion by Euler-Maruyama and Milstein, and of that the increments alone (brownian.h).
 * Ways are interleaved; times are medians of rounds, by the processor's clock. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "backend.h"
#include "brownian.h"
#include "comm.h"
#include "compiling.h"
#include "function.h"
#include "fused.h"
#include "log.h"
#include "measured.h"
#include "noise.h"
#include "ode_backend.h"
#include "ode_tableau.h"

enum { ROUNDS_MAX = 51, WAYS = 5, NOISY_WAYS = 3 };
enum { FUSED, LANES, SCALAR, TSIT5_FUSED, TSIT5_LANES };

static const char *const NAMES[] = {"t", "x", "y", "z", NULL};
static const char *const LORENZ[] = {"10*(y - x)", "x*(28 - z) - y", "x*y - 8/3*z"};

static double clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void slope(const double *y, double *k) {
  k[0] = 10.0 * (y[1] - y[0]);
  k[1] = fma(y[0], 28.0 - y[2], -y[1]);
  k[2] = fma(y[0], y[1], -(8.0 / 3.0 * y[2]));
}

/* What one would write without halosweep. */
static void scalar_step(double *y, double h) {
  double k[4][3], v[3];
  slope(y, k[0]);
  for (int c = 0; c < 3; c++) v[c] = fma(0.5 * h, k[0][c], y[c]);
  slope(v, k[1]);
  for (int c = 0; c < 3; c++) v[c] = fma(0.5 * h, k[1][c], y[c]);
  slope(v, k[2]);
  for (int c = 0; c < 3; c++) v[c] = fma(h, k[2][c], y[c]);
  slope(v, k[3]);
  for (int c = 0; c < 3; c++) {
    y[c] = fma(h / 6.0, k[0][c], y[c]);
    y[c] = fma(h / 3.0, k[1][c], y[c]);
    y[c] = fma(h / 3.0, k[2][c], y[c]);
    y[c] = fma(h / 6.0, k[3][c], y[c]);
  }
}

typedef struct bench {
  device *place;
  function *rhs;
  ode_functions f;
  comm *c;
  compiler *with;
  ode_states s;
  int64_t count, steps;
} bench;

static void start(bench *b, double h) {
  double *y = b->s.y.at;
  for (int64_t i = 0; i < b->count; i++) {
    for (int c = 0; c < 3; c++) y[c * b->count + i] = 1.0 + 1e-3 * (double)i / (double)b->count;
    ((double *)b->s.t.at)[i] = 0.0;
    ((double *)b->s.h.at)[i] = h;
    ((double *)b->s.memory.at)[i] = 0.0;
    ((int64_t *)b->s.attempts.at)[i] = 0;
    ((int64_t *)b->s.rejected.at)[i] = 0;
    ((unsigned char *)b->s.status.at)[i] = ODE_RUNNING;
  }
}

static status run_lanes(bench *b, const ode_plan *plan, int fused, double *seconds) {
  status rc = STATUS_OK;
  ode_kernel *kernel = NULL;
  module *code = NULL;
  start(b, 0.0);
  TRY(ode_fused_create(b->c, fused ? b->with : NULL, b->f.rhs, plan, &code, &b->f.fused));
  TRY(BACKEND_omp.ode->create(b->place, &b->f, plan, &kernel));
  const double begin = clock_now();
  TRY(BACKEND_omp.ode->advance(b->place, kernel, &b->s, INT64_MAX));
  *seconds = clock_now() - begin;
done:
  BACKEND_omp.ode->release(b->place, &kernel);
  module_release(&code);
  return rc;
}

static double run_scalar(bench *b, double h) {
  double *at = b->s.y.at;
  start(b, 0.0);
  const double begin = clock_now();
  for (int64_t i = 0; i < b->count; i++) {
    double y[3] = {at[i], at[b->count + i], at[2 * b->count + i]};
    for (int64_t s = 0; s < b->steps; s++) scalar_step(y, h);
    for (int c = 0; c < 3; c++) at[c * b->count + i] = y[c];
  }
  return clock_now() - begin;
}

static status measure(bench *b, int rounds) {
  status rc = STATUS_OK;
  static double seconds[WAYS][ROUNDS_MAX], first[WAYS];
  const double h = 1e-3;
  ode_plan rk4 = {.kind = ODE_RUNGE_KUTTA, .variant = ODE_RK4, .order = 5, .components = 3};
  rk4.t_end = h * (double)b->steps;
  rk4.dt = h;
  rk4.steps = b->steps;
  rk4.max_steps = INT64_MAX;
  ode_plan tsit5 = rk4;
  tsit5.variant = ODE_TSIT5;
  tsit5.adaptive = 1;
  tsit5.t_end = 1.0;
  tsit5.rtol = tsit5.atol = 1e-8;
  for (int r = 0; r < rounds; r++) {
    TRY(run_lanes(b, &rk4, 1, &seconds[FUSED][r]));
    first[FUSED] = *(double *)b->s.y.at;
    TRY(run_lanes(b, &rk4, 0, &seconds[LANES][r]));
    first[LANES] = *(double *)b->s.y.at;
    seconds[SCALAR][r] = run_scalar(b, h);
    first[SCALAR] = *(double *)b->s.y.at;
    TRY(run_lanes(b, &tsit5, 1, &seconds[TSIT5_FUSED][r]));
    first[TSIT5_FUSED] = *(double *)b->s.y.at;
    TRY(run_lanes(b, &tsit5, 0, &seconds[TSIT5_LANES][r]));
    first[TSIT5_LANES] = *(double *)b->s.y.at;
  }
  const double work = (double)b->count * (double)b->steps;
  const double fused = median_of(seconds[FUSED], rounds),
               scalar = median_of(seconds[SCALAR], rounds);
  const double lanes = median_of(seconds[LANES], rounds);
  printf("{\"trajectories\": %lld, \"steps\": %lld, \"rounds\": %d,\n", (long long)b->count,
         (long long)b->steps, rounds);
  printf(" \"rk4_ns_per_step\": %.3f, \"lanes_ns_per_step\": %.3f, \"scalar_ns_per_step\": %.3f,\n",
         1e9 * fused / work, 1e9 * lanes / work, 1e9 * scalar / work);
  printf(" \"scalar_over_rk4\": %.2f, \"scalar_over_lanes\": %.2f,\n", scalar / fused,
         scalar / lanes);
  printf(" \"tsit5_trajectories_per_second\": %.4g, \"tsit5_lanes\": %.4g,\n",
         (double)b->count / median_of(seconds[TSIT5_FUSED], rounds),
         (double)b->count / median_of(seconds[TSIT5_LANES], rounds));
  printf(" \"first\": [%.17g, %.17g, %.17g, %.17g, %.17g],\n", first[0], first[1], first[2],
         first[3], first[4]);
done:
  return rc;
}

/* The increments of all paths of the run, in lanes as the steps take them; their sum. */
static double increments(const brownian *b, int64_t count, int64_t steps) {
  enum { SIDE = ODE_HOST_LANES, STACK = 50 * 2 * SIDE };
  static double stack[STACK];
  uint64_t trajectory[SIDE];
  double sum = 0.0;
  for (int64_t first = 0; first < count; first += SIDE) {
    for (int64_t l = 0; l < SIDE; l++) trajectory[l] = (uint64_t)(first + l);
    brownian_begin(b, SIDE, trajectory, 0, stack);
    for (int64_t k = 1; k < steps; k++) {
      brownian_advance(b, SIDE, trajectory, (uint64_t)(k - 1), stack);
      sum += brownian_step(b, SIDE, stack)[k % SIDE];
    }
  }
  return sum;
}

/* Geometric Brownian motion: ode_plan.variant 0 and 1, and the increments alone. */
static status measure_noise(bench *b, int rounds) {
  status rc = STATUS_OK;
  static double seconds[NOISY_WAYS][ROUNDS_MAX];
  static const char *const names[] = {"t", "x", NULL}, *const where[] = {"x"};
  static const char *const drift[] = {"0.05*x"}, *const noise[] = {"0.2*x"};
  const ode_noise_request is = {"x", names, (const double[]){1.0}, NULL};
  function_request request = {.texts = drift, .where = where, .names = names, .outputs = 1};
  function *rhs = NULL, *g = NULL, *slope = NULL;
  const ode_functions before = b->f;
  double sum = 0.0;
  ode_plan plan = {.kind = ODE_NOISY, .components = 1, .noises = 1, .diagonal = 1, .seed = 1};
  plan.t_end = 1.0;
  plan.dt = 1.0 / (double)b->steps;
  plan.steps = b->steps;
  plan.max_steps = INT64_MAX;
  TRY(function_create(b->c, b->with, &request, &rhs));
  request.texts = noise;
  TRY(function_create(b->c, b->with, &request, &g));
  const brownian paths = brownian_make(1, (uint64_t)b->steps, plan.dt, 1, 0);
  for (int r = 0; r < rounds; r++) {
    for (int variant = 0; variant < 2; variant++) {
      plan.variant = variant;
      function_release(&slope);
      TRY(ode_noise_create(b->c, b->with, g, &is, &plan, &slope));
      b->f = (ode_functions){.rhs = function_formula(rhs), .noise = function_formula(g)};
      if (slope != NULL) b->f.noise_jacobian = function_formula(slope);
      TRY(run_lanes(b, &plan, 1, &seconds[variant][r]));
    }
    const double begin = clock_now();
    sum += increments(&paths, b->count, b->steps);
    seconds[2][r] = clock_now() - begin;
  }
  const double work = 1e-9 * (double)b->count * (double)b->steps;
  const double each[] = {median_of(seconds[0], rounds) / work, median_of(seconds[1], rounds) / work,
                         median_of(seconds[2], rounds) / work};
  printf(" \"euler_maruyama_ns_per_step\": %.3f, \"milstein_ns_per_step\": %.3f,\n", each[0],
         each[1]);
  printf(" \"increments_ns_per_step\": %.3f, \"path\": %.17g, \"sum\": %.6g}\n", each[2],
         *(double *)b->s.y.at, sum);
done:
  b->f = before;
  function_release(&rhs);
  function_release(&g);
  function_release(&slope);
  return rc;
}

static status open_bench(bench *b, comm *c, compiler *with) {
  status rc = STATUS_OK;
  static const char *const where[] = {"x", "y", "z"};
  const device_request one = {.threads = 1};
  const function_request request = {.texts = LORENZ, .where = where, .names = NAMES, .outputs = 3};
  b->c = c;
  b->with = with;
  TRY(BACKEND_omp.open(&one, &b->place));
  TRY(function_create(c, with, &request, &b->rhs));
  b->f.rhs = function_formula(b->rhs);
  b->s.count = b->count;
  TRY(alloc_zeroed((double **)&b->s.y.at, 3 * b->count, sizeof(double), "y"));
  TRY(alloc_zeroed((double **)&b->s.t.at, b->count, sizeof(double), "t"));
  TRY(alloc_zeroed((double **)&b->s.h.at, b->count, sizeof(double), "h"));
  TRY(alloc_zeroed((double **)&b->s.memory.at, b->count, sizeof(double), "memory"));
  TRY(alloc_zeroed((int64_t **)&b->s.attempts.at, b->count, sizeof(int64_t), "attempts"));
  TRY(alloc_zeroed((int64_t **)&b->s.rejected.at, b->count, sizeof(int64_t), "rejected"));
  TRY(alloc_zeroed((char **)&b->s.status.at, b->count, 1, "status"));
done:
  return rc;
}

int main(int argc, char **argv) {
  comm *c = NULL;
  compiler *with = NULL;
  bench b = {.count = argc > 1 ? atoll(argv[1]) : 4096, .steps = argc > 2 ? atoll(argv[2]) : 1000};
  const int asked = argc > 3 ? atoi(argv[3]) : 5;
  status rc = start_compiler(&with);
  if (rc == STATUS_OK) rc = comm_open(&argc, &argv, &c);
  if (rc == STATUS_OK) compiler_settle(with, c);
  if (rc == STATUS_OK) rc = open_bench(&b, c, with);
  const int rounds = asked < ROUNDS_MAX ? asked : ROUNDS_MAX;
  if (rc == STATUS_OK) rc = measure(&b, rounds);
  if (rc == STATUS_OK) rc = measure_noise(&b, rounds);
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  compiler_close(&with);
  comm_close(&c);
  return rc;
}
