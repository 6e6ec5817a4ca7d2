/* bench_gpu_ode [FILE.json [THREADS]]: trajectories on one GPU.
 *
 *  - Lorenz by RK4 with fixed steps, 1 048 576 and 10 240 trajectories, from expressions (as
 *    built-in systems are) and from a C file that is written plainly: steps a second, and what that
 *    is of the arithmetic limit;
 *  - Lorenz by Tsit5 to t = 1 at 1e-8, as many: trajectories a second, and likewise;
 *  - Robertson's problem for 100 000 triples of rates to t = 1e5 by rodas4; and for 2000 on all
 *    cores of this host by the OpenMP backend, its functions interpreted: trajectories a second;
 *  - geometric Brownian motion by Euler-Maruyama, 1e7 paths of 1000 steps: steps a second.
 *
 * The limit is LIMIT, the double operations a second of this kind of GPU, over those of a step or
 * an attempt: counted in the compiled kernels (docs/performance.md). Medians of REPEATS runs by the
 * host's clock, from states on the device to states on the device. */
#include <stdio.h>
#include <stdlib.h>

#include "ensemble.h"
#include "function.h"
#include "measured.h"
#include "ode_tableau.h"
#include "robertson.h"

enum { REPEATS = 5 };

static const double LIMIT = 16.5e12; /* H200: half of 33.0e12 operations counted two an fma */

static FILE *json;
static comm *world;

/* ---- Lorenz ---- */

static const char *const PLAIN_C =
    "#include <math.h>\n#include \"elementary.h\"\n#include \"halosweep_functions.h\"\n"
    "static void lorenz(double t, const double *y, const double *p, double *dy) {\n"
    "  dy[0] = 10.0*(y[1] - y[0]);\n"
    "  dy[1] = y[0]*(28.0 - y[2]) - y[1];\n"
    "  dy[2] = y[0]*y[1] - 8.0/3.0*y[2];\n"
    "}\n"
    "PORTABLE void formula_value(const double *in, double *out) { lorenz(in[0], in + 1, in + 4, "
    "out); }\n";

static void start_lorenz(ensemble *e) {
  double *y = e->start[0];
  for (int64_t i = 0; i < e->s.count; i++) {
    for (int c = 0; c < 3; c++) {
      y[c * e->s.count + i] = 1.0 + 1e-3 * (double)i / (double)e->s.count;
    }
  }
}

static status lorenz_steps(const ode_functions *f, const char *from, double operations,
                           int64_t count, int64_t steps, double target) {
  status rc = STATUS_OK;
  ensemble e = {0};
  char what[100];
  ode_plan plan = {.kind = ODE_RUNGE_KUTTA, .variant = ODE_RK4, .order = 5, .components = 3};
  plan.together = count;
  plan.dt = 1e-3;
  plan.t_end = plan.dt * (double)steps;
  plan.steps = plan.max_steps = steps;
  TRY(ensemble_open(&BACKEND_cuda, 1, f, &plan, count, &e));
  start_lorenz(&e);
  TRY(ensemble_time(&e, REPEATS));
  const double rate = (double)count * (double)steps / e.seconds;
  snprintf(what, sizeof what, "Lorenz RK4, %s, %lld trajectories", from, (long long)count);
  measured_line(json, what, rate, "steps/s", target);
  snprintf(what, sizeof what, "  of the limit for %.0f operations a step", operations);
  measured_line(json, what, rate * operations / LIMIT, "", 0.0);
  measured_line(json, "  kernel made ready", e.first, "s", 0.0);
done:
  ensemble_close(&e);
  return rc;
}

static status lorenz_adaptive(const ode_functions *f, int64_t count, double target) {
  status rc = STATUS_OK;
  enum { OPERATIONS = 272 /* of an attempt that is taken */ };
  ensemble e = {0};
  char what[100];
  const ode_plan plan = {.kind = ODE_RUNGE_KUTTA,
                         .variant = ODE_TSIT5,
                         .adaptive = 1,
                         .order = 5,
                         .components = 3,
                         .t_end = 1.0,
                         .rtol = 1e-8,
                         .atol = 1e-8,
                         .max_steps = 1000000};
  TRY(ensemble_open(&BACKEND_cuda, 1, f, &plan, count, &e));
  start_lorenz(&e);
  TRY(ensemble_time(&e, REPEATS));
  const double rate = (double)count / e.seconds;
  snprintf(what, sizeof what, "Lorenz Tsit5 to t = 1 at 1e-8, %lld trajectories", (long long)count);
  measured_line(json, what, rate, "trajectories/s", target);
  measured_line(json, "  attempts of a trajectory", e.attempts, "", 0.0);
  measured_line(json, "  of the arithmetic limit", rate * e.attempts * OPERATIONS / LIMIT, "", 0.0);
done:
  ensemble_close(&e);
  return rc;
}

