/* A backend: the node-local work of one rank, as a table. `ref` is plain serial loops and the
 * oracle of all parity tests, `omp` the same bits on all cores, `cuda` on a GPU. Drivers (src/solve
 * ...) are written once against this table and never touch backend memory.
 *
 * An operation is here because more than one backend needs its own version of it. Functions are
 * local (they talk to no other rank) except judge() and sums(), which end a step's reduction and
 * are collective. `part` selects 256-row tiles: a matrix operation is run as INTERIOR while halos
 * travel, then BOUNDARY; the results do not depend on the split. Operations with sums add to the
 * device's current sums, which judge() or sums() collects and clears.
 *
 * Vector arguments: x of a matrix operation has its ghosts filled before BOUNDARY runs. */
#ifndef BACKEND_H
#define BACKEND_H

#include "comm.h"
#include "csr.h"
#include "halo.h"
#include "solve_state.h"
#include "space.h"

typedef struct device device; /* an opened backend: threads, or a GPU */
typedef struct matrix matrix; /* a rank's rows in the backend's storage */

typedef enum part { PART_INTERIOR, PART_BOUNDARY, PART_ALL } part;

typedef struct device_request {
  int threads;   /* CPU threads of this rank */
  int node_rank; /* picks the GPU */
  gidx first;    /* global index of local element 0: sums are blocked by global index */
  gidx total;    /* global length: gives the sum block (block_sum.h) */
} device_request;

typedef struct matrix_facts {
  const char *format;  /* "csr", "sell-8", ... */
  int64_t bytes;       /* storage, this rank */
  int64_t sweep_bytes; /* a sweep's or product's matrix and index traffic, this rank */
  lidx interior_rows, boundary_rows, long_rows;
} matrix_facts;

/* What a device is, for the report. */
typedef struct device_facts {
  char name[128];       /* "NVIDIA H200" */
  char uuid[48];        /* "GPU-..." */
  int index, visible;   /* which of how many this process sees */
  int64_t memory_bytes; /* of the whole device */
  int64_t peak_bytes;   /* allocated here at most, so far */
} device_facts;

typedef struct backend {
  const char *name;
  const char *help;
  int lag; /* judged steps the host may run ahead of look() */

  status (*open)(const device_request *request, device **out);
  void (*close)(device **d);

  /* NULL where the device is the host itself. */
  void (*describe)(const device *d, device_facts *out);

  /* Memory. copy_in and copy_out count bytes and are complete when they return. */
  status (*alloc)(device *d, int64_t bytes, const char *what, dptr *out);
  void (*release)(device *d, dptr *p);
  status (*copy_in)(device *d, dptr to, hptr from, int64_t bytes);
  status (*copy_out)(device *d, hptr to, dptr from, int64_t bytes);

  /* The block may be released afterwards. */
  status (*matrix_create)(device *d, const csr_block *a, matrix **out);
  void (*matrix_release)(device *d, matrix **a);
  void (*matrix_describe)(const matrix *a, matrix_facts *out);

  /* Halo: owned entries of x into the plan's send buffer; the ghost buffer into x's ghosts. */
  status (*pack)(device *d, const halo *h, vec x);
  status (*unpack)(device *d, const halo *h, vec x);

  /* Vectors (owned entries). fill writes ghosts too. max_abs: exact, NaN when an entry is NaN. */
  status (*fill)(device *d, vec x, double value);
  status (*copy)(device *d, vec to, vec from);
  status (*max_abs)(device *d, vec x, double *out);
  /* sum 0: (scale x_i)(scale y_i) */
  status (*dot)(device *d, vec x, vec y, double scale);

  /* y = A x */
  status (*product)(device *d, const matrix *a, part p, vec x, vec y);

  /* r = b - A x (r.data.at may be NULL: not stored);
   * sum 0: (scale r_i)^2, sum 1: (scale (|A||x|)_i)^2 */
  status (*residual)(device *d, const matrix *a, part p, vec x, vec b, vec r, double scale);

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

  /* Ends a step: adds the current sums over threads and ranks, rounds each once, and applies the
   * rule `kind` (solve_rules.h) to the state; `stop` != 0 asks all ranks to stop. Clears the sums.
   * Collective. */
  status (*judge)(device *d, comm *c, judge_kind kind, dptr state, int stop);

  /* Copies the state as it was after judged step number `step` (1 = the first since the state was
   * copied in), waiting for it if need be; never longer than the device works: STATUS_BROKEN when
   * that has failed. With several ranks judge() has left the state with the host, so that a device
   * that fails cannot part this rank from the others here. Local. */
  status (*look)(device *d, dptr state, int64_t step, solve_state *out);

  /* Ends a step without a rule: `count` rounded sums into `out`. Clears the sums. Collective. */
  status (*sums)(device *d, comm *c, int count, double *out);

  const struct quad_backend *quad; /* quad_backend.h */
} backend;

#ifdef __cplusplus
extern "C" {
#endif

extern const backend BACKEND_ref, BACKEND_omp, BACKEND_cuda;

#ifdef __cplusplus
}
#endif

#endif
