/* Expressions as C text, with the bits of the interpreter. */
#ifndef EXPRESSION_PRINT_H
#define EXPRESSION_PRINT_H

#include "expression.h"
#include "text.h"

/* Appends PORTABLE void formula_value(in, out) of formula.h: one scalar computation per node,
 * out[k] = the value of e[k]. The expressions were parsed with the same names. Needs elementary.h.
 */
status expression_print_value(const expression *const *e, int count, text_builder *out);

/* Appends, to follow the above, formula_batch_main(): a formula_batch for the host compiler, to be
 * found by that name. `inputs`: how many names there were. */
status expression_print_batch(const expression *const *e, int count, int inputs, text_builder *out);

/* What the compiler has to do, in additions' worth of work: long texts take it long. */
int64_t expression_print_cost(const expression *e);

#endif
