/* Nodes that are simplified as they are made (expression_make.h). Every simplification is exact but
 * one: constants before a product are multiplied with each other first, 3 * (2 * x) is 6 * x, as
 * one would write it by hand. */
#include "expression_make.h"

#include <math.h>
#include <string.h>

#include "alloc.h"

status make_room(expression *e, int32_t more) {
  if (e->room - e->node_count >= more) return STATUS_OK;
  const int32_t room = 2 * e->room + more;
  status rc = alloc_grow(&e->nodes, e->room, room, sizeof *e->nodes, "expression");
  if (rc == STATUS_OK) e->room = room;
  return rc;
}

static int32_t append(expression *e, operation_code code, int32_t a, int32_t b, int32_t c) {
  node *n = &e->nodes[e->node_count];
  memset(n, 0, sizeof *n);
  n->code = code;
  n->operand[0] = a;
  n->operand[1] = b;
  n->operand[2] = c;
  return e->node_count++;
}

int32_t make_constant(expression *e, double value) {
  const int32_t at = append(e, OPERATION_CONSTANT, 0, 0, 0);
  e->nodes[at].constant = value;
  return at;
}

int32_t make_node(expression *e, operation_code code, int32_t a, int32_t b, int32_t c) {
  const int32_t at = append(e, code, a, b, c);
  expression_fold(e, &e->nodes[at]);
  return at;
}

static int is(const expression *e, int32_t a, operation_code code) {
  return a != NOTHING && e->nodes[a].code == code;
}

int make_is_constant(const expression *e, int32_t a, double *value) {
  if (a != NOTHING && !is(e, a, OPERATION_CONSTANT)) return 0;
  if (value != NULL) *value = a == NOTHING ? 0.0 : e->nodes[a].constant;
  return 1;
}

static int is_number(const expression *e, int32_t a, double number) {
  double value;
  return make_is_constant(e, a, &value) && value == number;
}

static int both_constant(const expression *e, int32_t a, int32_t b) {
  return is(e, a, OPERATION_CONSTANT) && is(e, b, OPERATION_CONSTANT);
}

/* `by` times node a where a is a constant times something or over something, and the two constants'
 * product is an ordinary number; else NOTHING. */
static int32_t scaled(expression *e, double by, int32_t a) {
  double value;
  const operation_code code = e->nodes[a].code;
  int32_t first = e->nodes[a].operand[0], second = e->nodes[a].operand[1];
  if (code != OPERATION_MULTIPLY && code != OPERATION_DIVIDE) return NOTHING;
  if (code == OPERATION_MULTIPLY && is(e, second, OPERATION_CONSTANT)) {
    const int32_t swap = first;
    first = second;
    second = swap;
  }
  if (!make_is_constant(e, first, &value)) return NOTHING;
  value = by * value;
  if (!(fabs(value) > 1e-290 && fabs(value) < 1e290)) return NOTHING;
  const int32_t front = make_constant(e, value);
  return code == OPERATION_MULTIPLY ? make_product(e, front, second)
                                    : make_node(e, OPERATION_DIVIDE, front, second, 0);
}

int32_t make_negative(expression *e, int32_t a) {
  if (a == NOTHING) return NOTHING;
  if (is(e, a, OPERATION_NEGATE)) return e->nodes[a].operand[0];
  const int32_t other = scaled(e, -1.0, a);
  return other != NOTHING ? other : make_node(e, OPERATION_NEGATE, a, 0, 0);
}

int32_t make_sum(expression *e, int32_t a, int32_t b) {
  if (is_number(e, a, 0.0)) return b;
  if (is_number(e, b, 0.0)) return a;
  if (both_constant(e, a, b)) return make_node(e, OPERATION_ADD, a, b, 0);
  if (is(e, b, OPERATION_NEGATE)) return make_difference(e, a, e->nodes[b].operand[0]);
  if (is(e, a, OPERATION_NEGATE)) return make_difference(e, b, e->nodes[a].operand[0]);
  const int32_t at = make_node(e, OPERATION_ADD, a, b, 0);
  expression_fuse(e, &e->nodes[at]);
  return at;
}

int32_t make_difference(expression *e, int32_t a, int32_t b) {
  if (is_number(e, a, 0.0)) return make_negative(e, b);
  if (is_number(e, b, 0.0)) return a;
  if (both_constant(e, a, b)) return make_node(e, OPERATION_SUBTRACT, a, b, 0);
  if (is(e, b, OPERATION_NEGATE)) return make_sum(e, a, e->nodes[b].operand[0]);
  const int32_t at = make_node(e, OPERATION_SUBTRACT, a, b, 0);
  expression_fuse(e, &e->nodes[at]);
  return at;
}

int32_t make_product(expression *e, int32_t a, int32_t b) {
  double value;
  if (is_number(e, a, 0.0) || is_number(e, b, 0.0)) return NOTHING;
  if (make_is_constant(e, b, NULL)) {
    const int32_t swap = a;
    a = b;
    b = swap;
  }
  if (make_is_constant(e, a, &value)) {
    if (value == 1.0) return b;
    if (value == -1.0) return make_negative(e, b);
    if (is(e, b, OPERATION_NEGATE)) {
      return make_product(e, make_constant(e, -value), e->nodes[b].operand[0]);
    }
    const int32_t other = scaled(e, value, b);
    if (other != NOTHING) return other;
  } else if (is(e, a, OPERATION_NEGATE)) {
    return make_negative(e, make_product(e, e->nodes[a].operand[0], b));
  } else if (is(e, b, OPERATION_NEGATE)) {
    return make_negative(e, make_product(e, a, e->nodes[b].operand[0]));
  }
  return make_node(e, OPERATION_MULTIPLY, a, b, 0);
}

int32_t make_quotient(expression *e, int32_t a, int32_t b) {
  if (is_number(e, a, 0.0)) return NOTHING;
  if (is_number(e, b, 1.0)) return a;
  if (is(e, a, OPERATION_NEGATE)) {
    return make_negative(e, make_quotient(e, e->nodes[a].operand[0], b));
  }
  return make_node(e, OPERATION_DIVIDE, a, b, 0);
}

int32_t make_choice(expression *e, int32_t condition, int32_t a, int32_t b) {
  double left, right;
  if (make_is_constant(e, condition, &left)) return left != 0.0 ? a : b;
  if (make_is_constant(e, a, &left) && make_is_constant(e, b, &right) && left == right) return a;
  if (a == NOTHING) a = make_constant(e, 0.0);
  if (b == NOTHING) b = make_constant(e, 0.0);
  return make_node(e, OPERATION_SELECT, condition, a, b);
}
