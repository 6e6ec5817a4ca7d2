/* Products and transposes of distributed sparse matrices, on the host: what hierarchies of
 * preconditioners are made with. Results do not depend on ranks or threads. */
#ifndef SPARSE_PRODUCT_H
#define SPARSE_PRODUCT_H

#include "csr.h"
#include "ownership.h"

/* C = A B. Row k of b belongs to local column k of a (owned ones, then ghosts); first_column is the
 * global index of b's first owned column. c_ij is one chain of fma from +0.0 over k in the order of
 * a's rows, which is that of global columns. Row i of C is global row a->first_row + i; its columns
 * are numbered like b's, whose ghosts are all kept, in global order. Local. */
status sparse_product(int threads, const csr_block *a, const csr_block *b, gidx first_column,
                      csr_block *out);

/* The first `rows` rows of *block with global columns; takes over its arrays. Local. */
status sparse_globalise(int threads, csr_block *block, gidx first_column, csr_rows *out);

/* Rows of b for all local columns of a distributed matrix with these ghosts: own rows, which are
 * taken over (*own is left released), then the ghosts' fetched from their owners; columns numbered
 * locally under `columns`. Collective; all ranks leave with the same status. */
status sparse_extend(comm *c, int threads, const ownership *rows, csr_rows *own, const gidx *ghost,
                     lidx ghosts, const ownership *columns, csr_block *out);

/* The transpose of the first `rows` rows of p, which are this rank's under `row_owned`; columns of
 * p are numbered under `column_owned`. Rows of *out are the own columns of p, its columns global,
 * ascending. Collective; all ranks leave with the same status. */
status sparse_transpose(comm *c, int threads, const ownership *row_owned, const csr_block *p,
                        const ownership *column_owned, csr_rows *out);

#endif
