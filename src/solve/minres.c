/* MINRES for symmetric matrices, definite or not, with a symmetric positive definite
 * preconditioner: among all x in the Krylov space, the one with the smallest residual in the norm
 * of M^-1.
 *
 * Lanczos vectors v (of A M^-1, orthogonal in M^-1), z = M^-1 v normalised; the tridiagonal matrix
 * is reduced by rotations as it grows, so that three search directions w are enough:
 *
 *   delta = z.A z; v' = A z - (delta/gamma) v - (gamma/gamma_before) v_before; z' = M^-1 v'
 *   gamma' = sqrt(v'.z'); a rotation (c, s) of the new column
 *   w' = (z - a3 w_before - a2 w) / a1; x += c eta w'; eta' = -s eta
 *
 * The 2-norm of the residual, which stops a run, comes from r' = s^2 r + c eta' v'/gamma'. All
 * vectors are those of scale (b - A x), of order one. One product, one application of M, three
 * reductions a step. Traffic per row beside those: 224 bytes.
 * Sources: Paige, Saunders, SIAM J. Numer. Anal. 12 (1975) 617-629; the form with a preconditioner:
 * Elman, Silvester, Wathen, Finite Elements and Fast Iterative Solvers (2014), alg. 4.1. */
#include <float.h>
#include <math.h>

#include "stepping.h"

enum { BEFORE, V, Z, W_BEFORE, W, NEXT, SAVED = NEXT, VECTORS };
enum { GAMMA, GAMMA_BEFORE, ETA, C, C_BEFORE, S, S_BEFORE, SIZE }; /* SIZE: largest entry of T */

/* What rounding leaves of a zero, in units of the largest entry of the tridiagonal matrix. */
static const double ZERO = 16.0 * DBL_EPSILON;

/* z = M^-1 v, *gamma = sqrt(v.z), z normalised. False where M is not positive definite. */
static status normalise(stepping *t, double *gamma, int *definite) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  const vec v = t->work[V], z = t->work[Z], none = {.rows = 0};
  double sum;
  TRY(preconditioning_apply(s, t->run->preconditioning, v, z));
  TRY(linear_dot(s, v, z, 1.0, &sum));
  *definite = sum >= 0.0;
  *gamma = sqrt(sum);
  if (sum > 0.0) ATTEMPT(s, s->kernels->combine(s->place, 1.0 / *gamma, z, 0.0, none, z));
  if (!*definite) stepping_break(t, "the preconditioner is not positive definite: r.z", sum);
done:
  return rc;
}

static status start(stepping *t) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  const vec none = {.rows = 0};
  double gamma;
  int definite;
  ATTEMPT(s, s->kernels->combine(s->place, t->run->scale, t->r, 0.0, none, t->r));
  ATTEMPT(s, s->kernels->copy(s->place, t->work[V], t->r));
  ATTEMPT(s, s->kernels->fill(s->place, t->work[BEFORE], 0.0));
  ATTEMPT(s, s->kernels->fill(s->place, t->work[W_BEFORE], 0.0));
  ATTEMPT(s, s->kernels->fill(s->place, t->work[W], 0.0));
  TRY(normalise(t, &gamma, &definite));
  t->real[GAMMA] = gamma;
  t->real[GAMMA_BEFORE] = 1.0; /* of v_before = 0 */
  t->real[ETA] = gamma;
  t->real[C] = t->real[C_BEFORE] = 1.0;
  t->real[S] = t->real[S_BEFORE] = t->real[SIZE] = 0.0;
done:
  return rc;
}

static void exchange(vec *a, vec *b) {
  const vec kept = *a;
  *a = *b;
  *b = kept;
}

