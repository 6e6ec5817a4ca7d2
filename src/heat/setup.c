/* From a problem to a run that can start: who owns which planes, coordinates, the medium and its
 * bound of the spectrum, the fields, and their first values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "implicit.h"
#include "log.h"
#include "scheme.h"

enum { POINTS_ALIGNED = 256 };     /* 1-D: a block of sums is not shared */
static const double ALIKE = 1e-12; /* times the largest value */

static int last_of(const heat_run *run) { return run->slab.g.dims - 1; }

/* ---- slab and halo ---- */

static status share_planes(heat_run *run) {
  status rc = STATUS_OK;
  const heat_grid *g = &run->problem->grid;
  heat_slab *s = &run->slab;
  s->g = *g;
  s->plane = 1;
  for (int d = 0; d < g->dims - 1; d++) s->plane *= g->n[d];
  TRY(ownership_aligned(run->world, g->n[g->dims - 1], g->dims == 1 ? POINTS_ALIGNED : 1,
                        &run->owned));
  s->first = ownership_begin(&run->owned);
  s->planes = ownership_end(&run->owned) - s->first;
done:
  return rc;
}

/* The global number of plane p of the slab (from the first owned one): around the end, or -1. */
static int64_t plane_number(const heat_run *run, int64_t p) {
  const heat_grid *g = &run->slab.g;
  const int64_t n = g->n[last_of(run)], gp = run->slab.first + p;
  if (g->face[2 * last_of(run)] == HEAT_PERIODIC) return (gp % n + n) % n;
  return gp < 0 || gp >= n ? -1 : gp;
}

/* Planes beyond `depth` are not exchanged: implicit solves have plans of their own for them. */
static status plan_halo(heat_run *run) {
  status rc = STATUS_OK;
  gidx *ghost = NULL;
  const heat_slab *s = &run->slab;
  const int64_t ghosts = s->planes == 0 || s->g.n[last_of(run)] == 1 ? 0 : 2 * s->halo;
  TRY(comm_agree(run->world, alloc_array(&ghost, ghosts, sizeof *ghost, "halo planes")));
  for (int64_t i = 0; i < ghosts; i++) {
    ghost[i] = plane_number(run, i < s->halo ? i - s->halo : s->planes + i - s->halo);
  }
  TRY(halo_create_planes(run->world, &run->owned, s->plane, ghost, (lidx)ghosts, &run->plan));
done:
  alloc_free(&ghost);
  return rc;
}

/* Of the last direction: slab, halo, and a plane behind it, for the faces of the last one. Planes
 * that are not there get the nearest one's coordinate: their values are not used. */
static status make_axes(heat_run *run) {
  status rc = STATUS_OK;
  const heat_slab *s = &run->slab;
  const heat_grid *g = &s->g;
  const int last = last_of(run);
  for (int d = 0; d <= last; d++) {
    const int64_t count = d == last ? s->planes + 2 * s->halo + 1 : g->n[d];
    TRY(alloc_array(&run->axis[d], count, sizeof **run->axis, "coordinates"));
    for (int64_t i = 0; i < count; i++) {
      int64_t j = d == last ? plane_number(run, i - s->halo) : i;
      if (j < 0) j = s->first + i - s->halo < 0 ? 0 : g->n[d] - 1;
      run->axis[d][i] = heat_at(g, d, j);
    }
  }
done:
  return rc;
}

heat_box heat_slab_box(const heat_run *run, int64_t depth) {
  const heat_slab *s = &run->slab;
  const int last = last_of(run);
  heat_box b = {.dims = s->g.dims};
  for (int d = 0; d <= last; d++) {
    b.count[d] = d == last ? s->planes + 2 * depth : s->g.n[d];
    b.axis[d] = run->axis[d] + (d == last ? s->halo - depth : 0);
  }
  return b;
}

/* The points of a face, as heat_face_at() numbers them. */
static heat_box face_box(const heat_run *run, int face, double *place) {
  heat_box b = heat_slab_box(run, run->slab.halo);
  const int d = face / 2;
  *place = heat_at(&run->slab.g, d, face % 2 == 0 ? 0 : run->slab.g.n[d] - 1);
  b.count[d] = 1;
  b.axis[d] = place;
  return b;
}

/* ---- the medium ---- */

