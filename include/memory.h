/* Whether what is about to be asked for fits: Linux promises memory it does not have, and ends the
 * program (or another one) when the promise is called in. So a large estimate is compared with what
 * is left before anything of that size is made. */
#ifndef MEMORY_H
#define MEMORY_H

#include "comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes this rank can still get: the least of the node's available memory and the control group's
 * limit, each divided by the ranks of this node, and the process's own limit (RLIMIT_AS).
 * INT64_MAX where none of them is known. *limit names the one that counts. Local. */
int64_t memory_available(int node_ranks, const char **limit);

/* Whether every rank can get `bytes` (its own number) more for `what`. STATUS_UNAVAILABLE, naming
 * both numbers and the limit. Collective; all ranks leave with the same status. */
status memory_check(comm *c, double bytes, const char *what);

/* The control group's part: bytes left under the tightest memory limit of the groups that
 * `membership` (a file like /proc/self/cgroup) names, looked up under `root` (/sys/fs/cgroup), both
 * versions; file cache that can be dropped counts as left. INT64_MAX: no limit. Local. */
int64_t memory_of_group(const char *membership, const char *root);

#ifdef __cplusplus
}
#endif

#endif
