/* amg: smoothed aggregation, one V-cycle on A z = r from z = 0.
 *
 * Set up on the host, on all ranks and threads (amg_aggregate.c, amg_prolong.c), level by level
 * until at most COARSEST rows are left, which a dense factor solves (amg_coarsest.c), or until
 * aggregates no longer make the problem smaller (by a tenth); then smoothing is all there is on
 * that level, and the log says so. The cycle runs on the backend: each level is a linear system of
 * its own there, with matrices to and from the next one, in the backend's storage.
 *
 * Smoother: steps x += c_k D^-1 (b - A x), two on the finest level and four on the others, 1 / c_k
 * the zeros of the Chebyshev polynomial on [lowest lambda, lambda], lambda a bound of the largest
 * eigenvalue of D^-1 A: 1.1 times what LANCZOS steps find, or the largest row sum of |D^-1 A| where
 * that is less or A is not symmetric. The same polynomial before and after, R = P^T, so M is
 * symmetric, and positive definite where A is.
 *
 * Cost of a cycle: on each level twice as many products with A as steps, one with P and one with R.
 * Sources: Vanek, Mandel, Brezina, Computing 56 (1996) 179; Bell, Dalton, Olson, SIAM J. Sci.
 * Comput. 34 (2012) C123; Adams, Brezina, Hu, Tuminaro, J. Comput. Phys. 188 (2003) 593
 * (Chebyshev).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "amg.h"
#include "elementary.h"
#include "lanczos.h"
#include "log.h"
#include "memory.h"

enum { LANCZOS = 10, COARSEST = 256, DEGREE_MAX = 4 };

/* Steps, and what part of the spectrum they smooth: coarser levels see to what is below. Coarser
 * levels cost little, and better smoothing there keeps counts from growing with the levels.
 * Measured on Poisson's matrix, iterations for 32^3, 64^3, 100^3 and 300^2 rows: 9 11 12 12 with
 * two steps on all levels, 9 10 10 11 so; on the finest level 0.2 to 0.3 make a difference of one
 * at most. */
typedef struct smoothing {
  int degree;
  double lowest;
} smoothing;
static const smoothing FINEST = {2, 0.25}, COARSER = {4, 0.15};

/* Strength of connection on the finest level; half of that on each next one (Vanek et al., 4.1). */
static const double THETA = 0.08;

typedef struct amg_level {
  linear_system *s, own;  /* s: the caller's on level 0, else own */
  linear_system up, down; /* P and R between this level and the next coarser one */
  ownership owned;
  vec weight; /* 1 / a_ii */
  vec b, x;   /* not on level 0 */
  vec t, r;   /* work space */
  int degree;
  double factor[DEGREE_MAX]; /* c_k */
} amg_level;

typedef struct amg {
  int levels;
  int64_t entries[AMG_LEVELS]; /* of this rank, then of all */
  amg_level level[AMG_LEVELS];
  amg_dense dense; /* dense.n is 0 where there is none */
} amg;

/* ---- the cycle ---- */

typedef struct relaxing {
  linear_system *s;
  vec x;
  double c;
  vec w, b, y, out;
} relaxing;

static status relax_part(void *context, part p) {
  const relaxing *r = context;
  linear_system *s = r->s;
  return s->kernels->solve->relax(s->place, s->a, p, r->x, r->c, r->w, r->b, r->y, r->out);
}

/* The level's steps on *x; *other is room for another, the two change places. from_zero: *x is not
 * read. */
static status smooth(amg_level *v, vec b, vec *x, vec *other, int from_zero) {
  status rc = STATUS_OK;
  for (int k = 0; k < v->degree; k++) {
    relaxing r = {
        .s = v->s, .x = *x, .c = v->factor[k], .w = v->weight, .b = b, .y = *x, .out = *other};
    if (k == 0 && from_zero) {
      r.x.data.at = r.y.data.at = NULL;
      ATTEMPT(v->s, relax_part(&r, PART_ALL));
    } else {
      TRY(linear_apply(v->s, *x, relax_part, &r));
    }
    const vec turn = *x;
    *x = *other;
    *other = turn;
  }
done:
  return rc;
}

