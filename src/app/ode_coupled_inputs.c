/* From options to a coupled system (ode_coupled.h). [equations] become one like those registered:
 * dNAME = EXPRESSION a field, in order, with NAME[1] the value of a point near by; parameters are
 * those of [parameters]. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "ini.h"
#include "ode_coupled.h"
#include "ode_job.h"
#include "option_checks.h"

enum { NAME = 64 };

int ode_is_coupled(const options *o) {
  const char *system = options_text(o, "ode.system");
  if (system != NULL) return coupled_system_find(system) != NULL;
  return options_has(o, "ode.n") && options_free_key(o, "equations", 0) != NULL;
}

/* ---- what goes together ---- */

static status check_points(const options *o) {
  const coupled_system *s = NULL;
  const int64_t *n;
  const char *system = options_text(o, "ode.system");
  const int count = options_integers(o, "ode.n", &n);
  if (system != NULL) s = coupled_system_find(system);
  if (count > 2 || (s != NULL && count > s->dims)) {
    return fail(STATUS_USAGE, "%s: %d numbers; expected %s", options_where(o, "ode.n"), count,
                s != NULL && s->dims == 1 ? "one: a line of points" : "one or two");
  }
  return STATUS_OK;
}

status check_ode_coupled(const options *o) {
  status rc = STATUS_OK;
  static const char *const none[] = {"ode.noise", "ode.interpretation", "ode.antithetic",
                                     "ode.event", "ode.only",           "ode.jacobian",
                                     "ode.exact", "ode.quantiles",      "ode.bins"};
  coupled_job j;
  memset(&j, 0, sizeof j);
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    TRY(check_needs(o, none[i], 0, "that is for ensembles; this is one coupled system"));
  }
  if (options_integer(o, "ode.trajectories") > 1 || options_free_key(o, "sweep", 0) != NULL ||
      options_free_key(o, "sample", 0) != NULL) {
    rc =
        fail(STATUS_USAGE, "ode: trajectories, [sweep] and [sample] are for ensembles; this is one "
                           "coupled system");
    goto done;
  }
  TRY(check_points(o));
  rc = coupled_inputs_create(o, &j);
done:
  coupled_inputs_release(&j);
  return rc;
}

/* ---- the system ---- */

static const char *key_of(char room[2 * NAME], const char *section, const char *name) {
  snprintf(room, 2 * (size_t)NAME, "%s.%.60s", section, name);
  return room;
}

/* A copy of a name that outlives the options' own, none other's: of names that are equal the
 * formulas would see one only. */
static status keep_name(const options *o, coupled_job *j, int at, const char *key, const char *name,
                        const char **kept) {
  const char *const known[] = {"t", "i", "n", "j", "m"};
  int taken = 0;
  for (int k = 0; k < (j->made.dims > 1 ? 5 : 3); k++) taken |= strcmp(known[k], name) == 0;
  for (int k = 0; k < at; k++) taken |= strcmp(j->name[k], name) == 0;
  if (taken) {
    return fail(STATUS_USAGE, "%s: the name %s is taken; expected another one",
                options_where(o, key), name);
  }
  snprintf(j->name[at], NAME, "%.60s", name);
  *kept = j->name[at];
  return STATUS_OK;
}

static status take_equations(const options *o, coupled_job *j) {
  status rc = STATUS_OK;
  coupled_system *s = &j->made;
  const int64_t *n;
  const char *name, *edges = options_text(o, "ode.edges");
  char room[2 * NAME];
  int used = 0;
  s->name = "[equations]";
  s->dims = options_integers(o, "ode.n", &n);
  s->edge = edges == NULL || strcmp(edges, "periodic") == 0 ? COUPLED_PERIODIC
            : strcmp(edges, "zero") == 0                    ? COUPLED_ZERO
                                                            : COUPLED_COPY;
  TRY(alloc_zeroed(&j->name, COUPLED_FIELDS + COUPLED_PARAMETERS, sizeof *j->name, "names"));
  for (int f = 0; (name = options_free_key(o, "equations", f)) != NULL; f++) {
    const char *key = key_of(room, "equations", name);
    if (name[0] != 'd' || name[1] == '\0' || f == COUPLED_FIELDS) {
      return fail(STATUS_USAGE,
                  "%s: expected dNAME = EXPRESSION, the derivative of NAME at a point, for at most "
                  "%d of them",
                  options_where(o, key), COUPLED_FIELDS);
    }
    TRY(keep_name(o, j, used++, key, name + 1, &s->derivative[f].name));
    s->initial[f].name = s->derivative[f].name;
    s->derivative[f].text = options_text(o, key);
    TRY(alloc_text(&j->where[f], options_where(o, key), "names"));
  }
  for (int k = 0; (name = options_free_key(o, "parameters", k)) != NULL; k++) {
    const char *key = key_of(room, "parameters", name);
    if (k == COUPLED_PARAMETERS) {
      return fail(STATUS_USAGE, "%s: more than %d parameters", options_where(o, key),
                  COUPLED_PARAMETERS);
    }
    TRY(keep_name(o, j, used++, key, name, &s->parameter[k].name));
    s->parameter[k].value = options_real(o, key);
  }
done:
  return rc;
}

