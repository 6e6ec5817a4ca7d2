/* What expression_print*.c share; nobody else includes this. */
#ifndef EXPRESSION_PRINT_INTERNAL_H
#define EXPRESSION_PRINT_INTERNAL_H

#include "expression_tree.h"
#include "text.h"

enum { OPERAND_ROOM = 48 };

/* How things are written: for points (host == 0) variable v is in[v], for the host's loops
 * x<place[v]>. */
typedef struct print_style {
  int host;
  const int32_t *place;
} print_style;

/* Functions with conditions inside, and choices. Where one is made of another's result, compilers
 * merge their conditions into a form that they then cannot vectorise; a value that has been in
 * memory keeps them apart. */
typedef enum print_nature { PRINT_PLAIN = 0, PRINT_FUNCTION = 1, PRINT_CHOICE = 2 } print_nature;

int print_is_leaf(const node *n);
print_nature print_nature_of(const expression *e, const node *n);

/* Work for a compiler, in additions. */
int64_t print_node_cost(const expression *e, const node *n);

/* Node i where it is used: a name or a constant. */
void print_operand(const expression *e, int32_t i, print_style how, char out[OPERAND_ROOM]);

/* Node i where it is made: "const double t7 = ...;", and what it notes. */
status print_node(const expression *e, int32_t i, print_style how, text_builder *out);

#endif
