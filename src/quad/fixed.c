/* The driver of fixed rules. With n: one grid (of each piece between breaks), and the difference to
 * a coarser rule on the same points as the error. Without n: levels of about twice the points each
 * until the tolerance.
 *
 * Refining. d_k = |value of level k - that of level k - 1|; the error of a piece is the larger of
 * d_k and d_{k-1} / 2^order (a rule with no order: / 1000): two successive agreements, since one
 * may be luck. Where the d do not fall steadily it is the largest of the last three. It is the
 * error of the level before, so it errs on the safe side. To it come the rounding of the sum (4 eps
 * times the size of the integral of |f|) and, for rules without end points, what f may hold beyond
 * the outermost ones. Before a level is accepted the guards look: probes between the samples
 * (fixed_probe.c); a value that only the absolute tolerance accepts is not believed before
 * SMALL_POINTS points; one that is small against the integral of |f| must come out of two unequal
 * parts of the range too (1/x around 0 cancels only on points that lie evenly around 0). Nested
 * rules in one dimension evaluate only new points: trapezoid and tanh-sinh T' = T / 2 + new,
 * Simpson from two trapezoids.
 *
 * Cost: one evaluation a sample; no memory beside the tables of the axes. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "fixed_grid.h"

enum { LEVELS_MIN = 2 };
static const int64_t SMALL_POINTS = 1 << 20;
static const double ROUNDING = 4.0;   /* eps of the size */
static const double NO_ORDER = 1e-3;  /* what rules that converge exponentially gain a level */
static const double STEADY = 0.35;    /* d_k / d_{k-1} of order 2 is 1/4 */
static const double CANCELS = 1e-3;   /* value against size: look at two parts */
static const double CUT = 0.41421356; /* of the range: where they meet */
static const double STUCK = 1e-10;    /* of the size: stagnation below is rounding */

/* One piece of the range between breaks. */
typedef struct piece {
  quad_integral f;
  double trapezoid; /* nested: the running trapezoid sum */
  double value;
  double change[3]; /* d_k, d_{k-1}, d_{k-2}; INFINITY: none yet */
  double beyond;
} piece;

typedef struct refinement {
  quad_run *run;
  const quad_rule *rule, *summed; /* summed: whose grids are evaluated */
  piece *piece;
  int pieces, nested;
  double size, gain;
} refinement;

static double tolerance(const quad_run *run) {
  return fmax(run->limits.rtol * fabs(run->value), run->limits.atol);
}

static double epsilon(const quad_run *run) {
  return run->limits.single ? FLT_EPSILON : DBL_EPSILON;
}

/* The pieces between breaks, in ascending order. */
static status cut(quad_run *run, piece **out, int *count) {
  const quad_integral *f = &run->integral;
  const int cuts = f->dims == 1 ? f->break_count : 0;
  status rc = alloc_zeroed(out, cuts + 1, sizeof **out, "pieces of the range");
  if (rc != STATUS_OK) return rc;
  *count = cuts + 1;
  for (int p = 0; p <= cuts; p++) {
    piece *one = &(*out)[p];
    one->f = *f;
    for (int i = 0; i < 3; i++) one->change[i] = INFINITY;
    if (cuts == 0) break;
    one->f.lower[0] = p == 0 ? fmin(f->lower[0], f->upper[0]) : f->breaks[p - 1];
    one->f.upper[0] = p == cuts ? fmax(f->lower[0], f->upper[0]) : f->breaks[p];
  }
  return STATUS_OK;
}

static void remember(quad_run *run, const fixed_grid *g) {
  run->panels = g->panels;
  for (int d = 0; d < g->host.dims; d++) run->points[d] = g->n;
}

/* Sums a grid; when that is not finite, looks for the reason (run->reason). */
static status sum_grid(quad_run *run, const fixed_grid *g, double *out) {
  status rc = STATUS_OK;
  TRY(quad_sum_grid(run, &g->place, out));
  if (!quad_stopped(run) && !isfinite(out[0])) rc = quad_find_bad(run, &g->place, &g->host);
done:
  return rc;
}

