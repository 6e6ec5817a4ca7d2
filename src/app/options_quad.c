/* What `quad` can be told, and which of its keys go together. */
#include <math.h>
#include <string.h>

#include "commands.h"
#include "option_checks.h"
#include "quad_inputs.h"
#include "quad_run.h"

static const option QUAD[] = {
    {"quad", "f", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "the integrand, an expression in x (1-D), in x, y, z or x[0], x[1], ... above"},
    {"quad", "integrand", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "an integrand by name instead: demo, runge, peak, singular, kahaner5, kahaner9, kahaner12, "
     "kahaner18, genz-oscillatory, genz-product-peak, genz-corner-peak, genz-gaussian, "
     "genz-continuous, genz-discontinuous"},
    {"quad", "lower", OPTION_REALS, NULL, NULL, -INFINITY, INFINITY, OPTION_PROBLEM,
     "lower limits, one a direction; -inf is one"},
    {"quad", "upper", OPTION_REALS, NULL, NULL, -INFINITY, INFINITY, OPTION_PROBLEM,
     "upper limits, one a direction; inf is one"},
    {"quad", "dims", OPTION_INTEGER, NULL, NULL, 1, QUAD_DIMS, OPTION_PROBLEM,
     "directions, where one limit stands for all of them"},
    {"quad", "rule", OPTION_WORD, "auto", "auto|trapezoid|simpson|adaptive|genz-malik|sobol", 0, 0,
     OPTION_PROBLEM,
     "quadrature rule; auto: adaptive in one direction, genz-malik up to 6, sobol above"},
    {"quad", "n", OPTION_INTEGER, NULL, NULL, 1, OPTION_COUNT_MAX, OPTION_PROBLEM,
     "points per direction, ends included; for sobol in all, rounded up to 16 x 2^k; without it "
     "rules "
     "refine until the tolerance"},
    {"quad", "rtol", OPTION_REAL, "1e-10", NULL, 0, OPTION_FINITE, 0,
     "done when the error estimate is at most rtol |value|; 1e-4 for rule sobol"},
    {"quad", "atol", OPTION_REAL, "1e-14", NULL, 0, OPTION_FINITE, 0, "... or at most atol"},
    {"quad", "max_evaluations", OPTION_INTEGER, "1e8", NULL, 1, OPTION_COUNT_MAX, 0,
     "refining stops (exit 4) before it takes more evaluations of the integrand"},
    {"quad", "exact", OPTION_TEXT, NULL, NULL, 0, 0, 0,
     "the exact value, a number or an expression in the parameters, to report the error"},
    {0},
};

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

/* Rules that choose their points are not told how many. */
static status check_rule(const options *o, int dims) {
  const char *why;
  const quad_rule *rule = quad_rule_choose(options_text(o, "quad.rule"), dims, &why);
  if ((rule->flags & QUAD_RULE_ADAPTIVE) == 0 || !options_has(o, "quad.n")) return STATUS_OK;
  return fail(STATUS_USAGE,
              "%s: rule %s chooses its points; n is for other rules, like rule = trapezoid",
              options_where(o, "quad.n"), rule->name);
}

/* A built-in integrand in as many directions as it has; a rule for that many. */
static status check_directions(const options *o) {
  status rc = STATUS_OK;
  quad_inputs in;
  TRY(quad_inputs_create(o, &in));
  if (in.builtin != NULL && (in.dims < in.builtin->dims_min || in.dims > in.builtin->dims_max)) {
    rc = fail(STATUS_USAGE, "%s = %s is for %d to %d dimensions, not %d",
              options_where(o, "quad.integrand"), in.builtin->name, in.builtin->dims_min,
              in.builtin->dims_max, in.dims);
  }
  if (rc == STATUS_OK) rc = check_rule(o, in.dims);
done:
  quad_inputs_release(&in);
  return rc;
}

status check_quad(const options *o) {
  status rc = STATUS_OK;
  TRY(check_integrand(o));
  TRY(check_limits(o));
  TRY(check_directions(o));
  rc = check_output_kind(options_text(o, "run.output"), ".h5|.hdf5", ".h5");
done:
  return rc;
}
