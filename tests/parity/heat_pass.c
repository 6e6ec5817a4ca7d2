/* Several stages of the heat equation in one pass over memory, on omp, against the same stages one
 * after the other on ref, bit for bit: lists of 1 to 9 stages as the schemes make them and at
 * random, on grids of every shape, faces of every kind, slabs with ghost planes on both, one or no
 * side, thinner than the list, with 1 to 5 threads, whole and as interior and boundary. */
#include "heat_slabs.h"

static comm *world;

enum { STAGES = 9, LIVE = 4 /* fields that stages write */ };

typedef enum recipe { EULER, RK4, RKL2, ANY, RECIPES } recipe;

typedef struct links { /* a stage, by numbers of fields */
  int base, u, out, terms, term[HEAT_TERMS];
} links;

/* u = a + ... : field 0 and spare 1 by turns. */
static links euler(int i) { return (links){.base = i % 2, .u = i % 2, .out = 1 - i % 2}; }

/* Steps follow each other: the fields 0 and 1 change places. */
static links rk4(int i) {
  const int u = i / 4 % 2, a = 1 - u;
  const links stage[] = {
      {u, u, a, 0, {0}}, {u, a, 2, 0, {0}}, {u, 2, 3, 0, {0}}, {u, 3, a, 3, {a, 2, 3}}};
  return stage[i % 4];
}

static links rkl2(int i) {
  static const int y[] = {0, 1, 2, 3};
  if (i == 0) return (links){.base = 0, .u = 0, .out = 1};
  const int now = i < 3 ? y[i] : 2 + i % 2, before = i < 4 ? y[i - 1] : 2 + (i - 1) % 2;
  const int out = i < 3 ? y[i + 1] : before;
  return (links){0, now, out, 3, {now, before, 1}};
}

static int pick(const trial *t, int i, int k, int n) {
  return (int)(philox_at(t->seed, (uint64_t)(16 * i + k), PHILOX_PROBE, 1, 0).word[0] %
               (uint32_t)n);
}

static links any(const trial *t, int i) {
  links l = {.base = pick(t, i, 0, LIVE), .u = pick(t, i, 1, LIVE), .terms = pick(t, i, 2, 4)};
  l.out = (l.u + 1 + pick(t, i, 3, LIVE - 1)) % LIVE;
  for (int k = 0; k < HEAT_TERMS; k++) l.term[k] = pick(t, i, 4 + k, LIVE);
  return l;
}

static links link_of(const trial *t, recipe r, int i) {
  return r == EULER ? euler(i) : r == RK4 ? rk4(i) : r == RKL2 ? rkl2(i) : any(t, i);
}

static void make_list(const bench *w, const trial *t, recipe r, int count, heat_stage *list) {
  for (int i = 0; i < count; i++) {
    const links l = link_of(t, r, i);
    heat_stage *s = &list[i];
    *s = (heat_stage){.base = w->field[l.base],
                      .terms = l.terms,
                      .weight = {0.3 + i, -1.7, 0.4},
                      .scale = 0.013 / (i + 1),
                      .u = w->field[l.u],
                      .out = w->field[l.out]};
    for (int k = 0; k < HEAT_TERMS; k++) s->term[k] = w->field[l.term[k]];
    s->input.source_value = t->seed % 3 == 0 ? 0.0 : 0.77;
    if (t->fields) s->input.source = w->field[5];
    for (int f = 0; f < HEAT_FACES; f++) {
      s->input.flux[f] = 0.1 * f - 0.2 * i;
      if (t->fields && f != 2) s->input.flux_at[f] = w->flux[f];
      if (t->fields && f != 3) s->held[f] = w->held[f];
    }
  }
}

/* How deep into the halo field number f is told to be right after a pass. */
static int64_t depth_of(const bench *w, const heat_stage *list, int count, int f) {
  int64_t depth = INT64_MAX;
  for (int i = 0; i < count; i++) {
    if (list[i].out.data.at == w->field[f].data.at) depth = count - 1 - i;
  }
  return depth;
}

static void compare(const trial *t, const bench *x, const bench *y, const heat_stage *list,
                    int count, const char *what) {
  const heat_slab s = slab_of(t);
  double *a, *b;
  assert_ok(alloc_array(&a, x->points, sizeof *a, "values"));
  assert_ok(alloc_array(&b, x->points, sizeof *b, "values"));
  for (int f = 0; f < LIVE; f++) {
    int64_t depth = depth_of(x, list, count, f);
    if (depth > s.halo) depth = s.halo;
    assert_ok(x->b->copy_out(x->d, (hptr){a}, x->field[f].data, x->points * 8));
    assert_ok(y->b->copy_out(y->d, (hptr){b}, y->field[f].data, x->points * 8));
    for (int64_t k = (s.halo - depth) * s.plane; k < (s.halo + s.planes + depth) * s.plane; k++) {
      if (bits_of(a[k]) == bits_of(b[k]) || (isnan(a[k]) && isnan(b[k]))) continue;
      fail_msg("%s, %d stages, %dD %lld x %lld x %lld, faces %d%d%d%d%d%d, planes %lld + %lld, "
               "variable %d: field %d, point %lld: %.17g and %.17g",
               what, count, t->g.dims, (long long)t->g.n[0], (long long)t->g.n[1],
               (long long)t->g.n[2], t->g.face[0], t->g.face[1], t->g.face[2], t->g.face[3],
               t->g.face[4], t->g.face[5], (long long)t->first, (long long)t->planes, t->variable,
               f, (long long)(k - s.halo * s.plane), a[k], b[k]);
    }
  }
  alloc_free(&a);
  alloc_free(&b);
}

