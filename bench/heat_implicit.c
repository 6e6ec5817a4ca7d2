/* bench_heat_implicit [THREADS [N [M]]]: what implicit steps of the heat equation cost.
 *
 *   step     one backward-Euler step of dt = 1e-6 on N x N (2000) points with a jump of 1000 : 1 in
 *            the conductivity (16000 times the longest step of ftcs), by multigrid CG and by plain
 *            CG, to 1e-10
 *   cg       the plain one's time per cell and iteration, on average and the fastest of 50 pairs of
 *            iterations, and the fastest triad of the same run; TeaLeaf takes 4.85 ns where the
 *            triad gives 14.5 GB/s on one core
 *   schemes  M x M (1024) points, sin(pi x) sin(pi y), to t = 0.1 within 1e-4 of what is left: ftcs
 *            (its rate measured over some steps, times the steps it needs), rkl2, tr-bdf2
 *
 * One thread is timed by its own (CPU) time, several by the wall's. JSON on stdout, with the
 * machine's load before and after. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "expression.h"
#include "implicit.h"

typedef struct setting {
  heat_problem problem;
  heat_run run;
  expression *tree[2];
  formula f[2];
} setting;

static void batch(const void *context, int64_t n, const formula_input *in, double *const *out) {
  expression_values(context, n, in, out[0]);
}

static status make_value(setting *s, int i, const char *text, heat_value *v) {
  static const char *const names[] = {"x", "y", "t", NULL};
  status rc = STATUS_OK;
  TRY(expression_parse(text, names, &s->tree[i]));
  s->f[i] =
      (formula){.inputs = 3, .outputs = 1, .batch = batch, .context = s->tree[i], .kind = "bench"};
  *v = (heat_value){.f = &s->f[i], .dims = 2, .timed = 1, .in_space = 1, .number = 1.0};
done:
  return rc;
}

static status open_setting(setting *s, comm *world, int threads, int64_t n, const char *alpha,
                           const char *initial, const char *scheme) {
  status rc = STATUS_OK;
  const device_request request = {.threads = threads};
  heat_problem *p = &s->problem;
  memset(s, 0, sizeof *s);
  p->grid = (heat_grid){.dims = 2, .n = {n, n, 1}};
  p->alpha = (heat_value){.number = 1.0, .dims = 2};
  p->source = (heat_value){.dims = 2};
  for (int d = 0; d < 2; d++) p->grid.spacing[d] = 1.0 / (double)(n - 1);
  for (int f = 0; f < 4; f++) {
    p->grid.face[f] = HEAT_HELD;
    p->face[f] = (heat_boundary){.kind = BOUNDARY_DIRICHLET, .value = {.dims = 2}};
  }
  TRY(make_value(s, 0, initial, &p->initial));
  if (alpha != NULL) TRY(make_value(s, 1, alpha, &p->alpha));
  s->run.kernels = &BACKEND_omp;
  s->run.world = world;
  s->run.threads = threads;
  s->run.problem = p;
  s->run.t_end = NAN;
  TRY(BACKEND_omp.open(&request, &s->run.place));
  TRY(heat_open(&s->run, 1));
  TRY(heat_open_scheme(&s->run, heat_scheme_find(scheme)));
done:
  return rc;
}

static void close_setting(setting *s) {
  heat_close(&s->run);
  BACKEND_omp.close(&s->run.place);
  for (int i = 0; i < 2; i++) expression_release(&s->tree[i]);
}

/* Of one thread its own time, which neighbours on the machine leave alone. */
static double now(int threads) {
  return threads == 1 ? (double)clock() / CLOCKS_PER_SEC : comm_clock();
}

static void print_load(const char *name) {
  char text[64] = "";
  FILE *f = fopen("/proc/loadavg", "r");
  if (f != NULL && fgets(text, sizeof text, f) != NULL) text[strcspn(text, " ")] = '\0';
  if (f != NULL) fclose(f);
  printf("  \"%s\": %s,\n", name, text[0] == '\0' ? "null" : text);
}

/* The fastest of some passes a[i] = b[i] + s c[i] over three fields of the backend. GB/s. */
static status measure_triad(setting *s, double *out) {
  status rc = STATUS_OK;
  heat_implicit *m = s->run.implicit;
  heat_stratum *finest = &m->grid.level[0];
  const double bytes = 24.0 * (double)heat_owned(&s->run.slab);
  *out = 0.0;
  for (int i = 0; i < 8; i++) {
    const double began = now(s->run.threads);
    TRY(BACKEND_omp.heat->levels->combine(s->run.place, finest->level, 3.0, m->p, 1.0, m->y, 0.0,
                                          finest->q));
    *out = fmax(*out, bytes / (now(s->run.threads) - began) / 1e9);
  }
done:
  return rc;
}

/* The fastest of some iterations of plain CG, x being touched in every second; seconds. */
static status measure_descent(setting *s, double *out) {
  status rc = STATUS_OK;
  heat_implicit *m = s->run.implicit;
  heat_stratum *finest = &m->grid.level[0];
  const heat_field none = {{NULL}};
  const heat_descent d = {m->grid.mass, m->grid.scale, 1e-9, 0.9, 1e-9, -1e-9};
  const heat_level_backend *b = BACKEND_omp.heat->levels;
  double sum[3];
  *out = INFINITY;
  TRY(b->combine(s->run.place, finest->level, 1.0, s->run.u, 0.0, none, 0.0, m->p));
  TRY(b->combine(s->run.place, finest->level, 1.0, s->run.u, 0.0, none, 0.0, finest->r));
  for (int i = 0; i < 50; i++) {
    const double began = now(s->run.threads);
    for (int k = 0; k < 2; k++) {
      TRY(b->descend(s->run.place, finest->level, &d, m->p, k == 0 ? none : m->x, finest->r, 0,
                     s->run.slab.planes));
      TRY(BACKEND_omp.sums(s->run.place, s->run.world, 3, NULL, sum));
    }
    *out = fmin(*out, 0.5 * (now(s->run.threads) - began));
  }
done:
  return rc;
}

