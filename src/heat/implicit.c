/* Implicit stages (implicit.h). With the residual of a guess g, r = base + ... + scale rate(g) - g
 * (one stage, so everything that the explicit schemes know of sources and faces holds here too),
 * the correction x solves (mass + scale K) x = r: CG in the inner product weighted by the cells'
 * shares, in which the operator is symmetric, preconditioned by one V-cycle. Then the residual is
 * made anew: where it is not what CG says, it starts again from there, so the answer does not
 * depend on carried residuals.
 *
 * The right-hand side that residuals are measured against is the residual of u = 0 with the held
 * points at their values. Values are scaled by a power of two when squares would leave the range.
 * Without held and Robin faces (mass + scale K) 1 = mass, so adding a constant makes the heat what
 * the right-hand side says, whatever the tolerance. */
#include "implicit.h"

#include <float.h>
#include <math.h>

#include "alloc.h"
#include "solve_rules.h"

enum { ROUNDS = 5 };
static const double DEFAULT_RTOL = 1e-10;

static const heat_level_backend *ops(const heat_run *run) { return run->kernels->heat->levels; }
static heat_stratum *finest(const heat_run *run) { return &run->implicit->grid.level[0]; }

static const heat_field NONE = {{NULL}};

/* ---- opening ---- */

static status make_field(heat_run *run, heat_field *out) {
  status rc = STATUS_OK;
  const int64_t points = heat_points(&run->slab), bytes = points * (int64_t)sizeof(double);
  double *zero = NULL;
  TRY(alloc_zeroed(&zero, points, sizeof *zero, "field"));
  TRY(run->kernels->alloc(run->place, bytes, "field of a solve", &out->data));
  TRY(run->kernels->copy_in(run->place, out->data, (hptr){zero}, bytes));
done:
  alloc_free(&zero);
  return rc;
}

status heat_implicit_open(heat_run *run) {
  status rc = STATUS_OK;
  const heat_grid *g = &run->slab.g;
  rc = alloc_zeroed(&run->implicit, 1, sizeof *run->implicit, "implicit solves");
  TRY(comm_agree(run->world, rc));
  heat_implicit *m = run->implicit;
  TRY(heat_multigrid_open(run, &m->grid));
  m->cells = 1.0;
  m->imbalance = NAN;
  for (int d = 0; d < g->dims; d++) {
    const int open = g->n[d] > 1 && g->face[2 * d] != HEAT_PERIODIC;
    m->cells *= (double)(g->n[d] - open);
  }
  rc = make_field(run, &m->y);
  if (rc == STATUS_OK) rc = make_field(run, &m->p);
  if (rc == STATUS_OK) rc = make_field(run, &m->x);
  rc = comm_agree(run->world, rc);
done:
  return rc;
}

void heat_implicit_close(heat_run *run) {
  heat_implicit *m = run->implicit;
  if (m == NULL) return;
  heat_field *const all[] = {&m->y, &m->p, &m->x};
  for (int i = 0; i < 3; i++) {
    if (all[i]->data.at != NULL) run->kernels->release(run->place, &all[i]->data);
  }
  heat_multigrid_close(run, &m->grid);
  alloc_free(&run->implicit);
}

/* ---- vectors ---- */

static void combine(heat_run *run, double a, heat_field x, double b, heat_field y, double c,
                    heat_field out) {
  heat_count_pass(run);
  HEAT_ATTEMPT(run, ops(run)->combine(run->place, finest(run)->level, a, x, b, y, c, out));
}

status heat_implicit_combine(heat_run *run, double a, heat_field x, double b, heat_field y,
                             heat_field out) {
  combine(run, a, x, b, y, 0.0, out);
  return STATUS_OK;
}

static status dot(heat_run *run, heat_field x, heat_field y, double *out) {
  heat_count_pass(run);
  HEAT_ATTEMPT(run, ops(run)->dot(run->place, finest(run)->level, x, y));
  return run->kernels->sums(run->place, run->world, 1, NULL, out);
}

/* The share-weighted sum of a field, in cells. */
static status sum_of(heat_run *run, heat_field x, double *out) {
  status rc = STATUS_OK;
  heat_totals t;
  heat_count_pass(run);
  TRY(heat_totals_of(run, x, &t));
  *out = t.heat;
  for (int d = 0; d < run->slab.g.dims; d++) *out /= run->slab.g.spacing[d];
done:
  return rc;
}

