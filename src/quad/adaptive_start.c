/* Where adaptive rules begin, and where they look when a value is not finite.
 *
 * The first level is never one region: an integrand may vanish, or repeat, on the points of a
 * single one. Its cuts are irregular, so that no symmetry or period of the integrand falls in with
 * them; only the whole line is cut at x = 0, too, where integrands on it have their kinks. */
#include "adaptive.h"

#include <math.h>
#include <string.h>

#include "alloc.h"

enum { PIECES = 8, CUTS_MAX = 0 };

/* In (-1/2, 1/2), irregular: multiples of the golden ratio. */
static double irregular(int64_t i) {
  const double x = (double)(i + 1) * 0.6180339887498949;
  return x - floor(x) - 0.5;
}

/* [0, width] in PIECES parts; for the line half of them on each side of 0. Edges from below. */
static void cut_interval(const quad_axis *a, double *at) {
  const double width = a->upper - a->lower;
  for (int i = 0; i <= PIECES; i++) {
    const double off = i == 0 || i == PIECES || (a->range == QUAD_LINE && 2 * i == PIECES)
                           ? 0.0
                           : 0.5 * irregular(i);
    at[i] = i == PIECES ? width : width * ((i + off) / PIECES);
  }
}

/* The edges [low, high], measured from the nearer end of the axis. */
static void put(const quad_axis *a, double low, double high, double *edge) {
  const double width = a->upper - a->lower;
  const int upper = low >= 0.5 * width;
  edge[0] = upper ? low - width : low;
  edge[1] = upper ? high - width : high;
}

status adaptive_first_level(const quad_run *run, const quad_frame *f, double **edge,
                            int64_t *count) {
  status rc = STATUS_OK;
  double at[PIECES + 1];
  (void)run;
  if (f->dims == 1) {
    *count = PIECES;
    TRY(alloc_array(edge, 2 * PIECES, sizeof **edge, "regions"));
    cut_interval(&f->axis[0], at);
    for (int i = 0; i < PIECES; i++) put(&f->axis[0], at[i], at[i + 1], *edge + 2 * i);
    return STATUS_OK;
  }
  *count = 1;
  for (int d = 0; d < f->dims; d++) *count *= f->axis[d].range == QUAD_FINITE ? 1 : 2;
  TRY(alloc_array(edge, *count * 2 * f->dims, sizeof **edge, "regions"));
  for (int64_t id = 0; id < *count; id++) {
    int64_t side = id;
    for (int d = 0; d < f->dims; d++) {
      const double width = f->axis[d].upper - f->axis[d].lower;
      const double middle =
          width * (0.5 + (f->axis[d].range == QUAD_LINE ? 0.0 : 0.25 * irregular(d)));
      double *here = *edge + (id * f->dims + d) * 2;
      if (f->axis[d].range == QUAD_FINITE) {
        put(&f->axis[d], 0.0, width, here);
        continue;
      }
      put(&f->axis[d], side % 2 ? middle : 0.0, side % 2 ? width : middle, here);
      side /= 2;
    }
  }
done:
  return rc;
}

void adaptive_find_bad(quad_run *run, const quad_frame *f, const double *edge) {
  const formula *fn = run->integral.f;
  formula_input in[QUAD_DIMS + 64];
  double x[QUAD_DIMS], value, *out = &value, most = -1.0;
  for (int i = 0; i < fn->inputs; i++) {
    in[i].at = i < f->dims ? &x[i] : &run->integral.parameters[i - f->dims];
    in[i].step = 0;
  }
  for (int k = 0; k < quad_region_points(f); k++) {
    const double slope = quad_region_point(f, edge, k, x);
    fn->batch(fn->context, 1, in, &out);
    const double g = quad_region_term(slope, value);
    if (isfinite(g) && fabs(g) <= most) continue;
    most = fabs(g);
    run->bad_value = value;
    memcpy(run->bad_point, x, sizeof x);
    if (!isfinite(g)) return;
  }
}
