/* Backend, vectors and method of `solve`: from rows to a run that can start. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "direct.h"
#include "gpu_worth.h"
#include "linear.h"
#include "log.h"
#include "report.h"
#include "solve_job.h"
#include "team.h"

/* The word of solve.format, in the order of matrix_format. */
matrix_format solve_format_asked(const options *o) {
  static const char *const names[] = {"auto", "csr", "sell", "packed", "pattern"};
  const char *word = options_text(o, "solve.format");
  int format = FORMAT_AUTO;
  for (int i = 0; i < 5; i++) {
    if (strcmp(word, names[i]) == 0) format = i;
  }
  return (matrix_format)format;
}

status solve_open_backend(solve_job *j) {
  status rc = STATUS_OK;
  comm *c = j->run->c;
  problem_size size = gpu_worth_rows(j->a.global_rows);
  linear_system *s = &j->system;
  size.device_memory = j->device_memory;
  s->world = c;
  s->timers = &j->timers;
  TRY(backend_choose(j->run, &size, &j->chosen));
  s->kernels = j->chosen.kernels;
  s->place = j->chosen.place;
  rc = csr_localise(j->run->threads, &j->a, &j->block);
  TRY(comm_agree(c, rc));
  const csr_block *block = &j->block;
  s->global_rows = j->owned.rows;
  s->first_row = block->first_row;
  s->rows = block->rows;
  s->ghosts = block->ghosts;
  TRY(halo_create(c, &j->owned, block->ghost, block->ghosts, &s->plan));
  const transport_side side = linear_side(s);
  TRY(backend_transport(j->run, &side, &j->chosen));
  TRY(solve_equilibrate(j));
  rc = s->kernels->solve->matrix_create(s->place, block, j->format, &s->a);
  if (rc == STATUS_OK) s->kernels->solve->matrix_describe(s->a, &j->storage);
  TRY(comm_agree(c, rc));
done:
  return rc;
}

/* b = A*ones, by the backend: rows are summed in the one order there is. */
static status ones_rhs(solve_job *j) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  ATTEMPT(s, s->kernels->fill(s->place, j->solve.x, 1.0));
  if (j->scaled) ATTEMPT(s, s->kernels->copy(s->place, j->solve.x, j->solve.unscale));
  TRY(linear_product(s, j->solve.x, j->solve.b));
  ATTEMPT(s, s->kernels->fill(s->place, j->solve.x, 0.0));
done:
  return rc;
}

status solve_load_system(solve_job *j, const double *b, const double *x0) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  solve_run *run = &j->solve;
  double largest;
  run->system = s;
  ATTEMPT(s, linear_vector(s, "x", &run->x));
  ATTEMPT(s, linear_vector(s, "right-hand side", &run->b));
  TRY(comm_agree(s->world, s->failure));
  if (b != NULL) {
    ATTEMPT(s, linear_load(s, run->b, b));
  } else {
    TRY(ones_rhs(j));
  }
  if (x0 != NULL) ATTEMPT(s, linear_load(s, run->x, x0));
  solve_equilibrate_vectors(j, b != NULL);
  TRY(comm_agree(s->world, s->failure));
  TRY(linear_max_abs(s, run->b, &largest));
  if (!isfinite(ldexp(largest, j->exponent))) {
    rc = fail(STATUS_INPUT, "right-hand side not finite (rhs %s): an entry is NaN or infinite",
              j->rhs);
  } else if (largest == 0.0) {
    j->trivial = 1;
    j->method = solver_find(options_text(j->run->o, "solve.method"));
    strcpy(j->why, "the right-hand side is zero: x = 0");
    ATTEMPT(s, s->kernels->fill(s->place, run->x, 0.0));
  }
  rc = comm_agree(s->world, rc);
done:
  return rc;
}