static status cycle(amg *m, int l, vec b, vec x) {
  status rc = STATUS_OK;
  amg_level *v = &m->level[l], *coarse = v + 1;
  vec at = x, other = v->t; /* an even number of changes: it ends in x */
  if (l == m->levels - 1) {
    if (m->dense.n > 0) return amg_dense_solve(v->s, &m->dense, b, x);
    TRY(smooth(v, b, &at, &other, 1));
    TRY(smooth(v, b, &at, &other, 0));
    goto done;
  }
  TRY(smooth(v, b, &at, &other, 1));
  relaxing residual = {.s = v->s, .x = at, .c = 1.0, .b = b, .out = v->r};
  TRY(linear_apply(v->s, at, relax_part, &residual));
  TRY(linear_product(&v->down, v->r, coarse->b));
  TRY(cycle(m, l + 1, coarse->b, coarse->x));
  relaxing correction = {.s = &v->up, .x = coarse->x, .c = -1.0, .y = at, .out = at};
  TRY(linear_apply(&v->up, coarse->x, relax_part, &correction));
  TRY(smooth(v, b, &at, &other, 0));
done:
  return rc;
}

/* A rank's failure is that of all its systems. */
static void spread_failure(amg *m, status failure) {
  for (int l = 0; l < m->levels; l++) {
    m->level[l].own.failure = m->level[l].up.failure = m->level[l].down.failure = failure;
  }
}

static status first_failure(const amg *m) {
  for (int l = 0; l < m->levels; l++) {
    const amg_level *v = &m->level[l];
    const status each[] = {v->own.failure, v->up.failure, v->down.failure};
    for (int i = 0; i < 3; i++) {
      if (each[i] != STATUS_OK) return each[i];
    }
  }
  return STATUS_OK;
}

static status apply(linear_system *s, void *data, vec r, vec z) {
  amg *m = data;
  spread_failure(m, s->failure);
  status rc = cycle(m, 0, r, z);
  ATTEMPT(s, first_failure(m));
  return rc;
}

/* ---- set-up ---- */

static void level_release(linear_system *s, amg_level *v) {
  const backend *k = s->kernels;
  linear_system *each[] = {&v->own, &v->up, &v->down};
  vec *vectors[] = {&v->weight, &v->b, &v->x, &v->t, &v->r};
  for (int i = 0; i < 5; i++) linear_vector_release(s, vectors[i]);
  for (int i = 0; i < 3; i++) {
    const transport_side side = linear_side(each[i]);
    if (each[i]->a != NULL) k->solve->matrix_release(s->place, &each[i]->a);
    if (each[i]->kernels != NULL) transport_release(&side);
  }
  ownership_release(&v->owned);
}

static void close(linear_system *s, void **data) {
  amg *m = *data;
  if (m == NULL) return;
  for (int l = 0; l < AMG_LEVELS; l++) level_release(s, &m->level[l]);
  amg_dense_release(&m->dense);
  alloc_free(data);
}

/* A matrix on the backend of `s`, applied to vectors under `columns`. */
static status system_open(linear_system *s, const csr_block *a, const ownership *columns,
                          gidx global_rows, linear_system *out) {
  status rc = STATUS_OK;
  *out = (linear_system){.kernels = s->kernels,
                         .place = s->place,
                         .world = s->world,
                         .timers = s->timers,
                         .global_rows = global_rows,
                         .first_row = a->first_row,
                         .rows = a->rows,
                         .ghosts = a->ghosts};
  TRY(halo_create(s->world, columns, a->ghost, a->ghosts, &out->plan));
  TRY(comm_agree(s->world, s->kernels->solve->matrix_create(s->place, a, FORMAT_AUTO, &out->a)));
done:
  return rc;
}

/* A vector of this level with room for so many ghosts. Local. */
static status vector(const linear_system *like, lidx ghosts, const char *what, vec *out) {
  linear_system s = *like;
  s.ghosts = ghosts;
  return linear_vector(&s, what, out);
}

static lidx most(lidx a, lidx b) { return a > b ? a : b; }

