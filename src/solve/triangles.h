/* The lower and upper part of a matrix in the order of colours, on a backend: solves with
 * M = (D + L) D^-1 (D + U), which is SSOR (L and U those of A) and incomplete factors alike. Rows
 * of one colour do not refer to each other, so a solve is one pass per colour, with an exchange of
 * ghosts between passes that rows without ghosts do not wait for. */
#ifndef TRIANGLES_H
#define TRIANGLES_H

#include "colouring.h"
#include "linear.h"

/* The rows of each colour, with some of their entries, as matrices of the backend. */
typedef struct row_sets {
  int32_t colours;
  matrix **a;  /* [colours] */
  dptr *entry; /* [colours] which entries of vectors its rows are */
} row_sets;

typedef struct triangles {
  row_sets lower, upper; /* entries of earlier, and of later colours */
  vec weight;            /* 1 / d_ii; the owner's */
} triangles;

/* value[entries of a]: L and U, in the places of a's entries. `upper` 0: L alone. A failure is left
 * to the caller to agree on. Local. */
status triangles_open(linear_system *s, const csr_block *a, const double *value, const colouring *k,
                      int upper, triangles *out);
void triangles_release(linear_system *s, triangles *t); /* local */

/* z = (D + L)^-1 r. Ghosts of z are overwritten. Collective. */
status triangles_lower(linear_system *s, const triangles *t, vec r, vec z);

/* z becomes (D + U)^-1 D z. Collective. */
status triangles_upper(linear_system *s, const triangles *t, vec z);

#endif
