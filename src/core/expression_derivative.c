/* Derivatives of expressions (expression.h), by the chain rule from the leaves up: a copy of the
 * nodes in their order of evaluation, each followed by what its derivative needs (Griewank and
 * Walther, Evaluating Derivatives (2008), forward mode). A rule may use its node's value and the
 * values and derivatives of its operands, all of which are alive at that place, so sharing them
 * takes at most about twice the slots of the expression itself. What is 0 by structure has no node
 * (expression_make.h). O(operations) time and size.
 *
 * Where f'(a) a' is an infinity times 0 although a true derivative may exist (sqrt(x^4) at 0), or
 * because a denominator overflowed (1/(1 + exp(x))), the product is guarded by a choice: 0. Where a
 * function has a kink the derivative is that of the operand or branch whose value is taken. */
#include <stddef.h>

#include "alloc.h"
#include "expression_make.h"

enum { RULE_NODES_MAX = 64 }; /* a rule makes at most 20 or so */

/* A node of the copy, its operands, and their derivatives. */
typedef struct place {
  expression *e;
  operation_code code;
  int32_t self, x[3], d[3];
} place;

typedef int32_t (*rule)(const place *p);

/* a where the condition is not 0, else 0: NaN is not 0. */
static int32_t guarded(expression *e, int32_t condition, int32_t a) {
  if (make_is_constant(e, a, NULL) || make_is_constant(e, condition, NULL)) return a;
  if (e->nodes[a].code == OPERATION_NEGATE) {
    return make_negative(e, make_choice(e, condition, e->nodes[a].operand[0], NOTHING));
  }
  return make_choice(e, condition, a, NOTHING);
}

/* ---- arithmetic ---- */

static int32_t none(const place *p) {
  (void)p;
  return NOTHING;
}

static int32_t of_sum(const place *p) { return make_sum(p->e, p->d[0], p->d[1]); }

static int32_t of_difference(const place *p) { return make_difference(p->e, p->d[0], p->d[1]); }

static int32_t of_negative(const place *p) { return make_negative(p->e, p->d[0]); }

/* The two terms of (x0 x1)'. */
static int32_t left_term(const place *p) { return make_product(p->e, p->d[0], p->x[1]); }
static int32_t right_term(const place *p) { return make_product(p->e, p->x[0], p->d[1]); }

static int32_t of_product(const place *p) { return make_sum(p->e, left_term(p), right_term(p)); }

static int32_t of_fma(const place *p) {
  return make_sum(p->e, left_term(p), make_sum(p->e, right_term(p), p->d[2]));
}

static int32_t of_fma_subtract(const place *p) {
  return make_sum(p->e, left_term(p), make_difference(p->e, right_term(p), p->d[2]));
}

static int32_t of_fma_negate(const place *p) {
  return make_difference(p->e, make_difference(p->e, p->d[2], right_term(p)), left_term(p));
}

/* q = x0 / x1: (x0' - q x1') / x1. q is 0 where x1 overflowed, and there x1' has, too. */
static int32_t of_quotient(const place *p) {
  int32_t second = NOTHING;
  if (p->d[1] != NOTHING) {
    second = make_product(p->e, p->self, p->d[1]);
    if (!make_is_constant(p->e, p->d[1], NULL)) second = guarded(p->e, p->self, second);
  }
  return make_quotient(p->e, make_difference(p->e, p->d[0], second), p->x[1]);
}

/* ---- choices ---- */

static int32_t of_select(const place *p) { return make_choice(p->e, p->x[0], p->d[1], p->d[2]); }

static int32_t of_extreme(const place *p) {
  if (p->d[0] == NOTHING && p->d[1] == NOTHING) return NOTHING;
  const operation_code first = p->code == OPERATION_MIN ? OPERATION_LESS : OPERATION_GREATER;
  return make_choice(p->e, make_node(p->e, first, p->x[0], p->x[1], 0), p->d[0], p->d[1]);
}

static int32_t of_abs(const place *p) {
  if (p->d[0] == NOTHING) return NOTHING;
  return make_product(p->e, make_node(p->e, OPERATION_SIGN, p->x[0], 0, 0), p->d[0]);
}

/* ---- functions of one: factor times, or over a divisor ---- */

static int32_t one_more(const place *p, operation_code code, int32_t a) {
  return make_node(p->e, code, a, a, make_constant(p->e, 1.0));
}

