/* Levels of the implicit heat schemes on all cores, by x-lines: threads take runs of lines (of
 * segments in 1-D). The operator of a piece of a line is one loop per number of dimensions, with
 * and without face coefficients, that vectorises; the points at the ends of a periodic line, whose
 * neighbours are elsewhere, are pieces of their own. Bits are those of heat_level.h.
 *
 * Traffic per point, 2-D with variable alpha: apply 40 bytes (u, two faces, out written), of a
 * residual 48; relax 48 to 56; combine 24; dot 16. */
#include "omp_team.h"

#include <string.h>

#include "block_sum.h"
#include "heat_level_host.h"

enum { CHUNK = 256, SEGMENT = 4096, FEW = 4 * SEGMENT };

/* What the points of a piece have in common; x = 0 of the piece is where pointers point. */
typedef struct piece {
  const double *u;
  heat_near near[HEAT_DIMS];
  const double *lo, *hi, *robin; /* of x */
  double low[HEAT_DIMS], high[HEAT_DIMS], rest;
  const double *face[HEAT_DIMS];
} piece;

typedef struct job {
  const heat_level *l;
  double mass, scale;
  const double *u, *r, *c; /* c NULL: apply */
  double *out;
} job;

/* The sums of a piece and what multiplies u itself in them. */
static inline void pull(int dims, int varies, const piece *p, int64_t n, double *restrict sum,
                        double *restrict own) {
  const double *u = p->u, *x_lo = u + p->near[0].lo, *x_hi = u + p->near[0].hi;
  const double *y_lo = u + p->near[1].lo, *y_hi = u + p->near[1].hi;
  const double *z_lo = u + p->near[2].lo, *z_hi = u + p->near[2].hi;
  const double *fx_lo = p->face[0] + p->near[0].a_lo, *fx_hi = p->face[0];
  const double *fy_lo = p->face[1] + p->near[1].a_lo, *fy_hi = p->face[1];
  const double *fz_lo = p->face[2] + p->near[2].a_lo, *fz_hi = p->face[2];
  const double *x_low = p->lo, *x_high = p->hi, *x_robin = p->robin;
  const double y_low = p->low[1], y_high = p->high[1], z_low = p->low[2], z_high = p->high[2];
  const double rest = p->rest;
  for (int64_t i = 0; i < n; i++) {
    double lo = x_low[i], hi = x_high[i];
    if (varies) {
      lo *= fx_lo[i];
      hi *= fx_hi[i];
    }
    double t = heat_level_pull(lo, hi, u[i], x_lo[i], x_hi[i]), d = lo + hi;
    if (dims > 1) {
      lo = varies ? y_low * fy_lo[i] : y_low;
      hi = varies ? y_high * fy_hi[i] : y_high;
      t += heat_level_pull(lo, hi, u[i], y_lo[i], y_hi[i]);
      d += lo + hi;
    }
    if (dims > 2) {
      lo = varies ? z_low * fz_lo[i] : z_low;
      hi = varies ? z_high * fz_hi[i] : z_high;
      t += heat_level_pull(lo, hi, u[i], z_lo[i], z_hi[i]);
      d += lo + hi;
    }
    const double robin = x_robin[i] + rest;
    sum[i] = fma(robin, u[i], t);
    own[i] = d + robin;
  }
}

static void pull_any(int dims, int varies, const piece *p, int64_t n, double *restrict sum,
                     double *restrict own) {
  switch (2 * dims + varies) {
  case 2:
    pull(1, 0, p, n, sum, own);
    break;
  case 3:
    pull(1, 1, p, n, sum, own);
    break;
  case 4:
    pull(2, 0, p, n, sum, own);
    break;
  case 5:
    pull(2, 1, p, n, sum, own);
    break;
  case 6:
    pull(3, 0, p, n, sum, own);
    break;
  default:
    pull(3, 1, p, n, sum, own);
    break;
  }
}

