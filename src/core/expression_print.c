/* Expressions as C text (expression_print.h). A node becomes one line, `const double t7 = ...;`, in
 * the order of evaluation; leaves are written where they are used.
 *
 * For devices and single points: straight-line code with the plain functions.
 *
 * For the host: chunks of points in fused loops that vectorise. Functions with a rare slow path run
 * as their branch-free ordinary form and note whether an argument was rare; such a chunk is done
 * again by the plain code (include/runtime/formula_driver.h). A long expression is cut into parts
 * of PART_COST, a loop each, since compilers need more than linear time for a loop: values that
 * cross from a part to a later one lie in rooms, arrays of a chunk, numbered by the slots of the
 * schedule, so there are at most SLOTS_MAX. */
#include "expression_print.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "elementary.h"
#include "expression_tree.h"

enum { PART_COST = 300, OPERAND_ROOM = 48 };

/* How things are written: for points (host == 0) variable v is in[v], for the host's loops
 * x<place[v]>. */
typedef struct style {
  int host;
  const int32_t *place;
} style;

/* How an operation is written; $a, $b, $c are its operands. Named functions that are not here are
 * elementary_NAME(...). */
static const char *const WRITTEN[OPERATION_COUNT] = {
    [OPERATION_ADD] = "$a + $b",
    [OPERATION_SUBTRACT] = "$a - $b",
    [OPERATION_MULTIPLY] = "$a * $b",
    [OPERATION_DIVIDE] = "$a / $b",
    [OPERATION_NEGATE] = "-$a",
    [OPERATION_POWER] = "elementary_power($a, $b)",
    [OPERATION_FMA] = "fma($a, $b, $c)",
    [OPERATION_FMA_SUBTRACT] = "fma($a, $b, -$c)",
    [OPERATION_FMA_NEGATE] = "fma(-$a, $b, $c)",
    [OPERATION_LESS] = "$a < $b ? 1.0 : 0.0",
    [OPERATION_LESS_EQUAL] = "$a <= $b ? 1.0 : 0.0",
    [OPERATION_GREATER] = "$a > $b ? 1.0 : 0.0",
    [OPERATION_GREATER_EQUAL] = "$a >= $b ? 1.0 : 0.0",
    [OPERATION_EQUAL] = "$a == $b ? 1.0 : 0.0",
    [OPERATION_NOT_EQUAL] = "$a != $b ? 1.0 : 0.0",
    [OPERATION_AND] = "($a != 0.0) & ($b != 0.0) ? 1.0 : 0.0",
    [OPERATION_OR] = "($a != 0.0) | ($b != 0.0) ? 1.0 : 0.0",
    [OPERATION_NOT] = "$a == 0.0 ? 1.0 : 0.0",
    [OPERATION_SELECT] = "$a != 0.0 ? $b : $c",
    [OPERATION_ABS] = "fabs($a)",
    [OPERATION_FLOOR] = "floor($a)",
    [OPERATION_CEIL] = "ceil($a)",
    [OPERATION_SQRT] = "sqrt($a)",
};

/* Operations the host writes in another form: branch-free where `rare` is 0. */
typedef struct host_form {
  operation_code code;
  const char *written, *rare;
} host_form;

static const host_form HOST_FORMS[] = {
    {OPERATION_SIN, "elementary_sin_ordinary($a)", "elementary_angle_is_large($a)"},
    {OPERATION_COS, "elementary_cos_ordinary($a)", "elementary_angle_is_large($a)"},
    {OPERATION_POWER, "formula_power($a, $b)", NULL},
    {OPERATION_SELECT, "formula_select($a, $b, $c)", NULL},
    {OPERATION_MIN, "formula_min($a, $b)", NULL},
    {OPERATION_MAX, "formula_max($a, $b)", NULL},
};

static const host_form *host_form_of(operation_code code) {
  for (size_t i = 0; i < sizeof HOST_FORMS / sizeof *HOST_FORMS; i++) {
    if (HOST_FORMS[i].code == code) return &HOST_FORMS[i];
  }
  return NULL;
}

