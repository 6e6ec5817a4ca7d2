/* Restarted GMRES, right preconditioned, for any square matrix: among all x in the Krylov space of
 * a cycle, the one with the smallest residual.
 *
 *   w = A M^-1 v_j; h = V' w, w -= V h, twice (classical Gram-Schmidt: the sums of a batch share a
 *   reduction, and twice is enough); v_{j+1} = w / |w|; a rotation of the new column
 *
 * The rotated right side's last entry is the residual's norm, so x is formed only at the end of a
 * cycle (x += M^-1 V y) or of the run; a cycle then starts from the true residual. `gmres_restart`
 * steps make a cycle; that many vectors are kept. Where w vanishes, the space is invariant and x
 * exact, unless A is singular on it.
 *
 * A step makes one product, one application of M, three reductions; traffic per row beside those in
 * step j: 8 (6 j + 14) bytes, on average of a cycle of 30: 850. The residual never grows, but from
 * cycle to cycle it may stall: then a longer cycle or a better preconditioner is needed.
 * Sources: Saad, Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856-869; Saad (2003), alg. 9.5; twice
 * is enough: Giraud, Langou, Rozloznik, van den Eshof, Numer. Math. 101 (2005) 87-100. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "stepping.h"

typedef struct cycle {
  int steps;         /* of a cycle */
  int j;             /* made so far */
  double *h;         /* [steps (steps + 1)] column j at j (steps + 1), rotated: upper triangular */
  double *c, *s;     /* [steps] rotations */
  double *g;         /* [steps + 1] the rotated right side, scaled as residuals are */
  double *y, *again; /* [steps + 1] */
} cycle;

static int vectors(const solve_run *run) { return run->gmres_restart + 2; } /* V, and M^-1 v */

static status open(stepping *t) {
  status rc = STATUS_OK;
  cycle *a = t->data;
  const int64_t m = t->run->gmres_restart;
  a->steps = (int)m;
  TRY(alloc_array(&a->h, m * (m + 1), sizeof *a->h, "Hessenberg matrix"));
  TRY(alloc_array(&a->c, m, sizeof *a->c, "rotations"));
  TRY(alloc_array(&a->s, m, sizeof *a->s, "rotations"));
  TRY(alloc_array(&a->g, m + 1, sizeof *a->g, "rotated right side"));
  TRY(alloc_array(&a->y, m + 1, sizeof *a->y, "coefficients"));
  TRY(alloc_array(&a->again, m + 1, sizeof *a->again, "coefficients"));
done:
  return rc;
}

static void close(stepping *t) {
  cycle *a = t->data;
  alloc_free(&a->h);
  alloc_free(&a->c);
  alloc_free(&a->s);
  alloc_free(&a->g);
  alloc_free(&a->y);
  alloc_free(&a->again);
}

static status start(stepping *t) {
  ((cycle *)t->data)->j = 0;
  return STATUS_OK;
}

/* v_0 = r / |r|; of a subnormal r in two steps, for 1 / |r| is beyond the range. */
static void begin_cycle(stepping *t) {
  linear_system *s = t->run->system;
  cycle *a = t->data;
  const vec none = {.rows = 0}, v = t->work[0];
  const double factor = t->run->scale / t->residual;
  a->g[0] = t->residual;
  if (isinf(factor)) {
    ATTEMPT(s, s->kernels->combine(s->place, t->run->scale, t->r, 0.0, none, v));
    ATTEMPT(s, s->kernels->combine(s->place, 1.0 / t->residual, v, 0.0, none, v));
  } else {
    ATTEMPT(s, s->kernels->combine(s->place, factor, t->r, 0.0, none, v));
  }
}

/* One pass of Gram-Schmidt: h = V' w, w -= V h. */
static status orthogonalise(stepping *t, vec w, double *h) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  cycle *a = t->data;
  const int count = a->j + 1;
  TRY(linear_dots(s, count, t->work, w, 1.0, h));
  for (int k = 0; k < count; k++) a->y[k] = -h[k];
  ATTEMPT(s, s->kernels->accumulate(s->place, count, a->y, t->work, w));
done:
  return rc;
}

/* Column j of H and v_{j+1}; *size: the norm of the column, of which h[j + 1] is what is new. */
static status arnoldi(stepping *t, double *h, double *size) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  cycle *a = t->data;
  const int j = a->j;
  const vec w = t->work[j + 1], none = {.rows = 0};
  TRY(stepping_product(t, t->work[j], t->work[a->steps + 1], w));
  TRY(orthogonalise(t, w, h));
  TRY(orthogonalise(t, w, a->again));
  double squares = 0.0;
  for (int k = 0; k <= j; k++) {
    h[k] += a->again[k];
    squares = fma(h[k], h[k], squares);
  }
  TRY(linear_norm(s, w, 1.0, &h[j + 1]));
  *size = sqrt(fma(h[j + 1], h[j + 1], squares));
  if (h[j + 1] <= DBL_EPSILON * *size) h[j + 1] = 0.0;
  if (h[j + 1] > 0.0) {
    ATTEMPT(s, s->kernels->combine(s->place, 1.0 / h[j + 1], w, 0.0, none, w));
  }
