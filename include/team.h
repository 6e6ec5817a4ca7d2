/* The threads of a rank, for the loops outside backends: what is made, read, checked and hashed
 * before and after a method iterates. Implemented in src/cpu, the only folder that knows OpenMP.
 *
 * A loop is cut into as many contiguous parts as there are threads, by its count alone. What a part
 * writes must be a function of the index (rows, entries), and what parts bring together must not
 * depend on how they were cut: counts, sums modulo 2^64, minima, maxima. Then the results are the
 * same bits on any number of threads. Local. */
#ifndef TEAM_H
#define TEAM_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* Elements [begin, end) of a loop are part number `part`'s. */
typedef void team_work(void *context, int part, int64_t begin, int64_t end);

#ifdef __cplusplus
extern "C" {
#endif

/* Runs `work` once for each part 0 .. threads - 1 of [0, count), in any order, at once; parts may
 * be empty. Pass the threads the backend was or will be opened with (at least 1): a second number
 * would end and start threads. A loop too short to be shared runs on the calling thread. */
void team_for(int threads, int64_t count, team_work *work, void *context);

/* Where part number `part` of [0, count) begins; `part` = threads gives count. */
int64_t team_begin(int threads, int64_t count, int part);

/* Each thread has rounding and denormal modes of its own: all of them are looked at (fp_check.h).
 * STATUS_UNAVAILABLE. */
status team_check(int threads);

/* ---- loops that many places need ---- */

/* fingerprint_of (fingerprint.h) the elements [first, first + count) held at x. */
uint64_t team_fingerprint(int threads, const double *x, int64_t first, int64_t count);

/* Copies `bytes` bytes; the two do not overlap. */
void team_copy(int threads, void *to, const void *from, int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
