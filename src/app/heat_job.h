/* What `halosweep heat` holds from its options to its report, and the steps it is made of. */
#ifndef HEAT_JOB_H
#define HEAT_JOB_H

#include "backend_choice.h"
#include "checkpointing.h"
#include "commands.h"
#include "field_io.h"
#include "heat_inputs.h"
#include "heat_outputs.h"
#include "progress.h"
#include "report.h"
#include "run_outcome.h"
#include "scheme.h"
#include "timers.h"

enum { HEAT_WHY = 512 };

typedef struct heat_job {
  run_context *run;
  timers timers;
  backend_choice chosen; /* owns the device that heat.place points to */
  heat_inputs in;
  heat_run heat;
  checkpointing *saving;
  progress progress;

  char why[HEAT_WHY]; /* the facts behind the scheme */

  field_source *initial_file, *alpha_file; /* heat_files.c; NULL: they come from no file */
  uint64_t content_initial, content_alpha; /* fingerprints of what they brought; 0: none */
  heat_outputs outputs;

  /* what checkpoints carry besides the field */
  double real[5];
  int64_t whole[3];

  /* results */
  int64_t points;
  heat_totals totals;
  uint64_t fingerprint;
  double error_l2, error_max; /* NaN: no exact solution */
  int64_t host_peak;
  phase_summary phases;
} heat_job;

/* heat.c: how large a problem is. Local. */
problem_size heat_size(const options *o, const heat_inputs *in);

/* heat_function.c: formulas from the texts in j->in. Collective. */
status heat_functions_create(heat_job *j);

/* heat_files.c: fields out of files. Collective; the second is local. */
status heat_files_open(heat_job *j);
void heat_files_close(heat_job *j);

/* heat_plan.c: scheme and dt, from options. Collective; all ranks leave with the same status. */
status heat_choose_scheme(heat_job *j);
void heat_print_plan(const heat_job *j);

/* heat_saving.c. Collective, but for the last, which says how the run ended; `text` holds its
 * words. */
status heat_open_saving(heat_job *j);
status heat_resume(heat_job *j);
status heat_finish_saving(heat_job *j);
enum { ENDING_TEXT = 400 };
run_ending heat_ending(const heat_job *j, char text[ENDING_TEXT]);

/* heat_write_field.c: the output file. Collective. */
status heat_write_field(heat_job *j, const char *json);

/* heat_output.c. Collective, but for the last. */
status heat_collect(heat_job *j);
status heat_write(heat_job *j);
status heat_outcome(const heat_job *j);

#endif
