/* bench_gpu_heat_implicit [FILE.json [THREADS]]: steps of the implicit heat schemes on one GPU and
 * on THREADS threads of its host (omp; 0: not there), fixed dt, a conductivity that varies and a
 * constant one; and over sizes, to see from where on the GPU wins.
 *
 * Bytes an iteration of CG moves, by the operations' budgets (cuda/heat_level.cu): in 2-D with
 * variable alpha a V-cycle of three smoothing steps on each side 32 + 40 + 48 + 40 + 26 + 34 + 3 x
 * 48 on the finest level, 4/3 of that in all, and CG itself 104; with constant alpha 16 + 24 + 32 +
 * 24 + 10 + 18 + 3 x 32 and 88; in 3-D 8/7 and 8 bytes more a use of the third face. Printed beside
 * the copy rate of the same run. Times are the host's clock over STEPS steps after WARM ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "implicit.h"

enum { WARM = 2, STEPS = 6, SOLVES = 50 };

typedef struct testcase {
  const char *scheme;
  int dims, varies;
  int64_t n;
  int on_host; /* omp too */
} testcase;

static const testcase CASES[] = {
    {"backward-euler", 2, 1, 2048, 1}, {"backward-euler", 2, 0, 2048, 1},
    {"tr-bdf2", 2, 1, 2048, 1},        {"tr-bdf2", 2, 0, 2048, 1},
    {"backward-euler", 3, 1, 192, 1},  {"backward-euler", 3, 0, 192, 1},
    {"tr-bdf2", 3, 0, 192, 1},         {"backward-euler", 2, 1, 4096, 0},
    {"backward-euler", 2, 1, 256, 1},  {"backward-euler", 2, 1, 512, 1},
    {"backward-euler", 2, 1, 1024, 1},
};

/* A field of the grid's points, by planes. */
typedef struct planes {
  const heat_grid *g;
  int varies; /* a disc that conducts a hundred times better; else a bump */
} planes;

static status fill(void *context, int64_t first, int64_t count, double *values) {
  const planes *p = context;
  const heat_grid *g = p->g;
  const int last = g->dims - 1;
  const int64_t plane = last == 2 ? g->n[0] * g->n[1] : g->n[0];
  for (int64_t i = 0; i < count * plane; i++) {
    double square = 0.0;
    int64_t j[HEAT_DIMS] = {i % g->n[0], i / g->n[0] % g->n[1], 0};
    j[last] = first + i / plane;
    for (int d = 0; d <= last; d++) {
      const double x = heat_at(g, d, j[d]) - 0.43;
      square += x * x;
    }
    values[i] = p->varies ? (square < 0.06 ? 100.0 : 1.0) : exp(-20.0 * square);
  }
  return STATUS_OK;
}

typedef struct setting {
  heat_problem problem;
  heat_run run;
  planes alpha, initial;
} setting;

static void make_problem(setting *s, const testcase *c) {
  heat_problem *p = &s->problem;
  p->grid = (heat_grid){.dims = c->dims, .n = {1, 1, 1}};
  for (int d = 0; d < c->dims; d++) {
    p->grid.n[d] = c->n;
    p->grid.spacing[d] = 1.0 / (double)(c->n - 1);
  }
  for (int f = 0; f < 2 * c->dims; f++) {
    p->grid.face[f] = f < 2 ? HEAT_HELD : HEAT_FLUX;
    p->face[f].kind = f < 2 ? BOUNDARY_INITIAL : BOUNDARY_NEUMANN;
  }
  s->alpha = (planes){&p->grid, 1};
  s->initial = (planes){&p->grid, 0};
  p->alpha.number = 1.0;
  if (c->varies) p->alpha_from = (heat_reader){fill, &s->alpha};
  p->initial_from = (heat_reader){fill, &s->initial};
}

typedef struct result {
  double seconds, iterations, launches; /* of a step */
  double coarsest;                      /* seconds of the coarsest grid's solve, through the host */
  double heat;                          /* to see that both are one answer */
} result;

