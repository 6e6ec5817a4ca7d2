/* Preconditioners of linear systems: what one is, and one made ready for a system.
 *
 * A preconditioner is a const descriptor in the registry (preconditioners.def). open() makes it
 * from the rows of the matrix, on the CPU; apply() is z = M^-1 r on the system's backend, one fixed
 * linear operator until close(), written against the backend's table like the methods. Nothing in
 * it depends on the partition: colours, blocks, aggregates are functions of global indices, so the
 * bits of z are the same on any number of ranks, threads, backends.
 *
 * A rank with a local failure keeps exchanging (linear.h): apply() puts it into system->failure.
 * Functions are collective unless they say local. */
#ifndef PRECONDITIONER_H
#define PRECONDITIONER_H

#include "csr.h"
#include "linear.h"
#include "ownership.h"

/* What a preconditioner is made from. Lives while open() runs. */
typedef struct preconditioner_request {
  const csr_block *a; /* this rank's rows, local columns; a->ghost has the global ones */
  const ownership *owned;
  const double *diagonal; /* [rows] */
  int symmetric;          /* a_ij == a_ji for all entries */
  int threads;            /* of this rank */
  uint64_t seed;
  double omega;       /* ssor; 0: not given */
  int64_t block_size; /* block-jacobi */
  int degree;         /* chebyshev */
  int quiet;          /* one of many: nothing is said of it */
} preconditioner_request;

enum {
  PRECONDITIONER_DIVIDES_BY_DIAGONAL = 1, /* every a_ii must be there and not zero */
  PRECONDITIONER_NEEDS_SYMMETRY = 2,
  PRECONDITIONER_KEEPS_SYMMETRY = 4 /* M is symmetric positive definite where A is: fit for cg */
};

typedef struct preconditioner {
  const char *name;
  const char *help;   /* one line */
  const char *source; /* where the algorithm is written down */
  unsigned flags;
  /* *out is what apply and close are given; also set, to be closed, where open fails. */
  status (*open)(linear_system *s, const preconditioner_request *q, void **out);
  /* z = M^-1 r on the owned entries; z is not r. Ghosts of r and z may be overwritten. */
  status (*apply)(linear_system *s, void *data, vec r, vec z);
  void (*close)(linear_system *s, void **data); /* local */
  /* NULL, or the diagonal of an M^-1 that is nothing else; data keeps it. Local. */
  vec (*diagonal)(const void *data);
} preconditioner;

/* One that is ready. kind NULL: none, z = r. */
typedef struct preconditioning {
  const preconditioner *kind;
  void *data;
} preconditioning;

/* Makes one ready; all ranks leave with the same status. */
status preconditioning_open(linear_system *s, const preconditioner *kind,
                            const preconditioner_request *q, preconditioning *out);
status preconditioning_apply(linear_system *s, const preconditioning *p, vec r, vec z);
void preconditioning_close(linear_system *s, preconditioning *p); /* local */

/* The diagonal of M^-1 where that is all of it; data.at NULL where not. Local. */
vec preconditioning_diagonal(const preconditioning *p);

/* The registry, by position (NULL past the last) and by name (NULL: unknown, or "none"). Local. */
const preconditioner *preconditioner_at(int index);
const preconditioner *preconditioner_find(const char *name);

#endif
