/* What can be said about a matrix before solving with it: the facts behind `auto`, the checks of
 * methods, and `inspect`. */
#ifndef SURVEY_H
#define SURVEY_H

#include "csr.h"
#include "ownership.h"

enum { LENGTH_BINS = 40 }; /* row lengths 0, 1, 2-3, 4-7, ...: bin b > 0 holds [2^(b-1), 2^b) */

/* Counts over all rows; `first_...` is the smallest such row (0-based), -1 where there is none. */
typedef struct matrix_survey {
  gidx rows, columns;
  int64_t entries;
  int64_t missing_diagonal, zero_diagonal, negative_diagonal, empty_rows;
  gidx first_missing, first_zero, first_negative, first_empty;
  int64_t strictly_dominant, weakly_dominant; /* rows: strictly ones are weak ones too */
  int symmetric;                              /* a_ij == a_ji for all entries */
  /* the first entry above the diagonal, by row, then column, that differs from its mirror */
  gidx odd_row, odd_column; /* -1: none, or not square */
  double odd_value, odd_mirror;
  gidx bandwidth;      /* largest |i - j| */
  double largest;      /* largest |a_ij| */
  double off_diagonal; /* largest of sum_j |a_ij| / |a_ii|, j != i: bounds rho(I - D^-1 A) and the
                          distance of eigenvalues of D^-1 A from 1; infinite without a diagonal */
  int64_t zero_sums;   /* rows that sum to zero within rounding, and are not empty */
  int64_t shortest, longest;
  int64_t lengths[LENGTH_BINS];
} matrix_survey;

/* Collective; O(entries), shared by the threads. All ranks leave with the same status. */
status survey_matrix(comm *c, int threads, const csr_rows *a, matrix_survey *out);

/* Host memory of one rank with so many rows and entries, in bytes: to read or make them (16 bytes
 * an entry as rows, 24 while they arrive); and what solving takes beside the rows: 12 an entry and
 * 1 a row for the stored matrix, 4 an entry for local columns, 7 vectors. Local. */
double survey_bytes_to_read(double rows, double entries);
double survey_bytes_to_solve(double rows, double entries);

/* Diagonal entries of the own rows, 0 where missing. Local. */
void survey_diagonal(int threads, const csr_rows *a, double *diagonal);

#endif
