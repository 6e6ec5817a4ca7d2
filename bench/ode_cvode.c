/* bench_ode_cvode [TRAJECTORIES [THREADS [ROUNDS]]]: Robertson's problem for many triples of rates
 * (robertson.h: those of bench_gpu_ode) to t = 1e5, by SUNDIALS CVODE and by our rodas4, both on
 * THREADS cores of this host. JSON.
 *
 * CVODE as one would use it for this: BDF with Newton's method, the dense direct solver, the
 * Jacobian given, everything of the problem compiled for this processor; an instance a thread,
 * started again for each triple (CVodeReInit), triples dealt out as threads become free. rodas4
 * is that of the OpenMP backend, functions and derivatives compiled at run time; the GPU's results
 * have its bits. Both at rtol, and atol = 1e-4 rtol. Rounds are interleaved, medians taken.
 *
 * Errors are those of the states at the end of the first COMPARED triples against rodas4 at rtol
 * 1e-10: the largest over components and triples, in multiples of 1e-6 |y| + 1e-10. `reference_off`
 * is what CVODE at rtol 1e-12 differs from that reference, in the same unit. */
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <sundials/sundials_config.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "compiling.h"
#include "ensemble.h"
#include "robertson.h"

enum { COMPARED = 200, STEPS_MAX = 1000000 };

/* ---- CVODE ---- */

static int rates_of(sunrealtype t, N_Vector state, N_Vector slope, void *context) {
  const double *k = context, *y = N_VGetArrayPointer_Serial(state);
  double *dy = N_VGetArrayPointer_Serial(slope);
  (void)t;
  const double forth = k[0] * y[0], back = k[2] * y[1] * y[2], pair = k[1] * y[1] * y[1];
  dy[0] = back - forth;
  dy[1] = forth - pair - back;
  dy[2] = pair;
  return 0;
}

static int jacobian_of(sunrealtype t, N_Vector state, N_Vector slope, SUNMatrix out, void *context,
                       N_Vector a, N_Vector b, N_Vector c) {
  const double *k = context, *y = N_VGetArrayPointer_Serial(state);
  double *j = SUNDenseMatrix_Data(out); /* column after column */
  (void)t, (void)slope, (void)a, (void)b, (void)c;
  const double back_y = k[2] * y[2], back_z = k[2] * y[1], pair = 2.0 * k[1] * y[1];
  j[0] = -k[0], j[1] = k[0], j[2] = 0.0;
  j[3] = back_y, j[4] = -pair - back_y, j[5] = pair;
  j[6] = back_z, j[7] = -back_z, j[8] = 0.0;
  return 0;
}

typedef struct peer {
  SUNContext context;
  N_Vector y;
  SUNMatrix matrix;
  SUNLinearSolver linear;
  void *memory;
  double k[3];
} peer;

static void peer_close(peer *p) {
  if (p->memory != NULL) CVodeFree(&p->memory);
  if (p->linear != NULL) SUNLinSolFree(p->linear);
  if (p->matrix != NULL) SUNMatDestroy(p->matrix);
  if (p->y != NULL) N_VDestroy(p->y);
  if (p->context != NULL) SUNContext_Free(&p->context);
}

/* 0: made ready. */
static int peer_open(double rtol, double atol, peer *p) {
  *p = (peer){0};
  if (SUNContext_Create(NULL, &p->context) != 0) return -1;
  p->y = N_VNew_Serial(3, p->context);
  p->matrix = SUNDenseMatrix(3, 3, p->context);
  p->memory = CVodeCreate(CV_BDF, p->context);
  if (p->y == NULL || p->matrix == NULL || p->memory == NULL) return -1;
  p->linear = SUNLinSol_Dense(p->y, p->matrix, p->context);
  if (p->linear == NULL || CVodeInit(p->memory, rates_of, 0.0, p->y) != 0) return -1;
  if (CVodeSStolerances(p->memory, rtol, atol) != 0) return -1;
  if (CVodeSetLinearSolver(p->memory, p->linear, p->matrix) != 0) return -1;
  if (CVodeSetJacFn(p->memory, jacobian_of) != 0) return -1;
  if (CVodeSetUserData(p->memory, p->k) != 0) return -1;
  return CVodeSetMaxNumSteps(p->memory, STEPS_MAX);
}

/* Triple i of count: its state at the end to end[component][count], *steps: how many. 0: there. */
static int peer_solve(peer *p, int64_t i, int64_t count, const double *start, const double *rates,
                      double *end, long *steps) {
  double *y = N_VGetArrayPointer_Serial(p->y), t;
  for (int c = 0; c < 3; c++) {
    y[c] = start[c * count + i];
    p->k[c] = rates[c * count + i];
  }
  if (CVodeReInit(p->memory, 0.0, p->y) != 0) return -1;
  if (CVode(p->memory, ROBERTSON_END, p->y, &t, CV_NORMAL) != CV_SUCCESS) return -1;
  for (int c = 0; c < 3; c++) end[c * count + i] = y[c];
  return CVodeGetNumSteps(p->memory, steps);
}

/* All of them. *steps: of a triple, on average. */
static status peer_run(int threads, double rtol, double atol, const ensemble *e, double *end,
                       double *seconds, double *steps) {
  const double *start = e->start[0], *rates = e->start[1];
  const int64_t count = e->s.count;
  int64_t failures = 0, sum = 0;
  const double begin = comm_clock();
#pragma omp parallel num_threads(threads) reduction(+ : failures, sum)
  {
    peer p;
    long made = 0;
    const int ready = peer_open(rtol, atol, &p) == 0;
#pragma omp for schedule(dynamic, 8)
    for (int64_t i = 0; i < count; i++) {
      if (!ready || peer_solve(&p, i, count, start, rates, end, &made) != 0) {
        failures++;
      } else {
        sum += made;
      }
    }
    peer_close(&p);
  }
  *seconds = comm_clock() - begin;
  *steps = (double)sum / (double)count;
  if (failures == 0) return STATUS_OK;
  return fail(STATUS_BUG, "CVODE failed for %lld triples", (long long)failures);
}

