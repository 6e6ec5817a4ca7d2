/* From options to a heat problem (heat_inputs.h). */
#include "heat_inputs.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "expression.h"
#include "field_io.h"

static const char *const FACE_KEYS[HEAT_FACES] = {"heat.boundary_xmin", "heat.boundary_xmax",
                                                  "heat.boundary_ymin", "heat.boundary_ymax",
                                                  "heat.boundary_zmin", "heat.boundary_zmax"};

int heat_dims(const options *o) {
  const int64_t *n;
  const double *length;
  const int counts = options_integers(o, "heat.n", &n);
  const int lengths = options_reals(o, "heat.length", &length);
  if (options_has(o, "heat.dims")) return (int)options_integer(o, "heat.dims");
  const int most = counts > lengths ? counts : lengths;
  return most < 1 ? 1 : most > HEAT_DIMS ? HEAT_DIMS : most;
}

heat_value *heat_inputs_value(heat_inputs *in, int which) {
  switch (which) {
  case HEAT_INITIAL:
    return &in->problem.initial;
  case HEAT_ALPHA:
    return &in->problem.alpha;
  case HEAT_SOURCE:
    return &in->problem.source;
  case HEAT_EXACT:
    return &in->exact;
  default:
    return &in->problem.face[which - HEAT_FACE].value;
  }
}

/* ---- names ---- */

static status name_inputs(const options *o, heat_inputs *in) {
  static const char *const axis[] = {"x", "y", "z"};
  const int dims = in->problem.grid.dims;
  const char *name;
  int plain = 0, timed = 0;
  for (int d = 0; d < dims; d++) in->names[plain++] = in->timed_names[timed++] = axis[d];
  in->timed_names[timed++] = "t";
  for (int i = 0; (name = options_free_key(o, "parameters", i)) != NULL; i++) {
    char key[HEAT_KEY];
    snprintf(key, sizeof key, "parameters.%.60s", name);
    for (int k = 0; k <= dims; k++) {
      if (strcmp(name, in->timed_names[k]) != 0) continue;
      return fail(STATUS_USAGE, "%s: %s is %s", options_where(o, key), name,
                  k == dims ? "the time" : "a coordinate");
    }
    if (timed == HEAT_INPUTS) {
      return fail(STATUS_USAGE, "%s: more than %d parameters", options_where(o, key),
                  HEAT_INPUTS - dims - 1);
    }
    snprintf(in->name[i], HEAT_NAME, "%.60s", name);
    in->parameter[in->parameters++] = options_real(o, key);
    in->names[plain++] = in->timed_names[timed++] = in->name[i];
  }
  return STATUS_OK;
}

/* ---- functions ---- */

static status remember(heat_text *t, const char *key, const char *text, size_t length, int timed) {
  status rc = alloc_zeroed(&t->text, (int64_t)length + 1, 1, "expression");
  if (rc != STATUS_OK) return rc;
  memcpy(t->text, text, length);
  snprintf(t->key, sizeof t->key, "%s", key);
  t->timed = timed;
  return rc;
}

static status parse(const options *o, const heat_text *t, const char *const *names,
                    expression **e) {
  char why[1024];
  status rc = expression_parse(t->text, names, e);
  if (rc == STATUS_OK) return rc;
  snprintf(why, sizeof why, "%.1000s", fail_text());
  fail_clear();
  return fail(rc, "%s: %s", options_where(o, t->key), why);
}

/* Data files named in an INI are relative to its folder. */
static status absolute_name(const options *o, heat_text *t) {
  const char *ini = options_file(o), *slash = ini == NULL ? NULL : strrchr(ini, '/');
  char *name = NULL;
  if (slash == NULL || t->text[0] == '/' || strncmp(options_where(o, t->key), "--", 2) == 0) {
    return STATUS_OK;
  }
  const size_t folder = (size_t)(slash - ini) + 1, room = folder + strlen(t->text) + 1;
  status rc = alloc_array(&name, (int64_t)room, 1, "file name");
  if (rc != STATUS_OK) return rc;
  snprintf(name, room, "%.*s%s", (int)folder, ini, t->text);
  alloc_free(&t->text);
  t->text = name;
  return rc;
}

/* What a function depends on; a number where it depends on nothing but parameters. */
static status judge(const options *o, heat_inputs *in, int which) {
  const heat_text *t = &in->of[which];
  heat_value *v = heat_inputs_value(in, which);
  const int dims = in->problem.grid.dims;
  double place[HEAT_INPUTS] = {0.0};
  expression *e = NULL;
  *v = (heat_value){.dims = dims, .timed = t->timed, .parameters = in->parameter};
  if (t->text == NULL) return STATUS_OK;
  if (field_is_file(t->text)) {
    v->in_space = 1;
    if (which == HEAT_INITIAL || which == HEAT_ALPHA) return absolute_name(o, &in->of[which]);
    return fail(STATUS_USAGE, "%s = %s: a data file; expected an expression",
                options_where(o, t->key), t->text);
  }
  if (function_is_file(t->text)) {
    v->in_space = 1;
    v->in_time = t->timed;
    return STATUS_OK;
  }
  status rc = parse(o, t, t->timed ? in->timed_names : in->names, &e);
  if (rc != STATUS_OK) return rc;
  for (int d = 0; d < dims; d++) v->in_space |= expression_uses(e, d);
  v->in_time = t->timed && expression_uses(e, dims);
  memcpy(place + dims + t->timed, in->parameter, (size_t)in->parameters * sizeof *place);
  if (!v->in_space && !v->in_time) v->number = expression_value(e, place);
  expression_release(&e);
  return rc;
}

