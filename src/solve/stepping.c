/* The driver of methods that the host drives (stepping.h).
 *
 *   begin: a checkpoint's state, or r = b - A x
 *   repeat  judge x_k by the residual the method carries; where it proposes an end, or a check is
 *           due, by the true one; meet the other ranks where one asked or a checkpoint is due;
 *           step
 *   save what a restart goes on from; x = x_k; the true residual of x_k
 *
 * The carried residual only proposes: when it says converged and the true one does not, the method
 * restarts from the true one, at most RESTARTS times. A method whose x_k is not whole (gmres inside
 * a cycle) is made whole (settle) to be judged or returned; checks and meetings wait for the next
 * whole iterate. Stopped in between by max_iterations, it is saved as it was at the last whole one:
 * a restart makes the same steps again.
 *
 * Cost beside the method's: one product at each check. Rules: docs/numerics.md. */
#include "stepping.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "checkpointing.h"
#include "history.h"
#include "progress.h"
#include "solve_rules.h"
#include "timers.h"

enum { RESTARTS = 5 };

/* What a restart goes on from, beside vectors. */
typedef struct mark {
  int64_t iteration;
  double residual, recursive;
  double scalars[STEPPING_REALS + 1]; /* real[], then whether start() has to come first */
} mark;

typedef struct driver {
  stepping t;
  const step_method *method;
  int vectors, opened;
  verdict verdict;
  mark last;       /* the last whole iterate */
  int settled;     /* x is x_k, but start() has to come before the next step */
  int due, asked;  /* a check, a meeting, at the next whole iterate */
  int64_t before;  /* k before the last step */
  int64_t checked; /* the k of the last check; -1: none */
  int64_t told; /* history rows up to here came with the checkpoint: beyond its k where it was made
                   by a run that ended between whole iterates */
  solve_saver saver;
} driver;

/* ---- for methods ---- */

status stepping_product(stepping *t, vec p, vec z, vec out) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  if (stepping_image(t, p, z).data.at != p.data.at) {
    TRY(preconditioning_apply(s, t->run->preconditioning, p, z));
  }
  t->run->products++;
  TRY(linear_product(s, stepping_image(t, p, z), out));
done:
  return rc;
}

vec stepping_image(const stepping *t, vec p, vec z) {
  const preconditioning *m = t->run->preconditioning;
  return m == NULL || m->kind == NULL ? p : z;
}

void stepping_break(stepping *t, const char *what, double value) {
  t->verdict = value == value ? VERDICT_BREAKDOWN : VERDICT_NOT_FINITE;
  snprintf(t->run->broke, sizeof t->run->broke, "%s = %.3e", what, value);
}

/* ---- judging ---- */

static solve_state state_of(const driver *d) {
  solve_state s = solve_state_at(d->t.run, d->t.iteration, d->t.run->scale);
  s.residual = d->t.residual;
  return s;
}

static void note(driver *d) {
  solve_run *run = d->t.run;
  const int64_t k = d->t.iteration;
  run->recursive_residual = d->t.residual / run->norm_b;
  if (k > d->told) history_row(run->history, k, HISTORY_RESIDUAL, run->recursive_residual);
  progress_step(run->progress, k, run->limits.max_iterations, run->recursive_residual);
}

static int check_is_due(const solve_limits *l, int64_t k) {
  return !l->fixed_count && k > 0 && k % l->check_every == 0;
}

/* A fixed count goes on below any tolerance, but not from an exact solution. */
static verdict judge(const driver *d) {
  const solve_state s = state_of(d);
  const verdict v = (verdict)rules_residual(&s, d->t.residual);
  if (v == VERDICT_NONE && d->t.residual == 0.0) return VERDICT_CONVERGED;
  return v;
}

