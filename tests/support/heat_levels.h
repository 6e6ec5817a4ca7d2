/* The operations of the levels of implicit heat schemes on two backends, bit for bit: both open the
 * same problem over all ranks of a communicator, every level gets the same values (functions of the
 * global point), and every operation of the table is asked of both. What is written is another
 * random field first. */
#ifndef HEAT_LEVELS_H
#define HEAT_LEVELS_H

#include "heat_try.h"
#include "implicit.h"
#include "philox.h"

typedef struct level_pair {
  const char *name;
  heat_try both[2];
  int level;
  const char *what; /* the operation that is compared */
} level_pair;

static inline const heat_level_backend *level_ops(const heat_try *t) {
  return t->run.kernels->heat->levels;
}

static inline heat_stratum *level_of(heat_try *t, int level) {
  return &t->run.implicit->grid.level[level];
}

/* Values of a level's slab with its halo: 0 at held points and outside. */
static inline void level_values(const heat_slab *s, uint64_t seed, double *out) {
  const int last = s->g.dims - 1;
  for (int64_t i = 0; i < heat_points(s); i++) {
    int64_t j[HEAT_DIMS] = {i % s->g.n[0], i / s->g.n[0] % s->g.n[1], 0};
    const int64_t gp = i / s->plane - s->halo + s->first, n = s->g.n[last];
    j[last] = s->g.face[2 * last] == HEAT_PERIODIC ? (gp % n + n) % n : gp;
    const int outside = j[last] < 0 || j[last] >= n;
    const uint64_t at = (uint64_t)(j[0] + s->g.n[0] * (j[1] + s->g.n[1] * j[2]));
    const double value = (double)(int32_t)philox_at(seed, at, PHILOX_PROBE, 3, 0).word[0] * 0x1p-30;
    out[i] = outside || heat_holder(&s->g, j) >= 0 ? 0.0 : value;
  }
}

/* Field f of level `level` of both gets values. */
static inline void level_fill(level_pair *p, int level, size_t field, uint64_t seed) {
  for (int k = 0; k < 2; k++) {
    heat_run *run = &p->both[k].run;
    heat_stratum *s = level_of(&p->both[k], level);
    double *x;
    assert_ok(alloc_array(&x, heat_points(&s->slab), sizeof *x, "values"));
    level_values(&s->slab, seed, x);
    const heat_field *f = (const heat_field *)(const void *)((const char *)s + field);
    assert_ok(run->kernels->copy_in(run->place, f->data, (hptr){x}, heat_points(&s->slab) * 8));
    alloc_free(&x);
  }
}

#define LEVEL_FIELD(name) offsetof(heat_stratum, name)

/* Owned points of a field of both. (The halo of the finest level is as deep as a backend likes.) */
static inline void level_compare(level_pair *p, int level, size_t field) {
  double *x[2];
  for (int k = 0; k < 2; k++) {
    heat_run *run = &p->both[k].run;
    const heat_stratum *s = level_of(&p->both[k], level);
    const heat_field *f = (const heat_field *)(const void *)((const char *)s + field);
    const dptr from = {(double *)f->data.at + s->slab.halo * s->slab.plane};
    assert_ok(alloc_array(&x[k], heat_owned(&s->slab), sizeof **x, "values"));
    assert_ok(run->kernels->copy_out(run->place, (hptr){x[k]}, from, heat_owned(&s->slab) * 8));
  }
  const heat_slab *s = &level_of(&p->both[0], level)->slab;
  for (int64_t i = 0; i < heat_owned(s); i++) {
    if (bits_of(x[0][i]) == bits_of(x[1][i])) continue;
    fail_msg("%s, level %d of %lld x %lld x %lld, planes %lld + %lld: %s: point %lld: %.17g and "
             "%.17g",
             p->name, level, (long long)s->g.n[0], (long long)s->g.n[1], (long long)s->g.n[2],
             (long long)s->first, (long long)s->planes, p->what, (long long)i, x[0][i], x[1][i]);
  }
  alloc_free(&x[0]);
  alloc_free(&x[1]);
}

/* ---- operations ---- */

enum { RESIDUAL = 1, RELAX = 2, FROM_ZERO = 4, WITHOUT_BEFORE = 8 };

