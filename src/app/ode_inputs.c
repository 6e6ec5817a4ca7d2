/* Inputs of the system (ode_inputs.h). */
#include "ode_inputs.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "field_io.h"
#include "function.h"
#include "ini.h"
#include "numbers.h"

static const char *key_of(char room[2 * ODE_NAME], const char *section, const char *name) {
  snprintf(room, 2 * (size_t)ODE_NAME, "%s.%.60s", section, name);
  return room;
}

/* ---- the system ---- */

static status take_room(ode_inputs *in) {
  status rc = STATUS_OK;
  const int64_t names = 1 + ODE_COMPONENTS_MAX + 2 * ODE_VALUES_MAX;
  TRY(alloc_zeroed(&in->rhs, ODE_COMPONENTS_MAX, sizeof *in->rhs, "equations"));
  TRY(alloc_zeroed(&in->rhs_where, ODE_COMPONENTS_MAX, sizeof *in->rhs_where, "equations"));
  TRY(alloc_zeroed(&in->initial, ODE_COMPONENTS_MAX, sizeof *in->initial, "initial states"));
  TRY(alloc_zeroed(&in->names, names + 1, sizeof *in->names, "names"));
  TRY(alloc_zeroed(&in->name, names, sizeof *in->name, "names"));
done:
  return rc;
}

/* The name number `at` of the functions' inputs. */
static status put_name(const options *o, ode_inputs *in, int at, const char *key,
                       const char *name) {
  for (int i = 0; i < at; i++) {
    if (strcmp(in->name[i], name) == 0) {
      return fail(STATUS_USAGE, "%s: the name %s is taken%s", options_where(o, key), name,
                  i == 0                ? ": it is the time"
                  : i <= in->components ? ": it is a component"
                                        : "");
    }
  }
  snprintf(in->name[at], ODE_NAME, "%.60s", name);
  in->names[at] = in->name[at];
  return STATUS_OK;
}

static status take_equations(const options *o, ode_inputs *in) {
  status rc = STATUS_OK;
  const char *name;
  char room[2 * ODE_NAME];
  for (int k = 0; (name = options_free_key(o, "equations", k)) != NULL; k++) {
    const char *key = key_of(room, "equations", name);
    if (name[0] != 'd' || !(isalpha((unsigned char)name[1]) || name[1] == '_')) {
      return fail(STATUS_USAGE, "%s: expected dNAME = EXPRESSION, the derivative of NAME",
                  options_where(o, key));
    }
    if (k == ODE_COMPONENTS_MAX) {
      return fail(STATUS_USAGE, "%s: more than %d equations", options_where(o, key),
                  ODE_COMPONENTS_MAX);
    }
    in->rhs[k] = options_text(o, key);
    TRY(alloc_text((char **)&in->rhs_where[k], options_where(o, key), "equations"));
    in->components = k + 1;
    TRY(put_name(o, in, 1 + k, key, name + 1));
  }
done:
  return rc;
}

static status take_builtin(const options *o, ode_inputs *in) {
  status rc = STATUS_OK;
  in->components = in->builtin->components;
  for (int k = 0; k < in->components; k++) {
    in->rhs[k] = in->builtin->rhs[k];
    TRY(alloc_text((char **)&in->rhs_where[k], in->builtin->name, "equations"));
    TRY(put_name(o, in, 1 + k, "ode.system", in->builtin->component[k]));
    in->initial[k] = in->builtin->initial[k];
  }
done:
  return rc;
}

/* A C file has as many components as its initial state, called y1, y2, ... */
static status take_file(const options *o, ode_inputs *in, int components) {
  status rc = STATUS_OK;
  if (components > ODE_COMPONENTS_MAX) {
    return fail(STATUS_USAGE, "%s: %d values; a C file has %d components at most",
                options_where(o, "ode.initial"), components, ODE_COMPONENTS_MAX);
  }
  in->components = components;
  in->rhs[0] = in->file;
  TRY(alloc_text((char **)&in->rhs_where[0], options_where(o, "ode.system"), "equations"));
  for (int k = 0; k < components; k++) {
    char name[ODE_NAME];
    snprintf(name, sizeof name, "y%d", k + 1);
    TRY(put_name(o, in, 1 + k, "ode.initial", name));
  }
done:
  return rc;
}

/* ---- initial states ---- */

