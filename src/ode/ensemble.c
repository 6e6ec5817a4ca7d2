/* The driver of ensembles (ensemble.h). */
#include "ensemble.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "balance.h"
#include "fingerprint.h"

/* Seconds of a round, and of a call of the backend in it. */
static const double ROUND = 0.2, CALL = 0.05;

/* Nothing is said of the progress of runs that are over so soon, seconds. */
static const double QUIET = 1.0;

/* Trajectories of a call at most: in a CPU's cache; enough to fill a GPU. */
enum { PIECE_HOST = 1 << 14, PIECE_DEVICE = 1 << 20 };

static const char *const names[ODE_STATUSES] = {
    [ODE_RUNNING] = "unfinished",
    [ODE_DONE] = "done",
    [ODE_EVENT] = "event",
    [ODE_STEP_LIMIT] = "step_limit",
    [ODE_STEP_TOO_SMALL] = "step_too_small",
    [ODE_NOT_FINITE] = "not_finite",
};

const char *ode_status_name(ode_status s) { return names[s]; }

typedef struct marching {
  ode_ensemble *e;
  int64_t *list, blocks; /* own blocks that are unfinished: global numbers, ascending */
  int64_t lent;          /* the last so many of them are elsewhere in this round */
  ode_standing *all;     /* [size] */
  ode_loan *loans;
  int loan_count;
  ode_guests guests;
  int64_t attempts;     /* of a call: as many as take about CALL seconds */
  double seconds, busy; /* of work: in this round, and in all */
  double began;
  int64_t before; /* attempts when this run began */
} marching;

/* ---- blocks ---- */

static int block_is_open(const ode_rows *r, int64_t at, int64_t count) {
  for (int64_t i = at; i < at + count; i++) {
    if (r->status[i] == ODE_RUNNING) return 1;
  }
  return 0;
}

static void list_blocks(marching *m) {
  const ode_rows *mine = &m->e->mine;
  int64_t kept = 0;
  for (int64_t b = 0; b < m->blocks; b++) {
    const int64_t at = m->list[b] * ODE_BLOCK - mine->first, left = mine->count - at;
    if (block_is_open(mine, at, left < ODE_BLOCK ? left : ODE_BLOCK)) m->list[kept++] = m->list[b];
  }
  m->blocks = kept;
}

/* ---- a round ---- */

/* Advances the piece that is loaded until all have ended or the round is over. */
static status work_on_piece(marching *m, ode_rows *r, double until) {
  status rc = STATUS_OK;
  int open;
  do {
    const double begin = comm_clock();
    TRY(ode_piece_advance(m->e, r, m->attempts, &open));
    const double took = comm_clock() - begin;
    if (took < 0.5 * CALL && m->attempts < INT64_MAX / 4) m->attempts *= 2;
    if (took > 2.0 * CALL && m->attempts > 1) m->attempts /= 2;
  } while (open && comm_clock() <= until);
done:
  return rc;
}

/* The same with a run of rows, in pieces. */
static status work_on(marching *m, ode_rows *r, int64_t first, int64_t count, double until) {
  status rc = STATUS_OK;
  const int64_t piece = m->e->piece;
  for (int64_t at = 0; at < count && comm_clock() <= until; at += piece) {
    const double begin = comm_clock();
    TRY(ode_piece_load(m->e, r, first + at, count - at < piece ? count - at : piece));
    TRY(work_on_piece(m, r, until));
    TRY(ode_piece_store(m->e, r));
    m->seconds += comm_clock() - begin;
  }
done:
  return rc;
}

static status work_round(marching *m) {
  status rc = STATUS_OK;
  ode_ensemble *e = m->e;
  const int64_t own = m->blocks - m->lent;
  const double until = comm_clock() + ROUND;
  m->seconds = 0.0;
  for (int64_t b = 0; b < own && comm_clock() <= until;) {
    int64_t end = b + 1;
    while (end < own && m->list[end] == m->list[end - 1] + 1) end++;
    const int64_t first = m->list[b] * ODE_BLOCK, last = (m->list[end - 1] + 1) * ODE_BLOCK;
    const int64_t here = e->mine.first + e->mine.count;
    TRY(work_on(m, &e->mine, first, (last < here ? last : here) - first, until));
    b = end;
  }
  for (int64_t i = 0; i < m->guests.blocks && comm_clock() <= until;) {
    ode_rows view;
    i = ode_guests_run(e, &m->guests, i, &view);
    TRY(work_on(m, &view, view.first, view.count, until));
  }
done:
  m->busy += m->seconds;
  return rc;
}

/* ---- meetings ---- */

