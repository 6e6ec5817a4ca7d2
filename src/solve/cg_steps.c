/* Preconditioned conjugate gradients, host-driven: the algorithm of cg.c with z = M^-1 r made by
 * any symmetric positive definite preconditioner.
 *
 *   q = A p; alpha = r.z / p.q; x += alpha p; r -= alpha q; z = M^-1 r; beta = r'.z' / r.z;
 *   p = z + beta p
 *
 * Two reductions a step, the second of two sums (r.z and r.r). Traffic per row beside product and
 * preconditioner: 24 + 24 + 24 for x, r, p and 16 + 16 for the sums: 104 bytes. Where cg applies.
 * Sources: Hestenes, Stiefel (1952); Saad (2003), alg. 9.1. */
#include <math.h>

#include "cg_steps.h"

enum { P, Q, Z, VECTORS };
enum { RHO };

/* z = M^-1 r, rho = r.z and the norm of r, in one reduction. */
static status precondition(stepping *t) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  const double scale = t->run->scale;
  double sum[2];
  const vec with[] = {t->work[Z], t->r};
  TRY(preconditioning_apply(s, t->run->preconditioning, t->r, t->work[Z]));
  TRY(linear_dots(s, 2, with, t->r, scale, sum));
  TRY(linear_redo(s, t->work[Z], t->r, scale, &sum[0]));
  TRY(linear_redo(s, t->r, t->r, scale, &sum[1]));
  t->real[RHO] = sum[0];
  t->residual = sqrt(sum[1]);
done:
  return rc;
}

static status start(stepping *t) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  TRY(precondition(t));
  ATTEMPT(s, s->kernels->copy(s->place, t->work[P], t->work[Z]));
done:
  return rc;
}

/* p.Ap or r.z is not positive: A or M is not positive definite. */
static void indefinite(stepping *t, double value, int is_rz) {
  const double scale = t->run->scale;
  t->verdict = value == value ? VERDICT_INDEFINITE : VERDICT_NOT_FINITE;
  t->run->curvature = linear_rescale_square(value, scale, 1.0);
  t->run->curvature_is_rz = is_rz;
}

static status step(stepping *t) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  const vec p = t->work[P], q = t->work[Q];
  const double rho = t->real[RHO];
  double curvature;
  if (!(rho > 0.0)) {
    indefinite(t, rho, 1);
    goto done;
  }
  t->run->products++;
  TRY(linear_product(s, p, q));
  TRY(linear_dot(s, p, q, t->run->scale, &curvature));
  if (!(curvature > 0.0)) {
    indefinite(t, curvature, 0);
    goto done;
  }
  const double alpha = rho / curvature, minus = -alpha;
  ATTEMPT(s, s->kernels->accumulate(s->place, 1, &alpha, &p, t->run->x));
  ATTEMPT(s, s->kernels->accumulate(s->place, 1, &minus, &q, t->r));
  TRY(precondition(t));
  ATTEMPT(s, s->kernels->combine(s->place, t->real[RHO] / rho, p, 1.0, t->work[Z], p));
done:
  return rc;
}

static const char *const names[] = {"/solve/p"};

const step_method CG_STEPS = {
    .vectors = VECTORS, .saved = 1, .names = names, .start = start, .step = step};