static int32_t of_multiplied(const place *p) {
  expression *e = p->e;
  int32_t factor = p->self;
  if (p->d[0] == NOTHING) return NOTHING;
  switch (p->code) {
  case OPERATION_SIN:
    factor = make_node(e, OPERATION_COS, p->x[0], 0, 0);
    break;
  case OPERATION_COS:
    factor = make_negative(e, make_node(e, OPERATION_SIN, p->x[0], 0, 0));
    break;
  case OPERATION_TAN:
    factor = one_more(p, OPERATION_FMA, p->self);
    break;
  case OPERATION_SINH:
    factor = make_node(e, OPERATION_COSH, p->x[0], 0, 0);
    break;
  case OPERATION_COSH:
    factor = make_node(e, OPERATION_SINH, p->x[0], 0, 0);
    break;
  case OPERATION_TANH:
    factor = one_more(p, OPERATION_FMA_NEGATE, p->self);
    break;
  case OPERATION_ERF: /* 2 / sqrt(pi) exp(-x^2) */
    factor = make_node(e, OPERATION_MULTIPLY, p->x[0], p->x[0], 0);
    factor = make_node(e, OPERATION_NEGATE, factor, 0, 0);
    factor = make_node(e, OPERATION_EXP, factor, 0, 0);
    factor = make_product(e, make_constant(e, 0x1.20dd750429b6dp+0), factor);
    break;
  default: /* exp is its own */
    break;
  }
  return make_product(e, factor, p->d[0]);
}

static int32_t of_divided(const place *p) {
  expression *e = p->e;
  int32_t divisor = p->x[0];
  double front = 1.0;
  int steep = 0; /* infinite where the function is finite */
  if (p->d[0] == NOTHING) return NOTHING;
  switch (p->code) {
  case OPERATION_LOG10: /* 1 / ln 10 */
    front = 0x1.bcb7b1526e50ep-2;
    break;
  case OPERATION_SQRT:
    divisor = p->self, front = 0.5, steep = 1;
    break;
  case OPERATION_CBRT:
    divisor = make_node(e, OPERATION_MULTIPLY, p->self, p->self, 0);
    front = 1.0 / 3.0, steep = 1;
    break;
  case OPERATION_ASIN:
  case OPERATION_ACOS:
    divisor = make_node(e, OPERATION_SQRT, one_more(p, OPERATION_FMA_NEGATE, p->x[0]), 0, 0);
    front = p->code == OPERATION_ASIN ? 1.0 : -1.0, steep = 1;
    break;
  case OPERATION_ATAN:
    divisor = one_more(p, OPERATION_FMA, p->x[0]);
    break;
  default: /* log */
    break;
  }
  const int32_t above = make_product(e, make_constant(e, front), p->d[0]);
  const int32_t whole = make_quotient(e, above, divisor);
  return steep ? guarded(e, p->d[0], whole) : whole;
}

/* ---- functions of two ---- */

/* x0^x1: x1 x0^(x1 - 1) x0' + x0^x1 log(x0) x1'. */
static int32_t of_power(const place *p) {
  expression *e = p->e;
  double exponent = 0.5, base = -1.0;
  int32_t first = make_product(e, p->x[1], p->d[0]), second = NOTHING;
  if (first != NOTHING && !(make_is_constant(e, p->x[1], &exponent) && exponent == 1.0)) {
    const int32_t less = make_difference(e, p->x[1], make_constant(e, 1.0));
    const int32_t power =
        exponent == 2.0 ? p->x[0] : make_node(e, OPERATION_POWER, p->x[0], less, 0);
    const int32_t whole = make_product(e, first, power);
    first = exponent > 0.0 && exponent < 1.0 ? guarded(e, first, whole) : whole;
  }
  if (p->d[1] != NOTHING) {
    make_is_constant(e, p->x[0], &base);
    second = make_product(e, p->self, make_node(e, OPERATION_LOG, p->x[0], 0, 0));
    second = make_product(e, second, p->d[1]);
    if (!(base > 0.0)) second = guarded(e, p->self, second);
  }
  return make_sum(e, first, second);
}

/* The angle of (x1, x0): (x1 x0' - x0 x1') / (x0^2 + x1^2), scaled by the larger. */
static int32_t of_atan2(const place *p) {
  expression *e = p->e;
  if (p->d[0] == NOTHING && p->d[1] == NOTHING) return NOTHING;
  const int32_t y_size = make_node(e, OPERATION_ABS, p->x[0], 0, 0);
  const int32_t x_size = make_node(e, OPERATION_ABS, p->x[1], 0, 0);
  const int32_t r = make_node(e, OPERATION_MAX, y_size, x_size, 0);
  const int32_t y = make_node(e, OPERATION_DIVIDE, p->x[0], r, 0);
  const int32_t x = make_node(e, OPERATION_DIVIDE, p->x[1], r, 0);
  const int32_t square = make_node(e, OPERATION_MULTIPLY, x, x, 0);
  const int32_t below =
      make_node(e, OPERATION_MULTIPLY, r, make_node(e, OPERATION_FMA, y, y, square), 0);
  const int32_t above =
      make_difference(e, make_product(e, x, p->d[0]), make_product(e, y, p->d[1]));
  return make_quotient(e, above, below);
}

