/* What the integrand of `quad` is made from: its text, and the names and values of its inputs. */
#ifndef QUAD_INPUTS_H
#define QUAD_INPUTS_H

#include "expression.h"
#include "integrands.h"
#include "options.h"
#include "quad.h"
#include "sweep.h"

enum { QUAD_NAMES = QUAD_INPUTS, QUAD_NAME = 64 };

typedef struct quad_inputs {
  const integrand *builtin; /* NULL: an expression or a C file */
  int dims;
  double lower[QUAD_DIMS], upper[QUAD_DIMS];
  const char *text; /* of the integrand: an expression, or the name of a C file */
  const char *key;  /* of the option it comes from: begins messages */
  char own_text[INTEGRAND_TEXT];
  expression *tree; /* of the text; NULL: a C file */

  /* inputs: coordinates, then `fixed` parameters, then the swept ones */
  int fixed;
  sweep swept;
  const char *names[QUAD_NAMES + 1];
  char name[QUAD_NAMES][QUAD_NAME];
  double value[QUAD_NAMES]; /* of parameters: value[0] is the first behind the coordinates */

  expression *exact;               /* of the parameters; may be NULL */
  int exact_known;                 /* by it, or by the built-in integrand on its own limits */
  int place[INTEGRAND_PARAMETERS]; /* built-in: which value its parameters are */
} quad_inputs;

/* From the options. STATUS_USAGE. Local: every rank makes the same. Released also after a failure.
 */
status quad_inputs_create(const options *o, quad_inputs *in);
/* The exact value alone, for integrals without an integrand; *in is zeroed, or has its names. */
status quad_inputs_exactly(const options *o, quad_inputs *in);

void quad_inputs_release(quad_inputs *in);

/* Whether the integrand is the same at all points for these parameters, as its tree says it;
 * `inputs` is a quad_inputs. Local. */
int quad_inputs_settled(const void *inputs, const double *parameters);

/* The exact value for these parameters (fixed, then swept), where exact_known. Local. */
double quad_inputs_exact(const quad_inputs *in, const double *parameters);

#endif
