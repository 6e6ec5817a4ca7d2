/* Matrix, right-hand side and start of `solve`. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "log.h"
#include "run_memory.h"
#include "solve_job.h"
#include "team.h"

static const char *rhs_file(const options *o) {
  return options_given(o, "solve.rhs") && !options_is_word(o, "solve.rhs")
             ? options_text(o, "solve.rhs")
             : NULL;
}

static status make_problem(solve_job *j) {
  const options *o = j->run->o;
  problem_request request = {.name = options_text(o, "solve.problem"),
                             .peclet = options_real(o, "solve.peclet"),
                             .entries_per_row = options_integer(o, "solve.entries_per_row"),
                             .seed = (uint64_t)options_integer(o, "run.seed"),
                             .threads = j->run->threads};
  request.n_count = options_integers(o, "solve.n", &request.n);
  status rc = problem_build(j->run->c, &request, &j->a, &j->owned);
  j->facts.format = request.name;
  return rc;
}

status solve_read_matrix(solve_job *j) {
  status rc = STATUS_OK;
  const char *path = options_text(j->run->o, "solve.matrix");
  if (path == NULL) return make_problem(j);
  TRY(run_memory_to_read(j->run, path, 1));
  TRY(matrix_read(j->run->c, path, j->run->threads, &j->a, &j->owned, &j->facts, &j->file_rhs));
  if (j->a.global_rows != j->a.global_columns) {
    rc = fail(STATUS_INPUT, "%s: the matrix is %lld x %lld; a system to solve must be square", path,
              (long long)j->a.global_rows, (long long)j->a.global_columns);
  } else if (j->a.global_rows == 0) {
    rc = fail(STATUS_INPUT, "%s: the matrix is empty (0 x 0): there is nothing to solve", path);
  }
  rc = comm_agree(j->run->c, rc);
done:
  return rc;
}

typedef struct rhs_work {
  double *b;
  gidx first_row;
  uint64_t seed;
  int ones;
} rhs_work;

static void rhs_part(void *context, int number, int64_t begin, int64_t end) {
  const rhs_work *w = context;
  (void)number;
  for (int64_t i = begin; i < end; i++) {
    w->b[i] = w->ones ? 1.0 : problem_random_rhs(w->seed, w->first_row + i);
  }
}

/* *b stays NULL where it is A*ones: the backend makes that. */
status solve_read_rhs(solve_job *j, double **b, double **x0) {
  status rc = STATUS_OK;
  const options *o = j->run->o;
  comm *c = j->run->c;
  const char *text = options_given(o, "solve.rhs") ? options_text(o, "solve.rhs") : NULL;
  const char *start = options_text(o, "solve.x0");
  if (rhs_file(o) != NULL) {
    const int64_t column =
        options_has(o, "solve.rhs_column") ? options_integer(o, "solve.rhs_column") : 1;
    int64_t columns = 0;
    TRY(vector_read(c, text, &j->owned, column - 1, b, &columns));
    if (columns > 1 && !options_has(o, "solve.rhs_column") && comm_rank(c) == 0) {
      log_warning("%s has %lld columns; the first is the right-hand side (rhs_column chooses)",
                  text, (long long)columns);
    }
    j->rhs = text;
  } else if (text == NULL && j->file_rhs != NULL) {
    *b = j->file_rhs;
    j->file_rhs = NULL;
    j->rhs = options_text(o, "solve.matrix");
  } else if (text == NULL || strcmp(text, "A*ones") == 0) {
    j->rhs = "A*ones";
    j->solution_is_ones = 1;
    if (text == NULL) log_info("no rhs given: b = A*ones, so that x = 1 is the exact solution");
  } else {
    j->rhs = strcmp(text, "ones") == 0 ? "ones" : "random";
    TRY(comm_agree(c, alloc_array(b, j->a.rows, sizeof **b, "right-hand side")));
    rhs_work w = {.b = *b,
                  .first_row = j->a.first_row,
                  .seed = (uint64_t)options_integer(o, "run.seed"),
                  .ones = strcmp(text, "ones") == 0};
    team_for(j->run->threads, j->a.rows, rhs_part, &w);
  }
  if (start != NULL) {
    int64_t columns = 0;
    TRY(vector_read(c, start, &j->owned, 0, x0, &columns));
    if (columns > 1 && comm_rank(c) == 0) {
      log_warning("%s has %lld columns; the first is the starting vector", start,
                  (long long)columns);
    }
  }
done:
  return rc;
}
