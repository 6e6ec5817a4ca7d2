/* What `quad` can be told, and which of its keys go together. */
#include <math.h>
#include <string.h>

#include "commands.h"
#include "option_checks.h"
#include "quad_inputs.h"
#include "quad_run.h"

/* "auto|trapezoid|...", from the registry, and " demo runge ...". */
#define RULE(id, name) "|" name
static const char RULES[] = "auto"
#include "rules.def"
    ;
#undef RULE

#define INTEGRAND(name) " " name

static const option QUAD[] = {
    {"quad", "f", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "the integrand, an expression in x (1-D), in x, y, z or x[0], x[1], ... above"},
    {"quad", "integrand", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "instead of f: a C file (FILE.c) that defines `integrand`, or a name of:"
#include "integrands.def"
    },
    {"quad", "data", OPTION_INPUT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "instead of f: a file of two columns, places and values; trapezoid and simpson on uneven "
     "points"},
    {"quad", "lower", OPTION_REALS, NULL, NULL, -INFINITY, INFINITY, OPTION_PROBLEM,
     "lower limits, one a direction; -inf is one"},
    {"quad", "upper", OPTION_REALS, NULL, NULL, -INFINITY, INFINITY, OPTION_PROBLEM,
     "upper limits, one a direction; inf is one"},
    {"quad", "dims", OPTION_INTEGER, NULL, NULL, 1, QUAD_DIMS, OPTION_PROBLEM,
     "directions, where one limit stands for all of them"},
    {"quad", "rule", OPTION_WORD, "auto", RULES, 0, 0, OPTION_PROBLEM,
     "quadrature rule; auto: adaptive in one direction, genz-malik up to 6, sobol above; trapezoid "
     "with n"},
    {"quad", "n", OPTION_INTEGER, NULL, NULL, 1, OPTION_COUNT_MAX, OPTION_PROBLEM,
     "points per direction, ends included; per panel for gauss-legendre and tanh-sinh; in all for "
     "sobol, rounded up to 16 x 2^k; without it rules refine until the tolerance"},
    {"quad", "intervals", OPTION_INTEGER, NULL, NULL, 1, OPTION_COUNT_MAX, OPTION_PROBLEM,
     "instead of n, for trapezoid and simpson: n is one more"},
    {"quad", "panels", OPTION_INTEGER, "1", NULL, 1, OPTION_COUNT_MAX, OPTION_PROBLEM,
     "equal parts per direction with n points each, for gauss-legendre and tanh-sinh"},
    {"quad", "breaks", OPTION_REALS, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "places inside the range where a 1-D integrand jumps or has a kink: the pieces are summed"},
    {"quad", "precision", OPTION_WORD, "double", "double|float", 0, 0, OPTION_PROBLEM,
     "float: x, f and the terms are rounded to single precision; block sums are compensated"},
    {"quad", "rtol", OPTION_REAL, NULL, NULL, 0, OPTION_FINITE, 0,
     "done when the error estimate is at most rtol |value|; absent: 1e-10, 1e-4 for sobol, 1e-5 in "
     "single precision"},
    {"quad", "atol", OPTION_REAL, NULL, NULL, 0, OPTION_FINITE, 0,
     "... or at most atol; absent: 1e-14"},
    {"quad", "max_evaluations", OPTION_INTEGER, "1e8", NULL, 1, OPTION_COUNT_MAX, 0,
     "refining stops (exit 4) before it takes more evaluations of the integrand"},
    {"quad", "exact", OPTION_TEXT, NULL, NULL, 0, 0, 0,
     "the exact value, a number or an expression in the parameters, to report the error"},
    {0},
};
#undef INTEGRAND

const command COMMAND_quad = {"quad", "definite integrals in 1 to 10 dimensions", "f", QUAD,
                              "parameters|sweep"};

