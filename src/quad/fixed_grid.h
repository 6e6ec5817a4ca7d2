/* Grids of fixed rules, with their tables in host memory and on the backend; and what a few
 * evaluations on the host say about them. */
#ifndef FIXED_GRID_H
#define FIXED_GRID_H

#include "quad_run.h"

typedef struct fixed_grid {
  quad_grid host, place; /* the same grid, tables on the host and on the backend */
  int64_t n, panels;
  double *table; /* node, weight, coarse: [3][per_panel] */
  dptr on_place;
} fixed_grid;

/* The grid of n points per direction over one piece of the integral (`f` has its limits);
 * new_only: see quad_rule.axis. STATUS_USAGE when there would be too many points. Local: the caller
 * agrees. */
status fixed_grid_create(quad_run *run, const quad_integral *f, const quad_rule *rule, int64_t n,
                         int64_t panels, int new_only, fixed_grid *out);
/* How many points run->limits makes, without making them; fails as fixed_grid_create would. Local.
 */
status fixed_grid_count(const quad_run *run, const quad_rule *rule, int64_t *points);
void fixed_grid_release(quad_run *run, fixed_grid *g); /* a zeroed one is fine */

/* What lies between the outermost points and the ends of a 1-D open rule, as its two outermost
 * values say; 0 for other rules. Local. */
double fixed_grid_beyond(const quad_run *run, const quad_rule *rule, const fixed_grid *g);

typedef struct fixed_probes {
  double size; /* of the integral of |f|, from samples */
  int missed;  /* f between the samples is not what the samples say */
} fixed_probes;

enum { FIXED_PROBES = 64, FIXED_PROBE_COST = 3 * FIXED_PROBES };

/* f at irregular places between the samples, compared with what neighbouring samples say. Takes
 * FIXED_PROBE_COST evaluations on the host, the same on all ranks; `level` picks the places.
 * Local. */
void fixed_grid_probe(const quad_run *run, const quad_rule *rule, const fixed_grid *g, int level,
                      double value, double tolerance, fixed_probes *out);

#endif
