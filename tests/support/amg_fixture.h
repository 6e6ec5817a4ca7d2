/* Matrices for tests of amg, made row by row as functions of global indices, on any communicator
 * and backend. */
#ifndef AMG_FIXTURE_H
#define AMG_FIXTURE_H

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "amg.h"
#include "linear.h"
#include "problems.h"
#include "test.h"

/* A five-point matrix on n x n cells: a coefficient per face between cells. */
typedef enum amg_kind {
  KIND_POISSON,     /* 1; faces at the edge to a wall */
  KIND_ANISOTROPIC, /* 0.1 in y */
  KIND_JUMPS,       /* harmonic means of 1 and 1000, by squares of 8 x 8 cells */
  KIND_NEUMANN,     /* no walls: constants are the null space */
  KIND_PARTS,       /* no walls, and two halves that do not touch: singular twice */
  KIND_HELD,        /* every 7th cell touches none: its row has a diagonal only */
  KIND_DIAGONAL,    /* no faces at all */
  KIND_WIND,        /* not symmetric: more from the west than from the east */
  KINDS
} amg_kind;

static const char *const AMG_KIND[] = {"poisson", "anisotropic", "jumps",    "neumann",
                                       "parts",   "held",        "diagonal", "wind"};

static inline double amg_cell(amg_kind kind, gidx x, gidx y) {
  return kind == KIND_JUMPS && (x / 8 + y / 8) % 2 == 1 ? 1000.0 : 1.0;
}

/* Of the face between cell (x, y) and its neighbour in direction d (0 west, 1 east, 2 south, 3
 * north); *wall: there is none. */
static inline double amg_face(amg_kind kind, gidx n, gidx x, gidx y, int d, int *wall) {
  const gidx u = x + (d == 1) - (d == 0), v = y + (d == 3) - (d == 2);
  *wall = u < 0 || v < 0 || u >= n || v >= n;
  if (*wall)
    return kind == KIND_NEUMANN || kind == KIND_PARTS ? 0.0
           : kind == KIND_ANISOTROPIC && d > 1        ? 0.1
                                                      : amg_cell(kind, x, y);
  if (kind == KIND_DIAGONAL) return 0.0;
  if (kind == KIND_HELD && ((x + y * n) % 7 == 0 || (u + v * n) % 7 == 0)) return 0.0;
  if (kind == KIND_PARTS && (y < n / 2) != (v < n / 2)) return 0.0;
  if (kind == KIND_ANISOTROPIC) return d > 1 ? 0.1 : 1.0;
  if (kind == KIND_WIND) return d == 0 ? 1.5 : 1.0;
  const double here = amg_cell(kind, x, y), there = amg_cell(kind, u, v);
  return 2.0 * here * there / (here + there);
}

static inline void amg_rows(amg_kind kind, gidx n, const ownership *o, csr_rows *out) {
  const gidx first = ownership_begin(o);
  const lidx rows = (lidx)(ownership_end(o) - first);
  eidx at = 0;
  *out =
      (csr_rows){.global_rows = n * n, .global_columns = n * n, .first_row = first, .rows = rows};
  assert_ok(alloc_array(&out->offset, (int64_t)rows + 1, sizeof *out->offset, "offsets"));
  assert_ok(alloc_array(&out->column, 5 * (int64_t)rows, sizeof *out->column, "columns"));
  assert_ok(alloc_array(&out->value, 5 * (int64_t)rows, sizeof *out->value, "values"));
  for (lidx i = 0; i < rows; i++) {
    static const int order[] = {2, 0, -1, 1, 3};
    const gidx gi = first + i, x = gi % n, y = gi / n;
    double diagonal = 0.0;
    eidx middle = at;
    out->offset[i] = at;
    for (int k = 0; k < 5; k++) {
      int wall;
      if (order[k] < 0) {
        middle = at++;
        continue;
      }
      const double c = amg_face(kind, n, x, y, order[k], &wall);
      diagonal += c;
      if (wall || c == 0.0) continue;
      out->column[at] = gi + (order[k] == 0 ? -1 : order[k] == 1 ? 1 : order[k] == 2 ? -n : n);
      out->value[at++] = -c;
    }
    out->column[middle] = gi;
    out->value[middle] = diagonal == 0.0 ? 2.0 + (double)(gi % 3) : diagonal;
  }
  out->offset[rows] = at;
}

/* A system on a backend, with what it was made from. */
typedef struct amg_case {
  comm *c;
  ownership owned;
  csr_block a;
  linear_system s;
  int threads, symmetric;
} amg_case;

/* problem NULL: `kind`. blocks: ownership at whole sum blocks, as in the product. */
static inline void amg_case_open(comm *c, const backend *b, int threads, const char *problem,
                                 amg_kind kind, int64_t n, amg_case *k) {
  csr_rows rows;
  memset(k, 0, sizeof *k);
  k->c = c;
  k->threads = threads;
  k->symmetric = problem != NULL ? strcmp(problem, "convdiff2d") != 0 : kind != KIND_WIND;
  if (problem != NULL) {
    const problem_request request = {
        .name = problem, .n = &n, .n_count = 1, .peclet = 0.5, .threads = threads};
    assert_ok(problem_build(c, &request, &rows, &k->owned));
  } else {
    assert_ok(ownership_even(c, n * n, &k->owned));
    amg_rows(kind, n, &k->owned, &rows);
  }
  assert_ok(csr_localise(threads, &rows, &k->a));
  linear_system *s = &k->s;
  *s = (linear_system){.kernels = b,
                       .world = c,
                       .global_rows = k->owned.rows,
                       .first_row = k->a.first_row,
                       .rows = k->a.rows,
                       .ghosts = k->a.ghosts};
  const device_request where = {.threads = threads};
  assert_ok(b->open(&where, &s->place));
  assert_ok(halo_create(c, &k->owned, k->a.ghost, k->a.ghosts, &s->plan));
  assert_ok(b->solve->matrix_create(s->place, &k->a, &s->a));
}

static inline void amg_case_close(amg_case *k) {
  const transport_side side = linear_side(&k->s);
  k->s.kernels->solve->matrix_release(k->s.place, &k->s.a);
  transport_release(&side);
  k->s.kernels->close(&k->s.place);
  csr_block_release(&k->a);
  ownership_release(&k->owned);
}

static inline preconditioner_request amg_request(const amg_case *k) {
  return (preconditioner_request){
      .a = &k->a, .owned = &k->owned, .symmetric = k->symmetric, .threads = k->threads, .seed = 1};
}

/* v_i = a function of seed and global index in (-1, 1); constant: less its mean over all rows. */
static inline void amg_random(amg_case *k, uint64_t seed, int constant, vec *v) {
  double *x, mean = 0.0;
  for (gidx i = 0; constant && i < k->owned.rows; i++) mean += problem_random_rhs(seed, i);
  mean /= (double)k->owned.rows;
  assert_ok(alloc_array(&x, k->s.rows, sizeof *x, "numbers"));
  for (lidx i = 0; i < k->s.rows; i++) x[i] = problem_random_rhs(seed, k->s.first_row + i) - mean;
  assert_ok(linear_vector(&k->s, "numbers", v));
  assert_ok(linear_load(&k->s, *v, x));
  alloc_free(&x);
}

static inline double amg_dot(amg_case *k, vec x, vec y) {
  double sum;
  assert_ok(k->s.kernels->dot(k->s.place, x, y, 1.0));
  assert_ok(k->s.kernels->sums(k->s.place, k->c, 1, NULL, &sum));
  return sum;
}

#endif