static status check_limits(const options *o) {
  const double *lower, *upper;
  const int low = options_reals(o, "quad.lower", &lower);
  const int high = options_reals(o, "quad.upper", &upper);
  const int64_t dims = options_has(o, "quad.dims") ? options_integer(o, "quad.dims") : 0;
  const char *name = options_text(o, "quad.integrand");
  const integrand *builtin = name == NULL ? NULL : integrand_find(name);
  if ((low == 0 || high == 0) && builtin == NULL) {
    return fail(STATUS_USAGE, "quad needs lower and upper, the limits of each direction");
  }
  if (low > QUAD_DIMS || high > QUAD_DIMS) {
    return fail(STATUS_USAGE, "%s: %d limits; expected at most %d directions",
                options_where(o, low > high ? "quad.lower" : "quad.upper"), low > high ? low : high,
                QUAD_DIMS);
  }
  if (low != 0 && high != 0 && low != high && (low != 1 || dims == 0) && (high != 1 || dims == 0)) {
    return fail(STATUS_USAGE, "%s: %d limits, and lower has %d", options_where(o, "quad.upper"),
                high, low);
  }
  if (dims != 0 && ((low > 1 && low != dims) || (high > 1 && high != dims))) {
    return fail(STATUS_USAGE, "%s = %lld, with %d lower and %d upper limits",
                options_where(o, "quad.dims"), (long long)dims, low, high);
  }
  return STATUS_OK;
}

/* Exactly one of f and integrand; a name that is known, in directions it has. */
static status check_integrand(const options *o) {
  const char *name = options_text(o, "quad.integrand");
  char near[OPTIONS_NAME_MAX];
  if (options_has(o, "quad.f") && name != NULL) {
    return fail(STATUS_USAGE, "quad: f and %s are both given: expected exactly one",
                options_where(o, "quad.integrand"));
  }
  if (!options_has(o, "quad.f") && name == NULL) {
    return fail(STATUS_USAGE, "quad: no integrand: expected an expression, like "
                              "quad \"exp(-x^2)\" --lower 0 --upper 1, or integrand = NAME");
  }
  const size_t length = name == NULL ? 0 : strlen(name);
  if (name == NULL || (length > 2 && strcmp(name + length - 2, ".c") == 0)) return STATUS_OK;
  if (integrand_find(name) == NULL) {
    const int found = options_nearest(name, integrand_names(), near);
    return fail(STATUS_USAGE, "%s = %.60s: no such integrand; expected FILE.c or one of %s%s%s%s",
                options_where(o, "quad.integrand"), name, integrand_names(),
                found ? "; did you mean '" : "", found ? near : "", found ? "'?" : "");
  }
  return STATUS_OK;
}

/* breaks: ascending, inside the range, in one dimension. */
static status check_breaks(const options *o, const quad_inputs *in) {
  const double *cut;
  const int count = options_reals(o, "quad.breaks", &cut);
  if (count > 0 && in->dims != 1) {
    return fail(STATUS_USAGE, "%s: breaks are for one dimension, not %d",
                options_where(o, "quad.breaks"), in->dims);
  }
  const double low = fmin(in->lower[0], in->upper[0]);
  const double high = fmax(in->lower[0], in->upper[0]);
  for (int i = 0; i < count; i++) {
    if (!(cut[i] > low && cut[i] < high)) {
      return fail(STATUS_USAGE, "%s: %.17g is not inside the range from %.17g to %.17g",
                  options_where(o, "quad.breaks"), cut[i], low, high);
    }
    if (i > 0 && !(cut[i] > cut[i - 1])) {
      return fail(STATUS_USAGE, "%s: %.17g after %.17g; expected ascending places",
                  options_where(o, "quad.breaks"), cut[i], cut[i - 1]);
    }
  }
  return STATUS_OK;
}