static status bench_lorenz(void) {
  status rc = STATUS_OK;
  enum { MANY = 1048576, FEW = 10240 };
  static const char *const names[] = {"t", "x", "y", "z", NULL};
  static const char *const texts[] = {"10*(y - x)", "x*(28 - z) - y", "x*y - 8/3*z"};
  static const char *const where[] = {"x", "y", "z"};
  const function_request r = {
      .texts = texts, .where = where, .names = names, .outputs = 3, .plain = 1};
  const formula file = {.inputs = 4, .outputs = 3, .text = PLAIN_C, .kind = "C file"};
  const ode_functions from_file = {.rhs = &file};
  function *made = NULL;
  TRY(function_create(world, NULL, &r, &made));
  const ode_functions f = {.rhs = function_formula(made)};
  TRY(lorenz_steps(&f, "expressions", 45.0, MANY, 100000, 3.55e11));
  TRY(lorenz_steps(&from_file, "C file", 53.0, MANY, 100000, 0.96 * LIMIT / 53.0));
  TRY(lorenz_steps(&f, "expressions", 45.0, FEW, 2000000, 1.8e11));
  TRY(lorenz_steps(&from_file, "C file", 53.0, FEW, 2000000, 0.0));
  TRY(lorenz_adaptive(&f, MANY, 1.5e8));
  TRY(lorenz_adaptive(&f, FEW, 0.0));
done:
  function_release(&made);
  return rc;
}

/* ---- Robertson ---- */

static status time_robertson(const backend *b, int threads, const ode_functions *f, int64_t count,
                             ensemble *e) {
  status rc = STATUS_OK;
  const ode_plan plan = robertson_plan(1e-6, 1e-10);
  TRY(ensemble_open(b, threads, f, &plan, count, e));
  robertson_start(count, e->start[0], e->start[1]);
  TRY(ensemble_time(e, b == &BACKEND_cuda ? REPEATS : 1));
done:
  return rc;
}

static status bench_robertson(int threads) {
  status rc = STATUS_OK;
  enum { OPERATIONS = 640 /* of an attempt that is taken */ };
  robertson r;
  ensemble gpu = {0}, cpu = {0};
  char what[100];
  TRY(robertson_make(world, NULL, &r));
  TRY(time_robertson(&BACKEND_cuda, 1, &r.f, 100000, &gpu));
  measured_line(json, "Robertson rodas4 to t = 1e5 at 1e-6, 100000 rate triples", 1e5 / gpu.seconds,
                "trajectories/s", 0.0);
  measured_line(json, "  attempts of a trajectory", gpu.attempts, "", 0.0);
  measured_line(json, "  of the arithmetic limit",
                1e5 / gpu.seconds * gpu.attempts * OPERATIONS / LIMIT, "", 0.0);
  TRY(time_robertson(&BACKEND_omp, threads, &r.f, 2000, &cpu));
  snprintf(what, sizeof what, "  2000 on %d threads of this host, interpreted", threads);
  measured_line(json, what, 2000.0 / cpu.seconds, "trajectories/s", 0.0);
done:
  ensemble_close(&gpu);
  ensemble_close(&cpu);
  robertson_release(&r);
  return rc;
}

/* ---- geometric Brownian motion ---- */

static status bench_paths(void) {
  status rc = STATUS_OK;
  enum { PATHS = 10000000, STEPS = 1000, OPERATIONS = 40 /* of a step: half a pair of normals */ };
  static const char *const names[] = {"t", "x", NULL};
  static const char *const texts[] = {"0.05*x", "0.2*x"};
  static const char *const where[] = {"x"};
  const ode_plan plan = {.kind = ODE_NOISY,
                         .variant = ODE_EULER_MARUYAMA,
                         .order = 1,
                         .components = 1,
                         .noises = 1,
                         .diagonal = 1,
                         .t_end = 1.0,
                         .dt = 1.0 / STEPS,
                         .steps = STEPS,
                         .max_steps = STEPS,
                         .seed = 1};
  function_request r = {.texts = texts, .where = where, .names = names, .outputs = 1, .plain = 1};
  function *drift = NULL, *noise = NULL;
  ensemble e = {0};
  TRY(function_create(world, NULL, &r, &drift));
  r.texts = texts + 1;
  TRY(function_create(world, NULL, &r, &noise));
  const ode_functions f = {.rhs = function_formula(drift), .noise = function_formula(noise)};
  TRY(ensemble_open(&BACKEND_cuda, 1, &f, &plan, PATHS, &e));
  for (int64_t i = 0; i < PATHS; i++) ((double *)e.start[0])[i] = 1.0;
  TRY(ensemble_time(&e, REPEATS));
  const double rate = (double)PATHS * STEPS / e.seconds;
  measured_line(json, "Euler-Maruyama, 1e7 geometric Brownian paths of 1000 steps", rate, "steps/s",
                0.0);
  measured_line(json, "  of the arithmetic limit", rate * OPERATIONS / LIMIT, "", 0.0);
done:
  ensemble_close(&e);
  function_release(&drift);
  function_release(&noise);
  return rc;
}

static status run(const char *file, int threads) {
  status rc = STATUS_OK;
  const device_request request = {.threads = 1};
  device *d = NULL;
  device_facts facts;
  TRY(BACKEND_cuda.open(&request, &d));
  BACKEND_cuda.describe(d, &facts);
  if (file != NULL) json = fopen(file, "w");
  if (json != NULL) fprintf(json, "[{\"device\": \"%s\"}", facts.name);
  printf("%s\n", facts.name);
  TRY(bench_lorenz());
  TRY(bench_robertson(threads));
  TRY(bench_paths());
done:
  if (json != NULL) {
    fprintf(json, "]\n");
    fclose(json);
  }
  if (d != NULL) BACKEND_cuda.close(&d);
  return rc;
}

int main(int argc, char **argv) {
  status rc = comm_open(&argc, &argv, &world);
  if (rc == STATUS_OK) rc = run(argc > 1 ? argv[1] : NULL, argc > 2 ? atoi(argv[2]) : 1);
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  comm_close(&world);
  return rc;
}
