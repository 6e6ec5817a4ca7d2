/* The coupled systems that are built in, and what a user's is made into: names for expressions. A
 * system is its fields, each with its derivative and its initial value as texts; they are compiled
 * like any other expression, so a user's system costs what a built-in one does. */
#ifndef COUPLED_SYSTEMS_H
#define COUPLED_SYSTEMS_H

#include "coupled.h"
#include "status.h"

enum { COUPLED_PARAMETERS = 32 };

typedef struct coupled_parameter {
  const char *name;
  double value;
} coupled_parameter;

/* A name for an expression; arrays of them end with a NULL name. */
typedef struct coupled_equation {
  const char *name, *text;
} coupled_equation;

/* Names in texts: t; i, in [0, n), and on a grid j, in [0, m), the point; n, m; parameters.
 *   derivative: u the point's own value of field u, u[-1] (grids: u[0,1]) that of a point near by,
 *               constants, sums by their names
 *   initial:    parameters and constants
 *   constant:   n, m, parameters and earlier constants: evaluated once
 *   sum:        over all points k: u the own value, u[k] the other's, constants */
typedef struct coupled_system {
  const char *name, *help, *source;
  int dims; /* 1: a line or ring; 2: a grid */
  coupled_edge edge;
  gidx n, m; /* points, where nothing is said */
  coupled_equation derivative[COUPLED_FIELDS + 1], initial[COUPLED_FIELDS + 1];
  coupled_equation constant[COUPLED_PARAMETERS + 1], sum[COUPLED_SUMS + 1];
  coupled_parameter parameter[COUPLED_PARAMETERS + 1];
} coupled_system;

/* The registry, by position (NULL past the last) and by name (NULL: unknown). Local. */
const coupled_system *coupled_system_at(int index);
const coupled_system *coupled_system_find(const char *name);

/* How many fields, sums, constants, parameters it has. Local. */
int coupled_equations(const coupled_equation *list);
int coupled_parameters(const coupled_system *s);

/* ---- what a system's texts need to be formulas ---- */

enum { COUPLED_NAME = 48, COUPLED_NAMES = 2 * (COUPLED_REACHES + COUPLED_PARAMETERS) };

/* Names of inputs, in the order of coupled.h, ending with NULL. */
typedef struct coupled_names {
  char text[COUPLED_NAMES][COUPLED_NAME];
  const char *list[COUPLED_NAMES + 1];
  int count;
} coupled_names;

/* The reaches that the derivatives name, in the order they are met, and the names of the inputs.
 * where[f] begins a message about derivative f. STATUS_USAGE: a reach that cannot be read, too many
 * of them. Local. */
status coupled_find_reaches(const coupled_system *s, const char *const *where, coupled_layout *l,
                            coupled_names *names);

/* The names of the inputs of sums, and of initial values. Local. */
void coupled_names_of_sums(const coupled_system *s, coupled_names *names);
void coupled_names_of_initial(const coupled_system *s, coupled_names *names);

/* value[0 ..): the parameters as given (given[k], in the order of the system), then the constants.
 * STATUS_USAGE: a constant that cannot be read. Local. */
status coupled_constants(const coupled_system *s, gidx n, gidx m, const double *given,
                         double *value);

#endif
