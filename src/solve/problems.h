/* Problems that are made, not read: each rank makes its own rows. */
#ifndef PROBLEMS_H
#define PROBLEMS_H

#include "csr.h"
#include "ownership.h"

typedef struct problem_request {
  const char *name;
  const int64_t *n;        /* unknowns per direction */
  int n_count;             /* one number for all directions, or one each; 0: not given */
  double peclet;           /* convdiff2d: the cell Peclet number */
  int64_t entries_per_row; /* random-dominant */
  uint64_t seed;
  int threads; /* of this rank: 1 or more (team.h) */
} problem_request;

/* Makes the matrix, balanced by entries. STATUS_USAGE when the request does not fit the problem
 * (unknown name, wrong number of sizes, sizes whose product overflows). Collective; all ranks leave
 * with the same status. */
status problem_build(comm *c, const problem_request *request, csr_rows *out, ownership *owned);

/* Directions of a problem; 0: unknown. Local. */
int problem_dims(const char *name);

/* Element gi of the right-hand side `random`: uniform in (-1, 1), a function of seed and gi. */
double problem_random_rhs(uint64_t seed, gidx gi);

#endif
