/* What a formula costs: nanoseconds per value compiled, interpreted, and written in C with the C
 * library's scalar functions; and how long it takes until it can be used, cold and from the cache.
 * Usage: formula [rounds]. Interleaved; medians, and the best beside; one thread. JSON. */
#define _GNU_SOURCE
#include "formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm.h"
#include "compiling.h"
#include "function.h"
#include "log.h"
#include "measured.h"

enum { LENGTH = 4096, REPEATS = 20, ROUNDS_MAX = 101, WAYS = 3 };

static double x[LENGTH], y[LENGTH];

typedef struct subject {
  const char *text;
  void (*library)(int64_t n, const double *in, double *out);
} subject;

#define LIBRARY(name, formula)                                                                     \
  static void name(int64_t n, const double *in, double *out) {                                     \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const double x_ = in[i];                                                                     \
      out[i] = formula;                                                                            \
    }                                                                                              \
  }
LIBRARY(sin_exp, sin(x_) * exp(-0.05 * x_))
LIBRARY(power, pow(x_, 2.5))
LIBRARY(cubic, fma(x_, fma(x_, fma(0.5, x_, -1.0), 3.0), 2.0))
LIBRARY(choice, x_ > 1.0 ? sin(x_) : log(x_ + 1.0))

static const subject SUBJECTS[] = {
    {"sin(x)*exp(-0.05*x)", sin_exp},
    {"x^2.5", power},
    {"x*(x*(0.5*x - 1) + 3) + 2", cubic},
    {"x > 1 ? sin(x) : log(x + 1)", choice},
};
enum { SUBJECT_COUNT = sizeof SUBJECTS / sizeof *SUBJECTS };

static double per_value(const formula *f, const subject *s) {
  const formula_input in = {x, 1};
  double *out = y;
  const double start = comm_clock();
  for (int i = 0; i < REPEATS; i++) {
    if (f != NULL) {
      f->batch(f->context, LENGTH, &in, &out);
    } else {
      s->library(LENGTH, x, y);
    }
  }
  return (comm_clock() - start) * 1e9 / ((double)LENGTH * REPEATS);
}

static void print_times(const char *name, double *times, int rounds, const char *end) {
  const double middle = median_of(times, rounds);
  printf("\"%s\": {\"median_ns\": %.3f, \"best_ns\": %.3f}%s", name, middle, times[0], end);
}

/* Makes the function and says how long that took. */
static status make(comm *c, compiler *w, const char *text, int plain, function **out,
                   double *seconds) {
  static const char *const names[] = {"x", NULL}, *const where[] = {"--f"};
  const char *const texts[] = {text};
  const function_request r = {
      .texts = texts, .where = where, .names = names, .outputs = 1, .plain = plain};
  const double start = comm_clock();
  const status rc = function_create(c, w, &r, out);
  *seconds = comm_clock() - start;
  return rc;
}

static status measure(comm *c, compiler *w, const subject *s, int rounds, const char *end) {
  status rc = STATUS_OK;
  static double times[WAYS][ROUNDS_MAX];
  double cold, cached, none;
  function *compiled = NULL, *interpreted = NULL;
  TRY(make(c, w, s->text, 0, &compiled, &cold));
  function_release(&compiled);
  TRY(make(c, w, s->text, 0, &compiled, &cached));
  TRY(make(c, w, s->text, 1, &interpreted, &none));
  for (int r = 0; r < rounds; r++) {
    times[0][r] = per_value(function_formula(compiled), s);
    times[1][r] = per_value(function_formula(interpreted), s);
    times[2][r] = per_value(NULL, s);
  }
  printf("    {\"formula\": \"%s\", \"compiled\": %s,\n     ", s->text,
         function_formula(compiled)->context == NULL ? "true" : "false");
  print_times("ours", times[0], rounds, ", ");
  print_times("interpreted", times[1], rounds, ",\n     ");
  print_times("libm_scalar", times[2], rounds, ",\n     ");
  printf("\"speedup_over_libm\": %.2f, \"speedup_over_interpreter\": %.2f,\n",
         times[2][rounds / 2] / times[0][rounds / 2], times[1][rounds / 2] / times[0][rounds / 2]);
  printf("     \"cold_seconds\": %.3f, \"cached_seconds\": %.4f}%s\n", cold, cached, end);
done:
  function_release(&compiled);
  function_release(&interpreted);
  return rc;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 21;
  char folder[] = "/tmp/halosweep-bench-XXXXXX", command[64];
  compiler *w = NULL;
  comm *c = NULL;
  status rc = STATUS_OK;
  if (rounds < 1 || rounds > ROUNDS_MAX || mkdtemp(folder) == NULL) return 2;
  setenv("XDG_CACHE_HOME", folder, 1);
  TRY(start_compiler(&w));
  TRY(comm_open(&argc, &argv, &c));
  for (int i = 0; i < LENGTH; i++) x[i] = 3.141592653589793 * (double)i / LENGTH;
  printf("{\"compiler\": \"%s\", \"rounds\": %d, \"formulas\": [\n", compiler_name(w), rounds);
  for (int s = 0; s < SUBJECT_COUNT; s++) {
    TRY(measure(c, w, &SUBJECTS[s], rounds, s + 1 < SUBJECT_COUNT ? "," : ""));
  }
  printf("]}\n");
done:
  compiler_close(&w);
  if (c != NULL) comm_close(&c);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command) != 0) rc = STATUS_IO;
  return (int)rc;
}
