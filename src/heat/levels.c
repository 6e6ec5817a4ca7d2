/* The hierarchy of grids under implicit schemes (multigrid.h).
 *
 * Each level has half the intervals of the finer one in the directions that are coarsened: those
 * with at least four intervals left and spacings below twice the smallest such one, so that grids
 * stretched in a direction become even first. An odd number of intervals leaves three for the last
 * coarse one. Coefficients of faces are in level_faces.c. A rank owns the coarse planes that lie in
 * fine planes it owns, perhaps none. Everything here is a function of the grid; no rank's share
 * changes a bit.
 *
 * Cost: the coefficients of all levels, 8 dims bytes a point (none where alpha is constant) and
 * four fields, times 1 + 1/4 + ... in 2-D. */
#include "levels.h"

#include <math.h>
#include <string.h>

#include "alloc.h"

static int last_of(const heat_run *run) { return run->slab.g.dims - 1; }

static int64_t intervals(const heat_grid *g, int d) {
  return level_is_around(g, d) ? g->n[d] : g->n[d] - 1;
}

static double length_at(const heat_stratum *s, int d, int64_t j) {
  return s->x[d][j + 1] - s->x[d][j];
}

/* ---- coordinates ---- */

/* Arrays per coordinate of direction d, for n points. */
static status make_arrays(heat_stratum *s, int d, int coarse, int64_t finer) {
  status rc = STATUS_OK;
  const int64_t n = s->slab.g.n[d];
  static const char what[] = "coordinates of a level";
  TRY(alloc_zeroed(&s->x[d], n + 1, sizeof **s->x, what));
  TRY(alloc_zeroed(&s->lo[d], n, sizeof **s->lo, what));
  TRY(alloc_zeroed(&s->hi[d], n, sizeof **s->hi, what));
  TRY(alloc_zeroed(&s->robin[d], n, sizeof **s->robin, what));
  TRY(alloc_zeroed(&s->width[d], n, sizeof **s->width, what));
  if (!coarse) goto done;
  TRY(alloc_zeroed(&s->at[d], n + 1, sizeof **s->at, what));
  TRY(alloc_zeroed(&s->tap[d], HEAT_TAPS * n, sizeof **s->tap, what));
  TRY(alloc_zeroed(&s->below[d], finer, sizeof **s->below, what));
  TRY(alloc_zeroed(&s->part[d], finer, sizeof **s->part, what));
done:
  return rc;
}

/* Widths of cells and coefficients of coordinates, from the places x. */
static void make_coefficients(const heat_run *run, heat_stratum *s, int d) {
  const heat_problem *p = run->problem;
  const heat_grid *g = &s->slab.g;
  const int64_t n = g->n[d], last = n - 1;
  const double dx = p->grid.spacing[d];
  const double full = heat_alpha_varies(p) ? 1.0 : p->alpha.number / (dx * dx);
  for (int64_t j = 0; j < n; j++) {
    const int has_lo = n > 1 && (level_is_around(g, d) || j > 0);
    const int has_hi = n > 1 && (level_is_around(g, d) || j < last);
    const double lo = has_lo ? length_at(s, d, j > 0 ? j - 1 : last) : 0.0;
    const double hi = has_hi ? length_at(s, d, j) : 0.0;
    const double width = n == 1 ? 1.0 : 0.5 * (lo + hi);
    s->width[d][j] = width;
    if (has_lo) s->lo[d][j] = full / (heat_alpha_varies(p) ? width : lo * width);
    if (has_hi) s->hi[d][j] = full / (heat_alpha_varies(p) ? width : hi * width);
  }
  for (int side = 0; side < 2; side++) {
    const heat_boundary *b = &p->face[2 * d + side];
    const int64_t j = side == 0 ? 0 : last;
    if (b->kind == BOUNDARY_ROBIN) s->robin[d][j] += b->h / (dx * s->width[d][j]);
  }
}

