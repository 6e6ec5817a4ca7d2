/* Every fixed rule of the registry, by its descriptor: polynomials up to its degree exactly, the
 * observed order, the sum of its weights, in one dimension and as tensor products; estimates that
 * hold; counts of evaluations; guards. */
#include <math.h>
#include <stdio.h>

#include "fixed_grid.h"
#include "quad_setting.h"

#define EACH_RULE(rule)                                                                            \
  for (int i_ = 0; quad_rule_at(i_) != NULL; i_++)                                                 \
    for (const quad_rule *rule = quad_rule_at(i_); rule != NULL; rule = NULL)                      \
      if (rule->flags & QUAD_RULE_FIXED)

static quad_run run_of(const char *text, int dims, double lower, double upper, int64_t n,
                       const quad_rule *rule) {
  quad_run run;
  const setting s = {
      .text = text,
      .dims = dims,
      .lower = lower,
      .upper = upper,
      .on = &BACKEND_omp, /* the bits of ref, sooner */
      .threads = 1,
      .limits = {.rtol = 1e-10, .atol = 1e-14, .max_evaluations = 1 << 21, .n = n, .panels = 1}};
  integrate(&s, rule, &run);
  return run;
}

/* x^k over [-0.5, 1]; one degree above is not exact (where n is small enough to tell). */
static void polynomials(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 33, 34};
  int exact = 0, inexact = 0;
  EACH_RULE(rule) {
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      const int64_t n = counts[c];
      const int64_t degree = rule->degree(n);
      if (degree < 0) continue;
      for (int64_t k = 0; k <= degree + 1 && k < 30; k++) {
        char text[64];
        snprintf(text, sizeof text, "x^%lld", (long long)k);
        const quad_run run = run_of(text, 1, -0.5, 1.0, n, rule);
        const double m = (double)(k + 1);
        const double value = (1.0 - pow(-0.5, m)) / m, error = fabs(run.value - value);
        assert_int_equal(run.evaluations, n);
        assert_int_equal(run.reason, QUAD_FIXED_COUNT);
        if (k <= degree) {
          exact++;
          if (!(error <= 4e-15 * value)) {
            fail_msg("%s, n = %lld: x^%lld off by %g", rule->name, (long long)n, (long long)k,
                     error);
          }
        } else if (n < 10) {
          inexact++;
          if (!(error > 1e-12))
            fail_msg("%s, n = %lld: x^%lld exact", rule->name, (long long)n, (long long)k);
        }
      }
    }
  }
  assert_true(exact > 100 && inexact > 10);
}

static void products_of_polynomials(void **state) {
  (void)state;
  EACH_RULE(rule) {
    const int64_t n = 4, degree = rule->degree(n);
    for (int dims = 2; dims <= 4 && degree >= 0; dims++) {
      char text[128] = "1";
      double value = 1.0;
      for (int d = 0; d < dims; d++) {
        const int power = (int)(degree > d ? degree - d : degree % 2);
        char factor[32];
        snprintf(factor, sizeof factor, "*x[%d]^%d", d, power);
        strcat(text, factor);
        value /= power + 1;
      }
      const quad_run run = run_of(text, dims, 0.0, 1.0, n, rule);
      assert_true(fabs(run.value - value) <= 1e-14 * value);
      assert_int_equal(run.evaluations, (int64_t)pow((double)n, dims));
    }
  }
}

