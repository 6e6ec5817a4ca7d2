/* The communicator: what the program asks of MPI, without mpi.h. Unless a comment says "local",
 * every function is collective and must be called by all ranks in the same order. A failing MPI
 * call is STATUS_BROKEN naming the call. Counts are 64-bit; larger messages than MPI's int are
 * split inside. */
#ifndef COMM_H
#define COMM_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct comm comm;

/* Starts MPI (threads: funneled) and opens the world. *out is NULL on failure. comm_close ends MPI.
 */
status comm_open(int *argc, char ***argv, comm **out);
void comm_close(comm **c);

/* Local: a communicator of this rank alone, for work that ranks do on their own. MPI has started;
 * comm_close leaves it running. */
status comm_self(comm **out);

int comm_rank(const comm *c);      /* local */
int comm_size(const comm *c);      /* local */
int comm_node_rank(const comm *c); /* local: rank among the ranks of this node, found at open */
int comm_node_size(const comm *c); /* local: ranks on this node */
double comm_clock(void);           /* local: seconds, monotonic */

/* The MPI library's own words about itself, the first line. Local. */
enum { COMM_LIBRARY = 128 };
void comm_library(char out[COMM_LIBRARY]);

/* Whether MPI says of itself that it takes addresses of GPU memory: 1 yes, 0 no, -1 it does not
 * say. A claim, not a proof. Local. */
int comm_device_claim(void);

/* The agreement point: every rank brings its own code, all leave with the same one: that of the
 * lowest rank that brought a failure, or STATUS_OK. The text recorded by fail() on that rank is
 * printed once, by that rank, with "rank R:" in front when there are several ranks and not all
 * failed alike. Every rank's recorded text is cleared. After a failed MPI call nothing is agreed
 * on: the rank speaks for itself and leaves with STATUS_BROKEN, for comm_close to end the job. */
status comm_agree(comm *c, status mine);

status comm_barrier(comm *c);

/* In place, elementwise, exact. */
status comm_sum_i64(comm *c, int64_t *values, int64_t count);
status comm_min_i64(comm *c, int64_t *values, int64_t count);
status comm_max_i64(comm *c, int64_t *values, int64_t count);
status comm_max_f64(comm *c, double *values, int64_t count);
status comm_min_f64(comm *c, double *values, int64_t count);

/* *value becomes the sum over lower ranks (0 on rank 0). */
status comm_exscan_i64(comm *c, int64_t *value);

status comm_broadcast(comm *c, void *bytes, int64_t count, int root);

/* Gathers one fixed-size record of `bytes` bytes from each rank into `all` (size * bytes, every
 * rank). */
status comm_allgather(comm *c, const void *mine, void *all, int64_t bytes);

/* Sends send_count[r] bytes at send + send_offset[r] to each rank r, receives likewise. Counts are
 * in bytes, 64-bit; receive counts must be known (comm_transpose gives them). */
status comm_exchange(comm *c, const void *send, const int64_t *send_count,
                     const int64_t *send_offset, void *receive, const int64_t *receive_count,
                     const int64_t *receive_offset);

/* Each rank's counts[r] for rank r becomes theirs for us: receive[r] = what rank r passed for us.
 */
status comm_transpose(comm *c, const int64_t *counts, int64_t *receive);

#ifdef __cplusplus
}
#endif

#endif
