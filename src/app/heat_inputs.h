/* The problem of `heat` from its options: the grid, what its faces are, and the texts of its
 * functions. */
#ifndef HEAT_INPUTS_H
#define HEAT_INPUTS_H

#include "function.h"
#include "options.h"
#include "scheme.h"

enum { HEAT_NAME = 64, HEAT_KEY = 80 };

/* The functions there may be; those of faces come last. */
enum { HEAT_INITIAL, HEAT_ALPHA, HEAT_SOURCE, HEAT_EXACT, HEAT_FACE };
enum { HEAT_FUNCTIONS = HEAT_FACE + HEAT_FACES };

/* One of them. */
typedef struct heat_text {
  char key[HEAT_KEY]; /* of the option it comes from: begins messages */
  char *text;         /* an expression, or the name of a C file; NULL: not given */
  int timed;          /* it may depend on t */
  function *made;     /* heat_function.c; NULL: it is a number */
} heat_text;

typedef struct heat_inputs {
  heat_problem problem;
  heat_value exact;
  heat_text of[HEAT_FUNCTIONS];
  int parameters;
  double parameter[HEAT_INPUTS];
  /* inputs of timed functions: coordinates, t, parameters; of the others, without t */
  const char *timed_names[HEAT_INPUTS + 1], *names[HEAT_INPUTS + 1];
  char name[HEAT_INPUTS][HEAT_NAME]; /* of parameters */
} heat_inputs;

/* dims, or how many numbers n and length have. Local. */
int heat_dims(const options *o);

/* Everything but the compiled formulas; values that are one number are set. STATUS_USAGE naming
 * file and line. Local: every rank makes the same. `in` must stay where it is. Released also after
 * a failure. */
status heat_inputs_create(const options *o, heat_inputs *in);
void heat_inputs_release(heat_inputs *in);

/* The value that function number `which` is. */
heat_value *heat_inputs_value(heat_inputs *in, int which);

#endif
