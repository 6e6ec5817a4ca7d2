/* Backend, vectors and method of `solve`: from rows to a run that can start. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "linear.h"
#include "log.h"
#include "report.h"
#include "solve_job.h"
#include "team.h"

/* Measured: on 16 cores beside an H200 omp wins below, the GPU above. */
enum { AUTO_GPU_ROWS = 1000000 };

/* The word of solve.format, in the order of matrix_format. */
static matrix_format format_asked(const solve_job *j) {
  static const char *const names[] = {"auto", "csr", "sell", "packed", "pattern"};
  const char *word = options_text(j->run->o, "solve.format");
  int format = FORMAT_AUTO;
  for (int i = 0; i < 5; i++) {
    if (strcmp(word, names[i]) == 0) format = i;
  }
  return (matrix_format)format;
}

status solve_open_backend(solve_job *j) {
  status rc = STATUS_OK;
  comm *c = j->run->c;
  const problem_size size = {j->a.global_rows, "rows", AUTO_GPU_ROWS};
  linear_system *s = &j->system;
  csr_block block;
  memset(&block, 0, sizeof block);
  s->world = c;
  s->timers = &j->timers;
  TRY(backend_choose(j->run, &size, &j->chosen));
  s->kernels = j->chosen.kernels;
  s->place = j->chosen.place;
  rc = csr_localise(j->run->threads, &j->a, &block);
  TRY(comm_agree(c, rc));
  s->global_rows = j->owned.rows;
  s->first_row = block.first_row;
  s->rows = block.rows;
  s->ghosts = block.ghosts;
  TRY(halo_create(c, &j->owned, block.ghost, block.ghosts, &s->plan));
  const transport_side side = linear_side(s);
  TRY(backend_transport(j->run, &side, &j->chosen));
  rc = s->kernels->solve->matrix_create(s->place, &block, format_asked(j), &s->a);
  if (rc == STATUS_OK) s->kernels->solve->matrix_describe(s->a, &j->storage);
  TRY(comm_agree(c, rc));
done:
  csr_block_release(&block);
  return rc;
}

/* b = A*ones, by the backend: rows are summed in the one order there is. */
static status ones_rhs(solve_job *j) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  ATTEMPT(s, s->kernels->fill(s->place, j->solve.x, 1.0));
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
  TRY(comm_agree(s->world, s->failure));
  TRY(linear_max_abs(s, run->b, &largest));
  if (!isfinite(ldexp(largest, j->exponent))) {
    rc = fail(STATUS_INPUT, "right-hand side not finite (rhs %s): an entry is NaN or infinite",
              j->rhs);
  } else if (largest == 0.0) {
    j->trivial = 1;
    j->method = solver_find(options_text(j->run->o, "solve.method"));
    j->preconditioner = "none";
    strcpy(j->why, "the right-hand side is zero: x = 0");
    ATTEMPT(s, s->kernels->fill(s->place, run->x, 0.0));
  }
  rc = comm_agree(s->world, rc);
done:
  return rc;
}

static void describe_asymmetry(const matrix_survey *s, char *text, size_t room) {
  if (s->odd_row < 0) {
    snprintf(text, room, "not symmetric");
    return;
  }
  snprintf(text, room, "not symmetric: a(%lld,%lld) = %.17g but a(%lld,%lld) = %.17g",
           (long long)s->odd_row + 1, (long long)s->odd_column + 1, s->odd_value,
           (long long)s->odd_column + 1, (long long)s->odd_row + 1, s->odd_mirror);
}

/* The facts behind auto; whether cg applies. */
static int cg_applies(const matrix_survey *s, char *why, size_t room) {
  if (!s->symmetric) {
    describe_asymmetry(s, why, room);
    return 0;
  }
  const char *kind = s->missing_diagonal + s->zero_diagonal > 0 ? "zero"
                     : s->negative_diagonal > 0                 ? "negative"
                                                                : NULL;
  if (kind == NULL) {
    snprintf(why, room, "symmetric (a_ij = a_ji exactly) with a positive diagonal");
    return 1;
  }
  const int64_t count = s->missing_diagonal + s->zero_diagonal + s->negative_diagonal;
  snprintf(why, room, "symmetric, but %lld diagonal entries are not positive (%s)",
           (long long)count, kind);
  return 0;
}

status solve_choose_method(solve_job *j) {
  options *o = j->run->o;
  const char *name = options_text(o, "solve.method");
  if (strcmp(name, "auto") == 0) {
    const int cg = cg_applies(&j->survey, j->why, sizeof j->why);
    j->method = solver_find(cg ? "cg" : "jacobi");
  } else {
    strcpy(j->why, "as asked");
    j->method = solver_find(name);
  }
  if (j->method == NULL) {
    return comm_agree(j->run->c,
                      fail(STATUS_UNAVAILABLE, "method %s is not in this halosweep", name));
  }
  j->preconditioner = "none";
  if (j->method->flags & SOLVER_TAKES_PRECONDITIONER) {
    const char *asked = options_text(o, "solve.preconditioner");
    j->preconditioner = asked == NULL ? "jacobi" : asked;
  }
  return STATUS_OK;
}