static int is_leaf(const node *n) {
  return n->code == OPERATION_CONSTANT || n->code == OPERATION_VARIABLE;
}

/* Functions with conditions inside, and choices. Where one is made of another's result, compilers
 * merge their conditions into a form that they then cannot vectorise; a value that has been in
 * memory keeps them apart. */
typedef enum nature { PLAIN = 0, FUNCTION = 1, CHOICE = 2 } nature;

static int is_multiplications(const expression *e, const node *n) {
  const node *exponent = &e->nodes[n->operand[1]];
  return n->code == OPERATION_POWER && exponent->code == OPERATION_CONSTANT &&
         elementary_power_is_small(exponent->constant);
}

static nature nature_of(const expression *e, const node *n) {
  switch (n->code) {
  case OPERATION_CONSTANT:
  case OPERATION_VARIABLE:
  case OPERATION_ADD:
  case OPERATION_SUBTRACT:
  case OPERATION_MULTIPLY:
  case OPERATION_DIVIDE:
  case OPERATION_NEGATE:
  case OPERATION_FMA:
  case OPERATION_FMA_SUBTRACT:
  case OPERATION_FMA_NEGATE:
  case OPERATION_ABS:
  case OPERATION_FLOOR:
  case OPERATION_CEIL:
  case OPERATION_SQRT:
    return PLAIN;
  case OPERATION_LESS:
  case OPERATION_LESS_EQUAL:
  case OPERATION_GREATER:
  case OPERATION_GREATER_EQUAL:
  case OPERATION_EQUAL:
  case OPERATION_NOT_EQUAL:
  case OPERATION_AND:
  case OPERATION_OR:
  case OPERATION_NOT:
  case OPERATION_SELECT:
  case OPERATION_MIN:
  case OPERATION_MAX:
  case OPERATION_SIGN:
  case OPERATION_STEP:
    return CHOICE;
  default:
    return is_multiplications(e, n) ? PLAIN : FUNCTION;
  }
}

static int64_t node_cost(const expression *e, const node *n) {
  if (is_leaf(n)) return 0;
  if (nature_of(e, n) == FUNCTION) return n->code == OPERATION_POWER ? 80 : 40;
  return n->code == OPERATION_POWER ? 6 : 1;
}

int64_t expression_print_cost(const expression *e) {
  int64_t cost = 0;
  for (int32_t i = 0; i < e->order_count; i++) cost += node_cost(e, &e->nodes[e->order[i]]);
  return cost;
}

/* ---- nodes ---- */

static void write_operand(const expression *e, int32_t i, style how, char out[OPERAND_ROOM]) {
  const node *n = &e->nodes[i];
  const double v = n->constant;
  if (n->code == OPERATION_VARIABLE) {
    const int32_t number = n->operand[0];
    if (how.host) {
      snprintf(out, OPERAND_ROOM, "x%d", (int)how.place[number]);
    } else {
      snprintf(out, OPERAND_ROOM, "in[%d]", (int)number);
    }
  } else if (n->code != OPERATION_CONSTANT) {
    snprintf(out, OPERAND_ROOM, "t%d", (int)i);
  } else if (v != v) {
    snprintf(out, OPERAND_ROOM, "(0.0 / 0.0)");
  } else if (v - v != 0.0) {
    snprintf(out, OPERAND_ROOM, v > 0.0 ? "(1.0 / 0.0)" : "(-1.0 / 0.0)");
  } else {
    snprintf(out, OPERAND_ROOM, "(%a)", v); /* the C locale */
  }
}

/* `pattern` with its operands filled in. */
static status write_pattern(const char *pattern, char operand[3][OPERAND_ROOM], text_builder *out) {
  status rc = STATUS_OK;
  char piece[2] = "";
  for (const char *p = pattern; *p != '\0'; p++) {
    if (*p == '$') {
      TRY(text_append(out, operand[*++p - 'a']));
    } else {
      piece[0] = *p;
      TRY(text_append(out, piece));
    }
  }
done:
  return rc;
}

