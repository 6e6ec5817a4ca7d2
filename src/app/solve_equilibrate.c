/* Symmetric diagonal scaling: S A S y = S b, x = S y, with s_i the power of two next to
 * |a_ii|^(-1/2) (of a zero diagonal entry: of the row's largest). Powers of two, so that nothing is
 * rounded: the scaled system's residual times 1 / s_i has the bits of the given one's, and is what
 * the tests look at (solve_check). Diagonal entries end up in [1, 4).
 *
 * What it is for: rows and columns of very different size where the preconditioner does not see to
 * that itself (none, incomplete factorisations). The Jacobi family and preconditioner jacobi do not
 * change by it. Cost: two passes over the own entries, one halo exchange, 16 bytes a row.
 * Source: van der Sluis, Numer. Math. 14 (1969) 14-23. */
#include <math.h>

#include "alloc.h"
#include "linear.h"
#include "log.h"
#include "solve_job.h"

static int exponent_of(const solve_job *j, lidx i) {
  const csr_block *a = &j->block;
  double size = fabs(j->diagonal[i]);
  for (eidx e = a->offset[i]; size == 0.0 && e < a->offset[i + 1]; e++) {
    size = fabs(a->value[e]);
    for (eidx f = e; f < a->offset[i + 1]; f++) size = fmax(size, fabs(a->value[f]));
  }
  return size == 0.0 ? 0 : -(int)floor(ilogb(size) / 2.0);
}

static status no_work(void *context, part p) {
  (void)context, (void)p;
  return STATUS_OK;
}

/* The scaled entries; *lost: one of them cannot be written without loss. */
static void scale_entries(solve_job *j, const double *scale, int *lost) {
  csr_block *a = &j->block;
  *lost = 0;
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const int shift = ilogb(scale[i]) + ilogb(scale[a->column[e]]);
      const double moved = ldexp(a->value[e], shift);
      if (ldexp(moved, -shift) != a->value[e]) *lost = 1;
      a->value[e] = moved;
    }
    j->diagonal[i] = ldexp(j->diagonal[i], 2 * ilogb(scale[i]));
  }
}

status solve_equilibrate(solve_job *j) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  const int64_t length = (int64_t)s->rows + s->ghosts;
  double *scale = NULL;
  int lost = 0;
  if (!j->scaled) goto done;
  ATTEMPT(s, alloc_array(&scale, length, sizeof *scale, "scaling"));
  ATTEMPT(s, linear_vector(s, "scaling", &j->scale));
  ATTEMPT(s, linear_vector(s, "inverse scaling", &j->solve.unscale));
  ATTEMPT(s, linear_vector(s, "residual as given", &j->solve.unscaled));
  TRY(comm_agree(s->world, s->failure));
  for (lidx i = 0; i < s->rows; i++) scale[i] = ldexp(1.0, exponent_of(j, i));
  ATTEMPT(s, linear_load(s, j->scale, scale));
  TRY(linear_apply(s, j->scale, no_work, NULL));
  ATTEMPT(s, s->kernels->copy_out(s->place, (hptr){scale}, j->scale.data,
                                  length * (int64_t)sizeof *scale));
  TRY(comm_agree(s->world, s->failure));
  scale_entries(j, scale, &lost);
  for (lidx i = 0; i < s->rows; i++) scale[i] = 1.0 / scale[i];
  ATTEMPT(s, linear_load(s, j->solve.unscale, scale));
  rc = lost ? fail(STATUS_INPUT, "scaling = symmetric: an entry is so small that its scaled value "
                                 "would lose digits")
            : s->failure;
  rc = comm_agree(s->world, rc);
done:
  alloc_free(&scale);
  return rc;
}

/* x, and b where it is not A * ones of the scaled system already, become those of the scaled one.
 */
void solve_equilibrate_vectors(solve_job *j, int given_b) {
  linear_system *s = &j->system;
  if (!j->scaled) return;
  if (given_b) ATTEMPT(s, s->kernels->multiply(s->place, j->scale, j->solve.b, j->solve.b));
  ATTEMPT(s, s->kernels->multiply(s->place, j->solve.unscale, j->solve.x, j->solve.x));
}

/* x of the scaled system becomes that of the given one. */
void solve_unscale_solution(solve_job *j) {
  linear_system *s = &j->system;
  if (!j->scaled) return;
  ATTEMPT(s, s->kernels->multiply(s->place, j->scale, j->solve.x, j->solve.x));
}