/* The order promised, within a quarter, on exp over [0, 1]. */
static void observed_order(void **state) {
  (void)state;
  int seen = 0;
  EACH_RULE(rule) {
    if (rule->order == 0) continue;
    const double exact = 1.71828182845904523536;
    const double coarse = fabs(run_of("exp(x)", 1, 0.0, 1.0, 17, rule).value - exact);
    const double fine = fabs(run_of("exp(x)", 1, 0.0, 1.0, 33, rule).value - exact);
    const double order = log2(coarse / fine);
    if (fabs(order - rule->order) > 0.25) fail_msg("%s: observed order %g", rule->name, order);
    seen++;
    const double odd = fabs(run_of("exp(x)", 1, 0.0, 1.0, 34, rule).value - exact);
    const double twice = fabs(run_of("exp(x)", 1, 0.0, 1.0, 68, rule).value - exact);
    assert_true(fabs(log2(odd / twice) - rule->order) < 0.35);
  }
  assert_int_equal(seen, 2);
  const quad_rule *gauss = quad_rule_find("gauss-legendre");
  /* composite Gauss of n points: order 2 n in the number of panels */
  for (int64_t n = 1; n <= 4; n++) {
    double error[2];
    for (int i = 0; i < 2; i++) {
      quad_run run;
      const setting s = {.text = "exp(2*x)",
                         .dims = 1,
                         .upper = 1.0,
                         .limits = {.rtol = 1e-10, .max_evaluations = 1000, .n = n}};
      setting t = s;
      t.limits.panels = 3 << i;
      integrate(&t, gauss, &run);
      error[i] = fabs(run.value - 3.19452804946532511361);
      assert_int_equal(run.evaluations, n * (3 << i));
    }
    assert_true(fabs(log2(error[0] / error[1]) - 2.0 * (double)n) < 0.3);
  }
}

/* Both rules of each grid integrate 1 to the width of the range; estimates need that. */
static void sums_of_weights(void **state) {
  (void)state;
  static const int64_t counts[] = {2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 64, 65, 500, 1000};
  EACH_RULE(rule) {
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      for (int dims = 1; dims <= 2; dims++) {
        if (rule->degree(counts[c]) < 0 && counts[c] < 64) continue; /* tanh-sinh: in the limit */
        const double tight = rule->degree(counts[c]) < 0 ? 1e-9 : 1e-13;
        const quad_run run = run_of("1", dims, -1.0, 2.0, counts[c], rule);
        assert_true(fabs(run.value - (dims == 1 ? 3.0 : 9.0)) < tight * 9.0);
        if (counts[c] > 65 || rule->degree(counts[c]) >= 0) {
          assert_true(run.error < 9.0 * tight + 4e-15);
        }
      }
    }
  }
}

static void no_estimate_from_one_point(void **state) {
  (void)state;
  const quad_run run = run_of("exp(x)", 1, 0.0, 1.0, 1, quad_rule_find("gauss-legendre"));
  assert_true(isnan(run.error) && run.evaluations == 1);
  assert_same_bits(run_of("7", 1, -1.0, 1.0, 1, quad_rule_find("gauss-legendre")).value, 14.0);
}

/* Case 118, 119: by every rule. */
static void limits(void **state) {
  (void)state;
  EACH_RULE(rule) {
    quad_run run = run_of("1/sqrt(x)", 1, 0.0, 0.0, 0, rule);
    assert_int_equal(run.reason, QUAD_EMPTY_RANGE);
    assert_int_equal(run.evaluations, 0);
    assert_same_bits(run.value, 0.0);
    assert_same_bits(run.error, 0.0);
    const double ends[][2] = {{0.0, 1.0}, {0.0, INFINITY}, {-1.0, INFINITY}};
    for (int i = 0; i < 3; i++) {
      for (int64_t n = 0; n < 400; n += 199) {
        const quad_run forth = run_of("exp(-x)", 1, ends[i][0], ends[i][1], n, rule);
        const quad_run back = run_of("exp(-x)", 1, ends[i][1], ends[i][0], n, rule);
        assert_same_bits(forth.value, -back.value);
        assert_same_bits(forth.error, back.error);
        const double exact = exp(-ends[i][0]) - exp(-ends[i][1]);
        if (n == 0) {
          assert_int_equal(forth.reason, QUAD_CONVERGED);
          assert_true(fabs(forth.value - exact) <= 1e-10 * exact);
        }
      }
    }
    /* case 113 */
    run = run_of("exp(-x^2)", 1, -INFINITY, 40.0, 0, rule);
    assert_int_equal(run.reason, QUAD_CONVERGED);
    assert_true(fabs(run.value - 1.77245385090551603) < 1e-9);
    run = run_of("exp(-x^2)", 1, -INFINITY, INFINITY, 0, rule);
    assert_true(fabs(run.value - 1.77245385090551603) < 1e-9);
  }
}

