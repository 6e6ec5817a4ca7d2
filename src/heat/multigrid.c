/* The V-cycle (multigrid.h): Chebyshev smoothing of D^-1 A before and after, from zero, on the part
 * of the spectrum that coarser grids do not see; its upper end by Gershgorin. The two are the same
 * polynomial and restriction is the adjoint of interpolation, so the cycle is a symmetric operator,
 * as CG asks of a preconditioner.
 *
 * Traffic of a cycle of degree 2 per point, 2-D with variable alpha: about 250 bytes on the finest
 * level, 4/3 of that in all. Sources: Adams, Brezina, Hu, Tuminaro, Parallel multigrid smoothing
 * (2003); Saad (2003), alg. 12.1. */
#include <math.h>

#include "multigrid.h"
#include "timers.h"

enum { DEGREE = 3 };

static const heat_level_backend *ops(const heat_run *run) { return run->kernels->heat->levels; }

/* ---- halos ---- */

static status exchange_begin(heat_run *run, heat_stratum *s, halo *h, heat_field u) {
  if (h->sends > 0) {
    HEAT_ATTEMPT(run, run->kernels->heat->pack(run->place, s->work, h, u));
  }
  timers_switch(run->timers, PHASE_COMMUNICATE);
  const status rc = halo_begin(h);
  timers_switch(run->timers, PHASE_COMPUTE);
  return rc;
}

static status exchange_end(heat_run *run, heat_stratum *s, halo *h, heat_field u) {
  timers_switch(run->timers, PHASE_COMMUNICATE);
  const status rc = halo_end(h);
  timers_switch(run->timers, PHASE_COMPUTE);
  if (h->ghosts > 0) {
    HEAT_ATTEMPT(run, run->kernels->heat->unpack(run->place, s->work, h, u));
  }
  return rc;
}

static status exchange(heat_run *run, heat_stratum *s, halo *h, heat_field u) {
  const status rc = exchange_begin(run, s, h, u);
  return rc != STATUS_OK ? rc : exchange_end(run, s, h, u);
}

status heat_level_exchange_begin(heat_run *run, heat_stratum *s, heat_field u) {
  return exchange_begin(run, s, &s->near, u);
}

status heat_level_exchange_end(heat_run *run, heat_stratum *s, heat_field u) {
  return exchange_end(run, s, &s->near, u);
}

/* ---- operations with a halo ---- */

/* Coefficients NULL: a product or residual, else a step of smoothing. */
typedef struct sweep {
  heat_field u, r, out;
  const double *c;
} sweep;

static status planes(heat_run *run, heat_multigrid *m, heat_stratum *s, const sweep *w,
                     int64_t from, int64_t to) {
  if (from >= to) return STATUS_OK;
  heat_count_pass(run);
  return w->c == NULL ? ops(run)->apply(run->place, s->level, m->mass, m->scale, w->u, w->r, w->out,
                                        from, to)
                      : ops(run)->relax(run->place, s->level, m->mass, m->scale, w->u, w->r, w->out,
                                        w->c, from, to);
}

static status run_sweep(heat_run *run, heat_multigrid *m, heat_stratum *s, const sweep *w) {
  status rc = STATUS_OK;
  const int64_t n = s->slab.planes;
  if (w->u.data.at == NULL || s->near.neighbours == 0) {
    HEAT_ATTEMPT(run, planes(run, m, s, w, 0, n));
    goto done;
  }
  TRY(exchange_begin(run, s, &s->near, w->u));
  HEAT_ATTEMPT(run, planes(run, m, s, w, 1, n - 1));
  TRY(exchange_end(run, s, &s->near, w->u));
  HEAT_ATTEMPT(run, planes(run, m, s, w, 0, n < 1 ? n : 1));
  HEAT_ATTEMPT(run, planes(run, m, s, w, n > 1 ? n - 1 : 1, n));
done:
  return rc;
}

status heat_level_product(heat_run *run, heat_multigrid *m, int level, heat_field u, heat_field r,
                          heat_field out) {
  const sweep w = {.u = u, .r = r, .out = out};
  return run_sweep(run, m, &m->level[level], &w);
}

static void turn(heat_stratum *s) {
  const heat_field old = s->z;
  s->z = s->w;
  s->w = old;
}

/* DEGREE steps on z; from_zero: what it holds counts as 0. */
static status smooth(heat_run *run, heat_multigrid *m, heat_stratum *s, int from_zero) {
  status rc = STATUS_OK;
  const double most = m->scale * s->reach, upper = 1.0 + most / (m->mass + most);
  const double lower = upper * s->lowest;
  const double middle = 0.5 * (upper + lower), half = 0.5 * (upper - lower), sigma = middle / half;
  double rho = 1.0 / sigma;
  for (int i = 0; i < DEGREE; i++) {
    double c[3] = {1.0, 0.0, 1.0 / middle};
    sweep w = {.u = s->z, .r = s->r, .out = s->w, .c = c};
    if (i == 0 && from_zero) w.u.data.at = NULL;
    if (i > 0) {
      const double next = 1.0 / (2.0 * sigma - rho);
      c[0] = 1.0 + next * rho;
      c[1] = i == 1 && from_zero ? 0.0 : -(next * rho);
      c[2] = 2.0 * next / half;
      rho = next;
    }
    TRY(run_sweep(run, m, s, &w));
    turn(s);
  }
done:
  return rc;
}

/* ---- the cycle ---- */

static status down(heat_run *run, heat_multigrid *m, int level) {
  status rc = STATUS_OK;
  heat_stratum *s = &m->level[level], *coarse = s + 1;
  TRY(smooth(run, m, s, 1));
  TRY(heat_level_product(run, m, level, s->z, s->r, s->q));
  TRY(exchange(run, s, &s->far, s->q));
  heat_count_pass(run);
  HEAT_ATTEMPT(run, ops(run)->restriction(run->place, coarse->level, s->level, s->q, coarse->r));
done:
  return rc;
}

static status up(heat_run *run, heat_multigrid *m, int level) {
  status rc = STATUS_OK;
  heat_stratum *s = &m->level[level], *coarse = s + 1;
  if (level + 2 < m->levels) TRY(exchange(run, coarse, &coarse->near, coarse->z));
  heat_count_pass(run);
  HEAT_ATTEMPT(run, ops(run)->interpolate(run->place, coarse->level, s->level, coarse->z, s->z));
  TRY(smooth(run, m, s, 0));
done:
  return rc;
}

status heat_multigrid_cycle(heat_run *run, heat_multigrid *m) {
  status rc = STATUS_OK;
  for (int i = 0; i + 1 < m->levels; i++) TRY(down(run, m, i));
  TRY(heat_dense_solve(run, m));
  for (int i = m->levels - 2; i >= 0; i--) TRY(up(run, m, i));
done:
  return rc;
}

status heat_multigrid_set(heat_run *run, heat_multigrid *m, double mass, double scale) {
  (void)run;
  if (m->mass == mass && m->scale == scale) return STATUS_OK;
  m->mass = mass;
  m->scale = scale;
  return heat_dense_factor(m);
}
