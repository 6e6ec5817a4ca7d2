/* The inside of the preconditioner amg: smoothed aggregation.
 *   amg.c            the descriptor: hierarchy, cycle
 *   amg_level.c      a level on the backend: matrix, smoother, what goes between levels
 *   amg_aggregate.c  which rows belong together
 *   amg_prolong.c    interpolation, and the host side of a coarser level
 *   amg_coarsest.c   the last level, by a dense factor that every rank has
 *
 * Everything is made on the host, by the threads of a rank, and then handed to the backend. All of
 * it is a function of the global matrix: the same bits on any ranks and threads. Functions are
 * collective, and all ranks leave with the same status, unless they say local. */
#ifndef AMG_H
#define AMG_H

#include "preconditioner.h"

enum { AMG_LEVELS = 24 };

/* A matrix of the hierarchy while it is made. */
typedef struct amg_grid {
  comm *world;
  int threads;
  const csr_block *a;
  const ownership *owned;
  halo plan;        /* in host memory */
  double *diagonal; /* [rows + ghosts] a_ii */
  double *root;     /* [rows + ghosts] sqrt|a_ii|; infinite: nothing is strong */
  double largest;   /* an upper bound of |lambda(D^-1 A)|: the largest row sum of |D^-1 A| */
} amg_grid;

status amg_grid_open(comm *c, int threads, const csr_block *a, const ownership *owned,
                     amg_grid *out);
void amg_grid_release(amg_grid *g); /* local */

/* Fills the ghosts of a word per row from their owners. */
status amg_share(amg_grid *g, uint64_t *word);

/* ---- amg_aggregate.c ---- */

/* The strong connections of each row: local columns, in the order of the row. */
typedef struct amg_strength {
  eidx *offset; /* [rows + 1] */
  lidx *column;
} amg_strength;

/* a_ij, i != j, is strong when |a_ij| > theta sqrt(|a_ii a_jj|). */
status amg_strength_open(const amg_grid *g, double theta, amg_strength *out);
void amg_strength_release(amg_strength *s); /* local */

/* Whether an entry is strong: the rule of the above. Local. */
int amg_is_strong(const amg_grid *g, double theta, lidx i, lidx j, double value);

/* aggregate[rows + ghosts]: the global number of a row's aggregate, -1 where it has none (no strong
 * connection). Aggregates are numbered by their roots. *coarse: rows of the next level, cut so that
 * sum blocks are whole (ownership.h); to be released. */
status amg_aggregate(amg_grid *g, const amg_strength *s, gidx *aggregate, ownership *coarse);

/* ---- amg_prolong.c ---- */

/* P = (I - omega D^-1 A_F) T: T has a 1 per row that has an aggregate; A_F is A without its weak
 * entries, which are added to the diagonal. Global columns. */
status amg_prolongator(amg_grid *g, const amg_strength *s, double theta, double omega,
                       const gidx *aggregate, gidx coarse_rows, csr_rows *out);

/* One step coarser. */
typedef struct amg_coarser {
  ownership owned;       /* of the coarse rows */
  csr_block prolong;     /* own fine rows; columns under `owned` */
  csr_block restriction; /* own coarse rows; fine columns */
  csr_block a;           /* R A P */
} amg_coarser;

/* lambda: of D^-1 A, at least as large as the largest. out->owned.rows is 0, and nothing else
 * there, where nothing can be made coarser. */
status amg_coarsen(amg_grid *g, double theta, double lambda, amg_coarser *out);
void amg_coarser_release(amg_coarser *c); /* local */

/* ---- amg_coarsest.c ---- */

typedef struct amg_dense {
  int n, lu;  /* LU where the matrix is not symmetric */
  int mean;   /* constants are the null space: the mean is left out */
  gidx first; /* own rows */
  lidx rows;
  double *factor; /* [n n] */
  int *pivot;     /* [n] of an LU */
  int64_t *word;  /* [n] the bits of b, while ranks bring theirs together */
  double *whole;  /* [n] b, then x */
  double *own;    /* [rows] */
} amg_dense;

enum { AMG_DENSE_MAX = 1024 };

status amg_dense_open(const amg_grid *g, int symmetric, amg_dense *out);
/* x = A^-1 b, or a generalised inverse where A is singular. Ghosts are not filled. */
status amg_dense_solve(linear_system *s, amg_dense *d, vec b, vec x);
void amg_dense_release(amg_dense *d); /* local */

#endif
