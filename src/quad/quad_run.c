/* What all rules share (quad_run.h). */
#include "quad_run.h"

#include <math.h>

#include "timers.h"

/* Blocks summed before ranks meet: a few seconds' work, far below WIDE_ADDITIONS. */
enum { STRETCH_BLOCKS = 1 << 24 };

void quad_axis_range(const quad_integral *f, int d, quad_axis *a) {
  const double low = fmin(f->lower[d], f->upper[d]), high = fmax(f->lower[d], f->upper[d]);
  a->range = isfinite(low)    ? (isfinite(high) ? QUAD_FINITE : QUAD_UPWARD)
             : isfinite(high) ? QUAD_DOWNWARD
                              : QUAD_LINE;
  a->anchor = a->range == QUAD_UPWARD ? low : a->range == QUAD_DOWNWARD ? high : 0.0;
  a->lower = a->range == QUAD_FINITE ? low : a->range == QUAD_LINE ? -1.0 : 0.0;
  a->upper = a->range == QUAD_FINITE ? high : 1.0;
}

status quad_sum_grid(quad_run *run, const quad_grid *g, double *out) {
  status rc = STATUS_OK;
  const int64_t blocks = quad_blocks(g), size = comm_size(run->world), rank = comm_rank(run->world);
  const int64_t first = blocks / size * rank + blocks % size * rank / size;
  const int64_t last = blocks / size * (rank + 1) + blocks % size * (rank + 1) / size;
  status mine = STATUS_OK;
  double sum;
  for (int64_t b = first; b < last && mine == STATUS_OK; b += STRETCH_BLOCKS) {
    const int64_t end = last - b < STRETCH_BLOCKS ? last : b + STRETCH_BLOCKS;
    mine = run->kernels->quad->sum(run->place, run->work, g, run->integral.parameters, b, end);
  }
  TRY(comm_agree(run->world, mine));
  const phase before = timers_switch(run->timers, PHASE_COMMUNICATE);
  TRY(run->kernels->sums(run->place, run->world, 1, &sum));
  timers_switch(run->timers, before);
  run->evaluations += g->points;
  *out = g->scale * sum;
done:
  return rc;
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
  TRY(rule->run(run, rule));
  run->value *= sign;
done:
  return rc;
}