static status bad_alpha(const heat_run *run, const heat_box *b, const double *alpha, int64_t i) {
  char where[120] = "";
  int64_t at = i;
  for (int d = 0; d < b->dims; d++) {
    const size_t used = strlen(where);
    snprintf(where + used, sizeof where - used, "%s%.17g", d == 0 ? "" : ", ",
             b->axis[d][at % b->count[d]]);
    at /= b->count[d];
  }
  (void)run;
  return fail(STATUS_INPUT, "alpha(%s) = %g; expected a positive number", where, alpha[i]);
}

/* Coefficients of the faces between each point and the next in direction d. */
static void join(const heat_run *run, int d, const double *alpha, double *face) {
  const heat_slab *s = &run->slab;
  const heat_grid *g = &s->g;
  const int64_t points = heat_points(s);
  const double dx = g->spacing[d];
  int64_t step = 1;
  for (int k = 0; k < d; k++) step *= g->n[k];
  for (int64_t i = 0; i < points; i++) {
    int64_t next = i + step;
    if (d < last_of(run) && i / step % g->n[d] == g->n[d] - 1) next -= step * g->n[d];
    face[i] = heat_mean(alpha[i], alpha[next]) / (dx * dx);
  }
}

/* Gershgorin: twice the sum of a point's coefficients; a mirrored one counts twice. */
static double rate_bound(const heat_run *run, double *const face[HEAT_DIMS]) {
  const heat_slab *s = &run->slab;
  const heat_grid *g = &s->g;
  double top = 0.0;
  for (int64_t i = 0; i < heat_owned(s); i++) {
    const int64_t at = i + s->halo * s->plane;
    double sum = 0.0;
    int64_t step = 1;
    for (int d = 0; d < g->dims; d++) {
      const int last = d == last_of(run), around = g->face[2 * d] == HEAT_PERIODIC;
      const int64_t n = g->n[d], here = last ? i / step + s->first : i / step % n;
      if (n > 1) {
        const int64_t before = here > 0 || (around && last) ? at - step
                               : around                     ? at + step * (n - 1)
                                                            : at;
        const int64_t behind = here < n - 1 || around ? at : at - step;
        sum += face[d][before] + face[d][behind];
      }
      step *= n;
    }
    if (sum > top) top = sum;
  }
  return 2.0 * top;
}

/* What Robin faces add: h over the part of a cell, where several meet, of all of them. */
static double robin_bound(const heat_problem *p) {
  double sum = 0.0;
  for (int d = 0; d < p->grid.dims; d++) {
    double side[2];
    for (int i = 0; i < 2; i++) {
      const heat_boundary *b = &p->face[2 * d + i];
      side[i] = b->kind == BOUNDARY_ROBIN ? b->h * heat_inflow(&p->grid, 2 * d + i) : 0.0;
    }
    sum += p->grid.n[d] == 1 ? side[0] + side[1] : fmax(side[0], side[1]);
  }
  return sum;
}

/* Of the slab, its halo and a plane behind it; planes that are not there repeat the nearest one. */
static status read_alpha(const heat_run *run, double *alpha) {
  status rc = STATUS_OK;
  const heat_slab *s = &run->slab;
  const heat_reader *from = &run->problem->alpha_from;
  TRY(from->planes(from->context, s->first, s->planes, alpha + s->halo * s->plane));
  for (int64_t p = -s->halo; p <= s->planes + s->halo && s->planes > 0; p++) {
    int64_t at = plane_number(run, p);
    if (p >= 0 && p < s->planes) continue;
    if (at < 0) at = s->first + p < 0 ? 0 : s->g.n[last_of(run)] - 1;
    TRY(from->planes(from->context, at, 1, alpha + (p + s->halo) * s->plane));
  }
done:
  return rc;
}

status heat_faces(const heat_run *run, double *face[HEAT_DIMS]) {
  status rc = STATUS_OK;
  const heat_slab *s = &run->slab;
  double *alpha = NULL;
  heat_box b = heat_slab_box(run, s->halo);
  b.count[last_of(run)]++;
  const int64_t points = heat_box_points(&b);
  TRY(alloc_array(&alpha, points, sizeof *alpha, "conductivity"));
  if (run->problem->alpha_from.planes != NULL) {
    for (int64_t i = 0; i < points; i++) alpha[i] = 1.0; /* of a rank without planes */
    TRY(read_alpha(run, alpha));
  } else {
    heat_value_fill(&run->problem->alpha, &b, 0.0, run->threads, alpha);
  }
  for (int64_t i = 0; i < points; i++) {
    if (!(alpha[i] > 0.0) || isinf(alpha[i])) {
      rc = bad_alpha(run, &b, alpha, i);
      goto done;
    }
  }
  for (int d = 0; d < s->g.dims; d++) {
    TRY(alloc_array(&face[d], heat_points(s), sizeof **face, "face coefficients"));
    join(run, d, alpha, face[d]);
  }
done:
  alloc_free(&alpha);
  return rc;
}

