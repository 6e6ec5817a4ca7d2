/* bench_quad_sums [POINTS]: what single precision costs in accuracy, and how it is summed. The sum
 * of sin(x) exp(-0.05 x) over the points of a trapezoid on [0, pi], each term rounded to float, by:
 * one float; a float with Kahan's compensation; pairwise in float; our blocks (Neumaier in float,
 * block sums exact). Compared with the exact sum of the same float terms, so that only summation
 * differs, and with the integral. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "elementary.h"
#include "quad.h"
#include "wide.h"

enum { LEVELS = 40 };

typedef struct sums {
  float plain, kahan, lost;
  float pair[LEVELS]; /* pairwise: a partial sum of 2^i terms */
  int used[LEVELS];
  wide exact, ours;
} sums;

static float term_at(int64_t i, int64_t n, double step) {
  const double x = (float)fma((double)i, step, 0.0);
  return quad_term_single(i == 0 || i == n - 1 ? 0.5 : 1.0,
                          elementary_sin(x) * elementary_exp(-0.05 * x));
}

static void add_pair(sums *s, float x) {
  int level = 0;
  for (; s->used[level]; level++) {
    x = s->pair[level] + x;
    s->used[level] = 0;
  }
  s->pair[level] = x;
  s->used[level] = 1;
}

static void add(sums *s, float x) {
  s->plain += x;
  const float y = x - s->lost, t = s->kahan + y;
  s->lost = (t - s->kahan) - y;
  s->kahan = t;
  add_pair(s, x);
}

static void show(const char *name, double sum, double exact, double step) {
  printf("%-28s %-22.17g %9.2e %9.2e\n", name, step * sum, fabs(sum - exact) / exact,
         fabs(step * sum - 1.85001097172392362) / 1.85001097172392362);
}

int main(int argc, char **argv) {
  const int64_t n = argc > 1 ? (int64_t)strtod(argv[1], NULL) : 100000000;
  const double step = 3.14159265358979323846 / (double)(n - 1);
  static sums s;
  wide_clear(&s.exact);
  wide_clear(&s.ours);
  for (int64_t at = 0; at < n; at += BLOCK_MAX) {
    float term[BLOCK_MAX];
    double wider[BLOCK_MAX];
    const int count = (int)(n - at < BLOCK_MAX ? n - at : BLOCK_MAX);
    for (int i = 0; i < count; i++) wider[i] = term[i] = term_at(at + i, n, step);
    for (int i = 0; i < count; i++) add(&s, term[i]);
    for (int i = 0; i < count; i += 4) { /* exact: 4 floats of like size add exactly in a double */
      wide_add(&s.exact, block_sum(wider + i, count - i < 4 ? count - i : 4));
    }
    wide_add(&s.ours, quad_block_single(term, count));
    if (at >> 29 != (at + BLOCK_MAX) >> 29) {
      wide_normalise(&s.exact);
      wide_normalise(&s.ours);
    }
  }
  float pairwise = 0.0f;
  for (int i = 0; i < LEVELS; i++) {
    if (s.used[i]) pairwise += s.pair[i];
  }
  const double exact = wide_round(&s.exact);
  printf("%lld points, float terms\n%-28s %-22s %9s %9s\n", (long long)n, "sum", "integral",
         "of sum", "of integral");
  show("plain float", s.plain, exact, step);
  show("Kahan float", s.kahan, exact, step);
  show("pairwise float", pairwise, exact, step);
  show("ours", wide_round(&s.ours), exact, step);
  show("exact sum of float terms", exact, exact, step);
  return 0;
}