static status measure(const backend *b, comm *world, int threads, const testcase *c, result *out) {
  status rc = STATUS_OK;
  const device_request request = {.threads = threads};
  static setting s;
  heat_totals totals;
  memset(&s, 0, sizeof s);
  make_problem(&s, c);
  heat_run *run = &s.run;
  run->kernels = b;
  run->world = world;
  run->threads = threads > 0 ? threads : 1;
  run->problem = &s.problem;
  run->t_end = NAN;
  run->dt = 1e-4;
  TRY(b->open(&request, &run->place));
  TRY(heat_open(run, 0));
  TRY(heat_open_scheme(run, heat_scheme_find(c->scheme)));
  run->last = WARM;
  TRY(heat_march(run));
  run->last = WARM + STEPS;
  const int64_t before = run->implicit->all_iterations;
  const double began = comm_clock();
  TRY(heat_march(run));
  out->seconds = (comm_clock() - began) / STEPS;
  out->iterations = (double)(run->implicit->all_iterations - before) / STEPS;
  out->launches = (double)run->launches / STEPS;
  TRY(heat_totals_of(run, run->u, &totals));
  out->heat = totals.heat;
  if (run->reason != HEAT_DONE) rc = fail(STATUS_STOPPED, "a solve did not converge");
  const double coarsest = comm_clock();
  for (int i = 0; i < SOLVES; i++) TRY(heat_dense_solve(run, &run->implicit->grid));
  out->coarsest = (comm_clock() - coarsest) / SOLVES;
  if (rc == STATUS_OK) rc = run->failure;
done:
  heat_close(run);
  if (run->place != NULL) b->close(&run->place);
  return rc;
}

/* Bytes a point and iteration, as above. */
static double budget(const testcase *c) {
  const double third = c->dims == 3 && c->varies ? 8.0 : 0.0,
               coarse = c->dims == 3 ? 8.0 / 7.0 : 4.0 / 3.0;
  const double cycle =
      c->varies ? 32 + 40 + 48 + 40 + 26 + 34 + 3 * 48 : 16 + 24 + 32 + 24 + 10 + 18 + 3 * 32;
  return coarse * (cycle + 9.0 * third) + (c->varies ? 104.0 : 88.0) + third;
}

static status run_case(comm *world, int threads, const testcase *c, FILE *json, const char *comma) {
  status rc = STATUS_OK;
  result gpu, cpu = {.seconds = NAN};
  TRY(measure(&BACKEND_cuda, world, threads, c, &gpu));
  if (c->on_host && threads > 0) {
    TRY(measure(&BACKEND_omp, world, threads, c, &cpu));
    if (cpu.heat != gpu.heat || cpu.iterations != gpu.iterations) {
      rc = fail(STATUS_BUG, "cuda and omp differ");
    }
    TRY(rc);
  }
  const double points = pow((double)c->n, c->dims);
  const double rate = 1e-9 * budget(c) * points * gpu.iterations / gpu.seconds;
  printf("%-15s %dD n %5lld alpha %-8s gpu %8.3f ms a step, %4.1f iterations, %5.0f launches, "
         "coarsest %5.1f us, %5.0f GB/s by budget; omp %d threads %8.3f ms, %5.1f times\n",
         c->scheme, c->dims, (long long)c->n, c->varies ? "varies" : "constant", 1e3 * gpu.seconds,
         gpu.iterations, gpu.launches, 1e6 * gpu.coarsest, rate, threads, 1e3 * cpu.seconds,
         cpu.seconds / gpu.seconds);
  fflush(stdout);
  fprintf(json,
          "%s\n  {\"scheme\": \"%s\", \"dims\": %d, \"n\": %lld, \"variable\": %d, "
          "\"gpu_ms\": %.4f, \"iterations\": %.2f, \"launches\": %.0f, \"coarsest_us\": %.1f, "
          "\"budget_gb_per_s\": %.0f, \"omp_ms\": ",
          comma, c->scheme, c->dims, (long long)c->n, c->varies, 1e3 * gpu.seconds, gpu.iterations,
          gpu.launches, 1e6 * gpu.coarsest, rate);
  if (isfinite(cpu.seconds)) {
    fprintf(json, "%.4f}", 1e3 * cpu.seconds);
  } else {
    fprintf(json, "null}");
  }
done:
  return rc;
}

int main(int argc, char **argv) {
  status rc = STATUS_OK;
  comm *world = NULL;
  FILE *json = NULL;
  const int threads = argc > 2 ? atoi(argv[2]) : 1;
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  json = fopen(argc > 1 ? argv[1] : "/dev/null", "w");
  if (json == NULL) rc = fail(STATUS_INPUT, "cannot write %s", argv[1]);
  TRY(rc);
  fprintf(json, "{\"threads\": %d, \"steps\": [", threads);
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    TRY(run_case(world, threads, &CASES[i], json, i == 0 ? "" : ","));
  }
  fprintf(json, "]}\n");
done:
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  if (json != NULL && fclose(json) != 0) rc = STATUS_BROKEN;
  comm_close(&world);
  return (int)rc;
}
