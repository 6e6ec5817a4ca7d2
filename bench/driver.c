/* bench_driver [THREADS [N]]: a CG iteration on poisson3d N^3 (128) as its passes alone, and as the
 * driver of `solve` makes it; and what a run of it costs besides iterations. One process, the same
 * matrix, the two by turns; a machine that is busy is busy for both.
 *
 * A run of k iterations takes fresh + once + k * each. `each` is the difference of runs of two
 * lengths. `fresh` is making the vectors that the method adds (r, p, q), pages nobody has touched:
 * set-up in the report's phases. `once` is the rest: scale and norms at the start (|A||x| costs a
 * second product), the true residual at the end. Runs are short on purpose: one of 30 iterations
 * divided by 30 is not the time of an iteration. */
#include <stdio.h>

#include "linear.h"
#include "measured.h"
#include "ownership.h"
#include "solve_rules.h"
#include "stencil.h"

enum { ROUNDS = 15, SHORT = 5, LONG = 35, PASSES = 30 };

typedef struct setting {
  linear_system s;
  solve_run run;
  timers timers;
  vec v[3]; /* r, p, q of the passes alone */
  dptr state;
} setting;

static status open_system(comm *world, int threads, lidx n, setting *w) {
  status rc = STATUS_OK;
  const stencil problem = {"poisson3d", n, n, n, 0, 0};
  const device_request request = {.threads = threads};
  linear_system *s = &w->s;
  ownership owned = {0};
  csr_block a = {0};
  *s = (linear_system){.kernels = &BACKEND_omp,
                       .world = world,
                       .global_rows = n * n * n,
                       .rows = n * n * n,
                       .timers = &w->timers};
  TRY(stencil_matrix(&problem, &a));
  TRY(ownership_even(world, s->rows, &owned));
  TRY(halo_create(world, &owned, NULL, 0, &s->plan));
  TRY(s->kernels->open(&request, &s->place));
  TRY(s->kernels->solve->matrix_create(s->place, &a, FORMAT_AUTO, &s->a));
  TRY(linear_vector(s, "x", &w->run.x));
  TRY(linear_vector(s, "b", &w->run.b));
  TRY(linear_vector(s, "weights", &w->run.inverse_diagonal));
  for (int i = 0; i < 3; i++) TRY(linear_vector(s, "vector", &w->v[i]));
  TRY(s->kernels->alloc(s->place, sizeof(solve_state), "state", &w->state));
  TRY(s->kernels->fill(s->place, w->run.b, 1.0));
  TRY(s->kernels->fill(s->place, w->run.inverse_diagonal, 1.0 / 6.0));
  w->run.system = s;
  w->run.limits = (solve_limits){.rtol = 1e-8, .divergence = 1e5, .fixed_count = 1};
done:
  csr_block_release(&a);
  ownership_release(&owned);
  return rc;
}

static void close_system(setting *w) {
  linear_system *s = &w->s;
  linear_vector_release(s, &w->run.x);
  linear_vector_release(s, &w->run.b);
  linear_vector_release(s, &w->run.inverse_diagonal);
  for (int i = 0; i < 3; i++) linear_vector_release(s, &w->v[i]);
  s->kernels->release(s->place, &w->state);
  s->kernels->solve->matrix_release(s->place, &s->a);
  halo_release(&s->plan);
  s->kernels->close(&s->place);
}

/* Seconds an iteration of the passes alone. */
static status time_passes(setting *w, double *out) {
  status rc = STATUS_OK;
  linear_system *s = &w->s;
  const solve_backend *k = s->kernels->solve;
  const vec r = w->v[0], p = w->v[1], q = w->v[2], inverse = w->run.inverse_diagonal;
  solve_state start = {.scale = 1.0, .limit = 1e300, .target = -1.0, .rho = 1.0, .pending = 1};
  TRY(s->kernels->fill(s->place, w->run.x, 0.0));
  TRY(s->kernels->fill(s->place, p, 0.0));
  TRY(s->kernels->copy(s->place, r, w->run.b));
  TRY(s->kernels->copy_in(s->place, w->state, (hptr){&start}, sizeof start));
  const double began = comm_clock();
  for (int i = 0; i < PASSES; i++) {
    TRY(k->cg_direction(s->place, r, inverse, p, w->run.x, w->state));
    TRY(k->cg_product(s->place, s->a, PART_ALL, p, q, w->state));
    TRY(k->judge(s->place, s->world, JUDGE_CG_PRODUCT, w->state, 0));
    TRY(k->cg_residual(s->place, q, inverse, r, w->state));
    TRY(k->judge(s->place, s->world, JUDGE_CG_RESIDUAL, w->state, 0));
  }
  *out = (comm_clock() - began) / PASSES;
done:
  return rc;
}

/* A run of `count` iterations from x = 0: seconds of its set-up, and of the rest. */
static status time_run(setting *w, int count, double *fresh, double *rest) {
  status rc = STATUS_OK;
  linear_system *s = &w->s;
  TRY(s->kernels->fill(s->place, w->run.x, 0.0));
  w->run.limits.max_iterations = count;
  timers_start(&w->timers);
  timers_switch(&w->timers, PHASE_COMPUTE);
  const double began = comm_clock();
  TRY(solver_find("cg")->run(&w->run));
  const double all = comm_clock() - began;
  timers_switch(&w->timers, PHASE_WRITE);
  *fresh = w->timers.seconds[PHASE_SETUP];
  *rest = all - *fresh;
  if (w->run.iterations != count) rc = fail(STATUS_BUG, "another count of iterations");
done:
  return rc;
}

static void print(const char *what, double *seconds) {
  const double middle = median_of(seconds, ROUNDS);
  printf("  %-34s median %8.3f ms   least %8.3f ms\n", what, middle * 1e3, seconds[0] * 1e3);
}

int main(int argc, char **argv) {
  status rc = STATUS_OK;
  comm *world = NULL;
  setting w = {0};
  enum { ALONE, EACH, FRESH, ONCE, KINDS };
  double t[KINDS][ROUNDS];
  TRY(comm_open(&argc, &argv, &world));
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  const lidx n = argc > 2 ? (lidx)atoi(argv[2]) : 128;
  TRY(open_system(world, threads, n, &w));
  for (int i = 0; i < ROUNDS; i++) {
    double fresh, few, many;
    TRY(time_passes(&w, &t[ALONE][i]));
    TRY(time_run(&w, SHORT, &t[FRESH][i], &few));
    TRY(time_run(&w, LONG, &fresh, &many));
    t[EACH][i] = (many - few) / (LONG - SHORT);
    t[ONCE][i] = few - SHORT * t[EACH][i];
  }
  printf("cg on poisson3d %d^3, %d thread%s, %d rounds\n", (int)n, threads, threads == 1 ? "" : "s",
         ROUNDS);
  print("passes alone, an iteration", t[ALONE]);
  print("in the driver, an iteration", t[EACH]);
  print("once a run: fresh vectors", t[FRESH]);
  print("once a run: start and end", t[ONCE]);
done:
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  close_system(&w);
  comm_close(&world);
  return rc;
}
