/* The reference integrals (shared/references/quadrature.tsv) by every fixed rule that claims their
 * class. Smooth ones: the error is within the estimate in at least 95 % of the runs. All of them:
 * a run that says converged is never wrong by more than 10 times its tolerance. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quad_setting.h"

enum { LINE = 4096, FIELDS = 12 };

typedef struct reference {
  char id[32], kind[64], text[2048];
  int dims;
  double lower, upper, value;
} reference;

static double limit(const char *text) {
  if (strncmp(text, "-inf", 4) == 0) return -INFINITY;
  if (strncmp(text, "inf", 3) == 0) return INFINITY;
  if (strncmp(text, "pi/2", 4) == 0) return 0.5 * 3.14159265358979323846;
  if (strncmp(text, "pi", 2) == 0) return 3.14159265358979323846;
  if (strncmp(text, "2*pi", 4) == 0) return 2.0 * 3.14159265358979323846;
  return strtod(text, NULL);
}

static int numbers(const char *text, const char *name, double *out) {
  const char *at = strstr(text, name);
  int count = 0;
  if (at == NULL) return 0;
  at += strlen(name);
  if (*at == '[') at++;
  for (char *end; count < QUAD_DIMS; at = end, count++) {
    out[count] = strtod(at, &end);
    if (end == at) break;
  }
  return count;
}

/* A form with its marks filled in: $v u1, $a and $u those of the direction, $d its number, $n; $0
 * and $1 u of those directions. */
static void fill(char *out, size_t room, const char *form, double u1, double a, const double *u,
                 int d, int n) {
  size_t at = 0;
  for (; *form != '\0' && at + 32 < room; form++) {
    if (*form != '$') {
      out[at++] = *form;
      continue;
    }
    form++;
    if (*form == 'd' || *form == 'n')
      at += (size_t)snprintf(out + at, room - at, "%d", *form == 'd' ? d : n);
    else
      at += (size_t)snprintf(out + at, room - at, "%.17g",
                             *form == 'v'   ? u1
                             : *form == 'a' ? a
                             : *form == 'u' ? u[d]
                                            : u[*form - '0']);
  }
  out[at] = '\0';
}

/* The sums and products of the Genz families and others, written out. */
static void write_out(const char *given, const char *parameters, reference *r) {
  static const struct {
    const char *name, *open, *term, *between, *close;
  } forms[] = {
      {"cos(2*pi*u1+sum_i a_i*x_i)", "cos(2*pi*$v", "+$a*x[$d]", "", ")"},
      {"prod_i 1/(a_i^-2+(x_i-u_i)^2)", "", "1/(1/$a^2+(x[$d]-$u)^2)", "*", ""},
      {"(1+sum_i a_i*x_i)^-(d+1)", "(1", "+$a*x[$d]", "", ")^(-$n)"},
      {"exp(-sum_i a_i^2*(x_i-u_i)^2)", "exp(0", "-$a^2*(x[$d]-$u)^2", "", ")"},
      {"exp(-sum_i a_i*abs(x_i-u_i))", "exp(0", "-$a*abs(x[$d]-$u)", "", ")"},
      {"prod_i cos(x_i)", "1", "*cos(x[$d])", "", ""},
      {"exp(-sum_i x_i^2)", "exp(0", "-x[$d]^2", "", ")"},
      {"(x_1>u_1 or x_2>u_2) ? 0 : exp(sum_i a_i*x_i)", "x[0] > $0 || x[1] > $1 ? 0 : exp(0",
       "+$a*x[$d]", "", ")"},
      {"(sum x_i^2<=1) ? 1 : 0", "(0", "+x[$d]^2", "", ") <= 1 ? 1 : 0"},
  };
  double a[QUAD_DIMS] = {0}, u[QUAD_DIMS] = {0}, u1[QUAD_DIMS] = {0};
  numbers(parameters, "a=", a);
  numbers(parameters, "u=", u);
  numbers(parameters, "u1=", u1);
  snprintf(r->text, sizeof r->text, "%s", given);
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    if (strcmp(given, forms[f].name) != 0) continue;
    size_t at = 0;
    for (int k = -1; k <= r->dims; k++) {
      const char *format = k < 0 ? forms[f].open : k == r->dims ? forms[f].close : forms[f].term;
      const int d = k < 0 || k == r->dims ? 0 : k;
      if (k > 0 && k < r->dims) {
        at += (size_t)snprintf(r->text + at, sizeof r->text - at, "%s", forms[f].between);
      }
      fill(r->text + at, sizeof r->text - at, format, u1[0], a[d], u, d, r->dims + 1);
      at += strlen(r->text + at);
    }
  }
}

