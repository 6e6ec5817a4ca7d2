/* The rules that move a solve_state on (solve_state.h), one per judged step. Convergence is tested
 * first. A verdict, once there, stays. Sources: Saad (2003), alg. 4.1 and 9.1. */
#ifndef SOLVE_RULES_H
#define SOLVE_RULES_H

#include <math.h>

#include "solve_state.h"

PORTABLE int rules_finite(double x) { return x - x == 0.0; }

/* Whether a sum of products has lost digits to underflow or overflow (zero and infinity included):
 * the squares of values above 1e-140 or below 1e140 keep all their digits. */
PORTABLE int rules_out_of_range(double sum) {
  double size = fabs(sum);
  return size < 1e-280 || size > 1e280;
}

/* The tests every method shares, on the scaled residual norm of x_k. */
PORTABLE int32_t rules_residual(const solve_state *s, double residual) {
  if (!rules_finite(residual)) return VERDICT_NOT_FINITE;
  if (s->fixed_count) return VERDICT_NONE;
  if (residual <= s->target) return VERDICT_CONVERGED;
  if (residual > s->limit) return VERDICT_DIVERGED;
  if (residual < s->floor) return VERDICT_HINT;
  return VERDICT_NONE;
}

/* The norm of an update is only a hint. Zero is no loss of digits here: it is a repeat. */
PORTABLE int32_t rules_update(const solve_state *s, const double *sum) {
  double update = sqrt(sum[0]), size = sqrt(sum[1]);
  if (update != update || size != size) return VERDICT_NOT_FINITE;
  if (sum[1] != 0.0 && rules_out_of_range(sum[1])) return VERDICT_RANGE;
  if (!rules_finite(update)) return VERDICT_RANGE;
  return !s->fixed_count && update > 0.0 && update <= s->rtol * size ? VERDICT_HINT : VERDICT_NONE;
}

/* A sweep made x_{k+1} from x_k; the sums are of x_k's residual, or of the update. */
PORTABLE void rules_sweep(solve_state *s, const double *sum, const int64_t *counter) {
  s->asked = counter[COUNTER_STOP];
  if (s->monitor_update) {
    s->verdict = rules_update(s, sum);
  } else if (rules_out_of_range(sum[0])) {
    s->verdict = VERDICT_RANGE;
  } else {
    s->residual = sqrt(sum[0]);
    s->verdict = rules_residual(s, s->residual);
  }
  if (s->verdict == VERDICT_NONE && counter[COUNTER_CHANGED] == 0 && !s->fixed_count) {
    s->verdict = VERDICT_REPEATS;
  }
  if (s->verdict == VERDICT_NONE && counter[COUNTER_STOP] != 0) s->verdict = VERDICT_REQUESTED;
  if (s->verdict == VERDICT_NONE) s->iteration++;
}

/* rho = r.z and the residual of x_k are known (the sums are in range). */
PORTABLE void rules_cg_accept(solve_state *s, const double *sum) {
  s->rho = sum[0];
  s->residual = sqrt(sum[1]);
  s->pending = 1;
  s->verdict = rules_finite(s->rho) ? rules_residual(s, s->residual) : VERDICT_NOT_FINITE;
  if (s->verdict != VERDICT_CONVERGED && s->verdict != VERDICT_NOT_FINITE && s->rho <= 0.0) {
    s->curvature = s->rho;
    s->verdict = VERDICT_INDEFINITE;
  }
}

/* The starting residual: rho and the first direction (beta 0 makes p = z). */
PORTABLE void rules_cg_start(solve_state *s, const double *sum) {
  s->beta = 0.0;
  s->alpha = 0.0;
  s->pending = 0;
  s->verdict = VERDICT_RANGE;
  if (!rules_out_of_range(sum[0]) && !rules_out_of_range(sum[1])) rules_cg_accept(s, sum);
}

PORTABLE void rules_cg_product(solve_state *s, const double *sum) {
  s->pending = 0;
  if (s->verdict != VERDICT_NONE) return;
  s->curvature = sum[0];
  if (s->curvature != s->curvature) {
    s->verdict = VERDICT_NOT_FINITE;
  } else if (rules_out_of_range(s->curvature)) {
    s->verdict = VERDICT_RANGE;
  } else if (s->curvature < 0.0) {
    s->verdict = VERDICT_INDEFINITE;
  } else {
    s->alpha = s->rho / s->curvature;
  }
}

PORTABLE void rules_cg_residual(solve_state *s, const double *sum, const int64_t *counter) {
  if (s->verdict != VERDICT_NONE) return;
  s->asked = counter[COUNTER_STOP];
  if (rules_out_of_range(sum[0]) || rules_out_of_range(sum[1])) {
    s->verdict = VERDICT_RANGE;
    return;
  }
  s->beta = sum[0] / s->rho;
  s->iteration++;
  rules_cg_accept(s, sum);
  if (s->verdict == VERDICT_NONE && counter[COUNTER_STOP] != 0) s->verdict = VERDICT_REQUESTED;
}

/* Applies the rule of one judged step. A verdict, once there, stays. */
PORTABLE void rules_apply(judge_kind kind, solve_state *s, const double *sum,
                          const int64_t *counter) {
  switch (kind) {
  case JUDGE_SWEEP:
    if (s->verdict == VERDICT_NONE) rules_sweep(s, sum, counter);
    break;
  case JUDGE_CG_START:
    rules_cg_start(s, sum);
    break;
  case JUDGE_CG_PRODUCT:
    rules_cg_product(s, sum);
    break;
  case JUDGE_CG_RESIDUAL:
    rules_cg_residual(s, sum, counter);
    break;
  }
}

#endif
