/* Levels of the implicit heat schemes by plain serial loops, straight from heat_level.h: the oracle
 * of the parity tests. */
#include "ref_device.h"

#include <string.h>

#include "alloc.h"
#include "block_sum.h"
#include "heat_level_host.h"

/* Global coordinates of point i of plane p. */
static void coordinates(const heat_level *l, int64_t p, int64_t i, int64_t j[HEAT_DIMS]) {
  const heat_slab *s = &l->m.s;
  const int last = s->g.dims - 1;
  j[0] = last > 0 ? i % s->g.n[0] : 0;
  j[1] = last > 1 ? i / s->g.n[0] : 0;
  j[2] = 0;
  j[last] = p + s->first;
}

static status apply(device *d, heat_level *l, double mass, double scale, heat_field u, heat_field r,
                    heat_field out, int64_t from, int64_t to) {
  (void)d;
  int64_t j[HEAT_DIMS];
  for (int64_t p = from; p < to; p++) {
    for (int64_t i = 0; i < l->m.s.plane; i++) {
      const int64_t at = level_plane(l, p) + i;
      double own, a = 0.0;
      coordinates(l, p, i, j);
      if (heat_holder(&l->m.s.g, j) < 0) {
        const double sum = heat_level_sum(&l->m, level_at(u), at, j, &own);
        a = heat_level_apply(mass, scale, sum, level_at(u)[at]);
        if (r.data.at != NULL) a = level_at(r)[at] - a;
      }
      level_at(out)[at] = a;
    }
  }
  return STATUS_OK;
}

static status relax(device *d, heat_level *l, double mass, double scale, heat_field z, heat_field r,
                    heat_field out, const double c[3], int64_t from, int64_t to) {
  (void)d;
  int64_t j[HEAT_DIMS];
  for (int64_t p = from; p < to; p++) {
    for (int64_t i = 0; i < l->m.s.plane; i++) {
      const int64_t at = level_plane(l, p) + i;
      double own, *to_here = level_at(out) + at;
      coordinates(l, p, i, j);
      if (heat_holder(&l->m.s.g, j) >= 0) {
        *to_here = 0.0;
        continue;
      }
      const double sum = heat_level_sum(&l->m, level_at(z), at, j, &own);
      const double diagonal = fma(scale, own, mass);
      if (z.data.at == NULL) {
        *to_here = c[2] * (level_at(r)[at] / diagonal);
        continue;
      }
      const double here = level_at(z)[at];
      const double residual = level_at(r)[at] - heat_level_apply(mass, scale, sum, here);
      *to_here = heat_level_relax(here, c[1] == 0.0 ? 0.0 : *to_here, residual, diagonal, c[0],
                                  c[1], c[2]);
    }
  }
  return STATUS_OK;
}

static status restriction(device *d, heat_level *l, heat_level *finer, heat_field u,
                          heat_field out) {
  (void)d;
  const int64_t planes = l->m.s.g.dims == 1 ? l->m.s.planes > 0 : l->m.s.planes;
  for (int64_t i = 0; i < planes * l->lines; i++) {
    heat_level_restrict_line(l, finer, level_at(u), level_at(out), i / l->lines, i % l->lines);
  }
  return STATUS_OK;
}

static status interpolate(device *d, heat_level *l, heat_level *finer, heat_field u,
                          heat_field out) {
  (void)d;
  const int64_t planes = l->m.s.g.dims == 1 ? finer->m.s.planes > 0 : finer->m.s.planes;
  for (int64_t i = 0; i < planes * finer->lines; i++) {
    heat_level_interpolate_line(l, finer, level_at(u), level_at(out), i / finer->lines,
                                i % finer->lines);
  }
  return STATUS_OK;
}

static status combine(device *d, heat_level *l, double a, heat_field x, double b, heat_field y,
                      double c, heat_field out) {
  (void)d;
  const int64_t begin = level_plane(l, 0), end = begin + heat_owned(&l->m.s);
  for (int64_t i = begin; i < end; i++) {
    const double rest = y.data.at == NULL ? c : b * level_at(y)[i] + c;
    level_at(out)[i] = x.data.at == NULL ? rest : fma(a, level_at(x)[i], rest);
  }
  return STATUS_OK;
}

/* Blocks of a share of x y, of points [begin, end) of the owned ones, into sum `which`. */
static void add_blocks(device *d, const heat_level *l, int which, const double *x, const double *y,
                       int64_t begin, int64_t end) {
  const heat_slab *s = &l->m.s;
  const int64_t length = level_length(s);
  double q[BLOCK_MAX];
  int64_t j[HEAT_DIMS];
  while (begin < end) {
    int count = 0;
    do {
      const int64_t i = begin + count;
      coordinates(l, i / s->plane, i % s->plane, j);
      q[count++] = heat_share(&s->g, j) * x[i];
    } while (count < BLOCK_MAX && (begin + count) % length != 0);
    wide_add(&d->sums.sum[which], block_dot(q, y + begin, count));
    begin += count;
  }
  wide_normalise(&d->sums.sum[which]);
}

