/* The heat equation on omp against ref, bit for bit, one stage at a time: odd, flat and tiny grids,
 * every kind of face, constant and variable alpha, sources and fluxes as numbers and as fields,
 * held values, stages of every shape, slabs in the middle of a grid, totals. */
#include "heat_slabs.h"

static comm *world;

static heat_stage stage_of(const bench *w, const trial *t, int out_is_base) {
  heat_stage s = {.base = w->field[1],
                  .terms = t->terms,
                  .weight = {0.3, -1.7, 2.1},
                  .term = {w->field[0], w->field[2], w->field[3]},
                  .scale = 0.013,
                  .u = w->field[0],
                  .out = w->field[out_is_base ? 1 : 4]};
  s.input.source_value = t->seed % 3 == 0 ? 0.0 : 0.77;
  if (t->fields) s.input.source = w->field[5];
  for (int f = 0; f < HEAT_FACES; f++) {
    s.input.flux[f] = 0.1 * f - 0.2;
    if (t->fields) s.input.flux_at[f] = w->flux[f];
    if (t->fields && f != 3) s.held[f] = w->held[f];
  }
  return s;
}

static void compare(const char *what, const trial *t, const bench *x, const bench *y, int i) {
  double *a, *b;
  assert_ok(alloc_array(&a, x->points, sizeof *a, "values"));
  assert_ok(alloc_array(&b, x->points, sizeof *b, "values"));
  assert_ok(x->b->copy_out(x->d, (hptr){a}, x->field[i].data, x->points * 8));
  assert_ok(y->b->copy_out(y->d, (hptr){b}, y->field[i].data, x->points * 8));
  for (int64_t k = 0; k < x->points; k++) {
    if (bits_of(a[k]) == bits_of(b[k]) || (isnan(a[k]) && isnan(b[k]))) continue;
    fail_msg("%s: %dD %lld x %lld x %lld, faces %d%d%d%d%d%d, planes %lld + %lld, variable %d: "
             "point %lld: %.17g and %.17g",
             what, t->g.dims, (long long)t->g.n[0], (long long)t->g.n[1], (long long)t->g.n[2],
             t->g.face[0], t->g.face[1], t->g.face[2], t->g.face[3], t->g.face[4], t->g.face[5],
             (long long)t->first, (long long)t->planes, t->variable, (long long)k, a[k], b[k]);
  }
  alloc_free(&a);
  alloc_free(&b);
}

static void stages(const trial *t, bench *x, bench *y) {
  const int64_t ranges[][2] = {{0, t->planes}, {1, t->planes - 1}, {-1, t->planes + 1}, {0, 1}};
  const int last = t->g.dims - 1, around = t->g.face[2 * last] == HEAT_PERIODIC;
  for (int out_is_base = 0; out_is_base < 2; out_is_base++) {
    for (int r = 0; r < 4; r++) {
      int64_t from = ranges[r][0], to = ranges[r][1];
      if (!around && from < -t->first) from = -t->first;
      if (!around && to > t->g.n[last] - t->first) to = t->g.n[last] - t->first;
      if (t->g.n[last] == 1 || to > t->planes + 1) from = 0, to = t->planes;
      const heat_stage a = stage_of(x, t, out_is_base), b = stage_of(y, t, out_is_base);
      assert_ok(x->b->heat->stage(x->d, x->w, &a, from, to));
      assert_ok(y->b->heat->stage(y->d, y->w, &b, from, to));
      compare("stage", t, x, y, out_is_base ? 1 : 4);
    }
  }
}

static void same_totals(const trial *t, bench *x, bench *y) {
  double sum[2], low[2], high[2];
  bench *both[] = {x, y};
  for (int i = 0; i < 2; i++) {
    bench *w = both[i];
    assert_ok(w->b->heat->totals(w->d, w->w, w->field[0], &low[i], &high[i]));
    assert_ok(w->b->sums(w->d, world, 1, NULL, &sum[i]));
  }
  assert_true(isnan(low[0]) ? isnan(low[1]) : bits_of(low[0]) == bits_of(low[1]));
  assert_true(isnan(high[0]) ? isnan(high[1]) : bits_of(high[0]) == bits_of(high[1]));
  assert_true(isnan(sum[0]) ? isnan(sum[1]) : bits_of(sum[0]) == bits_of(sum[1]));
  if (!t->spoilt && t->planes > 0) assert_true(low[0] < high[0] || x->points < 8);
}