/* Notes what a restart needs, where x_k is whole. */
static void remember(driver *d) {
  if (!d->t.whole) return;
  d->last.iteration = d->t.iteration;
  d->last.residual = d->t.residual;
  d->last.recursive = d->t.run->recursive_residual;
  memcpy(d->last.scalars, d->t.real, sizeof d->t.real);
  d->last.scalars[STEPPING_REALS] = d->settled;
}

static status settle(driver *d) {
  status rc = STATUS_OK;
  if (d->t.whole) goto done;
  TRY(d->method->settle(&d->t));
  d->t.whole = 1;
  d->settled = 1;
  remember(d);
done:
  return rc;
}

/* From x as it is: its residual, and the method's start. */
static status start(driver *d) {
  status rc = STATUS_OK;
  stepping *t = &d->t;
  solve_run *run = t->run;
  double norm[2];
  run->products++;
  TRY(linear_residual(run->system, run->x, run->b, t->r, run->scale, norm));
  t->residual = norm[0];
  t->whole = 1;
  d->settled = 0;
  TRY(d->method->start(t));
  d->verdict = t->verdict;
  t->verdict = VERDICT_NONE;
  remember(d);
done:
  return rc;
}

/* The carried residual was too good: once more from the true one. */
static status restart(driver *d) {
  status rc = STATUS_OK;
  d->verdict = VERDICT_REPEATS;
  if (d->t.run->restarts == RESTARTS) goto done;
  d->t.run->restarts++;
  TRY(start(d));
done:
  return rc;
}

/* What a verdict on x_k asks for, or a check; leaves VERDICT_NONE to go on. */
static status respond(driver *d) {
  status rc = STATUS_OK;
  solve_run *run = d->t.run;
  const verdict carried = d->verdict;
  const int proposed = carried == VERDICT_CONVERGED || carried == VERDICT_INDEFINITE ||
                       carried == VERDICT_BREAKDOWN || carried == VERDICT_REPEATS;
  verdict truth;
  if (carried == VERDICT_HINT && !d->t.whole) d->verdict = VERDICT_NONE;
  if (run->limits.fixed_count || (!proposed && !d->t.whole)) goto done;
  if (!proposed && carried != VERDICT_HINT && carried != VERDICT_NONE) goto done;
  TRY(settle(d));
  TRY(solve_check(run, run->x, (vec){.rows = 0}, d->t.iteration, &truth));
  d->checked = d->t.iteration;
  d->due = 0;
  if (truth != VERDICT_NONE) {
    d->verdict = truth;
  } else if (carried == VERDICT_CONVERGED) {
    TRY(restart(d));
  } else if (carried == VERDICT_HINT) {
    d->verdict = VERDICT_NONE;
  }
done:
  return rc;
}

/* ---- checkpoints ---- */

static solve_state state_marked(const driver *d) {
  solve_state s = solve_state_at(d->t.run, d->last.iteration, d->t.run->scale);
  s.residual = d->last.residual;
  return s;
}

/* A method may have exchanged vectors. */
static void place_vectors(driver *d) {
  d->saver.vector[0].v = d->t.run->x;
  d->saver.vector[1].v = d->t.r;
  for (int i = 0; i < d->method->saved; i++) d->saver.vector[2 + i].v = d->t.work[i];
}

static status refresh_scalars(void *context, checkpoint_item *item) {
  driver *d = context;
  item->data = d->last.scalars;
  return STATUS_OK;
}

static status open_saving(driver *d) {
  status rc = STATUS_OK;
  solve_run *run = d->t.run;
  const char *names[SAVING_VECTORS] = {"/solve/x", "/solve/r"};
  vec vectors[SAVING_VECTORS] = {run->x, d->t.r};
  for (int i = 0; i < d->method->saved; i++) {
    names[2 + i] = d->method->names[i];
    vectors[2 + i] = d->t.work[i];
  }
  TRY(saving_open(&d->saver, run, names, vectors, 2 + d->method->saved));
  if (run->saving == NULL) goto done;
  const checkpoint_item scalars = {.name = "/solve/scalars",
                                   .type = CHECKPOINT_F64,
                                   .replicated = 1,
                                   .length = STEPPING_REALS + 1,
                                   .data = d->last.scalars};
  TRY(checkpointing_add(run->saving, &scalars, refresh_scalars, d));
done:
  return rc;
}