/* The next Lanczos vector in NEXT; *delta. */
static status lanczos(stepping *t, double *delta) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  const vec next = t->work[NEXT], from[] = {t->work[V], t->work[BEFORE]};
  t->run->products++;
  TRY(linear_product(s, t->work[Z], next));
  TRY(linear_dot(s, t->work[Z], next, 1.0, delta));
  const double factor[] = {-*delta / t->real[GAMMA], -t->real[GAMMA] / t->real[GAMMA_BEFORE]};
  ATTEMPT(s, s->kernels->accumulate(s->place, 2, factor, from, next));
done:
  return rc;
}

/* w' = (z - a3 w_before - a2 w) / a1 in place of w_before, then x += step w'. */
static void advance(stepping *t, double a1, double a2, double a3, double step) {
  linear_system *s = t->run->system;
  const vec w = t->work[W], next = t->work[W_BEFORE];
  const double less = -a2 / a1;
  ATTEMPT(s, s->kernels->combine(s->place, 1.0 / a1, t->work[Z], -a3 / a1, next, next));
  ATTEMPT(s, s->kernels->accumulate(s->place, 1, &less, &w, next));
  ATTEMPT(s, s->kernels->accumulate(s->place, 1, &step, &next, t->run->x));
  exchange(&t->work[W], &t->work[W_BEFORE]);
}

static status step(stepping *t) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  double *real = t->real, delta, gamma;
  int definite;
  if (!(real[GAMMA] > 0.0)) {
    stepping_break(t, "the Krylov space ends: v.z", real[GAMMA]);
    goto done;
  }
  TRY(lanczos(t, &delta));
  const double a0 = real[C] * delta - real[C_BEFORE] * real[S] * real[GAMMA];
  const double a2 = real[S] * delta + real[C_BEFORE] * real[C] * real[GAMMA];
  const double a3 = real[S_BEFORE] * real[GAMMA];
  exchange(&t->work[BEFORE], &t->work[V]); /* NEXT becomes V; the oldest is free */
  exchange(&t->work[V], &t->work[NEXT]);
  exchange(&t->work[NEXT], &t->work[Z]); /* the z of this step is still to be used */
  TRY(normalise(t, &gamma, &definite));
  exchange(&t->work[NEXT], &t->work[Z]);
  if (!definite) goto done;
  real[SIZE] = fmax(real[SIZE], fmax(fabs(delta), gamma));
  if (gamma <= ZERO * real[SIZE]) gamma = 0.0; /* the space is invariant */
  const double a1 = sqrt(a0 * a0 + gamma * gamma);
  if (!(a1 > ZERO * real[SIZE])) {
    stepping_break(t, "the matrix is singular on the Krylov space: a pivot", a1);
    goto done;
  }
  const double c = a0 / a1, sine = gamma / a1, eta = -sine * real[ETA];
  advance(t, a1, a2, a3, c * real[ETA] / t->run->scale);
  exchange(&t->work[NEXT], &t->work[Z]);
  const double along = gamma > 0.0 ? c * eta / gamma : 0.0;
  ATTEMPT(s, s->kernels->combine(s->place, sine * sine, t->r, along, t->work[V], t->r));
  real[GAMMA_BEFORE] = real[GAMMA];
  real[GAMMA] = gamma;
  real[ETA] = eta;
  real[C_BEFORE] = real[C];
  real[C] = c;
  real[S_BEFORE] = real[S];
  real[S] = sine;
  TRY(linear_norm(s, t->r, 1.0, &t->residual));
done:
  return rc;
}

static const char *const names[] = {"/solve/v_before", "/solve/v", "/solve/z", "/solve/w_before",
                                    "/solve/w"};

static const step_method METHOD = {
    .vectors = VECTORS, .saved = SAVED, .names = names, .start = start, .step = step};

static status run(solve_run *run) { return stepping_run(run, &METHOD); }

const solver SOLVER_minres = {
    .name = "minres",
    .help = "minimal residuals; for symmetric matrices, indefinite ones too",
    .source = "Paige, Saunders (1975)",
    .flags = SOLVER_NEEDS_SYMMETRY | SOLVER_TAKES_PRECONDITIONER,
    .vector_bytes = 224,
    .run = run,
};
