/* From a coupled system's texts to the inputs its formulas need (coupled_systems.h): the places
 * that u[-1] or v[0,1] name, each spelling an input of its own. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coupled_systems.h"
#include "expression.h"

enum { REACH_MOST = 1 << 20 };

static void add_name(coupled_names *names, const char *text) {
  snprintf(names->text[names->count], COUPLED_NAME, "%s", text);
  names->list[names->count] = names->text[names->count];
  names->list[++names->count] = NULL;
}

/* Those of coupled.h's common inputs; "" is what no text can name. */
static void add_common(const coupled_system *s, coupled_names *names, const char *t,
                       const char *other) {
  const char *const common[COUPLED_COMMON] = {[COUPLED_T] = t,
                                              [COUPLED_I] = "i",
                                              [COUPLED_J] = s->dims > 1 ? "j" : "",
                                              [COUPLED_N] = "n",
                                              [COUPLED_M] = s->dims > 1 ? "m" : "",
                                              [COUPLED_OTHER] = other};
  names->count = 0;
  for (int i = 0; i < COUPLED_COMMON; i++) add_name(names, common[i]);
}

static void add_parameters(const coupled_system *s, coupled_names *names, int constants) {
  for (int i = 0; i < coupled_parameters(s); i++) add_name(names, s->parameter[i].name);
  for (int i = 0; constants && i < coupled_equations(s->constant); i++) {
    add_name(names, s->constant[i].name);
  }
}

/* ---- reaches ---- */

typedef struct scan {
  const coupled_system *s;
  const char *where;
  coupled_layout *l;
  coupled_names *names;
} scan;

static int in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The integers in the bracket at `text`; the character behind it, NULL: it cannot be read. */
static const char *read_bracket(const char *text, int dims, long *offset) {
  const char *at = text + 1;
  for (int d = 0; d < dims; d++) {
    char *end;
    offset[d] = strtol(at, &end, 10);
    if (end == at || labs(offset[d]) > REACH_MOST) return NULL;
    while (*end == ' ') end++;
    if (*end != (d + 1 < dims ? ',' : ']')) return NULL;
    at = end + 1;
  }
  return at;
}

/* One more input, unless it is there: its spelling is text[0 .. length). */
static status add_reach(scan *c, const char *text, size_t length, coupled_reach r) {
  char spelling[COUPLED_NAME];
  coupled_layout *l = c->l;
  if (length >= sizeof spelling) {
    return fail(STATUS_USAGE, "%s: %.60s... is too long a name", c->where, text);
  }
  snprintf(spelling, sizeof spelling, "%.*s", (int)length, text);
  for (int k = 0; k < l->reaches; k++) {
    if (strcmp(c->names->text[COUPLED_COMMON + k], spelling) == 0) return STATUS_OK;
  }
  if (l->reaches == COUPLED_REACHES) {
    return fail(STATUS_USAGE, "%s: %s is the %dth value that derivatives name; expected at most %d",
                c->where, spelling, COUPLED_REACHES + 1, COUPLED_REACHES);
  }
  l->reach[l->reaches++] = r;
  add_name(c->names, spelling);
  return STATUS_OK;
}

static status scan_text(scan *c, const char *text) {
  const coupled_system *s = c->s;
  for (const char *at = text; *at != '\0';) {
    if (!in_word(*at)) {
      at++;
      continue;
    }
    const char *end = at;
    coupled_reach r = {-1, 0, 0};
    while (in_word(*end)) end++;
    for (int f = 0; s->derivative[f].name != NULL; f++) {
      const char *name = s->derivative[f].name;
      if (strlen(name) == (size_t)(end - at) && strncmp(name, at, strlen(name)) == 0) r.field = f;
    }
    if (r.field >= 0 && *end == '[') {
      long offset[2] = {0, 0};
      end = read_bracket(end, s->dims, offset);
      if (end == NULL) {
        return fail(STATUS_USAGE, "%s: found %.40s; expected %s, whole numbers of points away",
                    c->where, at, s->dims == 1 ? "NAME[1]" : "NAME[1,0]");
      }
      r.dx = (int32_t)offset[0];
      r.dy = (int32_t)offset[1];
    }
    if (r.field >= 0) {
      status rc = add_reach(c, at, (size_t)(end - at), r);
      if (rc != STATUS_OK) return rc;
    }
    at = end;
  }
  return STATUS_OK;
}

status coupled_find_reaches(const coupled_system *s, const char *const *where, coupled_layout *l,
                            coupled_names *names) {
  status rc = STATUS_OK;
  scan c = {.s = s, .l = l, .names = names};
  add_common(s, names, "t", "");
  l->reaches = 0;
  for (int f = 0; s->derivative[f].name != NULL; f++) {
    c.where = where[f];
    TRY(scan_text(&c, s->derivative[f].text));
  }
  add_parameters(s, names, 1);
  for (int k = 0; s->sum[k].name != NULL; k++) add_name(names, s->sum[k].name);
done:
  return rc;
}

void coupled_names_of_sums(const coupled_system *s, coupled_names *names) {
  char text[COUPLED_NAME];
  add_common(s, names, "t", "k");
  for (int f = 0; s->derivative[f].name != NULL; f++) add_name(names, s->derivative[f].name);
  for (int f = 0; s->derivative[f].name != NULL; f++) {
    snprintf(text, sizeof text, "%.40s[k]", s->derivative[f].name);
    add_name(names, text);
  }
  add_parameters(s, names, 1);
}

void coupled_names_of_initial(const coupled_system *s, coupled_names *names) {
  add_common(s, names, "t", "");
  add_parameters(s, names, 1);
}

status coupled_constants(const coupled_system *s, gidx n, gidx m, const double *given,
                         double *value) {
  status rc = STATUS_OK;
  const int parameters = coupled_parameters(s);
  double input[2 + 2 * COUPLED_PARAMETERS];
  const char *names[3 + 2 * COUPLED_PARAMETERS] = {"n", "m"};
  expression *e = NULL;
  int count = 2;
  input[0] = (double)n;
  input[1] = (double)m;
  for (int k = 0; k < parameters; k++) {
    names[count] = s->parameter[k].name;
    input[count++] = value[k] = given[k];
  }
  for (int k = 0; s->constant[k].name != NULL; k++) {
    TRY(expression_parse(s->constant[k].text, names, &e));
    value[parameters + k] = expression_value(e, input);
    expression_release(&e);
    names[count] = s->constant[k].name;
    input[count++] = value[parameters + k];
  }
done:
  return rc;
}