static status go_on_from(driver *d, const solve_state *state, const solve_resumed *resumed) {
  status rc = STATUS_OK;
  stepping *t = &d->t;
  solve_run *run = t->run;
  int64_t length;
  const double *scalars = checkpointing_loaded(run->saving, "/solve/scalars", &length);
  if (length != STEPPING_REALS + 1) {
    rc = comm_agree(run->system->world, fail(STATUS_IO, "a checkpoint of another layout"));
    goto done;
  }
  memcpy(t->real, scalars, sizeof t->real);
  d->settled = scalars[STEPPING_REALS] != 0.0;
  t->iteration = state->iteration;
  t->residual = state->residual;
  t->whole = 1;
  d->told = history_last(run->history);
  d->before = t->iteration - 1;
  d->checked = t->iteration;
  if (resumed->new_limits && !check_is_due(&run->limits, t->iteration)) {
    history_forget(run->history, HISTORY_TRUE_RESIDUAL);
  }
  remember(d);
  d->verdict = resumed->ended;
  if (d->verdict == VERDICT_NONE && d->settled) TRY(start(d));
done:
  return rc;
}

static status begin(driver *d) {
  status rc = STATUS_OK;
  stepping *t = &d->t;
  solve_run *run = t->run;
  solve_state state;
  solve_resumed resumed;
  d->checked = d->told = -1;
  t->whole = 1;
  TRY(comm_agree(run->system->world, open_saving(d)));
  TRY(saving_load(&d->saver, &state, &resumed));
  if (resumed.found) {
    TRY(go_on_from(d, &state, &resumed));
    goto done;
  }
  TRY(solve_begin(run, t->r));
  t->residual = run->norm_r;
  note(d);
  d->verdict = judge(d);
  remember(d);
  if (d->verdict == VERDICT_HINT) d->verdict = VERDICT_NONE;
  if (d->verdict != VERDICT_NONE) goto done;
  TRY(d->method->start(t));
  d->verdict = t->verdict;
  t->verdict = VERDICT_NONE;
  remember(d);
done:
  return rc;
}

/* Ranks meet where one asked for it, or where a checkpoint is due; a failure does not wait for a
 * whole iterate. */
static status meet(driver *d) {
  status rc = STATUS_OK;
  solve_run *run = d->t.run;
  const int64_t k = d->t.iteration;
  solve_state state = state_marked(d);
  int stop = 0;
  int64_t failed = run->system->failure != STATUS_OK;
  state.asked = 0;
  if (k >= run->limits.max_iterations) goto done;
  if (k > d->before && checkpointing_next(run->saving, d->before) <= k) d->asked = 1;
  if (!d->asked) goto done;
  TRY(comm_max_i64(run->system->world, &failed, 1));
  if (!d->t.whole && !failed) goto done;
  d->asked = 0;
  place_vectors(d);
  TRY(saving_meet(&d->saver, &state, 1, &stop));
  if (stop) d->verdict = VERDICT_REQUESTED;
done:
  return rc;
}

/* ---- the run ---- */

static status step(driver *d) {
  status rc = STATUS_OK;
  stepping *t = &d->t;
  linear_system *s = t->run->system;
  s->ask = checkpointing_asks(t->run->saving);
  s->asked = 0;
  t->made = 1;
  d->before = t->iteration;
  TRY(d->method->step(t));
  d->asked |= s->asked != 0;
  d->verdict = t->verdict;
  t->verdict = VERDICT_NONE;
  if (d->verdict != VERDICT_NONE && d->verdict != VERDICT_REPEATS) goto done;
  t->iteration += t->made;
  note(d);
  remember(d);
  const verdict seen = judge(d);
  if (d->verdict == VERDICT_NONE || seen != VERDICT_NONE) d->verdict = seen;
  d->due |= !d->method->exact && check_is_due(&t->run->limits, t->iteration);
done:
  s->ask = 0;
  return rc;
}

