/* Mixed precision on a backend: the rows and vectors of the inner iterations in float, beside the
 * double ones of solve_backend.h. A correction e of x solves A e = r approximately: r is narrowed,
 * iterated on in here, and added to x in double.
 *
 * Numbers are floats, arithmetic on them is float's, one rounding each: + - * and fmaf, rows in the
 * order of row_product.def. Factors alpha, beta are the state's, rounded to float. Terms of sums
 * are doubles made of floats (scale x_i is exact), summed as everywhere.
 *
 * A float vector has a type of its own, so that neither kind can be taken for the other. It goes
 * through the halo's buffers as doubles, exactly. Functions are local. */
#ifndef MIXED_BACKEND_H
#define MIXED_BACKEND_H

#include "solve_backend.h"

typedef struct single_vec {
  dptr data; /* floats; the rest as in vec */
  lidx rows, ghosts;
  int32_t block;
} single_vec;

typedef struct single_matrix single_matrix;

typedef struct mixed_backend {
  /* Values (float)(scale a_ij). The block may be released afterwards. */
  status (*matrix_create)(device *d, const csr_block *a, double scale, single_matrix **out);
  void (*matrix_release)(device *d, single_matrix **a);
  void (*matrix_describe)(const single_matrix *a, matrix_facts *out);

  status (*pack)(device *d, const halo *h, single_vec x);
  status (*unpack)(device *d, const halo *h, single_vec x);

  /* to_i = (float)(c from_i), ghosts left alone; from.data.at NULL: zeros, ghosts too */
  status (*narrow)(device *d, double c, vec from, single_vec to);
  /* x_i = fma(c, e_i, x_i) in double */
  status (*correct)(device *d, double c, single_vec e, vec x);

  /* As in solve_backend.h, monitor = residual. */
  status (*sweep)(device *d, const single_matrix *a, part p, single_vec x, single_vec b,
                  single_vec weight, single_vec next, dptr state);
  status (*cg_product)(device *d, const single_matrix *a, part p, single_vec direction,
                       single_vec q, dptr state);
  status (*cg_residual)(device *d, single_vec q, single_vec inverse_diagonal, single_vec r,
                        dptr state);
  /* ... but for this: it does nothing once there is a verdict, pending or not. */
  status (*cg_direction)(device *d, single_vec r, single_vec inverse_diagonal, single_vec direction,
                         single_vec x, dptr state);
} mixed_backend;

#endif
