/* The parts of a run that all methods share (linear.h): where it starts, what its state is, when
 * the host looks at verdicts, and the check by the true residual that alone decides.
 *
 * Lag. A backend may let the host run ahead of the verdicts by `lag` judged steps; the kernels of
 * later steps do nothing once a verdict is set, so what the host has issued too much changes
 * nothing, and the state it looks at is that of the stopping step. Decisions the host takes by
 * itself (checks at multiples of check_every) drain the pipeline first. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "checkpointing.h"
#include "history.h"
#include "linear.h"
#include "solve_rules.h"
#include "timers.h"

/* Below this many times |b| every iteration looks at stagnation, and a residual is rounding below
 * ROUNDING eps (| |A||x| | + |b|): docs/numerics.md. */
static const double FLOOR = 1e-13, ROUNDING = 8.0;

status solve_begin(solve_run *run, vec r) {
  status rc = STATUS_OK;
  linear_system *s = run->system;
  double largest_b, largest_r, norm[2];
  linear_phase(s, PHASE_COMPUTE);
  TRY(linear_max_abs(s, run->b, &largest_b));
  TRY(linear_residual(s, run->x, run->b, r, 1.0, norm));
  TRY(linear_max_abs(s, r, &largest_r));
  run->scale = linear_scale_for(fmax(largest_b, largest_r));
  TRY(linear_norm(s, run->b, run->scale, &run->norm_b));
  TRY(linear_norm(s, r, run->scale, &run->norm_r));
done:
  return rc;
}

solve_state solve_state_at(const solve_run *run, int64_t k, double scale) {
  const solve_limits *l = &run->limits;
  const double ratio = scale / run->scale, norm_b = run->norm_b * ratio;
  solve_state s;
  memset(&s, 0, sizeof s);
  s.scale = scale;
  s.update_scale = 1.0;
  s.target = fmax(l->rtol * norm_b, l->atol * scale);
  if (run->tighten > 0.0) s.target *= run->tighten;
  s.limit = l->divergence * fmax(norm_b, run->norm_r * ratio);
  s.floor = FLOOR * norm_b;
  s.rtol = l->rtol;
  s.monitor_update = l->monitor_update;
  s.fixed_count = l->fixed_count;
  s.iteration = k;
  return s;
}

double solve_relative(const solve_run *run, const solve_state *s) {
  return s->residual / (s->scale / run->scale) / run->norm_b;
}

void solve_rescale(const solve_run *run, solve_state *s, double scale) {
  solve_state moved = solve_state_at(run, s->iteration, scale);
  moved.update_scale = s->update_scale;
  moved.residual = s->residual * (scale / s->scale);
  moved.rho = linear_rescale_square(s->rho, s->scale, scale);
  moved.curvature = linear_rescale_square(s->curvature, s->scale, scale);
  moved.alpha = s->alpha;
  moved.beta = s->beta;
  moved.pending = s->pending;
  moved.verdict = s->verdict;
  *s = moved;
}

status judged_open(linear_system *s, judged *j) {
  memset(j, 0, sizeof *j);
  return s->kernels->alloc(s->place, sizeof(solve_state), "solver state", &j->state);
}

void judged_release(linear_system *s, judged *j) {
  if (j->state.at != NULL) s->kernels->release(s->place, &j->state);
}

status judged_start(linear_system *s, judged *j, const solve_state *state) {
  solve_state copy = *state;
  j->issued = j->looked = 0;
  ATTEMPT(s, s->kernels->copy_in(s->place, j->state, (hptr){&copy}, sizeof copy));
  return STATUS_OK;
}

status judged_step(solve_run *run, judged *j, judge_kind kind) {
  linear_system *s = run->system;
  const int stop = s->failure != STATUS_OK || checkpointing_asks(run->saving);
  linear_meet(s);
  status rc = s->kernels->solve->judge(s->place, s->world, kind, j->state, stop);
  linear_phase(s, PHASE_COMPUTE);
  j->issued++;
  return rc;
}

