/* The linear systems of implicit steps (coupled_newton.h): the matrix 1 - s df/dy from the
 * derivatives of the expressions, one row a component with an entry for each value that it names,
 * solved by the methods of `solve`. Where the solver is gmres or bicgstab, its preconditioner, as
 * it, has the same bits on any number of ranks; direct has not.
 *
 * A matrix is made about once a step: 12 bytes an entry written as rows, packed again by the
 * backend, factored by the preconditioner. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "coupled_newton.h"
#include "direct.h"

/* Where neighbours pull by more than this many times what a point's inertia, the 1 of the matrix,
 * does, errors that are smooth over some ten points are left by ilu0, and amg is worth its set-up.
 */
static const double SMOOTH = 100.0;

enum { GMRES_RESTART = 30, ITERATIONS = 300, CHECK_EVERY = 50 };

static gidx column_place(const coupled_layout *l, gidx column) {
  return coupled_place(l, column / l->fields) + column % l->fields;
}

/* Offsets and columns. Local. */
static status make_pattern(coupled_run *run) {
  status rc = STATUS_OK;
  const coupled_layout *l = &run->layout;
  csr_block *a = &run->newton->rows;
  gidx column[COUPLED_COLUMNS];
  int what[COUPLED_REACHES];
  *a = (csr_block){.first_row = run->space.first_row,
                   .rows = run->space.rows,
                   .columns = run->space.rows,
                   .ghosts = run->space.ghosts};
  TRY(alloc_array(&a->offset, (int64_t)a->rows + 1, sizeof *a->offset, "row offsets"));
  a->offset[0] = 0;
  for (lidx i = 0; i < a->rows; i++) {
    a->offset[i + 1] =
        a->offset[i] + coupled_columns(l, l->first + i / l->fields, i % l->fields, column, what);
  }
  TRY(alloc_array(&a->column, a->offset[a->rows], sizeof *a->column, "matrix columns"));
  TRY(alloc_array(&a->value, a->offset[a->rows], sizeof *a->value, "matrix values"));
  TRY(alloc_array(&a->ghost, a->ghosts, sizeof *a->ghost, "ghosts"));
  for (lidx i = 0; i < a->rows; i++) {
    const int count = coupled_columns(l, l->first + i / l->fields, i % l->fields, column, what);
    for (int c = 0; c < count; c++) {
      a->column[a->offset[i] + c] = (lidx)column_place(l, column[c]);
    }
  }
  for (lidx g = 0; g < a->ghosts; g++) {
    a->ghost[g] = l->ghost[g / l->fields] * l->fields + g % l->fields;
  }
done:
  return rc;
}

static status choose(coupled_run *run) {
  coupled_newton *n = run->newton;
  const char *linear = run->linear == NULL ? "bicgstab" : run->linear;
  const char *kind = run->preconditioner == NULL ? "auto" : run->preconditioner;
  n->solver = solver_find(linear);
  n->automatic = strcmp(kind, "auto") == 0;
  n->kind = preconditioner_find(n->automatic ? "jacobi" : kind);
  if (strcmp(linear, "gmres") != 0 && strcmp(linear, "bicgstab") != 0 &&
      strcmp(linear, "direct") != 0) {
    return fail(STATUS_USAGE, "linear = %s: expected gmres, bicgstab or direct", linear);
  }
  if ((n->kind == NULL && strcmp(kind, "none") != 0) ||
      (n->kind != NULL && n->kind->flags & PRECONDITIONER_NEEDS_SYMMETRY)) {
    return fail(
        STATUS_USAGE,
        "preconditioner = %s: expected auto, none, or one for matrices that are not symmetric",
        kind);
  }
  if (n->solver->flags & SOLVER_BY_A_PACKAGE) n->kind = NULL;
  if (n->kind == NULL) n->automatic = 0;
  return STATUS_OK;
}

status coupled_matrix_open(coupled_run *run) {
  status rc = choose(run);
  coupled_newton *n = run->newton;
  TRY(comm_agree(run->world, rc));
  if (n->solver->flags & SOLVER_BY_A_PACKAGE) TRY(direct_look(&run->space));
  rc = make_pattern(run);
  if (rc == STATUS_OK) {
    rc = alloc_array(&n->diagonal, n->rows.rows, sizeof *n->diagonal, "diagonal");
  }
  TRY(comm_agree(run->world, rc));
  n->request = (preconditioner_request){.a = &n->rows,
                                        .owned = &run->owned,
                                        .diagonal = n->diagonal,
                                        .threads = run->threads,
                                        .quiet = 1,
                                        .block_size = 64};
done:
  return rc;
}