static status make_medium(heat_run *run) {
  status rc = STATUS_OK;
  const heat_problem *p = run->problem;
  const heat_grid *g = &p->grid;
  heat_medium m = {.alpha = p->alpha.number};
  double *face[HEAT_DIMS] = {NULL};
  if (heat_alpha_varies(p)) {
    rc = heat_faces(run, face);
    if (rc == STATUS_OK) run->lambda = rate_bound(run, face);
  } else {
    double sum = 0.0;
    for (int d = 0; d < g->dims; d++) {
      if (g->n[d] > 1) sum += 1.0 / (g->spacing[d] * g->spacing[d]);
    }
    run->lambda = 4.0 * p->alpha.number * sum;
  }
  TRY(comm_agree(run->world, rc));
  TRY(comm_max_f64(run->world, &run->lambda, 1));
  run->lambda += robin_bound(p);
  for (int d = 0; d < HEAT_DIMS; d++) m.face[d] = face[d];
  for (int f = 0; f < 2 * g->dims; f++) {
    m.is_robin[f] = p->face[f].kind == BOUNDARY_ROBIN;
    m.robin[f] = p->face[f].h;
  }
  rc = comm_agree(run->world, run->kernels->heat->create(run->place, &run->slab, &m, &run->work));
done:
  for (int d = 0; d < HEAT_DIMS; d++) alloc_free(&face[d]);
  return rc;
}

/* ---- fields ---- */

static status make_field(heat_run *run, const char *what, int64_t points, heat_field *out) {
  return run->kernels->alloc(run->place, points * (int64_t)sizeof(double), what, &out->data);
}

/* A value that is one number needs no field; held faces whose value stays are in the field itself.
 */
static status make_supply(heat_run *run, const heat_value *v, const char *what, int always,
                          heat_supply *s) {
  s->value = v;
  s->at = NAN;
  s->number = v->number;
  if (v->f == NULL || (!v->in_space && !always)) return STATUS_OK;
  return make_field(run, what, heat_box_points(&s->box), &s->field);
}

static status make_supplies(heat_run *run) {
  status rc = STATUS_OK;
  const heat_problem *p = run->problem;
  run->source.box = heat_slab_box(run, run->slab.halo);
  TRY(make_supply(run, &p->source, "source", 0, &run->source));
  for (int f = 0; f < 2 * p->grid.dims; f++) {
    const heat_boundary *b = &p->face[f];
    if (b->kind == BOUNDARY_NEUMANN || b->kind == BOUNDARY_ROBIN) {
      run->flux[f].box = face_box(run, f, &run->face_place[f]);
      TRY(make_supply(run, &b->value, "flux", 0, &run->flux[f]));
    }
    if (b->kind == BOUNDARY_DIRICHLET && b->value.in_time) {
      run->held[f].box = face_box(run, f, &run->face_place[f]);
      TRY(make_supply(run, &b->value, "boundary values", 1, &run->held[f]));
    }
  }
done:
  return rc;
}

/* Held points of face f get its value, but those that an earlier face holds. *changed: how many had
 * another one, by more than rounding. */
static status hold_face(heat_run *run, int f, double *u, double size, int64_t *changed) {
  status rc = STATUS_OK;
  const heat_slab *s = &run->slab;
  const heat_boundary *b = &run->problem->face[f];
  double *value = NULL, place;
  const heat_box box = face_box(run, f, &place);
  if (b->kind != BOUNDARY_DIRICHLET) return rc;
  TRY(alloc_array(&value, heat_box_points(&box), sizeof *value, "boundary values"));
  heat_value_fill(&b->value, &box, 0.0, run->threads, value);
  for (int64_t i = 0; i < heat_owned(s); i++) {
    int64_t j[HEAT_DIMS] = {i % s->g.n[0], i / s->g.n[0] % s->g.n[1], 0}, local[HEAT_DIMS];
    memcpy(local, j, sizeof j);
    local[last_of(run)] = i / s->plane;
    j[last_of(run)] = i / s->plane + s->first;
    if (heat_holder(&s->g, j) != f) continue;
    const double held = value[heat_face_at(s, f, local)];
    *changed += !(fabs(held - u[i]) <= ALIKE * size);
    u[i] = held;
  }
done:
  alloc_free(&value);
  return rc;
}

