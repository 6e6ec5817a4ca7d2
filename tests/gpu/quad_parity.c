/* Every operation of quadrature on the GPU against the reference backend, bit for bit: sums over
 * awkward numbers of samples with every rule, range and kind of grid, members, regions; integrands
 * that are not finite. An argument chooses cases by name, for slow checkers. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "function.h"
#include "gpu.h"
#include "quad_run.h"
#include "sobol.h"
#include "test.h"

static comm *world;

enum { REF, GPU, SIDES };

/* One integrand on both backends. */
typedef struct pair {
  function *made;
  const formula *f;
  int dims;
  const backend *b[SIDES];
  device *d[SIDES];
  quad_work *w[SIDES];
  double parameters[8];
} pair;

static const char *const NAMES[] = {"x[0]", "x[1]", "x[2]", "x[3]", "x[4]", "x[5]",
                                    "x[6]", "x[7]", "x[8]", "x[9]", "a",    "b"};

static void open_pair(pair *p, const char *text, int dims, int parameters) {
  const device_request request = {.threads = 1};
  const char *names[16] = {NULL}, *where = "test";
  memset(p, 0, sizeof *p);
  for (int d = 0; d < dims; d++) names[d] = NAMES[d];
  for (int k = 0; k < parameters; k++) names[dims + k] = NAMES[QUAD_DIMS + k];
  const function_request r = {
      .texts = &text, .where = &where, .names = names, .outputs = 1, .plain = 1};
  if (function_create(world, NULL, &r, &p->made) != STATUS_OK) fail_msg("%s", fail_text());
  p->f = function_formula(p->made);
  p->dims = dims;
  p->b[REF] = &BACKEND_ref;
  p->b[GPU] = &BACKEND_cuda;
  p->parameters[0] = 0.7;
  p->parameters[1] = 1.3;
  for (int s = 0; s < SIDES; s++) {
    assert_ok(p->b[s]->open(&request, &p->d[s]));
    assert_ok(p->b[s]->quad->create(p->d[s], p->f, dims, &p->w[s]));
  }
}

static void close_pair(pair *p) {
  for (int s = 0; s < SIDES; s++) {
    p->b[s]->quad->release(p->d[s], &p->w[s]);
    p->b[s]->close(&p->d[s]);
  }
  function_release(&p->made);
}

static dptr place(const pair *p, int side, const void *from, int64_t bytes) {
  dptr to = {NULL};
  assert_ok(p->b[side]->alloc(p->d[side], bytes, "test", &to));
  assert_ok(p->b[side]->copy_in(p->d[side], to, (hptr){(void *)(uintptr_t)from}, bytes));
  return to;
}

static int same(double a, double b) { return (a != a && b != b) || bits_of(a) == bits_of(b); }

/* ---- sums ---- */

static double table[3][7] = {{0.02, 0.1, 0.3, 0.5, -0.25, -0.1, -0.03},
                             {0.1, 0.2, 0.3, 0.4, 0.3, 0.2, 0.1},
                             {0.0, 0.4, 0.0, 0.8, 0.0, 0.4, 0.0}};

static quad_axis axis_of(int kind, int range, int64_t count) {
  quad_axis a = {.kind = kind, .range = range, .anchor = -0.25, .count = count, .panels = 1};
  a.lower = range == QUAD_FINITE ? -0.5 : range == QUAD_LINE ? -1.0 : 0.0;
  a.upper = range == QUAD_FINITE ? 2.75 : 1.0;
  a.step = (a.upper - a.lower) / (double)(count > 1 && kind != QUAD_MIDPOINT ? count - 1 : count);
  if (kind != QUAD_TABLE) return a;
  a.per_panel = 7;
  a.panels = count;
  a.count = 7 * count;
  a.step = (a.upper - a.lower) / (double)count;
  return a;
}