/* How node n is written, its operands filled into `operand`. */
static const char *pattern_of(const expression *e, const node *n, const host_form *form, style how,
                              char operand[3][OPERAND_ROOM], char room[80]) {
  const operation *o = &OPERATIONS[n->code];
  const node *second = &e->nodes[n->operand[1]];
  for (int k = 0; k < o->operands; k++) write_operand(e, n->operand[k], how, operand[k]);
  if (is_multiplications(e, n)) {
    snprintf(operand[1], OPERAND_ROOM, "%d", (int)second->constant);
    return how.host ? "formula_power_small($a, $b)" : "elementary_power_small($a, $b)";
  }
  if (n->code == OPERATION_POWER && second->code == OPERATION_CONSTANT) {
    return "elementary_pow($a, $b)";
  }
  if (form != NULL) return form->written;
  if (WRITTEN[n->code] != NULL) return WRITTEN[n->code];
  snprintf(room, 80, "elementary_%.40s(%s)", o->name, o->operands == 1 ? "$a" : "$a, $b");
  return room;
}

/* "const double t7 = ...;" */
static status write_node(const expression *e, int32_t i, style how, text_builder *out) {
  status rc = STATUS_OK;
  char operand[3][OPERAND_ROOM], room[80];
  const host_form *form = how.host ? host_form_of(e->nodes[i].code) : NULL;
  const char *pattern = pattern_of(e, &e->nodes[i], form, how, operand, room);
  TRY(text_print(out, "    const double t%d = ", (int)i));
  TRY(write_pattern(pattern, operand, out));
  TRY(text_append(out, ";\n"));
  if (form != NULL && form->rare != NULL) {
    TRY(text_append(out, "    rare |= "));
    TRY(write_pattern(form->rare, operand, out));
    TRY(text_append(out, " ? 1 : 0;\n"));
  }
done:
  return rc;
}

status expression_print_value(const expression *const *e, int count, text_builder *out) {
  status rc = STATUS_OK;
  const style how = {0, NULL};
  char root[OPERAND_ROOM];
  TRY(text_append(out, "PORTABLE void formula_value(const double *in, double *out) {\n"));
  TRY(text_append(out, "  (void)in;\n"));
  for (int k = 0; k < count; k++) {
    TRY(text_append(out, "  {\n"));
    for (int32_t i = 0; i < e[k]->order_count; i++) {
      if (is_leaf(&e[k]->nodes[e[k]->order[i]])) continue;
      TRY(write_node(e[k], e[k]->order[i], how, out));
    }
    write_operand(e[k], e[k]->node_count - 1, how, root);
    TRY(text_print(out, "    out[%d] = %s;\n  }\n", k, root));
  }
  TRY(text_append(out, "}\n\n"));
done:
  return rc;
}

/* ---- the host's loops ---- */

/* One expression cut into parts. */
typedef struct cutting {
  const expression *e;
  int output; /* which one it is */
  style how;
  int32_t *part; /* of each node */
  char *crosses; /* of each node: its value is used in a later part */
  int32_t parts;
  char *input; /* of each place: whether the part at work reads it */
  char room[SLOTS_MAX];
  int32_t begin, end; /* of the part at work, in the order */
} cutting;

/* Whether node n must not be in the part that made its operands. `made` says of what natures each
 * value was made within its part. */
static int parts_with(const cutting *c, const node *n, const char *made) {
  int operands = 0;
  for (int k = 0; k < OPERATIONS[n->code].operands; k++) {
    if (c->part[n->operand[k]] == c->parts) operands |= made[n->operand[k]];
  }
  switch (nature_of(c->e, n)) {
  case FUNCTION:
    return operands != 0;
  case CHOICE:
    return (operands & FUNCTION) != 0;
  default:
    return 0;
  }
}

