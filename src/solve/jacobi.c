/* The Jacobi family: x <- x + omega D^-1 (b - A x), omega = 1 for jacobi.
 *
 * Two vectors take turns: x_k lies in iterate[k % 2], sweep k + 1 reads it, makes x_{k+1} in the
 * other and brings the norm of x_k's residual for free, so a verdict on x_k finds x_k intact. The
 * last iterate of a counted run is judged by its true residual alone.
 *
 * Traffic per row and sweep, beside the matrix: x, b, weight read, next written: 32 bytes.
 * Converges where rho(I - omega D^-1 A) < 1; slowly where that is close to 1: then prefer cg, or a
 * multigrid. Source: Saad, Iterative Methods for Sparse Linear Systems (2003), 4.1. */
#include <math.h>

#include "checkpointing.h"
#include "history.h"
#include "linear.h"
#include "mixed.h"
#include "progress.h"
#include "saving.h"
#include "timers.h"

typedef struct sweeping {
  solve_run *run;
  vec iterate[2];
  judged judged;
  solve_state state; /* what the next stretch starts from; state.iteration is its k */
  verdict verdict;
  int checked; /* no check is due at state.iteration that has not been made */
  solve_saver saver;
} sweeping;

typedef struct sweep_work {
  sweeping *w;
  vec from, to;
} sweep_work;

static status sweep_part(void *context, part p) {
  sweep_work *s = context;
  solve_run *run = s->w->run;
  linear_system *l = run->system;
  return l->kernels->solve->sweep(l->place, l->a, p, s->from, run->b, run->weight, s->to,
                                  s->w->judged.state);
}

static status sweep(sweeping *w, int64_t k) {
  status rc = STATUS_OK;
  sweep_work work = {w, w->iterate[k % 2], w->iterate[(k + 1) % 2]};
  TRY(linear_apply(w->run->system, work.from, sweep_part, &work));
  w->run->products++;
  TRY(judged_step(w->run, &w->judged, JUDGE_SWEEP));
done:
  return rc;
}

/* What one looked-at step says about x_k. */
static void note(sweeping *w, const solve_state *seen, int64_t k) {
  solve_run *run = w->run;
  if (seen->verdict == VERDICT_RANGE) return;
  double residual = NAN;
  if (!run->limits.monitor_update) {
    residual = solve_relative(run, seen);
    run->recursive_residual = residual;
  }
  history_row(run->history, k, HISTORY_RESIDUAL, residual);
  progress_step(run->progress, k, run->limits.max_iterations, residual);
}

/* Sweeps from state.iteration until a verdict or until x_end is made. */
static status stretch(sweeping *w, int64_t end) {
  status rc = STATUS_OK;
  linear_system *s = w->run->system;
  const int64_t start = w->state.iteration;
  int64_t next = start;
  solve_state seen = w->state;
  w->verdict = VERDICT_NONE;
  TRY(judged_start(s, &w->judged, &w->state));
  while (w->verdict == VERDICT_NONE && (next < end || judged_due(s, &w->judged, 1))) {
    if (next < end) TRY(sweep(w, next++));
    while (w->verdict == VERDICT_NONE && judged_due(s, &w->judged, next == end)) {
      const int64_t k = start + w->judged.looked;
      TRY(judged_look(s, &w->judged, &seen));
      note(w, &seen, k);
      w->verdict = (verdict)seen.verdict;
    }
  }
  w->state = seen;
  w->state.verdict = VERDICT_NONE;
done:
  return rc;
}

/* A sum of step k + 1 was out of range: take the scale from what is summed. x_k is intact. */
static status change_scale(sweeping *w) {
  status rc = STATUS_OK;
  solve_run *run = w->run;
  const int64_t k = w->state.iteration;
  vec work = w->iterate[(k + 1) % 2];
  double largest, norm[2];
  if (run->limits.monitor_update) {
    TRY(linear_max_abs(run->system, work, &largest));
    const double scale = linear_scale_for(largest);
    w->verdict =
        isinf(largest) || scale == w->state.update_scale ? VERDICT_NOT_FINITE : VERDICT_NONE;
    w->state.update_scale = scale;
    goto done;
  }
  TRY(linear_residual(run->system, w->iterate[k % 2], run->b, work, run->scale, norm));
  TRY(linear_max_abs(run->system, work, &largest));
  const double scale = linear_scale_for(largest);
  if (isinf(largest)) {
    w->verdict = VERDICT_NOT_FINITE;
    run->recursive_residual = largest;
  } else if (largest == 0.0) {
    w->verdict = VERDICT_CONVERGED; /* x_k solves the system exactly */
    run->recursive_residual = 0.0;
    history_row(run->history, k, HISTORY_RESIDUAL, 0.0);
  } else {
    w->verdict = scale == w->state.scale ? VERDICT_NOT_FINITE : VERDICT_NONE;
    solve_rescale(run, &w->state, scale);
  }
done:
  return rc;
}

