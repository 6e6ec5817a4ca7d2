/* Conjugate gradients under the implicit stages (implicit.c), in the inner product weighted by the
 * cells' shares.
 *
 * Preconditioned by one V-cycle: q = A p is not kept but made twice, by curvature() for p q and by
 * advance() for x, r and its norm, from cache or 24 bytes a point of p and faces. Where a backend
 * has no fused operations, the same by single ones, bit for bit.
 *
 * Plain (run->plain), one pass over memory an iteration, after Meurant: the direction p = r + beta
 * p must be made before the norm of the new residual r is known, so beta takes what it will be,
 *
 *   |r - alpha q|^2 = alpha^2 q q - r r     (p q = r q = r r / alpha)
 *
 * while alpha takes the true one, which the pass that makes r also sums: errors of the former do
 * not pile up. x gets two directions every second pass: p_before = (p - r) / beta, r being the
 * residual p was made of, as long as beta is not small.
 *
 * A CG of its own, beside that of src/solve: that one works on rows of a matrix with 32-bit
 * indices, its scalars live on the device, checkpoints fall between its iterations, and it is to
 * stay that way; this one works on slabs, is short, and never outlives a step.
 * Sources: Hestenes, Stiefel (1952); Saad (2003), alg. 9.1; Meurant, Multitasking the conjugate
 * gradient method on the CRAY X-MP/48 (1987); Chen, Carson, Predict-and-recompute conjugate
 * gradient variants (2020), on how it fares in rounded arithmetic. */
#include <math.h>

#include "implicit.h"

enum { MOST_ITERATIONS = 500, MOST_PLAIN = 50000 };
static const double LEAST_BETA = 0.25; /* for p_before: what is lost then is two bits */
static const heat_field NONE = {{NULL}};

static const heat_level_backend *ops(const heat_run *run) { return run->kernels->heat->levels; }

static void combine(heat_run *run, double a, heat_field x, double b, heat_field y, heat_field out) {
  heat_count_pass(run);
  HEAT_ATTEMPT(
      run, ops(run)->combine(run->place, run->implicit->grid.level[0].level, a, x, b, y, 0.0, out));
}

static status sum_dot(heat_run *run, heat_field x, heat_field y, double *out) {
  heat_count_pass(run);
  HEAT_ATTEMPT(run, ops(run)->dot(run->place, run->implicit->grid.level[0].level, x, y));
  return run->kernels->sums(run->place, run->world, 1, NULL, out);
}

/* ---- preconditioned ---- */

static void curve(heat_run *run, heat_field p, heat_field r, int64_t from, int64_t to) {
  const heat_multigrid *g = &run->implicit->grid;
  if (from >= to) return;
  heat_count_pass(run);
  HEAT_ATTEMPT(
      run, ops(run)->curvature(run->place, g->level[0].level, g->mass, g->scale, p, r, from, to));
}

/* *out = p A p; its halo is filled meanwhile. */
static status curvature(heat_run *run, double *out) {
  status rc = STATUS_OK;
  heat_implicit *m = run->implicit;
  heat_stratum *s = &m->grid.level[0];
  const int64_t n = s->slab.planes;
  if (ops(run)->curvature == NULL) {
    TRY(heat_level_product(run, &m->grid, 0, m->p, NONE, s->q));
    TRY(sum_dot(run, m->p, s->q, out));
    goto done;
  }
  const int inside = s->slab.g.dims > 1; /* sums of planes of their own */
  if (s->near.neighbours == 0) {
    curve(run, m->p, NONE, 0, n);
  } else {
    TRY(heat_level_exchange_begin(run, s, m->p));
    if (inside) curve(run, m->p, NONE, 1, n - 1);
    TRY(heat_level_exchange_end(run, s, m->p));
    if (inside) {
      curve(run, m->p, NONE, 0, n < 1 ? n : 1);
      curve(run, m->p, NONE, n > 1 ? n - 1 : 1, n);
    } else {
      curve(run, m->p, NONE, 0, n);
    }
  }
  TRY(run->kernels->sums(run->place, run->world, 1, NULL, out));
done:
  return rc;
}

/* x += alpha p, r -= alpha A p; *norm of r. */
static status advance(heat_run *run, double alpha, double *norm) {
  status rc = STATUS_OK;
  heat_implicit *m = run->implicit;
  heat_stratum *s = &m->grid.level[0];
  double square;
  if (ops(run)->advance != NULL) {
    heat_count_pass(run);
    HEAT_ATTEMPT(run, ops(run)->advance(run->place, s->level, m->grid.mass, m->grid.scale, alpha,
                                        m->p, m->x, s->r));
    TRY(run->kernels->sums(run->place, run->world, 1, NULL, &square));
  } else {
    combine(run, alpha, m->p, 1.0, m->x, m->x);
    combine(run, -alpha, s->q, 1.0, s->r, s->r);
    TRY(sum_dot(run, s->r, s->r, &square));
  }
  *norm = sqrt(square);
done:
  return rc;
}

