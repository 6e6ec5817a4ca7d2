/* Quadrature: what a rule is, and what a run of one is.
 *
 * A rule is a const descriptor in the registry (registry.c). A fixed rule says what one axis looks
 * like; the driver in fixed.c makes grids of it, sums them and refines. Rules that choose their own
 * points have a driver of their own. Drivers call the backend's kernels and the sums; they never
 * touch backend memory, so they are written once for all backends. Functions are collective unless
 * they say otherwise: every rank has the whole problem and leaves with the same numbers. */
#ifndef QUAD_RUN_H
#define QUAD_RUN_H

#include "backend.h"
#include "formula.h"
#include "quad_backend.h"

struct timers; /* src/core/timers.h */

typedef struct quad_integral {
  int dims;
  double lower[QUAD_DIMS], upper[QUAD_DIMS]; /* as given: may be infinite, or reversed */
  const double *breaks; /* 1-D: cuts inside the range, ascending; fixed rules sum the pieces */
  int break_count;
  const formula *f; /* x[0] .. x[dims - 1], then the parameters */
  const double *parameters;
} quad_integral;

typedef struct quad_limits {
  double rtol, atol; /* done when error <= rtol |value| or error <= atol */
  int64_t max_evaluations;
  uint64_t seed;  /* of sampling rules */
  int64_t n;      /* points per direction (of a panel, for Gauss rules); 0: refine until done */
  int64_t panels; /* per direction */
} quad_limits;

typedef enum quad_reason {
  QUAD_CONVERGED,
  QUAD_FIXED_COUNT, /* the points asked for, whatever the error */
  QUAD_MAX_EVALUATIONS,
  QUAD_ROUND_OFF,   /* refining no longer helps */
  QUAD_NOT_FINITE,  /* f is NaN or infinite at a point */
  QUAD_EMPTY_RANGE, /* lower = upper: 0 without an evaluation */
  QUAD_REASONS
} quad_reason;

typedef struct quad_run {
  const backend *kernels;
  device *place;
  comm *world;
  struct timers *timers; /* may be NULL */
  quad_work *work;
  quad_integral integral;
  quad_limits limits;

  /* results */
  quad_reason reason;
  double value, error; /* error: NaN where there is no estimate */
  int64_t evaluations;
  int64_t points[QUAD_DIMS];   /* fixed rules: of the last grid, per direction */
  double bad_point[QUAD_DIMS]; /* QUAD_NOT_FINITE: where, and what f is there */
  double bad_value;
} quad_run;

enum {
  QUAD_RULE_FIXED = 1,    /* has an axis */
  QUAD_RULE_ADAPTIVE = 2, /* chooses its points */
  QUAD_RULE_SAMPLING = 4  /* n is the total; the error is statistical */
};

typedef struct quad_rule quad_rule;

struct quad_rule {
  const char *name;
  const char *help;   /* one line */
  const char *source; /* where the rule is written down */
  unsigned flags;
  int dims_min, dims_max;
  int64_t n_first; /* fixed: points of the first level when n is not given */
  /* Polynomials up to this degree are integrated exactly with n points; -1: no claim. Local. */
  int64_t (*degree)(int64_t n);
  int order; /* fixed: the error falls like n^-order for smooth integrands; 0: faster */
  /* fixed: an axis of n points (per panel) over [a->lower, a->upper], tables in host memory; the
   * result through *scale is what all weights share. Local. */
  status (*axis)(int64_t n, int64_t panels, quad_axis *a, double *scale);
  status (*run)(quad_run *run, const quad_rule *rule);
};

/* The registry, by position (NULL past the last) and by name (NULL: unknown). Local. */
const quad_rule *quad_rule_at(int index);
const quad_rule *quad_rule_find(const char *name);

/* The rule named `word`; for "auto" the one for this many directions, and why through *why (else
 * NULL): adaptive in 1, genz-malik up to 6, sobol above. NULL: unknown. Local. */
const quad_rule *quad_rule_choose(const char *word, int dims, const char **why);

/* "converged", ...; and the exit code that goes with it. Local. */
const char *quad_reason_name(quad_reason reason);
status quad_reason_status(quad_reason reason);

/* The driver of fixed rules: a quad_rule's `run`. */
status quad_fixed(quad_run *run, const quad_rule *rule);

/* The grid of n points per direction. STATUS_USAGE when there would be too many. Local. */
status quad_grid_make(const quad_run *run, const quad_rule *rule, int64_t n, quad_grid *g);

/* Whether run->error is within the tolerances. Local. */
int quad_tolerated(const quad_run *run);

/* Sum of weight * f over the whole grid, times grid.scale: blocks are split evenly over ranks. Not
 * finite when f is not finite somewhere, or the sum overflows. Counts the evaluations. */
status quad_sum_grid(quad_run *run, const quad_grid *g, double *out);

/* The axis of direction d of the integral, without its rule: range, limits of t (lower < upper).
 * Local. */
void quad_axis_range(const quad_integral *f, int d, quad_axis *a);

/* Runs `rule`: turns reversed limits, answers empty ranges. STATUS_USAGE when the rule does not do
 * this number of dimensions. */
status quad_integrate(quad_run *run, const quad_rule *rule);

#endif
