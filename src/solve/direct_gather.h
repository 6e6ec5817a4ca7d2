/* A distributed matrix and its vectors on rank 0 alone, for a package that wants them whole.
 * Functions are collective. */
#ifndef DIRECT_GATHER_H
#define DIRECT_GATHER_H

#include "direct_package.h"

/* Who brings how much; zeroed: nothing is held. */
typedef struct direct_gather {
  comm *c;
  int64_t *rows, *entries;                    /* [ranks] */
  int64_t *here, *there, *here_at, *there_at; /* [ranks] bytes of a transfer */
} direct_gather;

/* Rank 0 gets the matrix in `whole` (released by direct_matrix_release); the others nothing.
 * STATUS_UNAVAILABLE: it does not fit. */
status direct_gather_matrix(comm *c, const csr_block *a, const ownership *owned, int symmetric,
                            direct_gather *g, direct_matrix *whole);

/* x: own rows; all: [global rows] on rank 0, which is not looked at on other ranks. */
status direct_gather_vector(direct_gather *g, const double *x, double *all);
status direct_scatter_vector(direct_gather *g, const double *all, double *x);

void direct_gather_release(direct_gather *g);     /* local */
void direct_matrix_release(direct_matrix *whole); /* local */

#endif
