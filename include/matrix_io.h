/* Reading and writing matrices and vectors as files: Matrix Market and plain text (also gzip),
 * PETSc binary, HDF5 (FILE.h5 or FILE.h5:/NAME). All functions are collective; a failure is the
 * same status on all ranks, its text (file, line, found, expected) printed by the agreement.
 * Nothing of global size is ever held by one rank. Formats are recognised by content, not by name.
 */
#ifndef MATRIX_IO_H
#define MATRIX_IO_H

#include "csr.h"
#include "ownership.h"
#include "result_io.h"

typedef struct matrix_file {
  gidx rows, columns;
  int64_t stored;   /* entries in the file */
  int64_t expanded; /* after symmetric expansion, before merging */
  int64_t merged;   /* after adding duplicates; explicit zeros kept, zeros of dense files dropped */
  int64_t explicit_zeros; /* stored zeros of coordinate files, after expansion and merging */
  const char *format;     /* "Matrix Market coordinate real symmetric", "dense text", ... */
  uint64_t content;       /* hash of the merged entries, the same on any number of ranks */
} matrix_file;

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a matrix and deals its rows out, balanced by entries; `threads` of this rank share what can
 * be shared (team.h). Where the file itself brings a
 * right-hand side (dense text with n + 1 numbers a row), *rhs gets this rank's part of it (free
 * with alloc_free); otherwise *rhs is NULL. */
status matrix_read(comm *c, const char *path, int threads, csr_rows *out, ownership *owned,
                   matrix_file *facts, double **rhs);

/* What the head of a file promises, and what its bytes allow. */
typedef struct matrix_promise {
  gidx rows;       /* 0: plain text, not known */
  int64_t entries; /* at most, mirrored ones too; 0 for dense files */
  int64_t numbers; /* of dense files, zeros included: at most, or by their bytes where unknown */
} matrix_promise;

/* Without reading on. Collective; all ranks leave with the same status. */
status matrix_look(comm *c, const char *path, matrix_promise *out);

/* Reads column `column` (0-based) of a dense file of `owned->rows` rows; *values gets this rank's
 * part. STATUS_INPUT when the length differs or a value is not finite. `columns` may be NULL; it
 * receives the number of columns. */
status vector_read(comm *c, const char *path, const ownership *owned, int64_t column,
                   double **values, int64_t *columns);

/* Names of PETSc's binary files. They carry no mark: an existing one is never replaced. */
#define MATRIX_PETSC_NAMES ".petsc|.bin"

/* Writes a vector as a Matrix Market array file (.mtx), a PETSc Vec (MATRIX_PETSC_NAMES) or plain
 * text, one number a line, 17 digits, through a temporary file and a rename. */
status vector_write(comm *c, const char *path, const ownership *owned, const double *values);

/* Writes a matrix as a coordinate file (.mtx; 17 digits, indices from 1) or a PETSc Mat
 * (MATRIX_PETSC_NAMES; 64-bit indices where 32 do not suffice), likewise. */
status matrix_write(comm *c, const char *path, const csr_rows *a);

/* Writes a matrix into a result as the CSR group /matrix: indptr, indices, data, shape. */
status matrix_store(result_file *file, comm *c, const csr_rows *a);

#ifdef __cplusplus
}
#endif

#endif
