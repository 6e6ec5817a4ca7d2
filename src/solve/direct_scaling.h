/* Scaling of rows and columns by powers of two before a package factorises. Functions are local. */
#ifndef DIRECT_SCALING_H
#define DIRECT_SCALING_H

#include "direct_package.h"

/* Finds exponents, so that the largest entry of every row and column of 2^left_i a_ij 2^right_j is
 * about 1, and puts them on the matrix. left, right: [rows]; equal for a symmetric matrix. Rows
 * and columns without entries get 0. */
status direct_scale(direct_matrix *a, int *left, int *right);

/* x_i = 2^exponent_i x_i */
void direct_shift(lidx rows, const int *exponent, double *x);

#endif