/* Case 125, and others of the kind: zeros, or peaks, on all points of the first levels. */
static void aliasing(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double upper, value;
  } cases[] = {
      {"sin(x)^2", 2.0, 1.0},      {"cos(8*x)^2", 1.0, 0.5},   {"cos(64*x)^2", 1.0, 0.5},
      {"sin(64*x)^2", 1.0, 0.5},   {"sin(256*x)^2", 1.0, 0.5}, {"1+cos(512*x)", 1.0, 1.0},
      {"cos(1024*x)^2", 1.0, 0.5},
  };
  const double pi = 3.14159265358979323846;
  EACH_RULE(rule) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      const quad_run run = run_of(cases[i].text, 1, 0.0, cases[i].upper * pi, 0, rule);
      const double exact = cases[i].value * pi;
      if (run.reason != QUAD_CONVERGED) continue;
      if (!(fabs(run.value - exact) <= 1e-9 * exact)) {
        fail_msg("%s: %s = %.17g", rule->name, cases[i].text, run.value);
      }
    }
  }
}

/* Peaks and singularities: right, or not called converged. */
static void honest(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double lower, upper, value;
  } cases[] = {
      {"exp(-((x-0.377)/1e-4)^2)", 0, 1, 1.7724538509055160e-4},
      {"exp(-((x-0.377)/1e-5)^2)", 0, 1, 1.7724538509055160e-5},
      {"exp(-((x-700.3)/2)^2)", -2000, 3000, 3.5449077018110320},
      {"1/x", -1, 1, NAN},
      {"1/x", 0, 1, NAN},
      {"1/x^2", -1, 1, NAN},
      {"1/(x-0.1)", -1, 1, NAN},
      {"1/sqrt(x)", 0, 1, 2.0},
      {"x^(-0.9)", 0, 1, 10.0},
      {"1/sqrt(1-x^2)", 0, 1, 1.57079632679489662},
      {"x < 0.3 ? 0 : 1", 0, 1, 0.7},
      {"x > 0.1 ? 1 : -1", -0.5, 1, 0.3},
      {"1/(x*log(x)^2)", 0, 0.5, 1.4426950408889634},
  };
  int converged = 0;
  EACH_RULE(rule) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      const quad_run run = run_of(cases[i].text, 1, cases[i].lower, cases[i].upper, 0, rule);
      if (run.reason != QUAD_CONVERGED) continue;
      converged++;
      if (!(fabs(run.value - cases[i].value) <= 1e-9 * cases[i].value)) {
        fail_msg("%s: %s = %.17g called converged, error %g", rule->name, cases[i].text, run.value,
                 run.error);
      }
    }
  }
  assert_true(converged >= 6);
}

/* Case 116 by the rule that is made for it, and the endpoint x^-0.9. */
static void endpoint_singularities(void **state) {
  (void)state;
  const quad_rule *rule = quad_rule_find("tanh-sinh");
  quad_run run = run_of("x^(-0.9)", 1, 0.0, 1.0, 0, rule);
  assert_int_equal(run.reason, QUAD_CONVERGED);
  assert_true(fabs(run.value - 10.0) <= run.error && run.error < 1e-9);
  run = run_of("1/sqrt(1-x^2)", 1, 0.0, 1.0, 0, rule);
  assert_true(fabs(run.value - 1.57079632679489662) < 1e-7);
  assert_int_equal(run.reason, QUAD_ROUND_OFF);
  assert_true(fabs(run.value - 1.57079632679489662) <= run.error);
  run = run_of("1/sqrt(x*y)", 2, 0.0, 1.0, 0, rule);
  assert_int_equal(run.reason, QUAD_CONVERGED);
  assert_true(fabs(run.value - 4.0) < 1e-9);
}

