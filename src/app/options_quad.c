/* What `quad` can be told, and which of its keys go together. */
#include <math.h>
#include <string.h>

#include "commands.h"
#include "option_checks.h"
#include "quad_run.h"

static const option QUAD[] = {
    {"quad", "f", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "the integrand, an expression in x (1-D), in x, y, z or x[0], x[1], ... above"},
    {"quad", "lower", OPTION_REALS, NULL, NULL, -INFINITY, INFINITY, OPTION_PROBLEM,
     "lower limits, one a direction; -inf is one"},
    {"quad", "upper", OPTION_REALS, NULL, NULL, -INFINITY, INFINITY, OPTION_PROBLEM,
     "upper limits, one a direction; inf is one"},
    {"quad", "dims", OPTION_INTEGER, NULL, NULL, 1, QUAD_DIMS, OPTION_PROBLEM,
     "directions, where one limit stands for all of them"},
    {"quad", "rule", OPTION_WORD, "trapezoid", "trapezoid|simpson", 0, 0, OPTION_PROBLEM,
     "quadrature rule"},
    {"quad", "n", OPTION_INTEGER, NULL, NULL, 1, OPTION_COUNT_MAX, OPTION_PROBLEM,
     "points per direction, ends included; without it fixed rules refine until the tolerance"},
    {"quad", "rtol", OPTION_REAL, "1e-10", NULL, 0, OPTION_FINITE, 0,
     "done when the error estimate is at most rtol |value|"},
    {"quad", "atol", OPTION_REAL, "1e-14", NULL, 0, OPTION_FINITE, 0, "... or at most atol"},
    {"quad", "max_evaluations", OPTION_INTEGER, "1e8", NULL, 1, OPTION_COUNT_MAX, 0,
     "refining stops (exit 4) before it takes more evaluations of the integrand"},
    {"quad", "exact", OPTION_REAL, NULL, NULL, -INFINITY, INFINITY, 0,
     "the exact value, to report the error"},
    {0},
};

const command COMMAND_quad = {"quad", "definite integrals in 1 to 10 dimensions", "f", QUAD,
                              "parameters"};

static status check_limits(const options *o) {
  const double *lower, *upper;
  const int low = options_reals(o, "quad.lower", &lower);
  const int high = options_reals(o, "quad.upper", &upper);
  const int64_t dims = options_has(o, "quad.dims") ? options_integer(o, "quad.dims") : 0;
  if (low == 0 || high == 0) {
    return fail(STATUS_USAGE, "quad needs lower and upper, the limits of each direction");
  }
  if (low > QUAD_DIMS || high > QUAD_DIMS) {
    return fail(STATUS_USAGE, "%s: %d limits; expected at most %d directions",
                options_where(o, low > high ? "quad.lower" : "quad.upper"), low > high ? low : high,
                QUAD_DIMS);
  }
  if (low != high && (low != 1 || dims == 0) && (high != 1 || dims == 0)) {
    return fail(STATUS_USAGE, "%s: %d limits, and lower has %d", options_where(o, "quad.upper"),
                high, low);
  }
  if (dims != 0 && ((low != 1 && low != dims) || (high != 1 && high != dims))) {
    return fail(STATUS_USAGE, "%s = %lld, with %d lower and %d upper limits",
                options_where(o, "quad.dims"), (long long)dims, low, high);
  }
  return STATUS_OK;
}

status check_quad(const options *o) {
  status rc = STATUS_OK;
  if (!options_has(o, "quad.f")) {
    return fail(STATUS_USAGE, "quad: no integrand: expected an expression, like "
                              "quad \"exp(-x^2)\" --lower 0 --upper 1");
  }
  TRY(check_limits(o));
  rc = check_output_kind(options_text(o, "run.output"), ".h5|.hdf5", ".h5");
done:
  return rc;
}