status heat_implicit_norm(heat_run *run, heat_field e, heat_field u, heat_field v, double *out) {
  status rc = STATUS_OK;
  double sum;
  heat_count_pass(run);
  HEAT_ATTEMPT(run, ops(run)->weigh(run->place, finest(run)->level, e, u, v, run->rtol, run->atol));
  TRY(run->kernels->sums(run->place, run->world, 1, NULL, &sum));
  *out = sqrt(sum / run->implicit->cells);
done:
  return rc;
}

status heat_implicit_filter(heat_run *run, heat_field e, heat_field out) {
  status rc = STATUS_OK;
  heat_stratum *s = finest(run);
  combine(run, 1.0, e, 0.0, NONE, 0.0, s->r);
  TRY(heat_multigrid_cycle(run, &run->implicit->grid));
  combine(run, 1.0, s->z, 0.0, NONE, 0.0, out);
done:
  return rc;
}

/* ---- residuals ---- */

typedef struct solving {
  heat_run *run;
  heat_implicit *m;
  const heat_stage *stage;
  double mass, t;
  heat_field *u;
  int holds;      /* a face is held */
  double power;   /* of two, that residuals are scaled with */
  double rhs;     /* scaled norm of the right-hand side */
  double rhs_sum; /* its sum, unscaled; only where constants matter */
} solving;

/* Zero, with the held values of *u: in p. */
static status make_held(solving *v) {
  status rc = STATUS_OK;
  heat_run *run = v->run;
  combine(run, 0.0, NONE, 0.0, NONE, 0.0, v->m->x);
  combine(run, 0.0, NONE, 0.0, NONE, 0.0, v->m->p);
  if (!v->holds) goto done;
  heat_stage s = {.base = v->m->x, .u = *v->u, .out = v->m->p};
  TRY(heat_run_stage(run, &s, v->t, v->t));
done:
  return rc;
}

/* The held points of the guess at their values of time t. */
static status hold_guess(solving *v) {
  status rc = STATUS_OK;
  heat_run *run = v->run;
  int any = 0;
  for (int f = 0; f < 2 * run->slab.g.dims; f++) any |= run->held[f].field.data.at != NULL;
  if (!any) goto done;
  heat_stage s = {.base = *v->u, .u = *v->u, .out = v->m->y};
  TRY(heat_run_stage(run, &s, v->t, v->t));
  const heat_field old = *v->u;
  *v->u = v->m->y;
  v->m->y = old;
done:
  return rc;
}

/* y = the stage at u. */
static status evaluate(solving *v, heat_field u) {
  heat_stage s = *v->stage;
  s.u = u;
  s.out = v->m->y;
  return heat_run_stage(v->run, &s, v->t, v->t);
}

