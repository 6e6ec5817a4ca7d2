/* The methods of `ode` as descriptors, one line each in methods.def. */
#ifndef METHODS_H
#define METHODS_H

#include "ode.h"

typedef enum method_flag {
  METHOD_STIFF = 1, /* takes large steps on stiff systems */
  METHOD_FIXED = 2, /* fixed steps only: needs dt */
  METHOD_NOISY = 4, /* for systems with noise, and only those */
  METHOD_SPLIT = 8  /* positions q, then velocities v: dq/dt = f(t, v), dv/dt = f(t, q) */
} method_flag;

typedef struct ode_method {
  const char *name;
  const char *help, *source; /* one line each */
  ode_kind kind;
  int variant;
  int order;       /* of convergence; of noisy ones the strong order, rounded down */
  int error_order; /* the error estimate of a step is about h^error_order; 0: there is none */
  unsigned flags;
} ode_method;

/* By position (NULL past the last) and by name (NULL: unknown). Local. */
const ode_method *ode_method_at(int index);
const ode_method *ode_method_find(const char *name);

#endif
