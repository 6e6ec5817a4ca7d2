/* The communicator (comm.h) on MPI-3.
 *
 * Every MPI code is checked. Transfers are cut into pieces of at most INT_MAX elements (pieces.h).
 * comm_exchange is pairwise: round k moves the k-th piece between every two ranks that have one, so
 * ranks that have nothing for each other exchange no message, and the only memory it needs (2 *
 * size requests) is reserved at open: it cannot fail on one rank alone for want of memory.
 * Reductions are over integers, and over doubles mapped to integers of the same order, so that NaN
 * and signed zeros give the same answer in any order of reduction. */
#include "comm.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "comm_native.h"
#include "fingerprint.h"
#include "log.h"
#include "pieces.h"
#include "portable.h"

struct comm {
  MPI_Comm world; /* our duplicate */
  int rank, size;
  int node_rank, node_size;
  int owns_mpi;          /* we started MPI, so we end it */
  int broken;            /* an MPI call failed here */
  status said;           /* the code of the last failure an agreement printed */
  int64_t limit;         /* largest count of one MPI call */
  MPI_Request *requests; /* [2 * size] for comm_exchange */
};

enum { TAG_EXCHANGE = 1 };

int comm_rank(const comm *c) { return c->rank; }
int comm_size(const comm *c) { return c->size; }
int comm_node_rank(const comm *c) { return c->node_rank; }
int comm_node_size(const comm *c) { return c->node_size; }
MPI_Comm comm_native(const comm *c) { return c->world; }
void comm_set_limit(comm *c, int64_t limit) { c->limit = limit; }

double comm_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void comm_library(char out[COMM_LIBRARY]) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) text[0] = '\0';
  snprintf(out, COMM_LIBRARY, "%.*s", (int)strcspn(text, "\n"), text);
}

static status mpi_failed(int code, const char *call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) text[0] = '\0';
  return fail(STATUS_BROKEN, "%s failed: %s", call, text[0] != '\0' ? text : "unknown MPI error");
}

status comm_check(comm *c, int code, const char *call) {
  if (code == MPI_SUCCESS) return STATUS_OK;
  c->broken = 1;
  return mpi_failed(code, call);
}

static status find_node(comm *c) {
  status rc = STATUS_OK;
  MPI_Comm node = MPI_COMM_NULL;
  TRY(comm_check(c,
                 MPI_Comm_split_type(c->world, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &node),
                 "MPI_Comm_split_type"));
  TRY(comm_check(c, MPI_Comm_rank(node, &c->node_rank), "MPI_Comm_rank"));
  TRY(comm_check(c, MPI_Comm_size(node, &c->node_size), "MPI_Comm_size"));
done:
  if (node != MPI_COMM_NULL) MPI_Comm_free(&node);
  return rc;
}

static status start_mpi(int *argc, char ***argv, int *owns) {
  int running = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&running);
  *owns = !running;
  int code =
      running ? MPI_Query_thread(&level) : MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
  if (code != MPI_SUCCESS)
    return mpi_failed(code, running ? "MPI_Query_thread" : "MPI_Init_thread");
  if (level < MPI_THREAD_FUNNELED) {
    return fail(STATUS_UNAVAILABLE,
                "this MPI supports no threads (level %d, wanted at least %d: "
                "MPI_THREAD_FUNNELED)",
                level, MPI_THREAD_FUNNELED);
  }
  return STATUS_OK;
}

/* Other ranks may be waiting for this one for ever: end them all. */
void comm_give_up(status code) {
  if (fail_text()[0] != '\0') log_error("%s", fail_text());
  MPI_Abort(MPI_COMM_WORLD, code);
}

/* A communicator of its own over the ranks of `base`. */
static status open_over(comm *c, MPI_Comm base) {
  status rc = STATUS_OK;
  TRY(comm_check(c, MPI_Comm_dup(base, &c->world), "MPI_Comm_dup"));
  TRY(comm_check(c, MPI_Comm_set_errhandler(c->world, MPI_ERRORS_RETURN),
                 "MPI_Comm_set_errhandler"));
  TRY(comm_check(c, MPI_Comm_rank(c->world, &c->rank), "MPI_Comm_rank"));
  TRY(comm_check(c, MPI_Comm_size(c->world, &c->size), "MPI_Comm_size"));
  TRY(find_node(c));
  rc = alloc_array(&c->requests, 2 * (int64_t)c->size, sizeof *c->requests, "message handles");
  TRY(comm_agree(c, rc));
done:
  return rc;
}

status comm_self(comm **out) {
  status rc = STATUS_OK;
  comm *c = NULL;
  *out = NULL;
  TRY(alloc_zeroed(&c, 1, sizeof *c, "communicator"));
  c->world = MPI_COMM_NULL;
  c->limit = INT_MAX;
  TRY(open_over(c, MPI_COMM_SELF));
  *out = c;
  c = NULL;
done:
  comm_close(&c);
  return rc;
}

