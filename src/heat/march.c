/* The loop over time. Ranks run on by themselves; they meet
 *   - where a checkpoint or a visitor is due, at the end, and every CHECKED steps, to see whether
 *     the field is finite: steps that are the same in every run of the problem;
 *   - and about every PACE seconds, to agree on signals, time limits and checkpoints due by the
 *     clock. How far apart these meetings are is measured; they change no bit of the result. */
#include <math.h>

#include "checkpointing.h"
#include "progress.h"
#include "scheme.h"

enum { CHECKED = 128 };
static const double PACE = 0.2;

double heat_time(const heat_run *run, int64_t step) {
  if (step == run->last && !isnan(run->t_end)) return run->t_end;
  return fma((double)(step - run->step_0), run->dt, run->t_0);
}

void heat_plan_steps(heat_run *run) {
  if (isnan(run->t_end)) return;
  const double span = run->t_end - run->t_0, whole = nearbyint(span / run->dt);
  double steps = ceil(span / run->dt);
  /* a whole number of steps but for the rounding of dt and t_end */
  if (fabs(fma(whole, run->dt, -span)) <= 4.0 * 0x1p-52 * fabs(run->t_end)) steps = whole;
  run->last = run->step_0 + (steps > 0.0 ? (int64_t)steps : 0);
}

/* The length of the step from `step` on: the last one may be shorter. */
static double length_of(const heat_run *run, int64_t step) {
  const double t = heat_time(run, step);
  if (step + 1 != run->last || isnan(run->t_end)) return run->dt;
  const double left = run->t_end - t;
  return fabs(left - run->dt) <= 4.0 * 0x1p-52 * fabs(run->t_end) ? run->dt : left;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* The next step at which all runs of the problem look. */
static int64_t next_look(const heat_run *run) {
  int64_t next = smaller(run->last, (run->step / CHECKED + 1) * CHECKED);
  next = smaller(next, checkpointing_next(run->saving, run->step));
  for (int i = 0; i < run->visitors; i++) {
    const heat_visitor *v = &run->visitor[i];
    next = smaller(next, v->next(v->context, run, run->step));
  }
  return next;
}

/* Where the first value that is not finite is, over all ranks. */
static status find_bad(heat_run *run) {
  status rc = STATUS_OK;
  const heat_slab *s = &run->slab;
  int64_t first = INT64_MAX, mine[2];
  HEAT_ATTEMPT(run, heat_store(run, run->host, run->u));
  for (int64_t i = 0; i < heat_owned(s) && first == INT64_MAX; i++) {
    if (!isfinite(run->host[i])) first = i;
  }
  const int64_t global = first == INT64_MAX ? first : first + s->first * s->plane;
  mine[0] = -global;
  TRY(comm_max_i64(run->world, mine, 1));
  int64_t at = -mine[0];
  const int owner = global == at ? comm_rank(run->world) : -1;
  mine[0] = owner;
  TRY(comm_max_i64(run->world, mine, 1));
  run->bad_rank = (int)mine[0];
  run->bad_value = owner >= 0 ? run->host[first] : 0.0;
  TRY(comm_broadcast(run->world, &run->bad_value, sizeof run->bad_value, run->bad_rank));
  for (int d = 0; d < s->g.dims; d++) {
    run->bad_point[d] = at % s->g.n[d];
    at /= s->g.n[d];
  }
done:
  return rc;
}

static status check_finite(heat_run *run, int *good) {
  status rc = STATUS_OK;
  heat_totals t;
  TRY(heat_totals_of(run, run->u, &t));
  *good = isfinite(t.minimum) && isfinite(t.maximum);
  if (*good) goto done;
  run->reason = HEAT_NOT_FINITE;
  rc = find_bad(run);
done:
  return rc;
}

/* All ranks are at run->step; `look`: it is a step at which all runs look. *stop: leave. */
static status meet(heat_run *run, int look, int64_t *pace, int *stop) {
  status rc = STATUS_OK;
  stop_cause cause = STOP_NONE;
  int good = 1;
  int64_t word[3] = {run->failure != STATUS_OK, checkpointing_asks(run->saving), -*pace};
  TRY(comm_max_i64(run->world, word, 3));
  *pace = -word[2];
  *stop = 1;
  if (word[0] != 0) {
    run->reason = HEAT_FAILED;
    goto done;
  }
  if (run->unsolved) {
    run->reason = HEAT_UNSOLVED;
    goto done;
  }
  if (look || word[1] != 0) {
    TRY(check_finite(run, &good));
    if (!good) goto done;
  }
  for (int i = 0; look && i < run->visitors; i++) {
    const heat_visitor *v = &run->visitor[i];
    if (v->next(v->context, run, run->step - 1) == run->step) TRY(v->look(v->context, run));
  }
  const int due =
      run->step < run->last && checkpointing_next(run->saving, run->step - 1) == run->step;
  if (run->saving != NULL && (word[1] != 0 || due)) {
    TRY(checkpointing_meet(run->saving, run->step, run->failure != STATUS_OK, &cause));
  }
  if (cause == STOP_FAILURE) run->reason = HEAT_FAILED;
  if (cause == STOP_SIGNAL || cause == STOP_TIME) run->reason = HEAT_REQUESTED;
  *stop = cause != STOP_NONE && run->step < run->last;
  if (!*stop) run->reason = HEAT_DONE;
done:
  return rc;
}

/* Takes what the device has done so far off the counts, or (sign 1) adds it. */
static void count_work(heat_run *run, int sign) {
  device_facts facts;
  if (run->kernels->describe == NULL) return;
  run->kernels->describe(run->place, &facts);
  run->launches += sign * facts.launches;
  run->copies += sign * facts.copies;
}

static status run_to(heat_run *run, int64_t until) {
  status rc = STATUS_OK;
  count_work(run, -1);
  while (run->step < until && run->step < run->last) {
    const double t = heat_time(run, run->step);
    TRY(run->scheme->step(run, t, length_of(run, run->step), heat_time(run, run->step + 1)));
    run->whole = run->queued;
    if (run->unsolved) break;
    run->step++;
    if (run->rtol > 0.0) heat_plan_steps(run); /* the step may have been another one */
  }
  rc = heat_flush(run);
done:
  count_work(run, 1);
  return rc;
}

status heat_march(heat_run *run) {
  status rc = STATUS_OK;
  int64_t pace = 1;
  int stop = 0;
  run->began_at = run->step;
  HEAT_ATTEMPT(run, heat_input_constant(run));
  run->launches = run->copies = 0; /* here the loop begins */
  TRY(meet(run, 1, &pace, &stop));
  while (!stop && run->step < run->last) {
    const int64_t look = next_look(run), begin = run->step;
    const double clock = comm_clock();
    TRY(run_to(run, smaller(look, begin + pace)));
    const double each = (comm_clock() - clock) / fmax(1.0, (double)(run->step - begin));
    pace = each * 1e6 < PACE ? 1000000 : (int64_t)fmax(1.0, PACE / each);
    if (pace > run->depth) pace -= pace % run->depth; /* whole passes */
    TRY(meet(run, run->step == look || run->step == run->last, &pace, &stop));
    progress_step(run->progress, run->step, run->last, heat_time(run, run->step));
  }
  progress_end(run->progress, run->step, heat_time(run, run->step));
done:
  return rc;
}