/* How many points: what the rule takes. Rules that choose their points are not told how many. */
static status check_count(const options *o, int dims) {
  status rc = STATUS_OK;
  const char *why;
  const int counted = options_has(o, "quad.n") || options_has(o, "quad.intervals");
  const quad_rule *rule = quad_rule_choose(options_text(o, "quad.rule"), dims, counted, &why);
  const unsigned flags = rule->flags;
  const int uniform = (flags & QUAD_RULE_FIXED) != 0 && (flags & QUAD_RULE_PANELS) == 0;
  TRY(check_needs(o, "quad.intervals", uniform, "intervals is for trapezoid and simpson"));
  TRY(check_needs(o, "quad.intervals", !options_has(o, "quad.n"),
                  "intervals and n are both given: expected one"));
  TRY(check_needs(o, "quad.breaks", dims == 1 && (flags & QUAD_RULE_SAMPLING) == 0,
                  "breaks is for one direction, and not for rule sobol"));
  TRY(check_needs(o, "quad.precision", (flags & QUAD_RULE_FIXED) != 0,
                  "precision = float is for fixed rules, like rule = trapezoid"));
  TRY(check_needs(o, "quad.panels", (flags & QUAD_RULE_PANELS) != 0,
                  "panels is for gauss-legendre and tanh-sinh"));
  if (uniform && options_has(o, "quad.n") && options_integer(o, "quad.n") < 2) {
    rc = fail(STATUS_USAGE, "%s: 1 point; rule %s includes both ends and needs 2",
              options_where(o, "quad.n"), rule->name);
  }
  if ((flags & QUAD_RULE_ADAPTIVE) != 0 && options_has(o, "quad.n")) {
    rc = fail(STATUS_USAGE,
              "%s: rule %s chooses its points; n is for fixed rules, like rule = trapezoid",
              options_where(o, "quad.n"), rule->name);
  }
done:
  return rc;
}

/* A built-in integrand in as many directions as it has; breaks and points that fit. */
static status check_inputs(const options *o) {
  status rc = STATUS_OK;
  quad_inputs in;
  TRY(quad_inputs_create(o, &in));
  if (in.builtin != NULL && (in.dims < in.builtin->dims_min || in.dims > in.builtin->dims_max)) {
    rc = fail(STATUS_USAGE, "%s = %s is for %d to %d dimensions, not %d",
              options_where(o, "quad.integrand"), in.builtin->name, in.builtin->dims_min,
              in.builtin->dims_max, in.dims);
    goto done;
  }
  TRY(check_breaks(o, &in));
  if (in.swept.grid.axes > 0) {
    TRY(check_needs(o, "quad.precision", 0, "precision = float is for single integrals"));
  }
  rc = check_count(o, in.dims);
done:
  quad_inputs_release(&in);
  return rc;
}

/* A data file brings its own points. */
static status check_data(const options *o) {
  static const char *const alone[] = {
      "quad.f", "quad.integrand", "quad.lower",  "quad.upper",  "quad.dims",
      "quad.n", "quad.intervals", "quad.panels", "quad.breaks", "quad.precision"};
  static const char *const saved[] = {"checkpoint.file", "checkpoint.restart"};
  const char *rule = options_text(o, "quad.rule");
  if (options_free_key(o, "sweep", 0) != NULL) {
    return fail(STATUS_USAGE, "quad: data has no parameters to sweep");
  }
  for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
    status rc = check_needs(o, alone[i], 0, "data brings its own points and values");
    if (rc != STATUS_OK) return rc;
  }
  for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) {
    status rc = check_needs(o, saved[i], 0, "data is summed in a moment: there is nothing to save");
    if (rc != STATUS_OK) return rc;
  }
  if (strcmp(rule, "auto") != 0 && strcmp(rule, "trapezoid") != 0 && strcmp(rule, "simpson") != 0) {
    return fail(STATUS_USAGE, "%s = %s: data is summed by trapezoid or simpson",
                options_where(o, "quad.rule"), rule);
  }
  return check_output_kind(options_text(o, "run.output"), ".h5|.hdf5", ".h5");
}

status check_quad(const options *o) {
  status rc = STATUS_OK;
  if (options_has(o, "quad.data")) return check_data(o);
  TRY(check_integrand(o));
  TRY(check_limits(o));
  TRY(check_inputs(o));
  rc = check_output_kind(options_text(o, "run.output"), ".h5|.hdf5", ".h5");
done:
  return rc;
}