static int find_parameter(const coupled_system *s, const char *name) {
  for (int k = 0; k < coupled_parameters(s); k++) {
    if (strcmp(s->parameter[k].name, name) == 0) return k;
  }
  return -1;
}

static status take_parameters(const options *o, coupled_job *j) {
  const coupled_system *s = j->coupled.system;
  const char *name;
  char room[2 * NAME];
  for (int k = 0; k < coupled_parameters(s); k++) j->parameter[k] = s->parameter[k].value;
  for (int k = 0; (name = options_free_key(o, "parameters", k)) != NULL; k++) {
    const char *key = key_of(room, "parameters", name);
    const int at = find_parameter(s, name);
    if (at < 0) {
      return fail(STATUS_USAGE, "%s: %s has no parameter %s; its first is %s",
                  options_where(o, key), s->name, name,
                  s->parameter[0].name == NULL ? "none" : s->parameter[0].name);
    }
    j->parameter[at] = options_real(o, key);
  }
  j->coupled.parameter = j->parameter;
  return STATUS_OK;
}

static status take_initial(const options *o, coupled_job *j) {
  status rc = STATUS_OK;
  const char *text = options_text(o, "ode.initial");
  const int fields = coupled_equations(j->coupled.system->derivative);
  char *rest, *item;
  int count = 0;
  if (text == NULL && j->coupled.system == &j->made) {
    return fail(STATUS_USAGE,
                "ode needs initial, an expression in i%s, n and the parameters per "
                "field (--initial \"sin(2*pi*i/n)\")",
                j->made.dims > 1 ? ", j, m" : "");
  }
  if (text == NULL) return STATUS_OK;
  TRY(alloc_text(&j->texts, text, "initial values"));
  for (rest = j->texts; rest != NULL; count++) {
    const char *wrong = ini_list(&rest, &item);
    if (wrong == NULL && count < fields) {
      j->initial[count] = item;
      TRY(alloc_text(&j->where_initial[count], options_where(o, "ode.initial"), "names"));
      continue;
    }
    if (wrong == NULL) continue;
    return fail(STATUS_USAGE, "%s: %s, at '%.40s'", options_where(o, "ode.initial"), wrong, item);
  }
  if (count != fields) {
    return fail(STATUS_USAGE, "%s: %d value%s; expected %d, one per field (%s, ...)",
                options_where(o, "ode.initial"), count, count == 1 ? "" : "s", fields,
                j->coupled.system->derivative[0].name);
  }
  j->coupled.initial = j->initial;
  j->coupled.where_initial = (const char *const *)j->where_initial;
done:
  return rc;
}

/* Method, instants, tolerances. */
static status take_plan(const options *o, coupled_job *j) {
  coupled_run *r = &j->coupled;
  const ode_method *m = ode_method_find(options_text(o, "ode.method"));
  r->method = options_text(o, "ode.method");
  r->linear = options_text(o, "ode.linear");
  r->preconditioner = options_text(o, "ode.preconditioner");
  r->plan.adaptive = m == NULL || (m->flags & METHOD_FIXED) == 0;
  if (m != NULL && (m->flags & METHOD_NOISY) != 0) {
    return fail(STATUS_USAGE, "%s = %s is for ensembles; this is one coupled system",
                options_where(o, "ode.method"), m->name);
  }
  if (!r->plan.adaptive && !options_has(o, "ode.dt")) {
    return fail(STATUS_USAGE, "%s = %s takes fixed steps: it needs dt",
                options_where(o, "ode.method"), m->name);
  }
  status rc = ode_plan_steps(o, &r->plan, &j->save_at);
  r->plan.save_at.at = j->save_at;
  return rc;
}

status coupled_inputs_create(const options *o, coupled_job *j) {
  status rc = STATUS_OK;
  coupled_run *r = &j->coupled;
  const int64_t *n;
  const int count = options_integers(o, "ode.n", &n);
  const char *system = options_text(o, "ode.system");
  if (system == NULL) {
    TRY(take_equations(o, j));
    r->where = (const char *const *)j->where;
    r->system = &j->made;
  } else {
    r->system = coupled_system_find(system);
    if (options_has(o, "ode.edges")) {
      rc = fail(STATUS_USAGE, "%s: the ends of %s are its own; edges is for [equations]",
                options_where(o, "ode.edges"), system);
      goto done;
    }
  }
  r->n = count > 0 ? n[0] : 0;
  r->m = count > 1 ? n[1] : 0;
  TRY(take_parameters(o, j));
  TRY(take_initial(o, j));
  rc = take_plan(o, j);
done:
  return rc;
}

void coupled_inputs_release(coupled_job *j) {
  for (int f = 0; f < COUPLED_FIELDS; f++) {
    alloc_free(&j->where[f]);
    alloc_free(&j->where_initial[f]);
  }
  alloc_free(&j->name);
  alloc_free(&j->texts);
  alloc_free(&j->save_at);
}