/* The sums of blocks [first, last) of the grid on both; in two pieces on the GPU. */
static void same_sums(pair *p, const quad_grid *grid, const char *what) {
  wide got[SIDES][2];
  const int64_t blocks = quad_blocks(grid);
  const int count = 1 + grid->estimate;
  for (int s = 0; s < SIDES; s++) {
    quad_grid g = *grid;
    dptr there = place(p, s, table, sizeof table), words = {NULL};
    double *at = there.at;
    for (int d = 0; d < g.dims; d++) {
      g.axis[d].node.at = at;
      g.axis[d].weight.at = at + 7;
      g.axis[d].coarse.at = at + 14;
    }
    if (g.kind == QUAD_SOBOL) {
      static uint64_t column[2 * QUAD_DIMS * SOBOL_STRIDE];
      for (int i = 0; i < 2 * g.dims; i++) {
        sobol_scramble(5, i / g.dims, i % g.dims, column + i * SOBOL_STRIDE);
      }
      words = g.table = place(p, s, column, sizeof column);
    }
    const int64_t cut = s == GPU ? blocks / 3 : 0;
    assert_ok(p->b[s]->quad->sum(p->d[s], p->w[s], &g, p->parameters, 0, cut));
    assert_ok(p->b[s]->quad->sum(p->d[s], p->w[s], &g, p->parameters, cut, blocks));
    assert_ok(p->b[s]->quad->collect(p->d[s], world, count, got[s]));
    p->b[s]->release(p->d[s], &there);
    p->b[s]->release(p->d[s], &words);
  }
  for (int k = 0; k < count; k++) {
    const double want = wide_round(&got[REF][k]), have = wide_round(&got[GPU][k]);
    for (int i = 0; i < WIDE_WORDS; i++) {
      if (got[REF][k].word[i] == got[GPU][k].word[i]) continue;
      fail_msg("%s: %lld points, kind %d, range %d, estimate %d, single %d: sum %d is %a, should "
               "be %a (word %d)",
               what, (long long)grid->points, grid->axis[0].kind, grid->axis[0].range,
               grid->estimate, grid->single, k, have, want, i);
    }
  }
}

static void in_one_direction(void **state) {
  (void)state;
  static const int64_t counts[] = {2, 31, 32, 33, 255, 256, 257, 1000, 65535, 65536, 65537, 70001};
  pair p;
  open_pair(&p, "sin(3*x[0])*exp(-a*x[0]) + b/(1 + x[0]^2)", 1, 2);
  for (int i = 0; i < 12; i++) {
    for (int kind = QUAD_TRAPEZOID; kind <= QUAD_TABLE; kind++) {
      for (int range = QUAD_FINITE; range <= QUAD_LINE; range++) {
        if (counts[i] > 60000 && (kind + range + i) % 4 != 0 && range != QUAD_FINITE) continue;
        quad_grid g = {.dims = 1, .scale = 1.0};
        g.axis[0] = axis_of(kind, range, kind == QUAD_TABLE ? counts[i] / 7 + 1 : counts[i]);
        g.points = g.axis[0].count;
        for (int how = 0; how < 4; how++) {
          if (counts[i] > 60000 && how > 1 && range != QUAD_FINITE) continue;
          g.estimate = how % 2;
          g.single = how / 2;
          same_sums(&p, &g, "one direction");
        }
      }
    }
  }
  close_pair(&p);
}

static void in_several_directions(void **state) {
  (void)state;
  static const char *const text[] = {
      [2] = "sin(x[0] + a)*cos(x[1])",
      [3] = "exp(-x[0]*x[1]) + x[2]*b",
      [10] = "exp(-(x[0] + x[1]*x[2])) + x[3] - x[4]*x[5] + x[6]*x[7] + x[8]*x[9]"};
  static const int64_t counts[][2] = {[2] = {257, 31}, [3] = {41, 40}, [10] = {3, 2}};
  for (int dims = 2; dims <= 10; dims += dims == 2 ? 1 : 7) {
    pair p;
    open_pair(&p, text[dims], dims, 2);
    for (int how = 0; how < 4; how++) {
      quad_grid g = {
          .dims = dims, .scale = 1.0, .points = 1, .estimate = how % 2, .single = how / 2};
      for (int d = 0; d < dims; d++) {
        g.axis[d] = axis_of((d + how) % 2, (d * how) % 4, counts[dims][d % 2]);
        g.points *= g.axis[d].count;
      }
      if (dims == 2) g.axis[1] = axis_of(QUAD_TABLE, QUAD_FINITE, 9);
      if (dims == 2) g.points = g.axis[0].count * g.axis[1].count;
      same_sums(&p, &g, "several directions");
    }
    close_pair(&p);
  }
}