static void run(const trial *t, int threads) {
  bench x, y;
  const int64_t live = alloc_live();
  set_up(&x, &BACKEND_ref, t, 1);
  set_up(&y, &BACKEND_omp, t, threads);
  same_totals(t, &x, &y);
  stages(t, &x, &y);
  tear_down(&x);
  tear_down(&y);
  assert_int_equal(alloc_live(), live);
}

/* Grids of every shape, whole and cut. */
static void all_grids(int dims, const int64_t (*n)[HEAT_DIMS], int count) {
  uint64_t number = 0;
  int kinds = 1;
  for (int d = 0; d < dims; d++) kinds *= 5;
  for (int i = 0; i < count; i++) {
    const int64_t planes = n[i][dims - 1];
    for (int kind = 0; kind < kinds; kind++) {
      const int64_t cut[][2] = {{0, planes}, {planes / 3, planes / 2}, {planes - 1, 1}};
      for (int c = 0; c < 3; c++) {
        if (cut[c][1] == 0 || (c > 0 && number % 3 != 0)) continue;
        trial t = make(dims, n[i], cut[c][0], cut[c][1], number);
        set_faces(&t.g, 0, kind % 5);
        if (dims > 1) set_faces(&t.g, 1, kind / 5 % 5);
        if (dims > 2) set_faces(&t.g, 2, kind / 25);
        run(&t, 1 + (int)(number % 3));
      }
      number++;
    }
  }
}

static void lines(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{1}, {2}, {3}, {4}, {5}, {8}, {65}, {257}, {1030}};
  all_grids(1, n, sizeof n / sizeof *n);
}

static void rectangles(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{1, 1}, {1, 7}, {7, 1},  {2, 2},   {3, 2},
                                         {5, 4}, {9, 3}, {4, 17}, {260, 3}, {3, 30}};
  all_grids(2, n, sizeof n / sizeof *n);
}

static void boxes(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{1, 1, 1}, {2, 3, 4}, {5, 1, 3},
                                         {3, 5, 1}, {1, 2, 5}, {9, 4, 3}};
  all_grids(3, n, sizeof n / sizeof *n);
}

/* Enough for all threads and several chunks of a line. */
static void larger_ones(void **state) {
  (void)state;
  static const int64_t line[] = {20000}, rectangle[] = {1100, 23}, box[] = {33, 31, 25};
  for (uint64_t number = 0; number < 10; number++) {
    trial a = make(1, line, 0, 20000, number), b = make(2, rectangle, 2, 20, number),
          c = make(3, box, 0, 25, number);
    for (int d = 0; d < 3; d++) {
      set_faces(&a.g, d, (int)(number + (uint64_t)d) % 5);
      set_faces(&b.g, d, (int)(number + (uint64_t)d) % 5);
      set_faces(&c.g, d, (int)(number + (uint64_t)d) % 5);
    }
    run(&a, 3);
    run(&b, 2);
    run(&c, 7);
  }
}

/* A rank without planes. */
static void nothing_owned(void **state) {
  (void)state;
  static const int64_t n[] = {5, 4};
  trial t = make(2, n, 4, 0, 2);
  bench x, y;
  set_up(&x, &BACKEND_ref, &t, 1);
  set_up(&y, &BACKEND_omp, &t, 2);
  same_totals(&t, &x, &y);
  tear_down(&x);
  tear_down(&y);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines),       cmocka_unit_test(rectangles),    cmocka_unit_test(boxes),
      cmocka_unit_test(larger_ones), cmocka_unit_test(nothing_owned),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
