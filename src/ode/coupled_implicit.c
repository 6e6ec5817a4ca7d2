/* backward-euler and tr-bdf2 of a coupled system, the formulas of ode_implicit.h: with d = 1 -
 * sqrt(2)/2, s = d h,
 *
 *   z = y + s (f(y) + f(z)) at t + 2 d h;  u = y + (1 + sqrt 2)/2 (z - y) + s f(u)
 *
 * Slopes at z and u are those of the formulas, never f evaluated anew. Errors go through one solve
 * with the step's matrix: else they would see modes that the step has damped. Inside a step: the
 * parabola through y, z, u, or backward-euler's line.
 *
 * Newton-Krylov: (1 - s J) step = base + s f(z) - z to a tolerance that follows Eisenstat and
 * Walker (SIAM J. Sci. Comput. 17 (1996) 16-32, choice 2 with exponent 2): eta = 0.9 (|F| / |F
 * before|)^2, not below 0.9 eta_before^2 where that is above 0.1, within [1e-6, 0.1]. J is made
 * where the iteration begins, once a step, and again where corrections fall by less than a factor
 * of 4. It ends when the next correction is expected below 0.01 of the tolerance; after 10 the step
 * is thrown away. Fixed steps have no tolerance: there it is 1e-13 of each component and of the
 * largest one. Norms are sums over all ranks, so all ranks go the same way. */
#include "coupled_newton.h"

#include <math.h>
#include <string.h>

#include "alloc.h"

static const double D = 0.29289321881345248; /* 1 - sqrt(2) / 2 */
static const vec NONE = {.rows = 0};
static const double ETA_MOST = 0.1, ETA_FIRST = 0.01, ETA_LEAST = 1e-6;
static const double ERROR_RTOL = 1e-2; /* of the solve that filters errors */

/* ---- opening ---- */

/* The work anew, with derivatives. */
static status make_derivatives(coupled_run *run) {
  status rc = STATUS_OK;
  TRY(function_jacobian(run->world, run->with, run->rhs, COUPLED_COMMON, run->layout.reaches,
                        &run->jacobian));
  if (run->jacobian == NULL) {
    rc = comm_agree(run->world, fail(STATUS_USAGE,
                                     "the derivatives of %s are too long expressions; expected an "
                                     "explicit method",
                                     run->system->name));
    goto done;
  }
  run->functions.jacobian = function_formula(run->jacobian);
  if (run->work == NULL) goto done;
  run->kernels->coupled->release(run->place, &run->work);
  rc = run->kernels->coupled->create(run->place, &run->layout, &run->functions, &run->work);
  rc = comm_agree(run->world, rc);
done:
  return rc;
}

status coupled_newton_open(coupled_run *run) {
  status rc = STATUS_OK;
  linear_system *s = &run->space;
  ATTEMPT(s, alloc_zeroed(&run->newton, 1, sizeof *run->newton, "Newton's method"));
  TRY(comm_agree(run->world, s->failure));
  coupled_newton *n = run->newton;
  vec *const all[] = {&n->z, &n->base, &n->f, &n->step};
  for (int i = 0; i < 4; i++) ATTEMPT(s, linear_vector(s, "vector of Newton's method", all[i]));
  TRY(comm_agree(run->world, s->failure));
  TRY(make_derivatives(run));
  TRY(coupled_matrix_open(run));
done:
  return rc;
}

void coupled_newton_close(coupled_run *run) {
  coupled_newton *n = run->newton;
  if (n == NULL) return;
  vec *const all[] = {&n->z, &n->base, &n->f, &n->step};
  for (int i = 0; i < 4; i++) linear_vector_release(&run->space, all[i]);
  coupled_matrix_close(run);
  alloc_free(&run->newton);
}

/* ---- Newton ---- */

/* What corrections of this step are measured by. */
static status set_measure(coupled_run *run) {
  status rc = STATUS_OK;
  coupled_newton *n = run->newton;
  double most;
  n->rtol = 0.01 * run->plan.rtol;
  n->atol = 0.01 * run->plan.atol;
  if (run->plan.adaptive) goto done;
  TRY(linear_max_abs(&run->space, run->y, &most));
  n->rtol = 1e-13;
  n->atol = 1e-13 * most + 1e-300;
done:
  return rc;
}

static status size_of(coupled_run *run, vec e, vec z, double *size) {
  status rc = STATUS_OK;
  double mean;
  TRY(coupled_weigh_by(run, e, run->y, z, run->newton->rtol, run->newton->atol, &mean));
  *size = sqrt(mean);
done:
  return rc;
}

/* The next forcing term. */
static double forcing(double eta, double residual, double before) {
  const double ratio = residual / before, keep = 0.9 * eta * eta;
  double next = 0.9 * ratio * ratio;
  if (keep > 0.1 && next < keep) next = keep;
  return next < ETA_LEAST ? ETA_LEAST : next > ETA_MOST ? ETA_MOST : next;
}

/* One iterate of it. */
typedef struct iteration {
  int number, fresh;    /* the matrix is to be made first */
  double eta, residual; /* of the last solve; |F| before it */
  double size;          /* of the last correction */
  int ended, solved;
} iteration;

