/* Inputs of the integrand (quad_inputs.h). */
#include "quad_inputs.h"

#include <stdio.h>
#include <string.h>

#include "function.h"

static const integrand *builtin_of(const options *o) {
  const char *name = options_text(o, "quad.integrand");
  return name == NULL ? NULL : integrand_find(name);
}

/* dims, limits; a built-in integrand has limits of its own. */
static void take_limits(const options *o, quad_inputs *in) {
  const double *lower, *upper;
  const int low = options_reals(o, "quad.lower", &lower);
  const int high = options_reals(o, "quad.upper", &upper);
  const integrand *b = in->builtin;
  in->dims = low > high ? low : high;
  if (options_has(o, "quad.dims")) in->dims = (int)options_integer(o, "quad.dims");
  if (in->dims == 0 && b != NULL) in->dims = b->dims_min;
  if (b != NULL && in->dims == 1) in->dims = b->dims_min;
  for (int d = 0; d < in->dims; d++) {
    in->lower[d] = low == 0 ? b->lower : lower[low == 1 ? 0 : d];
    in->upper[d] = high == 0 ? b->upper : upper[high == 1 ? 0 : d];
    if (b != NULL && (in->lower[d] != b->lower || in->upper[d] != b->upper)) in->exact_known = 0;
  }
}

static void take_text(const options *o, quad_inputs *in) {
  if (in->builtin != NULL) {
    integrand_text(in->builtin, in->dims, in->own_text);
    in->text = in->own_text;
    in->key = "quad.integrand";
    return;
  }
  in->key = options_has(o, "quad.integrand") ? "quad.integrand" : "quad.f";
  in->text = options_text(o, in->key);
}

/* x, y, z, or x[0], x[1], ... where there are more or the text says so. */
static int name_coordinates(quad_inputs *in) {
  const int indexed = in->dims > 3 || strstr(in->text, "x[") != NULL;
  for (int d = 0; d < in->dims; d++) {
    if (indexed) {
      snprintf(in->name[d], QUAD_NAME, "x[%d]", d);
    } else {
      snprintf(in->name[d], QUAD_NAME, "%c", "xyz"[d]);
    }
  }
  return in->dims;
}

static int swept_number(const sweep *s, const char *name) {
  for (int k = 0; k < s->grid.axes; k++) {
    if (strcmp(s->name[k], name) == 0) return k;
  }
  return -1;
}

static status add_name(const options *o, const char *section, const char *name, quad_inputs *in,
                       int *count) {
  char key[2 * QUAD_NAME];
  snprintf(key, sizeof key, "%s.%.60s", section, name);
  for (int i = 0; i < *count; i++) {
    if (strcmp(in->name[i], name) != 0) continue;
    return fail(STATUS_USAGE, "%s: %s is a coordinate", options_where(o, key), name);
  }
  if (*count == QUAD_NAMES) {
    return fail(STATUS_USAGE, "%s: more than %d parameters", options_where(o, key),
                QUAD_NAMES - in->dims);
  }
  snprintf(in->name[(*count)++], QUAD_NAME, "%.60s", name);
  return STATUS_OK;
}

/* Parameters of a built-in integrand that are not swept: as given, else by default. */
static status name_builtin(const options *o, quad_inputs *in, int *count) {
  status rc = STATUS_OK;
  const int parameters = integrand_parameters(in->builtin, in->dims);
  for (int k = 0; k < parameters; k++) {
    char name[16], key[QUAD_NAME];
    double value;
    integrand_parameter(in->builtin, in->dims, k, name, &value);
    if (swept_number(&in->swept, name) >= 0) continue;
    snprintf(key, sizeof key, "parameters.%s", name);
    if (options_has(o, key)) value = options_real(o, key);
    in->place[k] = in->fixed;
    in->value[in->fixed++] = value;
    TRY(add_name(o, "parameters", name, in, count));
  }
done:
  return rc;
}

static int builtin_number(const quad_inputs *in, const char *wanted) {
  const int parameters = integrand_parameters(in->builtin, in->dims);
  for (int k = 0; k < parameters; k++) {
    char name[16];
    double value;
    integrand_parameter(in->builtin, in->dims, k, name, &value);
    if (strcmp(name, wanted) == 0) return k;
  }
  return -1;
}

