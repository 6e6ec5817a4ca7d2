/* The driver of sweeps (quad_sweep.h). Two ways, chosen by the rule and the points alone, so that
 * the bits depend on neither ranks nor backend:
 *
 *  - fixed rules with a number of points, at most SMALL in all: the backend's `members`, a batch of
 *    members a call. Their sums are rounded where a single run's are exact: the last bits differ.
 *  - all others: every rank runs its own members one after the other, each a run of its own, with
 *    the value and the estimate it would have alone.
 *
 * Memory: a batch (41 bytes a member), and the results where they are kept (25 bytes a member).
 * Each way sums a member on its own, so a member's bits do not depend on the rest of the sweep. */
#include "quad_sweep.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "fingerprint.h"
#include "fixed_grid.h"
#include "quad_sweep_saving.h"
#include "timers.h"

enum { BATCH = 1 << 16, SMALL = 1 << 16 };
static const double ROUNDING = 4.0; /* eps of the value, as for single runs */

typedef struct sweeping {
  quad_run *run;
  const quad_rule *rule;
  quad_sweep *s;
  quad_family family;
  double sign;
  int64_t evaluations;
  quad_results batch; /* [BATCH] */
  int small, empty;   /* the first way; nothing to do */
  int64_t first;      /* member of batch element 0 */
  int64_t count;
  int64_t done; /* members of this rank that are done, the first so many */
  /* the first way */
  fixed_grid g;
  double *sum; /* [BATCH][1 + estimate], a copy of */
  dptr sums;   /* the backend's */
} sweeping;

/* ---- results ---- */

static status results_alloc(quad_results *r, int64_t count) {
  status rc = STATUS_OK;
  TRY(alloc_array(&r->value, count, sizeof *r->value, "values of members"));
  TRY(alloc_array(&r->error, count, sizeof *r->error, "errors of members"));
  TRY(alloc_array(&r->evaluations, count, sizeof *r->evaluations, "evaluations of members"));
  TRY(alloc_array(&r->reason, count, 1, "endings of members"));
done:
  return rc;
}

static void results_release(quad_results *r) {
  alloc_free(&r->value);
  alloc_free(&r->error);
  alloc_free(&r->evaluations);
  alloc_free(&r->reason);
}

/* Counts and keeps a finished batch. */
static void take_batch(sweeping *w) {
  quad_sweep *s = w->s;
  for (int64_t i = 0; i < w->count; i++) {
    const int reason = w->batch.reason[i];
    s->ended[reason]++;
    w->evaluations += w->batch.evaluations[i];
    if (quad_reason_status((quad_reason)reason) == STATUS_OK) continue;
    if (s->failures++ > 0) continue;
    s->first_failed = w->first + i;
    s->first_reason = (quad_reason)reason;
  }
  s->fingerprint += fingerprint_of(w->batch.value, w->first, w->count);
  w->done += w->count;
  if (!s->keep) return;
  const int64_t at = w->first - ownership_begin(&s->owned);
  const size_t count = (size_t)w->count;
  memcpy(s->mine.value + at, w->batch.value, count * sizeof(double));
  memcpy(s->mine.error + at, w->batch.error, count * sizeof(double));
  memcpy(s->mine.evaluations + at, w->batch.evaluations, count * sizeof(int64_t));
  memcpy(s->mine.reason + at, w->batch.reason, count);
}

/* ---- fixed rules of few points ---- */

static void judge(sweeping *w, int64_t i, double value, double error) {
  const quad_limits *limits = &w->run->limits;
  const int met = quad_met(limits, value, error);
  w->batch.value[i] = value;
  w->batch.error[i] = error;
  w->batch.evaluations[i] = w->g.host.points;
  w->batch.reason[i] = !isfinite(value)           ? QUAD_NOT_FINITE
                       : limits->demanded && !met ? QUAD_MISSED
                                                  : QUAD_FIXED_COUNT;
}

