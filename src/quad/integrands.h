/* The integrands that are built in: a name for an expression, the parameters in it, and the exact
 * value. They are expressions like any other, so they have the same bits and the same speed. */
#ifndef INTEGRANDS_H
#define INTEGRANDS_H

#include <stddef.h>

#include "status.h"

enum { INTEGRAND_PARAMETERS = 20, INTEGRAND_TEXT = 1024 };

typedef struct integrand integrand;

struct integrand {
  const char *name, *help, *source;
  int dims_min, dims_max;
  double lower, upper; /* of every direction, when none are given; the exact value is for these */
  /* The formula: before, then `term` for every direction with `join` between, then after. In it @
   * is the direction's number from 0, # the same from 1, & the number of directions + 1. A NULL
   * term: `before` is all of it. Coordinates are x[0], x[1], ... */
  const char *before, *term, *join, *after;
  /* Parameters a1 .. a(dims) when `a` is there, then u1 .. u(u_count, 0: dims) when `u` is; from
   * the seventh on their defaults repeat. A single one that is called otherwise has its name in
   * `other`. */
  const double *a, *u;
  int u_count;
  const char *other;
  double other_default;
  /* Over [lower, upper] in every direction; parameters in the order above. */
  double (*exact)(int dims, const double *parameters);
};

/* By position (NULL past the last) and by name (NULL: unknown). Local. */
const integrand *integrand_at(int index);
const integrand *integrand_find(const char *name);

/* "a|b|c": all names, for messages. */
const char *integrand_names(void);

/* The formula in `dims` directions. Local. */
void integrand_text(const integrand *f, int dims, char out[INTEGRAND_TEXT]);

/* How many parameters it has; the name and default of number k. Local. */
int integrand_parameters(const integrand *f, int dims);
void integrand_parameter(const integrand *f, int dims, int k, char name[16], double *value);

#endif