/* That a name given for a built-in integrand is one of its parameters. */
static status check_builtin(const options *o, const quad_inputs *in, const char *section,
                            const char *name) {
  char key[2 * QUAD_NAME], text[INTEGRAND_TEXT];
  if (in->builtin == NULL || builtin_number(in, name) >= 0) return STATUS_OK;
  snprintf(key, sizeof key, "%s.%.60s", section, name);
  integrand_text(in->builtin, in->dims, text);
  return fail(STATUS_USAGE, "%s: %s has no parameter %.60s; it is %.400s", options_where(o, key),
              in->builtin->name, name, text);
}

static status name_fixed(const options *o, quad_inputs *in, int *count) {
  status rc = STATUS_OK;
  const char *name;
  if (in->builtin != NULL) TRY(name_builtin(o, in, count));
  for (int i = 0; (name = options_free_key(o, "parameters", i)) != NULL; i++) {
    char key[2 * QUAD_NAME];
    TRY(check_builtin(o, in, "parameters", name));
    if (in->builtin != NULL) continue;
    snprintf(key, sizeof key, "parameters.%.60s", name);
    TRY(add_name(o, "parameters", name, in, count));
    in->value[in->fixed++] = options_real(o, key);
  }
done:
  return rc;
}

static status name_swept(const options *o, quad_inputs *in, int *count) {
  status rc = STATUS_OK;
  for (int k = 0; k < in->swept.grid.axes; k++) {
    TRY(check_builtin(o, in, "sweep", in->swept.name[k]));
    TRY(add_name(o, "sweep", in->swept.name[k], in, count));
    if (in->builtin != NULL) in->place[builtin_number(in, in->swept.name[k])] = in->fixed + k;
  }
done:
  return rc;
}

static status parse(const options *o, const char *key, const char *text, const char *const *names,
                    expression **out) {
  char why[1024];
  status rc = expression_parse(text, names, out);
  if (rc == STATUS_OK) return rc;
  snprintf(why, sizeof why, "%.1000s", fail_text());
  fail_clear();
  return fail(rc, "%s: %s", options_where(o, key), why);
}

status quad_inputs_exactly(const options *o, quad_inputs *in) {
  const char *text = options_text(o, "quad.exact");
  if (text == NULL) return STATUS_OK;
  in->exact_known = 1;
  return parse(o, "quad.exact", text, in->names + in->dims, &in->exact);
}

status quad_inputs_create(const options *o, quad_inputs *in) {
  status rc = STATUS_OK;
  int count;
  memset(in, 0, sizeof *in);
  in->builtin = builtin_of(o);
  in->exact_known = in->builtin != NULL;
  take_limits(o, in);
  take_text(o, in);
  TRY(sweep_read(o, &in->swept));
  count = name_coordinates(in);
  TRY(name_fixed(o, in, &count));
  TRY(name_swept(o, in, &count));
  for (int i = 0; i < count; i++) in->names[i] = in->name[i];
  if (!function_is_file(in->text)) TRY(parse(o, in->key, in->text, in->names, &in->tree));
  rc = quad_inputs_exactly(o, in);
done:
  return rc;
}

int quad_inputs_settled(const void *inputs, const double *parameters) {
  const quad_inputs *in = inputs;
  double value[QUAD_NAMES] = {0.0};
  if (in->tree == NULL) return 0;
  const int count = in->fixed + in->swept.grid.axes;
  memcpy(value + in->dims, parameters, (size_t)count * sizeof *value);
  return expression_settled(in->tree, value, in->dims);
}

void quad_inputs_release(quad_inputs *in) {
  expression_release(&in->tree);
  expression_release(&in->exact);
  sweep_release(&in->swept);
}

double quad_inputs_exact(const quad_inputs *in, const double *parameters) {
  double own[INTEGRAND_PARAMETERS];
  if (in->exact != NULL) return expression_value(in->exact, parameters);
  const int count = integrand_parameters(in->builtin, in->dims);
  for (int k = 0; k < count; k++) own[k] = parameters[in->place[k]];
  return in->builtin->exact(in->dims, own);
}
