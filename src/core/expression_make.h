/* Nodes made one by one, simplified as they are made; nobody but expression_derivative*.c includes
 * this. What is 0 by its structure has no node: it is NOTHING, times which anything is NOTHING. A
 * product with a sum around it becomes one fma, as in parsed expressions. Nodes may be shared.
 * Making cannot fail: the caller has made room. */
#ifndef EXPRESSION_MAKE_H
#define EXPRESSION_MAKE_H

#include "expression_tree.h"

enum { NOTHING = -1 };

/* Room for `more` nodes. */
status make_room(expression *e, int32_t more);

int32_t make_constant(expression *e, double value);

/* Any operation of nodes (none of them NOTHING); folded where they are constants. */
int32_t make_node(expression *e, operation_code code, int32_t a, int32_t b, int32_t c);

/* Whether it is a constant (NOTHING is 0), and then its value. `value` may be NULL. */
int make_is_constant(const expression *e, int32_t a, double *value);

int32_t make_negative(expression *e, int32_t a);
int32_t make_sum(expression *e, int32_t a, int32_t b);
int32_t make_difference(expression *e, int32_t a, int32_t b);
int32_t make_product(expression *e, int32_t a, int32_t b);
int32_t make_quotient(expression *e, int32_t a, int32_t b);

/* condition != 0 ? a : b. */
int32_t make_choice(expression *e, int32_t condition, int32_t a, int32_t b);

#endif
