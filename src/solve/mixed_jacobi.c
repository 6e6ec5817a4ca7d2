/* The Jacobi family in mixed precision (mixed.h): correct_every sweeps in float on A e = r from
 * e = 0, fewer where the residual reaches the run's target, float's own floor, or e repeats; then
 * x += e. In exact arithmetic these are the iterates of jacobi.c.
 *
 * Traffic per row and sweep beside the matrix: x, b, weight read, next written: 16 bytes, half of
 * double's. Source: Moler (1967). */
#include "mixed.h"

/* Where an inner residual that falls goes no further in float: 2^-20 of the first. */
static const double FALL = 0x1p-20;

typedef struct sweeping {
  mixed m;
  single_vec r, e[2];
} sweeping;

typedef struct sweep_work {
  stepping *t;
  single_vec from, to;
} sweep_work;

static status open_sweeps(stepping *t) {
  status rc = STATUS_OK;
  sweeping *w = t->data;
  linear_system *s = t->run->system;
  TRY(mixed_open(t, &w->m, t->run->weight));
  TRY(mixed_vector(s, "residual in float", &w->r));
  for (int i = 0; i < 2; i++) TRY(mixed_vector(s, "correction in float", &w->e[i]));
done:
  return rc;
}

static void close_sweeps(stepping *t) {
  sweeping *w = t->data;
  linear_system *s = t->run->system;
  mixed_vector_release(s, &w->r);
  for (int i = 0; i < 2; i++) mixed_vector_release(s, &w->e[i]);
  mixed_close(t, &w->m);
}

static status start(stepping *t) {
  t->run->mixed.corrections = (int64_t)t->real[MIXED_CORRECTIONS];
  return STATUS_OK;
}

static status sweep_part(void *context, part p) {
  const sweep_work *work = context;
  sweeping *w = work->t->data;
  linear_system *s = work->t->run->system;
  return mixed_kernels(work->t)->sweep(s->place, w->m.a, p, work->from, w->r, w->m.weight, work->to,
                                       w->m.judged.state);
}

static status sweep_all(stepping *t, int64_t room) {
  status rc = STATUS_OK;
  sweeping *w = t->data;
  mixed *m = &w->m;
  linear_system *s = t->run->system;
  mixed_begin(t, m, w->r, FALL);
  ATTEMPT(s, mixed_kernels(t)->narrow(s->place, 0.0, (vec){.rows = 0}, w->e[0]));
  TRY(judged_start(s, &m->judged, &m->state));
  while (m->state.verdict == VERDICT_NONE && m->issued < room) {
    sweep_work work = {t, w->e[m->issued % 2], w->e[(m->issued + 1) % 2]};
    TRY(mixed_apply(s, work.from, sweep_part, &work));
    TRY(mixed_judge(t, m, JUDGE_SWEEP));
    m->issued++;
    TRY(mixed_look(t, m, m->issued == room));
  }
done:
  return rc;
}

static void correct(stepping *t) {
  sweeping *w = t->data;
  mixed_correct(t, &w->m, 1.0, w->e[w->m.state.iteration % 2]);
}

static status step(stepping *t) {
  status rc = STATUS_OK;
  sweeping *w = t->data;
  int cut;
  const int64_t room = mixed_room(t, t->run->mixed.correct_every, &cut);
  TRY(sweep_all(t, room));
  t->made = w->m.state.iteration;
  if (cut && w->m.state.verdict == VERDICT_NONE) { /* the run ends here: settle() makes x */
    t->whole = 0;
    t->residual = w->m.state.residual / w->m.boost;
    goto done;
  }
  correct(t);
  TRY(mixed_end(t, w->m.state.verdict != VERDICT_NONE));
done:
  return rc;
}

static status settle(stepping *t) {
  correct(t);
  return STATUS_OK;
}

const step_method MIXED_SWEEPS = {.bytes = sizeof(sweeping),
                                  .exact = 1,
                                  .open = open_sweeps,
                                  .close = close_sweeps,
                                  .start = start,
                                  .step = step,
                                  .settle = settle};
