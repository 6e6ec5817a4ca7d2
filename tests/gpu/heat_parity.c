/* The heat equation on cuda against ref, bit for bit: single stages, totals, halo planes, lists of
 * stages, Euler steps of which several are one pass over memory (1 to 20: more than any pass
 * makes), and the stages of rkl2 and rk4 likewise, begun and ended anywhere. Grids of every shape,
 * odd, flat and tiny, faces of every kind, constant and variable alpha, sources and fluxes as
 * numbers and as fields, slabs with and without neighbours. What is written starts as NaN. An
 * argument chooses cases by name: test_gpu_heat_parity '*small*'. */
#include "gpu.h"
#include "heat_slabs.h"

static comm *world;

enum { STEPS = 20 };

static void put(bench *w, int f, const double *x) {
  assert_ok(w->b->copy_in(w->d, w->field[f].data, (hptr){(void *)(uintptr_t)x}, w->points * 8));
}

/* Field f of both: planes [from, to) from the first owned one. */
static void compare(const trial *t, bench *x, bench *y, int f, int64_t from, int64_t to,
                    const char *what, int count) {
  const heat_slab s = slab_of(t);
  double *a, *b;
  assert_ok(alloc_array(&a, x->points, sizeof *a, "values"));
  assert_ok(alloc_array(&b, x->points, sizeof *b, "values"));
  assert_ok(x->b->copy_out(x->d, (hptr){a}, x->field[f].data, x->points * 8));
  assert_ok(y->b->copy_out(y->d, (hptr){b}, y->field[f].data, x->points * 8));
  for (int64_t k = (from + s.halo) * s.plane; k < (to + s.halo) * s.plane; k++) {
    if (bits_of(a[k]) == bits_of(b[k]) || (isnan(a[k]) && isnan(b[k]))) continue;
    fail_msg("%s, %d stages, %dD %lld x %lld x %lld, faces %d%d%d%d%d%d, planes %lld + %lld, "
             "variable %d, fields %d, seed %d: field %d, point %lld: %.17g and %.17g",
             what, count, t->g.dims, (long long)t->g.n[0], (long long)t->g.n[1],
             (long long)t->g.n[2], t->g.face[0], t->g.face[1], t->g.face[2], t->g.face[3],
             t->g.face[4], t->g.face[5], (long long)t->first, (long long)t->planes, t->variable,
             t->fields, (int)t->seed, f, (long long)(k - s.halo * s.plane), a[k], b[k]);
  }
  alloc_free(&a);
  alloc_free(&b);
}

static heat_input input_of(const bench *w, const trial *t) {
  heat_input in = {.source_value = t->seed % 3 == 0 ? 0.77 : 0.0};
  if (t->fields) in.source = w->field[5];
  for (int f = 0; f < HEAT_FACES; f++) {
    in.flux[f] = 0.1 * f - 0.2;
    if (t->fields && f != 2) in.flux_at[f] = w->flux[f];
  }
  return in;
}

static heat_stage stage_of(const bench *w, const trial *t, int out) {
  heat_stage s = {.base = w->field[1],
                  .terms = t->terms,
                  .weight = {0.3, -1.7, 2.1},
                  .term = {w->field[0], w->field[2], w->field[3]},
                  .scale = 0.013,
                  .u = w->field[0],
                  .out = w->field[out],
                  .input = input_of(w, t)};
  for (int f = 0; f < HEAT_FACES; f++) {
    if (t->fields && f != 3) s.held[f] = w->held[f];
  }
  return s;
}

static int is_around(const trial *t) {
  const int last = t->g.dims - 1;
  return t->g.face[2 * last] == HEAT_PERIODIC && t->g.n[last] > 1;
}

static void in_domain(const trial *t, int64_t margin, int64_t *from, int64_t *to) {
  *from = -margin;
  *to = t->planes + margin;
  if (is_around(t)) return;
  if (*from < -t->first) *from = -t->first;
  if (*to > t->g.n[t->g.dims - 1] - t->first) *to = t->g.n[t->g.dims - 1] - t->first;
}

