/* Methods that the host drives, one iteration at a time: what a method has to say, and the driver
 * that all of them share (stepping.c): start and end, the tests of docs/numerics.md in their order,
 * history, progress, checks by the true residual, restarts when the carried residual has drifted,
 * checkpoints, requests to stop.
 *
 * (jacobi, jor and cg with a diagonal preconditioner have drivers of their own: their scalars live
 * on the device and the host runs ahead.) Functions are collective unless they say local. */
#ifndef STEPPING_H
#define STEPPING_H

#include "linear.h"
#include "preconditioner.h"
#include "saving.h"

enum { STEPPING_REALS = 8 };

typedef struct stepping {
  solve_run *run;
  void *data; /* the method's own, method->bytes of zeros at first */
  vec r;      /* start(): b - A x; afterwards the residual the method carries, if it carries one */
  vec *work;  /* [method->vectors] zeros at first */
  double real[STEPPING_REALS]; /* scalars that go from step to step; checkpointed */
  int64_t iteration;           /* k; start() and step() find it set, the driver counts */
  double residual;             /* run->scale times the 2-norm of the residual of x_k, as carried */
  int whole;       /* x, r, the saved work vectors and `real` are all there is to x_k: a checkpoint
                      may be made here */
  verdict verdict; /* of the method: VERDICT_NONE, INDEFINITE, BREAKDOWN, NOT_FINITE */
  char text[160];  /* what broke down, with its number */
} stepping;

typedef struct step_method {
  size_t bytes;
  int vectors; /* of work[], the first `saved` of which are checkpointed as "/solve/" names[i] */
  int saved;
  const char *const *names;
  int (*count)(const solve_run *run); /* NULL, or the number of vectors where it is not fixed */
  status (*open)(stepping *t);        /* NULL, or what is made once (bounds, colours, ...) */
  void (*close)(stepping *t);         /* NULL, or its end; local */
  status (*start)(stepping *t);       /* r = b - A x and its norm `residual` are there */
  status (*step)(stepping *t);        /* x_{k+1}, or all but x itself; residual; whole */
  status (*settle)(stepping *t);      /* NULL, or: x = x_k now; start() comes next */
} step_method;

/* The `run` of a solver whose method this is. */
status stepping_run(solve_run *run, const step_method *method);

#endif
