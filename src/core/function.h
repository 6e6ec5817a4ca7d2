/* The user's functions: from an option's text to a formula. The text is an expression, or names a C
 * file (it ends in .c). Both are compiled at run time where there is a compiler; without one,
 * expressions are interpreted, which one log line says, and a C file is STATUS_UNAVAILABLE.
 * Compiled and interpreted give the same bits: it is tried on a few points before it is trusted. */
#ifndef FUNCTION_H
#define FUNCTION_H

#include "comm.h"
#include "compile.h"
#include "formula.h"
#include "status.h"

typedef struct function function;

/* What is to become a formula of inputs `names` to `outputs` values. */
typedef struct function_request {
  const char *const *texts; /* an expression per output, or one C file */
  const char *const *where; /* per text: begins messages (options_where) */
  const char *ini;          /* C files are relative to its folder (options_file); may be NULL */
  const char *const *names; /* of the inputs, as expressions call them; ends with NULL */
  int outputs;
  /* C files: the function they must define (declared in halosweep_functions.h), and how in[] and
   * out[] reach it: "double integrand(const double *x, const double *p)",
   * "out[0] = integrand(in, in + 3);". NULL: this option takes no C file. */
  const char *prototype, *call;
  int plain; /* the reference backend: expressions are interpreted, C files plain code */
} function_request;

/* STATUS_USAGE: an expression's column, or a C file where none is taken; STATUS_INPUT: a C file
 * that cannot be read or does not compile, with the compiler's words; STATUS_UNAVAILABLE: no
 * compiler for it, or one that changes the arithmetic. `with` may be NULL: nothing is compiled.
 * Everything in the request may go afterwards. Collective, the same result on every rank. */
status function_create(comm *c, compiler *with, const function_request *r, function **out);

/* Frees *f and the code of its formula, and sets it to NULL; *f may be NULL. */
void function_release(function **f);

const formula *function_formula(const function *f);

/* Whether it is a constant (an expression without inputs), and then its value. */
int function_constant(const function *f, double *value);

/* Whether output k may depend on input v: what the expression names; all of them for a C file.
 * Local. */
int function_uses(const function *f, int output, int input);

/* The derivatives of f's m outputs with respect to inputs [first, first + count), by
 * differentiating its expressions: output i * count + j of *out is d(output i) / d(input first +
 * j), of the inputs of f. Compiled with `with` if that is worth it; NULL (or an f that is `plain`):
 * interpreted. *out is NULL, with STATUS_OK, where there are none and finite differences remain: f
 * is a C file, m * count is above JACOBIAN_OUTPUTS_MAX, or the derivatives are too long. Does not
 * need f afterwards. Collective, the same result on every rank. */
enum { JACOBIAN_OUTPUTS_MAX = 4096 };
status function_jacobian(comm *c, compiler *with, const function *f, int first, int count,
                         function **out);

/* The same for the derivatives d(output i) / d(input first + i) alone, i in [0, outputs). */
status function_jacobian_diagonal(comm *c, compiler *with, const function *f, int first,
                                  function **out);

/* Whether an option's text names a C file. Local. */
int function_is_file(const char *text);

#endif