/* The texts of a list; how many through *count. */
static status cut_initial(const options *o, ode_inputs *in, int *count) {
  status rc = STATUS_OK;
  char *rest, *item;
  int64_t most = ODE_COMPONENTS_MAX;
  *count = 0;
  TRY(alloc_text(&in->initial_text, options_text(o, "ode.initial"), "initial states"));
  for (const char *at = in->initial_text; *at != '\0'; at++) most += *at == ',';
  alloc_free(&in->initial);
  TRY(alloc_zeroed(&in->initial, most, sizeof *in->initial, "initial states"));
  for (rest = in->initial_text; rest != NULL;) {
    const char *wrong = ini_list(&rest, &item);
    if (wrong != NULL) {
      return fail(STATUS_USAGE, "%s: %s, at '%.40s'", options_where(o, "ode.initial"), wrong, item);
    }
    in->initial[(*count)++] = item;
  }
done:
  return rc;
}

/* "(1, 1, 1), (2, 2, 2)": rows of numbers. */
static status read_rows(const options *o, ode_inputs *in, int count, int *width) {
  status rc = STATUS_OK;
  double *values = NULL;
  int64_t used = 0;
  *width = 0;
  TRY(alloc_array(&values, (int64_t)count * ODE_COMPONENTS_MAX, sizeof *values, "initial states"));
  in->table.values = values;
  for (int r = 0; r < count; r++) {
    char *text = (char *)in->initial[r], *rest = text + 1, *item;
    const size_t length = strlen(text);
    int here = 0;
    if (text[0] != '(' || text[length - 1] != ')') {
      return fail(STATUS_USAGE,
                  "%s: found '%.40s' beside tuples; expected (NUMBERS) for each state",
                  options_where(o, "ode.initial"), text);
    }
    text[length - 1] = '\0';
    while (rest != NULL) {
      const char *wrong = ini_list(&rest, &item);
      if (wrong == NULL && here == ODE_COMPONENTS_MAX) wrong = "too many values";
      if (wrong == NULL) wrong = number_real(item, &values[used], NULL);
      if (wrong != NULL) {
        return fail(STATUS_USAGE, "%s: %s, at '%.40s'", options_where(o, "ode.initial"), wrong,
                    item);
      }
      used++;
      here++;
    }
    if (r > 0 && here != *width) {
      return fail(STATUS_USAGE, "%s: state %d has %d values, state 1 has %d",
                  options_where(o, "ode.initial"), r + 1, here, *width);
    }
    *width = here;
  }
  in->table = (row_window){values, 1, count - 1, *width};
  in->tuples = count;
done:
  return rc;
}

/* Whether a text is one pair of parentheses around everything, with a comma between its values, or
 * `alone`, one value. */
static int is_tuple(const char *text, int alone) {
  int depth = 0, commas = 0;
  if (text[0] != '(') return 0;
  for (const char *at = text; *at != '\0'; at++) {
    depth += (*at == '(') - (*at == ')');
    commas += *at == ',' && depth == 1;
    if (depth == 0 && at[1] != '\0') return 0;
  }
  return alone || commas > 0;
}

/* initial: a text per component, rows of numbers, or a file of rows; *components of them. */
static status take_initial(const options *o, ode_inputs *in, int *components) {
  status rc = STATUS_OK;
  const char *text = options_text(o, "ode.initial");
  int count = 0;
  *components = in->components;
  if (text == NULL) return STATUS_OK;
  if (field_is_file(text)) {
    in->table_file = text;
    if (in->file == NULL) return STATUS_OK;
    return fail(STATUS_USAGE,
                "%s: %s has as many components as initial has values, which a file of states does "
                "not say; expected \"0, 0\", say, and columns of the file as [sample] y1, y2",
                options_where(o, "ode.initial"), in->file);
  }
  TRY(cut_initial(o, in, &count));
  *components = count;
  if (is_tuple(in->initial[0], in->components == 1 && count > 1)) {
    rc = read_rows(o, in, count, components);
  }
done:
  return rc;
}

static status check_initial(const options *o, const ode_inputs *in, int given) {
  if (options_text(o, "ode.initial") == NULL && in->builtin == NULL) {
    return fail(STATUS_USAGE, "ode needs initial, a value per component in their order "
                              "(--initial \"1, 0\")");
  }
  if (given == in->components) return STATUS_OK;
  return fail(STATUS_USAGE, "%s: %d value%s; expected %d, one per component (%s, ...)",
              options_where(o, "ode.initial"), given, given == 1 ? "" : "s", in->components,
              in->name[1]);
}

