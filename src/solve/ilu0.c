/* Preconditioners that are solves by colours (triangles.h): M = (D + L) D^-1 (D + U).
 *
 *   ic0, ilu0  incomplete factors with the pattern of A (incomplete.h). ic0 insists on positive
 *              pivots, so M is positive definite; where a pivot fails, the factors of
 *              A + shift diag(A) are taken instead, and that is said.
 *   ssor       L and U of A itself, D = diag(A) / omega, and M / (2 - omega): a sweep of SOR in the
 *              order of colours and one in the reverse order, from zero.
 *
 * Traffic of an apply: that of a product with A, and about 80 bytes a row. Source: Saad (2003),
 * 10.2, 10.3, 12.4. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "incomplete.h"
#include "log.h"
#include "preconditioner.h"
#include "triangles.h"

typedef struct split {
  triangles t;
  vec weight;
  double factor; /* of the whole */
} split;

static void split_close(linear_system *s, void **data) {
  split *p = *data;
  triangles_release(s, &p->t);
  linear_vector_release(s, &p->weight);
  alloc_free(data);
}

static status split_apply(linear_system *s, void *data, vec r, vec z) {
  status rc = STATUS_OK;
  const split *p = data;
  const vec none = {.rows = z.rows};
  TRY(triangles_lower(s, &p->t, r, z));
  TRY(triangles_upper(s, &p->t, z));
  if (p->factor != 1.0) {
    ATTEMPT(s, s->kernels->combine(s->place, p->factor, z, 0.0, none, z));
  }
done:
  return rc;
}

/* weight_i = above / d_i, and the triangles, of L and U in `value`. Local. */
static status split_store(linear_system *s, const preconditioner_request *q, const colouring *k,
                          const double *value, double above, const double *d, split *p) {
  status rc = STATUS_OK;
  double *weight = NULL;
  TRY(alloc_array(&weight, s->rows, sizeof *weight, "weights"));
  for (lidx i = 0; i < s->rows; i++) weight[i] = above / d[i];
  TRY(linear_vector(s, "weights", &p->weight));
  TRY(linear_load(s, p->weight, weight));
  TRY(triangles_open(s, q->a, value, k, 1, &p->t));
  p->t.weight = p->weight;
done:
  alloc_free(&weight);
  return rc;
}

static status split_new(split **p, void **out) {
  status rc = alloc_zeroed(p, 1, sizeof **p, "preconditioner");
  *out = *p;
  if (rc == STATUS_OK) (*p)->factor = 1.0;
  return rc;
}

static status ssor_open(linear_system *s, const preconditioner_request *q, void **out) {
  status rc = STATUS_OK;
  split *p;
  colouring k;
  const double omega = q->omega == 0.0 ? 1.0 : q->omega;
  memset(&k, 0, sizeof k);
  TRY(comm_agree(s->world, split_new(&p, out)));
  TRY(colouring_make(s->world, q->owned, q->a, q->symmetric, &k));
  p->factor = 2.0 - omega;
  rc = split_store(s, q, &k, q->a->value, omega, q->diagonal, p);
done:
  colouring_release(&k);
  return rc;
}

static status positive_diagonal(const linear_system *s, const preconditioner_request *q) {
  for (lidx i = 0; i < s->rows; i++) {
    if (q->diagonal[i] > 0.0) continue;
    return fail(STATUS_INPUT,
                "preconditioner ic0 needs a positive diagonal; in row %lld it is %.17g; "
                "try --preconditioner none",
                (long long)(s->first_row + i) + 1, q->diagonal[i]);
  }
  return STATUS_OK;
}

static status factors_open(linear_system *s, const preconditioner_request *q, int positive,
                           void **out) {
  status rc = STATUS_OK;
  split *p;
  colouring k;
  incomplete f;
  memset(&k, 0, sizeof k);
  memset(&f, 0, sizeof f);
  TRY(comm_agree(s->world, split_new(&p, out)));
  if (positive) TRY(comm_agree(s->world, positive_diagonal(s, q)));
  TRY(colouring_make(s->world, q->owned, q->a, q->symmetric, &k));
  TRY(incomplete_make(s->world, q->owned, q->a, &k, positive, q->threads, &f));
  if (f.shift > 0.0) {
    log_warning("%s: the pivot of row %lld %s; factored with the diagonal times %g",
                positive ? "ic0" : "ilu0", (long long)f.failed + 1,
                positive ? "is not positive" : "vanishes", 1.0 + f.shift);
  }
  rc = split_store(s, q, &k, f.value, 1.0, f.pivot, p);
done:
  incomplete_release(&f);
  colouring_release(&k);
  return rc;
}

static status ic0_open(linear_system *s, const preconditioner_request *q, void **out) {
  return factors_open(s, q, 1, out);
}

static status ilu0_open(linear_system *s, const preconditioner_request *q, void **out) {
  return factors_open(s, q, 0, out);
}

const preconditioner PRECONDITIONER_ssor = {
    .name = "ssor",
    .help = "a sweep of SOR forwards and one backwards, in the order of colours; omega 1 if absent",
    .source = "Saad (2003), 10.2, 12.4",
    .flags = PRECONDITIONER_DIVIDES_BY_DIAGONAL | PRECONDITIONER_KEEPS_SYMMETRY,
    .open = ssor_open,
    .apply = split_apply,
    .close = split_close,
};

const preconditioner PRECONDITIONER_ic0 = {
    .name = "ic0",
    .help = "incomplete Cholesky without fill, in the order of colours; for positive matrices",
    .source = "Meijerink, van der Vorst (1977); Saad (2003), 10.3, 12.4",
    .flags = PRECONDITIONER_DIVIDES_BY_DIAGONAL | PRECONDITIONER_NEEDS_SYMMETRY |
             PRECONDITIONER_KEEPS_SYMMETRY,
    .open = ic0_open,
    .apply = split_apply,
    .close = split_close,
};

const preconditioner PRECONDITIONER_ilu0 = {
    .name = "ilu0",
    .help = "incomplete LU without fill, in the order of colours",
    .source = "Saad (2003), 10.3, 12.4",
    .flags = PRECONDITIONER_DIVIDES_BY_DIAGONAL,
    .open = ilu0_open,
    .apply = split_apply,
    .close = split_close,
};