/* Zeros of the Chebyshev polynomial on [lowest lambda, lambda], inverted. */
static void choose_factors(amg_level *v, double lambda) {
  const smoothing *p = v->s == &v->own ? &COARSER : &FINEST;
  const double middle = 0.5 * (1.0 + p->lowest) * lambda, half = 0.5 * (1.0 - p->lowest) * lambda;
  v->degree = p->degree;
  for (int k = 0; k < v->degree; k++) {
    const double angle = (2.0 * k + 1.0) / (2.0 * v->degree) * 0x1.921fb54442d18p+1;
    v->factor[k] = 1.0 / fma(half, elementary_cos(angle), middle);
  }
}

/* 1 / a_ii, and the smoother. *lambda: the bound that is used. */
static status open_smoother(amg_level *v, const amg_grid *g, int symmetric, double *lambda) {
  status rc = STATUS_OK;
  linear_system *s = v->s;
  double *inverse = NULL;
  rc = alloc_array(&inverse, g->a->rows, sizeof *inverse, "inverse diagonal");
  for (lidx i = 0; rc == STATUS_OK && i < g->a->rows; i++) inverse[i] = 1.0 / g->diagonal[i];
  if (rc == STATUS_OK) rc = linear_vector(s, "inverse diagonal", &v->weight);
  if (rc == STATUS_OK) rc = linear_load(s, v->weight, inverse);
  TRY(comm_agree(s->world, rc));
  *lambda = g->largest;
  if (symmetric) {
    lanczos_interval found;
    TRY(lanczos_extremes(s, v->weight, LANCZOS, &found));
    TRY(comm_agree(s->world, s->failure));
    if (found.steps > 0 && 1.1 * found.high < *lambda && found.high > 0.0) {
      *lambda = 1.1 * found.high;
    }
  }
  choose_factors(v, *lambda);
done:
  alloc_free(&inverse);
  return rc;
}

/* P, R and the next level's system, from the host's side of them. */
static status open_coarser(amg_level *v, amg_coarser *c) {
  status rc = STATUS_OK;
  amg_level *next = v + 1;
  const gidx rows = v->s->global_rows, coarse = c->owned.rows;
  next->owned = c->owned;
  memset(&c->owned, 0, sizeof c->owned);
  next->s = &next->own;
  TRY(system_open(v->s, &c->prolong, &next->owned, rows, &v->up));
  TRY(system_open(v->s, &c->restriction, &v->owned, coarse, &v->down));
  TRY(system_open(v->s, &c->a, &next->owned, coarse, &next->own));
done:
  return rc;
}

/* Work space, when the ghosts of all matrices are known. Local. */
static status open_vectors(amg *m) {
  status rc = STATUS_OK;
  for (int l = 0; l < m->levels; l++) {
    amg_level *v = &m->level[l];
    const lidx ghosts = l > 0 ? most(v->s->ghosts, v[-1].up.ghosts) : v->s->ghosts;
    TRY(vector(v->s, v->s->ghosts, "a level's iterate", &v->t));
    if (l > 0) TRY(vector(v->s, 0, "a level's right-hand side", &v->b));
    if (l > 0) TRY(vector(v->s, ghosts, "a level's solution", &v->x));
    if (l + 1 < m->levels) TRY(vector(v->s, v->down.ghosts, "a level's residual", &v->r));
  }
done:
  return rc;
}

static status zero_diagonal(int level) {
  return fail(STATUS_DIVERGED,
              "amg: level %d has a zero or infinite entry on its diagonal: the matrix is not "
              "definite; another preconditioner is needed",
              level);
}