static status correct(coupled_run *run, iteration *it, double at, double s, vec z) {
  status rc = STATUS_OK;
  coupled_newton *n = run->newton;
  double residual, size;
  TRY(coupled_rhs(run, at, z, n->f));
  coupled_add(run, s, n->f, 1.0, n->base, run->e);
  coupled_add(run, -1.0, z, 1.0, run->e, run->e);
  TRY(size_of(run, run->e, z, &residual));
  it->ended = 1;
  if (!(residual - residual == 0.0)) goto done;
  it->solved = residual == 0.0;
  if (it->solved) goto done;
  if (it->fresh) TRY(coupled_matrix_make(run, at, z, s));
  it->eta = it->number == 0 ? ETA_FIRST : forcing(it->eta, residual, it->residual);
  it->residual = residual;
  TRY(coupled_matrix_solve(run, run->e, n->step, it->eta, &it->solved));
  if (!it->solved) goto done;
  coupled_add(run, 1.0, n->step, 1.0, z, z);
  run->newton_count++;
  TRY(size_of(run, n->step, z, &size));
  const double before = it->size, rate = it->number == 0 ? it->eta : size / before;
  it->size = size;
  it->solved = size * (rate < it->eta ? it->eta : rate) <= 1.0 || size <= 1e-3;
  if (!run->plan.adaptive && it->number > 0 && rate > 0.5 && size < 1e5) it->solved = 1;
  it->ended = it->solved || !(size - size == 0.0);
  it->fresh = it->number > 0 && size > 0.25 * before;
done:
  return rc;
}

/* Solves z = base + s f(at, z) from the z that is there. fresh: the matrix has to be made. */
static status newton(coupled_run *run, double at, double s, vec z, int fresh, int *solved) {
  status rc = STATUS_OK;
  const int most = run->plan.adaptive ? 10 : 30;
  iteration it = {.fresh = fresh};
  for (; it.number < most && !it.ended; it.number++) TRY(correct(run, &it, at, s, z));
  *solved = it.ended && it.solved;
done:
  return rc;
}

/* ---- steps ---- */

/* The slope of the formula at its end. */
static void set_slope(coupled_run *run, double s) {
  coupled_add(run, 1.0 / s, run->u, -1.0 / s, run->newton->base, run->k[1]);
  run->end = 1;
}

static status euler(coupled_run *run, int *solved) {
  status rc = STATUS_OK;
  const double h = run->clock.h[0];
  coupled_add(run, 1.0, run->y, 0.0, NONE, run->newton->base);
  coupled_add(run, 1.0, run->y, 0.0, NONE, run->u);
  TRY(newton(run, run->clock.next[0], h, run->u, 1, solved));
  if (!*solved) goto done;
  coupled_add(run, 0.5, run->u, -0.5, run->y, run->v);
  coupled_add(run, -0.5 * h, run->k[0], 1.0, run->v, run->v);
  set_slope(run, h);
done:
  return rc;
}

static status tr_bdf2(coupled_run *run, int *solved) {
  status rc = STATUS_OK;
  coupled_newton *n = run->newton;
  const ode_work *w = &run->clock;
  const double h = w->h[0], s = D * h, more = 1.2071067811865475; /* (1 + sqrt 2) / 2 */
  coupled_add(run, s, run->k[0], 1.0, run->y, n->base);
  coupled_add(run, 1.0, run->y, 0.0, NONE, n->z);
  TRY(newton(run, fma(2.0 * D, h, w->t[0]), s, n->z, 1, solved));
  if (!*solved) goto done;
  coupled_add(run, more, n->z, 1.0 - more, run->y, n->base);
  coupled_add(run, 0.5 / D, n->z, 1.0 - 0.5 / D, run->y, run->u); /* the line through y and z */
  TRY(newton(run, w->next[0], s, run->u, 0, solved));
  if (!*solved) goto done;
  /* e = -sqrt(2)/3 h f(y) + (z - y) / (3 d) - 2/3 (u - base) */
  coupled_add(run, 1.0 / (3.0 * D), n->z, -1.0 / (3.0 * D), run->y, run->v);
  coupled_add(run, -2.0 / 3.0, run->u, 1.0, run->v, run->v);
  coupled_add(run, 2.0 / 3.0, n->base, 1.0, run->v, run->v);
  coupled_add(run, -0.47140452079103168 * h, run->k[0], 1.0, run->v, run->v);
  set_slope(run, s);
done:
  return rc;
}

status coupled_attempt_implicit(coupled_run *run) {
  status rc = STATUS_OK;
  ode_work *w = &run->clock;
  int solved = 0;
  TRY(set_measure(run));
  if (run->plan.variant == ODE_TR_BDF2) {
    TRY(tr_bdf2(run, &solved));
  } else {
    TRY(euler(run, &solved));
  }
  run->unsolved = !solved;
  w->error[0] = 1e16; /* a finite error: the step is made a fifth */
  if (!solved) goto done;
  if (!run->plan.adaptive) {
    TRY(coupled_weigh(run, NONE, run->y, run->u, &w->error[0]));
    goto done;
  }
  TRY(coupled_matrix_solve(run, run->v, run->newton->step, ERROR_RTOL, &solved));
  run->unsolved = !solved;
  if (solved) TRY(coupled_weigh(run, run->newton->step, run->y, run->u, &w->error[0]));
done:
  return rc;
}

void coupled_between_implicit(coupled_run *run, double x) {
  const int bent = run->plan.variant == ODE_TR_BDF2;
  const double gamma = 2.0 * D, bend = bent ? x * (1.0 - x) / (gamma * (1.0 - gamma)) : 0.0;
  const double weight[] = {1.0 - x - bend * (1.0 - gamma), x - bend * gamma};
  coupled_add(run, weight[1], run->u, weight[0], run->y, run->v);
  if (bent) coupled_add(run, bend, run->newton->z, 1.0, run->v, run->v);
}
