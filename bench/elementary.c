/* Nanoseconds per value of the elementary functions over arrays that stay in cache, beside the C
 * library's scalar functions. Usage: elementary [repetitions]. The best of the repetitions counts;
 * one thread. */
#include "elementary.h"
#include "elementary_array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "expression.h"
#include "philox.h"

enum { LENGTH = 1024, ROUNDS = 200 };

static double x[LENGTH], y[LENGTH], z[LENGTH];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define LIBRARY(name)                                                                              \
  static void library_##name(int64_t n, const double *in, double *out) {                           \
    for (int64_t i = 0; i < n; i++) out[i] = name(in[i]);                                          \
  }
LIBRARY(exp)
LIBRARY(log)
LIBRARY(sin)
LIBRARY(cos)
LIBRARY(log10)
LIBRARY(cbrt)
LIBRARY(tan)
LIBRARY(asin)
LIBRARY(acos)
LIBRARY(atan)
LIBRARY(sinh)
LIBRARY(cosh)
LIBRARY(tanh)
LIBRARY(erf)

static void ours_power(int64_t n, const double *in, double *out) {
  for (int64_t i = 0; i < n; i++) z[i] = 1.7;
  elementary_pow_array(n, in, z, out);
}

static void library_power(int64_t n, const double *in, double *out) {
  for (int64_t i = 0; i < n; i++) out[i] = pow(in[i], 1.7);
}

static void ours_atan2(int64_t n, const double *in, double *out) {
  for (int64_t i = 0; i < n; i++) z[i] = -0.7;
  elementary_atan2_array(n, in, z, out);
}

static void library_atan2(int64_t n, const double *in, double *out) {
  for (int64_t i = 0; i < n; i++) out[i] = atan2(in[i], -0.7);
}

static void sin_exp(int64_t n, const double *in, double *out) {
  elementary_sin_array(n, in, out);
  elementary_exp_array(n, in, z);
  for (int64_t i = 0; i < n; i++) out[i] *= z[i];
}

static void library_sin_exp(int64_t n, const double *in, double *out) {
  for (int64_t i = 0; i < n; i++) out[i] = sin(in[i]) * exp(in[i]);
}

/* The interpreter's block form beside the same formula in C. */
static expression *parsed;

static void interpreted(int64_t n, const double *in, double *out) {
  const formula_input input = {in, 1};
  expression_values(parsed, n, &input, out);
}

static void compiled_polynomial(int64_t n, const double *in, double *out) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = fma(in[i], fma(in[i], fma(0.5, in[i], -1.0), 3.0), 2.0);
  }
}

typedef struct contender {
  const char *name;
  double low, high;
  void (*ours)(int64_t n, const double *in, double *out);
  void (*library)(int64_t n, const double *in, double *out);
  const char *text; /* of the formula, where there is one */
} contender;

static const contender contenders[] = {
    {"exp", -10.0, 10.0, elementary_exp_array, library_exp, NULL},
    {"log", 0.1, 10.0, elementary_log_array, library_log, NULL},
    {"log10", 0.1, 10.0, elementary_log10_array, library_log10, NULL},
    {"pow(x, 1.7)", 0.1, 10.0, ours_power, library_power, NULL},
    {"sin", -10.0, 10.0, elementary_sin_array, library_sin, NULL},
    {"cos", -10.0, 10.0, elementary_cos_array, library_cos, NULL},
    {"tan", -10.0, 10.0, elementary_tan_array, library_tan, NULL},
    {"asin", -1.0, 1.0, elementary_asin_array, library_asin, NULL},
    {"acos", -1.0, 1.0, elementary_acos_array, library_acos, NULL},
    {"atan", -5.0, 5.0, elementary_atan_array, library_atan, NULL},
    {"atan2(x, -0.7)", -5.0, 5.0, ours_atan2, library_atan2, NULL},
    {"sinh", -10.0, 10.0, elementary_sinh_array, library_sinh, NULL},
    {"cosh", -10.0, 10.0, elementary_cosh_array, library_cosh, NULL},
    {"tanh", -5.0, 5.0, elementary_tanh_array, library_tanh, NULL},
    {"cbrt", -10.0, 10.0, elementary_cbrt_array, library_cbrt, NULL},
    {"erf", -3.0, 3.0, elementary_erf_array, library_erf, NULL},
    {"sin*exp", -10.0, 10.0, sin_exp, library_sin_exp, NULL},
    {"sin, |x| > 2^30", 1e10, 1e15, elementary_sin_array, library_sin, NULL},
    {"interpreted sin*exp", -10.0, 10.0, interpreted, library_sin_exp, "sin(x)*exp(x)"},
    {"interpreted cubic", -1.0, 1.0, interpreted, compiled_polynomial, "x*(x*(0.5*x - 1) + 3) + 2"},
};

static double best_nanoseconds(void (*run)(int64_t, const double *, double *), int repetitions) {
  double best = 1e300;
  for (int r = 0; r < repetitions; r++) {
    double start = now();
    for (int i = 0; i < ROUNDS; i++) run(LENGTH, x, y);
    double each = (now() - start) * 1e9 / ((double)LENGTH * ROUNDS);
    if (each < best) best = each;
  }
  return best;
}

int main(int argc, char **argv) {
  const int repetitions = argc > 1 ? atoi(argv[1]) : 50;
  const char *const names[] = {"x", NULL};
  printf("%-20s %10s %10s   ns per value\n", "function", "ours", "C, libm");
  for (size_t c = 0; c < sizeof contenders / sizeof contenders[0]; c++) {
    const contender *f = &contenders[c];
    if (f->text != NULL && expression_parse(f->text, names, &parsed) != STATUS_OK) return 1;
    for (int i = 0; i < LENGTH; i++) {
      const philox_words w = philox_at(1, (uint64_t)i, PHILOX_PROBE, 0, 0);
      x[i] = fma(f->high - f->low, philox_uniform(w, 0), f->low);
    }
    printf("%-20s %10.3f %10.3f\n", f->name, best_nanoseconds(f->ours, repetitions),
           best_nanoseconds(f->library, repetitions));
    expression_release(&parsed);
  }
  return 0;
}