static int is_over(const quad_run *run) {
  return quad_stopped(run) || run->reason == QUAD_NOT_FINITE;
}

/* ---- n is given ---- */

static status once(quad_run *run, const quad_rule *rule, piece *p) {
  status rc = STATUS_OK;
  fixed_grid g;
  double sum[2] = {0.0, 0.0};
  const int64_t panels = run->limits.panels;
  rc = fixed_grid_create(run, &p->f, rule, run->limits.n, panels, 0, &g);
  TRY(comm_agree(run->world, rc));
  g.host.estimate = g.place.estimate = run->limits.n > 1;
  remember(run, &g);
  TRY(sum_grid(run, &g, sum));
  p->value = sum[0];
  p->change[0] = run->limits.n > 1 ? fabs(sum[0] - sum[1]) : NAN;
  p->beyond = fixed_grid_beyond(run, rule, &g);
done:
  fixed_grid_release(run, &g);
  return rc;
}

static status fixed_count(quad_run *run, const quad_rule *rule, piece *pieces, int count) {
  status rc = STATUS_OK;
  run->value = run->error = 0.0;
  run->reason = QUAD_FIXED_COUNT;
  for (int p = 0; p < count && !is_over(run); p++) {
    TRY(once(run, rule, &pieces[p]));
    run->value += pieces[p].value;
    run->error += pieces[p].change[0] + pieces[p].beyond;
  }
  run->error += ROUNDING * epsilon(run) * fabs(run->value);
  if (is_over(run)) goto done;
  if (!isfinite(run->value)) run->reason = QUAD_NOT_FINITE; /* pieces that overflow together */
  if (run->limits.demanded && !quad_tolerated(run)) run->reason = QUAD_MISSED;
done:
  return rc;
}

/* ---- refining ---- */

/* The points that level adds, over all pieces; -1: too many to count. */
static int64_t cost_of(const refinement *r, int level, int64_t n, int64_t panels) {
  const int dims = r->run->integral.dims;
  const int64_t line = r->nested && level > 0 ? (n - 1) / 2 * panels : n * panels;
  double points = (double)r->pieces;
  for (int d = 0; d < dims; d++) points *= (double)line;
  return points > (double)QUAD_POINTS_MAX ? -1 : (int64_t)points;
}

/* Takes the sums of level `level` over a piece. */
static void take(const refinement *r, int level, const double *sum, piece *p) {
  const double old = p->value, coarse = p->trapezoid;
  p->change[2] = p->change[1];
  p->change[1] = p->change[0];
  if (!r->nested) {
    p->value = sum[0];
    p->change[0] = level > 0 ? fabs(p->value - old) : fabs(sum[0] - sum[1]);
    return;
  }
  const int simpson = r->rule != r->summed;
  p->trapezoid = level == 0 ? sum[0] : fma(0.5, coarse, sum[0]);
  const double less = level == 0 ? sum[1] : coarse;
  p->value = simpson ? p->trapezoid + (p->trapezoid - less) / 3.0 : p->trapezoid;
  p->change[0] = level > 0 ? fabs(p->value - old) : simpson ? INFINITY : fabs(sum[0] - sum[1]);
}

static status refine_piece(refinement *r, int level, int64_t n, int64_t panels, piece *p) {
  status rc = STATUS_OK;
  quad_run *run = r->run;
  fixed_grid g;
  double sum[2] = {0.0, 0.0};
  rc = fixed_grid_create(run, &p->f, r->summed, n, panels, r->nested && level > 0, &g);
  TRY(comm_agree(run->world, rc));
  g.host.estimate = g.place.estimate = level == 0;
  remember(run, &g);
  TRY(sum_grid(run, &g, sum));
  if (is_over(run)) goto done;
  take(r, level, sum, p);
  p->beyond = fixed_grid_beyond(run, r->summed, &g);
done:
  fixed_grid_release(run, &g);
  return rc;
}