static status fixed_batch(sweeping *w) {
  status rc = STATUS_OK;
  const quad_run *run = w->run;
  const quad_grid *g = &w->g.place;
  const int width = 1 + g->estimate;
  const double epsilon = run->limits.single ? FLT_EPSILON : DBL_EPSILON;
  TRY(run->kernels->quad->members(run->place, run->work, g, &w->family, w->first, w->count,
                                  w->sums));
  TRY(run->kernels->copy_out(run->place, (hptr){w->sum}, w->sums,
                             w->count * width * (int64_t)sizeof *w->sum));
  for (int64_t i = 0; i < w->count; i++) {
    const double value = g->scale * w->sum[i * width];
    double error = NAN;
    if (g->estimate) {
      error = fabs(value - g->scale * w->sum[i * width + 1]) + ROUNDING * epsilon * fabs(value);
    }
    judge(w, i, w->sign * value, error);
  }
done:
  return rc;
}

static status upload_lists(sweeping *w) {
  status rc = STATUS_OK;
  const quad_run *run = w->run;
  for (int k = 0; k < w->family.swept.axes; k++) {
    sweep_axis *a = &w->family.swept.axis[k];
    const hptr list = {a->list.at};
    a->list.at = NULL;
    if (a->kind != SWEEP_LIST) continue;
    const int64_t bytes = a->count * (int64_t)sizeof(double);
    TRY(run->kernels->alloc(run->place, bytes, "a sweep's list", &a->list));
    TRY(run->kernels->copy_in(run->place, a->list, list, bytes));
  }
done:
  return rc;
}

static status begin_fixed(sweeping *w) {
  status rc = STATUS_OK;
  quad_run *run = w->run;
  w->family = (quad_family){.fixed = run->integral.parameters,
                            .fixed_count = w->s->fixed_count,
                            .swept = w->s->swept->grid};
  TRY(upload_lists(w));
  TRY(fixed_grid_create(run, &run->integral, w->rule, run->limits.n, run->limits.panels, 0, &w->g));
  w->g.host.estimate = w->g.place.estimate = run->limits.n > 1;
  TRY(alloc_array(&w->sum, 2 * BATCH, sizeof *w->sum, "sums of members"));
  TRY(run->kernels->alloc(run->place, 2 * BATCH * (int64_t)sizeof(double), "sums of members",
                          &w->sums));
done:
  return rc;
}

static void end_fixed(sweeping *w) {
  quad_run *run = w->run;
  for (int k = 0; k < w->family.swept.axes; k++) {
    run->kernels->release(run->place, &w->family.swept.axis[k].list);
  }
  run->kernels->release(run->place, &w->sums);
  alloc_free(&w->sum);
  fixed_grid_release(run, &w->g);
}

/* ---- rules that choose their points ---- */

/* A run of its own per member, by this rank alone. */
static status single_batch(sweeping *w, comm *self) {
  status rc = STATUS_OK;
  double *swept = (double *)w->run->integral.parameters + w->s->fixed_count;
  for (int64_t i = 0; i < w->count; i++) {
    quad_run one = *w->run;
    one.world = self;
    one.timers = NULL;
    one.saver = NULL;
    one.progress = NULL;
    one.evaluations = 0;
    sweep_member(&w->s->swept->grid, w->first + i, swept);
    TRY(quad_integrate(&one, w->rule));
    w->batch.value[i] = one.value;
    w->batch.error[i] = one.error;
    w->batch.evaluations[i] = one.evaluations;
    w->batch.reason[i] = (unsigned char)one.reason;
  }
done:
  return rc;
}

/* ---- all ---- */

static int is_small(const quad_run *run, const quad_rule *rule) {
  const quad_limits *limits = &run->limits;
  double points = 1.0;
  for (int d = 0; d < run->integral.dims; d++) {
    points *= (double)limits->n * (double)limits->panels;
  }
  return (rule->flags & QUAD_RULE_FIXED) != 0 && (rule->flags & QUAD_RULE_OPEN) == 0 &&
         limits->n > 0 && run->integral.break_count == 0 && points <= SMALL;
}

