/* The spectral radius rho of G = I - D^-1 A from few products.
 *
 * Symmetric A, positive D: the eigenvalues of D^-1 A are real, Lanczos finds both ends from inside
 * (lanczos.h), so max(1 - low, high - 1) is a certain lower bound; the residual bounds make an
 * upper one, which is certain only if no eigenvalue hides beyond the Ritz values it has seen.
 *
 * Else: Arnoldi on G, classical Gram-Schmidt twice, sums batched. The radius of the small matrix H
 * comes from repeated squaring: |H^N|^(1/N), N = 2^52, is it to rounding, complex pairs included,
 * and the last row of H^N gives the residual of the dominant pair. Ritz values of nonnormal
 * matrices may lie beyond the spectrum: both ends are estimates.
 *
 * In both cases rho <= max_i sum_{j != i} |a_ij| / |a_ii| (Gershgorin) is certain and caps the
 * interval. 1 - rho of slow problems is smaller than few steps can tell: then it says so.
 * Cost: one product and, Arnoldi, 4 j vector passes in step j; memory a vector a step.
 * Sources: Saad, Numerical Methods for Large Eigenvalue Problems (2011), 6.2 (Arnoldi); Parlett
 * (1998), 13.2; Gelfand's formula for the radius. */
#include "spectrum.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "alloc.h"
#include "elementary.h"
#include "philox.h"
#include "solve_rules.h"

enum { SQUARINGS = 52, SIDE = SPECTRUM_STEPS_MAX };

/* Resolved: the width of 1 - rho over its larger end. */
static const double RESOLVED = 0.1;

int spectrum_is_real(const matrix_survey *f) {
  return f->symmetric && f->rows > 0 && f->missing_diagonal + f->zero_diagonal == 0 &&
         f->negative_diagonal == 0;
}

/* ---- small matrices ---- */

static double frobenius(int n, const double *p) {
  double sum = 0.0;
  for (int i = 0; i < n * n; i++) sum = fma(p[i], p[i], sum);
  return sqrt(sum);
}

static void square(int n, const double *p, double *out) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double sum = 0.0;
      for (int k = 0; k < n; k++) sum = fma(p[i * n + k], p[k * n + j], sum);
      out[i * n + j] = sum;
    }
  }
}

double spectrum_small_radius(int n, const double *h, int stride, double *last) {
  double p[SIDE * SIDE], q[SIDE * SIDE], logarithm = 0.0, weight = 1.0;
  double largest = 0.0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) largest = fmax(largest, fabs(h[i * stride + j]));
  }
  const int exponent = largest > 0.0 && rules_finite(largest) ? ilogb(largest) : 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) p[i * n + j] = ldexp(h[i * stride + j], -exponent);
  }
  *last = 0.0;
  for (int step = 0; step <= SQUARINGS; step++) { /* log |H^N| / N, term by term */
    const double norm = frobenius(n, p);
    if (!(norm > 0.0)) return 0.0; /* nilpotent */
    logarithm += weight * elementary_log(norm);
    weight *= 0.5;
    for (int i = 0; i < n * n; i++) p[i] /= norm;
    if (step == SQUARINGS) break;
    square(n, p, q);
    for (int i = 0; i < n * n; i++) p[i] = q[i];
  }
  double sum = 0.0;
  for (int j = 0; j < n; j++) sum = fma(p[(n - 1) * n + j], p[(n - 1) * n + j], sum);
  *last = sqrt(sum);
  return ldexp(elementary_exp(logarithm), exponent);
}

/* ---- Arnoldi ---- */

typedef struct arnoldi {
  linear_system *s;
  vec inverse;
  vec basis[SIDE + 1];
  double h[(SIDE + 1) * SIDE]; /* h[i * SIDE + j] */
  int made;
} arnoldi;

/* |x|, and x of length 1 unless that is 0 or not finite. */
static status normalise(linear_system *s, vec x, double *norm) {
  status rc = STATUS_OK;
  double sum;
  ATTEMPT(s, s->kernels->dot(s->place, x, x, 1.0));
  TRY(s->kernels->sums(s->place, s->world, 1, NULL, &sum));
  *norm = sqrt(sum);
  if (*norm > 0.0 && rules_finite(*norm)) {
    ATTEMPT(s, s->kernels->combine(s->place, 1.0 / *norm, x, 0.0, (vec){.rows = 0}, x));
  }
done:
  return rc;
}

/* w = G v */
static status apply(arnoldi *a, vec v, vec w) {
  status rc = STATUS_OK;
  linear_system *s = a->s;
  TRY(linear_product(s, v, w));
  ATTEMPT(s, s->kernels->multiply(s->place, a->inverse, w, w));
  ATTEMPT(s, s->kernels->combine(s->place, -1.0, w, 1.0, v, w));
done:
  return rc;
}

/* Takes the basis' first `count` vectors out of w, twice; adds what they were to column count - 1.
 */
static status orthogonalise(arnoldi *a, int count, vec w) {
  status rc = STATUS_OK;
  linear_system *s = a->s;
  for (int pass = 0; pass < 2; pass++) {
    double found[SIDE], less[SIDE];
    ATTEMPT(s, s->kernels->dots(s->place, count, a->basis, w, 1.0));
    TRY(s->kernels->sums(s->place, s->world, count, NULL, found));
    for (int i = 0; i < count; i++) {
      a->h[i * SIDE + count - 1] += found[i];
      less[i] = -found[i];
    }
    ATTEMPT(s, s->kernels->accumulate(s->place, count, less, a->basis, w));
  }
done:
  return rc;
}

