/* Expressions as C text (expression_print.h): nodes, and the text for devices and single points. A
 * node becomes one line, `const double t7 = ...;`, in the order of evaluation; leaves are written
 * where they are used. The loops of the host are expression_print_host.c's. */
#include "expression_print.h"

#include <stdio.h>

#include "elementary.h"
#include "expression_print_internal.h"

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
    {OPERATION_TAN, "elementary_tan_ordinary($a)", "elementary_angle_is_large($a)"},
    {OPERATION_TAN, "elementary_tan_ordinary($a)", "elementary_angle_is_large($a)"},
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

int print_is_leaf(const node *n) {
  return n->code == OPERATION_CONSTANT || n->code == OPERATION_VARIABLE;
}

static int is_multiplications(const expression *e, const node *n) {
  const node *exponent = &e->nodes[n->operand[1]];
  return n->code == OPERATION_POWER && exponent->code == OPERATION_CONSTANT &&
         elementary_power_is_small(exponent->constant);
}

print_nature print_nature_of(const expression *e, const node *n) {
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
    return PRINT_PLAIN;
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
    return PRINT_CHOICE;
  default:
    return is_multiplications(e, n) ? PRINT_PLAIN : PRINT_FUNCTION;
  }
}

int64_t print_node_cost(const expression *e, const node *n) {
  if (print_is_leaf(n)) return 0;
  if (print_nature_of(e, n) == PRINT_FUNCTION) return n->code == OPERATION_POWER ? 80 : 40;
  return n->code == OPERATION_POWER ? 6 : 1;
}

int64_t expression_print_cost(const expression *e) {
  int64_t cost = 0;
  for (int32_t i = 0; i < e->order_count; i++) cost += print_node_cost(e, &e->nodes[e->order[i]]);
  return cost;
}

/* ---- nodes ---- */

void print_operand(const expression *e, int32_t i, print_style how, char out[OPERAND_ROOM]) {
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
static const char *pattern_of(const expression *e, const node *n, const host_form *form,
                              print_style how, char operand[3][OPERAND_ROOM], char room[80]) {
  const operation *o = &OPERATIONS[n->code];
  const node *second = &e->nodes[n->operand[1]];
  for (int k = 0; k < o->operands; k++) print_operand(e, n->operand[k], how, operand[k]);
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
status print_node(const expression *e, int32_t i, print_style how, text_builder *out) {
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
  const print_style how = {0, NULL};
  char root[OPERAND_ROOM];
  TRY(text_append(out, "PORTABLE void formula_value(const double *in, double *out) {\n"));
  TRY(text_append(out, "  (void)in;\n"));
  for (int k = 0; k < count; k++) {
    TRY(text_append(out, "  {\n"));
    for (int32_t i = 0; i < e[k]->order_count; i++) {
      if (print_is_leaf(&e[k]->nodes[e[k]->order[i]])) continue;
      TRY(print_node(e[k], e[k]->order[i], how, out));
    }
    print_operand(e[k], e[k]->node_count - 1, how, root);
    TRY(text_print(out, "    out[%d] = %s;\n  }\n", k, root));
  }
  TRY(text_append(out, "}\n\n"));
done:
  return rc;
}