/* ---- both ---- */

typedef struct bench {
  ode_functions f;
  int64_t count;
  int threads, rounds;
  double *reference; /* [component][COMPARED] */
} bench;

/* The largest difference of the first triples of end[component][count] from the reference. */
static double error_of(const bench *b, const double *end, int64_t count) {
  double worst = 0.0;
  for (int c = 0; c < 3; c++) {
    for (int64_t i = 0; i < COMPARED; i++) {
      const double exact = b->reference[c * COMPARED + i];
      worst = fmax(worst, fabs(end[c * count + i] - exact) / fma(1e-6, fabs(exact), 1e-10));
    }
  }
  return worst;
}

/* rodas4 at rtol 1e-10, and what CVODE makes of it at 1e-12. */
static status make_reference(bench *b, double *off) {
  status rc = STATUS_OK;
  const ode_plan plan = robertson_plan(1e-10, 1e-14);
  ensemble e = {0};
  double *end = NULL, seconds, steps;
  TRY(alloc_array(&end, 3 * COMPARED, sizeof *end, "states"));
  TRY(ensemble_open(&BACKEND_omp, b->threads, &b->f, &plan, COMPARED, &e));
  robertson_start(COMPARED, e.start[0], e.start[1]);
  TRY(ensemble_run(&e, &seconds));
  TRY(ensemble_look(&e));
  TRY(e.b->copy_out(e.d, (hptr){b->reference}, e.s.y, 8 * 3 * COMPARED));
  TRY(peer_run(b->threads, 1e-12, 1e-16, &e, end, &seconds, &steps));
  *off = error_of(b, end, COMPARED);
done:
  ensemble_close(&e);
  alloc_free(&end);
  return rc;
}

static status compare(bench *b, double rtol, const char *comma) {
  status rc = STATUS_OK;
  const ode_plan plan = robertson_plan(rtol, 1e-4 * rtol);
  ensemble e = {0};
  double *end = NULL, ours[ENSEMBLE_REPEATS], theirs[ENSEMBLE_REPEATS], steps = 0.0;
  TRY(alloc_array(&end, 3 * b->count, sizeof *end, "states"));
  TRY(ensemble_open(&BACKEND_omp, b->threads, &b->f, &plan, b->count, &e));
  robertson_start(b->count, e.start[0], e.start[1]);
  for (int r = 0; r < b->rounds; r++) {
    TRY(peer_run(b->threads, rtol, 1e-4 * rtol, &e, end, &theirs[r], &steps));
    TRY(ensemble_run(&e, &ours[r]));
  }
  const double cvode = (double)b->count / median_of(theirs, b->rounds);
  const double rodas4 = (double)b->count / median_of(ours, b->rounds);
  printf("%s  {\"rtol\": %g, \"cvode_per_second\": %.6g, \"cvode_steps\": %.1f, ", comma, rtol,
         cvode, steps);
  printf("\"cvode_error\": %.3g,\n", error_of(b, end, b->count));
  TRY(ensemble_look(&e));
  TRY(e.b->copy_out(e.d, (hptr){end}, e.s.y, 8 * 3 * b->count));
  printf("   \"rodas4_per_second\": %.6g, \"rodas4_attempts\": %.1f, ", rodas4, e.attempts);
  printf("\"rodas4_error\": %.3g, \"rodas4_over_cvode\": %.3f}", error_of(b, end, b->count),
         rodas4 / cvode);
done:
  ensemble_close(&e);
  alloc_free(&end);
  return rc;
}

static status run(comm *c, compiler *with, bench *b) {
  status rc = STATUS_OK;
  static const double rtol[] = {1e-6, 1e-7, 1e-8};
  robertson r;
  double off = 0.0;
  TRY(robertson_make(c, with, &r));
  b->f = r.f;
  TRY(alloc_array(&b->reference, 3 * COMPARED, sizeof(double), "reference"));
  TRY(make_reference(b, &off));
  printf("{\"what\": \"Robertson to t = 1e5\", \"sundials\": \"%s\", \"trajectories\": %lld, ",
         SUNDIALS_VERSION, (long long)b->count);
  printf("\"threads\": %d, \"rounds\": %d, \"reference_off\": %.3g, \"tolerances\": [\n",
         b->threads, b->rounds, off);
  for (int i = 0; i < 3; i++) TRY(compare(b, rtol[i], i > 0 ? ",\n" : ""));
  printf("]}\n");
done:
  alloc_free(&b->reference);
  robertson_release(&r);
  return rc;
}

int main(int argc, char **argv) {
  comm *c = NULL;
  compiler *with = NULL;
  bench b = {.count = argc > 1 ? atoll(argv[1]) : 20000,
             .threads = argc > 2 ? atoi(argv[2]) : 1,
             .rounds = argc > 3 ? atoi(argv[3]) : 3};
  if (b.count < COMPARED || b.threads < 1 || b.rounds < 1 || b.rounds > ENSEMBLE_REPEATS) return 2;
  status rc = start_compiler(&with);
  if (rc == STATUS_OK) rc = comm_open(&argc, &argv, &c);
  if (rc == STATUS_OK) compiler_settle(with, c);
  if (rc == STATUS_OK) rc = run(c, with, &b);
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  compiler_close(&with);
  comm_close(&c);
  return rc;
}
