/* A value that may depend on place and time: initial state, conductivity, source, what a face is
 * told, the exact solution. Either a number, or a formula of the coordinates, the time where
 * `timed`, and parameters. Evaluated on the host, on all its threads. */
#ifndef VALUE_H
#define VALUE_H

#include "formula.h"
#include "heat.h"
#include "status.h"

enum { HEAT_INPUTS = 96 }; /* inputs of a formula */

typedef struct heat_value {
  const formula *f; /* NULL: the number */
  double number;
  int dims;     /* coordinates it gets */
  int timed;    /* it gets the time, behind them */
  int in_time;  /* and depends on it */
  int in_space; /* it depends on the coordinates */
  const double *parameters;
} heat_value;

/* Points of a grid: axis[d][i], i in [0, count[d]) are the coordinates of direction d. */
typedef struct heat_box {
  int dims;
  int64_t count[HEAT_DIMS];
  const double *axis[HEAT_DIMS];
} heat_box;

int64_t heat_box_points(const heat_box *b);

/* out = the values at all points of the box, x fastest, at time t. Local. */
void heat_value_fill(const heat_value *v, const heat_box *b, double t, int threads, double *out);

/* The value at x[dims], which may be NULL where it does not depend on the place. Local. */
double heat_value_at(const heat_value *v, const double *x, double t);

#endif
