/* The noise of `ode`, from the option's text: an expression per component, a tuple per component
 * (a column of them for each dW), or a C file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "ini.h"
#include "noise.h"
#include "ode_job.h"

enum { COLUMNS_MAX = 128, PLACE = 400 };

typedef struct noise_texts {
  char place[PLACE];
  char *cut;
  const char **text, **where; /* [components * columns] */
  int count, columns;         /* columns: 0 while not known, 1 for expressions that are no tuples */
  int tuples;
} noise_texts;

static void texts_release(noise_texts *n) {
  alloc_free(&n->cut);
  alloc_free(&n->text);
  alloc_free(&n->where);
}

/* Whether an item is "(a, b)": parentheses around all of it, and a comma at their level. */
static int is_tuple(const char *item) {
  int depth = 0, commas = 0;
  for (const char *c = item; *c != '\0'; c++) {
    depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
    if (depth == 0 && c[1] != '\0') return 0;
    commas += *c == ',' && depth == 1;
  }
  return commas > 0;
}

/* A row: one expression, or those of a tuple. */
static status cut_row(noise_texts *n, char *item) {
  const int tuple = is_tuple(item);
  int columns = 0;
  char *rest = item, *entry = item;
  if (tuple) {
    rest++;
    rest[strlen(rest) - 1] = '\0';
  }
  while (rest != NULL) {
    const char *wrong = NULL;
    if (tuple) {
      wrong = ini_list(&rest, &entry);
    } else {
      rest = NULL;
    }
    if (wrong == NULL && columns == COLUMNS_MAX) wrong = "too many columns";
    if (wrong != NULL) return fail(STATUS_USAGE, "%s: %s, at '%.40s'", n->place, wrong, entry);
    n->where[n->count] = n->place;
    n->text[n->count++] = entry;
    columns++;
  }
  if (n->columns != 0 && (columns != n->columns || tuple != n->tuples)) {
    return fail(
        STATUS_USAGE,
        "%s: found rows of %d and of %d; expected an expression per component, or tuples of "
        "one length, a column for each dW",
        n->place, n->columns, columns);
  }
  n->columns = columns;
  n->tuples = tuple;
  return STATUS_OK;
}

static status cut_texts(const ode_job *j, const char *text, noise_texts *n) {
  status rc = STATUS_OK;
  const int components = j->in.components, most = components * COLUMNS_MAX;
  int rows = 0;
  char *item;
  snprintf(n->place, sizeof n->place, "%.390s", options_where(j->run->o, "ode.noise"));
  TRY(alloc_text(&n->cut, text, "noise"));
  TRY(alloc_array(&n->text, most, sizeof *n->text, "noise"));
  TRY(alloc_array(&n->where, most, sizeof *n->where, "noise"));
  for (char *rest = n->cut; rest != NULL; rows++) {
    const char *wrong = ini_list(&rest, &item);
    if (wrong == NULL && rows == components) wrong = "too many values";
    if (wrong != NULL) {
      rc = fail(STATUS_USAGE, "%s: %s, at '%.40s'", n->place, wrong, item);
      goto done;
    }
    TRY(cut_row(n, item));
  }
  if (rows != components) {
    rc = fail(STATUS_USAGE, "%s: %d values; expected %d, one per component", n->place, rows,
              components);
  }
done:
  return rc;
}

/* The noise of a C file is diagonal. */
static status make_from_file(ode_job *j, const char *file) {
  const char *where[] = {options_where(j->run->o, "ode.noise")}, *texts[] = {file};
  char call[100];
  snprintf(call, sizeof call, "noise(in[0], in + 1, in + %d, out);", 1 + j->in.components);
  j->e.plan.diagonal = 1;
  j->e.plan.noises = j->in.components;
  return ode_function_make(j, texts, where, j->in.components,
                           "void noise(double t, const double *y, const double *p, double *g)",
                           call, &j->noise);
}

static status make_from_texts(ode_job *j, const char *text) {
  status rc = STATUS_OK;
  noise_texts n = {.count = 0};
  TRY(comm_agree(j->run->c, cut_texts(j, text, &n)));
  j->e.plan.diagonal = !n.tuples;
  j->e.plan.noises = n.tuples ? n.columns : j->in.components;
  TRY(ode_function_make(j, n.text, n.where, n.count, NULL, NULL, &j->noise));
done:
  texts_release(&n);
  return rc;
}

status ode_noise_open(ode_job *j) {
  status rc = STATUS_OK;
  const options *o = j->run->o;
  const char *text = options_text(o, "ode.noise");
  double y[ODE_COMPONENTS_MAX], p[2 * ODE_VALUES_MAX];
  char where[PLACE];
  if (text == NULL) return STATUS_OK;
  if (function_is_file(text)) {
    TRY(make_from_file(j, text));
  } else {
    TRY(make_from_texts(j, text));
  }
  memcpy(p, j->in.common, (size_t)j->in.shared * sizeof *p);
  ode_start_rows(j, 0, 1, y, p + j->in.shared);
  snprintf(where, sizeof where, "%.300s = %s", options_where(o, "ode.method"), j->method->name);
  const ode_noise_request is = {where, j->in.names, y, p};
  TRY(ode_noise_create(j->run->c, ode_is_plain(j) ? NULL : j->run->compiler, j->noise, &is,
                       &j->e.plan, &j->noise_jacobian));
  j->e.f.noise = function_formula(j->noise);
  if (j->noise_jacobian != NULL) j->e.f.noise_jacobian = function_formula(j->noise_jacobian);
done:
  return rc;
}