static int64_t sum_attempts(const ode_rows *r) {
  int64_t sum = 0;
  for (int64_t i = 0; i < r->count; i++) sum += r->attempts[i];
  return sum;
}

static int64_t count_ended(const ode_rows *r) {
  int64_t sum = 0;
  for (int64_t i = 0; i < r->count; i++) sum += r->status[i] != ODE_RUNNING;
  return sum;
}

/* All ranks know how all stand; what is over all of them in *sum. */
static status tell(marching *m, ode_standing *sum) {
  status rc = STATUS_OK;
  ode_ensemble *e = m->e;
  const ode_standing mine = {.unfinished = m->blocks,
                             .asks = e->saving != NULL && checkpointing_asks(e->saving),
                             .attempts = sum_attempts(&e->mine),
                             .done = count_ended(&e->mine)};
  TRY(comm_allgather(e->world, &mine, m->all, sizeof mine));
  memset(sum, 0, sizeof *sum);
  for (int r = 0; r < comm_size(e->world); r++) {
    sum->unfinished += m->all[r].unfinished;
    sum->asks += m->all[r].asks;
    sum->attempts += m->all[r].attempts;
    sum->done += m->all[r].done;
  }
done:
  return rc;
}

static status lend(marching *m) {
  status rc = STATUS_OK;
  ode_ensemble *e = m->e;
  const int me = comm_rank(e->world);
  m->loan_count = ode_balance(m->all, comm_size(e->world), ode_balance_most(&e->plan), m->loans);
  m->lent = 0;
  for (int i = 0; i < m->loan_count; i++) {
    if (m->loans[i].from == me) m->lent += m->loans[i].blocks;
  }
  if (m->loan_count == 0) return STATUS_OK;
  TRY(ode_loans_begin(e, m->loans, m->loan_count, m->list + m->blocks - m->lent, &m->guests));
done:
  return rc;
}

static status take_back(marching *m) {
  if (m->loan_count == 0) return STATUS_OK;
  return ode_loans_end(m->e, m->loans, m->loan_count, m->list + m->blocks - m->lent, &m->guests);
}

/* After a round: whether to go on. */
static status meet(marching *m, int64_t *next, int *over) {
  status rc = STATUS_OK;
  ode_ensemble *e = m->e;
  ode_standing sum;
  list_blocks(m);
  TRY(tell(m, &sum));
  if (e->progress != NULL && comm_clock() - m->began > QUIET) {
    progress_step(e->progress, sum.done, e->trajectories, NAN);
  }
  *over = sum.unfinished == 0;
  e->steps = sum.attempts;
  if (e->saving != NULL && !*over && (sum.asks > 0 || sum.attempts >= *next)) {
    TRY(checkpointing_meet(e->saving, sum.attempts, 0, &e->cause));
    *next = checkpointing_next(e->saving, sum.attempts);
    *over = e->cause != STOP_NONE;
  }
done:
  return rc;
}

static status march(marching *m) {
  status rc = STATUS_OK;
  ode_ensemble *e = m->e;
  int64_t next = INT64_MAX;
  int over = 0;
  TRY(meet(m, &next, &over));
  m->before = e->steps;
  if (e->saving != NULL) next = checkpointing_next(e->saving, e->steps);
  while (!over) {
    timers_switch(e->timers, PHASE_COMMUNICATE);
    TRY(lend(m));
    timers_switch(e->timers, PHASE_COMPUTE);
    rc = work_round(m);
    timers_switch(e->timers, PHASE_COMMUNICATE);
    TRY(comm_agree(e->world, rc));
    TRY(take_back(m));
    TRY(meet(m, &next, &over));
  }
done:
  return rc;
}

/* ---- what came of it ---- */

static status summarise(ode_ensemble *e, const marching *m) {
  status rc = STATUS_OK;
  const ode_rows *r = &e->mine;
  int64_t sum[ODE_STATUSES + 4] = {0}, lowest = INT64_MAX;
  double longest = m->busy, mean;
  int64_t nanoseconds = (int64_t)(1e9 * m->busy);
  for (int64_t i = 0; i < r->count; i++) {
    sum[r->status[i]]++;
    sum[ODE_STATUSES] += r->attempts[i] - r->rejected[i];
    sum[ODE_STATUSES + 1] += r->rejected[i];
    if (ode_has_failed(r->status[i]) && r->first + i < lowest) lowest = r->first + i;
  }
  const int64_t n = e->plan.components;
  sum[ODE_STATUSES + 2] = (int64_t)fingerprint_of(r->y, n * r->first, n * r->count);
  sum[ODE_STATUSES + 3] = nanoseconds;
  TRY(comm_sum_i64(e->world, sum, ODE_STATUSES + 4));
  TRY(comm_min_i64(e->world, &lowest, 1));
  TRY(comm_max_f64(e->world, &longest, 1));
  for (int s = 0; s < ODE_STATUSES; s++) e->ended[s] = sum[s];
  e->steps = sum[ODE_STATUSES];
  e->rejected = sum[ODE_STATUSES + 1];
  e->steps_this_run = e->steps + e->rejected - m->before;
  e->fingerprint = (uint64_t)sum[ODE_STATUSES + 2];
  e->first_failed = lowest == INT64_MAX ? -1 : lowest;
  mean = 1e-9 * (double)sum[ODE_STATUSES + 3] / comm_size(e->world);
  e->imbalance = mean > 0.0 ? longest / mean : 1.0;
done:
  return rc;
}