static const rule RULES[OPERATION_COUNT] = {
    [OPERATION_ADD] = of_sum,
    [OPERATION_SUBTRACT] = of_difference,
    [OPERATION_MULTIPLY] = of_product,
    [OPERATION_DIVIDE] = of_quotient,
    [OPERATION_NEGATE] = of_negative,
    [OPERATION_POWER] = of_power,
    [OPERATION_FMA] = of_fma,
    [OPERATION_FMA_SUBTRACT] = of_fma_subtract,
    [OPERATION_FMA_NEGATE] = of_fma_negate,
    [OPERATION_LESS] = none,
    [OPERATION_LESS_EQUAL] = none,
    [OPERATION_GREATER] = none,
    [OPERATION_GREATER_EQUAL] = none,
    [OPERATION_EQUAL] = none,
    [OPERATION_NOT_EQUAL] = none,
    [OPERATION_AND] = none,
    [OPERATION_OR] = none,
    [OPERATION_NOT] = none,
    [OPERATION_SELECT] = of_select,
    [OPERATION_MIN] = of_extreme,
    [OPERATION_MAX] = of_extreme,
    [OPERATION_ABS] = of_abs,
    [OPERATION_FLOOR] = none,
    [OPERATION_CEIL] = none,
    [OPERATION_SIGN] = none,
    [OPERATION_STEP] = none,
    [OPERATION_EXP] = of_multiplied,
    [OPERATION_LOG] = of_divided,
    [OPERATION_LOG10] = of_divided,
    [OPERATION_SQRT] = of_divided,
    [OPERATION_CBRT] = of_divided,
    [OPERATION_SIN] = of_multiplied,
    [OPERATION_COS] = of_multiplied,
    [OPERATION_TAN] = of_multiplied,
    [OPERATION_ASIN] = of_divided,
    [OPERATION_ACOS] = of_divided,
    [OPERATION_ATAN] = of_divided,
    [OPERATION_ATAN2] = of_atan2,
    [OPERATION_SINH] = of_multiplied,
    [OPERATION_COSH] = of_multiplied,
    [OPERATION_TANH] = of_multiplied,
    [OPERATION_ERF] = of_multiplied,
};

/* Copies node n to the end of *to and makes its derivative after it. copy[] and derivative[] say
 * where those of earlier nodes are. */
static status derive(expression *to, const node *n, int v, const int32_t *copy,
                     const int32_t *derivative, int32_t *mine, int32_t *out) {
  place p = {.e = to, .code = n->code, .self = to->node_count};
  const int operands = OPERATIONS[n->code].operands;
  to->nodes[to->node_count++] = *n;
  *mine = p.self;
  *out = NOTHING;
  if (n->code == OPERATION_CONSTANT) return STATUS_OK;
  if (n->code == OPERATION_VARIABLE) {
    if (n->operand[0] == v) *out = make_constant(to, 1.0);
    return STATUS_OK;
  }
  for (int k = 0; k < operands; k++) {
    p.x[k] = to->nodes[p.self].operand[k] = copy[n->operand[k]];
    p.d[k] = derivative[n->operand[k]];
  }
  if (RULES[n->code] == NULL) return fail(STATUS_BUG, "operation %d has no derivative", n->code);
  *out = RULES[n->code](&p);
  return STATUS_OK;
}

status expression_derivative(const expression *e, int v, expression **out) {
  status rc = STATUS_OK;
  expression *d = NULL;
  int32_t *copy = NULL, *derivative = NULL;
  const int32_t count = expression_uses(e, v) ? e->order_count : 0;
  *out = NULL;
  TRY(alloc_zeroed(&d, 1, sizeof *d, "derivative"));
  TRY(alloc_array(&copy, e->node_count, sizeof *copy, "derivative"));
  TRY(alloc_array(&derivative, e->node_count, sizeof *derivative, "derivative"));
  for (int32_t i = 0; i < count; i++) {
    const int32_t at = e->order[i];
    TRY(make_room(d, RULE_NODES_MAX));
    TRY(derive(d, &e->nodes[at], v, copy, derivative, &copy[at], &derivative[at]));
  }
  int32_t root = count == 0 ? NOTHING : derivative[e->node_count - 1];
  TRY(make_room(d, 1));
  if (root == NOTHING) root = make_constant(d, 0.0);
  TRY(expression_arrange(d, root));
  *out = d;
  d = NULL;
done:
  expression_release(&d);
  alloc_free(&copy);
  alloc_free(&derivative);
  return rc;
}
