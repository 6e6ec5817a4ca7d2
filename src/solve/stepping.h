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

enum { STEPPING_REALS = 8, STEPPING_SAVED = SAVING_VECTORS - 2 };

/* x is run->x. Where `whole` is set, x, r, the saved work vectors and `real` are all there is to
 * x_k: a checkpoint may be made here. Where it is not, they are those of the last whole iterate,
 * and x_k is made by settle(). */
typedef struct stepping {
  solve_run *run;
  void *data; /* the method's own, method->bytes of zeros at first */
  vec r;      /* start(): b - A x; afterwards the residual the method carries, if it carries one */
  vec *work;  /* [method->vectors] zeros at first */
  double real[STEPPING_REALS]; /* scalars that go from step to step; checkpointed */
  int64_t iteration;           /* k; start() and step() find it set, the driver counts */
  double residual;             /* run->scale times the 2-norm of the residual of x_k, as carried */
  int whole;
  int64_t made;    /* step() may say how many iterations it made: 1 before it is called */
  verdict verdict; /* of the method: VERDICT_NONE; INDEFINITE, BREAKDOWN: it cannot step on from
                      x_k; REPEATS: x_{k+1} is x_k */
} stepping;

typedef struct step_method {
  size_t bytes;
  int vectors; /* of work[], the first `saved` of which are checkpointed as "/solve/" names[i] */
  int saved;   /* at most STEPPING_SAVED */
  const char *const *names;
  int exact; /* where whole, `residual` is that of x_k itself: no checks are due */
  int (*count)(const solve_run *run); /* NULL, or the number of vectors where it is not fixed */
  status (*open)(stepping *t);        /* NULL, or what is made once (bounds, colours, ...) */
  void (*close)(stepping *t);         /* NULL, or its end; local */
  status (*start)(stepping *t);       /* r = b - A x and its norm `residual` are there */
  status (*step)(stepping *t);        /* x_{k+1}, or all but x itself; residual; whole */
  status (*settle)(stepping *t);      /* NULL, or: x = x_k now; start() comes next, or the end */
} step_method;

/* The `run` of a solver whose method this is. */
status stepping_run(solve_run *run, const step_method *method);

/* out = A M^-1 p; z = M^-1 p where there is a preconditioner, else z is left alone. */
status stepping_product(stepping *t, vec p, vec z, vec out);

/* M^-1 p as stepping_product left it: z, or p itself. Local. */
vec stepping_image(const stepping *t, vec p, vec z);

/* The method has broken down: sets the verdict and run->broke. Local. */
void stepping_break(stepping *t, const char *what, double value);

#endif
