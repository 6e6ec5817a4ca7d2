/* Jacobi preconditioner: M = D, the diagonal of A, times a power of two that makes the largest
 * 1/a_ii of order one: iterates of Krylov methods do not depend on it, their dot products stay in
 * range. One vector; 24 bytes a row and apply. Source: Saad (2003), 10.2. */
#include <math.h>

#include "alloc.h"
#include "preconditioner.h"
#include "team.h"

typedef struct jacobi {
  vec inverse;
} jacobi;

typedef struct inverse_work {
  double *inverse;
  const double *diagonal;
  double factor;
} inverse_work;

static void inverse_part(void *context, int number, int64_t begin, int64_t end) {
  const inverse_work *w = context;
  (void)number;
  for (int64_t i = begin; i < end; i++) w->inverse[i] = w->factor / w->diagonal[i];
}

static status jacobi_open(linear_system *s, const preconditioner_request *q, void **out) {
  status rc = STATUS_OK;
  double smallest = INFINITY, *inverse = NULL;
  jacobi *j = NULL;
  for (lidx i = 0; i < s->rows; i++) smallest = fmin(smallest, fabs(q->diagonal[i]));
  TRY(comm_min_f64(s->world, &smallest, 1));
  TRY(alloc_zeroed(&j, 1, sizeof *j, "preconditioner jacobi"));
  *out = j;
  TRY(alloc_array(&inverse, s->rows, sizeof *inverse, "inverse diagonal"));
  inverse_work w = {inverse, q->diagonal, 1.0 / linear_scale_for(smallest)};
  team_for(q->threads, s->rows, inverse_part, &w);
  TRY(linear_vector(s, "inverse diagonal", &j->inverse));
  TRY(linear_load(s, j->inverse, inverse));
done:
  alloc_free(&inverse);
  return rc;
}

static status jacobi_apply(linear_system *s, void *data, vec r, vec z) {
  const jacobi *j = data;
  ATTEMPT(s, s->kernels->multiply(s->place, j->inverse, r, z));
  return STATUS_OK;
}

static void jacobi_close(linear_system *s, void **data) {
  jacobi *j = *data;
  linear_vector_release(s, &j->inverse);
  alloc_free(data);
}

static vec jacobi_diagonal(const void *data) { return ((const jacobi *)data)->inverse; }

const preconditioner PRECONDITIONER_jacobi = {
    .name = "jacobi",
    .help = "the diagonal",
    .source = "Saad (2003), 10.2",
    .flags = PRECONDITIONER_DIVIDES_BY_DIAGONAL | PRECONDITIONER_KEEPS_SYMMETRY,
    .open = jacobi_open,
    .apply = jacobi_apply,
    .close = jacobi_close,
    .diagonal = jacobi_diagonal,
};