static void finish_apply(const job *k, int64_t at, int64_t n, const double *restrict sum) {
  const double *u = k->u + at;
  double *out = k->out + at;
  const double mass = k->mass, scale = k->scale;
  if (k->r == NULL) {
    for (int64_t i = 0; i < n; i++) out[i] = heat_level_apply(mass, scale, sum[i], u[i]);
    return;
  }
  const double *r = k->r + at;
  for (int64_t i = 0; i < n; i++) out[i] = r[i] - heat_level_apply(mass, scale, sum[i], u[i]);
}

static void finish_relax(const job *k, int64_t at, int64_t n, const double *restrict sum,
                         const double *restrict own) {
  const double *r = k->r + at, mass = k->mass, scale = k->scale;
  const double c0 = k->c[0], c1 = k->c[1], c2 = k->c[2];
  double *out = k->out + at;
  if (k->u == NULL) {
    for (int64_t i = 0; i < n; i++) out[i] = c2 * (r[i] / fma(scale, own[i], mass));
    return;
  }
  const double *z = k->u + at;
  for (int64_t i = 0; i < n; i++) {
    const double residual = r[i] - heat_level_apply(mass, scale, sum[i], z[i]);
    const double before = c1 == 0.0 ? 0.0 : out[i];
    out[i] = heat_level_relax(z[i], before, residual, fma(scale, own[i], mass), c0, c1, c2);
  }
}

/* Points [x, x + n) of the line whose x = 0 is at `at`. */
static void run_piece(const job *k, piece *p, int64_t at, int64_t x, int64_t n) {
  double sum[CHUNK], own[CHUNK];
  const heat_level_map *m = &k->l->m;
  for (int64_t end = x + n; x < end; x += CHUNK) {
    const int64_t count = end - x < CHUNK ? end - x : CHUNK;
    /* with z = 0 only what multiplies it is wanted: any finite field will do */
    p->u = (k->u == NULL ? k->r : k->u) + at + x;
    p->lo = m->lo[0] + x;
    p->hi = m->hi[0] + x;
    p->robin = m->robin[0] + x;
    for (int d = 0; d < m->s.g.dims; d++) {
      p->face[d] = m->face[d] == NULL ? p->u : m->face[d] + at + x;
    }
    for (int d = m->s.g.dims; d < HEAT_DIMS; d++) p->face[d] = p->u;
    pull_any(m->s.g.dims, m->face[0] != NULL, p, count, sum, own);
    if (k->c == NULL) {
      finish_apply(k, at + x, count, sum);
    } else {
      finish_relax(k, at + x, count, sum, own);
    }
  }
}

/* Neighbours and coefficients beyond x of a line in plane p at y. Returns whether it is held. */
static int make_piece(const heat_level *l, int64_t p, int64_t y, piece *out) {
  const heat_level_map *m = &l->m;
  const int dims = m->s.g.dims;
  int held = 0;
  *out = (piece){.rest = 0.0};
  for (int d = 1; d < dims; d++) {
    const int64_t j = d == dims - 1 ? p + m->s.first : y;
    out->near[d] = heat_level_near(&m->s.g, d, j, l->stride[d]);
    out->low[d] = m->lo[d][j];
    out->high[d] = m->hi[d][j];
    out->rest += m->robin[d][j];
    held |= j == 0 && m->s.g.face[2 * d] == HEAT_HELD;
    held |= j == m->s.g.n[d] - 1 && m->s.g.face[2 * d + 1] == HEAT_HELD;
  }
  return held;
}

/* Points [begin, end) of a line. */
static void run_line(const job *k, int64_t p, int64_t y, int64_t begin, int64_t end) {
  const heat_level *l = k->l;
  const heat_grid *g = &l->m.s.g;
  const int64_t n = g->n[0];
  const int64_t at =
      g->dims == 1 ? l->m.s.halo - l->m.s.first : level_plane(l, p) + (g->dims > 2 ? y * n : 0);
  piece line;
  if (make_piece(l, p, y, &line)) {
    memset(k->out + at + begin, 0, (size_t)(end - begin) * sizeof *k->out);
    return;
  }
  const int around = n == 1 || (g->dims > 1 && g->face[0] == HEAT_PERIODIC);
  if (around) {
    for (int side = 0; side < 2 && begin < end; side++) {
      const int64_t x = side == 0 ? begin++ : --end;
      line.near[0] = heat_level_near(g, 0, x, 1);
      run_piece(k, &line, at, x, 1);
    }
  }
  line.near[0] = (heat_near){-1, 1, -1, 0};
  if (begin < end) run_piece(k, &line, at, begin, end - begin);
  if (g->face[0] == HEAT_HELD && begin == 0) k->out[at] = 0.0;
  if (g->face[1] == HEAT_HELD && end == n) k->out[at + n - 1] = 0.0;
}