/* A file may hold anything. */
static status check_read(const heat_run *run, const double *u) {
  for (int64_t i = 0; i < heat_owned(&run->slab); i++) {
    if (isfinite(u[i])) continue;
    return fail(STATUS_INPUT, "the initial state is not finite: %g at point %lld of plane %lld",
                u[i], (long long)(i % run->slab.plane),
                (long long)(run->slab.first + i / run->slab.plane));
  }
  return STATUS_OK;
}

static status load_initial(heat_run *run) {
  status rc = STATUS_OK;
  const heat_problem *p = run->problem;
  const heat_box box = heat_slab_box(run, 0);
  double *u = run->host;
  int64_t changed = 0;
  double size = 0.0;
  if (p->initial_from.planes != NULL) {
    TRY(p->initial_from.planes(p->initial_from.context, run->slab.first, run->slab.planes, u));
    TRY(check_read(run, u));
  } else {
    heat_value_fill(&p->initial, &box, 0.0, run->threads, u);
  }
  for (int64_t i = 0; i < heat_owned(&run->slab); i++) {
    if (isfinite(u[i])) size = fmax(size, fabs(u[i])); /* held points may hide a pole */
  }
  for (int f = 0; f < 2 * p->grid.dims; f++) TRY(hold_face(run, f, u, size, &changed));
  TRY(heat_load(run, run->u, u));
done:
  rc = comm_agree(run->world, rc);
  if (rc == STATUS_OK) rc = comm_sum_i64(run->world, &changed, 1);
  if (changed > 0) {
    log_info("dirichlet faces: %lld point%s get other values than the initial state has there",
             (long long)changed, changed == 1 ? "" : "s");
  }
  return rc;
}

static status make_fields(heat_run *run) {
  status rc = STATUS_OK;
  const int64_t points = heat_points(&run->slab);
  TRY(make_axes(run));
  TRY(alloc_array(&run->host, points, sizeof *run->host, "field"));
  TRY(make_field(run, "field", points, &run->u));
  TRY(make_supplies(run));
done:
  return comm_agree(run->world, rc);
}

status heat_open(heat_run *run, int64_t depth) {
  status rc = STATUS_OK;
  TRY(comm_agree(run->world, share_planes(run)));
  TRY(heat_choose_depth(run, depth));
  TRY(plan_halo(run));
  TRY(make_fields(run));
  TRY(make_medium(run));
  rc = load_initial(run);
done:
  return rc;
}

status heat_open_scheme(heat_run *run, const heat_scheme *scheme) {
  status rc = STATUS_OK;
  run->scheme = scheme;
  for (int i = 0; i < scheme->fields; i++) {
    TRY(make_field(run, "field of a stage", heat_points(&run->slab), &run->spare[i]));
  }
done:
  rc = comm_agree(run->world, rc);
  return rc != STATUS_OK || !scheme->implicit ? rc : heat_implicit_open(run);
}

static void drop(heat_run *run, heat_field *f) {
  if (f->data.at != NULL) run->kernels->release(run->place, &f->data);
}

void heat_close(heat_run *run) {
  if (run->place != NULL) {
    heat_implicit_close(run);
    drop(run, &run->u);
    drop(run, &run->source.field);
    for (int i = 0; i < HEAT_SPARES; i++) drop(run, &run->spare[i]);
    for (int f = 0; f < HEAT_FACES; f++) {
      drop(run, &run->flux[f].field);
      drop(run, &run->held[f].field);
    }
    if (run->work != NULL) run->kernels->heat->release(run->place, &run->work);
  }
  halo_release(&run->plan);
  ownership_release(&run->owned);
  for (int d = 0; d < HEAT_DIMS; d++) alloc_free(&run->axis[d]);
  alloc_free(&run->host);
  alloc_free(&run->queue);
}
