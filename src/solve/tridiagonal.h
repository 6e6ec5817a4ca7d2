/* Extreme eigenvalues of a small symmetric tridiagonal matrix, on the host, without a library: the
 * same bits everywhere. Local. */
#ifndef TRIDIAGONAL_H
#define TRIDIAGONAL_H

typedef enum tridiagonal_end { TRIDIAGONAL_LOWEST, TRIDIAGONAL_HIGHEST } tridiagonal_end;

/* diagonal[count], beside[count - 1] (beside[i] couples i and i + 1), count >= 1; work[3 count].
 * *value: the eigenvalue, to a unit in its last place or two of the largest one; *last: the last
 * component of its unit eigenvector, in size. */
void tridiagonal_extreme(int count, const double *diagonal, const double *beside,
                         tridiagonal_end end, double *work, double *value, double *last);

#endif