static void of_sobol_points(void **state) {
  (void)state;
  static const char *const text[] = {[1] = "sin(a + x[0])", [4] = "exp(-x[0]*x[1])*x[2] + x[3]*b"};
  static const int64_t counts[] = {1, 31, 32, 33, 256, 4096, 20000, 65536, 70000};
  static const int64_t firsts[] = {0, 65536, INT64_C(1) << 40, 7};
  for (int dims = 1; dims <= 4; dims += 3) {
    pair p;
    open_pair(&p, text[dims], dims, 2);
    for (int i = 0; i < 9; i++) {
      for (int j = 0; j < 4; j++) {
        quad_grid g = {.kind = QUAD_SOBOL,
                       .dims = dims,
                       .scale = 1.0,
                       .points = counts[i],
                       .first = firsts[j],
                       .replicate = j % 2,
                       .single = (i + j) % 3 == 0};
        for (int d = 0; d < dims; d++) {
          g.axis[d] = axis_of(QUAD_TRAPEZOID, (d + j) % 4, 2);
        }
        same_sums(&p, &g, "sobol");
      }
    }
    close_pair(&p);
  }
}

/* NaN and infinities reach the sums; far arguments take the functions' slow ways. */
static void not_finite_and_far(void **state) {
  (void)state;
  static const char *const text[] = {"log(x[0])", "1/x[0] - 1/x[0]", "exp(400*x[0])",
                                     "sin(1e12*x[0]) + cos(3e300*x[0])",
                                     "tan(1e11*x[0]) + exp(-300*x[0])"};
  for (int i = 0; i < 5; i++) {
    pair p;
    open_pair(&p, text[i], 1, 0);
    quad_grid g = {.dims = 1, .scale = 1.0};
    g.axis[0] = axis_of(QUAD_TRAPEZOID, QUAD_FINITE, 65536 + 14);
    g.points = g.axis[0].count;
    same_sums(&p, &g, text[i]);
    g.axis[0] = axis_of(QUAD_SIMPSON, QUAD_FINITE, 1014);
    g.points = g.axis[0].count;
    same_sums(&p, &g, text[i]);
    close_pair(&p);
  }
}

/* ---- members ---- */

static void same_members(pair *p, const quad_grid *grid, int64_t first, int64_t count) {
  static double list[] = {0.5, -1.0, 3.0};
  static double got[SIDES][2 * 40000 + 1];
  const int64_t numbers = count * (1 + grid->estimate), bytes = (numbers + 1) * 8;
  for (int s = 0; s < SIDES; s++) {
    quad_grid g = *grid;
    quad_family family = {.fixed = p->parameters, .fixed_count = 1};
    dptr there = place(p, s, list, sizeof list), words = {NULL}, sums;
    family.swept.axes = 1;
    family.swept.axis[0] = (sweep_axis){SWEEP_LINSPACE, 70000, -1.0, 1.0, 2.0 / 69999.0, {NULL}};
    if (p->f->inputs - p->dims == 4) {
      family.swept.axes = 3;
      family.swept.axis[0].count = 401;
      family.swept.axis[1] = (sweep_axis){SWEEP_LIST, 3, 0.0, 0.0, 0.0, there};
      family.swept.axis[2] = (sweep_axis){SWEEP_GEOMSPACE, 60, 0.1, 100.0, 3.0, {NULL}};
    }
    if (g.kind == QUAD_SOBOL) {
      static uint64_t column[SOBOL_STRIDE];
      sobol_scramble(5, 0, 0, column);
      words = g.table = place(p, s, column, sizeof column);
    }
    got[s][numbers] = -7.0;
    sums = place(p, s, got[s], bytes);
    assert_ok(p->b[s]->quad->members(p->d[s], p->w[s], &g, &family, first, count, sums));
    assert_ok(p->b[s]->copy_out(p->d[s], (hptr){got[s]}, sums, bytes));
    assert_true(got[s][numbers] == -7.0);
    p->b[s]->release(p->d[s], &there);
    p->b[s]->release(p->d[s], &words);
    p->b[s]->release(p->d[s], &sums);
  }
  for (int64_t i = 0; i < numbers; i++) {
    if (!same(got[REF][i], got[GPU][i])) {
      fail_msg("%lld members from %lld, %lld points, estimate %d, single %d: number %lld is %a, "
               "should be %a",
               (long long)count, (long long)first, (long long)grid->points, grid->estimate,
               grid->single, (long long)i, got[GPU][i], got[REF][i]);
    }
  }
}

