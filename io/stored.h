/* Matrices and vectors stored as arrays of numbers: PETSc's binary files (Mat and Vec, indices of
 * 32 or 64 bits, big endian) and, in HDF5 files, CSR groups (datasets indptr, indices, data, as
 * scipy names them) and plain vectors. Any rank reads any range; nothing is gathered. Functions are
 * local unless they say collective; failures are STATUS_INPUT naming the file and the array. */
#ifndef STORED_H
#define STORED_H

#include <hdf5.h>

#include "byte_source.h"
#include "reading.h"

typedef enum stored_kind { STORED_NOT, STORED_PETSC, STORED_HDF5 } stored_kind;

enum { STORED_PATH = 4096, STORED_SETS = 3 };

typedef struct stored_file {
  char path[STORED_PATH];
  char name[STORED_PATH]; /* HDF5: of the group or dataset; "": not given */
  stored_kind kind;
  gidx rows, columns;
  int64_t entries; /* of a matrix; -1: a vector of `rows` numbers */

  byte_source source;
  int width; /* bytes of an index in a plain array */
  /* Where arrays start that are plain bytes, big endian in PETSc's files, this machine's in HDF5
   * files; 0: they are not. */
  int64_t columns_at, values_at;

  /* PETSc */
  int64_t lengths_at;
  int64_t rhs_at; /* a vector that follows the matrix; 0: none */

  /* HDF5 */
  hid_t file, set[STORED_SETS]; /* indptr, indices, data; or a vector alone */
} stored_file;

/* What `path` (FILE, or FILE.h5:/NAME) is by its first bytes, as rank 0 sees them. STORED_NOT also
 * for what cannot be opened. Collective. */
status stored_recognise(comm *c, const char *path, stored_kind *out);

/* Opens and checks all that sizes tell; *f is to be closed also after a failure. */
status stored_open(const char *path, stored_file *f);
void stored_close(stored_file *f);

/* Entries in each of the rows [first, first + count), count > 0: not negative. */
status stored_lengths(stored_file *f, gidx first, int64_t count, int64_t *out);

/* Columns and values of entries [first, first + count): in range, finite. */
status stored_entries(stored_file *f, int64_t first, int64_t count, gidx *column, double *value);

/* The entries of rows a whose offsets are there, from entry number `first` of the file on, checked
 * as above (stored_scan.c). `ordered`: each row ascends strictly; then `content` holds, else it has
 * to be found anew. */
typedef struct stored_found {
  int ordered;
  rows_content content;
} stored_found;
status stored_scan(stored_file *f, int threads, int64_t first, const csr_rows *a,
                   stored_found *out);

/* Numbers [first, first + count) of a vector: the file itself, or what follows the matrix. */
status stored_numbers(stored_file *f, int64_t first, int64_t count, double *out);

/* matrix_read, matrix_look and vector_read of such files (matrix_io.h). Collective. */
status stored_matrix_read(comm *c, const char *path, int threads, csr_rows *out, ownership *owned,
                          matrix_file *facts, double **rhs);
status stored_look(comm *c, const char *path, matrix_promise *out);
status stored_vector_read(comm *c, const char *path, const ownership *owned, int64_t column,
                          double **values, int64_t *columns);

/* ---- stored_petsc.c, stored_h5.c: the same for one kind each ---- */

enum { PETSC_MAT = 1211216, PETSC_VEC = 1211214 };

/* Bytes of an index in a file that is written. */
int petsc_width(int64_t rows, int64_t entries);

status petsc_open(stored_file *f);
status petsc_lengths(stored_file *f, gidx first, int64_t count, int64_t *out);
status petsc_columns(stored_file *f, int64_t first, int64_t count, gidx *out);
status petsc_values(stored_file *f, int64_t at, int64_t first, int64_t count, double *out);

status csr_group_open(stored_file *f);
void csr_group_close(stored_file *f);
status csr_group_lengths(stored_file *f, gidx first, int64_t count, int64_t *out);
status csr_group_columns(stored_file *f, int64_t first, int64_t count, gidx *out);
status csr_group_values(stored_file *f, int64_t first, int64_t count, double *out);

#endif