static status measure_step(comm *world, int threads, int64_t n) {
  status rc = STATUS_OK;
  double seconds[2], triad = 0.0, each = 0.0, fastest = 0.0;
  int iterations[2];
  for (int plain = 0; plain < 2; plain++) {
    setting s;
    TRY(open_setting(&s, world, threads, n, "(x-0.43)^2+(y-0.57)^2 < 0.06 ? 1000 : 1",
                     "sin(3*pi*x)*sin(pi*y)", "backward-euler"));
    s.run.dt = 1e-6;
    s.run.last = 1;
    s.run.plain = plain;
    if (plain) TRY(measure_triad(&s, &triad));
    const double began = now(s.run.threads);
    TRY(heat_march(&s.run));
    seconds[plain] = now(s.run.threads) - began;
    iterations[plain] = s.run.implicit->iterations;
    if (plain) TRY(measure_descent(&s, &fastest));
    if (s.run.reason != HEAT_DONE) rc = fail(STATUS_STOPPED, "a solve did not converge");
    close_setting(&s);
    TRY(rc);
  }
  const double peer = 4.85 * 14.5 * (threads > 1 ? 28.4 / 14.5 * 2.26 / 4.85 : 1.0) / triad;
  each = 1e9 * seconds[1] / iterations[1] / ((double)n * (double)n);
  fastest *= 1e9 / ((double)n * (double)n);
  printf(
      "  \"step\": {\"points\": %lld, \"multigrid_seconds\": %.4g, \"multigrid_iterations\": %d, "
      "\"plain_seconds\": %.4g, \"plain_iterations\": %d, \"times_faster\": %.3g},\n",
      (long long)(n * n), seconds[0], iterations[0], seconds[1], iterations[1],
      seconds[1] / seconds[0]);
  printf("  \"cg\": {\"ns_per_cell_and_iteration\": %.3f, \"fastest\": %.3f, "
         "\"triad_gbytes_per_second\": %.2f, \"of_tealeaf_scaled_by_triad\": %.3f, "
         "\"fastest_of_it\": %.3f},\n",
         each, fastest, triad, each / peer, fastest / peer);
  fflush(stdout);
done:
  return rc;
}

static status run_scheme(comm *world, int threads, int64_t m, const char *scheme, double rtol,
                         double dt, int64_t steps, double *seconds, double *error, int64_t *made) {
  status rc = STATUS_OK;
  const double exact = exp(-2.0 * 9.8696044010893586 * 0.1);
  heat_totals top;
  setting s;
  TRY(open_setting(&s, world, threads, m, NULL, "sin(pi*x)*sin(pi*y)", scheme));
  s.run.dt = dt > 0.0 ? dt : 1.8 / s.run.lambda;
  s.run.rtol = rtol;
  s.run.atol = rtol * 1e-2;
  s.run.last = steps;
  if (steps == 0) s.run.t_end = 0.1;
  heat_plan_steps(&s.run);
  const double began = now(s.run.threads);
  TRY(heat_march(&s.run));
  *seconds = now(s.run.threads) - began;
  *made = s.run.step;
  if (steps > 0) { /* times the steps to the end */
    *seconds *= ceil(0.1 / s.run.dt) / (double)steps;
    *made = (int64_t)ceil(0.1 / s.run.dt);
  }
  TRY(heat_totals_of(&s.run, s.run.u, &top));
  *error = steps > 0 ? NAN : fabs(top.maximum / exact - 1.0);
  close_setting(&s);
done:
  return rc;
}

static status measure_schemes(comm *world, int threads, int64_t m) {
  status rc = STATUS_OK;
  static const struct {
    const char *name;
    double rtol, dt;
    int64_t steps;
  } all[] = {{"ftcs", 0.0, 0.0, 200}, {"rkl2", 0.0, 0.00125, 0}, {"tr-bdf2", 1.5e-5, 0.001, 0}};
  double first = 0.0, seconds, error;
  int64_t made;
  printf("  \"schemes\": {\"points\": %lld", (long long)(m * m));
  for (int i = 0; i < 3; i++) {
    TRY(run_scheme(world, threads, m, all[i].name, all[i].rtol, all[i].dt, all[i].steps, &seconds,
                   &error, &made));
    if (i == 0) first = seconds;
    printf(",\n    \"%s\": {\"seconds\": %.4g, \"steps\": %lld", all[i].name, seconds,
           (long long)made);
    if (i > 0) printf(", \"error\": %.3g, \"times_faster\": %.3g", error, first / seconds);
    printf("}");
  }
  printf("},\n");
done:
  return rc;
}

int main(int argc, char **argv) {
  status rc = STATUS_OK;
  comm *world = NULL;
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  TRY(comm_open(&argc, &argv, &world));
  printf("{\n  \"benchmark\": \"heat_implicit\", \"threads\": %d, \"clock\": \"%s\",\n", threads,
         threads == 1 ? "cpu" : "wall");
  print_load("load_before");
  TRY(measure_step(world, threads, argc > 2 ? atoi(argv[2]) : 2000));
  TRY(measure_schemes(world, threads, argc > 3 ? atoi(argv[3]) : 1024));
  print_load("load_after");
  printf("  \"done\": true\n}\n");
done:
  rc = comm_agree(world, rc);
  comm_close(&world);
  return rc;
}
