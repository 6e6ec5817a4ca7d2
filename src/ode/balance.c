/* Loans of blocks (balance.h). A rank that has less than half of the mean left borrows up to the
 * mean from those who have more. The message of a block is its rows, array by array. */
#include "balance.h"

#include <string.h>

#include "alloc.h"

enum { MOVED_MOST = 16 << 20 }; /* bytes a rank gets for a round */

int64_t ode_balance_most(const ode_plan *plan) {
  return 1 + (int64_t)(MOVED_MOST / (ODE_BLOCK * ode_row_bytes(plan)));
}

int ode_balance(const ode_standing *all, int size, int64_t most, ode_loan *loans) {
  int64_t total = 0, poorest = INT64_MAX, spare = 0;
  int count = 0, lender = 0;
  for (int r = 0; r < size; r++) {
    total += all[r].unfinished;
    if (all[r].unfinished < poorest) poorest = all[r].unfinished;
  }
  const int64_t mean = (total + size - 1) / size;
  if (2 * poorest >= mean || total < 2) return 0;
  for (int r = 0; r < size && count < size; r++) {
    int64_t wants = mean - all[r].unfinished;
    if (2 * all[r].unfinished >= mean) continue;
    if (wants > most) wants = most;
    while (wants > 0 && lender < size && count < size) {
      if (spare == 0) {
        spare = all[lender].unfinished - mean;
        if (spare < 0) spare = 0;
      }
      const int64_t given = wants < spare ? wants : spare;
      if (given > 0) loans[count++] = (ode_loan){lender, r, given};
      wants -= given;
      spare -= given;
      if (spare == 0) lender++;
    }
  }
  return count;
}

void ode_guests_release(ode_guests *g) {
  ode_rows_release(&g->rows);
  alloc_free(&g->block);
  g->blocks = 0;
}

/* ---- rows as bytes ---- */

/* Rows [at, at + count) to or from `bytes`; how many bytes they are. */
static int64_t pack(const ode_plan *plan, const ode_rows *r, int64_t at, int64_t count, char *bytes,
                    int out) {
  const int64_t n = plan->components, saved = plan->saves * n;
  const struct {
    char *at;
    int64_t width;
  } array[] = {{(char *)r->y, 8 * n},
               {(char *)r->p, 8 * plan->parameters},
               {(char *)r->t, 8},
               {(char *)r->h, 8},
               {(char *)r->memory, 8},
               {(char *)r->attempts, 8},
               {(char *)r->rejected, 8},
               {(char *)r->status, 1},
               {(char *)r->saved, 8 * saved}};
  int64_t done = 0;
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
    char *here = array[i].at + at * array[i].width;
    const size_t size = (size_t)(count * array[i].width);
    if (size > 0 && out) memcpy(bytes + done, here, size);
    if (size > 0 && !out) memcpy(here, bytes + done, size);
    done += (int64_t)size;
  }
  return done;
}

static int64_t rows_of(const ode_ensemble *e, int64_t block) {
  const int64_t left = e->trajectories - block * ODE_BLOCK;
  return left < ODE_BLOCK ? left : ODE_BLOCK;
}

/* ---- messages ---- */

/* What goes and comes: rows[r] of each rank in bytes, and where in the buffer. */
typedef struct mail {
  int64_t *count, *offset; /* [size] */
  char *bytes;
} mail;

static status mail_create(int size, mail *m) {
  status rc = STATUS_OK;
  memset(m, 0, sizeof *m);
  TRY(alloc_zeroed(&m->count, size, sizeof *m->count, "loans"));
  TRY(alloc_zeroed(&m->offset, size, sizeof *m->offset, "loans"));
done:
  return rc;
}

static status mail_room(int size, mail *m) {
  int64_t total = 0;
  for (int r = 0; r < size; r++) {
    m->offset[r] = total;
    total += m->count[r];
  }
  return alloc_array(&m->bytes, total, 1, "loans");
}

static void mail_release(mail *m) {
  alloc_free(&m->count);
  alloc_free(&m->offset);
  alloc_free(&m->bytes);
}

/* The numbers of the blocks that come here. */
static status learn_blocks(ode_ensemble *e, const ode_loan *loans, int count, const int64_t *block,
                           ode_guests *g) {
  status rc = STATUS_OK;
  const int me = comm_rank(e->world), size = comm_size(e->world);
  mail out, in;
  rc = mail_create(size, &out);
  if (mail_create(size, &in) != STATUS_OK) rc = STATUS_UNAVAILABLE;
  g->blocks = 0;
  for (int i = 0; i < count && rc == STATUS_OK; i++) {
    if (loans[i].from == me) out.count[loans[i].to] += 8 * loans[i].blocks;
    if (loans[i].to != me) continue;
    in.count[loans[i].from] += 8 * loans[i].blocks;
    g->blocks += loans[i].blocks;
  }
  if (rc == STATUS_OK) rc = mail_room(size, &out);
  if (rc == STATUS_OK) rc = mail_room(size, &in);
  if (rc == STATUS_OK) rc = alloc_array(&g->block, g->blocks, sizeof *g->block, "loans");
  TRY(comm_agree(e->world, rc));
  for (int r = 0, at = 0; r < size; r++) {
    memcpy(out.bytes + out.offset[r], block + at, (size_t)out.count[r]);
    at += (int)(out.count[r] / 8);
  }
  TRY(comm_exchange(e->world, out.bytes, out.count, out.offset, in.bytes, in.count, in.offset));
  memcpy(g->block, in.bytes, (size_t)(8 * g->blocks));
done:
  mail_release(&out);
  mail_release(&in);
  return rc;
}

