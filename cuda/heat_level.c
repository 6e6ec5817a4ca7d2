/* The levels of implicit heat schemes on the GPU: the operations of the table (heat_level_args.h
 * says what is where). Streams and halos are those of heat.c: a single boundary plane follows
 * unpack() on `urgent`, all else runs on `main`. A level's arrays are one piece of device memory,
 * since a hierarchy has hundreds. */
#include <string.h>

#include "alloc.h"
#include "block_sum.h"
#include "heat_level_args.h"

struct heat_level {
  heat_level_map m; /* its arrays lie in `room` */
  void *room;
};

static double *at(heat_field f) { return f.data.at; }

static status ready(device *d) {
  status rc = device_settle(d);
  return rc == STATUS_OK ? device_join(d) : rc;
}

/* ---- a level ---- */

/* An array of a map: where the pointer to it is, and how many eight-byte numbers it has. */
typedef struct array {
  void *pointer; /* in the level's own map */
  const void *from;
  int64_t count;
} array;

enum { MAP_ARRAYS = 9 * HEAT_DIMS, ALIGNMENT = 256 };

static int64_t room_of(const array *a) {
  const int64_t bytes = a->from == NULL ? 0 : a->count * 8;
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The arrays of m, to be those of `to`. */
static int list_arrays(const heat_level_map *m, heat_level_map *to, array list[MAP_ARRAYS]) {
  int count = 0;
  for (int d = 0; d < m->s.g.dims; d++) {
    const int64_t n = m->s.g.n[d], points = heat_points(&m->s);
    const int64_t fine = m->below[d] == NULL ? 0 : m->at[d][n];
    const array mine[] = {{&to->lo[d], m->lo[d], n},
                          {&to->hi[d], m->hi[d], n},
                          {&to->robin[d], m->robin[d], n},
                          {&to->face[d], m->face[d], points},
                          {&to->share[d], m->share[d], points},
                          {&to->at[d], m->at[d], n + 1},
                          {&to->below[d], m->below[d], fine},
                          {&to->tap[d], m->tap[d], HEAT_TAPS * n},
                          {&to->part[d], m->part[d], fine}};
    memcpy(list + count, mine, sizeof mine);
    count += (int)(sizeof mine / sizeof *mine);
  }
  return count;
}

static void release(device *d, heat_level **out) {
  heat_level *l = *out;
  if (l == NULL) return;
  cudaStreamSynchronize(d->main);
  cudaStreamSynchronize(d->urgent);
  if (l->room != NULL) device_free(d, l->room);
  alloc_free(out);
}

static status create(device *d, const heat_level_map *m, heat_level **out) {
  status rc = STATUS_OK;
  array list[MAP_ARRAYS];
  int64_t bytes = 0;
  TRY(alloc_zeroed(out, 1, sizeof **out, "level of multigrid"));
  heat_level *l = *out;
  l->m.s = m->s;
  const int count = list_arrays(m, &l->m, list);
  for (int i = 0; i < count; i++) bytes += room_of(&list[i]);
  TRY(device_alloc(d, bytes, "level of multigrid", &l->room));
  char *to = l->room;
  for (int i = 0; i < count; i++) {
    if (list[i].from == NULL) continue;
    memcpy(list[i].pointer, &to, sizeof to);
    TRY(device_upload(d, to, list[i].from, list[i].count * 8));
    to += room_of(&list[i]);
  }
done:
  if (rc != STATUS_OK) release(d, out);
  return rc;
}

/* ---- the operator ---- */

static status run_level(device *d, heat_level_args *a) {
  status rc = STATUS_OK;
  cudaStream_t stream;
  TRY(device_ok(d));
  if (a->from >= a->to || a->m.s.plane == 0) goto done;
  TRY(cuda_heat_stream(d, &a->m.s, a->from, a->to, &stream));
  a->early = d->early && stream == d->main;
  TRY(device_launched(d, kernel_level(stream, a, d->processors),
                      a->relaxes ? "kernel level smoothing" : "kernel level product"));
  if (stream == d->urgent) TRY(cuda_heat_urgent(d));
done:
  return rc;
}

static status apply(device *d, heat_level *l, double mass, double scale, heat_field u, heat_field r,
                    heat_field out, int64_t from, int64_t to) {
  heat_level_args a = {.m = l->m,
                       .mass = mass,
                       .scale = scale,
                       .u = at(u),
                       .r = at(r),
                       .out = at(out),
                       .from = from,
                       .to = to};
  return run_level(d, &a);
}

static status relax(device *d, heat_level *l, double mass, double scale, heat_field z, heat_field r,
                    heat_field out, const double c[3], int64_t from, int64_t to) {
  heat_level_args a = {.m = l->m,
                       .mass = mass,
                       .scale = scale,
                       .u = at(z),
                       .r = at(r),
                       .out = at(out),
                       .c = {c[0], c[1], c[2]},
                       .relaxes = 1,
                       .from = from,
                       .to = to};
  return run_level(d, &a);
}

/* ---- between levels ---- */

static heat_transfer_args transfer(const device *d, const heat_level *l, const heat_level *finer,
                                   heat_field u, heat_field out) {
  return (heat_transfer_args){
      .l = l->m, .finer = finer->m, .u = at(u), .out = at(out), .early = d->early};
}

static status restriction(device *d, heat_level *l, heat_level *finer, heat_field u,
                          heat_field out) {
  status rc = STATUS_OK;
  heat_transfer_args a = transfer(d, l, finer, u, out);
  TRY(ready(d));
  if (heat_owned(&l->m.s) == 0) goto done;
  TRY(device_launched(d, kernel_restriction(d->main, &a, d->processors), "kernel restriction"));
done:
  return rc;
}

static status interpolate(device *d, heat_level *l, heat_level *finer, heat_field u,
                          heat_field out) {
  status rc = STATUS_OK;
  heat_transfer_args a = transfer(d, l, finer, u, out);
  TRY(ready(d));
  if (heat_owned(&finer->m.s) == 0) goto done;
  TRY(device_launched(d, kernel_interpolation(d->main, &a, d->processors), "kernel interpolation"));
done:
  return rc;
}

/* ---- vectors, and sums ---- */

static double *owned_at(const heat_level *l, heat_field f) {
  return at(f) == NULL ? NULL : at(f) + l->m.s.halo * l->m.s.plane;
}

static status combine(device *d, heat_level *l, double a, heat_field x, double b, heat_field y,
                      double c, heat_field out) {
  status rc = STATUS_OK;
  const heat_combine_args args = {.count = heat_owned(&l->m.s),
                                  .a = a,
                                  .b = b,
                                  .c = c,
                                  .x = owned_at(l, x),
                                  .y = owned_at(l, y),
                                  .out = owned_at(l, out),
                                  .early = d->early};
  TRY(ready(d));
  if (args.count == 0) goto done;
  TRY(device_launched(d, kernel_heat_combine(d->main, &args), "kernel combine"));
done:
  return rc;
}

/* Into sum `which`, over the owned points of the slab *s, which a's fields are of. */
static status sum(device *d, const heat_slab *s, heat_dot_args *a, int which) {
  status rc = STATUS_OK;
  TRY(ready(d));
  if (heat_owned(s) == 0) goto done;
  a->s = *s;
  a->length = s->g.dims == 1 ? s->planes : s->g.n[0];
  a->blocks = (a->length + BLOCK_MAX - 1) / BLOCK_MAX;
  a->units = heat_owned(s) / a->length * a->blocks;
  a->words = d->words + (int64_t)which * WIDE_WORDS;
  a->early = d->early;
  TRY(device_launched(d, kernel_level_dot(d->main, a, d->processors), "kernel level dot"));
done:
  return rc;
}

static status dot(device *d, heat_level *l, heat_field x, heat_field y) {
  heat_dot_args a = {.x = owned_at(l, x), .y = owned_at(l, y)};
  return sum(d, &l->m.s, &a, 0);
}

static status weigh(device *d, heat_level *l, heat_field x, heat_field u, heat_field v, double rtol,
                    double atol) {
  heat_dot_args a = {
      .x = owned_at(l, x), .u = owned_at(l, u), .v = owned_at(l, v), .rtol = rtol, .atol = atol};
  return sum(d, &l->m.s, &a, 0);
}

/* ---- fused operations of CG ---- */

static status run_descent(device *d, heat_descent_args *a) {
  status rc = STATUS_OK;
  cudaStream_t stream;
  TRY(device_ok(d));
  if (a->from >= a->to || a->m.s.plane == 0) goto done;
  TRY(cuda_heat_stream(d, &a->m.s, a->from, a->to, &stream));
  a->early = d->early && stream == d->main;
  a->words = d->words;
  TRY(device_launched(d, kernel_descent(stream, a, d->processors), "kernel descent"));
  if (stream == d->urgent) TRY(cuda_heat_urgent(d));
done:
  return rc;
}

static status curvature(device *d, heat_level *l, double mass, double scale, heat_field p,
                        heat_field r, int64_t from, int64_t to) {
  status rc = STATUS_OK;
  heat_descent_args a = {.m = l->m,
                         .mass = mass,
                         .scale = scale,
                         .p = at(p),
                         .from = from,
                         .to = to,
                         .sums = at(r) == NULL ? 1 : 2};
  TRY(run_descent(d, &a));
  if (at(r) == NULL || from >= to) goto done;
  heat_slab s = l->m.s; /* these planes alone */
  s.first += from;
  s.planes = to - from;
  const double *begin = owned_at(l, r) + from * s.plane;
  heat_dot_args square = {.x = begin, .y = begin};
  TRY(sum(d, &s, &square, 2));
done:
  return rc;
}

static status advance(device *d, heat_level *l, double mass, double scale, double alpha,
                      heat_field p, heat_field x, heat_field r) {
  heat_descent_args a = {.m = l->m,
                         .mass = mass,
                         .scale = scale,
                         .alpha = alpha,
                         .along = alpha,
                         .p = at(p),
                         .x = at(x),
                         .r = at(r),
                         .to = l->m.s.planes,
                         .sums = 1,
                         .changes = 1};
  return run_descent(d, &a);
}

/* p has neighbours: it follows in a pass of its own. */
static status descend(device *d, heat_level *l, const heat_descent *s, heat_field p, heat_field x,
                      heat_field r, int64_t from, int64_t to) {
  status rc = STATUS_OK;
  heat_descent_args a = {.m = l->m,
                         .mass = s->mass,
                         .scale = s->scale,
                         .alpha = s->alpha,
                         .along = s->along,
                         .against = s->against,
                         .p = at(p),
                         .x = at(x),
                         .r = at(r),
                         .to = l->m.s.planes,
                         .changes = 1};
  TRY(run_descent(d, &a));
  TRY(combine(d, l, s->beta, p, 1.0, r, -0.0, p)); /* -0: r as it is */
  TRY(curvature(d, l, s->mass, s->scale, p, r, from, to));
done:
  return rc;
}

const heat_level_backend HEAT_LEVEL_cuda = {.create = create,
                                            .release = release,
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
