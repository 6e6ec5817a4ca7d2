/* What `ode` can be told, and which of its keys go together. */
#include <math.h>
#include <string.h>

#include "commands.h"
#include "function.h"
#include "methods.h"
#include "ode_coupled.h"
#include "ode_inputs.h"
#include "option_checks.h"

/* "auto|euler|...", from the registry, and " lorenz roessler ...". */
#define METHOD(name, ...) "|" name
static const char METHODS[] = "auto"
#include "methods.def"
    ;
#undef METHOD

/* "auto|none|jacobi|...", as those of solve. */
#define PRECONDITIONER(word, name) "|" word
static const char PRECONDITIONERS[] = "auto|none"
#include "preconditioners.def"
    ;
#undef PRECONDITIONER

#define SYSTEM(id, name)  " " name
#define COUPLED(word, id) " " word

static const option ODE[] = {
    {"ode", "system", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "instead of [equations]: a C file (FILE.c) that defines `rhs`, or a name of:"
#include "systems.def"
     "; or, coupled systems of n points:"
#include "coupled.def"
    },
    {"ode", "n", OPTION_INTEGERS, NULL, NULL, 1, OPTION_COUNT_MAX, OPTION_PROBLEM,
     "points of a coupled system, one number for a line, two for a grid; with it [equations] are "
     "those of a point, NAME[1] (grids: NAME[0,1]) the value at a point near by"},
    {"ode", "edges", OPTION_WORD, NULL, "periodic|zero|copy", 0, 0, OPTION_PROBLEM,
     "[equations] with n: beyond the ends values are those of the other end (default), 0, or of "
     "the nearest point"},
    {"ode", "linear", OPTION_WORD, NULL, "bicgstab|gmres|direct", 0, 0, OPTION_PROBLEM,
     "solver of the linear systems of implicit methods (coupled systems); bicgstab when absent"},
    {"ode", "preconditioner", OPTION_WORD, NULL, PRECONDITIONERS, 0, 0, OPTION_PROBLEM,
     "... and its preconditioner; auto: amg where neighbours pull hard, jacobi else"},
    {"ode", "initial", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "states at t_start: an expression in the parameters per component, in their order; tuples, "
     "one "
     "a trajectory; or FILE.h5:/DATASET, a row a trajectory. [sweep] and [sample] of a component's "
     "name go before it"},
    {"ode", "trajectories", OPTION_INTEGER, "1", NULL, 1, 1099511627776.0, OPTION_PROBLEM,
     "how many, for each member of [sweep]"},
    {"ode", "method", OPTION_WORD, "auto", METHODS, 0, 0, OPTION_PROBLEM,
     "auto: tsit5; rodas4 for systems known to be stiff; euler-maruyama with noise"},
    {"ode", "dt", OPTION_REAL, NULL, NULL, OPTION_POSITIVE, OPTION_FINITE, OPTION_PROBLEM,
     "length of the steps, s; of adaptive methods that of the first one"},
    {"ode", "dt_min", OPTION_REAL, "0", NULL, 0, OPTION_FINITE, 0,
     "adaptive methods give up below this step, s; the last step may be shorter"},
    {"ode", "t_start", OPTION_REAL, "0", NULL, 0, 0, OPTION_PROBLEM, "where to begin, s"},
    {"ode", "t_end", OPTION_REAL, NULL, NULL, 0, 0, 0,
     "where to end, s; may lie before t_start; the last step is shortened to hit it"},
    {"ode", "save_at", OPTION_REALS, NULL, NULL, 0, 0, 0,
     "keep the states at these times too, s, by the method's dense output; a restart may leave out "
     "some, and name new ones that no trajectory is past"},
    {"ode", "rtol", OPTION_REAL, "1e-6", NULL, 0, 1, 0,
     "error of a step, relative to each component"},
    {"ode", "atol", OPTION_REAL, "1e-9", NULL, 0, OPTION_FINITE, 0, "... plus this"},
    {"ode", "max_steps", OPTION_INTEGER, "1e6", NULL, 1, OPTION_COUNT_MAX, 0,
     "steps a trajectory may try; one that needs more has failed"},
    {"ode", "jacobian", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "for implicit methods: a C file that defines `jacobian`; without it expressions are "
     "differentiated, C files differenced"},
    {"ode", "noise", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "dX = f dt + g dW: an expression per component (each with its own dW), a tuple of expressions "
     "per component (a column a dW), or a C file that defines `noise`"},
    {"ode", "interpretation", OPTION_WORD, "ito", "ito|stratonovich", 0, 0, OPTION_PROBLEM,
     "of the noise"},
    {"ode", "antithetic", OPTION_FLAG, "off", NULL, 0, 0, OPTION_PROBLEM,
     "trajectories 2k and 2k + 1 get opposite noise"},
    {"ode", "event", OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "a trajectory ends where this changes its sign: an expression in t, components, parameters, "
     "or "
     "a C file that defines `event`"},
    {"ode", "only", OPTION_WORD, NULL, "failed|unfinished", 0, 0, 0,
     "with restart: start the failed trajectories anew, or go on with unfinished ones alone"},
    {"ode", "quantiles", OPTION_REALS, "0.05, 0.5, 0.95", NULL, 0, 1, 0,
     "quantiles of the final states to report"},
    {"ode", "bins", OPTION_INTEGER, "50", NULL, 1, 1e6, 0,
     "bins of the histograms of the final states in the result file"},
    {"ode", "exact", OPTION_TEXT, NULL, NULL, 0, 0, 0,
     "the exact states at the end, an expression in t and the parameters per component, to report "
     "the error"},
    {"equations", OPTION_ANY_KEY, OPTION_TEXT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "dNAME = EXPRESSION in t, the components, the parameters: one per component, in order"},
    {0},
};
#undef COUPLED
#undef SYSTEM

