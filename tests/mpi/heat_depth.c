/* ranks: 1 2 3 5
 *
 * However many stages a pass over memory is made of, a run has the same bits: every scheme, faces
 * of every kind, values that change in time, slabs thinner than the halo, ranks without planes. And
 * a pass saves exchanges: one per pass, not per stage. */
#include "heat_try.h"

static comm *world;

enum { STEPS = 11 };

static int64_t spoilt_at; /* an owned point */

static const boundary_kind D = BOUNDARY_DIRICHLET, I = BOUNDARY_INITIAL, N = BOUNDARY_NEUMANN,
                           R = BOUNDARY_ROBIN, P = BOUNDARY_PERIODIC;

/* A backend that spoils what nobody is to read after a pass. */
static status spoiling_pass(device *d, heat_work *w, const heat_stage *s, int count, part which) {
  const status rc = BACKEND_omp.heat->pass(d, w, s, count, which);
  for (int i = 0; i < count && which != PART_INTERIOR; i++) {
    int again = 0;
    for (int k = i + 1; k < count; k++) again |= s[k].out.data.at == s[i].out.data.at;
    if (!s[i].fleeting || again) continue;
    *((double *)s[i].out.data.at + spoilt_at) = NAN;
  }
  return rc;
}

static backend spoiling(void) {
  static heat_backend family;
  backend b = BACKEND_omp;
  family = *b.heat;
  family.pass = spoiling_pass;
  b.heat = &family;
  return b;
}

/* The fields of all depths against that of single stages. */
static void all_depths(const heat_texts *x, const char *scheme, double z) {
  static const int64_t depth[] = {1, 2, 3, 5, 8, 0};
  const backend spoils = spoiling();
  double *first = NULL;
  for (size_t i = 0; i < sizeof depth / sizeof *depth; i++) {
    heat_try t;
    heat_try_open_deep(&t, i == 0 ? &BACKEND_ref : &spoils, world, 1 + (int)i % 2, x,
                       heat_scheme_find(scheme), depth[i]);
    t.run.dt = z / t.run.lambda;
    t.run.last = STEPS;
    spoilt_at = t.run.slab.halo * t.run.slab.plane + heat_owned(&t.run.slab) / 2;
    heat_try_march(&t);
    const double *u = heat_try_field(&t);
    const int64_t points = heat_owned(&t.run.slab);
    if (i == 0) {
      assert_ok(alloc_array(&first, points, sizeof *first, "field"));
      memcpy(first, u, (size_t)points * sizeof *u);
    }
    for (int64_t k = 0; k < points; k++) {
      if (bits_of(first[k]) == bits_of(u[k])) continue;
      fail_msg("%s, %s, %lld stages in a pass: point %lld: %.17g, expected %.17g", x->name, scheme,
               (long long)depth[i], (long long)k, u[k], first[k]);
    }
    assert_true(depth[i] == 0 || t.run.depth == depth[i]);
    heat_try_close(&t);
  }
  alloc_free(&first);
}

static void all_schemes(const heat_texts *x) {
  all_depths(x, "ftcs", 1.7);
  all_depths(x, "rk4", 2.1);
  all_depths(x, "rkl2", 17.0); /* 6 stages */
}

static void lines(void **state) {
  (void)state;
  const heat_texts around = {"line, periodic", 1,     {700}, {0},    {3},    "1+0.3*sin(2*pi*x/3)",
                             "cos(2*pi*x/3)",  "x*x", NULL,  {P, P}, {NULL}, {0}};
  const heat_texts open = {.name = "line",
                           .dims = 1,
                           .n = {1100},
                           .source = "x",
                           .initial = "sin(7*x)",
                           .kind = {R, N},
                           .face = {"1+sin(40*t)", "2"},
                           .h = {0.7}};
  all_schemes(&around);
  all_schemes(&open);
}

static void rectangles(void **state) {
  (void)state;
  const heat_texts x = {.name = "rectangle",
                        .dims = 2,
                        .n = {9, 23},
                        .length = {1, 2},
                        .alpha = "1+x*y",
                        .source = "x-y",
                        .initial = "sin(3*x)*y+x",
                        .kind = {N, I, R, D},
                        .face = {"y", NULL, "x", "x+1"},
                        .h = {0, 0, 1.5}};
  const heat_texts around = {.name = "rectangle, periodic",
                             .dims = 2,
                             .n = {6, 4},
                             .initial = "x+y*y",
                             .kind = {D, D, P, P},
                             .face = {"1", "2"}};
  all_schemes(&x);
  all_schemes(&around);
}

static void in_time(void **state) {
  (void)state;
  const heat_texts held = {.name = "held in time",
                           .dims = 2,
                           .n = {8, 21},
                           .initial = "x+y",
                           .kind = {D, D, N, D},
                           .face = {"sin(30*t)+y", "1", "cos(9*t)", "t"}};
  const heat_texts source = {.name = "source in time",
                             .dims = 2,
                             .n = {8, 21},
                             .source = "sin(50*t)*x",
                             .initial = "x+y",
                             .kind = {D, D, D, D}};
  all_schemes(&held);
  all_schemes(&source);
}

static void boxes(void **state) {
  (void)state;
  const heat_texts x = {.name = "box",
                        .dims = 3,
                        .n = {5, 4, 13},
                        .alpha = "2-x*z",
                        .initial = "x*y+z",
                        .kind = {D, N, R, R, N, I},
                        .face = {"1", "x+z", "3", "0"},
                        .h = {0, 0, 0.4, 2}};
  all_schemes(&x);
}

/* A pass of 8 Euler steps is one launch alone, two with ghost planes. */
static void passes_are_counted(void **state) {
  (void)state;
  const heat_texts x = {.name = "plate",
                        .dims = 2,
                        .n = {8, 200},
                        .initial = "x+y",
                        .kind = {D, D, D, D},
                        .face = {"0", "0", "0", "0"}};
  heat_try t;
  heat_try_open_deep(&t, &BACKEND_omp, world, 1, &x, heat_scheme_find("ftcs"), 8);
  t.run.dt = 1.7 / t.run.lambda;
  for (int i = 0; i < 128; i++) {
    assert_ok(t.run.scheme->step(&t.run, 0.0, t.run.dt, 0.0));
    t.run.whole = t.run.queued;
  }
  assert_ok(heat_flush(&t.run));
  assert_int_equal(t.run.launches, (comm_size(world) > 1 ? 2 : 1) * 128 / 8);
  assert_int_equal(t.run.copies, 0);
  assert_int_equal(t.run.stages, 128);
  heat_try_close(&t);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines),   cmocka_unit_test(rectangles),         cmocka_unit_test(boxes),
      cmocka_unit_test(in_time), cmocka_unit_test(passes_are_counted),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
