/* What `halosweep quad` holds from its options to its report, and the steps it is made of. */
#ifndef QUAD_JOB_H
#define QUAD_JOB_H

#include "backend_choice.h"
#include "commands.h"
#include "progress.h"
#include "quad_run.h"
#include "quad_saving.h"
#include "run_files.h"
#include "run_saving.h"
#include "timers.h"

typedef struct quad_job {
  run_context *run;
  timers timers;
  backend_choice chosen; /* owns the device that quad.place points to */
  struct function *function;
  double *parameters; /* [parameter_count] */
  quad_run quad;
  checkpointing *saving;
  quad_saver saver;
  progress progress;
  const quad_rule *rule;
  phase_summary phases;
  int64_t host_peak; /* largest over ranks */
} quad_job;

/* quad_function.c: from options to a formula. Collective. */
status quad_function_create(quad_job *j);
void quad_function_release(quad_job *j);

/* quad_data.c: reads and sums a file of samples. Collective. */
status quad_sum_data(quad_job *j);

/* quad_stopping.c: collective, but for the last two. */
status quad_open_saving(quad_job *j);
void quad_close_saving(quad_job *j);
status quad_exit_code(const quad_job *j);
status quad_saving_outcome(const quad_job *j); /* STATUS_OK: neither stopped nor failed to save */

/* quad_output.c */
status quad_write(quad_job *j);         /* collective */
status quad_outcome(const quad_job *j); /* local: the exit code, with its text */

#endif