static status take_functions(const options *o, heat_inputs *in) {
  static const struct {
    const char *key;
    int which, timed;
  } all[] = {{"heat.initial", HEAT_INITIAL, 0},
             {"heat.alpha", HEAT_ALPHA, 0},
             {"heat.source", HEAT_SOURCE, 1},
             {"heat.exact", HEAT_EXACT, 1}};
  status rc = STATUS_OK;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const char *text = options_text(o, all[i].key);
    if (text == NULL) continue;
    TRY(remember(&in->of[all[i].which], all[i].key, text, strlen(text), all[i].timed));
  }
done:
  return rc;
}

/* ---- faces ---- */

static const char EXPECTED[] = "expected dirichlet(EXPR), dirichlet, dirichlet(initial), "
                               "neumann(EXPR), robin(h, EXPR) or periodic";

/* "word(inside)": the inside, or NULL. */
static const char *inside_of(const char *text, const char *word, size_t *length) {
  const size_t head = strlen(word), all = strlen(text);
  if (strncmp(text, word, head) != 0) return NULL;
  const char *open = text + head;
  while (*open == ' ') open++;
  if (*open != '(' || text[all - 1] != ')') return NULL;
  open++;
  *length = (size_t)(text + all - 1 - open);
  return open;
}

/* The first comma outside parentheses. */
static const char *top_comma(const char *text, size_t length) {
  int depth = 0;
  for (size_t i = 0; i < length; i++) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (text[i] == ',' && depth == 0) return text + i;
  }
  return NULL;
}

static status take_robin(const options *o, heat_inputs *in, int f, const char *key,
                         const char *inside, size_t length) {
  status rc = STATUS_OK;
  heat_text h = {.text = NULL};
  heat_boundary *b = &in->problem.face[f];
  double place[HEAT_INPUTS] = {0.0};
  expression *e = NULL;
  const char *comma = top_comma(inside, length);
  if (comma == NULL) {
    return fail(STATUS_USAGE, "%s = %s: expected robin(h, EXPR), with the ambient value",
                options_where(o, key), options_text(o, key));
  }
  TRY(remember(&h, key, inside, (size_t)(comma - inside), 0));
  TRY(parse(o, &h, in->names, &e));
  for (int d = 0; d < in->problem.grid.dims; d++) {
    if (!expression_uses(e, d)) continue;
    rc = fail(STATUS_USAGE, "%s: h = %s; expected a number, the same on all of the face",
              options_where(o, key), h.text);
    goto done;
  }
  memcpy(place + in->problem.grid.dims, in->parameter, (size_t)in->parameters * sizeof *place);
  b->h = expression_value(e, place);
  if (!(b->h >= 0.0) || isinf(b->h)) {
    rc = fail(STATUS_USAGE, "%s: h = %g; expected a number of at least 0", options_where(o, key),
              b->h);
    goto done;
  }
  length -= (size_t)(comma + 1 - inside);
  rc = remember(&in->of[HEAT_FACE + f], key, comma + 1, length, 1);
done:
  alloc_free(&h.text);
  expression_release(&e);
  return rc;
}

static int is_initial(const char *inside, size_t length) {
  while (length > 0 && isspace((unsigned char)*inside)) inside++, length--;
  while (length > 0 && isspace((unsigned char)inside[length - 1])) length--;
  return length == 7 && strncmp(inside, "initial", 7) == 0;
}

static status take_face(const options *o, heat_inputs *in, int f) {
  heat_boundary *b = &in->problem.face[f];
  heat_text *t = &in->of[HEAT_FACE + f];
  const char *key = options_has(o, FACE_KEYS[f]) ? FACE_KEYS[f] : "heat.boundary", *inside;
  const char *text = options_text(o, key);
  size_t length;
  if (strcmp(text, "periodic") == 0) {
    b->kind = BOUNDARY_PERIODIC;
    return remember(t, key, "0", 1, 1);
  }
  if (strcmp(text, "dirichlet") == 0) {
    b->kind = BOUNDARY_DIRICHLET;
    return remember(t, key, "0", 1, 1);
  }
  if ((inside = inside_of(text, "dirichlet", &length)) != NULL) {
    b->kind = is_initial(inside, length) ? BOUNDARY_INITIAL : BOUNDARY_DIRICHLET;
    return b->kind == BOUNDARY_INITIAL ? remember(t, key, "0", 1, 1)
                                       : remember(t, key, inside, length, 1);
  }
  if ((inside = inside_of(text, "neumann", &length)) != NULL) {
    b->kind = BOUNDARY_NEUMANN;
    return remember(t, key, inside, length, 1);
  }
  if ((inside = inside_of(text, "robin", &length)) != NULL) {
    b->kind = BOUNDARY_ROBIN;
    return take_robin(o, in, f, key, inside, length);
  }
  return fail(STATUS_USAGE, "%s = %s: %s", options_where(o, key), text, EXPECTED);
}

