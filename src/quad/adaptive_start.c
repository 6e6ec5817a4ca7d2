/* Where adaptive rules begin, and where they look when a value is not finite.
 *
 * The first level is never one region: an integrand may vanish, or repeat, on the points of a
 * single one. Its cuts are irregular, so that no symmetry or period of the integrand falls in with
 * them; only the whole line is cut at x = 0, too, where integrands on it have their kinks. */
#include "adaptive.h"

#include <math.h>
#include <string.h>

#include "alloc.h"

enum { PIECES = 8 };

/* What a single probe counts that saw something where all else saw nothing, in whole ranges. */
#define LOUD 0x1p20

/* In (-1/2, 1/2), irregular: squares times the golden ratio. (Multiples have two differences only.)
 */
static double irregular(int64_t i) {
  const double x = (double)((i + 1) * (i + 1)) * 0.6180339887498949;
  return x - floor(x) - 0.5;
}

/* A place on an axis, from its lower and from its upper end (the latter not positive). */
typedef struct cut {
  double below, above;
} cut;

/* The place of x, as exact as it can be from both ends: quad.h's maps, inverted. */
static cut cut_at(const quad_axis *a, double x) {
  if (a->range == QUAD_FINITE) return (cut){x - a->lower, x - a->upper};
  if (a->range != QUAD_LINE) {
    const double y = fabs(x - a->anchor), near = y / (1.0 + y), far = 1.0 / (1.0 + y);
    return a->range == QUAD_UPWARD ? (cut){near, -far} : (cut){far, -near};
  }
  const double y = fabs(x), root = sqrt(fma(4.0 * y, y, 1.0));
  const double near = (1.0 + 1.0 / (root + 2.0 * y)) / (1.0 + root), far = 2.0 - near;
  return x < 0.0 ? (cut){near, -far} : (cut){far, -near};
}

/* The region between two cuts, measured from the nearer end of the axis. */
static void put(const quad_axis *a, cut low, cut high, double *edge) {
  const int upper = low.below >= 0.5 * (a->upper - a->lower);
  edge[0] = upper ? low.above : low.below;
  edge[1] = upper ? high.above : high.below;
}

/* The cuts that must be: the ends, the breaks, and 0 of the line. at[breaks + 3]; how many. */
static int fixed_cuts(const quad_integral *f, const quad_axis *a, cut *at) {
  const double width = a->upper - a->lower;
  int count = 0, zero = a->range != QUAD_LINE;
  at[count++] = (cut){0.0, -width};
  for (int i = 0; i < f->break_count; i++) {
    if (!zero && f->breaks[i] > 0.0) at[count++] = cut_at(a, 0.0);
    zero = zero || f->breaks[i] >= 0.0;
    at[count++] = cut_at(a, f->breaks[i]);
  }
  if (!zero) at[count++] = cut_at(a, 0.0);
  at[count++] = (cut){width, 0.0};
  return count;
}

/* An interval: PIECES parts, at least two between neighbours of the cuts that must be. */
static status cut_interval(const quad_integral *f, const quad_axis *a, double **edge,
                           int64_t *count) {
  status rc = STATUS_OK;
  cut *at = NULL;
  TRY(alloc_array(&at, (int64_t)f->break_count + 3, sizeof *at, "breaks"));
  const int parts = fixed_cuts(f, a, at) - 1;
  const int each = PIECES / parts > 2 ? (PIECES + parts - 1) / parts : 2;
  *count = (int64_t)parts * each;
  TRY(alloc_array(edge, 2 * *count, sizeof **edge, "regions"));
  for (int64_t p = 0; p < parts; p++) {
    const cut low = at[p], high = at[p + 1];
    cut before = low;
    for (int64_t i = 0; i < each; i++) {
      const double way = ((double)(i + 1) + 0.5 * irregular(p * each + i)) / each;
      const cut next = i == each - 1 ? high
                                     : (cut){low.below + way * (high.below - low.below),
                                             low.above + way * (high.above - low.above)};
      put(a, before, next, *edge + 2 * (p * each + i));
      before = next;
    }
  }
done:
  alloc_free(&at);
  return rc;
}

