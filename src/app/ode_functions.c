/* The functions of `ode`: from their texts to formulas. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "fused.h"
#include "ini.h"
#include "log.h"
#include "ode_job.h"

/* Fewer steps than this are sooner made by what is there; the bits are the same. */
static const double WORTH_COMPILING = 2e5, WORTH_FUSING = 5e7;

int ode_is_plain(const ode_job *j) {
  return strcmp(j->chosen.kernels->name, "ref") == 0 || ode_expected_steps(j) < WORTH_COMPILING;
}

status ode_function_make(ode_job *j, const char *const *texts, const char *const *where,
                         int outputs, const char *prototype, const char *call, function **out) {
  const function_request request = {.texts = texts,
                                    .where = where,
                                    .ini = options_file(j->run->o),
                                    .names = j->in.names,
                                    .outputs = outputs,
                                    .prototype = prototype,
                                    .call = call,
                                    .plain = ode_is_plain(j)};
  return function_create(j->run->c, j->run->compiler, &request, out);
}

static status make_rhs(ode_job *j) {
  char call[100];
  snprintf(call, sizeof call, "rhs(in[0], in + 1, in + %d, out);", 1 + j->in.components);
  return ode_function_make(j, j->in.rhs, j->in.rhs_where, j->in.components,
                           "void rhs(double t, const double *y, const double *p, double *dy)", call,
                           &j->rhs);
}

/* Methods that need positions q and velocities v with dq/dt = f(t, v), dv/dt = f(t, q): whether the
 * texts are so. */
static status check_split(const ode_job *j) {
  const int n = j->in.components, half = n / 2;
  if ((j->method->flags & METHOD_SPLIT) == 0) return STATUS_OK;
  if (j->in.file != NULL) {
    log_warning("%s: nobody can see into %s; with rates of positions (the first half) that are not "
                "functions of velocities alone, or the other way round, it computes something else",
                j->method->name, j->in.file);
    return STATUS_OK;
  }
  for (int i = 0; i < n; i++) {
    const int first = i < half ? 0 : half;
    for (int k = first; k < first + half; k++) {
      if (!function_uses(j->rhs, i, 1 + k)) continue;
      return fail(STATUS_USAGE,
                  "%s: %s takes positions, then as many velocities, each with rates that depend on "
                  "the others alone; here d%s/dt depends on %s",
                  options_where(j->run->o, "ode.method"), j->method->name, j->in.names[1 + i],
                  j->in.names[1 + k]);
    }
  }
  return STATUS_OK;
}

static status make_event(ode_job *j) {
  char call[100], where[400];
  const char *texts[] = {options_text(j->run->o, "ode.event")}, *wheres[] = {where};
  snprintf(where, sizeof where, "%.390s", options_where(j->run->o, "ode.event"));
  snprintf(call, sizeof call, "out[0] = event(in[0], in + 1, in + %d);", 1 + j->in.components);
  return ode_function_make(j, texts, wheres, 1,
                           "double event(double t, const double *y, const double *p)", call,
                           &j->event);
}

/* Of implicit methods: the user's C file, or the derivatives of expressions; NULL: differences. */
static status make_jacobian(ode_job *j) {
  status rc = STATUS_OK;
  const int n = j->in.components;
  const options *o = j->run->o;
  char call[100], where[400];
  const char *texts[] = {options_text(o, "ode.jacobian")}, *wheres[] = {where};
  if (texts[0] == NULL) {
    TRY(function_jacobian(j->run->c, ode_is_plain(j) ? NULL : j->run->compiler, j->rhs, 1, n,
                          &j->jacobian));
  } else {
    snprintf(where, sizeof where, "%.390s", options_where(o, "ode.jacobian"));
    snprintf(call, sizeof call, "jacobian(in[0], in + 1, in + %d, out);", 1 + n);
    TRY(ode_function_make(j, texts, wheres, n * n,
                          "void jacobian(double t, const double *y, const double *p, double *j)",
                          call, &j->jacobian));
  }
  if (j->jacobian == NULL) goto done;
  j->e.f.jacobian = function_formula(j->jacobian);
  j->e.plan.has_jacobian = 1;
done:
  return rc;
}