/* What auto chose, and what goes without saying, may have no version in float either. */
static status check_precision(const solve_job *j) {
  const int diagonal = j->preconditioner == NULL || j->preconditioner->diagonal != NULL;
  if (strcmp(options_text(j->run->o, "solve.precision"), "mixed") != 0) return STATUS_OK;
  if (j->method->flags & SOLVER_TAKES_MIXED && diagonal) return STATUS_OK;
  return fail(STATUS_USAGE,
              "precision = mixed is for jacobi, jor, and cg with preconditioner none or jacobi; "
              "this is %s with %s; expected one of them, or --precision double",
              j->method->name, solve_preconditioner_name(j));
}

static status check(const solve_job *j) {
  const matrix_survey *s = &j->survey;
  const char *name = j->method->name;
  if (s->empty_rows > 0) {
    return fail(STATUS_INPUT, "row %lld is empty (of %lld empty rows): the matrix is singular",
                (long long)s->first_empty + 1, (long long)s->empty_rows);
  }
  if ((j->method->flags & SOLVER_NEEDS_SYMMETRY) && !s->symmetric) {
    char text[WHY_MAX];
    choice_describe_asymmetry(s, text, sizeof text);
    return fail(STATUS_INPUT, "method %s needs a symmetric matrix; this one is %s", name, text);
  }
  if (j->method->flags & SOLVER_DIVIDES_BY_DIAGONAL) {
    status rc = solve_check_diagonal(j, "method ", name);
    if (rc != STATUS_OK) return rc;
  }
  status rc = solve_check_preconditioner(j);
  return rc == STATUS_OK ? check_precision(j) : rc;
}

status solve_check_method(solve_job *j) {
  status rc = comm_agree(j->run->c, check(j));
  if (rc == STATUS_OK && j->method->flags & SOLVER_BY_A_PACKAGE) rc = direct_look(&j->system);
  return rc;
}

typedef struct weight_work {
  double *weight;
  const double *diagonal;
  double factor;
} weight_work;

static void weight_part(void *context, int number, int64_t begin, int64_t end) {
  const weight_work *w = context;
  (void)number;
  for (int64_t i = begin; i < end; i++) w->weight[i] = w->factor / w->diagonal[i];
}

/* Weights of sweeps: omega / a_ii. */
static status load_weights(solve_job *j) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  double factor = 1.0, *weight = NULL;
  if (j->method->flags & SOLVER_TAKES_OMEGA) {
    factor = options_real(j->run->o, "solve.omega"); /* 0: auto */
    j->solve.omega = factor;
    if (factor == 0.0 && j->method->flags & SOLVER_NEEDS_ROWS) {
      factor = 1.0; /* it makes its own of that */
    } else if (factor == 0.0) {
      TRY(solve_auto_omega(j, &factor));
    }
    j->omega = factor;
  }
  ATTEMPT(s, alloc_array(&weight, s->rows, sizeof *weight, "weights"));
  if (weight != NULL) {
    weight_work w = {weight, j->diagonal, factor};
    team_for(j->run->threads, s->rows, weight_part, &w);
  }
  ATTEMPT(s, linear_vector(s, "weights", &j->solve.weight));
  ATTEMPT(s, linear_load(s, j->solve.weight, weight));
  if (s->kernels->solve->matrix_weigh != NULL) {
    ATTEMPT(s, s->kernels->solve->matrix_weigh(s->place, s->a, j->solve.weight));
  }
done:
  alloc_free(&weight);
  return rc;
}