/* names a, b, and two more for the swept ones */
static void open_family(pair *p, const char *text, int swept) {
  const device_request request = {.threads = 1};
  const char *names[] = {"x", "a", "u", "v", "w", NULL}, *where = "test";
  memset(p, 0, sizeof *p);
  if (swept == 1) names[3] = NULL;
  const function_request r = {
      .texts = &text, .where = &where, .names = names, .outputs = 1, .plain = 1};
  if (function_create(world, NULL, &r, &p->made) != STATUS_OK) fail_msg("%s", fail_text());
  p->f = function_formula(p->made);
  p->dims = 1;
  p->b[REF] = &BACKEND_ref;
  p->b[GPU] = &BACKEND_cuda;
  p->parameters[0] = 0.7;
  for (int s = 0; s < SIDES; s++) {
    assert_ok(p->b[s]->open(&request, &p->d[s]));
    assert_ok(p->b[s]->quad->create(p->d[s], p->f, 1, &p->w[s]));
  }
}

static void of_members(void **state) {
  (void)state;
  static const int64_t points[] = {1, 2, 5, 31, 32, 33, 64, 255, 256, 257, 1000};
  static const int64_t counts[] = {0, 1, 2, 31, 255, 256, 257, 3000, 40000};
  for (int family = 0; family < 2; family++) {
    pair p;
    open_family(&p, family ? "sin(a*x + u) + v*exp(-w*x)" : "sin(u*x)*exp(-a*x)", family ? 3 : 1);
    for (int i = 0; i < 11; i++) {
      for (int j = 0; j < 9; j++) {
        if (points[i] * counts[j] > 400000) continue;
        quad_grid g = {.kind = (i + j) % 5 == 4 ? QUAD_SOBOL : QUAD_PRODUCT,
                       .dims = 1,
                       .scale = 1.0,
                       .points = points[i]};
        g.axis[0] = axis_of(QUAD_TRAPEZOID, QUAD_FINITE, points[i]);
        g.estimate = g.kind == QUAD_PRODUCT && points[i] > 1 && (i + j) % 3 != 0;
        g.single = (i + j) % 4 == 1;
        same_members(&p, &g, 11, counts[j]);
      }
    }
    close_pair(&p);
  }
}

/* ---- regions ---- */