/* Levels from l on; a: the matrix of level l, which is replaced by that of the next. */
static status build(amg *m, const preconditioner_request *q) {
  status rc = STATUS_OK;
  amg_grid g;
  amg_coarser made, next;
  const csr_block *a = q->a;
  double lambda;
  memset(&g, 0, sizeof g);
  memset(&made, 0, sizeof made);
  memset(&next, 0, sizeof next);
  for (int l = 0;; l++) {
    amg_level *v = &m->level[l];
    m->levels = l + 1;
    m->entries[l] = a->offset[a->rows];
    TRY(amg_grid_open(v->s->world, q->threads, a, &v->owned, &g));
    if (!(g.largest < INFINITY)) {
      rc = comm_agree(v->s->world, zero_diagonal(l));
      goto done;
    }
    if (g.owned->rows <= COARSEST || (l == AMG_LEVELS - 1 && g.owned->rows <= AMG_DENSE_MAX)) {
      TRY(amg_dense_open(&g, q->symmetric, &m->dense));
      break;
    }
    TRY(open_smoother(v, &g, q->symmetric, &lambda));
    if (l == AMG_LEVELS - 1) break;
    TRY(amg_coarsen(&g, ldexp(THETA, -l), lambda, &next));
    if (next.owned.rows == 0) {
      if (g.owned->rows <= AMG_DENSE_MAX) {
        TRY(amg_dense_open(&g, q->symmetric, &m->dense));
      }
      break;
    }
    amg_grid_release(&g);
    amg_coarser_release(&made);
    made = next;
    memset(&next, 0, sizeof next);
    TRY(open_coarser(v, &made));
    a = &made.a;
  }
done:
  amg_grid_release(&g);
  amg_coarser_release(&made);
  amg_coarser_release(&next);
  return rc;
}

static void keep_time(amg *m, timers *t) {
  for (int l = 0; l < m->levels; l++) {
    amg_level *v = &m->level[l];
    v->own.timers = v->up.timers = v->down.timers = t;
  }
}

/* One line: rows of the levels, entries of all over those of the matrix. */
static status describe(linear_system *s, amg *m) {
  status rc = STATUS_OK;
  char text[AMG_LEVELS * 21 + 1] = "";
  double all = 0.0;
  const int last = m->levels - 1;
  size_t used = 0;
  TRY(comm_sum_i64(s->world, m->entries, m->levels));
  for (int l = 0; l < m->levels; l++) {
    used += (size_t)snprintf(text + used, sizeof text - used, " %lld",
                             (long long)m->level[l].s->global_rows);
    all += (double)m->entries[l];
  }
  if (comm_rank(s->world) != 0) goto done;
  log_info("amg: %d level%s of%s rows, %.2f times the entries of the matrix", m->levels,
           last == 0 ? "" : "s", text, all / (double)(m->entries[0] > 0 ? m->entries[0] : 1));
  if (m->dense.n == 0) {
    log_warning("amg: level %d, of %lld rows, has too few strong connections to be made coarser: "
                "it is smoothed, no more",
                last, (long long)m->level[last].s->global_rows);
  }
done:
  return rc;
}

static status copy_ownership(const ownership *from, ownership *to) {
  const int64_t count = (int64_t)from->size + 1;
  *to = *from;
  status rc = alloc_array(&to->first, count, sizeof *to->first, "ownership");
  if (rc == STATUS_OK) memcpy(to->first, from->first, (size_t)count * sizeof *to->first);
  return rc;
}

/* About what a rank needs while levels are made and kept: A P and P with its transpose are the most
 * of it. Local. */
static double bytes_to_make(const csr_block *a) {
  return 40.0 * (double)a->offset[a->rows] + 100.0 * (double)a->rows;
}

static status open(linear_system *s, const preconditioner_request *q, void **out) {
  status rc = STATUS_OK;
  timers *const clock = s->timers;
  amg *m = NULL;
  TRY(comm_agree(s->world, alloc_zeroed(out, 1, sizeof *m, "amg")));
  m = *out;
  m->level[0].s = s;
  linear_phase(s, PHASE_SETUP);
  s->timers = NULL; /* products are set-up here */
  TRY(comm_agree(s->world, copy_ownership(q->owned, &m->level[0].owned)));
  TRY(memory_check(s->world, bytes_to_make(q->a), "the hierarchy of amg"));
  TRY(build(m, q));
  TRY(comm_agree(s->world, open_vectors(m)));
  if (!q->quiet) TRY(describe(s, m));
done:
  s->timers = clock;
  if (m != NULL) keep_time(m, clock);
  return rc;
}

const preconditioner PRECONDITIONER_amg = {
    .name = "amg",
    .help = "smoothed aggregation multigrid: iterations that hardly grow with the size",
    .source = "Vanek, Mandel, Brezina, Computing 56 (1996) 179",
    .flags = PRECONDITIONER_DIVIDES_BY_DIAGONAL | PRECONDITIONER_KEEPS_SYMMETRY,
    .open = open,
    .apply = apply,
    .close = close};