static int read_one(FILE *in, reference *r) {
  char line[LINE], *field[FIELDS] = {NULL};
  for (;;) {
    if (fgets(line, sizeof line, in) == NULL) return 0;
    if (line[0] != '#' && strncmp(line, "id\t", 3) != 0) break;
  }
  int count = 0;
  for (char *at = line; at != NULL && count < FIELDS; count++) {
    field[count] = at;
    at = strchr(at, '\t');
    if (at != NULL) *at++ = '\0';
  }
  if (count < 9) return read_one(in, r);
  snprintf(r->id, sizeof r->id, "%.31s", field[0]);
  snprintf(r->kind, sizeof r->kind, "%.63s", field[2]);
  r->dims = atoi(field[1]);
  r->lower = limit(field[4]);
  r->upper = limit(field[5]);
  r->value = strtod(field[8], NULL);
  write_out(field[3], field[6], r);
  return 1;
}

static int is_smooth(const reference *r) {
  static const char *const kinds[] = {"smooth",           "polynomial",        "odd",
                                      "reversed",         "genz oscillatory",  "genz gaussian",
                                      "genz corner-peak", "genz product-peak", "oscillatory"};
  if (strcmp(r->kind, "oscillatory-singular") == 0) return 0;
  if (strcmp(r->kind, "oscillatory-infinite-frequency") == 0) return 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strncmp(r->kind, kinds[i], strlen(kinds[i])) == 0) return 1;
  }
  return 0;
}

/* By dimension: the evaluations a quick test can afford. */
static int64_t most(int dims) { return dims == 1 ? 1 << 18 : 1 << 17; }

static void every_reference_by_every_rule(void **state) {
  (void)state;
  const char *shared = getenv("HALOSWEEP_SHARED");
  char path[4096];
  snprintf(path, sizeof path, "%s/references/quadrature.tsv", shared == NULL ? "" : shared);
  FILE *in = fopen(path, "r");
  if (in == NULL) {
    print_message("no %s: skipped\n", path);
    skip();
  }
  reference r;
  int seen = 0, smooth = 0, within = 0, wrong = 0, converged = 0, runs = 0, unknown = 0,
      refined = 0;
  while (read_one(in, &r)) {
    seen++;
    if (!setting_parses(r.text, r.dims)) {
      print_message("%s is not in the language: %s\n", r.id, r.text);
      unknown++;
      continue;
    }
    for (int i = 0; quad_rule_at(i) != NULL; i++) {
      const quad_rule *rule = quad_rule_at(i);
      if (!(rule->flags & QUAD_RULE_FIXED)) continue;
      for (int fixed = 0; fixed < 2; fixed++) {
        setting s = {
            .on = &BACKEND_omp, .text = r.text, .dims = r.dims, .lower = r.lower, .upper = r.upper};
        s.limits = (quad_limits){.rtol = 1e-8,
                                 .atol = 1e-14,
                                 .max_evaluations = most(r.dims),
                                 .n = fixed ? (r.dims == 1   ? 65
                                               : r.dims <= 3 ? 17
                                                             : 5)
                                            : 0,
                                 .panels = 1};
        if (fixed && r.dims > 6) continue;
        quad_run run;
        integrate(&s, rule, &run);
        const double error = fabs(run.value - r.value), slack = 2e-15 * fabs(r.value);
        runs++;
        if (run.reason == QUAD_NOT_FINITE) continue; /* said so */
        if (isnan(run.value)) continue;              /* not even the first level was allowed */
        refined += !fixed;
        converged += run.reason == QUAD_CONVERGED;
        if (run.reason == QUAD_CONVERGED &&
            error > 10.0 * fmax(1e-8 * fabs(r.value), 1e-14) + slack) {
          wrong++;
          print_message("wrong: %s %s: %.17g, exact %.17g, estimate %.2e, %lld evaluations\n", r.id,
                        rule->name, run.value, r.value, run.error, (long long)run.evaluations);
        }
        if (!is_smooth(&r)) continue;
        smooth++;
        if (error <= run.error + slack) {
          within++;
        } else {
          print_message("beyond: %s %s%s: error %.2e, estimate %.2e, %s\n", r.id, rule->name,
                        fixed ? " n" : "", error, run.error, quad_reason_name(run.reason));
        }
      }
    }
  }
  fclose(in);
  print_message("%d integrals, %d runs, %d converged; smooth: %d of %d within the estimate\n", seen,
                runs, converged, within, smooth);
  assert_true(seen > 80);
  assert_true(unknown <= 3);
  assert_int_equal(wrong, 0);
  assert_true(within >= 0.95 * smooth);
  assert_true(converged > refined / 3);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_reference_by_every_rule)};
  return run_quad_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
