/* The inside of the OpenMP backend, shared by its files:
 *   omp.c          device, memory, vector operations, the table
 *   omp_matrix.c   storage and its split over threads
 *   omp_rows.c     the rows of a tile times x
 *   omp_packed.c   the same in narrow slices
 *   omp_passes.c   the fused passes over tiles
 *   omp_cg.c       those of conjugate gradients
 *   omp_relax.c    smoothing steps and what else is y + c w (b - A x), and the rows of a colour
 *   omp_single.c   mixed precision
 *   omp_many.c     passes over several vectors
 *   quad_omp.c     quadrature
 *   heat_omp.c     the heat equation
 *   heat_level_omp.c  the grids of its implicit schemes
 *   heat_descent_omp.c  CG on them
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

#include "coupled_backend.h"
#include "heat_backend.h"
#include "host.h"
#include "ode_backend.h"
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
  sell s;         /* of format csr, long rows included, only the boundary tiles are in use */
  csr_block rows; /* format csr; else offset is NULL */
  const char *format;
  lidx *cut; /* [threads + 1] tiles of each worker, of equal traffic */
  lidx boundary_rows;
  lidx segments;       /* over all long rows */
  segment *segment;    /* [segments] */
  lidx *first_segment; /* [long_rows + 1] */
  double *segment_sum; /* [2 segments] scratch of a product: of a x, then of |a||x| */

  /* weights that are a function of row shapes (matrix_weigh) */
  const double *weighed; /* the vector that was named; NULL: none */
  double *shape_weight;  /* [shapes] */
  double *one_weight;    /* [SELL_TILE] all the same, where all shapes have one weight; else NULL */

  /* conjugate gradients in two passes (omp_cg.c) */
  lidx *ahead;          /* [tiles] the last tile that the worker's rows up to here refer to, + 1 */
  unsigned char *early; /* [tiles] whether another worker's rows refer to it */
  struct cg_trial *cg;  /* NULL: x and p are updated apart from the product */
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
  double *y, *z, *q;
  double scale;
  lidx block; /* elements of a sum block */
} pass;

static inline void worker_add(worker *w, int which, double x) { tally_add(&w->sums, which, x); }

/* After additions, before workers_merge: carries, and notes the words in use. By the worker. */
void worker_settle(worker *w);

/* All workers' sums 0 .. count - 1 and counters into the first worker's tally, and the others'
 * cleared. By one thread. */
tally *workers_merge(device *d, int count);

/* Threads for a loop over so many tiles: one, or all of them (team.c). */
int team_size(const device *d, lidx tiles);

typedef void tile_work(worker *w, const pass *p, lidx tile, lidx begin, lidx end);

/* Runs `work` on all tiles of a vector of `rows` entries, by the workers. */
void run_vector(device *d, lidx rows, const pass *p, tile_work *work);

/* The same on the tiles of part `which` of p->m. Sums of the segments of very long rows times p->x
 * are made first, and with `absolute` those of |a||x| too. */
void run_matrix(device *d, part which, const pass *p, int absolute, tile_work *work);

/* The tile where worker t's share of a vector of `rows` entries begins. */
lidx share_begin(const device *d, lidx rows, int t);

/* out[0 ..) = the rows of a tile times x; room for SELL_TILE, places past the last row may be
 * written. Segment sums must be there. */
void tile_product(const matrix *m, lidx tile, const double *x, double *out);
void tile_product_absolute(const matrix *m, lidx tile, const double *x, double *out);
/* The same for a tile of packed slices, but for its long rows (omp_packed.c). */
void packed_rows(const sell *s, lidx tile, const double *x, double *out, int absolute);

/* The weights of a tile's rows: in the vector `weight` (may be NULL: NULL), or where those are a
 * function of the shape, without reading it; `room` for SELL_TILE numbers may be used. */
const double *tile_weights(const matrix *m, lidx tile, const double *weight, double *room);

void segment_product(const matrix *m, lidx which, const double *x, int absolute);

extern const struct mixed_backend MIXED_omp;
extern const quad_backend QUAD_omp;
extern const ode_backend ODE_omp;
extern const coupled_backend COUPLED_omp;
extern const heat_backend HEAT_omp;
extern const heat_level_backend HEAT_LEVEL_omp;

/* heat_descent_omp.c: curvature, advance, descend of that table. */
status heat_curvature_omp(device *d, heat_level *l, double mass, double scale, heat_field p,
                          heat_field r, int64_t from, int64_t to);
status heat_advance_omp(device *d, heat_level *l, double mass, double scale, double alpha,
                        heat_field p, heat_field x, heat_field r);
status heat_descend_omp(device *d, heat_level *l, const heat_descent *s, heat_field p, heat_field x,
                        heat_field r, int64_t from, int64_t to);

status omp_matrix_create(device *d, const csr_block *a, matrix_format format, matrix **out);
status omp_matrix_weigh(device *d, matrix *m, vec weight);
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
status omp_cg_advance(device *d, const matrix *a, part p, vec r, vec inverse_diagonal, vec from,
                      vec to, vec x, vec q, dptr state);
status omp_cg_reduce(device *d, const matrix *a, vec direction, vec q, vec inverse_diagonal, vec r,
                     dptr state);

/* Where the two passes over a's rows find what they need. */
status omp_cg_prepare(device *d, const csr_block *a, matrix *m);

/* Adds the blocks of sum_j p_j q_j, j < n, to sum number `which`. Tiles are whole blocks. */
static inline void add_blocks(worker *w, int which, const double *p, const double *q, lidx n,
                              lidx block) {
  for (lidx j = 0; j < n; j += block) {
    const int count = n - j < block ? n - j : block;
    worker_add(w, which, block_dot(p + j, q + j, count));
  }
}

#endif
