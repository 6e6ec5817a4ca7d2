/* The fused operations of CG (ranks: 1 2 3) on omp (on cuda where HALOSWEEP_TEST_BACKEND says so)
 * against ref, bit for bit, forwards and backwards, for any number of threads: all kinds of faces,
 * constant and variable alpha, 1 to 3 dimensions, slabs of all sizes. And against the single
 * operations they stand for; and plain CG finds what CG with multigrid finds, alike on all ranks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"
#include "heat_try.h"
#include "implicit.h"
#include "philox.h"

static comm *world, *self;
static const backend *checked = &BACKEND_omp;

#define D BOUNDARY_DIRICHLET
#define N BOUNDARY_NEUMANN
#define R BOUNDARY_ROBIN
#define P BOUNDARY_PERIODIC

static const heat_field NONE = {{NULL}};

/* The larger ones are shared by threads. */
static const heat_texts GRIDS[] = {
    {"point", 1, {1}, {0}, {0}, NULL, NULL, "0", NULL, {R, N}, {NULL}, {2}},
    {"line", 1, {700}, {0}, {0}, "1+x", NULL, "0", NULL, {D, R}, {NULL}, {0, 3}},
    {"ring", 1, {300}, {0}, {0}, NULL, NULL, "0", NULL, {P, P}, {NULL}, {0}},
    {"plate",
     2,
     {301, 90},
     {0},
     {1, 3},
     "x<0.4?100:1+y",
     NULL,
     "0",
     NULL,
     {N, R, D, N},
     {NULL},
     {0, 2}},
    {"sheet", 2, {64, 300}, {0}, {0}, NULL, NULL, "0", NULL, {D, D, R, D}, {NULL}, {0, 0, 1}},
    {"torus", 2, {520, 41}, {0}, {0}, "2+cos(6*x)", NULL, "0", NULL, {P, P, P, P}, {NULL}, {0}},
    {"thread", 2, {1, 200}, {0}, {0}, "1+y", NULL, "0", NULL, {D, N, N, N}, {NULL}, {0}},
    {"box",
     3,
     {37, 14, 40},
     {0},
     {0},
     "sin(9*y)>0?50:1+x*z",
     NULL,
     "0",
     NULL,
     {P, P, N, D, R, N},
     {NULL},
     {0, 0, 0, 0, 1, 0}},
    {"tube", 3, {20, 31, 33}, {0}, {0}, "1+z", NULL, "0", NULL, {D, N, P, P, P, P}, {NULL}, {0}},
    {"block",
     3,
     {9, 6, 4},
     {0},
     {0},
     NULL,
     NULL,
     "0",
     NULL,
     {D, N, R, R, D, D},
     {NULL},
     {0, 0, 1, 2}},
};
enum { COUNT = (int)(sizeof GRIDS / sizeof GRIDS[0]) };

static void roughen(heat_try *t, heat_field f, uint64_t seed) {
  const heat_slab *s = &t->run.slab;
  for (int64_t i = 0; i < heat_owned(s); i++) {
    int64_t j[HEAT_DIMS] = {i % s->g.n[0], i / s->g.n[0] % s->g.n[1], 0};
    j[s->g.dims - 1] = i / s->plane + s->first;
    const uint64_t gi = (uint64_t)(i + s->first * s->plane);
    const double value = (double)philox_at(seed, gi, PHILOX_PROBE, 0, 0).word[0] * 0x1p-31 - 1.0;
    t->run.host[i] = heat_holder(&s->g, j) >= 0 ? 0.0 : value;
  }
  assert_ok(heat_load(&t->run, f, t->run.host));
}

/* ---- the operations, as the solver calls them ---- */

static heat_stratum *finest(heat_try *t) { return &t->run.implicit->grid.level[0]; }
static const heat_level_backend *ops(const heat_try *t) { return t->run.kernels->heat->levels; }

static void fill_halo(heat_try *t, heat_field f) {
  assert_ok(heat_level_exchange_begin(&t->run, finest(t), f));
  assert_ok(heat_level_exchange_end(&t->run, finest(t), f));
}

static void sums(heat_try *t, int count, double *sum) {
  assert_ok(t->run.kernels->sums(t->run.place, t->run.world, count, NULL, sum));
}

static void curvature(heat_try *t, heat_field r, int64_t from, int64_t to) {
  const heat_multigrid *m = &t->run.implicit->grid;
  if (from >= to) return;
  assert_ok(ops(t)->curvature(t->run.place, finest(t)->level, m->mass, m->scale, t->run.implicit->p,
                              r, from, to));
}

