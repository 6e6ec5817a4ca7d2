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
  /* Whether f is the same at all points, for these parameters, by its formula; NULL: not known. */
  int (*settled)(const void *context, const double *parameters);
  const void *context;
} quad_integral;

typedef struct quad_limits {
  double rtol, atol; /* done when error <= rtol |value| or error <= atol */
  int64_t max_evaluations;
  int64_t n;      /* points per direction (of a panel, for Gauss rules); 0: refine until done */
  int64_t panels; /* per direction */
  uint64_t seed;  /* of sampling rules */
  int demanded;   /* n is given, and a tolerance too */
  int single;     /* evaluate and sum in single precision */
} quad_limits;

typedef enum quad_reason {
  QUAD_CONVERGED,
  QUAD_FIXED_COUNT, /* the points asked for, whatever the error */
  QUAD_MAX_EVALUATIONS,
  QUAD_ROUND_OFF,   /* refining no longer helps */
  QUAD_NOT_FINITE,  /* f is NaN or infinite at a point */
  QUAD_EMPTY_RANGE, /* lower = upper: 0 without an evaluation */
  QUAD_MISSED,      /* the points asked for, and not the tolerance asked for */
  QUAD_TIME_LIMIT,  /* asked to stop, by the clock */
  QUAD_SIGNAL,      /* or by a signal */
  QUAD_UNSEEN,      /* 0 +- 0: all that was seen is 0, or cancels exactly */
  QUAD_REASONS
} quad_reason;

typedef struct quad_run {
  const backend *kernels;
  device *place;
  comm *world;
  struct timers *timers;     /* may be NULL */
  struct quad_saver *saver;  /* long sums: checkpoints, stopping (quad_saving.h); may be NULL */
  struct progress *progress; /* may be NULL */
  quad_work *work;
  quad_integral integral;
  quad_limits limits;

  /* results */
  quad_reason reason;
  double value, error; /* error: NaN where there is no estimate */
  int64_t evaluations;
  int64_t points[QUAD_DIMS];   /* fixed rules: of the last grid, per direction */
  int64_t panels;              /* and its panels */
  double bad_point[QUAD_DIMS]; /* QUAD_NOT_FINITE: where, and what f is there; */
  double bad_value;            /* 0: f is finite everywhere, the sum overflows */
  int at_end;                  /* the bad point is an end of the range */
} quad_run;

enum {
  QUAD_RULE_FIXED = 1,    /* has an axis */
  QUAD_RULE_ADAPTIVE = 2, /* chooses its points */
  QUAD_RULE_SAMPLING = 4, /* n is the total; the error is statistical */
  QUAD_RULE_PANELS = 8,   /* n is per panel */
  QUAD_RULE_NESTED = 16,  /* the points of n are among those of 2 n - 1 */
  QUAD_RULE_OPEN = 32,    /* no point at the ends */
  QUAD_RULE_ROMBERG = 64  /* in one dimension made of two trapezoids when refining */
};

typedef struct quad_rule quad_rule;

struct quad_rule {
  const char *name;
  const char *help;   /* one line */
  const char *source; /* where the rule is written down */
  unsigned flags;
  int dims_min, dims_max;
  /* fixed: points per direction (and panels, through *panels) of refinement level 0, 1, ...; 0 past
   * the last level. Local. */
  int64_t (*level)(int level, int dims, int64_t *panels);
  /* Polynomials up to this degree are integrated exactly with n points; -1: no claim. Local. */
  int64_t (*degree)(int64_t n);
  int order; /* fixed: the error falls like n^-order for smooth integrands; 0: faster */
  /* fixed: an axis of n points (per panel) over [a->lower, a->upper], all but its tables; the
   * result through *scale is what all weights share. new_only: just the points that are not among
   * those of (n + 1) / 2 (nested rules). Local. */
  status (*axis)(int64_t n, int64_t panels, int dims, int new_only, quad_axis *a, double *scale);
  /* fixed, of kind QUAD_TABLE: the tables of a panel of n points (new_only: (n - 1) / 2 of them).
   * Local. */
  status (*table)(int64_t n, int dims, int new_only, double *node, double *weight, double *coarse);
  /* fixed: a place between points i and i + 1, at `fraction` of the way in the rule's own parameter
   * (for probes): its x; the result is the density there, in units of *scale. Local. */
  double (*between)(const quad_axis *a, int dims, int64_t i, double fraction, double *x);
  status (*run)(quad_run *run, const quad_rule *rule);
};

/* The registry, by position (NULL past the last) and by name (NULL: unknown). Local. */
const quad_rule *quad_rule_at(int index);
const quad_rule *quad_rule_find(const char *name);

/* The rule named `word`; for "auto" the one for this many directions, and why through *why (else
 * NULL): adaptive in 1, genz-malik up to 6, sobol above; trapezoid instead of the first two when
 * `counted`, i.e. a number of points is given. NULL: not there. Local. */
const quad_rule *quad_rule_choose(const char *word, int dims, int counted, const char **why);

/* "converged", ...; and the exit code that goes with it. Local. */
const char *quad_reason_name(quad_reason reason);
status quad_reason_status(quad_reason reason);

/* The driver of fixed rules: a quad_rule's `run`. */
status quad_fixed(quad_run *run, const quad_rule *rule);

/* Whether an error, or run->error, is within the tolerances. Local. */
int quad_met(const quad_limits *limits, double value, double error);
int quad_tolerated(const quad_run *run);

/* Sum of weight * f over the whole grid, times grid.scale, into out[0]; with grid.estimate that of
 * the coarser rule into out[1]. Blocks are split evenly over ranks. Not finite when f is not finite
 * somewhere, or the sum overflows; NaN when the run was asked to stop (run->reason says so). Counts
 * the evaluations. */
status quad_sum_grid(quad_run *run, const quad_grid *g, double *out);

/* Progress of runs of more than a second; total 0, error NaN: not known. Local. */
void quad_progress(const quad_run *run, int64_t k, int64_t total, double error);

/* How long the stretch of work should be after one of `length` that took so many seconds: about a
 * second, so that requests to stop are met and the meeting costs nothing. Local. */
int64_t quad_next_stretch(int64_t length, int64_t longest, double seconds);

/* After a sum over g that is not finite: finds the sample of lowest number at which f is not finite
 * (run->bad_point, bad_value). `host` is g with its tables in host memory. */
status quad_find_bad(quad_run *run, const quad_grid *g, const quad_grid *host);

/* f at one point, on the host. Local. */
double quad_value(const quad_run *run, const double *x);

/* Whether the run has been asked to stop. Local, alike on all ranks. */
int quad_stopped(const quad_run *run);

/* The axis of direction d of the integral, without its rule: range, limits of t (lower < upper).
 * Local. */
void quad_axis_range(const quad_integral *f, int d, quad_axis *a);

/* Whether the width of axis `a`, of direction d, is a double: else STATUS_USAGE. Local. */
status quad_check_width(const quad_axis *a, int d);

/* Runs `rule`: turns reversed limits, answers empty ranges. STATUS_USAGE when the rule does not do
 * this number of dimensions. */
status quad_integrate(quad_run *run, const quad_rule *rule);

#endif