/* Into a field of its own, and into the base. */
static void single_stages(const trial *t, bench *x, bench *y) {
  for (int out = 4; out >= 1; out -= 3) {
    int64_t from, to;
    in_domain(t, 1, &from, &to);
    const heat_stage a = stage_of(x, t, out), b = stage_of(y, t, out);
    assert_ok(x->b->heat->stage(x->d, x->w, &a, from, to));
    assert_ok(y->b->heat->stage(y->d, y->w, &b, from, to));
    compare(t, x, y, out, from, to, "stage", 1);
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
  (void)t;
}

/* The first and last planes go out; others come in, between stages of the interior and the ends. */
static void halos(const trial *t, bench *x, bench *y) {
  lidx send[2] = {0, (lidx)t->planes - 1}, ghost[2] = {(lidx)t->halo - 1, (lidx)t->halo};
  const heat_slab s = slab_of(t);
  bench *both[] = {x, y};
  double *sent[2], *got;
  if (t->planes < 2 || !is_around(t)) return;
  assert_ok(alloc_array(&got, 2 * s.plane, sizeof *got, "planes"));
  for (int64_t i = 0; i < 2 * s.plane; i++) got[i] = random_value(t->seed + 7, (uint64_t)i);
  for (int i = 0; i < 2; i++) {
    bench *w = both[i];
    assert_ok(alloc_array(&sent[i], 2 * s.plane, sizeof *got, "planes"));
    const halo h = {.sends = 2,
                    .ghosts = 2,
                    .unit = s.plane,
                    .send_row = send,
                    .ghost_row = ghost,
                    .send_buffer = sent[i],
                    .ghost_buffer = got};
    const heat_stage a = stage_of(w, t, 4);
    assert_ok(w->b->heat->pack(w->d, w->w, &h, w->field[0]));
    assert_ok(w->b->heat->stage(w->d, w->w, &a, 1, t->planes - 1));
    assert_ok(w->b->heat->unpack(w->d, w->w, &h, w->field[0]));
    assert_ok(w->b->heat->stage(w->d, w->w, &a, 0, 1));
    assert_ok(w->b->heat->stage(w->d, w->w, &a, t->planes - 1, t->planes));
  }
  for (int64_t i = 0; i < 2 * s.plane; i++) {
    assert_true(bits_of(sent[0][i]) == bits_of(sent[1][i]) ||
                (isnan(sent[0][i]) && isnan(sent[1][i])));
  }
  compare(t, x, y, 0, -1, t->planes + 1, "halo", 1);
  compare(t, x, y, 4, 0, t->planes, "halo", 1);
  alloc_free(&sent[0]);
  alloc_free(&sent[1]);
  alloc_free(&got);
}

/* Both get field 0 again; what is written is NaN first. */
static void restart(const trial *t, bench *w) {
  double *x;
  assert_ok(alloc_array(&x, w->points, sizeof *x, "values"));
  for (int64_t i = 0; i < w->points; i++) x[i] = random_value(t->seed, (uint64_t)i);
  put(w, 0, x);
  for (int64_t i = 0; i < w->points; i++) x[i] = NAN;
  put(w, 6, x);
  alloc_free(&x);
}

/* The planes on both sides of field f: NaN before they have come, or as they are. */
static void put_ghosts(const trial *t, bench *w, int f, int come) {
  const heat_slab s = slab_of(t);
  const int64_t ghosts = s.halo * s.plane, behind = ghosts + heat_owned(&s);
  double *x;
  assert_ok(alloc_array(&x, w->points, sizeof *x, "values"));
  for (int64_t i = 0; i < w->points; i++) {
    x[i] = come ? random_value(t->seed + (uint64_t)f, (uint64_t)i) : NAN;
  }
  double *to = w->field[f].data.at;
  assert_ok(w->b->copy_in(w->d, (dptr){to}, (hptr){x}, ghosts * 8));
  assert_ok(w->b->copy_in(w->d, (dptr){to + behind}, (hptr){x + behind}, ghosts * 8));
  alloc_free(&x);
}

static void in_parts(const trial *t, bench *w, const heat_stage *list, int count) {
  put_ghosts(t, w, 0, 0);
  assert_ok(w->b->heat->pass(w->d, w->w, list, count, PART_INTERIOR));
  put_ghosts(t, w, 0, 1);
  assert_ok(w->b->heat->pass(w->d, w->w, list, count, PART_BOUNDARY));
}

static void several_steps(const trial *t, bench *x, bench *y, int count) {
  heat_stage a[STEPS], b[STEPS];
  bench *both[] = {x, y};
  if (t->planes == 0) return;
  for (int k = 0; k < 2; k++) {
    bench *w = both[k];
    heat_stage *list = k == 0 ? a : b;
    restart(t, w);
    for (int i = 0; i < count; i++) {
      const heat_field u = w->field[i % 2 == 0 ? 0 : 6], out = w->field[i % 2 == 0 ? 6 : 0];
      list[i] = (heat_stage){.base = u,
                             .scale = 0.0011,
                             .u = u,
                             .out = out,
                             .input = input_of(w, t),
                             .fleeting = i + 1 < count};
    }
    in_parts(t, w, list, count);
  }
  compare(t, x, y, count % 2 == 0 ? 0 : 6, 0, t->planes, "steps", count);
}

/* A list that is no run of Euler steps. */
static void mixed_list(const trial *t, bench *x, bench *y) {
  bench *both[] = {x, y};
  for (int k = 0; k < 2; k++) {
    bench *w = both[k];
    heat_stage list[2] = {stage_of(w, t, 4), stage_of(w, t, 6)};
    list[1].u = list[1].base = w->field[4];
    assert_ok(w->b->heat->pass(w->d, w->w, list, 2, PART_ALL));
  }
  compare(t, x, y, 6, 0, t->planes, "list", 2);
  if (t->spoilt) return;
  for (int k = 0; k < 2; k++) {
    bench *w = both[k];
    heat_stage list[2] = {stage_of(w, t, 4), stage_of(w, t, 6)};
    list[1].u = list[1].base = w->field[4];
    list[1].term[0] = w->field[3];
    restart(t, w);
    in_parts(t, w, list, 2);
  }
  compare(t, x, y, 6, 0, t->planes, "list in parts", 2);
}

/* All fields but the source's get their values again. */
static void restart_all(const trial *t, bench *w) {
  double *x;
  assert_ok(alloc_array(&x, w->points, sizeof *x, "values"));
  for (int f = 0; f < FIELDS; f++) {
    for (int64_t i = 0; i < w->points; i++)
      x[i] = random_value(t->seed + 90 + (uint64_t)f, (uint64_t)i);
    if (f != 5) put(w, f, x);
  }
  alloc_free(&x);
}

/* Stage j of a step of rk4 (stages == 0) or of rkl2: fields are named by numbers, f[0] the step's
 * start, f[1] .. f[3] its stages; the weights are not the schemes'. */
static heat_stage scheme_stage(const bench *w, const trial *t, const int *f, int stages, int j) {
  const int now = j < 4 ? f[j - 1] : f[3 - j % 2];
  const int before = j < 4 ? f[j > 1 ? j - 2 : 0] : f[2 + j % 2];
  const int out = j < 4 ? f[j] : f[2 + j % 2];
  heat_stage s = {.base = w->field[f[0]],
                  .scale = 0.0011 + 0.0001 * j,
                  .u = w->field[now],
                  .out = w->field[out],
                  .input = input_of(w, t),
                  .weight = {1.1, -0.3, -0.2},
                  .term = {w->field[now], w->field[before], w->field[f[1]]}};
  if (stages > 0) s.terms = j > 1 ? 3 : 0;
  if (stages == 0 && j == 4) {
    s.terms = 3;
    s.out = w->field[f[1]];
    for (int i = 0; i < 3; i++) s.term[i] = w->field[f[i + 1]];
  }
  return s;
}

/* `count` stages of a scheme from stage `from` of a step on, as the driver queues them. */
static void scheme_list(const bench *w, const trial *t, int stages, int from, int count,
                        heat_stage *list) {
  const int each = stages > 0 ? stages : 4;
  int f[4] = {0, 1, 2, 3}, whole = 0;
  for (int i = 0, j = from; i < count; i++) {
    list[i] = scheme_stage(w, t, f, stages, j);
    /* numbers may change from stage to stage */
    if (t->seed % 3 == 0) list[i].input.source_value += 0.01 * i;
    for (int k = 0; k < HEAT_FACES; k++) list[i].input.flux[k] += 0.02 * (i % 3);
    for (int k = 0; k < i; k++) {
      if (list[k].out.data.at == list[i].out.data.at) list[k].fleeting = 1;
    }
    whole = j == each;
    if (whole) {
      int last = 0;
      for (int k = 1; k < 4; k++) last = w->field[f[k]].data.at == list[i].out.data.at ? k : last;
      const int u = f[0];
      f[0] = f[last];
      f[last] = u;
    }
    j = j % each + 1;
  }
  for (int i = 0; whole && i < count; i++) {
    list[i].fleeting |= list[i].out.data.at != w->field[f[0]].data.at;
  }
}

static void several_stages(const trial *t, bench *x, bench *y, int stages, int from, int count) {
  heat_stage a[STEPS], b[STEPS];
  if (t->planes == 0) return;
  restart_all(t, x);
  restart_all(t, y);
  scheme_list(x, t, stages, from, count, a);
  scheme_list(y, t, stages, from, count, b);
  assert_ok(x->b->heat->pass(x->d, x->w, a, count, PART_ALL));
  assert_ok(y->b->heat->pass(y->d, y->w, b, count, PART_ALL));
  for (int i = 0; i < count; i++) {
    int64_t low, high;
    if (a[i].fleeting) continue;
    in_domain(t, count - 1 - i, &low, &high);
    for (int f = 0; f < FIELDS; f++) {
      if (x->field[f].data.at == a[i].out.data.at) {
        compare(t, x, y, f, low, high, stages > 0 ? "rkl2" : "rk4", count);
      }
    }
  }
}

static void run(const trial *t, const int *counts, int count) {
  bench x, y;
  set_up(&x, &BACKEND_ref, t, 1);
  set_up(&y, &BACKEND_cuda, t, 1);
  same_totals(t, &x, &y);
  single_stages(t, &x, &y);
  halos(t, &x, &y);
  mixed_list(t, &x, &y);
  for (int i = 0; i < count; i++) several_steps(t, &x, &y, counts[i]);
  const int turn = (int)(t->seed % 12);
  several_stages(t, &x, &y, 2 + turn, 1 + turn % 3, counts[0]);
  several_stages(t, &x, &y, 30, 1 + turn, counts[2] + turn);
  several_stages(t, &x, &y, 0, 1 + turn % 4, counts[0]);
  tear_down(&x);
  tear_down(&y);
}

/* Whole grids, and slabs of a third of one. Each number is another mixture. */
static void mixtures(int dims, const int64_t (*n)[HEAT_DIMS], int grids, int each) {
  for (int i = 0; i < grids * each; i++) {
    const int64_t *size = n[i % grids], planes = size[dims - 1];
    const int cut = i / grids % 4 == 3, turn = i / grids;
    const int counts[] = {1 + i % STEPS, 8, 1 + (i + turn) % 5, STEPS};
    trial t = make(dims, size, cut ? planes / 3 : 0, cut ? (planes + 2) / 3 : planes,
                   (uint64_t)(i * 7 + turn) + 3);
    for (int d = 0; d < dims; d++) {
      set_faces(&t.g, d, turn % 3 == 0 ? 0 : (i / (d == 0 ? 1 : d == 1 ? 5 : 25) + i / 3) % 5);
    }
    t.variable = i % 2;
    t.fields = turn % 2;
    t.halo = STEPS;
    /* without neighbours the halo may be shallow */
    if (!cut && !is_around(&t) && turn % 2 == 0) t.halo = 1;
    run(&t, counts, 4);
  }
}

static void small_lines(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{1}, {2}, {3}, {7}, {40}, {513}};
  mixtures(1, n, sizeof n / sizeof *n, 10);
}

static void lines(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{1030}, {20011}};
  mixtures(1, n, sizeof n / sizeof *n, 10);
}

static void small_rectangles(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {5, 40}, {7, 3}, {64, 9}};
  mixtures(2, n, sizeof n / sizeof *n, 10);
}

static void rectangles(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{233, 125}, {700, 45}, {131, 260}, {512, 512}};
  mixtures(2, n, sizeof n / sizeof *n, 8);
}

static void small_boxes(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{1, 1, 1}, {2, 3, 4}, {5, 1, 9},
                                         {3, 5, 1}, {1, 2, 5}, {9, 14, 7}};
  mixtures(3, n, sizeof n / sizeof *n, 10);
}

static void boxes(void **state) {
  (void)state;
  static const int64_t n[][HEAT_DIMS] = {{133, 71, 25}, {66, 130, 40}, {5, 60, 70}};
  mixtures(3, n, sizeof n / sizeof *n, 8);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_lines),      cmocka_unit_test(lines),
      cmocka_unit_test(small_rectangles), cmocka_unit_test(rectangles),
      cmocka_unit_test(small_boxes),      cmocka_unit_test(boxes),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  int rc = gpu_skip(world);
  if (rc == 0) rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
