/* Quadrature on the OpenMP backend against the reference backend, bit for bit: every fixed rule,
 * finite and infinite ranges, one and more dimensions, awkward counts, both precisions, threads. */
#include "quad_setting.h"

static void same(const char *text, int dims, double lower, double upper, int64_t n, int64_t panels,
                 int single, const quad_rule *rule) {
  setting s = {.text = text,
               .dims = dims,
               .lower = lower,
               .upper = upper,
               .limits = {.rtol = 1e-9,
                          .atol = 1e-14,
                          .max_evaluations = 1 << 17,
                          .n = n,
                          .panels = panels,
                          .single = single}};
  quad_run first, other;
  integrate(&s, rule, &first);
  s.on = &BACKEND_omp;
  for (s.threads = 1; s.threads <= 7; s.threads += 3) {
    integrate(&s, rule, &other);
    assert_same_bits(first.value, other.value);
    if (!isnan(first.error) || !isnan(other.error)) assert_same_bits(first.error, other.error);
    assert_int_equal(first.reason, other.reason);
    assert_int_equal(first.evaluations, other.evaluations);
    for (int d = 0; d < dims; d++) assert_same_bits(first.bad_point[d], other.bad_point[d]);
  }
}

static void fixed_counts(void **state) {
  (void)state;
  static const int64_t counts[] = {2, 3, 31, 32, 33, 255, 256, 257, 1000, 65536, 66001};
  for (int r = 0; quad_rule_at(r) != NULL; r++) {
    const quad_rule *rule = quad_rule_at(r);
    if (!(rule->flags & QUAD_RULE_FIXED)) continue;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
      const int panelled = (rule->flags & QUAD_RULE_PANELS) != 0;
      const int64_t panels = panelled && counts[i] > 300 ? 37 : 1;
      const int64_t n = panels > 1 ? counts[i] / panels + 1 : counts[i];
      for (int single = 0; single < 2; single++) {
        same("sin(x)*exp(-0.05*x)", 1, 0.0, 3.0, n, panels, single, rule);
        if (counts[i] > 1000) continue;
        same("exp(-x^2)*(1+x)", 1, -INFINITY, INFINITY, n, panels, single, rule);
        same("exp(-x)", 1, 0.5, INFINITY, n, panels, single, rule);
        same("x > 0.4 ? log(-x) : 1", 1, 0.0, 1.0, n, panels, single, rule);
      }
    }
    same("cos(x*y)+x", 2, 0.0, 2.0, 301, 1, 0, rule);
    same("exp(-x*x-y*y-z*z)", 3, -INFINITY, 1.0, 33, 1, 0, rule);
    same("x[0]+x[1]*x[2]-x[3]^2+x[4]", 5, 0.0, 1.0, 7, 1, 1, rule);
  }
}

static void refining(void **state) {
  (void)state;
  for (int r = 0; quad_rule_at(r) != NULL; r++) {
    const quad_rule *rule = quad_rule_at(r);
    if (!(rule->flags & QUAD_RULE_FIXED)) continue;
    same("sin(x)*exp(-0.05*x)", 1, 0.0, 3.0, 0, 1, 0, rule);
    same("1/(1+25*x^2)", 1, INFINITY, -1.0, 0, 1, 0, rule);
    same("cos(x*y)+x", 2, 0.0, 2.0, 0, 1, 0, rule);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fixed_counts), cmocka_unit_test(refining)};
  return run_quad_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
