/* Lanczos on D^-1 A, which is symmetric in the inner product (x, y) = x.Dy. With u = D v,
 *
 *   p = A v - beta u_before; alpha = v.p; p -= alpha u; v' = D^-1 p; beta' = sqrt(p.v');
 *   u, v = p / beta', v' / beta'
 *
 * so that D itself and square roots of it are not needed on the backend. No reorthogonalisation:
 * rounding brings copies of ends that have converged, and no false ones (Paige); their residual
 * bounds beta |s_last| keep their meaning. Four vectors whatever the steps.
 *
 * The start is D^(1/2) times uniform numbers in (-1, 1) by Philox of the global index (stream 245),
 * so that no row is favoured. Sums are exact and the rest is elementwise: the same bits for any
 * ranks, threads, backends.
 * Sources: Lanczos, J. Res. NBS 45 (1950) 255-282; Paige, Linear Algebra Appl. 34 (1980) 235-258;
 * Parlett, The Symmetric Eigenvalue Problem (1998), 13.2 (residual bounds). */
#include "lanczos.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "philox.h"
#include "solve_rules.h"
#include "tridiagonal.h"

/* The ends are looked at every so many steps; known when their errors are below ENOUGH of high. */
enum { LOOK_EVERY = 10 };
static const double ENOUGH = 1e-10;

typedef struct lanczos {
  linear_system *s;
  vec inverse;
  vec before, u, v, p;
  double *alpha, *beta, *work; /* [steps], [steps], [3 steps] */
} lanczos;

static status dot(linear_system *s, vec x, vec y, double *out) {
  ATTEMPT(s, s->kernels->dot(s->place, x, y, 1.0));
  return s->kernels->sums(s->place, s->world, 1, NULL, out);
}

/* v = D^-1 p */
static void divide(lanczos *l) {
  linear_system *s = l->s;
  if (l->inverse.data.at != NULL) {
    ATTEMPT(s, s->kernels->multiply(s->place, l->inverse, l->p, l->v));
  } else {
    ATTEMPT(s, s->kernels->copy(s->place, l->v, l->p));
  }
}

/* p becomes the start; *positive: every diagonal entry is. */
static status start(lanczos *l, int *positive) {
  status rc = STATUS_OK;
  linear_system *s = l->s;
  double *host = NULL, least = INFINITY;
  ATTEMPT(s, alloc_array(&host, s->rows, sizeof *host, "start of Lanczos"));
  if (host != NULL) {
    for (lidx i = 0; i < s->rows; i++) host[i] = 1.0;
    if (l->inverse.data.at != NULL) ATTEMPT(s, linear_store(s, host, l->inverse));
    for (lidx i = 0; i < s->rows; i++) {
      least = fmin(least, host[i] > 0.0 ? host[i] : 0.0);
      const philox_words w = philox_at(0, (uint64_t)(s->first_row + i), PHILOX_LANCZOS, 0, 0);
      host[i] = fma(2.0, philox_uniform(w, 0), -1.0) / sqrt(host[i]);
    }
    ATTEMPT(s, linear_load(s, l->p, host));
  }
  TRY(comm_min_f64(s->world, &least, 1));
  *positive = least > 0.0;
done:
  alloc_free(&host);
  return rc;
}

/* From p and v = D^-1 p to the next u and v; *coupling = |p| in the inner product, 0 at the end. */
static status advance(lanczos *l, double size, double *coupling) {
  status rc = STATUS_OK;
  linear_system *s = l->s;
  const vec none = {.rows = 0};
  double square;
  divide(l);
  TRY(dot(s, l->p, l->v, &square));
  *coupling = square > 0.0 ? sqrt(square) : 0.0;
  if (!rules_finite(square)) *coupling = square;
  if (!(*coupling > 64.0 * DBL_EPSILON * size) || !rules_finite(*coupling)) goto done;
  const vec spent = l->before;
  l->before = l->u;
  l->u = spent;
  ATTEMPT(s, s->kernels->combine(s->place, 1.0 / *coupling, l->p, 0.0, none, l->u));
  ATTEMPT(s, s->kernels->combine(s->place, 1.0 / *coupling, l->v, 0.0, none, l->v));
done:
  return rc;
}

/* The ends of the spectrum of the tridiagonal matrix of `steps` steps. */
static void judge(const lanczos *l, int steps, lanczos_interval *out) {
  double last;
  const double coupling = l->beta[steps - 1];
  out->steps = steps;
  tridiagonal_extreme(steps, l->alpha, l->beta, TRIDIAGONAL_LOWEST, l->work, &out->low, &last);
  out->low_error = coupling * last;
  tridiagonal_extreme(steps, l->alpha, l->beta, TRIDIAGONAL_HIGHEST, l->work, &out->high, &last);
  out->high_error = coupling * last;
  const double size = fmax(fabs(out->low), fabs(out->high));
  out->indefinite = out->low < -256.0 * DBL_EPSILON * size;
}

static status iterate(lanczos *l, int steps, lanczos_interval *out) {
  status rc = STATUS_OK;
  linear_system *s = l->s;
  double size = 0.0, coupling;
  int made = 0;
  TRY(advance(l, 0.0, &coupling));
  while (made < steps && coupling > 64.0 * DBL_EPSILON * size && rules_finite(coupling)) {
    TRY(linear_product(s, l->v, l->p));
    if (made > 0) ATTEMPT(s, s->kernels->combine(s->place, -coupling, l->before, 1.0, l->p, l->p));
    TRY(dot(s, l->v, l->p, &l->alpha[made]));
    ATTEMPT(s, s->kernels->combine(s->place, -l->alpha[made], l->u, 1.0, l->p, l->p));
    size = fmax(size, fabs(l->alpha[made]) + (made > 0 ? coupling : 0.0));
    TRY(advance(l, size, &coupling));
    if (!rules_finite(l->alpha[made]) || !rules_finite(coupling)) break;
    l->beta[made++] = coupling;
    if (made % LOOK_EVERY != 0) continue;
    judge(l, made, out);
    if (fmax(out->low_error, out->high_error) < ENOUGH * fabs(out->high)) break;
  }
  if (made > 0) judge(l, made, out);
done:
  return rc;
}

status lanczos_extremes(linear_system *s, vec inverse_diagonal, int steps, lanczos_interval *out) {
  status rc = STATUS_OK;
  lanczos l = {.s = s, .inverse = inverse_diagonal};
  int positive = 0;
  *out = (lanczos_interval){
      .low = 0.0, .high = INFINITY, .low_error = INFINITY, .high_error = INFINITY};
  ATTEMPT(s, linear_vector(s, "Lanczos, before", &l.before));
  ATTEMPT(s, linear_vector(s, "Lanczos, u", &l.u));
  ATTEMPT(s, linear_vector(s, "Lanczos, v", &l.v));
  ATTEMPT(s, linear_vector(s, "Lanczos, p", &l.p));
  ATTEMPT(s, alloc_array(&l.alpha, (int64_t)steps * 5, sizeof *l.alpha, "Lanczos"));
  TRY(comm_agree(s->world, s->failure));
  l.beta = l.alpha + steps;
  l.work = l.beta + steps;
  TRY(start(&l, &positive));
  if (!positive) {
    out->indefinite = 1;
    goto done;
  }
  TRY(iterate(&l, steps, out));
done:
  alloc_free(&l.alpha);
  linear_vector_release(s, &l.p);
  linear_vector_release(s, &l.v);
  linear_vector_release(s, &l.u);
  linear_vector_release(s, &l.before);
  return rc;
}
