/* Halo plans (halo.h).
 *
 * Set-up: each rank finds the owner of every ghost by one walk over the ascending list (ghost
 * planes are sorted first), tells each
 * owner how many it wants (one MPI_Alltoall of a count per rank) and which (comm_exchange). What is
 * kept is per neighbour only: two runs of the buffers and their persistent requests, which are made
 * anew when the plan moves onto other buffers. An exchange is
 * one MPI_Startall and one MPI_Waitall; a rank without neighbours makes neither call.
 *
 * Memory beside the result: 5 words per rank during set-up, 8 bytes per ghost and per sent entry.
 */
#include "halo.h"

#include <string.h>

#include "alloc.h"
#include "comm_native.h"

enum { TAG_HALO = 2 };

/* What one request moves: a run of the ghost buffer that arrives, or one of the send buffer. */
typedef struct message {
  int peer, arrives;
  int count;  /* entries: they fit an int, as ghosts do */
  int64_t at; /* the first number of them */
} message;

struct halo_requests {
  comm *c;
  MPI_Datatype entry;   /* `unit` doubles */
  int count;            /* sends and receives */
  int open;             /* requests that are made */
  message *list;        /* [count] */
  MPI_Request *handle;  /* [open] persistent */
  double *send, *ghost; /* the plan's own buffers */
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

/* Ghosts as they are asked for: ascending, perhaps several times the same. */
typedef struct wanted {
  const gidx *row; /* [count] */
  lidx count;
  int64_t unit;
  int own; /* rows of our own may be among them */
} wanted;

static status bad_ghost(const ownership *o, gidx row) {
  return fail(STATUS_BUG,
              "halo: ghost %lld of %lld rows is out of order, out of range or owned here",
              (long long)row, (long long)o->rows);
}

/* How many ghosts each rank owns. */
static status count_wanted(const ownership *o, const wanted *w, survey *s) {
  int owner = 0;
  for (lidx g = 0; g < w->count; g++) {
    const gidx row = w->row[g];
    if (row < 0 || row >= o->rows || (g > 0 && row < w->row[g - 1])) return bad_ghost(o, row);
    if (row >= o->first[owner + 1]) owner = ownership_owner(o, row);
    if (!w->own && (owner == o->rank || (g > 0 && row == w->row[g - 1]))) return bad_ghost(o, row);
    s->want[owner]++;
  }
  return STATUS_OK;
}

/* Room for what others asked; counts become bytes. */
static status plan_buffers(comm *c, survey *s, const wanted *w, halo *out) {
  status rc = STATUS_OK;
  const int64_t unit = w->unit;
  int64_t wants = 0, asked = 0;
  for (int r = 0; r < comm_size(c); r++) {
    const int64_t word = (int64_t)sizeof(gidx);
    out->neighbours += s->want[r] > 0 || s->asked[r] > 0;
    s->want_at[r] = wants * word;
    s->asked_at[r] = asked * word;
    wants += s->want[r];
    asked += s->asked[r];
    s->want[r] *= word;
    s->asked[r] *= word;
  }
  out->ghosts = w->count;
  out->unit = unit;
  TRY(index_narrow(asked, "halo entries", &out->sends));
  TRY(alloc_array(&s->row, asked, sizeof *s->row, "halo rows asked for"));
  TRY(alloc_array(&out->send_row, asked, sizeof *out->send_row, "halo rows"));
  TRY(alloc_array(&out->send_buffer, asked * unit, sizeof *out->send_buffer, "halo send buffer"));
  TRY(alloc_array(&out->ghost_buffer, w->count * unit, sizeof *out->ghost_buffer,
                  "halo ghost buffer"));
  TRY(alloc_zeroed(&out->requests, 1, sizeof *out->requests, "halo requests"));
  out->requests->c = c;
  out->requests->entry = MPI_DATATYPE_NULL;
  out->requests->send = out->send_buffer;
  out->requests->ghost = out->ghost_buffer;
  TRY(alloc_array(&out->requests->list, 2 * (int64_t)out->neighbours, sizeof(message),
                  "halo messages"));
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

/* A neighbour's runs of 8-byte words in the buffers; what arrives comes first. */
static void list_messages(const comm *c, const survey *s, halo *out) {
  halo_requests *q = out->requests;
  const int64_t unit = out->unit;
  for (int r = 0; r < comm_size(c); r++) {
    if (s->want[r] == 0) continue;
    q->list[q->count++] = (message){r, 1, (int)(s->want[r] / 8), s->want_at[r] / 8 * unit};
  }
  for (int r = 0; r < comm_size(c); r++) {
    if (s->asked[r] == 0) continue;
    q->list[q->count++] = (message){r, 0, (int)(s->asked[r] / 8), s->asked_at[r] / 8 * unit};
  }
}

static void close_requests(halo_requests *q) {
  while (q->open > 0) MPI_Request_free(&q->handle[--q->open]);
}

/* Requests on the plan's present buffers. */
static status open_requests(const halo *h) {
  status rc = STATUS_OK;
  halo_requests *q = h->requests;
  for (; q->open < q->count; q->open++) {
    const message *m = &q->list[q->open];
    MPI_Request *handle = &q->handle[q->open];
    if (m->arrives) {
      TRY(comm_check(q->c,
                     MPI_Recv_init(h->ghost_buffer + m->at, m->count, q->entry, m->peer, TAG_HALO,
                                   comm_native(q->c), handle),
                     "MPI_Recv_init"));
    } else {
      TRY(comm_check(q->c,
                     MPI_Send_init(h->send_buffer + m->at, m->count, q->entry, m->peer, TAG_HALO,
                                   comm_native(q->c), handle),
                     "MPI_Send_init"));
    }
  }
done:
  return rc;
}

static status define_entry(const halo *h) {
  status rc = STATUS_OK;
  halo_requests *q = h->requests;
  lidx unit;
  TRY(index_narrow(h->unit, "points of a plane", &unit));
  TRY(comm_check(q->c, MPI_Type_contiguous(unit, MPI_DOUBLE, &q->entry), "MPI_Type_contiguous"));
  TRY(comm_check(q->c, MPI_Type_commit(&q->entry), "MPI_Type_commit"));
done:
  return rc;
}

static status move_to(halo *h, double *send, double *ghost, int adopted) {
  close_requests(h->requests);
  h->send_buffer = send;
  h->ghost_buffer = ghost;
  h->adopted = adopted;
  return open_requests(h);
}

status halo_adopt(halo *h, double *send, double *ghost) { return move_to(h, send, ghost, 1); }

status halo_disown(halo *h) { return move_to(h, h->requests->send, h->requests->ghost, 0); }

static status make_plan(comm *c, const ownership *o, const wanted *w, halo *out) {
  status rc = STATUS_OK;
  survey s = {0};
  rc = survey_open(o, &s);
  if (rc == STATUS_OK) rc = count_wanted(o, w, &s);
  TRY(comm_agree(c, rc));
  TRY(comm_transpose(c, s.want, s.asked));
  TRY(comm_agree(c, plan_buffers(c, &s, w, out)));
  TRY(comm_exchange(c, w->row, s.want, s.want_at, s.row, s.asked, s.asked_at));
  rc = local_rows(o, &s, out);
  if (rc == STATUS_OK) rc = define_entry(out);
  if (rc == STATUS_OK) {
    list_messages(c, &s, out);
    rc = open_requests(out);
  }
  TRY(comm_agree(c, rc));
done:
  survey_release(&s);
  if (rc != STATUS_OK) halo_release(out);
  return rc;
}

status halo_create(comm *c, const ownership *o, const gidx *ghost, lidx ghosts, halo *out) {
  const wanted w = {.row = ghost, .count = ghosts, .unit = 1};
  memset(out, 0, sizeof *out);
  return make_plan(c, o, &w, out);
}

/* The ghosts there are, by ascending plane: rows and which ghost each is. A halo is a few planes
 * deep: insertion will do. */
static lidx sort_planes(const gidx *ghost, lidx ghosts, gidx *row, lidx *which) {
  lidx count = 0;
  for (lidx i = 0; i < ghosts; i++) {
    lidx at = count;
    if (ghost[i] < 0) continue;
    for (; at > 0 && row[at - 1] > ghost[i]; at--) {
      row[at] = row[at - 1];
      which[at] = which[at - 1];
    }
    row[at] = ghost[i];
    which[at] = i;
    count++;
  }
  return count;
}

status halo_create_planes(comm *c, const ownership *planes, int64_t points, const gidx *ghost,
                          lidx ghosts, halo *out) {
  status rc = STATUS_OK;
  gidx *row = NULL;
  memset(out, 0, sizeof *out);
  rc = alloc_array(&row, ghosts, sizeof *row, "halo planes");
  if (rc == STATUS_OK) {
    rc = alloc_array(&out->ghost_row, ghosts, sizeof *out->ghost_row, "halo planes");
  }
  TRY(comm_agree(c, rc));
  const lidx count = sort_planes(ghost, ghosts, row, out->ghost_row);
  const wanted w = {.row = row, .count = count, .unit = points, .own = 1};
  rc = make_plan(c, planes, &w, out);
done:
  alloc_free(&row);
  if (rc != STATUS_OK) halo_release(out);
  return rc;
}

void halo_release(halo *h) {
  halo_requests *q = h->requests;
  if (q != NULL) {
    close_requests(q);
    if (q->entry != MPI_DATATYPE_NULL) MPI_Type_free(&q->entry);
    alloc_free(&q->handle);
    alloc_free(&q->list);
    if (h->adopted) {
      h->send_buffer = q->send;
      h->ghost_buffer = q->ghost;
    }
  }
  alloc_free(&h->requests);
  alloc_free(&h->send_row);
  alloc_free(&h->ghost_row);
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
