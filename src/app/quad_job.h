/* What `halosweep quad` holds from its options to its report, and the steps it is made of. */
#ifndef QUAD_JOB_H
#define QUAD_JOB_H

#include "backend_choice.h"
#include "commands.h"
#include "quad_run.h"
#include "run_files.h"
#include "timers.h"

typedef struct quad_job {
  run_context *run;
  timers timers;
  backend_choice chosen; /* owns the device that quad.place points to */
  struct function *function;
  double *parameters; /* [parameter_count] */
  quad_run quad;
  const quad_rule *rule;
  const char *why; /* rule = auto: the reason for it, else NULL */
  phase_summary phases;
  int64_t host_peak; /* largest over ranks */
} quad_job;

/* quad_function.c: from options to a formula. Collective. */
status quad_function_create(quad_job *j);
void quad_function_release(quad_job *j);

/* quad_output.c */
status quad_write(quad_job *j);         /* collective */
status quad_outcome(const quad_job *j); /* local: the exit code, with its text */

#endif