/* An empty range: every member is 0. */
static int is_empty(const quad_integral *f) {
  for (int d = 0; d < f->dims; d++) {
    if (f->lower[d] == f->upper[d]) return 1;
  }
  return 0;
}

static void empty_batch(sweeping *w) {
  for (int64_t i = 0; i < w->count; i++) {
    w->batch.value[i] = w->batch.error[i] = 0.0;
    w->batch.evaluations[i] = 0;
    w->batch.reason[i] = QUAD_EMPTY_RANGE;
  }
}

/* Members nobody came to: the run was asked to stop. */
static void stop_batch(sweeping *w) {
  for (int64_t i = 0; i < w->count; i++) {
    w->batch.value[i] = w->batch.error[i] = NAN;
    w->batch.evaluations[i] = 0;
    w->batch.reason[i] = (unsigned char)w->run->reason;
  }
}

/* Members whose results a checkpoint had. */
static void recall_batch(sweeping *w) {
  const quad_results *mine = &w->s->mine;
  const int64_t at = w->first - ownership_begin(&w->s->owned);
  const size_t count = (size_t)w->count;
  memcpy(w->batch.value, mine->value + at, count * sizeof(double));
  memcpy(w->batch.error, mine->error + at, count * sizeof(double));
  memcpy(w->batch.evaluations, mine->evaluations + at, count * sizeof(int64_t));
  memcpy(w->batch.reason, mine->reason + at, count);
}

static status run_batch(sweeping *w, comm *self) {
  status rc = STATUS_OK;
  if (w->empty) {
    empty_batch(w);
  } else {
    TRY(w->small ? fixed_batch(w) : single_batch(w, self));
  }
done:
  return rc;
}

static status begin(sweeping *w) {
  status rc = STATUS_OK;
  quad_sweep *s = w->s;
  w->empty = is_empty(&w->run->integral);
  w->small = !w->empty && is_small(w->run, w->rule);
  TRY(results_alloc(&w->batch, BATCH));
  if (s->keep) TRY(results_alloc(&s->mine, ownership_end(&s->owned) - ownership_begin(&s->owned)));
  if (w->small) TRY(begin_fixed(w));
done:
  return rc;
}

/* The next batch: at most `most` members that are all to be done, or all known already. What they
 * are: 1 to be done, 0 known. */
static int choose_batch(sweeping *w, int64_t most) {
  const ownership *owned = &w->s->owned;
  const int64_t mine = ownership_end(owned) - ownership_begin(owned), left = mine - w->done;
  const unsigned char *reason = w->s->keep ? w->s->mine.reason + w->done : NULL;
  const int open = reason == NULL || left == 0 || reason[0] == QUAD_UNDONE;
  const int64_t end = left < most ? left : most;
  w->first = ownership_begin(owned) + w->done;
  w->count = reason == NULL ? end : 0;
  while (w->count < end && (reason[w->count] == QUAD_UNDONE) == open) w->count++;
  return open;
}

/* This rank's next members, at most `most` that take work. */
static status step(sweeping *w, comm *self, int64_t most) {
  status rc = STATUS_OK;
  while (!choose_batch(w, BATCH)) {
    recall_batch(w);
    take_batch(w);
  }
  choose_batch(w, most);
  if (w->count == 0) goto done;
  TRY(run_batch(w, self));
  take_batch(w);
done:
  return rc;
}

/* The members that are left when the run stops. */
static void stop_rest(sweeping *w) {
  while (choose_batch(w, BATCH), w->count > 0) {
    if (w->s->keep && w->s->mine.reason[w->done] != QUAD_UNDONE)
      recall_batch(w);
    else
      stop_batch(w);
    take_batch(w);
  }
}

/* All ranks in step, a batch each; batches last about a second. Between them: how many members are
 * done, is the run to stop, is it time to save? */
