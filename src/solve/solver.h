/* Solvers of linear systems A x = b: what one is, and what a run of one is.
 *
 * A solver is a const descriptor in the registry (src/solve/registry.c). Its `run` is the driver:
 * it moves scalars and calls the backend's kernels, the halo and the sums, and never touches vector
 * memory, so it is written once for all backends. All numbers it judges by are scaled norms
 * (solve_state.h). Functions are collective unless they say otherwise. */
#ifndef SOLVER_H
#define SOLVER_H

#include "checkpointing.h"
#include "history.h"
#include "ownership.h"
#include "progress.h"
#include "solve_backend.h"
#include "timers.h"

/* One rank's share of a square system on a backend. */
typedef struct linear_system {
  const backend *kernels;
  device *place;
  comm *world;
  matrix *a;
  halo plan;
  dptr halo_send, halo_ghost; /* the plan's buffers where they are the backend's; else at NULL */
  gidx global_rows, first_row;
  lidx rows, ghosts;
  timers *timers;                       /* may be NULL */
  const struct direct_package *package; /* of method direct (direct.h); NULL: MUMPS */
  status failure; /* this rank's first local failure: it keeps exchanging, and asks all to stop */
  int ask;        /* this rank asks all to meet, in every sum from now on */
  int64_t asked;  /* most ranks that asked so in a sum since this was cleared */
} linear_system;

typedef enum solve_reason {
  REASON_CONVERGED,
  REASON_FIXED_COUNT,
  REASON_MAX_ITERATIONS,
  REASON_STAGNATED,
  REASON_INCOMPATIBLE, /* singular, and no x comes near: the least-squares solution */
  REASON_REQUESTED,    /* asked to stop: checkpointing_look() knows why */
  REASON_DIVERGED,
  REASON_INDEFINITE,
  REASON_NOT_FINITE,
  REASON_BREAKDOWN /* solve_run.broke says how */
} solve_reason;

enum { BLOCKS_MOST = 1024 }; /* rows of a block of block-jacobi */

typedef struct solve_limits {
  double rtol, atol;      /* converged: |b - A x| <= max(rtol |b|, atol), 2-norms */
  double divergence;      /* diverged: residual above divergence * max(|b|, |r0|) */
  int64_t max_iterations; /* or the count itself with fixed_count */
  int fixed_count;        /* make exactly max_iterations iterations, ask nothing */
  int64_t check_every;    /* iterations between looks at the true residual and at stagnation */
  int monitor_update;     /* watch the update instead of the residual (Jacobi family) */
} solve_limits;

/* Mixed precision (mixed.h). */
typedef struct solve_mixed {
  int on;
  int64_t correct_every; /* sweeps between corrections */
  int64_t corrections;   /* result: how many were made; iterations counts those in float */
  matrix_facts storage;  /* of the matrix in float */
} solve_mixed;

typedef struct solve_run {
  linear_system *system;
  solve_limits limits;
  vec b;
  vec x;                /* the start on entry, x_k of the stopping k on return */
  vec weight;           /* Jacobi family: omega / a_ii */
  vec inverse_diagonal; /* CG: of a diagonal preconditioner, which owns it; data.at NULL: none */
  const struct preconditioning *preconditioning; /* preconditioner.h; NULL: none */
  const struct preconditioner_request *rows;     /* SOLVER_NEEDS_ROWS, mixed: what A is made of */
  double omega; /* of sor, ssor; 0: auto, then weight has 1 / a_ii and run() leaves the last here */
  int gmres_restart; /* steps of a cycle */
  solve_mixed mixed;
  history *history;      /* may be NULL */
  progress *progress;    /* may be NULL */
  checkpointing *saving; /* may be NULL: never asked to stop or save */

  /* of a system that was scaled symmetrically, S A S and S b: 1 / s_i, and room for a residual;
   * data.at NULL: it was not. Methods carry the scaled residual; the true one, and what is reported
   * and tested of it, is the given system's. */
  vec unscale, unscaled;
  double norm_given; /* |b| of the given system; 0: not there yet */
  double tighten;    /* what the carried residual's target is multiplied by; 0: 1 */

  /* filled by solve_begin (linear.h) */
  double scale;          /* power of two: scaled norms are of order one */
  double norm_b, norm_r; /* scaled by it: |b|, and |r0| */

  /* results */
  solve_reason reason;
  int64_t iterations;        /* k of the returned iterate */
  int64_t restarted_at;      /* k of the checkpoint gone on from; 0: none */
  double recursive_residual; /* relative; of the last residual the method carried */
  double relative_residual;  /* |b - A x| / |b|, recomputed */
  int restarts;              /* CG: times the carried residual had drifted from the true one */
  double curvature;          /* REASON_INDEFINITE: p.Ap (or r.z), divided by scale^2 */
  int curvature_is_rz;
  char broke[160];  /* REASON_BREAKDOWN: what, with its number */
  int64_t products; /* sweeps or products made, for the traffic */
} solve_run;

enum {
  SOLVER_DIVIDES_BY_DIAGONAL = 1, /* every a_ii must be there and not zero */
  SOLVER_NEEDS_SYMMETRY = 2,
  SOLVER_TAKES_OMEGA = 4,
  SOLVER_TAKES_PRECONDITIONER = 8,
  SOLVER_MONITORS_UPDATE = 16,
  SOLVER_NEEDS_DEFINITE = 32, /* symmetric positive definite (SOLVER_NEEDS_SYMMETRY is set too) */
  SOLVER_NEEDS_ROWS = 64,     /* solve_run.rows is there while run() works */
  SOLVER_TAKES_MIXED = 256,   /* precision = mixed; CG with a diagonal preconditioner or none */
  SOLVER_BY_A_PACKAGE = 128 /* its bits depend on ranks and threads; looked for by direct_look() */
};

typedef struct solver {
  const char *name;
  const char *help;   /* one line */
  const char *source; /* where the algorithm is written down */
  unsigned flags;
  int vector_bytes; /* per row and iteration, beside the matrix (the traffic budget) */
  status (*run)(solve_run *run);
} solver;

#ifdef __cplusplus
extern "C" {
#endif

/* The registry, by position (NULL past the last) and by name (NULL: unknown). Local. */
const solver *solver_at(int index);
const solver *solver_find(const char *name);

/* "converged", "max_iterations", ...; and the exit code that goes with it. Local. */
const char *solve_reason_name(solve_reason reason);
status solve_reason_status(solve_reason reason);

#ifdef __cplusplus
}
#endif

#endif
