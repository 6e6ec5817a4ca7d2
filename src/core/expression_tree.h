/* The inside of an expression: shared by parser, folding, evaluation and printing as C.
 *
 * Nodes lie in one array, children before parents, the root last but for dead nodes. What a node
 * does is one line of the operation table; leaves are constants and variables. After parsing the
 * tree is fused (products inside sums), folded (constant subtrees), and scheduled: `order` lists
 * the live nodes so that at most SLOTS_MAX values are alive at once, and each node knows the slot
 * its value goes to. A node's children have slots of their own during its evaluation. Derivatives
 * are no trees: a node may have several parents, and its slot is its own until the last of them. */
#ifndef EXPRESSION_TREE_H
#define EXPRESSION_TREE_H

#include <stdint.h>

#include "expression.h"

enum {
  TEXT_BYTES_MAX = 65536, /* length of an expression */
  NESTING_MAX = 256,      /* of recursion; parentheses take two each, signs and powers one */
  SLOTS_MAX = 32,         /* 65536 characters need at most 22 (expression_fold.c) */
  CHUNK = 128             /* points evaluated at once: 32 slots of them are 32 KiB */
};

typedef enum operation_code {
  OPERATION_CONSTANT,
  OPERATION_VARIABLE,
  OPERATION_ADD,
  OPERATION_SUBTRACT,
  OPERATION_MULTIPLY,
  OPERATION_DIVIDE,
  OPERATION_NEGATE,
  OPERATION_POWER,
  OPERATION_FMA,          /* fma(a, b, c) */
  OPERATION_FMA_SUBTRACT, /* fma(a, b, -c): a b - c */
  OPERATION_FMA_NEGATE,   /* fma(-a, b, c): c - a b */
  OPERATION_LESS,
  OPERATION_LESS_EQUAL,
  OPERATION_GREATER,
  OPERATION_GREATER_EQUAL,
  OPERATION_EQUAL,
  OPERATION_NOT_EQUAL,
  OPERATION_AND,
  OPERATION_OR,
  OPERATION_NOT,
  OPERATION_SELECT, /* a != 0 ? b : c; both are evaluated */
  OPERATION_MIN,
  OPERATION_MAX,
  OPERATION_ABS,
  OPERATION_FLOOR,
  OPERATION_CEIL,
  OPERATION_SIGN,
  OPERATION_STEP,
  OPERATION_EXP,
  OPERATION_LOG,
  OPERATION_LOG10,
  OPERATION_SQRT,
  OPERATION_CBRT,
  OPERATION_SIN,
  OPERATION_COS,
  OPERATION_TAN,
  OPERATION_ASIN,
  OPERATION_ACOS,
  OPERATION_ATAN,
  OPERATION_ATAN2,
  OPERATION_SINH,
  OPERATION_COSH,
  OPERATION_TANH,
  OPERATION_ERF,
  OPERATION_COUNT
} operation_code;

/* One operation: its name as a function in expressions (NULL: it is an operator or internal), how
 * many operands, and its two forms; operands beyond `operands` repeat the first. `out` may be one
 * of the operands. */
typedef struct operation {
  const char *name;
  int operands;
  double (*value)(double a, double b, double c);
  void (*values)(int64_t n, const double *a, const double *b, const double *c, double *out);
} operation;

extern const operation OPERATIONS[OPERATION_COUNT];

typedef struct node {
  operation_code code;
  int32_t operand[3]; /* node numbers; VARIABLE: operand[0] is its place in the list of names */
  int32_t slot;
  double constant;
} node;

struct expression {
  node *nodes;
  int32_t *order; /* node numbers in order of evaluation, the root last */
  int32_t node_count, order_count, room;
};

/* Text to nodes; on success the root is the last node. */
status expression_build(const char *text, const char *const *names, expression *e);

/* Fuses, folds and schedules what expression_build left. */
status expression_finish(expression *e);

/* One node's part of it: a sum with a product becomes an fma, an operation of constants one. */
void expression_fuse(const expression *e, node *n);
void expression_fold(const expression *e, node *n);

/* For nodes that may be shared, made in a good order of evaluation: keeps what `root` needs, in
 * that order, the root last, and gives slots. STATUS_USAGE where more than SLOTS_MAX are needed. */
status expression_arrange(expression *e, int32_t root);

#endif