static uint64_t scramble(uint64_t z) {
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static double unit(uint64_t i) {
  return (double)(scramble(i + UINT64_C(0x9e3779b97f4a7c15)) >> 11) * 0x1p-53;
}

static void same_regions(pair *p, quad_region_rule rule, int range, int64_t count) {
  quad_frame f = {.dims = p->dims, .rule = (int32_t)rule};
  quad_estimate *got[SIDES];
  double *edge;
  assert_ok(alloc_array(&edge, count * 2 * p->dims, 8, "edges"));
  for (int d = 0; d < p->dims; d++) {
    f.axis[d] = axis_of(QUAD_TRAPEZOID, (range + d) % 4, 2);
    const double width = f.axis[d].upper - f.axis[d].lower;
    for (int64_t i = 0; i < count; i++) {
      const uint64_t key = (uint64_t)(i * p->dims + d);
      const double a = 0.5 * width * unit(2 * key), b = 0.5 * width * unit(2 * key + 1);
      double *at = edge + (i * p->dims + d) * 2;
      at[0] = fmin(a, b);
      at[1] = fmax(a, b);
      if (i % 3 == 1) { /* from the upper end */
        const double low = -at[1], high = -at[0];
        at[0] = low;
        at[1] = high;
      }
      if (i % 7 == 3) at[0] = 0.0;
      if (i % 7 == 3 && at[1] <= 0.0) at[1] = 0.25 * width;
    }
  }
  for (int s = 0; s < SIDES; s++) {
    assert_ok(alloc_zeroed(&got[s], count, sizeof **got, "estimates"));
    assert_ok(p->b[s]->quad->regions(p->d[s], p->w[s], &f, p->parameters, count, edge, got[s]));
  }
  for (int64_t i = 0; i < count; i++) {
    const quad_estimate *a = &got[REF][i], *b = &got[GPU][i];
    if (same(a->value, b->value) && same(a->error, b->error) && same(a->low, b->low) &&
        same(a->high, b->high) && a->axis == b->axis) {
      continue;
    }
    fail_msg("%d directions, range %d: region %lld of %lld is %a +- %a (%a .. %a) %d, should be "
             "%a +- %a (%a .. %a) %d",
             p->dims, range, (long long)i, (long long)count, b->value, b->error, b->low, b->high,
             b->axis, a->value, a->error, a->low, a->high, a->axis);
  }
  for (int s = 0; s < SIDES; s++) alloc_free(&got[s]);
  alloc_free(&edge);
}

static void of_intervals(void **state) {
  (void)state;
  static const char *const text[] = {"sin(9*x[0])*exp(-a*x[0]^2)*b", "sqrt(x[0])", "0*x[0]"};
  static const int64_t counts[] = {0, 1, 15, 16, 17, 300, 5001};
  for (int i = 0; i < 3; i++) {
    pair p;
    open_pair(&p, text[i], 1, 2);
    for (int range = QUAD_FINITE; range <= QUAD_LINE; range++) {
      for (int j = 0; j < 7; j++) same_regions(&p, QUAD_KRONROD, range, counts[j]);
    }
    close_pair(&p);
  }
}

static void of_boxes(void **state) {
  (void)state;
  static const char *const text[] = {
      "sin(9*x[0] + a)*exp(-b*x[1]^2)", "sqrt(x[0])/x[1] - x[2]",
      "exp(-x[0]*x[1])*cos(x[2] + x[3]) + x[4]",
      "exp(-(x[0] + x[1]*x[2])) + x[3] - x[4]*x[5] + x[6]*x[7] + sin(x[8]*x[9])"};
  static const int dims[] = {2, 3, 5, 10};
  for (int i = 0; i < 4; i++) {
    pair p;
    open_pair(&p, text[i], dims[i], 2);
    for (int range = QUAD_FINITE; range <= QUAD_LINE; range++) {
      same_regions(&p, QUAD_MALIK, range, 1);
      same_regions(&p, QUAD_MALIK, range, i == 3 ? 70 : 701);
    }
    close_pair(&p);
  }
}

/* More regions than a batch holds. */
static void of_many_intervals(void **state) {
  (void)state;
  pair p;
  open_pair(&p, "1 + x[0]*x[0]", 1, 0);
  same_regions(&p, QUAD_KRONROD, QUAD_FINITE, (1 << 22) / QUAD_KRONROD_POINTS + 77);
  close_pair(&p);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_one_direction), cmocka_unit_test(in_several_directions),
      cmocka_unit_test(of_sobol_points),  cmocka_unit_test(not_finite_and_far),
      cmocka_unit_test(of_members),       cmocka_unit_test(of_intervals),
      cmocka_unit_test(of_boxes),         cmocka_unit_test(of_many_intervals),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  int rc = gpu_skip(world);
  if (rc == 0) rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