int judged_due(const linear_system *s, const judged *j, int drain) {
  const int64_t ahead = j->issued - j->looked;
  return ahead > 0 && (drain || ahead > s->kernels->solve->lag);
}

status judged_look(linear_system *s, judged *j, solve_state *out) {
  j->looked++;
  return s->kernels->solve->look(s->place, j->state, j->looked, out);
}

/* |S^-1 v| of a scaled system's v, by its own scale. */
static status given_norm(solve_run *run, vec v, double *norm) {
  status rc = STATUS_OK;
  linear_system *s = run->system;
  double largest;
  ATTEMPT(s, s->kernels->multiply(s->place, run->unscale, v, run->unscaled));
  TRY(linear_max_abs(s, run->unscaled, &largest));
  const double scale = linear_scale_for(largest);
  TRY(linear_norm(s, run->unscaled, scale, norm));
  *norm /= scale;
done:
  return rc;
}

/* The given system's test for convergence. Where the carried residual would already have passed,
 * its target falls by what is missing, and a half: what carries on must come closer. */
static status check_given(solve_run *run, vec r, const solve_state *s, double carried,
                          verdict *out) {
  status rc = STATUS_OK;
  double norm;
  TRY(given_norm(run, r, &norm));
  run->relative_residual = norm / run->norm_given;
  if (!rules_finite(norm) || s->fixed_count || *out == VERDICT_NOT_FINITE) goto done;
  const double target = fmax(run->limits.rtol * run->norm_given, run->limits.atol);
  if (norm <= target) {
    *out = VERDICT_CONVERGED;
  } else if (*out == VERDICT_CONVERGED) {
    *out = VERDICT_NONE;
    const double before = run->tighten > 0.0 ? run->tighten : 1.0;
    run->tighten = before * (carried / s->target) * 0.5 * (target / norm);
  }
done:
  return rc;
}

status solve_check(solve_run *run, vec x, vec r, int64_t k, verdict *out) {
  status rc = STATUS_OK;
  double norm[2];
  const solve_state s = solve_state_at(run, k, run->scale);
  const int scaled = run->unscale.data.at != NULL;
  const vec to = scaled && r.data.at == NULL ? run->unscaled : r;
  if (scaled && run->norm_given == 0.0) TRY(given_norm(run, run->b, &run->norm_given));
  run->products++;
  TRY(linear_residual(run->system, x, run->b, to, run->scale, norm));
  const double rounding = ROUNDING * DBL_EPSILON * (norm[1] + run->norm_b);
  *out = (verdict)rules_residual(&s, norm[0]);
  run->relative_residual = norm[0] / run->norm_b;
  if (scaled) TRY(check_given(run, to, &s, norm[0], out));
  history_revise(run->history, k, HISTORY_TRUE_RESIDUAL, run->relative_residual);
  if (run->limits.monitor_update) {
    history_row(run->history, k, HISTORY_RESIDUAL, run->relative_residual);
  }
  if (*out == VERDICT_HINT) *out = VERDICT_NONE;
  if (*out == VERDICT_NONE && !s.fixed_count && rules_finite(rounding) && norm[0] < rounding) {
    *out = VERDICT_REPEATS;
  }
done:
  return rc;
}

solve_reason solve_reason_of(verdict v) {
  switch (v) {
  case VERDICT_CONVERGED:
    return REASON_CONVERGED;
  case VERDICT_REPEATS:
    return REASON_STAGNATED;
  case VERDICT_DIVERGED:
    return REASON_DIVERGED;
  case VERDICT_INDEFINITE:
    return REASON_INDEFINITE;
  case VERDICT_REQUESTED:
    return REASON_REQUESTED;
  case VERDICT_BREAKDOWN:
    return REASON_BREAKDOWN;
  case VERDICT_NONE:
  case VERDICT_HINT:
  case VERDICT_RANGE:
    return REASON_MAX_ITERATIONS;
  case VERDICT_NOT_FINITE:
    break;
  }
  return REASON_NOT_FINITE;
}
