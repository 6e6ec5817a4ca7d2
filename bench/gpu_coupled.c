/* bench_gpu_coupled [FILE.json [THREADS]]: large coupled systems on one GPU.
 *
 *  - Lorenz-96 of 1e8 points, and Gray and Scott's reaction on 8192^2 points (two fields): the
 *    derivative alone, 16 bytes a component, and steps of rk4, 208 bytes a component (three states
 *    of stages of 24, the new one 64, its look 8, and four derivatives), against a copy in the same
 *    run;
 *  - n bodies, 131 072 and 10 240 of them: pairs a second of the derivative.
 *
 * Medians of REPEATS runs by the host's clock; a run of steps is one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "coupled_run.h"
#include "measured.h"

enum { REPEATS = 7, CALLS = 10 };

static FILE *json;
static comm *world;
static int threads;

/* A run that is set up. */
typedef struct setting {
  coupled_run run;
  double parameter[COUPLED_PARAMETERS];
} setting;

static status open_run(setting *x, const char *name, gidx n, double dt, int64_t steps) {
  status rc = STATUS_OK;
  const device_request request = {.threads = threads};
  coupled_run *r = &x->run;
  *x = (setting){0};
  r->kernels = &BACKEND_cuda;
  r->world = world;
  r->threads = threads;
  r->system = coupled_system_find(name);
  r->n = n;
  for (int k = 0; k < coupled_parameters(r->system); k++) {
    x->parameter[k] = r->system->parameter[k].value;
  }
  r->parameter = x->parameter;
  r->method = "rk4";
  r->plan = (ode_plan){.t_end = dt * (double)steps, .dt = dt, .max_steps = INT64_MAX};
  TRY(BACKEND_cuda.open(&request, &r->place));
  rc = coupled_open(r);
done:
  return rc;
}

static void close_run(setting *x) {
  coupled_close(&x->run);
  if (x->run.place != NULL) BACKEND_cuda.close(&x->run.place);
}

static status idle(coupled_run *r) { /* copy_out waits */
  double word;
  return r->kernels->copy_out(r->place, (hptr){&word}, r->y.data, (int64_t)sizeof word);
}

static status derivative(coupled_run *r) {
  return r->kernels->coupled->rhs(r->place, r->work, PART_ALL, 0.0, r->y, r->k[0]);
}

static status copy(coupled_run *r) { return r->kernels->copy(r->place, r->u, r->y); }

/* Seconds of a call. */
static status time_of(coupled_run *r, status (*what)(coupled_run *), double *seconds) {
  status rc = STATUS_OK;
  double t[REPEATS];
  for (int k = -1; k < REPEATS; k++) {
    TRY(idle(r));
    const double begin = comm_clock();
    for (int c = 0; c < CALLS; c++) TRY(what(r));
    TRY(idle(r));
    if (k >= 0) t[k] = (comm_clock() - begin) / CALLS;
  }
  *seconds = median_of(t, REPEATS);
done:
  return rc;
}

static status bench_near(const char *name, gidx n, double dt, int64_t steps) {
  status rc = STATUS_OK;
  enum { DERIVATIVE = 16, STEP = 208, COPY = 16 };
  setting x;
  char what[100];
  double copied, made;
  TRY(open_run(&x, name, n, dt, steps));
  coupled_run *r = &x.run;
  const double values = (double)r->space.rows;
  TRY(time_of(r, copy, &copied));
  TRY(time_of(r, derivative, &made));
  const double begin = comm_clock();
  TRY(coupled_march(r));
  const double step = (comm_clock() - begin) / (double)steps;
  snprintf(what, sizeof what, "%s, %.4g components: a copy", name, values);
  measured_line(json, what, 1e-9 * COPY * values / copied, "GB/s", 0.0);
  measured_line(json, "  the derivative", 1e-9 * DERIVATIVE * values / made, "GB/s", 0.0);
  measured_line(json, "  of the copy", copied / made * DERIVATIVE / COPY, "", 0.0);
  measured_line(json, "  rk4", 1.0 / step, "steps/s", 0.0);
  measured_line(json, "  its traffic", 1e-9 * STEP * values / step, "GB/s", 0.0);
  measured_line(json, "  of the copy", copied / step * STEP / COPY, "", 0.0);
  if (r->clock.status[0] != ODE_DONE) rc = fail(STATUS_BUG, "%s: %s", name, coupled_reason(r));
done:
  close_run(&x);
  return rc;
}

static status bench_bodies(gidx n) {
  status rc = STATUS_OK;
  setting x;
  char what[100];
  double made;
  TRY(open_run(&x, "n-body", n, 1e-3, 1));
  TRY(time_of(&x.run, derivative, &made));
  snprintf(what, sizeof what, "n-body, %lld bodies", (long long)n);
  measured_line(json, what, (double)n * (double)n / made, "pairs/s", 0.0);
done:
  close_run(&x);
  return rc;
}

static status run(const char *file) {
  status rc = STATUS_OK;
  if (file != NULL) json = fopen(file, "w");
  if (json != NULL) fprintf(json, "[{\"what\": \"coupled systems\"}");
  printf("coupled systems\n");
  TRY(bench_near("lorenz96", 100000000, 1e-3, 50));
  TRY(bench_near("reaction-diffusion", 8192, 1e-4, 50));
  TRY(bench_bodies(131072));
  TRY(bench_bodies(10240));
done:
  if (json != NULL) {
    fprintf(json, "]\n");
    fclose(json);
  }
  return rc;
}

int main(int argc, char **argv) {
  threads = argc > 2 ? atoi(argv[2]) : 1;
  status rc = comm_open(&argc, &argv, &world);
  if (rc == STATUS_OK) rc = run(argc > 1 ? argv[1] : NULL);
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  comm_close(&world);
  return rc;
}
