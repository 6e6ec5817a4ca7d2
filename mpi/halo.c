/* Halo plans (halo.h).
 *
 * Set-up: each rank finds the owner of every ghost by one walk over the ascending list, tells each
 * owner how many it wants (one MPI_Alltoall of a count per rank) and which (comm_exchange). What is
 * kept is per neighbour only: two runs of the buffers and their persistent requests. An exchange is
 * one MPI_Startall and one MPI_Waitall; a rank without neighbours makes neither call.
 *
 * Memory beside the result: 5 words per rank during set-up, 8 bytes per ghost and per sent entry.
 */
#include "halo.h"

#include <string.h>

#include "alloc.h"
#include "comm_native.h"

enum { TAG_HALO = 2 };

struct halo_requests {
  comm *c;
  int count;           /* sends and receives */
  MPI_Request *handle; /* [count] persistent */
};

/* What set-up needs per rank. Counts are entries, then bytes. */
typedef struct survey {
  int64_t *word; /* all of the below */
  int64_t *want, *asked;
  int64_t *want_at, *asked_at;
  gidx *row; /* rows asked of us, by asking rank */
} survey;

static status survey_open(const ownership *o, survey *s) {
  int64_t size = o->size;
  status rc = alloc_zeroed(&s->word, 4 * size, sizeof *s->word, "halo survey");
  if (rc != STATUS_OK) return rc;
  s->want = s->word;
  s->asked = s->word + size;
  s->want_at = s->word + 2 * size;
  s->asked_at = s->word + 3 * size;
  return rc;
}

static void survey_release(survey *s) {
  alloc_free(&s->word);
  alloc_free(&s->row);
}

static status bad_ghost(const ownership *o, gidx row) {
  return fail(STATUS_BUG,
              "halo: ghost %lld of %lld rows is out of order, out of range or owned here",
              (long long)row, (long long)o->rows);
}

/* How many ghosts each rank owns. */
static status count_wanted(const ownership *o, const gidx *ghost, lidx ghosts, survey *s) {
  int owner = 0;
  for (lidx g = 0; g < ghosts; g++) {
    if (ghost[g] < 0 || ghost[g] >= o->rows || (g > 0 && ghost[g] <= ghost[g - 1])) {
      return bad_ghost(o, ghost[g]);
    }
    if (ghost[g] >= o->first[owner + 1]) owner = ownership_owner(o, ghost[g]);
    if (owner == o->rank) return bad_ghost(o, ghost[g]);
    s->want[owner]++;
  }
  return STATUS_OK;
}

/* Room for what others asked; counts become bytes. */
static status plan_buffers(comm *c, survey *s, lidx ghosts, halo *out) {
  status rc = STATUS_OK;
  int64_t wanted = 0, asked = 0;
  for (int r = 0; r < comm_size(c); r++) {
    const int64_t word = (int64_t)sizeof(gidx);
    out->neighbours += s->want[r] > 0 || s->asked[r] > 0;
    s->want_at[r] = wanted * word;
    s->asked_at[r] = asked * word;
    wanted += s->want[r];
    asked += s->asked[r];
    s->want[r] *= word;
    s->asked[r] *= word;
  }
  out->ghosts = ghosts;
  TRY(index_narrow(asked, "halo entries", &out->sends));
  TRY(alloc_array(&s->row, asked, sizeof *s->row, "halo rows asked for"));
  TRY(alloc_array(&out->send_row, asked, sizeof *out->send_row, "halo rows"));
  TRY(alloc_array(&out->send_buffer, asked, sizeof *out->send_buffer, "halo send buffer"));
  TRY(alloc_array(&out->ghost_buffer, ghosts, sizeof *out->ghost_buffer, "halo ghost buffer"));
  TRY(alloc_zeroed(&out->requests, 1, sizeof *out->requests, "halo requests"));
  out->requests->c = c;
  TRY(alloc_array(&out->requests->handle, 2 * (int64_t)out->neighbours, sizeof(MPI_Request),
                  "halo requests"));
done:
  return rc;
}

static status local_rows(const ownership *o, const survey *s, halo *out) {
  for (lidx i = 0; i < out->sends; i++) {
    gidx row = s->row[i];
    if (row < ownership_begin(o) || row >= ownership_end(o)) {
      return fail(STATUS_BUG, "halo: row %lld was asked of rank %d, which does not own it",
                  (long long)row, o->rank);
    }
    out->send_row[i] = (lidx)(row - ownership_begin(o));
  }
  return STATUS_OK;
}

/* A neighbour's run of 8-byte words in a buffer: what is exchanged fits an int, as ghosts do. */
static status make_requests(comm *c, const survey *s, halo *out) {
  status rc = STATUS_OK;
  halo_requests *q = out->requests;
  for (int r = 0; r < comm_size(c); r++) {
    if (s->want[r] > 0) {
      TRY(comm_check(c,
                     MPI_Recv_init(out->ghost_buffer + s->want_at[r] / 8, (int)(s->want[r] / 8),
                                   MPI_DOUBLE, r, TAG_HALO, comm_native(c), &q->handle[q->count]),
                     "MPI_Recv_init"));
      q->count++;
    }
  }
  for (int r = 0; r < comm_size(c); r++) {
    if (s->asked[r] > 0) {
      TRY(comm_check(c,
                     MPI_Send_init(out->send_buffer + s->asked_at[r] / 8, (int)(s->asked[r] / 8),
                                   MPI_DOUBLE, r, TAG_HALO, comm_native(c), &q->handle[q->count]),
                     "MPI_Send_init"));
      q->count++;
    }
  }
done:
  return rc;
}

status halo_create(comm *c, const ownership *o, const gidx *ghost, lidx ghosts, halo *out) {
  status rc = STATUS_OK;
  survey s = {0};
  memset(out, 0, sizeof *out);
  rc = survey_open(o, &s);
  if (rc == STATUS_OK) rc = count_wanted(o, ghost, ghosts, &s);
  TRY(comm_agree(c, rc));
  TRY(comm_transpose(c, s.want, s.asked));
  TRY(comm_agree(c, plan_buffers(c, &s, ghosts, out)));
  TRY(comm_exchange(c, ghost, s.want, s.want_at, s.row, s.asked, s.asked_at));
  rc = local_rows(o, &s, out);
  if (rc == STATUS_OK) rc = make_requests(c, &s, out);
  TRY(comm_agree(c, rc));
done:
  survey_release(&s);
  if (rc != STATUS_OK) halo_release(out);
  return rc;
}

void halo_release(halo *h) {
  halo_requests *q = h->requests;
  if (q != NULL) {
    for (int i = 0; i < q->count; i++) MPI_Request_free(&q->handle[i]);
    alloc_free(&q->handle);
  }
  alloc_free(&h->requests);
  alloc_free(&h->send_row);
  alloc_free(&h->send_buffer);
  alloc_free(&h->ghost_buffer);
  memset(h, 0, sizeof *h);
}

status halo_begin(halo *h) {
  halo_requests *q = h->requests;
  if (q->count == 0) return STATUS_OK;
  return comm_check(q->c, MPI_Startall(q->count, q->handle), "MPI_Startall");
}

status halo_end(halo *h) {
  halo_requests *q = h->requests;
  if (q->count == 0) return STATUS_OK;
  return comm_check(q->c, MPI_Waitall(q->count, q->handle, MPI_STATUSES_IGNORE), "MPI_Waitall");
}
