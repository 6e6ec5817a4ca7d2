/* The rules that move a solve_state on (solve_state.h), one per judged step. Convergence is tested
 * first. A verdict, once there, stays. Sources: Saad (2003), alg. 4.1 and 9.1. */
#ifndef SOLVE_RULES_H
#define SOLVE_RULES_H

#include <math.h>

#include "solve_state.h"

PORTABLE int rules_finite(double x) { return x - x == 0.0; }

/* The tests every method shares, on the scaled residual norm of x_k. */
PORTABLE int32_t rules_residual(const solve_state *s, double residual) {
  if (!rules_finite(residual)) return VERDICT_NOT_FINITE;
  if (residual <= s->target) return VERDICT_CONVERGED;
  if (residual > s->limit) return VERDICT_DIVERGED;
  return VERDICT_NONE;
}

/* A sweep made x_{k+1} from x_k; the sums are of x_k's residual, or of the update. */
PORTABLE void rules_sweep(solve_state *s, const double *sum, const int64_t *counter) {
  if (s->monitor_update) {
    double update = sqrt(sum[0]), size = sqrt(sum[1]);
    if (!rules_finite(update) || !rules_finite(size)) {
      s->verdict = VERDICT_NOT_FINITE;
    } else if (update <= s->rtol * size) {
      s->verdict = VERDICT_HINT;
    }
  } else {
    s->residual = sqrt(sum[0]);
    s->verdict = rules_residual(s, s->residual);
  }
  if (s->verdict == VERDICT_NONE && counter[COUNTER_CHANGED] == 0) s->verdict = VERDICT_REPEATS;
  if (s->verdict == VERDICT_NONE && counter[COUNTER_STOP] != 0) s->verdict = VERDICT_REQUESTED;
  if (s->verdict == VERDICT_NONE) s->iteration++;
}

/* The starting residual: rho and the first direction (beta 0 makes p = z). */
PORTABLE void rules_cg_start(solve_state *s, const double *sum) {
  s->rho = sum[0];
  s->residual = sqrt(sum[1]);
  s->beta = 0.0;
  s->alpha = 0.0;
  s->pending = 1;
  s->verdict = rules_residual(s, s->residual);
  if (s->verdict == VERDICT_NONE && !(s->rho > 0.0)) {
    s->curvature = s->rho;
    s->verdict = VERDICT_INDEFINITE;
  }
}

PORTABLE void rules_cg_product(solve_state *s, const double *sum) {
  s->pending = 0;
  if (s->verdict != VERDICT_NONE) return;
  s->curvature = sum[0];
  if (!rules_finite(s->curvature)) {
    s->verdict = VERDICT_NOT_FINITE;
  } else if (!(s->curvature > 0.0)) {
    s->verdict = VERDICT_INDEFINITE;
  } else {
    s->alpha = s->rho / s->curvature;
  }
}

PORTABLE void rules_cg_residual(solve_state *s, const double *sum, const int64_t *counter) {
  if (s->verdict != VERDICT_NONE) return;
  s->residual = sqrt(sum[1]);
  s->beta = sum[0] / s->rho;
  s->rho = sum[0];
  s->iteration++;
  s->pending = 1;
  s->verdict = rules_residual(s, s->residual);
  if (s->verdict == VERDICT_NONE && !(s->rho > 0.0)) {
    s->curvature = s->rho;
    s->verdict = VERDICT_INDEFINITE;
  }
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
