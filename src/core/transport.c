/* The proof behind transport `mpi` (transport.h): vectors whose entries are functions of the global
 * index are exchanged through plans of several message sizes, from one number (sent at once) to 8
 * MB (sent in pieces, or fetched by the receiver), by the same calls a solve makes, twice each with
 * other numbers, and compared bit for bit on arrival. Partners are the next and the previous rank
 * and the one half-way around, on another node where there are several. Before that MPI is asked
 * whether it claims to take such memory: if it does not claim it, nothing is tried. Costs a few
 * milliseconds a size.
 *
 * Which partners are tried does not cover every pair of a large job; a real solve recomputes its
 * residual from x, so a pair that loses numbers later is seen there as one that does not converge.
 */
#include "transport.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "log.h"
#include "ownership.h"
#include "portable.h"

static const lidx SIZES[] = {1, 700, 30000, 250000}; /* entries of a message */

enum { PARTNERS = 3, ROUNDS = 2, BLOCK = 256 };

static const struct {
  const char *name, *missing;
} ABSENT[] = {
    {"nccl", "this halosweep has no NCCL transport"},
    {"ipc", "this halosweep has no CUDA IPC transport"},
};

status transport_check(const char *asked) {
  for (size_t i = 0; i < sizeof ABSENT / sizeof *ABSENT; i++) {
    if (strcmp(ABSENT[i].name, asked) == 0) {
      return fail(STATUS_UNAVAILABLE, "transport %s: %s; --transport host is always there", asked,
                  ABSENT[i].missing);
    }
  }
  return STATUS_OK;
}

/* Never twice the same, never an integer, other bits in every byte. */
static double pattern(gidx gi, int round) {
  return sqrt((double)(gi + 2 + round)) - 0x1p40 * round;
}

/* The other ranks to exchange with, ascending. */
static int partners(int rank, int size, int out[PARTNERS]) {
  const int wanted[PARTNERS] = {(rank + 1) % size, (rank + size - 1) % size,
                                (rank + size / 2) % size};
  int count = 0;
  for (int r = 0; r < size; r++) {
    if (r == rank) continue;
    if (r == wanted[0] || r == wanted[1] || r == wanted[2]) out[count++] = r;
  }
  return count;
}

status transport_adopt(const transport_side *side) {
  status rc = STATUS_OK;
  const halo *h = side->plan;
  const int64_t bytes = (int64_t)sizeof(double);
  TRY(side->kernels->alloc(side->place, h->sends * bytes, "halo", side->send));
  TRY(side->kernels->alloc(side->place, h->ghosts * bytes, "halo", side->ghost));
  rc = halo_adopt(side->plan, side->send->at, side->ghost->at);
done:
  return rc;
}

void transport_release(const transport_side *side) {
  halo_release(side->plan);
  if (side->send->at != NULL) side->kernels->release(side->place, side->send);
  if (side->ghost->at != NULL) side->kernels->release(side->place, side->ghost);
}

/* One message size: a plan, a vector, and what this rank could not do. */
typedef struct trial {
  transport_side side; /* of the members below */
  halo plan;
  dptr send, ghost;
  ownership owned;
  gidx *row;    /* [x.ghosts] global row of each ghost */
  double *host; /* [x.rows + x.ghosts] */
  vec x;
  status failure;
} trial;

/* A plan by which each partner's first `entries` rows arrive here. */
static status make_plan(trial *t, lidx entries) {
  status rc = STATUS_OK;
  const ownership *o = &t->owned;
  comm *c = t->side.world;
  int peer[PARTNERS];
  const int count = partners(o->rank, o->size, peer);
  t->x.rows = (lidx)(ownership_end(o) - ownership_begin(o));
  t->x.ghosts = count * entries;
  TRY(comm_agree(c, alloc_array(&t->row, t->x.ghosts, sizeof *t->row, "rows of a trial")));
  for (int p = 0; p < count; p++) {
    for (lidx i = 0; i < entries; i++) t->row[p * entries + i] = o->first[peer[p]] + i;
  }
  TRY(halo_create(c, o, t->row, t->x.ghosts, &t->plan));
  ATTEMPT(t, transport_adopt(&t->side));
done:
  return rc;
}

static int64_t bytes_of(lidx rows, lidx ghosts) {
  return ((int64_t)rows + ghosts) * (int64_t)sizeof(double);
}