status solve_load_method(solve_job *j) {
  status rc = STATUS_OK;
  const options *o = j->run->o;
  solve_limits *l = &j->solve.limits;
  l->rtol = options_real(o, "solve.rtol");
  l->atol = ldexp(options_real(o, "solve.atol"), -j->exponent);
  l->divergence = options_real(o, "solve.divergence");
  l->max_iterations = options_integer(o, "solve.max_iterations");
  l->fixed_count = options_has(o, "solve.iterations");
  if (l->fixed_count) l->max_iterations = options_integer(o, "solve.iterations");
  l->check_every = options_integer(o, "solve.check_every");
  l->monitor_update = strcmp(options_text(o, "solve.monitor"), "update") == 0 &&
                      (j->method->flags & SOLVER_MONITORS_UPDATE);
  solve_limit_nullspace(j);
  j->solve.gmres_restart = (int)options_integer(o, "solve.gmres_restart");
  solve_request(j);
  j->solve.rows = &j->rows;
  j->solve.mixed.on = strcmp(options_text(o, "solve.precision"), "mixed") == 0 && !j->left_mixed;
  j->solve.mixed.correct_every = options_integer(o, "solve.correct_every");
  if (j->method->flags & SOLVER_DIVIDES_BY_DIAGONAL) TRY(load_weights(j));
  TRY(comm_agree(j->system.world, j->system.failure));
  if (j->made.kind != j->preconditioner || j->switched_from == NULL) {
    preconditioning_close(&j->system, &j->made);
    TRY(solve_make_preconditioner(j));
  }
  if (!(j->method->flags & SOLVER_NEEDS_ROWS) && !j->solve.mixed.on) csr_block_release(&j->block);
done:
  return rc;
}

void solve_release_method(solve_job *j) { linear_vector_release(&j->system, &j->solve.weight); }

/* Vectors of a plan are a guess, so that what fits may still have to move for them. */
static void print_streaming(const solve_job *j) {
  char bytes[REPORT_BYTES];
  if (j->storage.streamed_bytes == 0) return;
  report_bytes((double)j->storage.streamed_bytes, bytes);
  report_print(
      "  the matrix does not fit on the GPU: %s come from host memory with every product\n", bytes);
}

void solve_print_plan(const solve_job *j) {
  if (comm_rank(j->run->c) != 0) return;
  const int64_t vectors = (int64_t)j->system.rows * 8 * (j->trivial ? 2 : 6);
  char rows[REPORT_COUNT];
  report_count(j->owned.rows, "row", rows);
  report_print("would solve %s, %lld entr%s (%s)\n", rows, (long long)j->entries,
               j->entries == 1 ? "y" : "ies", j->facts.format);
  report_print("  method %s, preconditioner %s: %s\n", j->method != NULL ? j->method->name : "none",
               solve_preconditioner_name(j), j->why);
  char matrix_bytes[REPORT_BYTES], vector_bytes[REPORT_BYTES];
  report_bytes((double)j->storage.bytes, matrix_bytes);
  report_bytes((double)vectors, vector_bytes);
  report_print("  backend %s, %d rank%s x %d thread%s; rank 0: %lld rows, matrix %s as %s, vectors "
               "%s\n",
               j->system.kernels->name, comm_size(j->run->c), comm_size(j->run->c) == 1 ? "" : "s",
               j->run->threads, j->run->threads == 1 ? "" : "s", (long long)j->system.rows,
               matrix_bytes, j->storage.format, vector_bytes);
  print_streaming(j);
  report_print("dry run: nothing was computed, nothing written\n");
}

void solve_close(solve_job *j) {
  linear_system *s = &j->system;
  const transport_side side = linear_side(s);
  history_close(&j->history, 0);
  checkpointing_close(&j->saving);
  if (s->place != NULL) {
    linear_vector_release(s, &j->solve.x);
    linear_vector_release(s, &j->solve.b);
    linear_vector_release(s, &j->nullspace.given);
    linear_vector_release(s, &j->scale);
    linear_vector_release(s, &j->solve.unscale);
    linear_vector_release(s, &j->solve.unscaled);
    solve_release_method(j);
    preconditioning_close(s, &j->made);
    if (s->a != NULL) s->kernels->solve->matrix_release(s->place, &s->a);
    transport_release(&side);
  }
  backend_choice_release(&j->chosen);
  csr_rows_release(&j->a);
  csr_block_release(&j->block);
  ownership_release(&j->owned);
  alloc_free(&j->file_rhs);
  alloc_free(&j->diagonal);
  alloc_free(&j->x0);
  alloc_free(&j->x);
}