/* Where coarse points lie, and between which of them fine ones. */
static void place(heat_stratum *c, const heat_stratum *f, int d) {
  const int64_t n = c->slab.g.n[d], fine = f->slab.g.n[d];
  const int around = level_is_around(&c->slab.g, d);
  const int64_t count = intervals(&c->slab.g, d), stride = f->coarser[d] ? 2 : 1;
  for (int64_t j = 0; j < n; j++) {
    c->at[d][j] = !around && j == n - 1 ? fine - 1 : j * stride;
    c->x[d][j] = f->x[d][c->at[d][j]];
  }
  c->at[d][n] = fine;
  c->x[d][n] = around ? f->x[d][fine] : c->x[d][n - 1];
  for (int64_t j = 0; j < fine; j++) {
    int64_t b = j / stride;
    c->part[d][j] = 1.0;
    if (!around && j == fine - 1) {
      c->below[d][j] = n - 1;
      continue;
    }
    if (b > count - 1) b = count - 1;
    c->below[d][j] = b;
    if (j > c->at[d][b]) {
      c->part[d][j] = (c->x[d][b + 1] - f->x[d][j]) / (c->x[d][b + 1] - c->x[d][b]);
    }
  }
}

/* What each coarse point takes of the fine ones: the adjoint of interpolation. */
static void make_taps(heat_stratum *c, const heat_stratum *f, int d, int varies) {
  const heat_grid *g = &c->slab.g, *h = &f->slab.g;
  for (int64_t J = 0; J < g->n[d]; J++) {
    for (int k = 0; k < HEAT_TAPS; k++) {
      int64_t j = c->at[d][J] + k - HEAT_REACH;
      double piece = 0.0;
      if (level_is_around(h, d)) j = (j + 2 * h->n[d]) % h->n[d];
      if (j < 0 || j >= h->n[d] || (h->n[d] == 1 && k != HEAT_REACH)) continue;
      if (k >= HEAT_REACH) {
        if (c->below[d][j] == J && (k == HEAT_REACH || c->part[d][j] < 1.0)) piece = c->part[d][j];
      } else if (c->below[d][j] == heat_level_wrap(g, d, J - 1) && c->part[d][j] < 1.0) {
        piece = 1.0 - c->part[d][j];
      }
      const double ratio = f->width[d][j] / c->width[d][J];
      /* where alpha varies, the share of a point is its own */
      c->tap[d][HEAT_TAPS * J + k] = varies && piece > 0.0 ? ratio : piece * ratio;
    }
  }
}

/* ---- planes of ranks ---- */

static status share_planes(const heat_run *run, heat_stratum *c, const heat_stratum *f) {
  status rc = STATUS_OK;
  const int last = last_of(run), size = f->owned.size;
  const int64_t n = c->slab.g.n[last];
  ownership *o = &c->owned;
  TRY(alloc_zeroed(&o->first, size + 1, sizeof *o->first, "planes of a level"));
  o->rows = n;
  o->block = 1;
  o->rank = f->owned.rank;
  o->size = size;
  for (int r = 0; r < size; r++) {
    int64_t j = r == 0 ? 0 : o->first[r - 1];
    while (j < n && c->at[last][j] < f->owned.first[r]) j++;
    o->first[r] = j;
  }
  o->first[size] = n;
  c->slab.first = ownership_begin(o);
  c->slab.planes = ownership_end(o) - c->slab.first;
done:
  return rc;
}

/* Ghost planes up to `depth`; a rank with fine planes but no coarse ones has those around it. */
static status plan(heat_run *run, heat_stratum *s, int depth, int idle, halo *out) {
  const heat_slab *b = &s->slab;
  const int last = last_of(run);
  const int64_t n = b->g.n[last], ghosts = idle || n == 1 ? 0 : 2 * b->halo;
  status rc = STATUS_OK;
  gidx *ghost = NULL;
  TRY(comm_agree(run->world, alloc_array(&ghost, ghosts, sizeof *ghost, "halo planes")));
  for (int64_t i = 0; i < ghosts; i++) {
    const int64_t p = i < b->halo ? i - b->halo : b->planes + i - b->halo;
    const int64_t away = i < b->halo ? b->halo - i : i - b->halo + 1;
    const int64_t at = b->first + p;
    ghost[i] = level_is_around(&b->g, last) ? (at % n + n) % n : at < 0 || at >= n ? -1 : at;
    if (away > depth) ghost[i] = -1;
  }
  TRY(halo_create_planes(run->world, &s->owned, b->plane, ghost, (lidx)ghosts, out));
done:
  alloc_free(&ghost);
  return rc;
}