/* ---- parameters ---- */

static int find_name(const ode_inputs *in, const char *name, int first, int end) {
  for (int i = first; i < end; i++) {
    if (strcmp(in->name[i], name) == 0) return i;
  }
  return -1;
}

/* Whether a swept or drawn name is this one. */
static int is_own(const ode_inputs *in, const char *name) {
  for (int k = 0; k < in->swept.grid.axes; k++) {
    if (strcmp(in->swept.name[k], name) == 0) return 1;
  }
  for (int k = 0; k < in->drawn.count; k++) {
    if (strcmp(in->drawn.of[k].name, name) == 0) return 1;
  }
  return 0;
}

static status add_shared(const options *o, ode_inputs *in, const char *key, const char *name,
                         double value) {
  if (in->shared == ODE_VALUES_MAX) {
    return fail(STATUS_USAGE, "%s: more than %d parameters", options_where(o, key), ODE_VALUES_MAX);
  }
  in->common[in->shared] = value;
  return put_name(o, in, 1 + in->components + in->shared++, key, name);
}

/* Whether a built-in system can make use of a name: its own functions, or one of the user's. */
static status check_name(const options *o, const ode_inputs *in, const char *key,
                         const char *name) {
  static const char *const users[] = {"ode.initial", "ode.event", "ode.exact", "ode.noise"};
  char list[SYSTEM_PARAMETERS * ODE_NAME] = "", near[OPTIONS_NAME_MAX];
  const ode_system *b = in->builtin;
  if (b == NULL || find_name(in, name, 1, 1 + in->components) > 0) return STATUS_OK;
  for (int k = 0; k < b->parameters; k++) {
    const size_t length = strlen(list);
    if (strcmp(b->parameter[k], name) == 0) return STATUS_OK;
    snprintf(list + length, sizeof list - length, "%s%s", k > 0 ? "|" : "", b->parameter[k]);
  }
  for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
    if (options_has(o, users[i])) return STATUS_OK;
  }
  const int found = options_nearest(name, list, near);
  return fail(STATUS_USAGE, "%s: %s has no parameter %s%s%s%s%s%s", options_where(o, key), b->name,
              name, list[0] == '\0' ? "" : "; it has ", list, found ? "; did you mean '" : "",
              found ? near : "", found ? "'?" : "");
}

static status take_shared(const options *o, ode_inputs *in) {
  status rc = STATUS_OK;
  const ode_system *b = in->builtin;
  const char *name;
  char room[2 * ODE_NAME];
  for (int k = 0; b != NULL && k < b->parameters; k++) {
    const char *key = key_of(room, "parameters", b->parameter[k]);
    if (is_own(in, b->parameter[k])) continue;
    TRY(add_shared(o, in, key, b->parameter[k],
                   options_has(o, key) ? options_real(o, key) : b->value[k]));
  }
  for (int k = 0; (name = options_free_key(o, "parameters", k)) != NULL; k++) {
    const char *key = key_of(room, "parameters", name);
    int known = 0;
    for (int i = 0; b != NULL && i < b->parameters; i++)
      known |= strcmp(b->parameter[i], name) == 0;
    if (b != NULL && known) continue;
    TRY(check_name(o, in, key, name));
    TRY(add_shared(o, in, key, name, options_real(o, key)));
  }
done:
  return rc;
}

/* A swept or drawn name: of a component, whose start it is, or else a parameter. */
static status add_own(const options *o, ode_inputs *in, const char *section, const char *name,
                      ode_own own) {
  status rc = STATUS_OK;
  char room[2 * ODE_NAME];
  const char *key = key_of(room, section, name);
  const int component = find_name(in, name, 1, 1 + in->components);
  if (component > 0) {
    in->instead[component - 1] = own;
    return STATUS_OK;
  }
  TRY(check_name(o, in, key, name));
  if (in->own == ODE_VALUES_MAX) {
    return fail(STATUS_USAGE, "%s: more than %d parameters", options_where(o, key), ODE_VALUES_MAX);
  }
  in->of[in->own] = own;
  rc = put_name(o, in, 1 + in->components + in->shared + in->own, key, name);
  in->own++;
done:
  return rc;
}