/* Case 133: the error is the sum over the pieces. */
static void pieces(void **state) {
  (void)state;
  static const double breaks[] = {0.1, 0.9};
  EACH_RULE(rule) {
    quad_run run;
    setting s = {.text = "x > 0.1 ? 1 : -1",
                 .dims = 1,
                 .lower = -0.5,
                 .upper = 1.0,
                 .limits = {.rtol = 1e-5, .max_evaluations = 1 << 20, .panels = 1},
                 .breaks = breaks + 1,
                 .break_count = 1};
    integrate(&s, rule, &run);
    assert_true(fabs(run.value - 0.3) <= run.error);
    s.breaks = breaks;
    s.break_count = 2;
    /* the jump is on a break, but it belongs to the left: half a step is seen by closed rules */
    integrate(&s, rule, &run);
    assert_true(fabs(run.value - 0.3) <= fmax(run.error, 1e-5));
    s.limits.n = 101;
    integrate(&s, rule, &run);
    assert_int_equal(run.evaluations, 303);
    assert_true(fabs(run.value - 0.3) <= run.error);
    s.limits.demanded = 1;
    s.limits.rtol = s.limits.atol = 0.0;
    integrate(&s, rule, &run);
    assert_int_equal(run.reason, QUAD_MISSED);
  }
}

/* Where it happened: the lowest sample, also far inside; and overflow told apart. */
static void not_finite(void **state) {
  (void)state;
  const quad_rule *rule = quad_rule_find("trapezoid");
  quad_run run = run_of("x > 0.700005 ? log(-x) : 1", 1, 0.0, 1.0, 100001, rule);
  assert_int_equal(run.reason, QUAD_NOT_FINITE);
  assert_true(isnan(run.bad_value) && !run.at_end);
  assert_true(fabs(run.bad_point[0] - 0.70001) < 1e-9);
  run = run_of("1/(x-0.5)", 1, 0.0, 1.0, 101, rule);
  assert_true(isinf(run.bad_value) && run.bad_point[0] == 0.5);
  run = run_of("1/sqrt(x)", 1, 0.0, 1.0, 0, rule);
  assert_true(run.at_end && run.bad_point[0] == 0.0);
  run = run_of("x > 0.5 && y > 0.5 ? log(-x) : 1", 2, 0.0, 1.0, 11, rule);
  assert_true(isnan(run.bad_value));
  assert_true(fabs(run.bad_point[0] - 0.6) < 1e-9 && fabs(run.bad_point[1] - 0.6) < 1e-9);
  run = run_of("1e308", 1, 0.0, 10.0, 1001, rule);
  assert_int_equal(run.reason, QUAD_NOT_FINITE);
  assert_same_bits(run.bad_value, 0.0);
}

static void single_precision(void **state) {
  (void)state;
  EACH_RULE(rule) {
    quad_run run;
    setting s = {.text = "exp(x)",
                 .dims = 1,
                 .upper = 1.0,
                 .limits = {.rtol = 1e-5, .max_evaluations = 1 << 20, .panels = 1, .single = 1}};
    integrate(&s, rule, &run);
    assert_int_equal(run.reason, QUAD_CONVERGED);
    assert_true(fabs(run.value - 1.71828182845904524) < 2e-5);
    s.limits.n = 1001;
    integrate(&s, rule, &run);
    assert_true(fabs(run.value - 1.71828182845904524) < 1e-6);
    assert_true(fabs(run.value - 1.71828182845904524) > 1e-13); /* it is single */
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomials),
      cmocka_unit_test(products_of_polynomials),
      cmocka_unit_test(observed_order),
      cmocka_unit_test(sums_of_weights),
      cmocka_unit_test(no_estimate_from_one_point),
      cmocka_unit_test(limits),
      cmocka_unit_test(aliasing),
      cmocka_unit_test(honest),
      cmocka_unit_test(endpoint_singularities),
      cmocka_unit_test(pieces),
      cmocka_unit_test(not_finite),
      cmocka_unit_test(single_precision),
  };
  return run_quad_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
