/* `ode` of one large coupled system (coupled_run.h): a registered one, or [equations] on n points.
 * What command_ode and check_ode hand over to. */
#ifndef ODE_COUPLED_H
#define ODE_COUPLED_H

#include "backend_choice.h"
#include "commands.h"
#include "coupled_run.h"
#include "ode_job.h"
#include "report.h"

typedef struct coupled_job {
  run_context *run;
  timers timers;
  backend_choice chosen; /* owns the device that coupled.place points to */
  coupled_system made;   /* of [equations] */
  char (*name)[64];      /* its names */
  char *texts;           /* initial values, cut up */
  char *where[COUPLED_FIELDS], *where_initial[COUPLED_FIELDS];
  const char *initial[COUPLED_FIELDS];
  double parameter[COUPLED_PARAMETERS];
  double *save_at;
  checkpointing *saving;
  progress progress;
  coupled_run coupled;
  int64_t began; /* attempts made before this run */
  double *final; /* [components of this rank] */
  uint64_t fingerprint;
  double lowest, highest;
  int shown; /* of a small system: how many numbers are printed, all of them */
  double small[ODE_SHOWN];
  phase_summary phases;
  int64_t host_peak;
} coupled_job;

/* Whether the options name a coupled system. Local. */
int ode_is_coupled(const options *o);

/* That what is given goes together. Local. */
status check_ode_coupled(const options *o);

/* How large a system is, for `auto`. Local. */
problem_size coupled_size(const coupled_run *r);

/* The whole command. Collective. */
status ode_coupled(run_context *run);

/* ode_coupled_inputs.c: system, parameters, initial values, instants from the options. Local. */
status coupled_inputs_create(const options *o, coupled_job *j);
void coupled_inputs_release(coupled_job *j);

/* ode_coupled_output.c. Writing is collective; the outcome is local. */
status coupled_write(coupled_job *j);
status coupled_outcome(const coupled_job *j);

#endif
