/* The scalars of a running linear solve; the rules that move them on are in solve_rules.h. Written
 * once, applied by every backend right after the sums of a step are known (on a GPU by the device
 * itself, so that no iteration waits for the host). Kernels read alpha and beta from here, and do
 * nothing once `verdict` is set, so the stopping iteration is the same on every backend however
 * late the host looks.
 *
 * Sums hold products of values scaled by `scale`, a power of two taken from max|b| and max|r0|
 * before the loop: norms in here are scaled norms, `scale` times the real ones.
 *
 * Sources: Saad, Iterative Methods for Sparse Linear Systems (2003), alg. 4.1 and 9.1; Hestenes,
 * Stiefel (1952). Stopping tests: docs/numerics.md. */
#ifndef SOLVE_STATE_H
#define SOLVE_STATE_H

#include <stdint.h>

#include "portable.h"

/* The counters of a step's reduction (COUNTERS of backend.h). */
enum { COUNTER_CHANGED = 0, COUNTER_STOP = 1 };

typedef enum verdict {
  VERDICT_NONE = 0,   /* go on */
  VERDICT_CONVERGED,  /* by the residual the method carries */
  VERDICT_HINT,       /* compute the true residual now: the update is small, or |r| < floor */
  VERDICT_DIVERGED,   /* residual above the divergence limit */
  VERDICT_NOT_FINITE, /* a sum is NaN or infinite */
  VERDICT_REPEATS,    /* the iterate repeats bit for bit */
  VERDICT_INDEFINITE, /* CG: p.Ap <= 0 or r.z <= 0 */
  VERDICT_REQUESTED,  /* a rank asked to stop (signal, time limit) */
  VERDICT_RANGE,      /* a sum left [1e-280, 1e280]: to be redone with a scale of its own */
  VERDICT_BREAKDOWN   /* a method divides by what has become zero: it cannot go on from here */
} verdict;

typedef struct solve_state {
  /* set before the loop */
  double scale;        /* power of two applied to residuals in sums */
  double update_scale; /* power of two applied to updates and iterates (monitor = update) */
  double target;       /* converged at or below: scale * max(rtol * |b|, atol) */
  double limit;        /* diverged above: scale * divergence * max(|b|, |r0|) */
  double floor;        /* below it stagnation is looked at: scale * 1e-13 |b| */
  double rtol;
  int32_t monitor_update; /* 0: sums are residuals; 1: sums are updates */
  int32_t fixed_count;    /* no tolerance, no limit: only what cannot go on stops */

  /* running */
  int32_t verdict;
  int32_t pending;   /* CG: x += alpha p of the judged step is still to be done */
  int64_t asked;     /* ranks that wanted all to meet, in the last step judged */
  int64_t iteration; /* k: x_k is the iterate the residual below belongs to */
  double residual;   /* scaled |r_k|; of the recursive residual for CG */
  double alpha, beta, rho, curvature;
} solve_state;

/* The step a backend's judge() applies once sums are known. */
typedef enum judge_kind {
  JUDGE_SWEEP,      /* sums: residual; counter: changed entries. x_k judged, x_{k+1} made */
  JUDGE_CG_START,   /* sums: r.z, r.r of the starting residual */
  JUDGE_CG_PRODUCT, /* sums: p.Ap */
  JUDGE_CG_RESIDUAL /* sums: r.z, r.r after r -= alpha A p */
} judge_kind;

#endif