/* ---- levels ---- */

/* Which directions the next level has half the points of; lowest: of the eigenvalues that the
 * smoother has to damp, over the largest: half of what the coarser grid cannot see where alpha is
 * constant (measured: the fewest iterations at jumps too). Returns whether there is one. */
static int choose(const heat_run *run, heat_stratum *s) {
  const heat_grid *g = &s->slab.g;
  double size[HEAT_DIMS], least = INFINITY, sum = 0.0;
  int any = 0;
  for (int d = 0; d < g->dims; d++) {
    size[d] = g->n[d] > 1 ? run->problem->grid.spacing[d] * length_at(s, d, 0) : INFINITY;
    sum += 1.0 / (size[d] * size[d]);
    if (intervals(g, d) >= 4 && size[d] < least) least = size[d];
  }
  s->lowest = 0.25;
  for (int d = 0; d < g->dims; d++) {
    s->coarser[d] = intervals(g, d) >= 4 && size[d] < 1.999 * least;
    if (!s->coarser[d]) continue;
    any = 1;
    s->lowest = fmin(s->lowest, 0.25 / (size[d] * size[d]) / sum);
  }
  s->lowest = fmax(s->lowest, 1.0 / 30.0);
  return any;
}

static void begin_grid(heat_stratum *c, const heat_stratum *f) {
  c->slab = f->slab;
  c->slab.halo = HEAT_REACH;
  for (int d = 0; d < f->slab.g.dims; d++) {
    heat_grid *g = &c->slab.g;
    if (f->coarser[d]) g->n[d] = intervals(&f->slab.g, d) / 2 + !level_is_around(g, d);
  }
  c->slab.plane = 1;
  for (int d = 0; d < f->slab.g.dims - 1; d++) c->slab.plane *= c->slab.g.n[d];
}

static status make_fields(heat_run *run, heat_stratum *s) {
  status rc = STATUS_OK;
  const int64_t points = heat_points(&s->slab), bytes = points * (int64_t)sizeof(double);
  heat_field *const all[] = {&s->r, &s->z, &s->w, &s->q};
  double *zero = NULL;
  TRY(alloc_zeroed(&zero, points, sizeof *zero, "field of a level"));
  for (int i = 0; i < 4; i++) {
    TRY(run->kernels->alloc(run->place, bytes, "field of a level", &all[i]->data));
    TRY(run->kernels->copy_in(run->place, all[i]->data, (hptr){zero}, bytes));
  }
done:
  alloc_free(&zero);
  return rc;
}

static status finish_level(heat_run *run, heat_stratum *s) {
  status rc = STATUS_OK;
  heat_level_map m = {.s = s->slab};
  const heat_medium none = {.alpha = 1.0};
  for (int d = 0; d < s->slab.g.dims; d++) {
    m.lo[d] = s->lo[d];
    m.hi[d] = s->hi[d];
    m.robin[d] = s->robin[d];
    m.face[d] = s->face[d];
    m.share[d] = s->share[d];
    m.at[d] = s->at[d];
    m.below[d] = s->below[d];
    m.tap[d] = s->tap[d];
    m.part[d] = s->part[d];
  }
  TRY(run->kernels->heat->levels->create(run->place, &m, &s->level));
  if (s->work == NULL) {
    s->own_work = 1;
    TRY(run->kernels->heat->create(run->place, &s->slab, &none, &s->work));
  }
  TRY(make_fields(run, s));
done:
  return comm_agree(run->world, rc);
}

static status open_finest(heat_run *run, heat_stratum *s) {
  status rc = STATUS_OK;
  const int size = run->owned.size;
  s->slab = run->slab;
  s->work = run->work;
  s->owned = run->owned;
  s->owned.first = NULL;
  TRY(alloc_array(&s->owned.first, size + 1, sizeof *s->owned.first, "planes of a level"));
  memcpy(s->owned.first, run->owned.first, (size_t)(size + 1) * sizeof *s->owned.first);
  for (int d = 0; d <= last_of(run); d++) {
    TRY(make_arrays(s, d, 0, 0));
    for (int64_t j = 0; j <= s->slab.g.n[d]; j++) s->x[d][j] = (double)j;
    make_coefficients(run, s, d);
  }
done:
  return comm_agree(run->world, rc);
}

