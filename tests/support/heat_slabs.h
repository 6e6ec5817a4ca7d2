/* Slabs with random fields on a backend, for the parity tests of the heat equation. */
#ifndef HEAT_SLABS_H
#define HEAT_SLABS_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "heat_backend.h"
#include "philox.h"
#include "test.h"

enum { FIELDS = 7 };

/* One case: what varies. */
typedef struct trial {
  heat_grid g;
  int64_t first, planes, halo;
  int variable, fields, robin, terms, spoilt;
  uint64_t seed;
} trial;

/* Number i of those of a seed. */
static inline double random_value(uint64_t seed, uint64_t i) {
  return (double)(int32_t)philox_at(seed, i, PHILOX_PROBE, 0, 0).word[0] * 0x1p-30;
}

/* One backend's copy of a trial. */
typedef struct bench {
  const backend *b;
  device *d;
  heat_work *w;
  heat_field field[FIELDS], flux[HEAT_FACES], held[HEAT_FACES];
  halo h;
  int64_t points;
} bench;

static inline heat_slab slab_of(const trial *t) {
  heat_slab s = {.g = t->g, .first = t->first, .planes = t->planes, .plane = 1, .halo = t->halo};
  for (int d = 0; d < t->g.dims - 1; d++) s.plane *= t->g.n[d];
  return s;
}

static inline void fill(bench *w, heat_field *f, int64_t points, uint64_t seed, int spoilt) {
  double *x;
  assert_ok(alloc_array(&x, points, sizeof *x, "values"));
  for (int64_t i = 0; i < points; i++) x[i] = random_value(seed, (uint64_t)i);
  if (spoilt && points > 3) x[points / 2] = seed % 2 ? NAN : INFINITY;
  assert_ok(w->b->alloc(w->d, points * 8, "field", &f->data));
  assert_ok(w->b->copy_in(w->d, f->data, (hptr){x}, points * 8));
  alloc_free(&x);
}

static inline void set_up(bench *w, const backend *b, const trial *t, int threads) {
  const device_request request = {.threads = threads};
  const heat_slab s = slab_of(t);
  heat_medium m = {.alpha = 0.37};
  double *face[HEAT_DIMS] = {NULL};
  memset(w, 0, sizeof *w);
  w->b = b;
  w->points = heat_points(&s);
  assert_ok(b->open(&request, &w->d));
  for (int f = 0; f < HEAT_FACES; f++) {
    m.is_robin[f] = t->robin >> f & 1;
    m.robin[f] = 0.3 + f;
  }
  for (int d = 0; t->variable && d < t->g.dims; d++) {
    assert_ok(alloc_array(&face[d], w->points, sizeof *face[d], "coefficients"));
    for (int64_t i = 0; i < w->points; i++)
      face[d][i] = 1.0 + fabs(random_value(t->seed + 50, (uint64_t)i));
    m.face[d] = face[d];
  }
  assert_ok(b->heat->create(w->d, &s, &m, &w->w));
  for (int d = 0; d < HEAT_DIMS; d++) alloc_free(&face[d]);
  for (int i = 0; i < FIELDS; i++) {
    fill(w, &w->field[i], w->points, t->seed + (uint64_t)i, t->spoilt && i < 2);
  }
  for (int f = 0; f < 2 * t->g.dims; f++) {
    fill(w, &w->flux[f], heat_face_points(&s, f), t->seed + 20 + (uint64_t)f, 0);
    fill(w, &w->held[f], heat_face_points(&s, f), t->seed + 30 + (uint64_t)f, 0);
  }
}

static inline void tear_down(bench *w) {
  for (int i = 0; i < FIELDS; i++) w->b->release(w->d, &w->field[i].data);
  for (int f = 0; f < HEAT_FACES; f++) {
    if (w->flux[f].data.at != NULL) w->b->release(w->d, &w->flux[f].data);
    if (w->held[f].data.at != NULL) w->b->release(w->d, &w->held[f].data);
  }
  w->b->heat->release(w->d, &w->w);
  w->b->close(&w->d);
}

/* All pairs of face kinds in each direction: 0 to 4. */
static inline void set_faces(heat_grid *g, int d, int kind) {
  static const int32_t pair[][2] = {{HEAT_HELD, HEAT_HELD},
                                    {HEAT_FLUX, HEAT_FLUX},
                                    {HEAT_HELD, HEAT_FLUX},
                                    {HEAT_FLUX, HEAT_HELD},
                                    {HEAT_PERIODIC, HEAT_PERIODIC}};
  g->face[2 * d] = pair[kind][0];
  g->face[2 * d + 1] = pair[kind][1];
}

static inline trial make(int dims, const int64_t *n, int64_t first, int64_t planes,
                         uint64_t number) {
  trial t = {.g = {.dims = dims, .n = {1, 1, 1}},
             .first = first,
             .planes = planes,
             .halo = 3,
             .seed = 100 + number};
  for (int d = 0; d < dims; d++) {
    t.g.n[d] = n[d];
    t.g.spacing[d] = 0.1 + 0.07 * d;
  }
  t.variable = (int)(number / 2 % 2);
  t.fields = (int)(number / 4 % 2);
  t.robin = (int)(number * 37 % 64);
  t.terms = (int)(number % 4);
  t.spoilt = number % 7 == 3;
  return t;
}

#endif