static status take_faces(const options *o, heat_inputs *in) {
  status rc = STATUS_OK;
  heat_grid *g = &in->problem.grid;
  for (int f = 0; f < HEAT_FACES; f++) {
    if (f < 2 * g->dims) {
      TRY(take_face(o, in, f));
      const boundary_kind kind = in->problem.face[f].kind;
      g->face[f] = kind == BOUNDARY_PERIODIC                                ? HEAT_PERIODIC
                   : kind == BOUNDARY_DIRICHLET || kind == BOUNDARY_INITIAL ? HEAT_HELD
                                                                            : HEAT_FLUX;
    } else if (options_given(o, FACE_KEYS[f])) {
      rc = fail(STATUS_USAGE, "%s: the grid has %d direction%s", options_where(o, FACE_KEYS[f]),
                g->dims, g->dims == 1 ? "" : "s");
      goto done;
    }
  }
  for (int d = 0; d < g->dims; d++) {
    if ((g->face[2 * d] == HEAT_PERIODIC) == (g->face[2 * d + 1] == HEAT_PERIODIC)) continue;
    const int f = g->face[2 * d] == HEAT_PERIODIC ? 2 * d : 2 * d + 1;
    rc = fail(STATUS_USAGE, "%s = periodic, and the face across is not: expected both",
              options_where(o, in->of[HEAT_FACE + f].key));
    goto done;
  }
done:
  return rc;
}

/* ---- the grid ---- */

static status take_grid(const options *o, heat_grid *g) {
  const int64_t *n;
  const double *length, *origin;
  const int counts = options_integers(o, "heat.n", &n);
  const int lengths = options_reals(o, "heat.length", &length);
  const int origins = options_reals(o, "heat.origin", &origin);
  double points = 1.0;
  g->dims = heat_dims(o);
  for (int d = 0; d < HEAT_DIMS; d++) {
    g->n[d] = d >= g->dims ? 1 : n[counts == 1 ? 0 : d];
    g->origin[d] = d >= g->dims ? 0.0 : origin[origins == 1 ? 0 : d];
    g->spacing[d] = d >= g->dims ? 1.0 : length[lengths == 1 ? 0 : d];
    points *= (double)g->n[d];
  }
  if (points > OPTION_COUNT_MAX) {
    return fail(STATUS_USAGE, "%s: %.3g grid points are too many", options_where(o, "heat.n"),
                points);
  }
  return STATUS_OK;
}

/* Spacings whose squares, and what they divide, are numbers. */
static const double LEAST_SPACING = 1e-150, LARGEST_SPACING = 1e150;

/* From lengths to distances of points, once the faces are known: such that squares of them are
 * numbers, and points differ in their coordinates. */
static status take_spacing(const options *o, heat_grid *g) {
  for (int d = 0; d < g->dims; d++) {
    const int64_t n = g->n[d], cells = g->face[2 * d] == HEAT_PERIODIC ? n : n - 1;
    if (cells > 0) g->spacing[d] /= (double)cells;
    if (!(g->spacing[d] >= LEAST_SPACING && g->spacing[d] <= LARGEST_SPACING)) {
      return fail(STATUS_USAGE, "%s: points %g apart in %c; expected %g to %g",
                  options_where(o, "heat.length"), g->spacing[d], "xyz"[d], LEAST_SPACING,
                  LARGEST_SPACING);
    }
    if (n > 1 &&
        (heat_at(g, d, 1) == heat_at(g, d, 0) || heat_at(g, d, n - 1) == heat_at(g, d, n - 2))) {
      return fail(STATUS_USAGE, "%s = %.17g: points %g apart in %c have the same coordinate there",
                  options_where(o, "heat.origin"), g->origin[d], g->spacing[d], "xyz"[d]);
    }
  }
  return STATUS_OK;
}

status heat_inputs_create(const options *o, heat_inputs *in) {
  status rc = STATUS_OK;
  memset(in, 0, sizeof *in);
  TRY(take_grid(o, &in->problem.grid));
  TRY(name_inputs(o, in));
  TRY(take_functions(o, in));
  TRY(take_faces(o, in));
  TRY(take_spacing(o, &in->problem.grid));
  for (int i = 0; i < HEAT_FUNCTIONS; i++) TRY(judge(o, in, i));
  const heat_value *alpha = &in->problem.alpha;
  if (!alpha->in_space && !(alpha->number > 0.0 && isfinite(alpha->number))) {
    rc = fail(STATUS_USAGE, "%s = %s: %g; expected a positive number",
              options_where(o, "heat.alpha"), in->of[HEAT_ALPHA].text, alpha->number);
  }
done:
  return rc;
}

void heat_inputs_release(heat_inputs *in) {
  for (int i = 0; i < HEAT_FUNCTIONS; i++) {
    function_release(&in->of[i].made);
    alloc_free(&in->of[i].text);
  }
}