static status dot(device *d, heat_level *l, heat_field x, heat_field y) {
  add_blocks(d, l, 0, level_at(x) + level_plane(l, 0), level_at(y) + level_plane(l, 0), 0,
             heat_owned(&l->m.s));
  return STATUS_OK;
}

static status weigh(device *d, heat_level *l, heat_field x, heat_field u, heat_field v, double rtol,
                    double atol) {
  status rc = STATUS_OK;
  const int64_t at = level_plane(l, 0), owned = heat_owned(&l->m.s);
  double *q = NULL;
  TRY(alloc_array(&q, owned, sizeof *q, "errors"));
  for (int64_t i = 0; i < owned; i++) {
    q[i] =
        heat_level_error(level_at(x)[at + i], level_at(u)[at + i], level_at(v)[at + i], rtol, atol);
  }
  add_blocks(d, l, 0, q, q, 0, owned);
done:
  alloc_free(&q);
  return rc;
}

/* *out = A p on the planes [from, to), a field to be freed. */
static status make_product(device *d, heat_level *l, double mass, double scale, heat_field p,
                           int64_t from, int64_t to, heat_field *out) {
  status rc = STATUS_OK;
  double *q = NULL;
  const heat_field none = {{NULL}};
  TRY(alloc_zeroed(&q, heat_points(&l->m.s), sizeof *q, "product"));
  out->data.at = q;
  rc = apply(d, l, mass, scale, p, none, *out, from, to);
done:
  return rc;
}

static status curvature(device *d, heat_level *l, double mass, double scale, heat_field p,
                        heat_field r, int64_t from, int64_t to) {
  status rc = STATUS_OK;
  const int64_t at = level_plane(l, 0), plane = l->m.s.plane;
  heat_field made = {{NULL}};
  TRY(make_product(d, l, mass, scale, p, from, to, &made));
  const double *q = level_at(made) + at, *u = level_at(p) + at;
  add_blocks(d, l, 0, u, q, from * plane, to * plane);
  if (r.data.at == NULL) goto done;
  add_blocks(d, l, 1, q, q, from * plane, to * plane);
  add_blocks(d, l, 2, level_at(r) + at, level_at(r) + at, from * plane, to * plane);
done:
  alloc_free(&made.data.at);
  return rc;
}

/* x and r; p, where beta is given. */
static status change(device *d, heat_level *l, const heat_descent *s, const double *beta,
                     heat_field p, heat_field x, heat_field r) {
  status rc = STATUS_OK;
  const int64_t at = level_plane(l, 0);
  heat_field made = {{NULL}};
  TRY(make_product(d, l, s->mass, s->scale, p, 0, l->m.s.planes, &made));
  for (int64_t i = at; i < at + heat_owned(&l->m.s); i++) {
    double *u = level_at(p) + i, *residual = level_at(r) + i;
    if (x.data.at != NULL) {
      level_at(x)[i] = heat_level_correct(level_at(x)[i], s->along, *u, s->against, *residual);
    }
    *residual = heat_level_lessen(*residual, s->alpha, level_at(made)[i]);
    if (beta != NULL) *u = fma(*beta, *u, *residual);
  }
done:
  alloc_free(&made.data.at);
  return rc;
}

static status advance(device *d, heat_level *l, double mass, double scale, double alpha,
                      heat_field p, heat_field x, heat_field r) {
  const heat_descent s = {.mass = mass, .scale = scale, .alpha = alpha, .along = alpha};
  const status rc = change(d, l, &s, NULL, p, x, r);
  return rc != STATUS_OK ? rc : dot(d, l, r, r);
}

static status descend(device *d, heat_level *l, const heat_descent *s, heat_field p, heat_field x,
                      heat_field r, int64_t from, int64_t to) {
  const status rc = change(d, l, s, &s->beta, p, x, r);
  return rc != STATUS_OK ? rc : curvature(d, l, s->mass, s->scale, p, r, from, to);
}

const heat_level_backend HEAT_LEVEL_ref = {.create = heat_level_host_create,
                                           .release = heat_level_host_release,
                                           .apply = apply,
                                           .relax = relax,
                                           .restriction = restriction,
                                           .interpolate = interpolate,
                                           .combine = combine,
                                           .dot = dot,
                                           .weigh = weigh,
                                           .curvature = curvature,
                                           .advance = advance,
                                           .descend = descend};