/* A product, a residual, or smoothing of planes [from, to) of a level: q or w from z, r. */
static inline void level_operate(level_pair *p, int level, int flags, double mass, double scale,
                                 int64_t from, int64_t to) {
  static const double c[3] = {1.3, -0.4, 0.7}, first[3] = {1.1, 0.0, 0.9};
  for (int k = 0; k < 2; k++) {
    heat_run *run = &p->both[k].run;
    const heat_level_backend *ops = level_ops(&p->both[k]);
    heat_stratum *s = level_of(&p->both[k], level);
    const heat_field none = {{NULL}};
    if (from >= to) continue;
    if (flags & RELAX) {
      assert_ok(ops->relax(run->place, s->level, mass, scale, flags & FROM_ZERO ? none : s->z, s->r,
                           s->w, flags & WITHOUT_BEFORE ? first : c, from, to));
    } else {
      assert_ok(ops->apply(run->place, s->level, mass, scale, s->z, flags & RESIDUAL ? s->r : none,
                           s->q, from, to));
    }
  }
}

static inline void level_operator(level_pair *p, int level) {
  static const int all[] = {0, RESIDUAL, RELAX, RELAX | FROM_ZERO, RELAX | WITHOUT_BEFORE};
  static const char *const name[] = {"product", "residual", "smoothing", "smoothing from zero",
                                     "second smoothing"};
  const double lambda = p->both[0].run.lambda;
  const int64_t n = level_of(&p->both[0], level)->slab.planes;
  for (int i = 0; i < 5; i++) {
    const double mass = (i + level) % 2, scale = mass > 0.0 ? 31.0 / lambda : 1.0;
    p->what = name[i];
    level_fill(p, level, LEVEL_FIELD(w), 77);
    level_fill(p, level, LEVEL_FIELD(q), 78);
    level_operate(p, level, all[i], mass, scale, 1, n - 1); /* as around a halo */
    level_operate(p, level, all[i], mass, scale, 0, n < 1 ? n : 1);
    level_operate(p, level, all[i], mass, scale, n > 1 ? n - 1 : 1, n);
    level_compare(p, level, all[i] & RELAX ? LEVEL_FIELD(w) : LEVEL_FIELD(q));
    level_fill(p, level, LEVEL_FIELD(w), 79);
    level_operate(p, level, all[i], mass, scale, 0, n);
    level_compare(p, level, all[i] & RELAX ? LEVEL_FIELD(w) : LEVEL_FIELD(q));
  }
}

static inline void level_transfers(level_pair *p, int level) {
  for (int k = 0; k < 2; k++) {
    heat_run *run = &p->both[k].run;
    heat_stratum *f = level_of(&p->both[k], level), *c = f + 1;
    const heat_level_backend *ops = level_ops(&p->both[k]);
    assert_ok(ops->restriction(run->place, c->level, f->level, f->r, c->r));
    assert_ok(ops->interpolate(run->place, c->level, f->level, c->z, f->z));
  }
  p->what = "restriction";
  level_compare(p, level + 1, LEVEL_FIELD(r));
  p->what = "interpolation";
  level_compare(p, level, LEVEL_FIELD(z));
}

static inline void level_vectors(level_pair *p, comm *world) {
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 2; k++) {
      heat_run *run = &p->both[k].run;
      heat_stratum *s = level_of(&p->both[k], 0);
      const heat_field none = {{NULL}};
      assert_ok(level_ops(&p->both[k])
                    ->combine(run->place, s->level, 0.3, i & 1 ? none : s->r, -1.7,
                              i & 2 ? none : s->z, i == 0 ? 0.0 : 0.9, s->q));
    }
    p->what = "combine";
    level_compare(p, 0, LEVEL_FIELD(q));
  }
  double sum[2][3];
  for (int k = 0; k < 2; k++) {
    heat_run *run = &p->both[k].run;
    heat_stratum *s = level_of(&p->both[k], 0);
    const heat_level_backend *ops = level_ops(&p->both[k]);
    assert_ok(ops->dot(run->place, s->level, s->r, s->z));
    assert_ok(run->kernels->sums(run->place, world, 1, NULL, &sum[k][0]));
    assert_ok(ops->dot(run->place, s->level, s->r, s->r));
    assert_ok(run->kernels->sums(run->place, world, 1, NULL, &sum[k][1]));
    assert_ok(ops->weigh(run->place, s->level, s->q, s->r, s->z, 1e-3, 1e-2));
    assert_ok(run->kernels->sums(run->place, world, 1, NULL, &sum[k][2]));
  }
  for (int i = 0; i < 3; i++) {
    if (bits_of(sum[0][i]) != bits_of(sum[1][i])) {
      fail_msg("%s: sum %d: %.17g and %.17g", p->name, i, sum[0][i], sum[1][i]);
    }
  }
}