/* Both get the same fields again. */
static void restart(const trial *t, bench *w) {
  double *x;
  assert_ok(alloc_array(&x, w->points, sizeof *x, "values"));
  for (int f = 0; f < LIVE; f++) {
    for (int64_t i = 0; i < w->points; i++) {
      x[i] = random_value(t->seed + (uint64_t)f, (uint64_t)i);
    }
    if (t->spoilt && f == 1 && w->points > 3) x[w->points / 2] = INFINITY;
    assert_ok(w->b->copy_in(w->d, w->field[f].data, (hptr){x}, w->points * 8));
  }
  alloc_free(&x);
}

static void one_by_one(bench *w, const trial *t, const heat_stage *list, int count) {
  const int last = t->g.dims - 1, around = t->g.face[2 * last] == HEAT_PERIODIC && t->g.n[last] > 1;
  for (int i = 0; i < count && t->planes > 0; i++) {
    int64_t from = i + 1 - count, to = t->planes + count - 1 - i;
    if (!around && from < -t->first) from = -t->first;
    if (!around && to > t->g.n[last] - t->first) to = t->g.n[last] - t->first;
    assert_ok(w->b->heat->stage(w->d, w->w, &list[i], from, to));
  }
}

static void passes(const trial *t, bench *x, bench *y, int count) {
  static const char *const name[] = {"euler", "rk4", "rkl2", "any"};
  heat_stage a[STAGES], b[STAGES];
  const recipe r = (recipe)(t->seed % RECIPES);
  make_list(x, t, r, count, a);
  make_list(y, t, r, count, b);
  restart(t, x);
  one_by_one(x, t, a, count);
  restart(t, y);
  assert_ok(y->b->heat->pass(y->d, y->w, b, count, PART_ALL));
  compare(t, x, y, a, count, name[r]);
  restart(t, y);
  assert_ok(y->b->heat->pass(y->d, y->w, b, count, PART_INTERIOR));
  assert_ok(y->b->heat->pass(y->d, y->w, b, count, PART_BOUNDARY));
  compare(t, x, y, a, count, name[r]);
}

static void run(const trial *t, int threads, int count) {
  bench x, y;
  const int64_t live = alloc_live();
  set_up(&x, &BACKEND_ref, t, 1);
  set_up(&y, &BACKEND_omp, t, threads);
  passes(t, &x, &y, count);
  tear_down(&x);
  tear_down(&y);
  assert_int_equal(alloc_live(), live);
}

/* Whole grids, and slabs of a third of one. Each number is another mixture. */
static void mixtures(int dims, const int64_t (*n)[HEAT_DIMS], int grids, int each) {
  for (int i = 0; i < grids * each; i++) {
    const int64_t *size = n[i % grids], planes = size[dims - 1];
    const uint64_t number = (uint64_t)(i * 7 + i / grids) + 3;
    const int cut = i / grids % 4;
    trial t = make(dims, size,
                   cut == 2   ? planes / 3
                   : cut == 3 ? planes / 2
                              : 0,
                   cut == 1   ? (planes + 1) / 2
                   : cut == 2 ? (planes + 2) / 3
                   : cut == 3 ? planes - planes / 2
                              : planes,
                   number);
    for (int d = 0; d < dims; d++)
      set_faces(&t.g, d, (i / (d == 0 ? 1 : d == 1 ? 5 : 25) + i / 3) % 5);
    t.halo = STAGES;
    run(&t, 1 + (i / 2 + i / grids) % 5, 1 + (i + i / grids) % STAGES);
  }
}

static void lines(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{1}, {2}, {3}, {7}, {40}, {1030}, {20011}};
  mixtures(1, n, sizeof n / sizeof *n, 20);
}

static void rectangles(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{1, 1}, {1, 9},   {9, 1},    {2, 2},    {5, 40},
                                         {7, 3}, {33, 25}, {700, 25}, {131, 160}};
  mixtures(2, n, sizeof n / sizeof *n, 25);
}

static void boxes(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{1, 1, 1}, {2, 3, 4},  {5, 1, 30},   {3, 5, 1},
                                         {1, 2, 5}, {9, 40, 7}, {33, 31, 25}, {5, 60, 70}};
  mixtures(3, n, sizeof n / sizeof *n, 40);
}

/* Wide enough for several tiles. */
static void tiles(void **state) {
  (void)state;
  static const int64_t wide[][HEAT_DIMS] = {{7000, 12}}, deep[][HEAT_DIMS] = {{260, 70, 9}};
  mixtures(2, wide, 1, 20);
  mixtures(3, deep, 1, 12);
}

/* A rank without planes. */
static void nothing_owned(void **state) {
  (void)state;
  static const int64_t n[] = {5, 4};
  trial t = make(2, n, 4, 0, 2);
  t.halo = STAGES;
  run(&t, 2, 3);
}

/* More stages than a wave has, where no ghost planes limit them. */
static void long_lists(void **state) {
  (void)state;
  enum { LONG = 75 };
  static const int64_t n[] = {150, 140};
  static heat_stage a[LONG], b[LONG];
  trial t = make(2, n, 0, 140, 5);
  bench x, y;
  t.halo = 1;
  set_up(&x, &BACKEND_ref, &t, 1);
  set_up(&y, &BACKEND_omp, &t, 3);
  make_list(&x, &t, EULER, LONG, a);
  make_list(&y, &t, EULER, LONG, b);
  one_by_one(&x, &t, a, LONG);
  assert_ok(y.b->heat->pass(y.d, y.w, b, LONG, PART_ALL));
  compare(&t, &x, &y, a, LONG, "long");
  tear_down(&x);
  tear_down(&y);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines), cmocka_unit_test(rectangles),    cmocka_unit_test(boxes),
      cmocka_unit_test(tiles), cmocka_unit_test(nothing_owned), cmocka_unit_test(long_lists),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