const command COMMAND_ode = {"ode", "ensembles of ordinary and stochastic differential equations",
                             "system", ODE, "parameters|sweep|sample"};

#define SYSTEM(id, name)  "|" name
#define COUPLED(word, id) "|" word
static const char NAMES[] =
#include "systems.def"
    "" /* ensembles before coupled systems */
#include "coupled.def"
    ;
#undef COUPLED
#undef SYSTEM

static status check_system(const options *o) {
  const char *system = options_text(o, "ode.system");
  const int equations = options_free_key(o, "equations", 0) != NULL;
  char near[OPTIONS_NAME_MAX];
  if (system == NULL && !equations) {
    return fail(STATUS_USAGE,
                "ode: no system: expected a name (ode lorenz --t_end 1), a C file, or "
                "[equations] with dNAME = EXPRESSION");
  }
  if (system != NULL && equations) {
    return fail(STATUS_USAGE, "ode: %s and [equations] are both given: expected one",
                options_where(o, "ode.system"));
  }
  if (system == NULL || function_is_file(system) || ode_system_find(system) != NULL ||
      coupled_system_find(system) != NULL) {
    return STATUS_OK;
  }
  const int found = options_nearest(system, NAMES + 1, near);
  return fail(STATUS_USAGE, "%s = %.60s: no such system; expected FILE.c or one of %s%s%s%s",
              options_where(o, "ode.system"), system, NAMES + 1, found ? "; did you mean '" : "",
              found ? near : "", found ? "'?" : "");
}

static status check_times(const options *o) {
  const double *at;
  const int saves = options_reals(o, "ode.save_at", &at);
  if (!options_has(o, "ode.t_end")) return fail(STATUS_USAGE, "ode needs t_end, where to end (s)");
  const double begin = options_real(o, "ode.t_start"), end = options_real(o, "ode.t_end");
  if (begin == end) {
    return fail(STATUS_USAGE, "%s = %g: that is t_start: there is nothing to do",
                options_where(o, "ode.t_end"), end);
  }
  if (!isfinite(end - begin)) {
    return fail(STATUS_USAGE, "%s: t_end - t_start overflows", options_where(o, "ode.t_end"));
  }
  for (int i = 0; i < saves; i++) {
    if (at[i] >= fmin(begin, end) && at[i] <= fmax(begin, end)) continue;
    return fail(STATUS_USAGE, "%s: %.17g is not between t_start = %g and t_end = %g",
                options_where(o, "ode.save_at"), at[i], begin, end);
  }
  return STATUS_OK;
}

static status check_method(const options *o) {
  status rc = STATUS_OK;
  const ode_method *m = ode_method_find(options_text(o, "ode.method"));
  const int noise = options_has(o, "ode.noise");
  TRY(check_needs(o, "ode.interpretation", noise, "interpretation is for systems with noise"));
  TRY(check_needs(o, "ode.antithetic", noise, "antithetic is for systems with noise"));
  TRY(check_needs(o, "ode.only", options_has(o, "checkpoint.restart"),
                  "only says what a restart goes on with: expected --restart too"));
  TRY(check_needs(o, "ode.jacobian",
                  (options_text(o, "ode.jacobian") == NULL ||
                   function_is_file(options_text(o, "ode.jacobian"))) &&
                      (m == NULL || (m->flags & METHOD_STIFF) != 0),
                  "jacobian is a C file, for implicit methods"));
  if (m == NULL) {
    if (noise && !options_has(o, "ode.dt")) {
      rc = fail(STATUS_USAGE, "ode: systems with noise need dt, the length of the steps");
    }
    goto done;
  }
  if (noise && (m->flags & METHOD_NOISY) == 0) {
    rc = fail(STATUS_USAGE,
              "%s = %s is not for systems with noise; expected euler-maruyama or "
              "milstein",
              options_where(o, "ode.method"), m->name);
  } else if (!noise && (m->flags & METHOD_NOISY) != 0) {
    rc = fail(STATUS_USAGE, "%s = %s is for systems with noise: expected noise too",
              options_where(o, "ode.method"), m->name);
  } else if ((m->flags & METHOD_FIXED) != 0 && !options_has(o, "ode.dt")) {
    rc = fail(STATUS_USAGE, "%s = %s takes fixed steps: it needs dt",
              options_where(o, "ode.method"), m->name);
  }
done:
  return rc;
}

status check_ode(const options *o) {
  status rc = STATUS_OK;
  ode_inputs in;
  memset(&in, 0, sizeof in);
  TRY(check_system(o));
  TRY(check_times(o));
  TRY(check_output_kind(options_text(o, "run.output"), ".h5|.hdf5", ".h5"));
  if (ode_is_coupled(o)) TRY(check_ode_coupled(o));
  TRY(check_method(o));
  if (ode_is_coupled(o)) goto done;
  static const char *const coupled[] = {"ode.n", "ode.edges", "ode.linear", "ode.preconditioner"};
  for (int i = 0; i < 4; i++) {
    TRY(check_needs(o, coupled[i], 0, "that is for large coupled systems"));
  }
  rc = ode_inputs_create(o, &in);
done:
  ode_inputs_release(&in);
  return rc;
}
