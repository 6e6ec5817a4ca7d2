/* What `halosweep quad` holds from its options to its report, and the steps it is made of. */
#ifndef QUAD_JOB_H
#define QUAD_JOB_H

#include "backend_choice.h"
#include "commands.h"
#include "function.h"
#include "progress.h"
#include "quad_inputs.h"
#include "quad_run.h"
#include "quad_saving.h"
#include "quad_sweep.h"
#include "report.h"
#include "result_io.h"
#include "run_files.h"
#include "timers.h"

typedef struct quad_job {
  run_context *run;
  timers timers;
  backend_choice chosen; /* owns the device that quad.place points to */
  quad_inputs in;
  function *function;
  quad_run quad;
  quad_sweep members; /* where in.swept has axes */
  checkpointing *saving;
  quad_saver saver;
  progress progress;
  const quad_rule *rule;
  const char *why;  /* rule = auto: the reason for it, else NULL */
  double error_max; /* sweeps with a known exact value: the largest error, else NaN */
  phase_summary phases;
  int64_t host_peak; /* largest over ranks */
} quad_job;

/* Whether this is a sweep. */
static inline int quad_is_sweep(const quad_job *j) { return j->in.swept.grid.axes > 0; }

enum { QUAD_SHOWN = 20 }; /* sweeps of up to so many members are printed */

/* quad.c: evaluations, where they are known in advance. Local. */
problem_size quad_size(const quad_job *j);

/* quad_function.c: from j->in to a formula. Collective. */
status quad_function_create(quad_job *j);
void quad_function_release(quad_job *j);

/* quad_plan.c: rule and limits; whether what is kept fits (STATUS_UNAVAILABLE); the plan in words.
 * The first is local, the others are collective. */
status quad_choose(quad_job *j);
status quad_check_memory(const quad_job *j);
status quad_print_plan(const quad_job *j);

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

/* quad_output_sweep.c: what of a sweep goes there. Writing and printing are collective. */
void quad_report_sweep(const quad_job *j, report *r);
status quad_write_sweep(const quad_job *j, result_file *f);
status quad_print_sweep(const quad_job *j);
status quad_outcome_sweep(const quad_job *j);

#endif
