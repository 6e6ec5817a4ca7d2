/* Geometric multigrid on the grid of a heat run: the hierarchy of levels (levels.c), its coarsest
 * system (coarsest.c) and the cycle (multigrid.c). Functions are collective unless they say local.
 */
#ifndef MULTIGRID_H
#define MULTIGRID_H

#include "scheme.h"

enum { HEAT_LEVELS = 48, HEAT_DENSE_MAX = 1024, HEAT_DENSE_ENOUGH = 128 };

/* A grid of the hierarchy. Arrays of coordinates are whole, on every rank. */
typedef struct heat_stratum {
  heat_slab slab;
  ownership owned; /* planes */
  halo near, far;  /* one plane, two planes */
  heat_level *level;
  heat_work *work;      /* packs and unpacks its planes */
  int own_work;         /* to be released with it */
  double *x[HEAT_DIMS]; /* [n + 1] places, in spacings of the finest grid;
                           the last beyond a periodic end */
  double *lo[HEAT_DIMS], *hi[HEAT_DIMS], *robin[HEAT_DIMS];
  double *width[HEAT_DIMS];                  /* [n] of a point's cell */
  int64_t *at[HEAT_DIMS], *below[HEAT_DIMS]; /* to the next finer level */
  double *tap[HEAT_DIMS], *part[HEAT_DIMS];
  double *face[HEAT_DIMS];  /* NULL: constant alpha */
  double *share[HEAT_DIMS]; /* to the next coarser level; NULL likewise */
  int coarser[HEAT_DIMS];   /* whether the next level has half the points */
  double reach;             /* largest sum of coefficients to neighbours */
  double lowest;            /* of what is smoothed, over the largest */
  heat_field r, z, w, q;    /* right-hand side, iterate, its other buffer,
                               residual */
} heat_stratum;

/* The whole coarsest level on every rank: its matrix, and its Cholesky factor L (by rows). */
typedef struct heat_dense {
  int points;
  int varies; /* alpha: faces count */
  double *face[HEAT_DIMS];
  double *factor; /* [points (points + 1) / 2] */
  double *volume; /* [points] 0: held */
  double *b;      /* [points] */
  int64_t *words; /* [points] to gather b */
} heat_dense;

typedef struct heat_multigrid {
  int levels;
  heat_stratum level[HEAT_LEVELS];
  heat_dense dense;
  double mass, scale; /* of the operator; NaN: not set */
  int singular;       /* constants are its null space when mass is 0 */
  double *host;       /* a coarsest field */
} heat_multigrid;

status heat_multigrid_open(heat_run *run, heat_multigrid *m);
void heat_multigrid_close(heat_run *run, heat_multigrid *m); /* local; accepts a zeroed one */

/* The operator mass + scale K from now on. Local. */
status heat_multigrid_set(heat_run *run, heat_multigrid *m, double mass, double scale);

/* level[0].z = one V-cycle on level[0].r, from zero: a symmetric positive definite operator in the
 * inner product of dot(). */
status heat_multigrid_cycle(heat_run *run, heat_multigrid *m);

/* out = A u, or r - A u, on a level; the halo of u is exchanged meanwhile. */
status heat_level_product(heat_run *run, heat_multigrid *m, int level, heat_field u, heat_field r,
                          heat_field out);

/* Fills one plane of the halo of u on each side, in two parts. */
status heat_level_exchange_begin(heat_run *run, heat_stratum *s, heat_field u);
status heat_level_exchange_end(heat_run *run, heat_stratum *s, heat_field u);

/* ---- coarsest.c ---- */

status heat_dense_open(heat_run *run, heat_multigrid *m);
void heat_dense_close(heat_multigrid *m); /* local */
status heat_dense_factor(heat_multigrid *m);
/* z of the coarsest level, halo included, from its r. */
status heat_dense_solve(heat_run *run, heat_multigrid *m);

#endif