void coupled_matrix_close(coupled_run *run) {
  coupled_newton *n = run->newton;
  direct_close(&n->factors);
  preconditioning_close(&run->space, &n->made);
  if (run->space.a != NULL) run->kernels->solve->matrix_release(run->place, &run->space.a);
  csr_block_release(&n->rows);
  alloc_free(&n->diagonal);
}

/* The largest sum of a row's entries of other points, over all ranks: the same on any number. */
static status find_pull(coupled_run *run, double *pull) {
  const csr_block *a = &run->newton->rows;
  const lidx fields = run->layout.fields;
  *pull = 0.0;
  for (lidx i = 0; i < a->rows; i++) {
    double sum = 0.0;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      if (a->column[e] / fields != i / fields) sum += fabs(a->value[e]);
    }
    if (sum > *pull) *pull = sum;
  }
  return comm_max_f64(run->world, pull, 1);
}

static void find_diagonal(coupled_newton *n) {
  for (lidx i = 0; i < n->rows.rows; i++) {
    for (eidx e = n->rows.offset[i]; e < n->rows.offset[i + 1]; e++) {
      if (n->rows.column[e] == i) n->diagonal[i] = n->rows.value[e];
    }
  }
}

status coupled_matrix_make(coupled_run *run, double t, vec z, double s) {
  status rc = STATUS_OK;
  coupled_newton *n = run->newton;
  linear_system *space = &run->space;
  const backend *b = run->kernels;
  run->matrices++;
  TRY(linear_ghosts(space, z));
  ATTEMPT(space, b->coupled->jacobian(run->place, run->work, t, z, s, &n->rows));
  if (n->solver->flags & SOLVER_BY_A_PACKAGE) {
    char broke[DIRECT_TEXT]; /* a singular matrix: the step is thrown away */
    TRY(comm_agree(run->world, space->failure));
    direct_close(&n->factors);
    rc = direct_open(space, &n->rows, &run->owned, 0, &n->factors, broke);
    goto done;
  }
  preconditioning_close(space, &n->made);
  if (space->a != NULL) b->solve->matrix_release(run->place, &space->a);
  ATTEMPT(space, b->solve->matrix_create(run->place, &n->rows, FORMAT_SELL, &space->a));
  TRY(comm_agree(run->world, space->failure));
  find_diagonal(n);
  if (n->automatic) {
    double pull;
    TRY(find_pull(run, &pull));
    n->kind = preconditioner_find(pull > SMOOTH ? "amg" : "jacobi");
  }
  TRY(preconditioning_open(space, n->kind, &n->request, &n->made));
done:
  return rc;
}

/* By the package, which has factored the matrix: x from host memory and back. */
static status solve_directly(coupled_run *run, vec b, vec x, int *solved) {
  status rc = STATUS_OK;
  coupled_newton *n = run->newton;
  linear_system *space = &run->space;
  ATTEMPT(space, linear_store(space, n->diagonal, b));
  TRY(comm_agree(run->world, space->failure));
  *solved = n->factors != NULL;
  if (!*solved) goto done;
  TRY(direct_solve(n->factors, n->diagonal));
  ATTEMPT(space, linear_load(space, x, n->diagonal));
  run->linear_count++;
done:
  return rc;
}

status coupled_matrix_solve(coupled_run *run, vec b, vec x, double rtol, int *solved) {
  status rc = STATUS_OK;
  coupled_newton *n = run->newton;
  linear_system *space = &run->space;
  const int64_t asked = space->asked;
  solve_run solve = {.system = space,
                     .limits = {.rtol = rtol,
                                .divergence = 1e5,
                                .max_iterations = ITERATIONS,
                                .check_every = CHECK_EVERY},
                     .b = b,
                     .x = x,
                     .preconditioning = &n->made,
                     .rows = &n->request,
                     .gmres_restart = GMRES_RESTART};
  if (n->solver->flags & SOLVER_BY_A_PACKAGE) return solve_directly(run, b, x, solved);
  ATTEMPT(space, run->kernels->fill(run->place, x, 0.0));
  space->asked = 0; /* requests wait for the end of the step */
  TRY(n->solver->run(&solve));
  run->linear_count += solve.iterations;
  *solved = solve.reason == REASON_CONVERGED || solve.reason == REASON_STAGNATED;
done:
  if (space->asked < asked) space->asked = asked;
  return rc;
}