static status run_all(sweeping *w, comm *self) {
  status rc = STATUS_OK;
  quad_run *run = w->run;
  const int64_t members = w->s->swept->grid.members, ranks = comm_size(run->world);
  int64_t size = 1, total = 0;
  while (total < members && !quad_stopped(run)) {
    const double began = comm_clock();
    const int64_t until = quad_sweep_until(run, total);
    const int64_t share = until / ranks + (until % ranks != 0);
    TRY(comm_agree(run->world, step(w, self, share < size ? share : size)));
    double seconds = comm_clock() - began;
    total = w->done;
    TRY(comm_sum_i64(run->world, &total, 1));
    TRY(comm_max_f64(run->world, &seconds, 1));
    size = quad_next_stretch(size, BATCH, seconds);
    quad_progress(run, total, members, NAN);
    if (total < members) TRY(quad_sweep_meet(run, total));
  }
  if (quad_stopped(run))
    stop_rest(w);
  else
    TRY(quad_sweep_finish(run, w->s));
done:
  return rc;
}

/* This rank's counts become those of all. */
static status share_counts(sweeping *w) {
  status rc = STATUS_OK;
  quad_sweep *s = w->s;
  comm *c = w->run->world;
  int64_t totals[QUAD_REASONS + 3];
  /* the lowest failed member and how it ended, as one number: the largest is the lowest member */
  int64_t lowest =
      s->failures > 0 ? -(s->first_failed * QUAD_REASONS + (int64_t)s->first_reason) : INT64_MIN;
  memcpy(totals, s->ended, sizeof s->ended);
  totals[QUAD_REASONS] = s->failures;
  totals[QUAD_REASONS + 1] = w->evaluations;
  totals[QUAD_REASONS + 2] = (int64_t)s->fingerprint;
  TRY(comm_sum_i64(c, totals, QUAD_REASONS + 3));
  TRY(comm_max_i64(c, &lowest, 1));
  memcpy(s->ended, totals, sizeof s->ended);
  s->failures = totals[QUAD_REASONS];
  w->run->evaluations = totals[QUAD_REASONS + 1];
  s->fingerprint = (uint64_t)totals[QUAD_REASONS + 2];
  s->first_failed = s->failures > 0 ? -lowest / QUAD_REASONS : -1;
  s->first_reason = (quad_reason)(s->failures > 0 ? -lowest % QUAD_REASONS : 0);
  if (quad_stopped(w->run)) goto done;
  w->run->reason = s->ended[QUAD_CONVERGED] > 0 ? QUAD_CONVERGED : QUAD_FIXED_COUNT;
done:
  return rc;
}

status quad_sweep_run(quad_run *run, const quad_rule *rule, quad_sweep *s) {
  status rc = STATUS_OK;
  sweeping w = {.run = run, .rule = rule, .s = s, .sign = 1.0};
  comm *self = NULL;
  const quad_integral *f = &run->integral;
  if (f->dims < rule->dims_min || f->dims > rule->dims_max) {
    return fail(STATUS_USAGE, "rule %s is for %d to %d dimensions, not %d", rule->name,
                rule->dims_min, rule->dims_max, f->dims);
  }
  for (int d = 0; d < f->dims; d++) {
    if (f->lower[d] > f->upper[d]) w.sign = -w.sign;
  }
  run->reason = QUAD_CONVERGED;
  TRY(ownership_even(run->world, s->swept->grid.members, &s->owned));
  TRY(comm_agree(run->world, comm_self(&self)));
  TRY(comm_agree(run->world, begin(&w)));
  TRY(quad_sweep_load(run, s));
  TRY(run_all(&w, self));
  const phase before = timers_switch(run->timers, PHASE_COMMUNICATE);
  TRY(share_counts(&w));
  timers_switch(run->timers, before);
done:
  if (w.small) end_fixed(&w);
  results_release(&w.batch);
  comm_close(&self);
  return rc;
}

void quad_sweep_release(quad_sweep *s) {
  results_release(&s->mine);
  ownership_release(&s->owned);
}