/* For the update's norm: a scale from the first step, |omega D^-1 r0| and |x0|. */
static status first_update_scale(sweeping *w) {
  status rc = STATUS_OK;
  double largest_x, largest_next;
  TRY(judged_start(w->run->system, &w->judged, &w->state));
  TRY(sweep(w, w->state.iteration));
  TRY(linear_max_abs(w->run->system, w->iterate[w->state.iteration % 2], &largest_x));
  TRY(linear_max_abs(w->run->system, w->iterate[(w->state.iteration + 1) % 2], &largest_next));
  w->state.update_scale = linear_scale_for(fmax(largest_x, largest_next));
done:
  return rc;
}

/* A fixed count goes on where a tolerance would stop: an exact solution sweeps onto itself. Until
 * `last`, or until someone asks for a meeting. */
static status finish_fixed(sweeping *w, int64_t last) {
  status rc = STATUS_OK;
  solve_state seen = {.asked = 0};
  while (w->state.iteration < last && seen.asked == 0) {
    TRY(judged_start(w->run->system, &w->judged, &w->state));
    TRY(sweep(w, w->state.iteration));
    TRY(judged_look(w->run->system, &w->judged, &seen));
    w->state.iteration++;
    history_row(w->run->history, w->state.iteration, HISTORY_RESIDUAL, 0.0);
  }
  w->state.asked = seen.asked;
  w->verdict = VERDICT_NONE;
done:
  return rc;
}

/* The check at multiples of check_every, of an iterate that no sweep has judged yet. */
static status check(sweeping *w, int64_t last) {
  const vec nowhere = {.rows = 0};
  const int64_t k = w->state.iteration;
  w->checked = k < last;
  if (w->run->limits.fixed_count || k == 0 || k >= last || k % w->run->limits.check_every != 0) {
    return STATUS_OK;
  }
  return solve_check(w->run, w->iterate[k % 2], nowhere, k, &w->verdict);
}

static int64_t next_check(const solve_limits *l, int64_t k, int64_t last) {
  if (l->fixed_count) return last;
  const int64_t stop = (k / l->check_every + 1) * l->check_every;
  return stop < last ? stop : last;
}

static int64_t next_stop(const sweeping *w, int64_t last) {
  const int64_t save = checkpointing_next(w->run->saving, w->state.iteration);
  const int64_t look = next_check(&w->run->limits, w->state.iteration, last);
  return save < look ? save : look;
}

/* What the verdict of a stretch asks for; leaves VERDICT_NONE to go on from w->state. */
static status respond(sweeping *w, int64_t last) {
  status rc = STATUS_OK;
  solve_run *run = w->run;
  const int64_t k = w->state.iteration;
  const vec nowhere = {.rows = 0};
  w->checked = 1;
  if (w->verdict == VERDICT_RANGE) TRY(change_scale(w));
  if (w->verdict == VERDICT_CONVERGED && run->limits.fixed_count) {
    TRY(finish_fixed(w, next_stop(w, last)));
    goto done;
  }
  if (w->verdict == VERDICT_REPEATS && run->limits.monitor_update) {
    TRY(solve_check(run, w->iterate[k % 2], nowhere, k, &w->verdict));
    if (w->verdict == VERDICT_NONE) w->verdict = VERDICT_REPEATS;
  } else if (w->verdict == VERDICT_HINT) {
    TRY(solve_check(run, w->iterate[k % 2], nowhere, k, &w->verdict));
    /* this step made x_{k+1} already */
    if (w->verdict == VERDICT_NONE) w->state.iteration++;
  } else if (w->verdict == VERDICT_REQUESTED) { /* as at the end of a stretch: x_{k+1} is made */
    w->verdict = VERDICT_NONE;
    w->state.iteration++;
    TRY(check(w, last));
  } else if (w->verdict == VERDICT_NONE) {
    TRY(check(w, last));
  }
done:
  return rc;
}

/* Ranks meet where one asked for it, or where a checkpoint is due. */
static status meet(sweeping *w, int64_t last) {
  status rc = STATUS_OK;
  const int64_t k = w->state.iteration;
  int stop = 0;
  if (w->verdict != VERDICT_NONE || k >= last || !saving_is_due(w->run, &w->state)) goto done;
  w->state.asked = 0;
  w->saver.vector[0].v = w->iterate[k % 2];
  TRY(saving_meet(&w->saver, &w->state, w->checked, &stop));
  if (stop) w->verdict = VERDICT_REQUESTED;
done:
  return rc;
}

