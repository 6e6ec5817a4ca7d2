/* Expressions: formulas as text, parsed into a tree that is also the whitelist - nothing that has
 * no node can run. The language (precedence, functions, which shapes become fma) is described in
 * docs/expressions.md. A tree is read-only once made: any number of threads may evaluate it. */
#ifndef EXPRESSION_H
#define EXPRESSION_H

#include <stdint.h>

#include "formula.h"
#include "status.h"

typedef struct expression expression;

/* Parses `text`. `names` lists what may occur in it ("x", "t", "x[0]", "sigma"), ends with NULL,
 * and may be NULL; the values come in that order. A name of the list hides the constant of the same
 * name (pi, e). STATUS_USAGE with the column (from 1), what was found and what was expected. Local.
 * *out is NULL on failure; released with expression_release. */
status expression_parse(const char *text, const char *const *names, expression **out);

/* Frees *e and sets it to NULL; *e may be NULL. */
void expression_release(expression **e);

/* The value at one point; variables[v] is the value of names[v] (may be NULL if none occurs). */
double expression_value(const expression *e, const double *variables);

/* The values at n points, with the bits expression_value gives at each (a NaN is a NaN, of any
 * payload): out[i], i in [0, n). `out` must not overlap the inputs. Allocates nothing. */
void expression_values(const expression *e, int64_t n, const formula_input *variables, double *out);

/* How many operations, constants and variables are evaluated for a value. */
int expression_size(const expression *e);

/* Whether names[v] occurs in it. */
int expression_uses(const expression *e, int v);

/* Whether the value is the same for all (finite) values of the first `unknown` variables, as far as
 * the tree alone says it: 0 times something is 0, something to the power 0 is 1. variables[unknown]
 * and on are the values of the others. */
int expression_settled(const expression *e, const double *variables, int unknown);

/* Whether it is a constant, and then its value. `value` may be NULL. */
int expression_constant(const expression *e, double *value);

/* The derivative with respect to names[v], as an expression of the same names; the constant 0 where
 * it does not depend on it. What it is at kinks: docs/expressions.md. Its size and the time to make
 * it are O(operations of e). STATUS_USAGE where it would keep too many values at once; finite
 * differences remain. *out is NULL on failure; released with expression_release. Local. */
status expression_derivative(const expression *e, int v, expression **out);

#endif