static void descend(heat_try *t, const heat_descent *d, heat_field x, double *sum) {
  const heat_field p = t->run.implicit->p, r = finest(t)->r;
  const int64_t n = t->run.slab.planes, flat = t->run.slab.g.dims == 1;
  const int64_t first = n < 1 || flat ? n : 1, last = flat || n < 2 ? first : n - 1;
  assert_ok(ops(t)->descend(t->run.place, finest(t)->level, d, p, x, r, first, last));
  fill_halo(t, p);
  curvature(t, r, 0, first);
  curvature(t, r, last, n);
  sums(t, 3, sum);
}

/* ---- against ref ---- */

enum { PASSES = 5, SUMS = 3 * PASSES + 2 };

/* A few passes and the others; the fields then are in out[3], owned points. */
static void work_on(heat_try *t, double *sum, double *out[3]) {
  heat_implicit *m = t->run.implicit;
  const heat_field r = finest(t)->r, field[3] = {m->p, m->x, r};
  assert_ok(heat_multigrid_set(&t->run, &m->grid, 1.0, 40.0 / t->run.lambda));
  for (int i = 0; i < 3; i++) roughen(t, field[i], (uint64_t)i + 1);
  fill_halo(t, m->p);
  for (int i = 0; i < PASSES; i++) {
    const heat_descent d = {1.0, 40.0 / t->run.lambda, 0.013 * i, 0.8, 0.3, i % 3 * 0.2};
    descend(t, &d, i % 2 == 1 ? NONE : m->x, sum + 3 * i);
  }
  curvature(t, NONE, 0, t->run.slab.planes);
  sums(t, 1, sum + 3 * PASSES);
  assert_ok(ops(t)->advance(t->run.place, finest(t)->level, 1.0, 40.0 / t->run.lambda, 0.1, m->p,
                            m->x, r));
  sums(t, 1, sum + 3 * PASSES + 1);
  for (int i = 0; i < 3; i++) {
    assert_ok(alloc_array(&out[i], heat_owned(&t->run.slab), sizeof *out[i], "values"));
    assert_ok(heat_store(&t->run, out[i], field[i]));
  }
}

static void same_bits(void **state) {
  (void)state;
  static const int teams[] = {1, 2, 5};
  for (int i = 0; i < COUNT; i++) {
    heat_try t;
    double sum[SUMS], expected[SUMS], *out[3], *want[3];
    heat_try_open(&t, &BACKEND_ref, world, 1, &GRIDS[i], heat_scheme_find("backward-euler"));
    work_on(&t, expected, want);
    heat_try_close(&t);
    for (int k = 0; k < 3; k++) {
      heat_try_open(&t, checked, world, teams[k], &GRIDS[i], heat_scheme_find("backward-euler"));
      work_on(&t, sum, out);
      for (int f = 0; f < 3; f++) {
        for (int64_t at = 0; at < heat_owned(&t.run.slab); at++) {
          if (bits_of(out[f][at]) == bits_of(want[f][at])) continue;
          fail_msg("%s, %d threads, field %d, point %lld: %.17g, expected %.17g", GRIDS[i].name,
                   teams[k], f, (long long)at, out[f][at], want[f][at]);
        }
        alloc_free(&out[f]);
      }
      for (int s = 0; s < SUMS; s++) assert_same_bits(sum[s], expected[s]);
      heat_try_close(&t);
    }
    for (int f = 0; f < 3; f++) alloc_free(&want[f]);
  }
}

/* ---- against single operations ---- */

static void combine(heat_try *t, double a, heat_field x, double b, heat_field y, heat_field out) {
  assert_ok(ops(t)->combine(t->run.place, finest(t)->level, a, x, b, y, 0.0, out));
}

static double dot(heat_try *t, heat_field x, heat_field y) {
  double sum;
  assert_ok(ops(t)->dot(t->run.place, finest(t)->level, x, y));
  sums(t, 1, &sum);
  return sum;
}