status comm_open(int *argc, char ***argv, comm **out) {
  status rc = STATUS_OK;
  comm *c = NULL;
  int owns = 0;
  *out = NULL;
  TRY(start_mpi(argc, argv, &owns));
  rc = alloc_zeroed(&c, 1, sizeof *c, "communicator");
  if (rc != STATUS_OK) comm_give_up(rc); /* nothing to agree with yet */
  c->world = MPI_COMM_NULL;
  c->limit = INT_MAX;
  c->owns_mpi = owns;
  TRY(open_over(c, MPI_COMM_WORLD));
done:
  if (rc != STATUS_OK) {
    comm_close(&c);
  } else {
    *out = c;
  }
  return rc;
}

void comm_close(comm **c) {
  if (*c == NULL) return;
  if ((*c)->broken) comm_give_up(STATUS_BROKEN);
  if ((*c)->world != MPI_COMM_NULL) MPI_Comm_free(&(*c)->world);
  if ((*c)->owns_mpi) MPI_Finalize();
  alloc_free(&(*c)->requests);
  alloc_free(c);
}

/* FNV-1a of the code and the text, kept positive. */
static int64_t failure_hash(status code, const char *text) {
  const uint64_t hash =
      fingerprint_bytes(FINGERPRINT_BASIS ^ (uint64_t)code, text, (int64_t)strlen(text));
  return (int64_t)(hash >> 1);
}

/* Whether all ranks bring the same failure with the same text. */
static status failed_alike(comm *c, status mine, int *alike) {
  int64_t hash = mine == STATUS_OK ? -1 : failure_hash(mine, fail_text());
  int64_t most = hash, least = hash;
  status rc = comm_max_i64(c, &most, 1);
  if (rc == STATUS_OK) rc = comm_min_i64(c, &least, 1);
  *alike = most == least;
  return rc;
}

/* Printed by one rank. A failure without a text that is not the one already printed is ours. */
static void say_failure(comm *c, status code, int alike) {
  char prefix[32] = "";
  if (c->size > 1 && !alike) snprintf(prefix, sizeof prefix, "rank %d: ", c->rank);
  if (fail_text()[0] != '\0') {
    log_error("%s%s", prefix, fail_text());
  } else if (c->said != code) {
    log_error("%sfailed with code %d and no text: please report this", prefix, (int)code);
  }
}

status comm_agree(comm *c, status mine) {
  /* The smallest (rank, code) of those that failed, in one reduction. */
  int64_t first = mine == STATUS_OK ? INT64_MAX : ((int64_t)c->rank << 32 | (int64_t)mine);
  int alike = 0;
  status code = STATUS_OK;
  status rc =
      STATUS_BROKEN; /* after a failed call the others are elsewhere: do not wait for them */
  if (!c->broken) {
    rc = comm_check(c, MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, c->world),
                    "MPI_Allreduce");
  }
  if (rc == STATUS_OK && first == INT64_MAX) {
    fail_clear();
    return STATUS_OK;
  }
  if (rc == STATUS_OK) {
    code = (status)(first & INT32_MAX);
    rc = failed_alike(c, mine, &alike);
  }
  if (rc != STATUS_OK) { /* no agreement can be had: every rank speaks for itself */
    code = STATUS_BROKEN;
    alike = 0;
    first = (int64_t)c->rank << 32;
  }
  if (first >> 32 == c->rank) say_failure(c, code, alike);
  c->said = code;
  fail_clear();
  return code;
}

status comm_barrier(comm *c) { return comm_check(c, MPI_Barrier(c->world), "MPI_Barrier"); }

/* Elements of 8 bytes. */
static status reduce(comm *c, void *values, int64_t count, MPI_Op op) {
  status rc = STATUS_OK;
  for (int64_t k = 0; k < pieces_number(count, c->limit); k++) {
    char *at = (char *)values + 8 * pieces_begin(k, c->limit);
    TRY(comm_check(c,
                   MPI_Allreduce(MPI_IN_PLACE, at, pieces_length(count, k, c->limit), MPI_INT64_T,
                                 op, c->world),
                   "MPI_Allreduce"));
  }
done:
  return rc;
}

status comm_sum_i64(comm *c, int64_t *values, int64_t count) {
  return reduce(c, values, count, MPI_SUM);
}

status comm_min_i64(comm *c, int64_t *values, int64_t count) {
  return reduce(c, values, count, MPI_MIN);
}

status comm_max_i64(comm *c, int64_t *values, int64_t count) {
  return reduce(c, values, count, MPI_MAX);
}

/* Doubles as integers of the same order (-0 below +0); its own inverse on the bits. */
static int64_t ordered(int64_t bits) { return bits < 0 ? bits ^ INT64_MAX : bits; }

/* In place, through memcpy: the array is read as integers by MPI, as doubles by us. NaN becomes
 * `nan_key`, an integer that wins the reduction and that is a NaN when mapped back. */