/* Of rodas4: the derivatives of expressions; NULL: a difference. */
static status make_time(ode_job *j) {
  status rc = STATUS_OK;
  TRY(function_jacobian(j->run->c, ode_is_plain(j) ? NULL : j->run->compiler, j->rhs, 0, 1,
                        &j->time));
  if (j->time == NULL) goto done;
  j->e.f.time = function_formula(j->time);
  j->e.plan.has_time = 1;
done:
  return rc;
}

/* A list of one text per component. *cut holds them. */
static status cut_list(ode_job *j, const char *key, char **cut, const char **texts,
                       const char **where, char place[400]) {
  status rc = STATUS_OK;
  char *item;
  int count = 0;
  snprintf(place, 400, "%.390s", options_where(j->run->o, key));
  TRY(alloc_text(cut, options_text(j->run->o, key), "a list of expressions"));
  for (char *rest = *cut; rest != NULL;) {
    const char *wrong = ini_list(&rest, &item);
    if (wrong == NULL && count == j->in.components) wrong = "too many values";
    if (wrong != NULL) {
      rc = fail(STATUS_USAGE, "%s: %s, at '%.40s'", place, wrong, item);
      goto done;
    }
    where[count] = place;
    texts[count++] = item;
  }
  if (count != j->in.components) {
    rc = fail(STATUS_USAGE, "%s: %d values; expected %d, one per component", place, count,
              j->in.components);
  }
done:
  return rc;
}

/* The states at the start, in the parameters alone. */
static status make_initial(ode_job *j) {
  const char *where[ODE_COMPONENTS_MAX];
  char place[400];
  const int given = options_has(j->run->o, "ode.initial");
  snprintf(place, sizeof place, "%.390s",
           given ? options_where(j->run->o, "ode.initial") : j->in.builtin->name);
  for (int k = 0; k < j->in.components; k++) where[k] = place;
  const function_request request = {.texts = j->in.initial,
                                    .where = where,
                                    .names = j->in.names + 1 + j->in.components,
                                    .outputs = j->in.components,
                                    .plain = 1};
  return function_create(j->run->c, NULL, &request, &j->initial);
}

/* The exact states: in t and the parameters; names of components are there, and mean nothing. */
static status make_exact(ode_job *j) {
  status rc = STATUS_OK;
  const char *texts[ODE_COMPONENTS_MAX], *where[ODE_COMPONENTS_MAX];
  const char *names[2 + 2 * ODE_VALUES_MAX];
  char *cut = NULL, place[400];
  names[0] = j->in.names[0];
  for (int k = 0; k <= j->in.shared + j->in.own; k++) {
    names[1 + k] = j->in.names[1 + j->in.components + k];
  }
  TRY(comm_agree(j->run->c, cut_list(j, "ode.exact", &cut, texts, where, place)));
  const function_request request = {
      .texts = texts, .where = where, .names = names, .outputs = j->in.components, .plain = 1};
  rc = function_create(j->run->c, NULL, &request, &j->exact);
done:
  alloc_free(&cut);
  return rc;
}

status ode_functions_create(ode_job *j) {
  status rc = STATUS_OK;
  const options *o = j->run->o;
  ode_ensemble *e = &j->e;
  TRY(make_rhs(j));
  TRY(comm_agree(j->run->c, check_split(j)));
  e->f.rhs = function_formula(j->rhs);
  if (options_has(o, "ode.event")) {
    TRY(make_event(j));
    e->f.event = function_formula(j->event);
  }
  if ((j->method->flags & METHOD_STIFF) != 0) TRY(make_jacobian(j));
  if (e->plan.kind == ODE_ROSENBROCK) TRY(make_time(j));
  if (j->in.tuples == 0 && j->in.table_file == NULL) TRY(make_initial(j));
  if (options_has(o, "ode.exact")) TRY(make_exact(j));
  if (strcmp(j->chosen.kernels->name, "omp") == 0 && ode_expected_steps(j) >= WORTH_FUSING) {
    TRY(ode_fused_create(j->run->c, j->run->compiler, e->f.rhs, &e->plan, &j->fused, &e->f.fused));
  }
done:
  return rc;
}

void ode_functions_release(ode_job *j) {
  function **all[] = {&j->rhs,   &j->jacobian, &j->time, &j->noise, &j->noise_jacobian,
                      &j->event, &j->initial,  &j->exact};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) function_release(all[i]);
  module_release(&j->fused);
}
