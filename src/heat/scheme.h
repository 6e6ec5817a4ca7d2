/* Time schemes of the heat equation, and what a run of one is.
 *
 * A scheme is a const descriptor in the registry (schemes.def, registry.c): its step moves scalars
 * and asks for stages; it never touches a field's memory, so it is written once for all backends. A
 * rank with a local failure keeps it in run->failure, skips its kernels and goes on exchanging, and
 * all ranks stop at the next meeting (march.c). Functions are collective unless they say local. */
#ifndef SCHEME_H
#define SCHEME_H

#include "heat_backend.h"
#include "value.h"

struct timers;        /* src/core/timers.h */
struct progress;      /* src/core/progress.h */
struct checkpointing; /* src/core/checkpointing.h */

typedef enum boundary_kind {
  BOUNDARY_DIRICHLET, /* held at `value` */
  BOUNDARY_INITIAL,   /* held at what the initial state is there */
  BOUNDARY_NEUMANN,   /* alpha du/dn = value */
  BOUNDARY_ROBIN,     /* alpha du/dn = h (value - u) */
  BOUNDARY_PERIODIC
} boundary_kind;

typedef struct heat_boundary {
  boundary_kind kind;
  heat_value value;
  double h;
} heat_boundary;

/* Planes of a field that comes from a file: `values` of planes [first, first + planes). Local.
 * NULL: there is no file. */
typedef struct heat_reader {
  status (*planes)(void *context, int64_t first, int64_t planes, double *values);
  void *context;
} heat_reader;

typedef struct heat_problem {
  heat_grid grid;
  heat_value initial, alpha, source;
  heat_reader initial_from, alpha_from; /* instead of `initial`, `alpha` */
  heat_boundary face[HEAT_FACES];
} heat_problem;

static inline int heat_alpha_varies(const heat_problem *p) {
  return p->alpha.f != NULL || p->alpha_from.planes != NULL;
}

typedef enum heat_reason {
  HEAT_DONE,
  HEAT_REQUESTED, /* a signal, or the time limit */
  HEAT_FAILED,    /* a rank's local failure: run->failure */
  HEAT_UNSOLVED,  /* an implicit step's linear solve did not converge */
  HEAT_NOT_FINITE /* a value of the field is NaN or infinite */
} heat_reason;

struct heat_run;

/* Looks at the field between steps: output, probes. `next`: the first step above `step` at which it
 * wants to (INT64_MAX: none); alike on all ranks. `look` is collective, and changes nothing. */
typedef struct heat_visitor {
  int64_t (*next)(void *context, const struct heat_run *run, int64_t step);
  status (*look)(void *context, struct heat_run *run);
  void *context;
} heat_visitor;

typedef struct heat_totals {
  double heat;             /* integral of u */
  double minimum, maximum; /* NaN when an entry is */
} heat_totals;

/* A field of inputs: a value, and where the backend has it. */
typedef struct heat_supply {
  const heat_value *value;
  heat_box box;
  heat_field field; /* data NULL: not given, or one number */
  double number;
  double at; /* time it was evaluated for; NaN: not yet */
} heat_supply;

enum { HEAT_SPARES = 5, HEAT_VISITORS = 4 };

/* A field whose halo holds the values of `depth` planes on each side. */
typedef struct heat_known {
  const void *at;
  int64_t depth;
} heat_known;

typedef struct heat_run {
  const backend *kernels;
  device *place;
  comm *world;
  int threads;
  struct timers *timers;        /* may be NULL */
  struct progress *progress;    /* may be NULL */
  struct checkpointing *saving; /* may be NULL */
  const heat_problem *problem;
  const struct heat_scheme *scheme;

  /* made by heat_open (setup.c) */
  heat_slab slab;
  ownership owned; /* planes, or points in 1-D */
  halo plan;
  heat_work *work;
  double *axis[HEAT_DIMS]; /* coordinates; of the last direction with the halo and one plane more */
  double *host;            /* [heat_points] for what comes from and goes to the host */
  double lambda;           /* bound of the largest eigenvalue, 1/s */
  heat_supply source, flux[HEAT_FACES], held[HEAT_FACES];
  double face_place[HEAT_FACES]; /* coordinates their boxes point to */

  heat_field u;                  /* the field at `step` */
  heat_field spare[HEAT_SPARES]; /* as many as the scheme asks for */

  /* stages to be run (pass.c) */
  heat_stage *queue; /* [depth] */
  int depth;         /* the most in a pass */
  int queued;
  int whole;              /* how many of them make up whole steps */
  double fed_in, fed_out; /* times of the inputs and held values of the last one */
  heat_known known[8];
  int next_known;

  /* time: t = fma(step - step_0, dt, t_0), and `t_end` after step `last` where that is given */
  double dt, t_0, t_end; /* t_end NaN: not given */
  int64_t step_0, step, last;

  /* of implicit schemes; zero: fixed dt, 1e-10 */
  double rtol, atol;  /* of a step, for schemes that choose their dt */
  double solver_rtol; /* of residuals, relative to the right-hand side */
  int plain;          /* no preconditioner (benchmarks) */
  double error;       /* of the last accepted step over what is allowed; 0: none yet */
  int64_t rejected;
  int unsolved; /* the step's linear solve did not converge */
  struct heat_implicit *implicit;

  heat_visitor visitor[HEAT_VISITORS];
  int visitors;

  /* results */
  status failure; /* this rank's first local failure */
  heat_reason reason;
  int64_t began_at;             /* the step gone on from */
  int64_t launches;             /* of kernels, in the steps */
  int64_t copies;               /* between host and backend memory, in the steps */
  int64_t stages;               /* made */
  int64_t passed;               /* points gone through in passes, for the traffic */
  int64_t bad_point[HEAT_DIMS]; /* HEAT_NOT_FINITE: coordinates on the grid */
  double bad_value;
  int bad_rank;
} heat_run;