status adaptive_first_level(const quad_run *run, const quad_frame *f, double **edge,
                            int64_t *count) {
  status rc = STATUS_OK;
  if (f->dims == 1) return cut_interval(&run->integral, &f->axis[0], edge, count);
  *count = 1;
  for (int d = 0; d < f->dims; d++) *count *= f->axis[d].range == QUAD_FINITE ? 1 : 2;
  TRY(alloc_array(edge, *count * 2 * f->dims, sizeof **edge, "regions"));
  for (int64_t id = 0; id < *count; id++) {
    int64_t side = id;
    for (int d = 0; d < f->dims; d++) {
      const double width = f->axis[d].upper - f->axis[d].lower;
      const double way = f->axis[d].range == QUAD_LINE ? 0.5 : 0.5 + 0.25 * irregular(d);
      const cut low = {0.0, -width}, middle = {way * width, (way - 1.0) * width};
      const cut high = {width, 0.0};
      double *here = *edge + (id * f->dims + d) * 2;
      if (f->axis[d].range == QUAD_FINITE) {
        put(&f->axis[d], low, high, here);
        continue;
      }
      put(&f->axis[d], side % 2 ? middle : low, side % 2 ? high : middle, here);
      side /= 2;
    }
  }
done:
  return rc;
}

/* Whether the first level's regions and all probes saw one and the same value: a constant, or
 * something hidden. Its probes that do not count are NaN. */
static int blank(const engine *e, int64_t count) {
  const double seen = e->whole[0].low;
  for (int64_t i = 0; i < count; i++) {
    if (e->whole[i].low != seen || e->whole[i].high != seen) return 0;
  }
  for (int i = 0; i < e->probes.count; i++) {
    if (e->probes.at[i].g < seen || e->probes.at[i].g > seen) return 0;
  }
  return 1;
}

static double volume_of(const quad_frame *f) {
  double volume = 1.0;
  for (int d = 0; d < f->dims; d++) volume *= f->axis[d].upper - f->axis[d].lower;
  return volume;
}

/* The probes, and many more where there was nothing to see: there, what a single one sees
 * counts LOUD times the whole range. Local. */
static status look(engine *e, int64_t count) {
  status rc = STATUS_OK;
  TRY(probe_set_make(e->run, &e->frame, probe_count(e->frame.dims), &e->probes));
  if (!blank(e, count) || e->run->evaluations + PROBES_BLANK > e->run->limits.max_evaluations) {
    return STATUS_OK;
  }
  probe_set_release(&e->probes);
  TRY(probe_set_make(e->run, &e->frame, PROBES_BLANK, &e->probes));
  for (int i = 0; i < e->probes.count; i++) {
    const double seen = e->whole[0].low, off = fabs(e->probes.at[i].g - seen);
    if (off > QUAD_ROUNDING * fabs(seen)) e->probes.at[i].share = LOUD * volume_of(&e->frame);
  }
done:
  return rc;
}

status adaptive_begin(engine *e) {
  status rc = STATUS_OK, mine = STATUS_OK;
  double *edge = NULL;
  int64_t count = 0;
  const int edges = 2 * e->frame.dims;
  mine = adaptive_first_level(e->run, &e->frame, &edge, &count);
  const int64_t least = count * e->points + probe_count(e->frame.dims);
  if (mine == STATUS_OK && least > e->run->limits.max_evaluations) {
    mine = fail(STATUS_USAGE, "quad: max_evaluations = %lld, and the first look takes %lld",
                (long long)e->run->limits.max_evaluations, (long long)least);
  }
  if (mine == STATUS_OK) mine = adaptive_reserve(e, count);
  if (mine == STATUS_OK) mine = region_list_reserve(&e->list, count);
  if (mine == STATUS_OK) memcpy(e->edge, edge, (size_t)(count * edges) * sizeof *edge);
  TRY(adaptive_evaluate(e, count, mine));
  TRY(comm_agree(e->run->world, look(e, count)));
  memcpy(e->list.edge, edge, (size_t)(count * edges) * sizeof *edge);
  for (int64_t id = 0; id < count; id++) e->list.at[id].probe = -1;
  for (int i = 0; i < e->probes.count; i++) {
    for (int64_t id = 0; id < count; id++) {
      if (!probe_inside(&e->frame, &e->probes.at[i], edge + id * edges)) continue;
      e->probes.at[i].next = e->list.at[id].probe;
      e->list.at[id].probe = i;
      break;
    }
  }
  e->list.count = count;
  for (int64_t id = 0; id < count; id++) adaptive_settle(e, id, &e->whole[id], 0.0, 0.0);
done:
  alloc_free(&edge);
  return rc;
}

void adaptive_find_bad(quad_run *run, const quad_frame *f, const double *edge) {
  const formula *fn = run->integral.f;
  formula_input in[QUAD_INPUTS];
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