/* The rows of lent blocks: from home to guests, or back. */
static status send_rows(ode_ensemble *e, const ode_loan *loans, int count, const int64_t *block,
                        ode_guests *g, int home) {
  status rc = STATUS_OK;
  const int me = comm_rank(e->world), size = comm_size(e->world);
  const int64_t row = (int64_t)ode_row_bytes(&e->plan);
  mail mine, theirs; /* of the blocks I lend, and of my guests */
  int64_t lent = 0, guest = 0, at = 0;
  rc = mail_create(size, &mine);
  if (mail_create(size, &theirs) != STATUS_OK) rc = STATUS_UNAVAILABLE;
  for (int i = 0; i < count && rc == STATUS_OK; i++) {
    for (int64_t k = 0; k < loans[i].blocks; k++) {
      if (loans[i].from == me) mine.count[loans[i].to] += row * rows_of(e, block[lent++]);
      if (loans[i].to == me) theirs.count[loans[i].from] += row * rows_of(e, g->block[guest++]);
    }
  }
  if (rc == STATUS_OK) rc = mail_room(size, &mine);
  if (rc == STATUS_OK) rc = mail_room(size, &theirs);
  TRY(comm_agree(e->world, rc));
  char *p = home ? theirs.bytes : mine.bytes;
  for (int64_t k = 0; k < (home ? guest : lent); k++) {
    const int64_t first = (home ? at : block[k] * ODE_BLOCK - e->mine.first);
    const int64_t rows = rows_of(e, home ? g->block[k] : block[k]);
    p += pack(&e->plan, home ? &g->rows : &e->mine, first, rows, p, 1);
    at += rows;
  }
  if (home) {
    TRY(comm_exchange(e->world, theirs.bytes, theirs.count, theirs.offset, mine.bytes, mine.count,
                      mine.offset));
  } else {
    TRY(comm_exchange(e->world, mine.bytes, mine.count, mine.offset, theirs.bytes, theirs.count,
                      theirs.offset));
  }
  p = home ? mine.bytes : theirs.bytes;
  at = 0;
  for (int64_t k = 0; k < (home ? lent : guest); k++) {
    const int64_t first = home ? block[k] * ODE_BLOCK - e->mine.first : at;
    const int64_t rows = rows_of(e, home ? block[k] : g->block[k]);
    p += pack(&e->plan, home ? &e->mine : &g->rows, first, rows, p, 0);
    at += rows;
  }
done:
  mail_release(&mine);
  mail_release(&theirs);
  return rc;
}

status ode_loans_begin(ode_ensemble *e, const ode_loan *loans, int count, const int64_t *block,
                       ode_guests *g) {
  status rc = STATUS_OK;
  int64_t rows = 0;
  memset(g, 0, sizeof *g);
  TRY(learn_blocks(e, loans, count, block, g));
  for (int64_t k = 0; k < g->blocks; k++) rows += rows_of(e, g->block[k]);
  TRY(comm_agree(e->world, ode_rows_create(&e->plan, 0, rows, &g->rows)));
  rc = send_rows(e, loans, count, block, g, 0);
done:
  return rc;
}

status ode_loans_end(ode_ensemble *e, const ode_loan *loans, int count, const int64_t *block,
                     ode_guests *g) {
  const status rc = send_rows(e, loans, count, block, g, 1);
  ode_guests_release(g);
  return rc;
}

int64_t ode_guests_run(const ode_ensemble *e, const ode_guests *g, int64_t i, ode_rows *view) {
  const ode_plan *plan = &e->plan;
  const ode_rows *r = &g->rows;
  int64_t at = 0, end = i;
  for (int64_t k = 0; k < i; k++) at += rows_of(e, g->block[k]);
  view->count = 0;
  do {
    view->count += rows_of(e, g->block[end]);
    end++;
  } while (end < g->blocks && g->block[end] == g->block[end - 1] + 1);
  view->first = g->block[i] * ODE_BLOCK;
  view->y = r->y + at * plan->components;
  view->p = r->p + at * plan->parameters;
  view->t = r->t + at;
  view->h = r->h + at;
  view->memory = r->memory + at;
  view->attempts = r->attempts + at;
  view->rejected = r->rejected + at;
  view->status = r->status + at;
  view->saved = r->saved + at * plan->saves * plan->components;
  return end;
}
