/* Brownian paths: against Levy's construction in long double, refined paths, walks against the
 * counter alone, antithetic paths, independence of what must be independent. */
#include "brownian.h"

#include "test.h"

enum { LANES = 64, STEPS = 2100, STACK = 50 * 6 * LANES };

static double stack[STACK];

static long double slow_normal(const brownian *b, uint64_t trajectory, int level, uint64_t i,
                               int component) {
  const long double pi = 3.14159265358979323846264338327950288L;
  const int alone = b->components % 2 == 1 && component == b->components - 1;
  const int which = alone ? (int)(i % 2) : component % 2;
  const philox_words w =
      philox_at(b->seed, trajectory, (uint32_t)level, alone ? i / 2 : i, (uint32_t)component / 2);
  const long double u = ((long double)(philox_bits(w, 0) >> 12) + 0.5L) / 0x1p52L;
  const long double v = ((long double)(philox_bits(w, 1) >> 12) + 0.5L) / 0x1p52L;
  const long double a = 0.5L * pi * (v - 0.5L), size = sqrtl(-2.0L * logl(u));
  const long double z = size * ((w.word[2] & 1) == (uint32_t)which ? cosl(a) : sinl(a));
  return (w.word[2] & 2) != 0 ? -z : z;
}

/* The increment over part i of a level: the definition, recursively. `part` is h. */
static long double slow_increment(const brownian *b, uint64_t trajectory, int level, uint64_t i,
                                  int component, long double part) {
  if (level == 0) return sqrtl(part) * slow_normal(b, trajectory, 0, i, component);
  const long double above = slow_increment(b, trajectory, level - 1, i / 2, component, part);
  const long double length = part * powl(2.0L, 1 - level);
  const long double left =
      0.5L * above + 0.5L * sqrtl(length) * slow_normal(b, trajectory, level, i / 2, component);
  return i % 2 == 0 ? left : above - left;
}

static void definition(void **state) {
  (void)state;
  const struct {
    uint64_t steps, first;
    double dt;
    int components, levels;
  } cases[] = {{7, 0, 0.1, 1, 0},
               {1, 0, 3.0, 2, 0},
               {96, 17, 0.01, 3, 5},
               {1000, 123, 0.001, 1, 3},
               {1024, 511, 1.0 / 1024, 4, 10},
               {UINT64_C(1) << 48, (UINT64_C(1) << 48) - 9, 0x1p-48, 2, 48},
               {UINT64_C(3) << 46, UINT64_C(2) << 46, 0x1p-40, 5, 46},
               {(UINT64_C(1) << 48) - 1, (UINT64_C(1) << 48) - 9, 1e-9, 1, 0}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const brownian b = brownian_make(3, cases[c].steps, cases[c].dt, cases[c].components, 0);
    assert_int_equal(b.levels, cases[c].levels);
    const long double part = (long double)cases[c].dt * powl(2.0L, cases[c].levels);
    for (uint64_t k = cases[c].first; k < cases[c].first + 8 && k < cases[c].steps; k++) {
      double dw[5];
      brownian_increments(&b, (UINT64_C(1) << 40) - 1, k, dw);
      for (int d = 0; d < cases[c].components; d++) {
        const long double exact = slow_increment(&b, (UINT64_C(1) << 40) - 1, b.levels, k, d, part);
        /* every bridge rounds an increment of the level above */
        const long double allowed = 8.0L * 0x1p-53L * sqrtl(part);
        if (!(fabsl((long double)dw[d] - exact) <= allowed)) {
          fail_msg("%lld steps, step %lld, component %d: %.17g, should be %.17Lg",
                   (long long)cases[c].steps, (long long)k, d, dw[d], exact);
        }
      }
    }
  }
}

/* Goes through `count` steps from `first` on, in order, and compares with the counter alone. */
static void walk(const brownian *b, int lanes, const uint64_t *trajectory, uint64_t first,
                 uint64_t count) {
  brownian_begin(b, lanes, trajectory, first, stack);
  for (uint64_t k = first; k < first + count; k++) {
    if (k > first) brownian_advance(b, lanes, trajectory, k - 1, stack);
    const double *found = brownian_step(b, lanes, stack);
    for (int l = 0; l < lanes; l++) {
      double dw[5];
      brownian_increments(b, trajectory[l], k, dw);
      for (int c = 0; c < b->components; c++) {
        if (bits_of(found[c * lanes + l]) != bits_of(dw[c])) {
          fail_msg("from step %lld: step %lld, lane %d, component %d: %.17g and %.17g",
                   (long long)first, (long long)k, l, c, found[c * lanes + l], dw[c]);
        }
      }
    }
  }
}

static void walks(void **state) {
  (void)state;
  const uint64_t steps[] = {1, 2, 3, 7, 12, 40, 64, 96};
  uint64_t trajectory[LANES];
  for (uint64_t l = 0; l < LANES; l++) trajectory[l] = l * l * 7919 % 1000;
  for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
    for (int components = 1; components <= 5; components++) {
      const brownian b = brownian_make(11, steps[s], 0.3, components, components == 2);
      assert_true(brownian_stack(&b) * LANES <= STACK);
      walk(&b, LANES, trajectory, 0, steps[s]);
      for (uint64_t first = 0; first < steps[s]; first++) {
        walk(&b, 3, trajectory, first, steps[s] - first);
      }
    }
  }
  for (int components = 1; components <= 3; components++) {
    const uint64_t half = UINT64_C(1) << 47; /* a step that changes every level but the first */
    const brownian b = brownian_make(11, 2 * half, 0x1p-48, components, 0);
    assert_int_equal(brownian_stack(&b), 49 * brownian_slots(&b));
    walk(&b, 5, trajectory, half - 4, 8);
  }
}

