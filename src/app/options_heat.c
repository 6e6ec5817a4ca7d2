/* What `heat` can be told, and which of its keys go together. */
#include <math.h>
#include <string.h>

#include "commands.h"
#include "heat_inputs.h"
#include "heat_outputs.h"
#include "option_checks.h"
#include "scheme.h"

#define SCHEME(name, text) "|" text
static const char SCHEMES[] = "auto"
#include "schemes.def"
    ;
#undef SCHEME

static const option HEAT[] = {
    {"heat", "dims", OPTION_INTEGER, NULL, NULL, 1, HEAT_DIMS, OPTION_PROBLEM,
     "directions; without it as many as n or length has numbers"},
    {"heat", "n", OPTION_INTEGERS, NULL, NULL, 1, OPTION_COUNT_MAX, OPTION_PROBLEM,
     "grid points per direction, boundary points included, one number or one each"},
    {"heat", "length", OPTION_REALS, "1", NULL, OPTION_POSITIVE, OPTION_FINITE, OPTION_PROBLEM,
     "extent of the domain per direction, m, one number or one each"},
    {"heat", "origin", OPTION_REALS, "0", NULL, 0, 0, OPTION_PROBLEM,
     "coordinates of its lower corner, m, one number or one each"},
    {"heat", "alpha", OPTION_TEXT, "1", NULL, 0, 0, OPTION_PROBLEM,
     "thermal diffusivity, m^2/s: an expression in x, y, z, a C file, or FILE.h5:/DATASET"},
    {"heat", "source", OPTION_TEXT, "0", NULL, 0, 0, OPTION_PROBLEM,
     "heat source, K/s: an expression in x, y, z, t, or a C file"},
    {"heat", "initial", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "temperature at the start, K: an expression in x, y, z, a C file, FILE.h5:/DATASET, or an "
     "earlier run's FILE.vtkhdf"},
    {"heat", "boundary", OPTION_TEXT, "dirichlet", NULL, 0, 0, OPTION_PROBLEM,
     "all faces: dirichlet(EXPR) holds K, dirichlet holds 0, dirichlet(initial), neumann(EXPR) "
     "K m/s, positive heats, robin(h, EXPR) h in m/s, periodic"},
    {"heat", "boundary_xmin", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "one face, likewise; at edges dirichlet wins, then x before y before z"},
    {"heat", "boundary_xmax", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM, "one face"},
    {"heat", "boundary_ymin", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM, "one face"},
    {"heat", "boundary_ymax", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM, "one face"},
    {"heat", "boundary_zmin", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM, "one face"},
    {"heat", "boundary_zmax", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM, "one face"},
    {"heat", "scheme", OPTION_WORD, "auto", SCHEMES, 0, 0, OPTION_PROBLEM,
     "time scheme; auto: the cheapest of ftcs, rkl2 and tr-bdf2 (docs/numerics.md)"},
    {"heat", "dt", OPTION_REAL, "auto", "auto", OPTION_POSITIVE, OPTION_FINITE, OPTION_PROBLEM,
     "time step, s; auto: 0.9 of the largest stable one, for rkl2 and implicit schemes by rtol; "
     "tr-bdf2 then adapts it"},
    {"heat", "steps", OPTION_INTEGER, NULL, NULL, 0, OPTION_COUNT_MAX, 0,
     "a number of steps (this or t_end)"},
    {"heat", "t_end", OPTION_REAL, NULL, NULL, 0, OPTION_FINITE, 0,
     "the time to reach, s; the last step is shortened to hit it"},
    {"heat", "rtol", OPTION_REAL, "1e-4", NULL, OPTION_POSITIVE, 1, 0,
     "accuracy in time that dt = auto aims at; for tr-bdf2 the relative error of a step"},
    {"heat", "atol", OPTION_REAL, "1e-6", NULL, OPTION_POSITIVE, OPTION_FINITE, 0,
     "the absolute error of a step of tr-bdf2, K, beside rtol"},
    {"heat", "solver_rtol", OPTION_REAL, "1e-10", NULL, OPTION_POSITIVE, 1, 0,
     "residual of the solves of implicit schemes, relative to their right-hand side"},
    {"heat", "save_every", OPTION_INTEGER, NULL, NULL, 1, OPTION_COUNT_MAX, 0,
     "save the field, totals and probes every so many steps, from step 0 on"},
    {"heat", "save_at", OPTION_REALS, NULL, NULL, 0, OPTION_FINITE, 0,
     "... and the steps at, or next after, these times, s"},
    {"heat", "probe", OPTION_TUPLES, NULL, NULL, 0, 0, 0,
     "points to record at each saved time, m: (0.5, 0.5), (0.2, 0.2); linear between grid points"},
    {"heat", "exact", OPTION_TEXT, NULL, NULL, 0, 0, 0,
     "the exact solution, an expression in x, y, z, t, to report the error"},
    {0},
};

const command COMMAND_heat = {"heat", "the heat equation on a line, rectangle or box", NULL, HEAT,
                              "parameters"};

/* A list of one number, or one per direction. */
static status check_list(const options *o, const char *key, int given, int dims) {
  if (given <= 1 || given == dims) return STATUS_OK;
  return fail(STATUS_USAGE, "%s: %d numbers; expected 1 or %d, one per direction",
              options_where(o, key), given, dims);
}

status check_heat(const options *o) {
  status rc = STATUS_OK;
  heat_inputs in;
  const int64_t *n;
  const double *length, *origin;
  const int counts = options_integers(o, "heat.n", &n);
  memset(&in, 0, sizeof in);
  if (counts == 0) {
    return fail(STATUS_USAGE, "heat needs n, the grid points per direction (--dims 2 --n 65)");
  }
  const int dims = heat_dims(o);
  TRY(check_list(o, "heat.n", counts, dims));
  TRY(check_list(o, "heat.length", options_reals(o, "heat.length", &length), dims));
  TRY(check_list(o, "heat.origin", options_reals(o, "heat.origin", &origin), dims));
  if (!options_has(o, "heat.initial")) {
    rc = fail(STATUS_USAGE, "heat needs initial, the temperature at the start: an expression "
                            "(--initial \"sin(pi*x)\") or a C file");
    goto done;
  }
  const int steady = strcmp(options_text(o, "heat.scheme"), "steady") == 0;
  if (options_has(o, "heat.steps") == options_has(o, "heat.t_end") &&
      !(steady && !options_has(o, "heat.steps"))) {
    rc = options_has(o, "heat.steps")
             ? fail(STATUS_USAGE, "%s and t_end are both given: expected exactly one",
                    options_where(o, "heat.steps"))
             : fail(STATUS_USAGE, "heat needs steps or t_end: how far to go");
    goto done;
  }
  TRY(heat_inputs_create(o, &in));
  rc = heat_outputs_check(o, &in.problem.grid);
done:
  heat_inputs_release(&in);
  return rc;
}