/* ---- from outside ---- */

static status upload(ode_ensemble *e, const double *values, int64_t count, dptr *out) {
  status rc = STATUS_OK;
  const int64_t bytes = count * (int64_t)sizeof *values;
  double *copy = NULL; /* hptr is not const */
  TRY(e->kernels->alloc(e->place, bytes, "an ensemble's values", out));
  if (bytes == 0) goto done;
  TRY(alloc_array(&copy, count, sizeof *copy, "an ensemble's values"));
  memcpy(copy, values, (size_t)bytes);
  TRY(e->kernels->copy_in(e->place, *out, (hptr){copy}, bytes));
done:
  alloc_free(&copy);
  return rc;
}

static status open_here(ode_ensemble *e) {
  status rc = STATUS_OK;
  const int64_t count = ownership_end(&e->owned) - ownership_begin(&e->owned);
  TRY(upload(e, e->save_at, e->plan.saves, &e->plan.save_at));
  TRY(upload(e, e->common, e->plan.shared, &e->plan.common));
  TRY(ode_rows_create(&e->plan, ownership_begin(&e->owned), count, &e->mine));
  e->piece = e->kernels->describe == NULL ? PIECE_HOST : PIECE_DEVICE;
  if (e->piece > e->trajectories) e->piece = e->trajectories;
  e->plan.together = e->piece < count ? e->piece : count;
  TRY(ode_staging_create(e, e->piece, &e->staging));
  TRY(e->kernels->ode->create(e->place, &e->f, &e->plan, &e->kernel));
  ode_rows_start(e, &e->mine, e->mine.first, e->mine.count);
done:
  return rc;
}

status ode_ensemble_open(ode_ensemble *e) {
  status rc = STATUS_OK;
  TRY(comm_agree(e->world, ownership_aligned(e->world, e->trajectories, ODE_BLOCK, &e->owned)));
  rc = comm_agree(e->world, open_here(e));
done:
  return rc;
}

void ode_ensemble_close(ode_ensemble *e) {
  if (e->kernels == NULL) return;
  e->kernels->ode->release(e->place, &e->kernel);
  ode_staging_release(e, &e->staging);
  e->kernels->release(e->place, &e->plan.save_at);
  e->kernels->release(e->place, &e->plan.common);
  ode_rows_release(&e->mine);
  alloc_free(&e->saved_there);
  ownership_release(&e->owned);
}

static status begin(marching *m) {
  status rc = STATUS_OK;
  ode_ensemble *e = m->e;
  const int size = comm_size(e->world);
  m->blocks = (e->mine.count + ODE_BLOCK - 1) / ODE_BLOCK;
  m->attempts = 64;
  m->began = comm_clock();
  TRY(alloc_array(&m->list, m->blocks, sizeof *m->list, "blocks"));
  TRY(alloc_zeroed(&m->all, size, sizeof *m->all, "blocks"));
  TRY(alloc_zeroed(&m->loans, size, sizeof *m->loans, "blocks"));
  for (int64_t b = 0; b < m->blocks; b++) m->list[b] = e->mine.first / ODE_BLOCK + b;
done:
  return rc;
}

status ode_ensemble_run(ode_ensemble *e) {
  status rc = STATUS_OK;
  marching m;
  memset(&m, 0, sizeof m);
  m.e = e;
  e->cause = STOP_NONE;
  if (e->saving != NULL) {
    TRY(comm_agree(e->world, ode_saving_add(e)));
    TRY(ode_saving_load(e));
  }
  TRY(comm_agree(e->world, begin(&m)));
  TRY(march(&m));
  if (e->saving != NULL && e->cause == STOP_NONE) {
    TRY(checkpointing_finish(e->saving, e->steps));
  }
  TRY(summarise(e, &m));
done:
  ode_guests_release(&m.guests);
  alloc_free(&m.list);
  alloc_free(&m.all);
  alloc_free(&m.loans);
  return rc;
}