/* The increments over the steps of N are those over two of 2 N and four of 4 N, to rounding; and
 * the bits of a level do not depend on the levels below. */
static void refined(void **state) {
  (void)state;
  const uint64_t steps[] = {1, 5, 48, 1000};
  for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
    for (int components = 1; components <= 3; components++) {
      const double dt = 0.7 / (double)steps[s], dt2 = 0.7 / (double)(2 * steps[s]);
      const brownian coarse = brownian_make(5, steps[s], dt, components, 0);
      const brownian fine = brownian_make(5, 2 * steps[s], dt2, components, 0);
      const brownian finer = brownian_make(5, 4 * steps[s], dt / 4.0, components, 0);
      for (int level = 0; level <= coarse.levels; level++) {
        assert_same_bits(brownian_scale(&coarse, level), brownian_scale(&finer, level));
      }
      double end[3] = {0.0}, end2[3] = {0.0}, end4[3] = {0.0};
      for (uint64_t k = 0; k < 4 * steps[s]; k++) {
        double dw[3];
        brownian_increments(&finer, 42, k, dw);
        for (int c = 0; c < components; c++) end4[c] += dw[c];
        if (k % 2 == 1) brownian_increments(&fine, 42, k / 2, dw);
        for (int c = 0; c < components && k % 2 == 1; c++) end2[c] += dw[c];
        if (k % 4 == 3) brownian_increments(&coarse, 42, k / 4, dw);
        for (int c = 0; c < components && k % 4 == 3; c++) {
          end[c] += dw[c];
          assert_true(fabs(end[c] - end2[c]) < 1e-14 && fabs(end[c] - end4[c]) < 1e-14);
          assert_true(end[c] != 0.0);
        }
      }
    }
  }
}

/* Trajectories 2 k and 2 k + 1 mirror each other, and differ from all others. */
static void antithetic(void **state) {
  (void)state;
  const brownian plain = brownian_make(8, 24, 0.1, 3, 0), both = brownian_make(8, 24, 0.1, 3, 1);
  for (uint64_t t = 0; t < 50; t++) {
    assert_int_equal(brownian_source_of(&plain, t).trajectory, t);
    assert_int_equal(brownian_source_of(&plain, t).opposite, 0);
    assert_int_equal(brownian_source_of(&both, t).trajectory, t / 2);
    assert_int_equal(brownian_source_of(&both, t).opposite, t % 2);
    for (uint64_t k = 0; k < 24; k++) {
      double own[3], path[3];
      brownian_increments(&both, t, k, own);
      brownian_increments(&plain, t / 2, k, path);
      for (int c = 0; c < 3; c++) assert_same_bits(own[c], t % 2 == 0 ? path[c] : -path[c]);
    }
  }
}

/* Correlation of two sequences of STEPS increments: below five standard errors. */
static void unrelated(const char *what, const double *x, const double *y) {
  double xy = 0.0, xx = 0.0, yy = 0.0;
  for (int k = 0; k < STEPS; k++) {
    xy += x[k] * y[k];
    xx += x[k] * x[k];
    yy += y[k] * y[k];
  }
  const double found = xy / sqrt(xx * yy);
  if (!(fabs(found) < 5.0 / sqrt(STEPS))) fail_msg("%s: correlation %.4f", what, found);
}

/* Neighbours in trajectory, component and seed; steps one to eight apart. Variance is dt. */
static void independent(void **state) {
  (void)state;
  static double dw[2][4][5][STEPS + 8];
  for (int components = 2; components <= 5; components += 3) {
    for (uint64_t seed = 0; seed < 2; seed++) {
      const brownian b = brownian_make(seed, 4 * (STEPS + 8), 0.25, components, 0);
      for (uint64_t t = 0; t < 4; t++) {
        for (uint64_t k = 0; k < STEPS + 8; k++) {
          double step[5];
          brownian_increments(&b, t, k, step);
          for (int c = 0; c < components; c++) dw[seed][t][c][k] = step[c];
        }
      }
    }
    for (int t = 0; t < 4; t++) {
      for (int c = 0; c < components; c++) {
        const double *own = dw[0][t][c];
        double square = 0.0;
        for (int k = 0; k < STEPS; k++) square += own[k] * own[k];
        assert_true(fabs(square / STEPS / 0.25 - 1.0) < 5.0 * sqrt(2.0 / STEPS));
        unrelated("seeds", own, dw[1][t][c]);
        for (int other = t + 1; other < 4; other++) unrelated("trajectories", own, dw[0][other][c]);
        for (int other = c + 1; other < components; other++) {
          unrelated("components", own, dw[0][t][other]);
        }
        for (int lag = 1; lag <= 8; lag++) unrelated("steps", own, own + lag);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(definition), cmocka_unit_test(walks),
                                     cmocka_unit_test(refined), cmocka_unit_test(antithetic),
                                     cmocka_unit_test(independent)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