static status finish(sweeping *w) {
  status rc = STATUS_OK;
  solve_run *run = w->run;
  linear_system *s = run->system;
  const int64_t k = w->state.iteration;
  verdict truth;
  run->iterations = k;
  TRY(solve_check(run, w->iterate[k % 2], w->iterate[(k + 1) % 2], k, &truth));
  if (run->limits.monitor_update) run->recursive_residual = run->relative_residual;
  if (w->verdict == VERDICT_NONE ||
      w->verdict == VERDICT_REQUESTED) { /* counted to the end: x_k was not judged by a sweep */
    run->recursive_residual = run->relative_residual;
    history_row(run->history, k, HISTORY_RESIDUAL, run->relative_residual);
    if (w->verdict == VERDICT_NONE) w->verdict = truth;
  }
  run->reason = solve_reason_of(w->verdict);
  if (run->limits.fixed_count && run->reason == REASON_MAX_ITERATIONS) {
    run->reason = REASON_FIXED_COUNT;
  }
  if (k % 2 == 1) ATTEMPT(s, s->kernels->copy(s->place, run->x, w->iterate[1]));
  progress_end(run->progress, k, run->relative_residual);
done:
  return rc;
}

/* The first state: a checkpoint's, or the start's. */
static status begin(sweeping *w, int64_t last) {
  status rc = STATUS_OK;
  solve_run *run = w->run;
  linear_system *s = run->system;
  solve_resumed resumed;
  static const char *const names[] = {"/solve/x"};
  w->checked = 1;
  TRY(comm_agree(s->world, saving_open(&w->saver, run, names, &w->iterate[0], 1)));
  TRY(saving_load(&w->saver, &w->state, &resumed));
  if (resumed.found) {
    w->verdict = resumed.ended;
    if (w->state.iteration % 2 == 1) {
      ATTEMPT(s, s->kernels->copy(s->place, w->iterate[1], w->iterate[0]));
    }
    if (w->verdict == VERDICT_NONE && !resumed.checked) TRY(check(w, last));
    goto done;
  }
  TRY(solve_begin(run, w->iterate[1]));
  w->state = solve_state_at(run, 0, run->scale);
  if (run->limits.monitor_update) TRY(first_update_scale(w));
done:
  return rc;
}

static status run_sweeps(solve_run *run) {
  status rc = STATUS_OK;
  if (run->mixed.on) return stepping_run(run, &MIXED_SWEEPS);
  linear_system *s = run->system;
  const int64_t last = run->limits.max_iterations;
  sweeping w = {.run = run, .iterate = {run->x, {.rows = 0}}};
  linear_phase(s, PHASE_SETUP); /* pages that nobody has touched yet */
  ATTEMPT(s, linear_vector(s, "next iterate", &w.iterate[1]));
  ATTEMPT(s, judged_open(s, &w.judged));
  TRY(comm_agree(s->world, s->failure));
  linear_phase(s, PHASE_COMPUTE);
  TRY(begin(&w, last));
  while (w.verdict == VERDICT_NONE && w.state.iteration < last) {
    TRY(stretch(&w, next_stop(&w, last)));
    TRY(respond(&w, last));
    TRY(meet(&w, last));
  }
  w.saver.vector[0].v = w.iterate[w.state.iteration % 2];
  TRY(saving_finish(&w.saver, &w.state, w.checked, w.verdict));
  TRY(finish(&w));
done:
  judged_release(s, &w.judged);
  linear_vector_release(s, &w.iterate[1]);
  return rc;
}

const solver SOLVER_jacobi = {
    .name = "jacobi",
    .help = "Jacobi iteration; for strictly dominant matrices",
    .source = "Saad (2003), 4.1",
    .flags = SOLVER_DIVIDES_BY_DIAGONAL | SOLVER_MONITORS_UPDATE | SOLVER_TAKES_MIXED,
    .vector_bytes = 32,
    .run = run_sweeps,
};

const solver SOLVER_jor = {
    .name = "jor",
    .help = "Jacobi with a relaxation factor omega",
    .source = "Saad (2003), 4.1; best omega of an SPD matrix: 2/(lmin + lmax) of D^-1 A",
    .flags = SOLVER_DIVIDES_BY_DIAGONAL | SOLVER_TAKES_OMEGA | SOLVER_MONITORS_UPDATE |
             SOLVER_TAKES_MIXED,
    .vector_bytes = 32,
    .run = run_sweeps,
};