static status preconditioned(heat_run *run, double target, double *norm) {
  status rc = STATUS_OK;
  heat_implicit *m = run->implicit;
  heat_stratum *s = &m->grid.level[0];
  double rho = 0.0, before, curved;
  combine(run, 0.0, NONE, 0.0, NONE, m->x);
  for (int i = 0; *norm > target && m->iterations < MOST_ITERATIONS; i++) {
    TRY(heat_multigrid_cycle(run, &m->grid));
    before = rho;
    TRY(sum_dot(run, s->r, s->z, &rho));
    if (!(rho > 0.0)) break;
    combine(run, i == 0 ? 0.0 : rho / before, i == 0 ? NONE : m->p, 1.0, s->z, m->p);
    TRY(curvature(run, &curved));
    if (!(curved > 0.0)) break;
    TRY(advance(run, rho / curved, norm));
    m->iterations++;
  }
done:
  return rc;
}

/* ---- plain ---- */

/* One pass, and its sums: p A p, (A p)^2, r r of the new p and r. */
static status descend(heat_run *run, const heat_descent *d, heat_field x, double sum[3]) {
  status rc = STATUS_OK;
  heat_implicit *m = run->implicit;
  heat_stratum *s = &m->grid.level[0];
  const int alone = s->near.neighbours == 0;
  const int64_t n = s->slab.planes, first = n < 1 ? n : 1, last = n > 1 ? n - 1 : first;
  const int64_t from = alone ? 0 : s->slab.g.dims == 1 ? n : first, to = alone ? n : last;
  heat_count_pass(run);
  HEAT_ATTEMPT(run, ops(run)->descend(run->place, s->level, d, m->p, x, s->r, from, to));
  if (!alone) {
    TRY(heat_level_exchange_begin(run, s, m->p));
    TRY(heat_level_exchange_end(run, s, m->p));
    curve(run, m->p, s->r, 0, s->slab.g.dims == 1 ? n : first);
    if (s->slab.g.dims > 1) curve(run, m->p, s->r, last, n);
  }
  TRY(run->kernels->sums(run->place, run->world, 3, NULL, sum));
done:
  return rc;
}

/* What x gets in a pass of d->alpha and d->beta, and whether it does. *owed: the share of the
 * direction before p, p being made of it with *made; 0: none. */
static int settle(heat_descent *d, double *owed, double *made) {
  const double share = *owed == 0.0 ? 0.0 : *owed / *made;
  const int waits = d->alpha == 0.0 || (*owed == 0.0 && d->beta >= LEAST_BETA);
  d->along = d->alpha + share;
  d->against = -share;
  *owed = waits ? d->alpha : 0.0;
  *made = d->beta;
  return !waits;
}

static status plain(heat_run *run, double target, double *norm) {
  status rc = STATUS_OK;
  heat_implicit *m = run->implicit;
  const heat_field r = m->grid.level[0].r;
  heat_descent d = {.mass = m->grid.mass, .scale = m->grid.scale};
  double sum[3], owed = 0.0, made = 0.0;
  combine(run, 0.0, NONE, 0.0, NONE, m->x);
  combine(run, 0.0, NONE, 0.0, NONE, m->p);
  for (int i = 0; *norm > target && m->iterations < MOST_PLAIN; i++) {
    const int touched = settle(&d, &owed, &made);
    TRY(descend(run, &d, touched ? m->x : NONE, sum));
    *norm = sqrt(sum[2]);
    m->iterations += i > 0;
    if (!(sum[0] > 0.0)) break;
    d.alpha = sum[2] / sum[0];
    const double next = d.alpha * d.alpha * sum[1] - sum[2];
    d.beta = next > 0.0 ? next / sum[2] : 0.0;
  }
  if (owed != 0.0) {
    combine(run, owed / made, m->p, 1.0, m->x, m->x);
    combine(run, -owed / made, r, 1.0, m->x, m->x);
  }
done:
  return rc;
}

status heat_gradients(heat_run *run, double target, double *norm) {
  if (run->plain && ops(run)->descend == NULL) {
    return fail(STATUS_UNAVAILABLE, "backend %s has no CG without multigrid", run->kernels->name);
  }
  return run->plain ? plain(run, target, norm) : preconditioned(run, target, norm);
}
