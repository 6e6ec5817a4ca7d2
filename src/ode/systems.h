/* The systems of ordinary differential equations that are built in: names for expressions, so they
 * have the same bits and the same speed as a user's own. Coupled systems of any size are in
 * coupled.def. */
#ifndef SYSTEMS_H
#define SYSTEMS_H

enum { SYSTEM_COMPONENTS = 8, SYSTEM_PARAMETERS = 8 };

typedef enum system_flag {
  SYSTEM_STIFF = 1 /* explicit methods take tiny steps */
} system_flag;

typedef struct ode_system {
  const char *name, *help, *source;
  unsigned flags;
  int components;
  const char *component[SYSTEM_COMPONENTS];
  const char *rhs[SYSTEM_COMPONENTS];     /* in t, the components, the parameters */
  const char *initial[SYSTEM_COMPONENTS]; /* in the parameters */
  int parameters;
  const char *parameter[SYSTEM_PARAMETERS];
  double value[SYSTEM_PARAMETERS];
  const char *invariant; /* what stays the same along a trajectory; NULL: nothing is known */
} ode_system;

/* By position (NULL past the last) and by name (NULL: unknown). Local. */
const ode_system *ode_system_at(int index);
const ode_system *ode_system_find(const char *name);

#endif
