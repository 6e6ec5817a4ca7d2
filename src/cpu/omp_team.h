/* The inside of the OpenMP backend, shared by its files:
 *   omp.c          device, memory, vector operations, the table
 *   omp_matrix.c   storage, its split over threads, and the rows of a tile
 *   omp_passes.c   the fused passes over tiles
 *   omp_relax.c    smoothing steps and what else is y + c w (b - A x), and the rows of a colour
 *   omp_many.c     passes over several vectors
 *   quad_omp.c     quadrature
 *   heat_omp.c     the heat equation
 *   heat_level_omp.c  the grids of its implicit schemes
 *
 * Every pass is a function of one tile of 256 rows. A worker owns a contiguous run of tiles for
 * life: it touches their memory first, computes them, and adds their sums to its own accumulator;
 * so no two threads write the same line, and the sums do not depend on who computed what.
 *
 * Accumulators are brought together by one thread, at every judged step: a fixed cost that grows
 * with the threads. So each worker leaves its own carried, and says which words of it are not zero:
 * of the nine lines of a sum, three or four have to be fetched (bench/judge.c). */
#ifndef OMP_TEAM_H
#define OMP_TEAM_H

#include "heat_backend.h"
#include "host.h"
#include "quad_backend.h"
#include "sell.h"
#include "tally.h"

typedef struct worker {
  _Alignas(64) tally sums;
  uint64_t largest; /* max_abs: bits of the largest |x| */
  int number;       /* 0 .. threads - 1 */
  /* of settled ones: words outside [low, high) are 0 */
  unsigned char low[SUMS_MAX], high[SUMS_MAX];
  char padding[64]; /* nobody's line is fetched along with a neighbour's */
} worker;

struct device {
  int threads;
  worker *worker; /* [threads] */
  lidx rows;      /* vectors of this length are split as the matrix is, */
  lidx *cut;      /* [threads + 1] in tiles; others evenly */
};

/* One part, of up to ROW_SEGMENT entries, of a row above ROW_SEGMENTED. */
typedef struct segment {
  lidx row; /* position in sell.long_row */
  lidx number;
} segment;

struct matrix {
  sell s;
  lidx *cut; /* [threads + 1] tiles of each worker, of equal traffic */
  lidx boundary_rows;
  lidx segments;       /* over all long rows */
  segment *segment;    /* [segments] */
  lidx *first_segment; /* [long_rows + 1] */
  double *segment_sum; /* [2 segments] scratch of a product: of a x, then of |a||x| */
};

/* What a pass works on; each pass says which vector is which. */
typedef struct pass {
  const matrix *m;
  const solve_state *state;
  const double *x, *b, *weight;
  const lidx *set; /* relax_set: the vectors' entries that the matrix rows are */
  const vec *many; /* [count] */
  const double *factor;
  int count;
  double *y, *z;
  double scale;
  lidx block; /* elements of a sum block */
} pass;

static inline void worker_add(worker *w, int which, double x) { tally_add(&w->sums, which, x); }

/* After additions, before workers_merge: carries, and notes the words in use. By the worker. */
void worker_settle(worker *w);

/* All workers' sums 0 .. count - 1 and counters into the first worker's tally, and the others'
 * cleared. By one thread. */
tally *workers_merge(device *d, int count);

typedef void tile_work(worker *w, const pass *p, lidx tile, lidx begin, lidx end);

/* Runs `work` on all tiles of a vector of `rows` entries, by the workers. */
void run_vector(device *d, lidx rows, const pass *p, tile_work *work);

/* The same on the tiles of part `which` of p->m. Sums of the segments of very long rows times p->x
 * are made first, and with `absolute` those of |a||x| too. */
void run_matrix(device *d, part which, const pass *p, int absolute, tile_work *work);

/* The tile where worker t's share of a vector of `rows` entries begins. */
lidx share_begin(const device *d, lidx rows, int t);

/* out[0 .. SELL_TILE) = the rows of a tile times x; places past the last row get +0.0. Segment sums
 * must be there. */
void tile_product(const matrix *m, lidx tile, const double *x, double *out);
void tile_product_absolute(const matrix *m, lidx tile, const double *x, double *out);
void segment_product(const matrix *m, lidx which, const double *x, int absolute);

extern const quad_backend QUAD_omp;
extern const heat_backend HEAT_omp;
extern const heat_level_backend HEAT_LEVEL_omp;

status omp_matrix_create(device *d, const csr_block *a, matrix **out);
void omp_matrix_release(device *d, matrix **m);
void omp_matrix_describe(const matrix *m, matrix_facts *out);

status omp_dot(device *d, vec x, vec y, double scale);
status omp_dots(device *d, int count, const vec *x, vec y, double scale);
status omp_combine(device *d, double a, vec x, double b, vec y, vec out);
status omp_multiply(device *d, vec w, vec x, vec out);
status omp_accumulate(device *d, int count, const double *a, const vec *x, vec out);
status omp_product(device *d, const matrix *m, part p, vec x, vec y);
status omp_relax(device *d, const matrix *m, part p, vec x, double c, vec w, vec b, vec y, vec out);
status omp_relax_set(device *d, const matrix *m, part p, dptr set, vec w, vec b, int keep, vec x);
status omp_residual(device *d, const matrix *m, part p, vec x, vec b, vec r, double scale);
status omp_sweep(device *d, const matrix *m, part p, vec x, vec b, vec weight, vec next,
                 dptr state);
status omp_cg_product(device *d, const matrix *m, part p, vec direction, vec q, dptr state);
status omp_cg_residual(device *d, vec q, vec inverse_diagonal, vec r, dptr state);
status omp_cg_direction(device *d, vec r, vec inverse_diagonal, vec direction, vec x, dptr state);

#endif
