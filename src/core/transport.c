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
#include "linear.h"
#include "log.h"

static const lidx SIZES[] = {1, 700, 30000, 250000}; /* entries of a message */

enum { PARTNERS = 3, ROUNDS = 2 };

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

/* A plan by which each partner's first `entries` rows arrive here. */
static status make_plan(linear_system *s, const ownership *o, lidx entries, gidx **ghost) {
  status rc = STATUS_OK;
  int peer[PARTNERS];
  const int count = partners(o->rank, o->size, peer);
  s->rows = (lidx)(ownership_end(o) - ownership_begin(o));
  s->ghosts = count * entries;
  TRY(comm_agree(s->world, alloc_array(ghost, s->ghosts, sizeof **ghost, "rows of a trial")));
  for (int p = 0; p < count; p++) {
    for (lidx i = 0; i < entries; i++) (*ghost)[p * entries + i] = o->first[peer[p]] + i;
  }
  TRY(halo_create(s->world, o, *ghost, s->ghosts, &s->plan));
  ATTEMPT(s, linear_halo_adopt(s));
done:
  return rc;
}

/* One exchange: whether what arrived here is wrong. */
static status exchange(linear_system *s, vec x, double *host, const gidx *ghost, gidx first,
                       int round, int64_t *wrong) {
  status rc = STATUS_OK;
  for (lidx i = 0; i < s->rows; i++) host[i] = pattern(first + i, round);
  ATTEMPT(s, s->kernels->fill(s->place, x, NAN));
  ATTEMPT(s, linear_load(s, x, host));
  ATTEMPT(s, s->kernels->pack(s->place, &s->plan, x));
  TRY(comm_agree(s->world, s->failure));
  TRY(halo_trial(&s->plan));
  ATTEMPT(s, s->kernels->unpack(s->place, &s->plan, x));
  const int64_t bytes = ((int64_t)s->rows + s->ghosts) * (int64_t)sizeof(double);
  ATTEMPT(s, s->kernels->copy_out(s->place, (hptr){host}, x.data, bytes));
  TRY(comm_agree(s->world, s->failure));
  for (lidx i = 0; i < s->ghosts; i++) {
    *wrong |= bits_of(host[s->rows + i]) != bits_of(pattern(ghost[i], round));
  }
done:
  return rc;
}

static status prove_size(const linear_system *real, lidx entries, int64_t *wrong) {
  status rc = STATUS_OK;
  linear_system s = {.kernels = real->kernels, .place = real->place, .world = real->world};
  ownership o = {0};
  gidx *ghost = NULL;
  double *host = NULL;
  vec x = {.rows = 0};
  /* whole sum blocks for every rank */
  const gidx share = ((gidx)entries + 255) / 256 * 256;
  TRY(ownership_even(s.world, share * comm_size(s.world), &o));
  TRY(make_plan(&s, &o, entries, &ghost));
  ATTEMPT(&s, linear_vector(&s, "trial of a transport", &x));
  ATTEMPT(&s, alloc_array(&host, (int64_t)s.rows + s.ghosts, sizeof *host, "trial"));
  TRY(comm_agree(s.world, s.failure));
  for (int round = 0; round < ROUNDS; round++) {
    TRY(exchange(&s, x, host, ghost, ownership_begin(&o), round, wrong));
  }
done:
  linear_vector_release(&s, &x);
  linear_halo_release(&s);
  ownership_release(&o);
  alloc_free(&ghost);
  alloc_free(&host);
  return rc;
}

/* Why mpi cannot be used; NULL: it can. The same on all ranks. */
static status try_mpi(const linear_system *s, int claim, const char **why) {
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

status transport_choose(linear_system *s, const char *asked, int claim, transport_choice *out) {
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
      rc = comm_agree(s->world, linear_halo_adopt(s));
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