static status cut(cutting *c) {
  status rc = STATUS_OK;
  const expression *e = c->e;
  char *made = NULL;
  int64_t cost = 0;
  TRY(alloc_zeroed(&c->part, e->node_count, sizeof *c->part, "parts of an expression"));
  TRY(alloc_zeroed(&c->crosses, e->node_count, 1, "parts of an expression"));
  TRY(alloc_zeroed(&made, e->node_count, 1, "parts of an expression"));
  for (int32_t i = 0; i < e->order_count; i++) {
    const int32_t at = e->order[i];
    const node *n = &e->nodes[at];
    if ((cost > 0 && cost + node_cost(e, n) > PART_COST) || parts_with(c, n, made)) {
      c->parts++;
      cost = 0;
    }
    cost += node_cost(e, n);
    c->part[at] = c->parts;
    made[at] = (char)nature_of(e, n);
    for (int k = 0; k < OPERATIONS[n->code].operands; k++) {
      const int32_t child = n->operand[k];
      if (is_leaf(&e->nodes[child])) continue;
      if (c->part[child] == c->parts) {
        made[at] = (char)(made[at] | made[child]);
      } else {
        c->crosses[child] = 1;
      }
    }
  }
  c->parts++;
done:
  alloc_free(&made);
  return rc;
}

/* The lines that read rooms: before any that write them, for a room may be used again. */
static status write_reads(cutting *c, text_builder *out) {
  status rc = STATUS_OK;
  for (int32_t i = c->begin; i < c->end; i++) {
    const int32_t at = c->e->order[i];
    const node *n = &c->e->nodes[at];
    for (int k = 0; k < OPERATIONS[n->code].operands; k++) {
      const int32_t child = n->operand[k];
      const node *m = &c->e->nodes[child];
      if (m->code == OPERATION_VARIABLE) c->input[c->how.place[m->operand[0]]] = 1;
      if (is_leaf(m) || c->part[child] == c->part[at]) continue;
      c->room[m->slot] = 1;
      TRY(text_print(out, "    const double t%d = r%d[i];\n", (int)child, (int)m->slot));
    }
  }
done:
  return rc;
}

static status write_body(cutting *c, int32_t p, text_builder *out) {
  status rc = STATUS_OK;
  const int32_t root = c->e->node_count - 1;
  char written[OPERAND_ROOM];
  TRY(write_reads(c, out));
  for (int32_t i = c->begin; i < c->end; i++) {
    const int32_t at = c->e->order[i];
    const node *n = &c->e->nodes[at];
    if (n->code == OPERATION_VARIABLE) c->input[c->how.place[n->operand[0]]] = 1;
    if (is_leaf(n)) continue;
    TRY(write_node(c->e, at, c->how, out));
    if (!c->crosses[at]) continue;
    c->room[n->slot] = 1;
    TRY(text_print(out, "    r%d[i] = t%d;\n", (int)n->slot, (int)at));
  }
  if (p == c->parts - 1) {
    write_operand(c->e, root, c->how, written);
    TRY(text_print(out, "    o[i] = %s;\n", written));
  }
done:
  return rc;
}

/* The parameters of a part's function after `n`, or (`call`) the arguments for them. */
static status write_parameters(const cutting *c, int places, int call, text_builder *out) {
  status rc = STATUS_OK;
  for (int j = 0; j < places; j++) {
    if (!c->input[j]) continue;
    TRY(text_print(out, call ? ", v[%d]" : ", const double *restrict v%d", j));
  }
  for (int r = 0; r < SLOTS_MAX; r++) {
    if (!c->room[r]) continue;
    TRY(text_print(out, call ? ", room[%d]" : ", double *restrict r%d", r));
  }
  if (call) return text_print(out, ", o[%d]", c->output);
  TRY(text_append(out, ", double *restrict o"));
done:
  return rc;
}