static status take_own(const options *o, ode_inputs *in) {
  status rc = STATUS_OK;
  for (int c = 0; c < ODE_COMPONENTS_MAX; c++) in->instead[c] = (ode_own){-1, -1};
  for (int k = 0; k < in->swept.grid.axes; k++) {
    TRY(add_own(o, in, "sweep", in->swept.name[k], (ode_own){k, -1}));
  }
  for (int k = 0; k < in->drawn.count; k++) {
    TRY(add_own(o, in, "sample", in->drawn.of[k].name, (ode_own){-1, k}));
  }
done:
  return rc;
}

static status count_trajectories(const options *o, ode_inputs *in) {
  const int given = options_given(o, "ode.trajectories");
  in->replicates = options_integer(o, "ode.trajectories");
  if (in->tuples > 0 && !given) in->replicates = in->tuples;
  if (in->tuples > 0 && in->replicates != in->tuples) {
    return fail(STATUS_USAGE, "%s = %lld, and initial has %lld states",
                options_where(o, "ode.trajectories"), (long long)in->replicates,
                (long long)in->tuples);
  }
  if (in->table_file != NULL && !given) {
    return fail(STATUS_USAGE, "%s is a file of states: say with trajectories how many rows it has",
                options_where(o, "ode.initial"));
  }
  if (in->swept.grid.members > (INT64_C(1) << 40) / in->replicates) {
    return fail(STATUS_USAGE, "ode: %lld members times %lld trajectories are more than 2^40",
                (long long)in->swept.grid.members, (long long)in->replicates);
  }
  in->trajectories = in->swept.grid.members * in->replicates;
  return STATUS_OK;
}

status ode_inputs_create(const options *o, ode_inputs *in) {
  status rc = STATUS_OK;
  const char *system = options_text(o, "ode.system");
  int given;
  memset(in, 0, sizeof *in);
  in->seed = (uint64_t)options_integer(o, "run.seed");
  TRY(take_room(in));
  snprintf(in->name[0], ODE_NAME, "t");
  in->names[0] = in->name[0];
  if (system != NULL && function_is_file(system)) in->file = system;
  if (system != NULL && in->file == NULL) in->builtin = ode_system_find(system);
  if (in->builtin != NULL) TRY(take_builtin(o, in));
  if (system == NULL) TRY(take_equations(o, in));
  TRY(take_initial(o, in, &given));
  if (in->file != NULL) TRY(take_file(o, in, given));
  TRY(check_initial(o, in, given));
  TRY(sweep_read(o, &in->swept));
  TRY(samples_read(o, in->seed, &in->drawn));
  TRY(take_shared(o, in));
  TRY(take_own(o, in));
  rc = count_trajectories(o, in);
done:
  return rc;
}

void ode_inputs_release(ode_inputs *in) {
  for (int k = 0; in->rhs_where != NULL && k < ODE_COMPONENTS_MAX; k++) {
    alloc_free((char **)&in->rhs_where[k]);
  }
  alloc_free(&in->rhs);
  alloc_free(&in->rhs_where);
  alloc_free(&in->initial);
  alloc_free(&in->initial_text);
  alloc_free(&in->table.values);
  alloc_free(&in->names);
  alloc_free(&in->name);
  sweep_release(&in->swept);
}

/* ---- per trajectory ---- */

static double value_of(const ode_inputs *in, const ode_own *own, const double *swept, int64_t i) {
  if (own->axis >= 0) return swept[own->axis];
  return sample_value(&in->drawn.of[own->drawn], in->seed, i, i % in->replicates);
}

void ode_inputs_own(const ode_inputs *in, int64_t i, double *out) {
  double swept[SWEEP_AXES];
  sweep_member(&in->swept.grid, i / in->replicates, swept);
  for (int k = 0; k < in->own; k++) out[k] = value_of(in, &in->of[k], swept, i);
}

int ode_inputs_instead(const ode_inputs *in, int component, int64_t i, double *out) {
  double swept[SWEEP_AXES];
  const ode_own *own = &in->instead[component];
  if (own->axis < 0 && own->drawn < 0) return 0;
  sweep_member(&in->swept.grid, i / in->replicates, swept);
  *out = value_of(in, own, swept, i);
  return 1;
}