static void to_keys(double *values, int64_t count, int64_t nan_key) {
  for (int64_t i = 0; i < count; i++) {
    double x = values[i];
    int64_t key = x != x ? nan_key : ordered((int64_t)bits_of(x));
    memcpy(&values[i], &key, sizeof key);
  }
}

static void from_keys(double *values, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    int64_t key;
    memcpy(&key, &values[i], sizeof key);
    key = ordered(key);
    memcpy(&values[i], &key, sizeof key);
  }
}

status comm_max_f64(comm *c, double *values, int64_t count) {
  to_keys(values, count, INT64_MAX);
  status rc = reduce(c, values, count, MPI_MAX);
  from_keys(values, count);
  return rc;
}

status comm_min_f64(comm *c, double *values, int64_t count) {
  to_keys(values, count, INT64_MIN);
  status rc = reduce(c, values, count, MPI_MIN);
  from_keys(values, count);
  return rc;
}

status comm_exscan_i64(comm *c, int64_t *value) {
  int64_t below = 0;
  status rc =
      comm_check(c, MPI_Exscan(value, &below, 1, MPI_INT64_T, MPI_SUM, c->world), "MPI_Exscan");
  *value = c->rank == 0 ? 0 : below; /* MPI leaves rank 0's undefined */
  return rc;
}

status comm_broadcast(comm *c, void *bytes, int64_t count, int root) {
  status rc = STATUS_OK;
  for (int64_t k = 0; k < pieces_number(count, c->limit); k++) {
    char *at = (char *)bytes + pieces_begin(k, c->limit);
    TRY(comm_check(c, MPI_Bcast(at, pieces_length(count, k, c->limit), MPI_BYTE, root, c->world),
                   "MPI_Bcast"));
  }
done:
  return rc;
}

status comm_allgather(comm *c, const void *mine, void *all, int64_t bytes) {
  status rc = STATUS_OK;
  if (bytes <= c->limit / c->size) {
    return comm_check(
        c, MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, c->world),
        "MPI_Allgather");
  }
  for (int r = 0; r < c->size; r++) { /* a large record: each rank's in turn, in pieces */
    char *at = (char *)all + (int64_t)r * bytes;
    if (r == c->rank) memmove(at, mine, (size_t)bytes);
    TRY(comm_broadcast(c, at, bytes, r));
  }
done:
  return rc;
}

/* Posts what round k moves between us and `peer`; *posted counts the requests. */
static status post_round(comm *c, int64_t k, int peer, const char *send, int64_t send_count,
                         char *receive, int64_t receive_count, int *posted) {
  status rc = STATUS_OK;
  int64_t begin = pieces_begin(k, c->limit);
  int in = pieces_length(receive_count, k, c->limit);
  int out = pieces_length(send_count, k, c->limit);
  if (in > 0) {
    TRY(comm_check(c,
                   MPI_Irecv(receive + begin, in, MPI_BYTE, peer, TAG_EXCHANGE, c->world,
                             &c->requests[*posted]),
                   "MPI_Irecv"));
    ++*posted;
  }
  if (out > 0) {
    TRY(comm_check(
        c,
        MPI_Isend(send + begin, out, MPI_BYTE, peer, TAG_EXCHANGE, c->world, &c->requests[*posted]),
        "MPI_Isend"));
    ++*posted;
  }
done:
  return rc;
}

status comm_exchange(comm *c, const void *send, const int64_t *send_count,
                     const int64_t *send_offset, void *receive, const int64_t *receive_count,
                     const int64_t *receive_offset) {
  status rc = STATUS_OK;
  int64_t rounds = 0;
  for (int r = 0; r < c->size; r++) {
    int64_t most = send_count[r] > receive_count[r] ? send_count[r] : receive_count[r];
    int64_t pieces = r == c->rank ? 0 : pieces_number(most, c->limit);
    if (pieces > rounds) rounds = pieces;
  }
  if (send_count[c->rank] > 0) {
    memcpy((char *)receive + receive_offset[c->rank], (const char *)send + send_offset[c->rank],
           (size_t)send_count[c->rank]);
  }
  for (int64_t k = 0; k < rounds; k++) {
    int posted = 0;
    for (int step = 1; step < c->size; step++) { /* each rank starts with another peer */
      int peer = (c->rank + step) % c->size;
      TRY(post_round(c, k, peer, (const char *)send + send_offset[peer], send_count[peer],
                     (char *)receive + receive_offset[peer], receive_count[peer], &posted));
    }
    TRY(comm_check(c, MPI_Waitall(posted, c->requests, MPI_STATUSES_IGNORE), "MPI_Waitall"));
  }
done:
  return rc;
}

status comm_transpose(comm *c, const int64_t *counts, int64_t *receive) {
  return comm_check(c, MPI_Alltoall(counts, 1, MPI_INT64_T, receive, 1, MPI_INT64_T, c->world),
                    "MPI_Alltoall");
}