static void same_as_single_ones(void **state) {
  (void)state;
  for (int i = 0; i < COUNT; i++) {
    heat_try t;
    heat_try_open(&t, checked, world, 2, &GRIDS[i], heat_scheme_find("backward-euler"));
    heat_implicit *m = t.run.implicit;
    heat_stratum *s = finest(&t);
    double fused, square;
    assert_ok(heat_multigrid_set(&t.run, &m->grid, 1.0, 40.0 / t.run.lambda));
    roughen(&t, m->p, 4);
    roughen(&t, m->x, 5);
    roughen(&t, s->r, 6);
    fill_halo(&t, m->p);
    curvature(&t, NONE, 0, t.run.slab.planes);
    sums(&t, 1, &fused);
    assert_ok(heat_level_product(&t.run, &m->grid, 0, m->p, NONE, s->q));
    assert_same_bits(fused, dot(&t, m->p, s->q));

    const double alpha = 0.37;
    combine(&t, alpha, m->p, 1.0, m->x, s->z);  /* x */
    combine(&t, -alpha, s->q, 1.0, s->r, s->w); /* r */
    assert_ok(ops(&t)->advance(t.run.place, s->level, m->grid.mass, m->grid.scale, alpha, m->p,
                               m->x, s->r));
    sums(&t, 1, &square);
    assert_same_bits(square, dot(&t, s->w, s->w));
    combine(&t, 1.0, s->w, -1.0, s->r, s->w);
    combine(&t, 1.0, s->z, -1.0, m->x, s->z);
    assert_same_bits(dot(&t, s->w, s->w) + dot(&t, s->z, s->z), 0.0);

    /* one pass of plain CG: the sums are those of what it left */
    double sum[3];
    const heat_descent d = {m->grid.mass, m->grid.scale, 0.1, 0.5, 0.0, 0.0};
    roughen(&t, m->p, 7);
    fill_halo(&t, m->p);
    descend(&t, &d, NONE, sum);
    assert_ok(heat_level_product(&t.run, &m->grid, 0, m->p, NONE, s->q));
    assert_same_bits(sum[0], dot(&t, m->p, s->q));
    assert_same_bits(sum[1], dot(&t, s->q, s->q));
    assert_same_bits(sum[2], dot(&t, s->r, s->r));
    heat_try_close(&t);
  }
}

/* ---- the whole solve ---- */

static double *solve(comm *c, const heat_texts *is, int plain, int *iterations, int64_t *first,
                     int64_t *count) {
  heat_try t;
  double *u;
  heat_try_open(&t, checked, c, 2, is, heat_scheme_find("backward-euler"));
  t.run.solver_rtol = 1e-12;
  t.run.plain = plain;
  t.run.dt = 400.0 / t.run.lambda;
  t.run.last = 1;
  heat_try_march(&t);
  assert_int_equal(t.run.step, 1);
  *iterations = t.run.implicit->iterations;
  *first = t.run.slab.first * t.run.slab.plane;
  *count = heat_owned(&t.run.slab);
  assert_ok(alloc_array(&u, *count, sizeof *u, "values"));
  memcpy(u, heat_try_field(&t), (size_t)*count * sizeof *u);
  heat_try_close(&t);
  return u;
}

static void plain_solves(void **state) {
  (void)state;
  for (int i = 0; i < COUNT; i++) {
    int64_t first, count, zero, all;
    int iterations[3];
    heat_texts is = GRIDS[i];
    is.initial = "1+x";
    double *u = solve(world, &is, 1, &iterations[0], &first, &count);
    double *alone = solve(self, &is, 1, &iterations[1], &zero, &all);
    double *v = solve(self, &is, 0, &iterations[2], &zero, &all);
    assert_int_equal(iterations[0], iterations[1]);
    assert_true(iterations[0] < 300);
    for (int64_t k = 0; k < count; k++) {
      assert_same_bits(u[k], alone[first + k]);
      assert_true(fabs(u[k] - v[first + k]) <= 1e-9);
    }
    alloc_free(&u);
    alloc_free(&alone);
    alloc_free(&v);
  }
}

/* However many iterations, x makes the residual that is carried. */
static void x_is_whole(void **state) {
  (void)state;
  heat_try t;
  heat_try_open(&t, checked, world, 2, &GRIDS[3], heat_scheme_find("backward-euler"));
  heat_implicit *m = t.run.implicit;
  heat_stratum *s = finest(&t);
  assert_ok(heat_multigrid_set(&t.run, &m->grid, 1.0, 40.0 / t.run.lambda));
  t.run.plain = 1;
  for (int i = 0; i < 8; i++) {
    roughen(&t, s->r, 8);
    roughen(&t, s->w, 8);
    double norm = sqrt(dot(&t, s->r, s->r));
    m->iterations = 0;
    assert_ok(heat_gradients(&t.run, norm * pow(10.0, -1.0 - i), &norm));
    assert_ok(heat_level_product(&t.run, &m->grid, 0, m->x, s->w, s->q));
    assert_true(fabs(sqrt(dot(&t, s->q, s->q)) / norm - 1.0) < 1e-6);
  }
  heat_try_close(&t);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_bits),
      cmocka_unit_test(same_as_single_ones),
      cmocka_unit_test(plain_solves),
      cmocka_unit_test(x_is_whole),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (comm_self(&self) != STATUS_OK) return 1;
  const char *other = getenv("HALOSWEEP_TEST_BACKEND");
  int rc = 0;
  if (other != NULL && strcmp(other, "cuda") == 0) {
    rc = gpu_skip(world);
    checked = &BACKEND_cuda;
  }
  if (rc == 0) rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&self);
  comm_close(&world);
  return rc;
}
