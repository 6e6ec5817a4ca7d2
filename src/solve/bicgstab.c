/* BiCGSTAB, right preconditioned, for nonsymmetric matrices.
 *
 *   p = r + beta (p - omega v); v = A M^-1 p; alpha = rho / (r~, v); s = r - alpha v
 *   t = A M^-1 s; omega = (t, s) / (t, t); x += M^-1 (alpha p + omega s); r = s - omega t
 *   rho' = (r~, r); beta = (rho' / rho)(alpha / omega)
 *
 * with r~ the first residual. Short recurrences: five vectors beside x and r, whatever the number
 * of steps; two products and two applications of M a step; three reductions. Traffic per row beside
 * those: 232 bytes. The residual is not monotone, and may be carried away from the true one: the
 * driver checks and restarts.
 *
 * Where r has become orthogonal to r~ (rho = 0), or t to s (omega = 0), it begins anew with r~ = r:
 * that loses the directions, not x. rho passes through values of nothing but rounding
 * (1e-17 |r~| |r|) in runs that converge, so zero is taken as below eps^2 of that. It breaks down
 * where beginnings of one step follow each other, or v is orthogonal to r~ (skew-symmetric
 * matrices). gmres has no such breakdown. Source: van der Vorst, SIAM J. Sci. Stat. Comput. 13
 * (1992) 631-644. */
#include <float.h>
#include <math.h>

#include "stepping.h"

enum { FIRST, P, V, HAT, T, VECTORS }; /* r~, p, v; M^-1 p or M^-1 s; t */
enum {
  RHO,
  RHO_BEFORE,
  ALPHA,
  OMEGA,
  FIRST_NORM,
  STEPS,
  VAIN
}; /* steps since p was r, and how
many beginnings before this one lasted one step */
enum { VAIN_MOST = 5 };

static const double EPS = DBL_EPSILON * DBL_EPSILON;

static status start(stepping *t) {
  linear_system *s = t->run->system;
  ATTEMPT(s, s->kernels->copy(s->place, t->work[FIRST], t->r));
  ATTEMPT(s, s->kernels->copy(s->place, t->work[P], t->r));
  t->real[RHO] = t->residual * t->residual;
  t->real[FIRST_NORM] = t->residual;
  t->real[STEPS] = 0.0;
  t->real[VAIN] = 0.0;
  return STATUS_OK;
}

/* Begins from r, unless several beginnings have led to nothing: t->verdict. */
static status begin_anew(stepping *t, const char *what, double value) {
  const double vain = t->real[STEPS] == 1.0 ? t->real[VAIN] + 1.0 : 0.0;
  if (vain > VAIN_MOST || value != value) {
    stepping_break(t, what, value);
    return STATUS_OK;
  }
  const status rc = start(t);
  t->real[VAIN] = vain;
  return rc;
}

/* p = r + beta (p - omega v), or a beginning; or t->verdict. */
static status direction(stepping *t) {
  linear_system *s = t->run->system;
  const vec p = t->work[P], v = t->work[V];
  const double rho = t->real[RHO], omega = t->real[OMEGA];
  if (t->real[STEPS] == 0.0) return STATUS_OK;
  if (!(fabs(rho) > EPS * t->real[FIRST_NORM] * t->residual)) {
    return begin_anew(t, "(r~, r)/(|r~| |r|)", rho / (t->real[FIRST_NORM] * t->residual));
  }
  if (omega == 0.0) return begin_anew(t, "omega", omega);
  const double beta = rho / t->real[RHO_BEFORE] * (t->real[ALPHA] / omega);
  ATTEMPT(s, s->kernels->combine(s->place, 1.0, p, -omega, v, p));
  ATTEMPT(s, s->kernels->combine(s->place, beta, p, 1.0, t->r, p));
  return STATUS_OK;
}

/* x += M^-1 (alpha p), r = s. *made: alpha was there. */
static status first_half(stepping *t, int *made) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  const vec p = t->work[P], v = t->work[V], hat = stepping_image(t, p, t->work[HAT]);
  double sum;
  *made = 0;
  TRY(stepping_product(t, p, t->work[HAT], v));
  TRY(linear_dot(s, t->work[FIRST], v, t->run->scale, &sum));
  const double alpha = t->real[RHO] / sum, minus = -alpha;
  if (sum == 0.0 || alpha - alpha != 0.0) {
    stepping_break(t, "(r~, v)", sum);
    goto done;
  }
  t->real[ALPHA] = alpha;
  ATTEMPT(s, s->kernels->accumulate(s->place, 1, &alpha, &hat, t->run->x));
  ATTEMPT(s, s->kernels->accumulate(s->place, 1, &minus, &v, t->r));
  *made = 1;
done:
  return rc;
}

/* x += M^-1 (omega s), r = s - omega t. t = 0: r stays s, and omega 0 ends the run if s does not.
 */
static status second_half(stepping *t) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  const double scale = t->run->scale;
  const vec q = t->work[T], with[] = {t->r, q};
  const vec hat = stepping_image(t, t->r, t->work[HAT]);
  double sum[2];
  TRY(stepping_product(t, t->r, t->work[HAT], q));
  TRY(linear_dots(s, 2, with, q, scale, sum));
  TRY(linear_redo(s, t->r, q, scale, &sum[0]));
  TRY(linear_redo(s, q, q, scale, &sum[1]));
  const double omega = sum[1] == 0.0 ? 0.0 : sum[0] / sum[1], minus = -omega;
  t->real[OMEGA] = omega;
  ATTEMPT(s, s->kernels->accumulate(s->place, 1, &omega, &hat, t->run->x));
  ATTEMPT(s, s->kernels->accumulate(s->place, 1, &minus, &q, t->r));
done:
  return rc;
}

static status step(stepping *t) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  const double scale = t->run->scale;
  const vec with[] = {t->work[FIRST], t->r};
  double sum[2];
  int made;
  TRY(direction(t));
  if (t->verdict != VERDICT_NONE) goto done;
  TRY(first_half(t, &made));
  if (!made) goto done;
  TRY(second_half(t));
  TRY(linear_dots(s, 2, with, t->r, scale, sum));
  TRY(linear_redo(s, with[0], t->r, scale, &sum[0]));
  TRY(linear_redo(s, t->r, t->r, scale, &sum[1]));
  t->real[RHO_BEFORE] = t->real[RHO];
  t->real[RHO] = sum[0];
  t->real[STEPS] += 1.0;
  t->residual = sqrt(sum[1]);
done:
  return rc;
}

static const char *const names[] = {"/solve/first", "/solve/p", "/solve/v"};

static const step_method METHOD = {
    .vectors = VECTORS, .saved = 3, .names = names, .start = start, .step = step};

static status run(solve_run *run) { return stepping_run(run, &METHOD); }

const solver SOLVER_bicgstab = {
    .name = "bicgstab",
    .help = "stabilised biconjugate gradients; for nonsymmetric matrices, little memory",
    .source = "van der Vorst (1992)",
    .flags = SOLVER_TAKES_PRECONDITIONER,
    .vector_bytes = 232,
    .run = run,
};