/* The right-hand side: its norm, and the power of two it asks for. */
static status measure(solving *v) {
  status rc = STATUS_OK;
  heat_run *run = v->run;
  heat_stratum *s = finest(run);
  double square;
  v->power = 1.0;
  TRY(make_held(v));
  TRY(evaluate(v, v->m->p));
  combine(run, 1.0, v->m->y, -1.0, v->m->p, 0.0, s->r);
  if (v->m->grid.singular) TRY(sum_of(run, s->r, &v->rhs_sum));
  TRY(dot(run, s->r, s->r, &square));
  if (rules_out_of_range(square) && square == square) {
    heat_totals t;
    TRY(heat_totals_of(run, s->r, &t));
    const double top = fmax(fabs(t.minimum), fabs(t.maximum));
    int exponent = 0;
    if (top > 0.0 && isfinite(top)) {
      frexp(top, &exponent);
      v->power = ldexp(1.0, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
      combine(run, v->power, s->r, 0.0, NONE, 0.0, s->r);
      TRY(dot(run, s->r, s->r, &square));
    }
  }
  v->rhs = sqrt(square);
done:
  return rc;
}

/* r = the scaled residual of *u; its norm. */
static status residual(solving *v, double *norm) {
  status rc = STATUS_OK;
  heat_run *run = v->run;
  heat_stratum *s = finest(run);
  double square;
  if (v->mass == 0.0) TRY(make_held(v));
  TRY(evaluate(v, *v->u));
  combine(run, v->power, v->m->y, -v->power, v->mass == 0.0 ? v->m->p : *v->u, 0.0, s->r);
  if (v->mass == 0.0 && v->m->grid.singular) { /* the part in its range */
    double sum;
    TRY(sum_of(run, s->r, &sum));
    combine(run, 1.0, s->r, 0.0, NONE, -sum / v->m->cells, s->r);
  }
  TRY(dot(run, s->r, s->r, &square));
  *norm = sqrt(square);
done:
  return rc;
}

/* ---- rounds ---- */

/* What rounding leaves of a residual: 8 eps (|A| |u| + |b|), |A| by Gershgorin. */
static double floor_of(const solving *v, double size) {
  const double scale = fabs(v->stage->scale) * v->run->lambda;
  return 8.0 * DBL_EPSILON * (fma(2.0, scale, v->mass) * size + v->rhs);
}

/* *u += x; of a steady state that constants may be added to, x without its mean. */
static status correct(solving *v) {
  status rc = STATUS_OK;
  heat_run *run = v->run;
  double sum = 0.0;
  if (v->mass == 0.0 && v->m->grid.singular) TRY(sum_of(run, v->m->x, &sum));
  combine(run, 1.0 / v->power, v->m->x, 1.0, *v->u, -sum / v->power / v->m->cells, *v->u);
done:
  return rc;
}

/* *u += the constant that makes its sum that of the right-hand side. */
static status conserve(solving *v) {
  status rc = STATUS_OK;
  heat_run *run = v->run;
  double have;
  if (v->mass == 0.0 || !v->m->grid.singular) goto done;
  TRY(sum_of(run, *v->u, &have));
  const double constant = (v->rhs_sum / v->mass - have) / v->m->cells;
  if (constant != 0.0) combine(run, 1.0, *v->u, 0.0, NONE, constant, *v->u);
done:
  return rc;
}

/* A steady state needs what flows in to be 0 where nothing can flow out, to the error of the
 * trapezoidal rule on this grid. */
static void check_balance(solving *v) {
  const heat_grid *g = &v->run->slab.g;
  double allowed = 1e-10;
  for (int d = 0; d < g->dims; d++) {
    if (g->n[d] > 1) allowed += 1.0 / ((double)g->n[d] * (double)g->n[d]);
  }
  const double mean = v->rhs_sum / v->m->cells;
  const double size = v->rhs / v->power / sqrt(v->m->cells);
  v->m->imbalance = fabs(mean) > allowed * size ? mean : NAN;
}

static status iterate(solving *v) {
  status rc = STATUS_OK;
  heat_run *run = v->run;
  heat_implicit *m = v->m;
  const double rtol = run->solver_rtol > 0.0 ? run->solver_rtol : DEFAULT_RTOL;
  const double target = rtol * v->rhs;
  double norm, size;
  for (int round = 0;; round++) {
    TRY(residual(v, &norm));
    TRY(dot(run, *v->u, *v->u, &size));
    m->residual = v->rhs > 0.0 ? norm / v->rhs : norm;
    const double floor = floor_of(v, sqrt(size) * v->power);
    run->unsolved = !(norm <= target || norm <= floor);
    if (!run->unsolved || norm != norm || round == ROUNDS) break;
    TRY(heat_gradients(run, fmax(target, 0.125 * floor), &norm));
    TRY(correct(v));
  }
  if (norm != norm) run->unsolved = 0; /* found where fields are looked at */
done:
  return rc;
}

status heat_implicit_solve(heat_run *run, heat_stage *s, double mass, double t, heat_field *u) {
  status rc = STATUS_OK;
  solving v = {.run = run, .m = run->implicit, .stage = s, .mass = mass, .t = t, .u = u};
  for (int f = 0; f < 2 * run->slab.g.dims; f++) v.holds |= run->slab.g.face[f] == HEAT_HELD;
  v.m->iterations = 0;
  HEAT_ATTEMPT(run, heat_multigrid_set(run, &v.m->grid, mass, s->scale));
  TRY(hold_guess(&v));
  TRY(measure(&v));
  if (mass == 0.0 && v.m->grid.singular) {
    check_balance(&v);
    if (!isnan(v.m->imbalance)) goto done;
  }
  if (v.rhs == 0.0 && !(mass == 0.0 && v.m->grid.singular)) {
    combine(run, 1.0, v.m->p, 0.0, NONE, 0.0, *u);
    goto done;
  }
  TRY(iterate(&v));
  TRY(conserve(&v));
done:
  v.m->solves++;
  v.m->all_iterations += v.m->iterations;
  return rc;
}
