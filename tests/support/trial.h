/* One run of a solver on a problem and a backend, and the comparison of two. A test program opens
 * `world`. */
#ifndef TRIAL_H
#define TRIAL_H

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "history.h"
#include "linear.h"
#include "matrix_io.h"
#include "preconditioner.h"
#include "problems.h"
#include "solver.h"
#include "survey.h"
#include "test.h"
#include "transport.h"

static comm *world;
static int trial_mark; /* in names of files: set where several worlds are beside each other */

typedef struct trial {
  const char *problem;
  int64_t n;
  const char *file; /* a matrix file instead; NULL: the problem */
  const solver *method;
  solve_limits limits;
  double omega;
  int adapts;    /* omega = auto, where the method finds it on the way */
  int symmetric; /* it may be taken to be so */
  int preconditioned;
  const preconditioner *preconditioner; /* NULL: jacobi */
  int64_t mixed;                        /* precision = mixed, corrected so often; 0: double */
  double rhs_scale;                     /* b = A x, x_i = rhs_scale (1 + (i mod 10) / 10) */
  const char *transport;                /* NULL: host */
  matrix_format format;
} trial;

typedef struct outcome {
  status failure; /* this rank's own */
  solve_reason reason;
  int64_t iterations;
  double relative_residual, recursive_residual;
  int restarts;
  int64_t corrections;
  double omega; /* that the method ended with */
  lidx rows;
  gidx first_row;
  double *x;
  char history[1 << 16];
} outcome;

/* The n-th method of our own: what a package does has other bits, and no iterates. */
static inline const solver *method_at(int n) {
  for (int i = 0; solver_at(i) != NULL; i++) {
    if (!(solver_at(i)->flags & SOLVER_BY_A_PACKAGE) && n-- == 0) return solver_at(i);
  }
  return NULL;
}

static void read_history(const char *path, char *out, size_t room) {
  FILE *file = fopen(path, "r");
  out[0] = '\0';
  if (file == NULL) return;
  out[fread(out, 1, room - 1, file)] = '\0';
  fclose(file);
  remove(path);
}