typedef struct heat_scheme {
  const char *name;
  const char *help;   /* one line */
  const char *source; /* where it is written down */
  int order;          /* in time; 0: steady */
  int implicit;       /* it solves linear systems */
  int fields;         /* spare fields it needs */
  /* The largest dt * lambda it is stable for, with `stages` (0: as it chooses for itself, then
   * INFINITY where any dt will do). */
  double (*limit)(int stages);
  /* Stages of a step of that dt * lambda. */
  int (*stages)(double z);
  /* One step of dt from time t to `next`, which is t + dt but for rounding: replaces run->u. Its
   * stages may be left in the queue. With run->rtol a scheme may make a shorter one: it sets t_0
   * and step_0 to where it got, and dt. */
  status (*step)(heat_run *run, double t, double dt, double next);
} heat_scheme;

#define HEAT_ATTEMPT(run, call)                                                                    \
  do {                                                                                             \
    if ((run)->failure == STATUS_OK) (run)->failure = (call);                                      \
  } while (0)

/* A pass over memory was asked for: one launch where the device is the host itself. Others count
 * their own (march.c). */
static inline void heat_count_pass(heat_run *run) {
  run->launches += run->kernels->describe == NULL;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The registry, by position (NULL past the last) and by name (NULL: unknown). Local. */
const heat_scheme *heat_scheme_at(int index);
const heat_scheme *heat_scheme_find(const char *name);

/* "done", "not_finite", ...; and the exit code that goes with it. Local. */
const char *heat_reason_name(heat_reason reason);
status heat_reason_status(heat_reason reason);

/* ---- setup.c ---- */

/* Slab, halo, medium, inputs and the field at the start, for kernels, place, world, threads and
 * problem as set. Passes of up to `depth` stages (and where there are neighbours a halo of as many
 * planes); 0: as many as serve. STATUS_INPUT: a conductivity that is not positive. */
status heat_open(heat_run *run, int64_t depth);
void heat_close(heat_run *run); /* local; accepts a zeroed run */

/* The scheme's fields, and what its solves need. */
status heat_open_scheme(heat_run *run, const heat_scheme *scheme);

/* Points of this rank's slab as a box: owned planes and `depth` on each side. Local. */
heat_box heat_slab_box(const heat_run *run, int64_t depth);

/* ---- pass.c ---- */

/* Puts a stage on the owned planes into the queue; s->input and s->held are filled in: inputs at
 * time t_in, held values at time t_out. The fields it names must not be touched but by other
 * stages, nor looked at, before heat_flush(), which runs what is in the queue. */
status heat_queue_stage(heat_run *run, const heat_stage *s, double t_in, double t_out);
status heat_flush(heat_run *run);

/* The same at once, for fields that others than stages write. */
status heat_run_stage(heat_run *run, const heat_stage *s, double t_in, double t_out);

/* Fields were written by others than stages: what their halos hold is not known. Local. */
void heat_forget_halos(heat_run *run);

/* run->depth, the queue, and the halo of the slab; 0: what serves. */
status heat_choose_depth(heat_run *run, int64_t wanted);

/* Planes of others on each side of a slab of so many, where no depth is asked for; for kernels,
 * place, world and problem as set. Local. */
int64_t heat_halo_for(const heat_run *run, int64_t planes);

/* ---- stage.c ---- */

/* Coefficients of the faces of the slab, its halo included (heat_medium), which the caller frees.
 * STATUS_INPUT: a conductivity that is not positive. Local. */
status heat_faces(const heat_run *run, double *face[HEAT_DIMS]);

/* Fills the halo of u; in two parts, with what needs no halo in between. */
status heat_exchange(heat_run *run, heat_field u);
status heat_exchange_begin(heat_run *run, heat_field u);
status heat_exchange_end(heat_run *run, heat_field u);

/* The inputs of time t, evaluated if they are not there yet. Local. */
status heat_input_at(heat_run *run, double t, heat_input *out);
status heat_held_at(heat_run *run, double t, heat_field out[HEAT_FACES]);

/* Evaluates what does not depend on time now, and not in the first step. Local. */
status heat_input_constant(heat_run *run);

/* A field for u and the values it had: run->u becomes `next`, which becomes the old one. Local. */
void heat_swap(heat_run *run, heat_field *next);

/* Owned points between host and backend. Local. */
status heat_load(heat_run *run, heat_field to, const double *from);
status heat_store(heat_run *run, double *to, heat_field from);

status heat_totals_of(heat_run *run, heat_field u, heat_totals *out);

/* ---- march.c ---- */

/* The time at a step. Local. */
double heat_time(const heat_run *run, int64_t step);

/* Sets `last` for run->t_end (NaN: it stays). Local. */
void heat_plan_steps(heat_run *run);

/* Steps until `last`, or until asked to stop; saves and looks in between. */
status heat_march(heat_run *run);

#ifdef __cplusplus
}
#endif

#endif
