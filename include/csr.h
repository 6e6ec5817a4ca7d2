/* CSR, the exchange form of a sparse matrix: what readers and problem generators produce, before a
 * backend turns it into its own storage (sell.h).
 *
 * csr_rows has global columns; rows are sorted by column, duplicates already added in file order.
 * csr_block is the same rows with local columns: owned columns are [0, columns), ghosts [columns,
 * columns + ghosts) in ascending global order; columns = rows for the square matrices of systems.
 * Its entries keep the *global* column order: a row is summed in that order on any number of ranks,
 * which is why a row's local columns are not ascending in general. */
#ifndef CSR_H
#define CSR_H

#include "index.h"

typedef struct csr_rows {
  gidx global_rows, global_columns;
  gidx first_row; /* global index of local row 0 */
  lidx rows;
  eidx *offset;  /* [rows + 1] from 0 */
  gidx *column;  /* [offset[rows]] */
  double *value; /* [offset[rows]] */
} csr_rows;

typedef struct csr_block {
  gidx first_row;
  lidx rows;
  lidx columns; /* owned ones */
  lidx ghosts;
  eidx *offset;  /* [rows + 1] */
  lidx *column;  /* [offset[rows]] */
  double *value; /* [offset[rows]] */
  gidx *ghost;   /* [ghosts] global index of each ghost, ascending */
} csr_block;

#ifdef __cplusplus
extern "C" {
#endif

void csr_rows_release(csr_rows *a);
void csr_block_release(csr_block *a);

/* Numbers columns locally. Takes over the arrays of *rows (which is left released): column memory
 * is narrowed, values move. Columns are owned like rows: for square matrices. The threads share the
 * work. Local. */
status csr_localise(int threads, csr_rows *rows, csr_block *out);

/* The same for any matrix: columns [first_column, first_column + columns) are owned. Local. */
status csr_localise_columns(int threads, csr_rows *rows, gidx first_column, lidx columns,
                            csr_block *out);

#ifdef __cplusplus
}
#endif

#endif