done:
  return rc;
}

/* The rotations of earlier columns, then one that makes h[j + 1] zero. False: the whole pivot is
 * zero, and the column of no use. */
static int rotate(cycle *a, double *h, double size) {
  const int j = a->j;
  for (int k = 0; k < j; k++) {
    const double upper = fma(a->c[k], h[k], a->s[k] * h[k + 1]);
    h[k + 1] = fma(-a->s[k], h[k], a->c[k] * h[k + 1]);
    h[k] = upper;
  }
  const double pivot = sqrt(fma(h[j], h[j], h[j + 1] * h[j + 1]));
  if (!(pivot > 16.0 * DBL_EPSILON * size)) return 0;
  a->c[j] = h[j] / pivot;
  a->s[j] = h[j + 1] / pivot;
  h[j] = pivot;
  a->g[j + 1] = -a->s[j] * a->g[j];
  a->g[j] = a->c[j] * a->g[j];
  return 1;
}

/* x += M^-1 V y, H y = g. r is work space. */
static status settle(stepping *t) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  cycle *a = t->data;
  const vec none = {.rows = 0}, z = t->work[a->steps + 1];
  const double back = 1.0 / t->run->scale;
  for (int i = a->j - 1; i >= 0; i--) {
    double sum = a->g[i];
    for (int k = i + 1; k < a->j; k++) {
      sum = fma(-a->h[(int64_t)k * (a->steps + 1) + i], a->y[k], sum);
    }
    a->y[i] = sum / a->h[(int64_t)i * (a->steps + 1) + i];
  }
  if (a->j == 0) goto done;
  ATTEMPT(s, s->kernels->combine(s->place, a->y[0], t->work[0], 0.0, none, t->r));
  ATTEMPT(s, s->kernels->accumulate(s->place, a->j - 1, a->y + 1, t->work + 1, t->r));
  const vec image = stepping_image(t, t->r, z);
  if (image.data.at == z.data.at) {
    TRY(preconditioning_apply(s, t->run->preconditioning, t->r, z));
  }
  ATTEMPT(s, s->kernels->accumulate(s->place, 1, &back, &image, t->run->x));
done:
  a->j = 0;
  return rc;
}

/* The end of a cycle: x and its true residual. */
static status end_cycle(stepping *t) {
  status rc = STATUS_OK;
  const cycle *a = t->data;
  solve_run *run = t->run;
  double norm[2];
  int moved = 0;
  const int made = a->j;
  TRY(settle(t));
  for (int k = 0; k < made; k++) moved |= a->y[k] != 0.0;
  run->products++;
  TRY(linear_residual(run->system, run->x, run->b, t->r, run->scale, norm));
  t->residual = norm[0];
  t->whole = 1;
  if (!moved && !run->limits.fixed_count) t->verdict = VERDICT_REPEATS;
done:
  return rc;
}

static status step(stepping *t) {
  status rc = STATUS_OK;
  cycle *a = t->data;
  double *h = a->h + (int64_t)a->j * (a->steps + 1), size;
  if (a->j == 0) begin_cycle(t);
  t->whole = 0;
  TRY(arnoldi(t, h, &size));
  const double fresh = h[a->j + 1];
  if (rotate(a, h, size)) {
    a->j++;
    t->residual = fabs(a->g[a->j]);
  } else if (a->j == 0) {
    t->whole = 1;
    stepping_break(t, "the matrix is singular on the Krylov space: |A v|", size);
    goto done;
  }
  if (a->j == a->steps || !(fresh > 0.0)) TRY(end_cycle(t));
done:
  return rc;
}

static const step_method METHOD = {.bytes = sizeof(cycle),
                                   .count = vectors,
                                   .open = open,
                                   .close = close,
                                   .start = start,
                                   .step = step,
                                   .settle = settle};

static status run(solve_run *run) { return stepping_run(run, &METHOD); }

const solver SOLVER_gmres = {
    .name = "gmres",
    .help = "generalised minimal residuals, restarted; for any square matrix",
    .source = "Saad, Schultz (1986)",
    .flags = SOLVER_TAKES_PRECONDITIONER,
    .vector_bytes = 850,
    .run = run,
};