static status start(arnoldi *a) {
  linear_system *s = a->s;
  double *host = NULL;
  ATTEMPT(s, alloc_array(&host, s->rows, sizeof *host, "start of Arnoldi"));
  if (host != NULL) {
    for (lidx i = 0; i < s->rows; i++) {
      const philox_words w = philox_at(0, (uint64_t)(s->first_row + i), PHILOX_LANCZOS, 1, 0);
      host[i] = fma(2.0, philox_uniform(w, 0), -1.0);
    }
    ATTEMPT(s, linear_load(s, a->basis[0], host));
  }
  alloc_free(&host);
  double norm;
  return normalise(s, a->basis[0], &norm);
}

static status iterate(arnoldi *a, int steps) {
  status rc = STATUS_OK;
  double size = 0.0;
  TRY(start(a));
  while (a->made < steps) {
    const int j = a->made;
    double *below = &a->h[(j + 1) * SIDE + j], norm;
    TRY(apply(a, a->basis[j], a->basis[j + 1]));
    TRY(orthogonalise(a, j + 1, a->basis[j + 1]));
    TRY(normalise(a->s, a->basis[j + 1], &norm));
    if (!rules_finite(norm)) break;
    *below = norm;
    a->made++;
    for (int i = 0; i <= j; i++) size = fmax(size, fabs(a->h[i * SIDE + j]));
    if (norm <= 64.0 * DBL_EPSILON * size || norm == 0.0) break;
  }
done:
  return rc;
}

static status measure_arnoldi(linear_system *s, vec inverse, int steps, spectrum *out) {
  status rc = STATUS_OK;
  arnoldi a = {.s = s, .inverse = inverse};
  for (int i = 0; i <= steps; i++) ATTEMPT(s, linear_vector(s, "Arnoldi", &a.basis[i]));
  TRY(comm_agree(s->world, s->failure));
  TRY(iterate(&a, steps));
  out->steps = a.made;
  if (a.made > 0) {
    double last;
    out->how = SPECTRUM_ARNOLDI;
    out->rho = spectrum_small_radius(a.made, a.h, SIDE, &last);
    const double error = a.h[a.made * SIDE + a.made - 1] * last;
    out->rho_low = fmax(0.0, out->rho - error);
    out->rho_high = out->rho + error;
  }
done:
  for (int i = 0; i <= steps; i++) linear_vector_release(s, &a.basis[i]);
  return rc;
}

static status measure_lanczos(linear_system *s, vec inverse, int steps, spectrum *out) {
  status rc = STATUS_OK;
  TRY(lanczos_extremes(s, inverse, steps, &out->ends));
  const lanczos_interval *e = &out->ends;
  out->steps = e->steps;
  if (e->steps == 0) goto done;
  out->how = SPECTRUM_LANCZOS;
  out->rho_low = fmax(0.0, fmax(1.0 - e->low, e->high - 1.0));
  out->rho = out->rho_low;
  out->rho_high = fmax(1.0 - (e->low - e->low_error), e->high + e->high_error - 1.0);
done:
  return rc;
}

/* Row sums are certain, up to their rounding. */
static void cap(const matrix_survey *facts, spectrum *out) {
  const double bound = facts->off_diagonal * (1.0 + 1e-14);
  out->rho_high = fmin(out->rho_high, bound);
  out->rho = fmin(out->rho, bound);
  if (out->how == SPECTRUM_ARNOLDI) out->rho_low = fmin(out->rho_low, bound);
  out->rho_high = fmax(out->rho_high, out->rho_low);
  const double widest = fmax(fabs(1.0 - out->rho_low), fabs(1.0 - out->rho_high));
  out->resolved = out->rho_high - out->rho_low <= RESOLVED * widest;
}

status spectrum_measure(linear_system *s, const matrix_survey *facts, vec inverse_diagonal,
                        int steps, spectrum *out) {
  status rc = STATUS_OK;
  *out = (spectrum){.how = SPECTRUM_UNKNOWN, .rho_high = INFINITY};
  if (facts->rows != facts->columns || facts->rows == 0) goto done;
  if (facts->missing_diagonal + facts->zero_diagonal > 0) goto done;
  if (spectrum_is_real(facts)) {
    TRY(measure_lanczos(s, inverse_diagonal, steps, out));
  } else {
    const int most = steps < SPECTRUM_STEPS_MAX ? steps : SPECTRUM_STEPS_MAX;
    TRY(measure_arnoldi(s, inverse_diagonal, most, out));
  }
  if (out->how != SPECTRUM_UNKNOWN) cap(facts, out);
done:
  return rc;
}

void spectrum_describe(const spectrum *p, char text[SPECTRUM_TEXT]) {
  if (p->how == SPECTRUM_UNKNOWN) {
    snprintf(text, SPECTRUM_TEXT, "spectrum not looked at");
    return;
  }
  const double slow = fabs(1.0 - p->rho_high) < 1e-12 ? 0.0 : 1.0 - p->rho_high;
  const double fast = 1.0 - p->rho_low;
  int at = 0;
  if (p->how == SPECTRUM_LANCZOS) {
    at = snprintf(text, SPECTRUM_TEXT, "D^-1 A in [%.4g, %.4g] (%d Lanczos steps), ", p->ends.low,
                  p->ends.high, p->steps);
  } else {
    at = snprintf(text, SPECTRUM_TEXT, "%d Arnoldi steps, ", p->steps);
  }
  if (p->resolved) {
    snprintf(text + at, (size_t)(SPECTRUM_TEXT - at), "Jacobi's rho = %.6g", p->rho);
  } else {
    snprintf(text + at, (size_t)(SPECTRUM_TEXT - at),
             "Jacobi's rho %s %.6g, 1 - rho in [%.2g, %.2g]: not resolved",
             p->how == SPECTRUM_LANCZOS ? ">=" : "about", p->rho, slow, fast);
  }
}