/* Probes all pieces at this level's grids: their size, and whether the samples missed something. */
static status probe(refinement *r, int level, int64_t n, int64_t panels, int *missed) {
  status rc = STATUS_OK;
  quad_run *run = r->run;
  const double share = tolerance(run) / r->pieces;
  fixed_grid g;
  r->size = 0.0;
  *missed = 0;
  for (int p = 0; p < r->pieces; p++) {
    fixed_probes found;
    rc = fixed_grid_create(run, &r->piece[p].f, r->summed, n, panels, 0, &g);
    TRY(comm_agree(run->world, rc));
    fixed_grid_probe(run, r->summed, &g, level, r->piece[p].value, share, &found);
    fixed_grid_release(run, &g);
    r->size += found.size;
    *missed |= found.missed;
    run->evaluations += FIXED_PROBE_COST;
  }
  memset(&g, 0, sizeof g);
done:
  return rc;
}

/* The range of `f` in two unequal parts. */
static void halve(const quad_integral *f, quad_integral half[2]) {
  const double low = fmin(f->lower[0], f->upper[0]), high = fmax(f->lower[0], f->upper[0]);
  const double at = isfinite(low)    ? isfinite(high) ? fma(CUT, high - low, low) : low + CUT
                    : isfinite(high) ? high - CUT
                                     : CUT;
  half[0] = half[1] = *f;
  half[0].lower[0] = low;
  half[0].upper[0] = half[1].lower[0] = at;
  half[1].upper[0] = high;
}

/* A value that is nothing against the integral of |f|: do unequal parts say the same? */
static status check_parts(refinement *r, int64_t n, int64_t panels, int *missed) {
  status rc = STATUS_OK;
  quad_run *run = r->run;
  double total = 0.0;
  fixed_grid g;
  memset(&g, 0, sizeof g);
  if (!(fabs(run->value) < CANCELS * r->size)) goto done;
  for (int p = 0; p < r->pieces; p++) {
    quad_integral half[2];
    halve(&r->piece[p].f, half);
    for (int i = 0; i < 2 && !is_over(run); i++) {
      double sum;
      rc = fixed_grid_create(run, &half[i], r->summed, n, panels, 0, &g);
      TRY(comm_agree(run->world, rc));
      TRY(sum_grid(run, &g, &sum));
      fixed_grid_release(run, &g);
      total += sum;
    }
  }
  if (!(fabs(total - run->value) <= CANCELS * r->size)) *missed = 1;
done:
  fixed_grid_release(run, &g);
  return rc;
}

static double rounding(const refinement *r) {
  return ROUNDING * epsilon(r->run) * fmax(fabs(r->run->value), r->size);
}

/* Where the differences fall as the rule promises, the last one says what is left; where they do
 * not, the largest of three does: a jump moves through the cells at random. */
static double piece_error(const refinement *r, const piece *p) {
  const double *d = p->change;
  if (d[0] > STEADY * d[1] || (d[1] > STEADY * d[2] && isfinite(d[2]))) {
    return fmax(fmax(d[0], d[1]), isfinite(d[2]) ? 0.5 * d[2] : 0.0);
  }
  return fmax(d[0], r->gain * d[1]);
}

/* Value and error of the whole from those of the pieces. */
static void add_pieces(refinement *r) {
  quad_run *run = r->run;
  run->value = run->error = 0.0;
  for (int p = 0; p < r->pieces; p++) {
    const piece *one = &r->piece[p];
    run->value += one->value;
    run->error += piece_error(r, one) + one->beyond;
  }
  run->error += rounding(r);
}