/* One exchange: whether what arrived here is wrong. */
static status exchange(trial *t, int round, int64_t *wrong) {
  status rc = STATUS_OK;
  const backend *k = t->side.kernels;
  device *place = t->side.place;
  const vec x = t->x;
  for (lidx i = 0; i < x.rows; i++) t->host[i] = pattern(ownership_begin(&t->owned) + i, round);
  ATTEMPT(t, k->fill(place, x, NAN));
  ATTEMPT(t, k->copy_in(place, x.data, (hptr){t->host}, bytes_of(x.rows, 0)));
  ATTEMPT(t, k->pack(place, &t->plan, x));
  TRY(comm_agree(t->side.world, t->failure));
  TRY(halo_trial(&t->plan));
  ATTEMPT(t, k->unpack(place, &t->plan, x));
  ATTEMPT(t, k->copy_out(place, (hptr){t->host}, x.data, bytes_of(x.rows, x.ghosts)));
  TRY(comm_agree(t->side.world, t->failure));
  for (lidx i = 0; i < x.ghosts; i++) {
    *wrong |= bits_of(t->host[x.rows + i]) != bits_of(pattern(t->row[i], round));
  }
done:
  return rc;
}

static status prove_size(const transport_side *real, lidx entries, int64_t *wrong) {
  status rc = STATUS_OK;
  const backend *k = real->kernels;
  comm *c = real->world;
  trial t = {.x = {.block = BLOCK}};
  t.side = (transport_side){k, real->place, c, &t.plan, &t.send, &t.ghost};
  /* whole sum blocks for every rank */
  const gidx share = ((gidx)entries + BLOCK - 1) / BLOCK * BLOCK;
  TRY(ownership_even(c, share * comm_size(c), &t.owned));
  TRY(make_plan(&t, entries));
  const int64_t bytes = bytes_of(t.x.rows, t.x.ghosts);
  ATTEMPT(&t, k->alloc(real->place, bytes, "trial of a transport", &t.x.data));
  ATTEMPT(&t, alloc_array(&t.host, bytes, 1, "trial"));
  TRY(comm_agree(c, t.failure));
  for (int round = 0; round < ROUNDS; round++) TRY(exchange(&t, round, wrong));
done:
  if (t.x.data.at != NULL) k->release(real->place, &t.x.data);
  transport_release(&t.side);
  ownership_release(&t.owned);
  alloc_free(&t.row);
  alloc_free(&t.host);
  return rc;
}

/* Why mpi cannot be used; NULL: it can. The same on all ranks. */
static status try_mpi(const transport_side *s, int claim, const char **why) {
  status rc = STATUS_OK;
  int64_t said[2] = {claim == 0, claim < 0}, wrong = 0;
  *why = NULL;
  TRY(comm_max_i64(s->world, said, 2));
  if (said[0]) {
    *why = "this MPI says that it cannot be given addresses of GPU memory";
  } else if (said[1]) {
    *why = "this MPI does not say whether it can be given addresses of GPU memory";
  }
  if (*why != NULL) goto done;
  for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES && !wrong; i++) {
    TRY(prove_size(s, SIZES[i], &wrong));
    TRY(comm_max_i64(s->world, &wrong, 1));
  }
  if (wrong) *why = "numbers sent from GPU memory arrived wrong";
done:
  return rc;
}

static void note(transport_choice *out, const char *name, const char *refused) {
  out->trial[out->tried++] = (transport_trial){name, refused};
  if (refused == NULL) out->name = name;
}

status transport_choose(const transport_side *s, const char *asked, int claim,
                        transport_choice *out) {
  status rc = STATUS_OK;
  const char *why = NULL;
  const int own_memory = s->kernels->describe != NULL, several = comm_size(s->world) > 1;
  const int wanted = strcmp(asked, "mpi") == 0, open = wanted || strcmp(asked, "auto") == 0;
  memset(out, 0, sizeof *out);
  out->name = "none";
  if (wanted && !own_memory) {
    rc =
        fail(STATUS_UNAVAILABLE,
             "transport mpi: it hands GPU memory to MPI, and backend %s has none; --transport host "
             "is always there",
             s->kernels->name);
  }
  TRY(comm_agree(s->world, rc));
  if (!several) goto done;
  if (own_memory && open) {
    TRY(try_mpi(s, claim, &why));
    note(out, "mpi", why);
    if (why == NULL) {
      log_info("transport mpi: proved by real exchanges");
      rc = comm_agree(s->world, transport_adopt(s));
      goto done;
    }
    if (wanted)
      rc = fail(STATUS_UNAVAILABLE, "transport mpi: %s; --transport host is always there", why);
    TRY(comm_agree(s->world, rc));
    log_info("transport host: %s", why);
  }
  note(out, "host", NULL);
done:
  return rc;
}