static status write_part(cutting *c, int32_t p, int places, text_builder *out,
                         text_builder *calls) {
  status rc = STATUS_OK;
  text_builder body = {0};
  memset(c->input, 0, (size_t)places);
  memset(c->room, 0, sizeof c->room);
  while (c->end < c->e->order_count && c->part[c->e->order[c->end]] == p) c->end++;
  TRY(write_body(c, p, &body));
  TRY(text_print(out, "static FORMULA_LOOP uint64_t part_%d_%d(int64_t n", c->output, (int)p));
  TRY(write_parameters(c, places, 0, out));
  TRY(text_append(out, ") {\n  uint64_t rare = 0;\n  (void)o;\n"));
  TRY(text_append(out, "  for (int64_t i = 0; i < n; i++) {\n"));
  for (int j = 0; j < places; j++) {
    if (c->input[j]) TRY(text_print(out, "    const double x%d = v%d[i];\n", j, j));
  }
  TRY(text_append(out, body.text == NULL ? "" : body.text));
  TRY(text_append(out, "  }\n  return rare;\n}\n\n"));
  TRY(text_print(calls, "  rare |= part_%d_%d(n", c->output, (int)p));
  TRY(write_parameters(c, places, 1, calls));
  TRY(text_append(calls, ");\n"));
  c->begin = c->end;
done:
  text_release(&body);
  return rc;
}

static status write_expression(const expression *e, int output, style how, int places,
                               text_builder *out, text_builder *calls) {
  status rc = STATUS_OK;
  cutting c = {.e = e, .output = output, .how = how};
  TRY(alloc_zeroed(&c.input, places, 1, "inputs of an expression"));
  TRY(cut(&c));
  for (int32_t p = 0; p < c.parts; p++) TRY(write_part(&c, p, places, out, calls));
done:
  alloc_free(&c.input);
  alloc_free(&c.part);
  alloc_free(&c.crosses);
  return rc;
}

/* Inputs that are used get places, in their order. */
static status write_places(const expression *const *e, int count, int inputs, int32_t *place,
                           int *places, text_builder *out) {
  status rc = STATUS_OK;
  *places = 0;
  TRY(text_append(out, "static const int formula_input_at[] = {"));
  for (int v = 0; v < inputs; v++) {
    int used = 0;
    for (int k = 0; k < count && !used; k++) used = expression_uses(e[k], v);
    place[v] = used ? (*places)++ : -1;
    if (used) TRY(text_print(out, "%d, ", v));
  }
  TRY(text_append(out, "-1};\n"));
  TRY(text_print(out,
                 "enum { FORMULA_PLACES = %d, FORMULA_INPUTS = %d, FORMULA_OUTPUTS = %d };\n\n",
                 *places, inputs, count));
done:
  return rc;
}

status expression_print_batch(const expression *const *e, int count, int inputs,
                              text_builder *out) {
  status rc = STATUS_OK;
  text_builder calls = {0};
  int32_t *place = NULL;
  int places;
  TRY(alloc_array(&place, inputs, sizeof *place, "inputs of an expression"));
  TRY(text_append(out, "#include \"formula_host.h\"\n\n"));
  TRY(write_places(e, count, inputs, place, &places, out));
  const style how = {1, place};
  for (int k = 0; k < count; k++) TRY(write_expression(e[k], k, how, places, out, &calls));
  TRY(text_append(out, "static uint64_t formula_chunk(int64_t n, const double *const *v, "
                       "double *const *o) {\n"
                       "  uint64_t rare = 0;\n"));
  TRY(text_print(out, "  double room[%d][FORMULA_CHUNK];\n  (void)room, (void)v;\n", SLOTS_MAX));
  TRY(text_append(out, calls.text));
  TRY(text_append(out, "  return rare;\n}\n\n"
                       "#include \"formula_again.h\"\n"
                       "#include \"formula_driver.h\"\n"));
done:
  text_release(&calls);
  alloc_free(&place);
  return rc;
}