static status open_coarse(heat_run *run, heat_stratum *c, const heat_stratum *f) {
  status rc = STATUS_OK;
  begin_grid(c, f);
  for (int d = 0; d <= last_of(run); d++) {
    TRY(make_arrays(c, d, 1, f->slab.g.n[d]));
    place(c, f, d);
    make_coefficients(run, c, d);
    make_taps(c, f, d, heat_alpha_varies(run->problem));
  }
  TRY(share_planes(run, c, f));
done:
  return comm_agree(run->world, rc);
}

static status open_level(heat_run *run, heat_multigrid *m, int i) {
  status rc = STATUS_OK;
  heat_stratum *s = &m->level[i], *finer = i > 0 ? s - 1 : NULL;
  const int idle = run->slab.planes == 0;
  TRY(i == 0 ? open_finest(run, s) : open_coarse(run, s, finer));
  TRY(plan(run, s, 1, idle, &s->near));
  TRY(plan(run, s, HEAT_REACH, idle, &s->far));
  if (i > 0) TRY(heat_stratum_make_shares(run, finer, s));
  if (i > 0) TRY(finish_level(run, finer));
  TRY(i == 0 ? heat_stratum_take_faces(run, s) : heat_stratum_make_faces(run, s, finer));
  TRY(heat_stratum_find_reach(run, s));
done:
  return rc;
}

static int64_t points_of(const heat_grid *g) { return g->n[0] * g->n[1] * g->n[2]; }

status heat_multigrid_open(heat_run *run, heat_multigrid *m) {
  status rc = STATUS_OK;
  const heat_problem *p = run->problem;
  m->mass = m->scale = NAN;
  m->singular = 1;
  for (int f = 0; f < 2 * p->grid.dims; f++) {
    const boundary_kind kind = p->face[f].kind;
    if (kind == BOUNDARY_DIRICHLET || kind == BOUNDARY_INITIAL) m->singular = 0;
    if (kind == BOUNDARY_ROBIN && p->face[f].h != 0.0) m->singular = 0;
  }
  for (int more = 1; more && m->levels < HEAT_LEVELS;) {
    heat_stratum *s = &m->level[m->levels++];
    TRY(open_level(run, m, m->levels - 1));
    more = points_of(&s->slab.g) > HEAT_DENSE_ENOUGH && choose(run, s);
  }
  TRY(finish_level(run, &m->level[m->levels - 1]));
  TRY(heat_dense_open(run, m));
done:
  for (int i = 0; i < m->levels; i++) { /* the device has them */
    for (int d = 0; d < HEAT_DIMS; d++) {
      alloc_free(&m->level[i].face[d]);
      alloc_free(&m->level[i].share[d]);
    }
  }
  return rc;
}

void heat_multigrid_close(heat_run *run, heat_multigrid *m) {
  for (int i = 0; i < m->levels; i++) {
    heat_stratum *s = &m->level[i];
    heat_field *const all[] = {&s->r, &s->z, &s->w, &s->q};
    for (int k = 0; k < 4; k++) {
      if (all[k]->data.at != NULL) run->kernels->release(run->place, &all[k]->data);
    }
    if (s->level != NULL) run->kernels->heat->levels->release(run->place, &s->level);
    if (s->own_work && s->work != NULL) run->kernels->heat->release(run->place, &s->work);
    halo_release(&s->near);
    halo_release(&s->far);
    ownership_release(&s->owned);
    for (int d = 0; d < HEAT_DIMS; d++) {
      alloc_free(&s->x[d]);
      alloc_free(&s->lo[d]);
      alloc_free(&s->hi[d]);
      alloc_free(&s->robin[d]);
      alloc_free(&s->width[d]);
      alloc_free(&s->at[d]);
      alloc_free(&s->below[d]);
      alloc_free(&s->tap[d]);
      alloc_free(&s->part[d]);
      alloc_free(&s->face[d]);
    }
  }
  heat_dense_close(m);
}