static void run_job(const device *d, const job *k, int64_t from, int64_t to) {
  const heat_level *l = k->l;
  const heat_slab *s = &l->m.s;
  const int flat = s->g.dims == 1;
  const int64_t lines = flat ? (to - from + SEGMENT - 1) / SEGMENT : (to - from) * l->lines;
  const int team = (to - from) * s->plane > FEW ? d->threads : 1;
#pragma omp parallel for num_threads(team) schedule(static)
  for (int64_t i = 0; i < lines; i++) {
    if (flat) {
      const int64_t begin = from + i * SEGMENT, end = begin + SEGMENT < to ? begin + SEGMENT : to;
      run_line(k, 0, 0, s->first + begin, s->first + end);
    } else {
      run_line(k, from + i / l->lines, i % l->lines, 0, s->g.n[0]);
    }
  }
}

static status apply(device *d, heat_level *l, double mass, double scale, heat_field u, heat_field r,
                    heat_field out, int64_t from, int64_t to) {
  const job k = {.l = l,
                 .mass = mass,
                 .scale = scale,
                 .u = level_at(u),
                 .r = level_at(r),
                 .out = level_at(out)};
  run_job(d, &k, from, to);
  return STATUS_OK;
}

static status relax(device *d, heat_level *l, double mass, double scale, heat_field z, heat_field r,
                    heat_field out, const double c[3], int64_t from, int64_t to) {
  const job k = {.l = l,
                 .mass = mass,
                 .scale = scale,
                 .u = level_at(z),
                 .r = level_at(r),
                 .c = c,
                 .out = level_at(out)};
  run_job(d, &k, from, to);
  return STATUS_OK;
}

/* ---- between levels ---- */

static status restriction(device *d, heat_level *l, heat_level *finer, heat_field u,
                          heat_field out) {
  const int64_t planes = l->m.s.g.dims == 1 ? l->m.s.planes > 0 : l->m.s.planes;
  const int team = heat_owned(&finer->m.s) > FEW ? d->threads : 1;
#pragma omp parallel for num_threads(team) schedule(static)
  for (int64_t i = 0; i < planes * l->lines; i++) {
    heat_level_restrict_line(l, finer, level_at(u), level_at(out), i / l->lines, i % l->lines);
  }
  return STATUS_OK;
}

static status interpolate(device *d, heat_level *l, heat_level *finer, heat_field u,
                          heat_field out) {
  const int64_t planes = l->m.s.g.dims == 1 ? finer->m.s.planes > 0 : finer->m.s.planes;
  const int team = heat_owned(&finer->m.s) > FEW ? d->threads : 1;
#pragma omp parallel for num_threads(team) schedule(static)
  for (int64_t i = 0; i < planes * finer->lines; i++) {
    heat_level_interpolate_line(l, finer, level_at(u), level_at(out), i / finer->lines,
                                i % finer->lines);
  }
  return STATUS_OK;
}

/* ---- pointwise, and sums ---- */

