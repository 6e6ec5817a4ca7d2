/* Small dense systems, row-major: Cholesky, and LU with partial pivoting. Every entry is worked on
 * in one order, with fma where it is written, so that all who factor the same matrix (each rank its
 * copy of a coarsest level, a GPU its blocks) get the same bits. n^3 / 3 and 2 n^3 / 3 operations,
 * unblocked: meant for n up to about a thousand. Inner loops run along rows and need no order, so
 * compilers make them vectors.
 *
 * A factorisation answers how many pivots it made: n, or the number of the pivot that failed (not
 * positive, zero, or not finite), with the matrix half done.
 * Source: Golub, Van Loan, Matrix Computations (2013), alg. 4.2.1 and 3.4.1. */
#ifndef DENSE_H
#define DENSE_H

#include <math.h>

#include "portable.h"

PORTABLE int dense_finite(double x) { return x - x == 0.0; }

/* A = L L^T of a symmetric matrix, whose upper triangle is read. Leaves L in the lower triangle and
 * L^T in the upper one. */
PORTABLE int dense_cholesky(double *a, int n) {
  for (int j = 0; j < n; j++) {
    double *pivot = a + (int64_t)j * n;
    if (!(pivot[j] > 0.0) || !dense_finite(pivot[j])) return j;
    pivot[j] = sqrt(pivot[j]);
    for (int k = j + 1; k < n; k++) {
      pivot[k] = pivot[k] / pivot[j];
      a[(int64_t)k * n + j] = pivot[k];
    }
    for (int i = j + 1; i < n; i++) {
      double *row = a + (int64_t)i * n;
      const double factor = -pivot[i];
      for (int k = i; k < n; k++) row[k] = fma(factor, pivot[k], row[k]);
    }
  }
  return n;
}

/* b becomes A^-1 b, from what dense_cholesky left. */
PORTABLE void dense_cholesky_solve(const double *a, int n, double *b) {
  for (int i = 0; i < n; i++) { /* L y = b */
    const double *row = a + (int64_t)i * n;
    b[i] = b[i] / row[i];
    for (int k = i + 1; k < n; k++) b[k] = fma(-row[k], b[i], b[k]);
  }
  for (int i = n - 1; i >= 0; i--) { /* L^T x = y */
    const double *row = a + (int64_t)i * n;
    b[i] = b[i] / row[i];
    for (int k = 0; k < i; k++) b[k] = fma(-row[k], b[i], b[k]);
  }
}

PORTABLE void dense_swap_rows(double *a, int n, int i, int k) {
  double *x = a + (int64_t)i * n, *y = a + (int64_t)k * n;
  for (int j = 0; j < n; j++) {
    const double keep = x[j];
    x[j] = y[j];
    y[j] = keep;
  }
}

/* The row of the largest entry of column j from row j on; the first of equals. */
PORTABLE int dense_pivot(const double *a, int n, int j) {
  int best = j;
  double largest = fabs(a[(int64_t)j * n + j]);
  for (int i = j + 1; i < n; i++) {
    const double size = fabs(a[(int64_t)i * n + j]);
    if (size > largest || size != size) {
      best = i;
      largest = size;
    }
  }
  return best;
}

/* P A = L U; L has ones on its diagonal. In step j rows j and row[j] changed places. row[n]. */
PORTABLE int dense_lu(double *a, int n, int *row) {
  for (int j = 0; j < n; j++) {
    double *pivot = a + (int64_t)j * n;
    row[j] = dense_pivot(a, n, j);
    if (row[j] != j) AT_PLACE(r, j + 1, n, row[j]) dense_swap_rows(a, n, j, r);
    if (pivot[j] == 0.0 || !dense_finite(pivot[j])) return j;
    for (int i = j + 1; i < n; i++) {
      double *other = a + (int64_t)i * n;
      const double factor = other[j] / pivot[j];
      other[j] = factor;
      for (int k = j + 1; k < n; k++) other[k] = fma(-factor, pivot[k], other[k]);
    }
  }
  return n;
}

/* b becomes A^-1 b, from what dense_lu left. */
PORTABLE void dense_lu_solve(const double *a, int n, const int *row, double *b) {
  for (int i = 0; i < n; i++) {
    AT_PLACE(r, i, n, row[i]) {
      const double keep = b[i];
      b[i] = b[r];
      b[r] = keep;
    }
  }
  for (int i = 1; i < n; i++) {
    const double *l = a + (int64_t)i * n;
    double sum = b[i];
    for (int k = 0; k < i; k++) sum = fma(-l[k], b[k], sum);
    b[i] = sum;
  }
  for (int i = n - 1; i >= 0; i--) {
    const double *u = a + (int64_t)i * n;
    double sum = b[i];
    for (int k = n - 1; k > i; k--) sum = fma(-u[k], b[k], sum);
    b[i] = sum / u[i];
  }
}

#endif