static status loop(driver *d) {
  status rc = STATUS_OK;
  const solve_limits *l = &d->t.run->limits;
  TRY(begin(d));
  for (;;) {
    const int due = d->due && d->t.whole && d->t.iteration != d->checked;
    if (d->verdict != VERDICT_NONE || due) TRY(respond(d));
    if (d->verdict != VERDICT_NONE) break;
    TRY(meet(d));
    if (d->verdict != VERDICT_NONE || d->t.iteration >= l->max_iterations) break;
    TRY(step(d));
  }
done:
  return rc;
}

/* Of a run stopped between whole iterates: the last of them. */
static status save(driver *d) {
  solve_run *run = d->t.run;
  const solve_state state = state_marked(d);
  const double recursive = run->recursive_residual;
  run->recursive_residual = d->last.recursive;
  place_vectors(d);
  status rc = saving_finish(&d->saver, &state, 1, d->verdict);
  run->recursive_residual = recursive;
  return rc;
}

static status finish(driver *d) {
  status rc = STATUS_OK;
  solve_run *run = d->t.run;
  verdict truth;
  run->iterations = d->t.iteration;
  TRY(settle(d));
  TRY(solve_check(run, run->x, d->t.r, run->iterations, &truth));
  if (d->verdict == VERDICT_NONE && truth != VERDICT_NONE) d->verdict = truth;
  run->reason = solve_reason_of(d->verdict);
  if (run->limits.fixed_count && run->iterations >= run->limits.max_iterations &&
      (run->reason == REASON_MAX_ITERATIONS || run->reason == REASON_CONVERGED)) {
    run->reason = REASON_FIXED_COUNT;
  }
  progress_end(run->progress, run->iterations, run->relative_residual);
done:
  return rc;
}

static status make(driver *d) {
  status rc = STATUS_OK;
  linear_system *s = d->t.run->system;
  const step_method *m = d->method;
  d->vectors = m->count != NULL ? m->count(d->t.run) : m->vectors;
  if (m->bytes > 0) {
    char *data = NULL;
    ATTEMPT(s, alloc_zeroed(&data, (int64_t)m->bytes, 1, "state of the method"));
    d->t.data = data;
  }
  ATTEMPT(s, alloc_zeroed(&d->t.work, d->vectors, sizeof *d->t.work, "list of vectors"));
  ATTEMPT(s, linear_vector(s, "residual", &d->t.r));
  for (int i = 0; i < d->vectors && s->failure == STATUS_OK; i++) {
    ATTEMPT(s, linear_vector(s, "vector of the method", &d->t.work[i]));
  }
  TRY(comm_agree(s->world, s->failure));
  d->opened = 1;
  if (m->open != NULL) TRY(comm_agree(s->world, m->open(&d->t)));
done:
  return rc;
}

static void unmake(driver *d) {
  linear_system *s = d->t.run->system;
  if (d->method->close != NULL && d->opened) d->method->close(&d->t);
  for (int i = 0; d->t.work != NULL && i < d->vectors; i++) {
    linear_vector_release(s, &d->t.work[i]);
  }
  linear_vector_release(s, &d->t.r);
  alloc_free(&d->t.work);
  alloc_free(&d->t.data);
}

status stepping_run(solve_run *run, const step_method *method) {
  status rc = STATUS_OK;
  driver d = {.t = {.run = run}, .method = method};
  linear_phase(run->system, PHASE_SETUP); /* pages that nobody has touched yet */
  TRY(make(&d));
  linear_phase(run->system, PHASE_COMPUTE);
  TRY(loop(&d));
  TRY(save(&d));
  TRY(finish(&d));
done:
  unmake(&d);
  return rc;
}