static int divides(const solve_job *j) {
  return (j->method->flags & SOLVER_DIVIDES_BY_DIAGONAL) ||
         strcmp(j->preconditioner, "jacobi") == 0;
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
    describe_asymmetry(s, text, sizeof text);
    return fail(STATUS_INPUT, "method %s needs a symmetric matrix; this one is %s", name, text);
  }
  if (divides(j) && s->missing_diagonal + s->zero_diagonal > 0) {
    const int missing =
        s->first_zero < 0 || (s->first_missing >= 0 && s->first_missing < s->first_zero);
    const int preconditioned = !(j->method->flags & SOLVER_DIVIDES_BY_DIAGONAL);
    return fail(STATUS_INPUT,
                "row %lld has %s diagonal entry (rows that have none or zero: %lld); %s%s "
                "divides by it%s",
                (long long)(missing ? s->first_missing : s->first_zero) + 1,
                missing ? "no" : "a zero", (long long)(s->missing_diagonal + s->zero_diagonal),
                preconditioned ? "preconditioner " : "method ", preconditioned ? "jacobi" : name,
                preconditioned ? "; try --preconditioner none" : "");
  }
  return STATUS_OK;
}

status solve_check_method(const solve_job *j) { return comm_agree(j->run->c, check(j)); }

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

/* Weights of sweeps: omega / a_ii. Of CG: 1 / a_ii times a power of two that makes the largest of
 * order one: CG's iterates do not depend on it, its dot products stay in range. */
static status load_weights(solve_job *j) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  const int sweeping = (j->method->flags & SOLVER_DIVIDES_BY_DIAGONAL) != 0;
  const double omega =
      j->method->flags & SOLVER_TAKES_OMEGA ? options_real(j->run->o, "solve.omega") : 1.0;
  double factor = omega, *weight = NULL;
  if (!sweeping) {
    double smallest = INFINITY;
    for (lidx i = 0; i < s->rows; i++) smallest = fmin(smallest, fabs(j->diagonal[i]));
    TRY(comm_min_f64(s->world, &smallest, 1));
    factor = 1.0 / linear_scale_for(smallest);
  }
  ATTEMPT(s, alloc_array(&weight, s->rows, sizeof *weight, "weights"));
  if (weight != NULL) {
    weight_work w = {weight, j->diagonal, factor};
    team_for(j->run->threads, s->rows, weight_part, &w);
  }
  vec *to = sweeping ? &j->solve.weight : &j->solve.inverse_diagonal;
  ATTEMPT(s, linear_vector(s, "weights", to));
  ATTEMPT(s, linear_load(s, *to, weight));
  if (s->kernels->solve->matrix_weigh != NULL) {
    ATTEMPT(s, s->kernels->solve->matrix_weigh(s->place, s->a, *to));
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
  if (divides(j)) TRY(load_weights(j));
  rc = comm_agree(j->system.world, j->system.failure);
done:
  return rc;
}

void solve_print_plan(const solve_job *j) {
  if (comm_rank(j->run->c) != 0) return;
  const int64_t vectors = (int64_t)j->system.rows * 8 * (j->trivial ? 2 : 6);
  char rows[REPORT_COUNT];
  report_count(j->owned.rows, "row", rows);
  report_print("would solve %s, %lld entr%s (%s)\n", rows, (long long)j->entries,
               j->entries == 1 ? "y" : "ies", j->facts.format);
  report_print("  method %s, preconditioner %s: %s\n", j->method != NULL ? j->method->name : "none",
               j->preconditioner, j->why);
  char matrix_bytes[REPORT_BYTES], vector_bytes[REPORT_BYTES];
  report_bytes((double)j->storage.bytes, matrix_bytes);
  report_bytes((double)vectors, vector_bytes);
  report_print("  backend %s, %d rank%s x %d thread%s; rank 0: %lld rows, matrix %s as %s, vectors "
               "%s\n",
               j->system.kernels->name, comm_size(j->run->c), comm_size(j->run->c) == 1 ? "" : "s",
               j->run->threads, j->run->threads == 1 ? "" : "s", (long long)j->system.rows,
               matrix_bytes, j->storage.format, vector_bytes);
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
    linear_vector_release(s, &j->solve.weight);
    linear_vector_release(s, &j->solve.inverse_diagonal);
    if (s->a != NULL) s->kernels->solve->matrix_release(s->place, &s->a);
    transport_release(&side);
  }
  backend_choice_release(&j->chosen);
  csr_rows_release(&j->a);
  ownership_release(&j->owned);
  alloc_free(&j->file_rhs);
  alloc_free(&j->diagonal);
  alloc_free(&j->x);
}