static status combine(device *d, heat_level *l, double a, heat_field x, double b, heat_field y,
                      double c, heat_field out) {
  const int64_t at = level_plane(l, 0), owned = heat_owned(&l->m.s);
  const double *px = level_at(x), *py = level_at(y);
  double *to = level_at(out) + at;
  px = px == NULL ? NULL : px + at;
  py = py == NULL ? NULL : py + at;
  const int team = owned > FEW ? d->threads : 1;
#pragma omp parallel num_threads(team)
  {
    if (px == NULL) {
#pragma omp for schedule(static)
      for (int64_t i = 0; i < owned; i++) to[i] = py == NULL ? c : b * py[i] + c;
    } else if (py == NULL) {
#pragma omp for schedule(static)
      for (int64_t i = 0; i < owned; i++) to[i] = fma(a, px[i], c);
    } else {
#pragma omp for schedule(static)
      for (int64_t i = 0; i < owned; i++) to[i] = fma(a, px[i], b * py[i] + c);
    }
  }
  return STATUS_OK;
}

/* What is summed: a product, or the square of a weighted error. */
typedef struct summing {
  const double *x, *y;
  const double *u, *v; /* NULL: a product */
  double rtol, atol;
} summing;

/* Points [i, i + n) of the owned ones, at x of their line. */
static double block_of(const heat_slab *s, const summing *w, int64_t i, int64_t x, int n,
                       double share) {
  double q[BLOCK_MAX], e[BLOCK_MAX];
  const int has_ends = s->g.n[0] > 1 && s->g.face[0] != HEAT_PERIODIC;
  const double *other = w->y == NULL ? e : w->y + i;
  if (w->y == NULL) {
    for (int k = 0; k < n; k++) {
      e[k] = heat_level_error(w->x[i + k], w->u[i + k], w->v[i + k], w->rtol, w->atol);
      q[k] = share * e[k];
    }
  } else {
    for (int k = 0; k < n; k++) q[k] = share * w->x[i + k];
  }
  if (n == 0) return 0.0;
  if (has_ends && x == 0) q[0] *= 0.5;
  if (has_ends && x + n == s->g.n[0]) q[n - 1] *= 0.5;
  return block_dot(q, other, n);
}

static void run_sum(device *d, const heat_level *l, const summing *w) {
  const heat_slab *s = &l->m.s;
  const int64_t length = level_length(s), owned = heat_owned(s);
  const int64_t blocks = (length + BLOCK_MAX - 1) / BLOCK_MAX;
  const int64_t lines = length > 0 ? owned / length : 0;
  const int team = owned > FEW ? d->threads : 1;
#pragma omp parallel for num_threads(team) schedule(static)
  for (int t = 0; t < d->threads; t++) {
    const int64_t begin = lines * blocks * t / d->threads;
    const int64_t end = lines * blocks * (t + 1) / d->threads;
    worker *me = &d->worker[t];
    for (int64_t i = begin; i < end; i++) {
      const int64_t row = i / blocks, x = i % blocks * BLOCK_MAX;
      const int n = length - x < BLOCK_MAX ? (int)(length - x) : BLOCK_MAX;
      worker_add(me, 0,
                 block_of(s, w, row * length + x, s->g.dims == 1 ? x + s->first : x, n,
                          heat_level_line_share(s, row)));
    }
    worker_settle(me);
  }
}

static const double *owned_of(const heat_level *l, heat_field f) {
  return level_at(f) + level_plane(l, 0);
}

static status dot(device *d, heat_level *l, heat_field x, heat_field y) {
  const summing w = {.x = owned_of(l, x), .y = owned_of(l, y)};
  run_sum(d, l, &w);
  return STATUS_OK;
}

static status weigh(device *d, heat_level *l, heat_field x, heat_field u, heat_field v, double rtol,
                    double atol) {
  const summing w = {
      .x = owned_of(l, x), .u = owned_of(l, u), .v = owned_of(l, v), .rtol = rtol, .atol = atol};
  run_sum(d, l, &w);
  return STATUS_OK;
}

const heat_level_backend HEAT_LEVEL_omp = {.create = heat_level_host_create,
                                           .release = heat_level_host_release,
                                           .apply = apply,
                                           .relax = relax,
                                           .restriction = restriction,
                                           .interpolate = interpolate,
                                           .combine = combine,
                                           .dot = dot,
                                           .weigh = weigh,
                                           .curvature = heat_curvature_omp,
                                           .advance = heat_advance_omp,
                                           .descend = heat_descend_omp};