/* All operations on all levels of a problem. */
static inline void level_parity(const backend *b, comm *world, int threads, const heat_texts *is) {
  level_pair p = {.name = is->name};
  heat_try_open(&p.both[0], &BACKEND_ref, world, 1, is, heat_scheme_find("backward-euler"));
  heat_try_open(&p.both[1], b, world, threads, is, heat_scheme_find("backward-euler"));
  const int levels = p.both[0].run.implicit->grid.levels;
  assert_int_equal(levels, p.both[1].run.implicit->grid.levels);
  for (int i = 0; i < levels; i++) {
    p.level = i;
    level_fill(&p, i, LEVEL_FIELD(r), 10 + (uint64_t)i);
    level_fill(&p, i, LEVEL_FIELD(z), 40 + (uint64_t)i);
  }
  for (int i = 0; i < levels; i++) level_operator(&p, i);
  level_vectors(&p, world);
  for (int i = 0; i + 1 < levels; i++) {
    level_fill(&p, i + 1, LEVEL_FIELD(r), 60);
    level_transfers(&p, i);
  }
  heat_try_close(&p.both[0]);
  heat_try_close(&p.both[1]);
}

/* ---- problems ---- */

/* Odd, even, flat and tiny grids, stretched ones (levels that are coarser in one direction only),
 * every kind of face, constant and variable conductivity. */
static inline void level_parity_all(const backend *b, comm *world, int threads) {
#define D BOUNDARY_DIRICHLET
#define N BOUNDARY_NEUMANN
#define R BOUNDARY_ROBIN
#define P BOUNDARY_PERIODIC
  static const heat_texts all[] = {
      {.name = "line", .dims = 1, .n = {1031}, .alpha = "1+x", .kind = {D, R}, .h = {0, 3}},
      {.name = "ring", .dims = 1, .n = {513}, .kind = {P, P}},
      {.name = "varied ring", .dims = 1, .n = {700}, .alpha = "2+sin(9*x)", .kind = {P, P}},
      {.name = "two points", .dims = 1, .n = {2}, .alpha = "1+x", .kind = {N, R}, .h = {0, 1}},
      {.name = "plate",
       .dims = 2,
       .n = {138, 131},
       .alpha = "x<0.4?100:1+y",
       .kind = {N, R, D, N},
       .h = {0, 2}},
      {.name = "constant plate", .dims = 2, .n = {300, 77}, .kind = {D, N, R, D}, .h = {0, 0, 2}},
      {.name = "torus", .dims = 2, .n = {127, 140}, .alpha = "3", .kind = {P, P, P, P}},
      {.name = "varied torus",
       .dims = 2,
       .n = {75, 66},
       .alpha = "2+sin(9*x)*y",
       .kind = {P, P, P, P}},
      {.name = "tube", .dims = 2, .n = {61, 90}, .alpha = "1+x*y", .kind = {P, P, D, N}},
      {.name = "stretched",
       .dims = 2,
       .n = {40, 300},
       .length = {9, 1},
       .alpha = "1+y",
       .kind = {D, D, N, N}},
      {.name = "flat", .dims = 2, .n = {1, 99}, .kind = {R, N, P, P}, .h = {2}},
      {.name = "thin",
       .dims = 2,
       .n = {500, 3},
       .alpha = "1+x*y",
       .kind = {R, N, D, R},
       .h = {1, 0, 0, 2}},
      {.name = "box",
       .dims = 3,
       .n = {34, 29, 22},
       .alpha = "sin(9*y)>0?50:1+x*z",
       .kind = {P, P, N, D, R, N},
       .h = {0, 0, 0, 0, 1}},
      {.name = "constant box", .dims = 3, .n = {33, 18, 25}, .kind = {D, N, P, P, P, P}},
      {.name = "flat box",
       .dims = 3,
       .n = {45, 1, 40},
       .alpha = "1+x*z",
       .kind = {D, D, N, N, N, R},
       .h = {0, 0, 0, 0, 0, 1}},
      {.name = "held box", .dims = 3, .n = {5, 67, 9}, .alpha = "1+x", .kind = {D, D, D, D, D, D}}};
#undef D
#undef N
#undef R
#undef P
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) level_parity(b, world, threads, &all[i]);
}

#endif
