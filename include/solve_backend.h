/* Sparse linear systems on a backend (backend.h): the matrix, its products, and the fused passes of
 * the solvers.
 *
 * `part` selects 256-row tiles: a matrix operation is run as INTERIOR while halos travel, then
 * BOUNDARY; the results do not depend on the split. x of a matrix operation has its ghosts filled
 * before BOUNDARY runs. Vectors of one operation have the same sum block. Functions are local,
 * except judge(). */
#ifndef SOLVE_BACKEND_H
#define SOLVE_BACKEND_H

#include "backend.h"
#include "csr.h"
#include "solve_state.h"

typedef struct matrix matrix; /* a rank's rows in the backend's storage */

/* How the rows are kept; the bits of results do not depend on it. A backend may know fewer formats:
 * then it takes its own for those it does not know, and matrix_facts says so.
 *   AUTO     row shapes where tiles have few, narrow columns and values where they fit elsewhere
 *   CSR      offsets, columns, values: 12 bytes an entry, 8 a row
 *   SELL     sell.h, columns of four bytes and values of eight
 *   PACKED   sell.h, the narrowest columns and values that fit
 *   PATTERN  row shapes (pattern.h) where tiles have few, SELL elsewhere */
typedef enum matrix_format {
  FORMAT_AUTO,
  FORMAT_CSR,
  FORMAT_SELL,
  FORMAT_PACKED,
  FORMAT_PATTERN
} matrix_format;

typedef struct matrix_facts {
  const char *format;     /* "csr", "sell-8", "pattern", "pattern + packed-8", ... */
  int64_t bytes;          /* storage, this rank */
  int64_t sweep_bytes;    /* a sweep's or product's matrix and index traffic, this rank */
  int64_t streamed_bytes; /* that come from the host for it: the device cannot hold them */
  lidx interior_rows, boundary_rows, long_rows;
  lidx shapes, shape_rows; /* distinct row shapes in use, and the rows kept by them */
} matrix_facts;

typedef struct solve_backend {
  int lag; /* judged steps the host may run ahead of look() */

  /* The block may be released afterwards. */
  status (*matrix_create)(device *d, const csr_block *a, matrix_format format, matrix **out);
  void (*matrix_release)(device *d, matrix **a);
  void (*matrix_describe)(const matrix *a, matrix_facts *out);

  /* Says that `weight` (of sweeps; of CG, the inverse diagonal) keeps its numbers from now on, and
   * its memory, until another is named or none (data.at NULL). Where rows of one shape have one
   * weight, an operation given this vector need not read it. The bits stay the same. NULL: not
   * there. Local. */
  status (*matrix_weigh)(device *d, matrix *a, vec weight);

  /* y = A x */
  status (*product)(device *d, const matrix *a, part p, vec x, vec y);

  /* r = b - A x (r.data.at may be NULL: not stored);
   * sum 0: (scale r_i)^2, sum 1: (scale (|A||x|)_i)^2 */
  status (*residual)(device *d, const matrix *a, part p, vec x, vec b, vec r, double scale);

  /* out = y + c w (b - A x): with s = A x, r = b - s (b.data.at NULL: -s), f = c w_i (w.data.at
   * NULL: c), out_i = fma(f, r, y_i) (y.data.at NULL: f r). x.data.at NULL: s = 0, A is not read.
   * out may be b, w or y, not x. No sums; A need not be square. */
  status (*relax)(device *d, const matrix *a, part p, vec x, double c, vec w, vec b, vec y,
                  vec out);

  /* Rows of a set (of one colour), in place. Row k of A is that of entry i = set[k] of the vectors:
   * x_i = fma(w_i, b_i - (A x)_i, x_i), without x_i last where keep is 0: w_i (b_i - (A x)_i) + 0.
   * set: lidx of A's rows, ascending, in the backend's memory. No row of A refers to another entry
   * of the set. b may be x, or have NULL data: 0. No sums. */
  status (*relax_set)(device *d, const matrix *a, part p, dptr set, vec w, vec b, int keep, vec x);

  /* One Jacobi or JOR sweep: r = b - A x; next = fma(weight, r, x), weight = omega / a_ii.
   * monitor = residual: sum 0: (scale r_i)^2.
   * monitor = update:   sum 0: (update_scale (next_i - x_i))^2, sum 1: (update_scale next_i)^2.
   * counter CHANGED: entries whose bits changed. Does nothing when the state has a verdict. */
  status (*sweep)(device *d, const matrix *a, part p, vec x, vec b, vec weight, vec next,
                  dptr state);

  /* Preconditioned CG, z = inverse_diagonal * r (or r where inverse_diagonal.data.at is NULL).
   * product:   q = A p; sum 0: (scale p_i)(scale q_i)
   * residual:  r = fma(-alpha, q, r); sum 0: (scale r_i)(scale z_i), sum 1: (scale r_i)^2
   * direction: x = fma(alpha, p, x); p = fma(beta, p, z)
   * product and residual do nothing when the state has a verdict; direction does nothing unless
   * `pending` is set: the iterate of the step that brought the verdict is still made, later ones
   * are not. */
  status (*cg_product)(device *d, const matrix *a, part p, vec direction, vec q, dptr state);
  status (*cg_residual)(device *d, vec q, vec inverse_diagonal, vec r, dptr state);
  status (*cg_direction)(device *d, vec r, vec inverse_diagonal, vec direction, vec x, dptr state);

  /* CG in two passes; NULL where a backend has only those above.
   *
   * advance: where `pending` is set, x = fma(alpha, from, x); to = fma(beta, from, z), the ghosts
   * of `to` included, from those of r, inverse_diagonal and `from`; then, unless there is a
   * verdict, sum 0: (scale to_i)(scale (A to)_i). Nothing else is written, but that q may receive A
   * to. As a matrix operation it is r's ghosts that must be filled before BOUNDARY runs (those of
   * inverse_diagonal and `from` are there all the time); INTERIOR writes all owned entries of x and
   * `to`. `from` and `to` are one vector unless cg_two_vectors is set: then they are different ones
   * that take turns, and where nothing is pending `to` is not written.
   *
   * reduce: cg_residual with q = A direction, which may be read from q or made again. The ghosts of
   * `direction` are filled. To be called after cg_advance or cg_product with the same vectors. */
  int cg_two_vectors;
  status (*cg_advance)(device *d, const matrix *a, part p, vec r, vec inverse_diagonal, vec from,
                       vec to, vec x, vec q, dptr state);
  status (*cg_reduce)(device *d, const matrix *a, vec direction, vec q, vec inverse_diagonal, vec r,
                      dptr state);

  /* Ends a step: adds the current sums over threads and ranks, rounds each once, and applies the
   * rule `kind` (solve_rules.h) to the state; `stop` != 0 asks all ranks to stop. Clears the sums.
   * Collective. */
  status (*judge)(device *d, comm *c, judge_kind kind, dptr state, int stop);

  /* Copies the state as it was after judged step number `step` (1 = the first since the state was
   * copied in), waiting for it if need be; never longer than the device works: STATUS_BROKEN when
   * that has failed. With several ranks judge() has left the state with the host, so that a device
   * that fails cannot part this rank from the others here. Local. */
  status (*look)(device *d, dptr state, int64_t step, solve_state *out);

  const struct mixed_backend *mixed; /* mixed_backend.h */
} solve_backend;

#endif