/* Runs it on a backend; out->x is to be freed. Collective. */
static void run_trial(const trial *t, const backend *kernels, int threads, outcome *out) {
  const problem_request request = {.name = t->problem,
                                   .n = &t->n,
                                   .n_count = 1,
                                   .peclet = 1.0,
                                   .entries_per_row = 6,
                                   .seed = 3,
                                   .threads = threads};
  csr_rows a;
  csr_block block;
  ownership owned;
  linear_system s = {.kernels = kernels, .world = world};
  solve_run run = {.system = &s,
                   .limits = t->limits,
                   .gmres_restart = 30,
                   .mixed = {.on = t->mixed > 0, .correct_every = t->mixed}};
  char path[64];
  if (t->file != NULL) {
    matrix_file facts;
    double *rhs;
    assert_ok(matrix_read(world, t->file, threads, &a, &owned, &facts, &rhs));
    alloc_free(&rhs);
  } else {
    assert_ok(problem_build(world, &request, &a, &owned));
  }
  const device_request where = {.threads = threads};
  assert_ok(kernels->open(&where, &s.place));
  s.rows = a.rows;
  s.first_row = a.first_row;
  s.global_rows = owned.rows;
  double *diagonal;
  assert_ok(alloc_array(&diagonal, a.rows, sizeof *diagonal, "diagonal"));
  survey_diagonal(threads, &a, diagonal);
  assert_ok(csr_localise(threads, &a, &block));
  s.ghosts = block.ghosts;
  assert_ok(halo_create(world, &owned, block.ghost, block.ghosts, &s.plan));
  const transport_side side = linear_side(&s);
  if (t->transport != NULL) {
    transport_choice chosen;
    assert_ok(transport_choose(&side, t->transport, 1, &chosen));
    assert_string_equal(chosen.name, comm_size(world) > 1 ? t->transport : "none");
  }
  assert_ok(kernels->solve->matrix_create(s.place, &block, t->format, &s.a));
  assert_ok(linear_vector(&s, "x", &run.x));
  assert_ok(linear_vector(&s, "b", &run.b));
  preconditioning made = {NULL, NULL};
  const preconditioner_request asked = {.a = &block,
                                        .owned = &owned,
                                        .diagonal = diagonal,
                                        .symmetric = t->symmetric,
                                        .threads = threads,
                                        .seed = 3,
                                        .degree = 4};
  run.rows = &asked;
  run.omega = t->adapts ? 0.0 : t->omega;
  if (t->preconditioned && t->method->flags & SOLVER_TAKES_PRECONDITIONER) {
    const preconditioner *kind = t->preconditioner;
    if (kind == NULL) kind = preconditioner_find("jacobi");
    assert_ok(preconditioning_open(&s, kind, &asked, &made));
    run.preconditioning = &made;
    run.inverse_diagonal = preconditioning_diagonal(&made);
  }
  if (t->method->flags & SOLVER_DIVIDES_BY_DIAGONAL) {
    for (lidx i = 0; i < s.rows; i++) diagonal[i] = t->omega / diagonal[i];
    assert_ok(linear_vector(&s, "weights", &run.weight));
    assert_ok(linear_load(&s, run.weight, diagonal));
  }
  double *x;
  assert_ok(alloc_array(&x, s.rows, sizeof *x, "x"));
  for (lidx i = 0; i < s.rows; i++) {
    x[i] = t->rhs_scale * (1.0 + (double)((ownership_begin(&owned) + i) % 10) / 10.0);
  }
  assert_ok(linear_load(&s, run.x, x));
  assert_ok(linear_product(&s, run.x, run.b));
  assert_ok(kernels->fill(s.place, run.x, 0.0));
  snprintf(path, sizeof path, "solvers-%d-%d-%d.csv", trial_mark, comm_rank(world),
           comm_size(world));
  assert_ok(history_open(path, HISTORY_SOLVE, &run.history));
  assert_ok(t->method->run(&run));
  out->failure = s.failure;
  assert_ok(history_close(&run.history, 1));
  read_history(path, out->history, sizeof out->history);
  assert_ok(linear_store(&s, x, run.x));
  /* the residual reported is that of the iterate returned */
  double norm[2];
  assert_ok(linear_residual(&s, run.x, run.b, (vec){.rows = 0}, run.scale, norm));
  if (norm[0] < 1e100 && comm_agree(world, s.failure) == STATUS_OK)
    assert_same_bits(norm[0] / run.norm_b, run.relative_residual);
  out->reason = run.reason;
  out->iterations = run.iterations;
  out->relative_residual = run.relative_residual;
  out->recursive_residual = run.recursive_residual;
  out->restarts = run.restarts;
  out->corrections = run.mixed.corrections;
  out->omega = run.omega;
  out->rows = s.rows;
  out->first_row = s.first_row;
  out->x = x;
  linear_vector_release(&s, &run.x);
  linear_vector_release(&s, &run.b);
  linear_vector_release(&s, &run.weight);
  preconditioning_close(&s, &made);
  kernels->solve->matrix_release(s.place, &s.a);
  transport_release(&side);
  kernels->close(&s.place);
  csr_block_release(&block);
  ownership_release(&owned);
  alloc_free(&diagonal);
}

/* Equal in every bit. */
static inline void same_outcome(const outcome *a, const outcome *b, const char *what) {
  assert_ok(a->failure);
  assert_ok(b->failure);
  if (a->reason != b->reason || a->iterations != b->iterations) {
    fail_msg("%s: %s after %lld, reference %s after %lld", what, solve_reason_name(b->reason),
             (long long)b->iterations, solve_reason_name(a->reason), (long long)a->iterations);
  }
  assert_same_bits(a->relative_residual, b->relative_residual);
  assert_same_bits(a->recursive_residual, b->recursive_residual);
  assert_int_equal(a->restarts, b->restarts);
  assert_int_equal(a->corrections, b->corrections);
  assert_int_equal(a->rows, b->rows);
  for (lidx i = 0; i < a->rows; i++) assert_same_bits(a->x[i], b->x[i]);
  if (strcmp(a->history, b->history) != 0) fail_msg("%s: histories differ", what);
}

#endif
