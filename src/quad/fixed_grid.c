/* Grids and their tables (fixed_grid.h). Directions share one table: a panel's nodes and weights
 * depend on n only. */
#include "fixed_grid.h"

#include <math.h>
#include <string.h>

#include "alloc.h"

/* As many points per direction as can be counted. */
static status check_count(const fixed_grid *g) {
  if (g->panels == 1 || g->n <= QUAD_POINTS_MAX / g->panels) return STATUS_OK;
  return fail(STATUS_USAGE, "quad: %lld panels of %lld points are more than 2^53 points",
              (long long)g->panels, (long long)g->n);
}

static status make_axes(const quad_run *run, const quad_integral *f, const quad_rule *rule,
                        fixed_grid *out, int new_only) {
  status rc = STATUS_OK;
  quad_grid *g = &out->host;
  g->dims = f->dims;
  g->points = 1;
  g->scale = 1.0;
  g->single = run->limits.single;
  for (int d = 0; d < g->dims; d++) {
    double scale = 1.0;
    quad_axis_range(f, d, &g->axis[d]);
    if (rule->flags & QUAD_RULE_PANELS) TRY(quad_check_width(&g->axis[d], d));
    TRY(rule->axis(out->n, out->panels, g->dims, new_only, &g->axis[d], &scale));
    if (g->axis[d].count > QUAD_POINTS_MAX / g->points) {
      return fail(STATUS_USAGE, "quad: %lld points in each of %d directions are more than 2^53",
                  (long long)g->axis[d].count, g->dims);
    }
    g->points *= g->axis[d].count;
    g->scale *= scale;
  }
done:
  return rc;
}

static status make_tables(quad_run *run, const quad_rule *rule, int new_only, fixed_grid *g) {
  status rc = STATUS_OK;
  const int64_t count = g->host.axis[0].per_panel, bytes = 3 * count * (int64_t)sizeof(double);
  TRY(alloc_array(&g->table, 3 * count, sizeof(double), "nodes and weights"));
  TRY(rule->table(g->n, g->host.dims, new_only, g->table, g->table + count, g->table + 2 * count));
  TRY(run->kernels->alloc(run->place, bytes, "nodes and weights", &g->on_place));
  TRY(run->kernels->copy_in(run->place, g->on_place, (hptr){g->table}, bytes));
  double *there = g->on_place.at; /* only computed with, never read through */
  for (int d = 0; d < g->host.dims; d++) {
    quad_axis *host = &g->host.axis[d], *place = &g->place.axis[d];
    host->node.at = g->table;
    host->weight.at = g->table + count;
    host->coarse.at = g->table + 2 * count;
    place->node.at = there;
    place->weight.at = there + count;
    place->coarse.at = there + 2 * count;
  }
done:
  return rc;
}

status fixed_grid_create(quad_run *run, const quad_integral *f, const quad_rule *rule, int64_t n,
                         int64_t panels, int new_only, fixed_grid *out) {
  status rc = STATUS_OK;
  memset(out, 0, sizeof *out);
  out->n = n;
  out->panels = panels;
  TRY(check_count(out));
  TRY(make_axes(run, f, rule, out, new_only));
  out->place = out->host;
  if (rule->table != NULL) TRY(make_tables(run, rule, new_only, out));
done:
  return rc;
}

status fixed_grid_count(const quad_run *run, const quad_rule *rule, int64_t *points) {
  status rc = STATUS_OK;
  fixed_grid g;
  memset(&g, 0, sizeof g);
  g.n = run->limits.n;
  g.panels = run->limits.panels;
  TRY(check_count(&g));
  TRY(make_axes(run, &run->integral, rule, &g, 0));
  *points = g.host.points;
done:
  return rc;
}

void fixed_grid_release(quad_run *run, fixed_grid *g) {
  if (g->on_place.at != NULL) run->kernels->release(run->place, &g->on_place);
  alloc_free(&g->table);
}

double fixed_grid_beyond(const quad_run *run, const quad_rule *rule, const fixed_grid *g) {
  /* an x^-a singularity beyond a gap holds f * gap / (1 - a): a = 0.9 */
  static const double SHARE = 10.0;
  const quad_axis *a = &g->host.axis[0];
  double sum = 0.0;
  if (!(rule->flags & QUAD_RULE_OPEN) || g->host.dims != 1) return 0.0;
  for (int side = 0; side < 2; side++) {
    for (int64_t k = 0; k < a->count; k++) {
      double x, below, above;
      const int64_t i = side == 0 ? k : a->count - 1 - k;
      const double weight = quad_axis_point(a, i, &x, NULL);
      if (weight == 0.0) continue;
      quad_table_place(a, i / a->per_panel, i % a->per_panel, &below, &above);
      double gap = side == 0 ? below : above;
      if (a->range != QUAD_FINITE) {
        const int outwards =
            a->range == QUAD_LINE || (a->range == QUAD_UPWARD ? side == 1 : side == 0);
        gap = fabs(x - a->anchor);
        if (outwards) gap = fmax(gap, 1.0);
      }
      sum += SHARE * gap * fabs(quad_value(run, &x));
      break;
    }
  }
  return isfinite(sum) ? sum : INFINITY;
}
