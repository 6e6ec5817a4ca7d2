/* What the system of `ode` is made from: the texts of its functions, the names and values of their
 * inputs, and where each trajectory starts. */
#ifndef ODE_INPUTS_H
#define ODE_INPUTS_H

#include "options.h"
#include "sample.h"
#include "sweep.h"
#include "systems.h"

enum { ODE_NAME = 64, ODE_COMPONENTS_MAX = 128, ODE_VALUES_MAX = 64 };

/* A value that each trajectory has its own of. */
typedef struct ode_own {
  int axis, drawn; /* of the sweep, or of the samples; the other is -1 */
} ode_own;

typedef struct ode_inputs {
  const ode_system *builtin; /* NULL: a C file or [equations] */
  const char *file;          /* the C file; else NULL */
  int components;
  const char **rhs;       /* [components] texts, or the C file alone */
  const char **rhs_where; /* begins messages, per text */
  const char **initial;   /* [components] texts; NULL: a table */
  char *initial_text;     /* cut up by `initial` */
  row_window table;       /* states, a row for each replicate */
  int64_t tuples;         /* how many rows initial lists */
  const char *table_file; /* FILE.h5:/DATASET of rows of states; owned by the options */

  /* inputs of the functions: t, the components, `shared` values, `own` values */
  int shared, own;
  const char **names; /* all of them, ends with NULL */
  char (*name)[ODE_NAME];
  double common[ODE_VALUES_MAX];
  ode_own of[ODE_VALUES_MAX];
  ode_own instead[ODE_COMPONENTS_MAX]; /* components that a sweep or a sample starts */
  sweep swept;
  samples drawn;
  uint64_t seed;
  int64_t replicates, trajectories; /* of each member of the sweep; in all */
} ode_inputs;

/* From the options. STATUS_USAGE. Local: every rank makes the same. Released also after a failure.
 */
status ode_inputs_create(const options *o, ode_inputs *in);
void ode_inputs_release(ode_inputs *in);

/* The own values of trajectory i: out[own]. Local. */
void ode_inputs_own(const ode_inputs *in, int64_t i, double *out);

/* The value a trajectory's component starts from instead, if there is one: 1. Local. */
int ode_inputs_instead(const ode_inputs *in, int component, int64_t i, double *out);

#endif
