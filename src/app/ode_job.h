/* What `halosweep ode` holds from its options to its report, and the steps it is made of. */
#ifndef ODE_JOB_H
#define ODE_JOB_H

#include "backend_choice.h"
#include "commands.h"
#include "ensemble.h"
#include "function.h"
#include "methods.h"
#include "ode_inputs.h"
#include "progress.h"
#include "report.h"
#include "result_io.h"
#include "statistics.h"
#include "timers.h"

enum { ODE_SHOWN = 20 }; /* so many numbers are printed */

/* A trajectory of a small run: where it stands. */
typedef struct ode_shown {
  double t, y[ODE_SHOWN];
  int64_t status, there; /* there: this rank has it */
} ode_shown;

typedef struct ode_job {
  run_context *run;
  timers timers;
  backend_choice chosen; /* owns the device that e.place points to */
  ode_inputs in;
  function *rhs, *jacobian, *time, *noise, *noise_jacobian, *event, *initial, *exact;
  module *fused;
  const ode_method *method;
  const char *why; /* method = auto: the reason for it, else NULL */
  double *save_at; /* sorted in the order they are met */
  ode_ensemble e;
  checkpointing *saving;
  uint64_t content; /* fingerprint of files of states and columns */
  progress progress;
  ode_statistics statistics;
  ode_shown *shown;  /* [trajectories] of a small run, on every rank; else NULL */
  char failure[300]; /* of a single trajectory: what to say of it */
  double error_max;  /* NaN: the exact solution is not known */
  phase_summary phases;
  int64_t host_peak; /* largest over ranks */
} ode_job;

/* ode_plan.c: the method and the plan of the steps, from the options and j->in; whether the rows
 * fit into memory; the plan in words. The first two are local, the others collective. */
status ode_choose(ode_job *j);
double ode_expected_steps(const ode_job *j); /* as far as foreseen: 100 each where chosen */
status ode_check_memory(const ode_job *j);
status ode_print_plan(const ode_job *j);

/* ode.c: steps, those of methods that choose them by a guess. Local. */
problem_size ode_size(const ode_job *j);

/* Instants, steps, tolerances of a plan whose `adaptive` is set, from the options; *save_at, to be
 * freed, has the saved times in the order they are met. Local. */
status ode_plan_steps(const options *o, ode_plan *plan, double **save_at);

/* ode_functions.c: from texts to formulas. Collective. */
status ode_functions_create(ode_job *j);
void ode_functions_release(ode_job *j);

/* Whether expressions are sooner interpreted. Local. A function of all inputs; C files: `kind`
 * name(double t, const double *y, const double *p ...), called as `call` says. Collective. */
int ode_is_plain(const ode_job *j);
status ode_function_make(ode_job *j, const char *const *texts, const char *const *where,
                         int outputs, const char *prototype, const char *call, function **out);

/* ode_noise.c: the noise, if there is any, after the starts are known. Collective. */
status ode_noise_open(ode_job *j);

/* ode_start.c: files of states and columns. Collective. Then the start of each trajectory. */
status ode_start_open(ode_job *j);
void ode_start_close(ode_job *j);
void ode_start_rows(void *job, int64_t first, int64_t count, double *y, double *p);

/* ode_output.c. Writing is collective; the outcome is local: the exit code, with its text. */
status ode_write(ode_job *j);
status ode_outcome(const ode_job *j);

/* ode_failure.c: j->failure, of a single trajectory that failed. Collective. */
status ode_find_failure(ode_job *j);

/* ode_tables.c: the result file, and j->shown: both collective. Printing is local. */
status ode_write_tables(ode_job *j, result_file *f);
/* The names of verdicts and of components, root attributes. Collective. */
status ode_write_names(comm *c, result_file *f, const char *const *component, int count);
status ode_gather_rows(ode_job *j);
void ode_print_rows(const ode_job *j);

#endif
