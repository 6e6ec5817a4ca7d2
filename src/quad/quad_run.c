/* What all rules share (quad_run.h). A sum runs in stretches of blocks: ranks share each stretch,
 * meet, add it to the exact total, and look whether they are to save or stop. The length of a
 * stretch follows the clock (about a second); the total does not depend on it. */
#include "quad_run.h"

#include <math.h>
#include <string.h>

#include "progress.h"
#include "quad_saving.h"
#include "timers.h"

enum { FIRST_STRETCH = 1 << 8, LONGEST_STRETCH = 1 << 26 }; /* blocks, over all ranks */

void quad_axis_range(const quad_integral *f, int d, quad_axis *a) {
  const double low = fmin(f->lower[d], f->upper[d]), high = fmax(f->lower[d], f->upper[d]);
  a->range = isfinite(low)    ? (isfinite(high) ? QUAD_FINITE : QUAD_UPWARD)
             : isfinite(high) ? QUAD_DOWNWARD
                              : QUAD_LINE;
  a->anchor = a->range == QUAD_UPWARD ? low : a->range == QUAD_DOWNWARD ? high : 0.0;
  a->lower = a->range == QUAD_FINITE ? low : a->range == QUAD_LINE ? -1.0 : 0.0;
  a->upper = a->range == QUAD_FINITE ? high : 1.0;
}

status quad_check_width(const quad_axis *a, int d) {
  if (isfinite(a->upper - a->lower)) return STATUS_OK;
  return fail(STATUS_USAGE,
              "quad: the range of direction %d is wider than 1.8e308: only trapezoid and simpson "
              "take that",
              d + 1);
}

double quad_value(const quad_run *run, const double *x) {
  const quad_integral *f = &run->integral;
  double at[QUAD_DIMS], value, *out = &value;
  formula_input in[QUAD_INPUTS];
  for (int d = 0; d < f->dims; d++) at[d] = run->limits.single ? (float)x[d] : x[d];
  for (int i = 0; i < f->f->inputs; i++) {
    in[i] = (formula_input){.at = i < f->dims ? &at[i] : &f->parameters[i - f->dims], .step = 0};
  }
  f->f->batch(f->f->context, 1, in, &out);
  return run->limits.single ? (float)value : value;
}

int quad_met(const quad_limits *limits, double value, double error) {
  return error <= limits->rtol * fabs(value) || error <= limits->atol;
}

int quad_tolerated(const quad_run *run) { return quad_met(&run->limits, run->value, run->error); }

int quad_stopped(const quad_run *run) {
  return run->reason == QUAD_TIME_LIMIT || run->reason == QUAD_SIGNAL;
}

/* Blocks [first, last) over all ranks, into the exact total[0 .. count). */
static status sum_stretch(quad_run *run, const quad_grid *g, int64_t first, int64_t last, int count,
                          wide *total) {
  status rc = STATUS_OK;
  const int64_t blocks = last - first, size = comm_size(run->world), rank = comm_rank(run->world);
  const int64_t begin = first + blocks / size * rank + blocks % size * rank / size;
  const int64_t end = first + blocks / size * (rank + 1) + blocks % size * (rank + 1) / size;
  wide mine[2];
  TRY(comm_agree(run->world, run->kernels->quad->sum(run->place, run->work, g,
                                                     run->integral.parameters, begin, end)));
  const phase before = timers_switch(run->timers, PHASE_COMMUNICATE);
  rc = run->kernels->quad->collect(run->place, run->world, count, mine);
  timers_switch(run->timers, before);
  for (int k = 0; k < count && rc == STATUS_OK; k++) {
    wide_merge(&total[k], &mine[k]);
    wide_normalise(&total[k]);
  }
done:
  return rc;
}

/* Powers of two, at most 64 times as long: a first stretch of a microsecond says little. */
int64_t quad_next_stretch(int64_t length, int64_t longest, double seconds) {
  static const double BRISK = 0.5, SLOW = 2.0;
  if (seconds > SLOW && length > 1) return length / 2;
  for (int doublings = 0; doublings < 6 && seconds < BRISK && length < longest; doublings++) {
    length *= 2;
    seconds *= 2.0;
  }
  return length;
}

void quad_progress(const quad_run *run, int64_t k, int64_t total, double error) {
  static const double QUIET = 1.0;
  progress *p = run->progress;
  if (p != NULL && comm_clock() - p->began > QUIET) progress_step(p, k, total, error);
}

/* The next stretch's length, alike on all ranks. */
static status follow_clock(quad_run *run, double seconds, int64_t *stretch) {
  status rc = comm_max_f64(run->world, &seconds, 1);
  *stretch = quad_next_stretch(*stretch, LONGEST_STRETCH, seconds);
  return rc;
}