/* A value that only the absolute tolerance accepts may be a peak that no sample saw. */
static int may_be_nothing(const refinement *r) {
  const quad_run *run = r->run;
  const int relative = run->value != 0.0 && run->error <= run->limits.rtol * fabs(run->value);
  return !relative && run->evaluations < SMALL_POINTS;
}

/* Whether more points cannot help: the differences have stopped falling, at the size of rounding
 * errors; or what lies beyond the outermost points that doubles allow is too much. */
static int is_stuck(const refinement *r, int level, double *least, int *idle) {
  double change = 0.0, beyond = 0.0;
  for (int p = 0; p < r->pieces; p++) {
    change += r->piece[p].change[0];
    beyond += r->piece[p].beyond;
  }
  const double size = fmax(fabs(r->run->value), r->size);
  *idle = change < 0.5 * *least ? 0 : *idle + 1;
  *least = fmin(*least, change);
  if (level < LEVELS_MIN + 1) return 0;
  if (change < beyond && beyond > tolerance(r->run)) return 1;
  return (change <= rounding(r) && rounding(r) > tolerance(r->run)) ||
         (*idle >= 3 && change <= STUCK * size);
}

static status refine(refinement *r) {
  status rc = STATUS_OK;
  quad_run *run = r->run;
  int idle = 0, missed = 0;
  double least = INFINITY;
  run->value = NAN; /* where not even the first level is allowed */
  run->error = INFINITY;
  for (int level = 0;; level++) {
    int64_t panels;
    const int64_t n = r->summed->level(level, run->integral.dims, &panels);
    panels *= run->limits.panels;
    const int64_t cost = n > 0 ? cost_of(r, level, n, panels) : -1;
    if (cost < 0 || cost > run->limits.max_evaluations - run->evaluations) {
      run->reason = QUAD_MAX_EVALUATIONS;
      break;
    }
    for (int p = 0; p < r->pieces && !is_over(run); p++) {
      TRY(refine_piece(r, level, n, panels, &r->piece[p]));
    }
    if (is_over(run)) break;
    add_pieces(r);
    if (level < LEVELS_MIN) continue;
    const int done = quad_tolerated(run) && !may_be_nothing(r);
    if (level == LEVELS_MIN || done) {
      TRY(probe(r, level, n, panels, &missed));
      add_pieces(r);
    }
    if (done && !missed) TRY(check_parts(r, n, panels, &missed));
    if (is_over(run)) break;
    if (done && !missed && quad_tolerated(run) && !may_be_nothing(r)) break;
    if (!missed && !may_be_nothing(r) && is_stuck(r, level, &least, &idle)) {
      run->reason = QUAD_ROUND_OFF;
      break;
    }
  }
  if (run->reason == QUAD_NOT_FINITE) run->value = run->error = NAN;
  /* what the probes saw and the samples did not is not in the differences */
  if (missed && run->reason != QUAD_NOT_FINITE) run->error = fmax(run->error, r->size);
done:
  return rc;
}

static status start_refining(quad_run *run, const quad_rule *rule, piece *pieces, int count) {
  refinement r = {.run = run, .rule = rule, .summed = rule, .piece = pieces, .pieces = count};
  r.gain = rule->order > 0 ? 1.0 / (double)(1 << rule->order) : NO_ORDER;
  if (run->integral.dims == 1) {
    if (rule->flags & QUAD_RULE_ROMBERG) r.summed = quad_rule_find("trapezoid");
    r.nested = (r.summed->flags & QUAD_RULE_NESTED) != 0;
  }
  run->reason = QUAD_CONVERGED;
  return refine(&r);
}

status quad_fixed(quad_run *run, const quad_rule *rule) {
  status rc = STATUS_OK;
  piece *pieces = NULL;
  int count = 0;
  TRY(comm_agree(run->world, cut(run, &pieces, &count)));
  rc = run->limits.n > 0 ? fixed_count(run, rule, pieces, count)
                         : start_refining(run, rule, pieces, count);
done:
  alloc_free(&pieces);
  return rc;
}