status quad_sum_grid(quad_run *run, const quad_grid *g, double *out) {
  status rc = STATUS_OK;
  const int count = g->estimate ? 2 : 1;
  const int64_t blocks = quad_blocks(g);
  int64_t at = 0, stretch = FIRST_STRETCH;
  wide total[2];
  for (int k = 0; k < count; k++) out[k] = NAN;
  if (quad_saver_recall(run->saver, count, out)) {
    run->evaluations += g->points;
    return STATUS_OK;
  }
  for (int k = 0; k < 2; k++) wide_clear(&total[k]);
  quad_saver_resume(run->saver, total, &at);
  while (at < blocks) {
    const double began = comm_clock();
    const int64_t end =
        quad_saver_until(run->saver, at, blocks - at < stretch ? blocks : at + stretch);
    TRY(sum_stretch(run, g, at, end, count, total));
    at = end;
    if (at == blocks) break;
    quad_progress(run, at, blocks, NAN);
    TRY(follow_clock(run, comm_clock() - began, &stretch));
    TRY(quad_saver_meet(run, total, at));
    if (quad_stopped(run)) goto done;
  }
  run->evaluations += g->points;
  for (int k = 0; k < count; k++) out[k] = g->scale * wide_round(&total[k]);
  rc = comm_agree(run->world, quad_saver_note(run->saver, count, out, blocks));
done:
  return rc;
}

/* Whether the sum over blocks [first, last) is finite. */
static status is_finite(quad_run *run, const quad_grid *g, int64_t first, int64_t last, int *yes) {
  status rc = STATUS_OK;
  wide total;
  wide_clear(&total);
  *yes = 1;
  for (int64_t at = first; at < last && *yes; at += LONGEST_STRETCH) {
    const int64_t end = last - at < LONGEST_STRETCH ? last : at + LONGEST_STRETCH;
    TRY(sum_stretch(run, g, at, end, 1, &total));
    *yes = total.word[WIDE_NAN] == 0 && total.word[WIDE_PLUS_INF] == 0 &&
           total.word[WIDE_MINUS_INF] == 0;
  }
done:
  return rc;
}

/* The samples of one block, in turn. Local. */
static void look_into(quad_run *run, const quad_grid *host, int64_t block) {
  const int64_t size = block_size(host->points);
  for (int64_t s = block * size; s < host->points && s < (block + 1) * size; s++) {
    int64_t digit[QUAD_DIMS];
    double x[QUAD_DIMS];
    quad_digits(host, s, digit);
    if (quad_point(host, digit, x, NULL) == 0.0) continue;
    const double f = quad_value(run, x);
    if (isfinite(f)) continue;
    memcpy(run->bad_point, x, sizeof x);
    run->bad_value = f;
    for (int d = 0; d < host->dims; d++) {
      const quad_axis *a = &host->axis[d];
      run->at_end |= a->range == QUAD_FINITE && (x[d] == a->lower || x[d] == a->upper);
      run->at_end |= a->range != QUAD_FINITE && a->range != QUAD_LINE && x[d] == a->anchor;
    }
    return;
  }
}

status quad_find_bad(quad_run *run, const quad_grid *g, const quad_grid *host) {
  status rc = STATUS_OK;
  int64_t low = 0, high = quad_blocks(g);
  run->reason = QUAD_NOT_FINITE;
  run->bad_value = 0.0;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    int fine;
    TRY(is_finite(run, g, low, middle, &fine));
    if (fine)
      low = middle;
    else
      high = middle;
  }
  look_into(run, host, low);
done:
  return rc;
}

/* A value of 0 with an error of 0 that the tolerance accepted is no answer, unless the formula says
 * that f is the same everywhere: a peak between the points looks like that. */
static void doubt_nothing(quad_run *run) {
  const quad_integral *f = &run->integral;
  if (run->reason != QUAD_CONVERGED || run->value != 0.0 || run->error != 0.0) return;
  if (f->settled != NULL && f->settled(f->context, f->parameters)) return;
  run->reason = QUAD_UNSEEN;
  run->error = INFINITY;
}

status quad_integrate(quad_run *run, const quad_rule *rule) {
  status rc = STATUS_OK;
  const quad_integral *f = &run->integral;
  double sign = 1.0;
  if (f->dims < rule->dims_min || f->dims > rule->dims_max) {
    return fail(STATUS_USAGE, "rule %s is for %d to %d dimensions, not %d", rule->name,
                rule->dims_min, rule->dims_max, f->dims);
  }
  for (int d = 0; d < f->dims; d++) {
    if (f->lower[d] > f->upper[d]) sign = -sign;
    if (f->lower[d] != f->upper[d]) continue;
    run->reason = QUAD_EMPTY_RANGE;
    run->value = run->error = 0.0;
    return STATUS_OK;
  }
  run->reason = QUAD_CONVERGED;
  TRY(quad_saver_load(run));
  TRY(rule->run(run, rule));
  doubt_nothing(run);
  TRY(quad_saver_finish(run));
  run->value *= sign;
done:
  return rc;
}
