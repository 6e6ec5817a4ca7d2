/* halosweep ode: trajectories of a system, each with its own verdict.
 *
 * check outputs -> choose the method -> open the backend -> functions, starts -> the ensemble ->
 * statistics -> files, report. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "gpu_worth.h"
#include "log.h"
#include "ode_coupled.h"
#include "ode_job.h"
#include "ode_saving.h"
#include "run_files.h"

problem_size ode_size(const ode_job *j) { return gpu_worth_steps(ode_expected_steps(j)); }

static status open_backend(ode_job *j) {
  status rc = STATUS_OK;
  const problem_size size = ode_size(j);
  TRY(backend_choose(j->run, &size, &j->chosen));
  j->e.place = j->chosen.place;
  j->e.world = j->run->c;
  j->e.timers = &j->timers;
  if (j->chosen.kernels->ode == NULL) {
    rc = fail(STATUS_UNAVAILABLE, "ode: the backend %s has no trajectories; use --backend omp",
              j->chosen.kernels->name);
    rc = comm_agree(j->run->c, rc);
    goto done;
  }
  j->e.kernels = j->chosen.kernels;
done:
  return rc;
}

static status open_ensemble(ode_job *j) {
  const char *only = options_text(j->run->o, "ode.only");
  ode_ensemble *e = &j->e;
  e->save_at = j->save_at;
  e->common = j->in.common;
  e->trajectories = j->in.trajectories;
  e->start = ode_start_rows;
  e->context = j;
  e->only = only == NULL ? ONLY_ALL : strcmp(only, "failed") == 0 ? ONLY_FAILED : ONLY_UNFINISHED;
  return ode_ensemble_open(e);
}

static void say_members(const ode_job *j) {
  char text[SWEEP_TEXT];
  if (j->in.trajectories == 1) return;
  if (j->in.swept.grid.axes > 0) {
    sweep_describe(&j->in.swept, text);
    log_info("sweep: %s, %lld trajectories in all", text, (long long)j->in.trajectories);
  } else {
    log_info("%lld trajectories", (long long)j->in.trajectories);
  }
}

/* The functions' and the states' files are inputs. */
static status check_files(const ode_job *j) {
  static const char *const keys[] = {"ode.system", "ode.event", "ode.jacobian", "ode.noise"};
  const char *inputs[sizeof keys / sizeof *keys + 1 + SAMPLE_KEYS];
  int count = 0;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const char *text = options_text(j->run->o, keys[i]);
    if (text != NULL && function_is_file(text)) inputs[count++] = text;
  }
  inputs[count++] = j->in.table_file;
  for (int k = 0; k < j->in.drawn.count; k++) inputs[count++] = j->in.drawn.of[k].file;
  return run_files_check(j->run, inputs, count);
}

static status run_ensemble(ode_job *j) {
  say_members(j);
  timers_switch(&j->timers, PHASE_COMPUTE);
  status rc = ode_ensemble_run(&j->e);
  timers_switch(&j->timers, PHASE_SETUP);
  if (j->progress.printed > 0) progress_end(&j->progress, j->progress.last, NAN);
  return rc;
}

static void close_job(ode_job *j) {
  ode_saving_close(j);
  ode_ensemble_close(&j->e);
  ode_functions_release(j);
  ode_statistics_release(&j->statistics);
  backend_choice_release(&j->chosen);
  ode_start_close(j);
  ode_inputs_release(&j->in);
  alloc_free(&j->save_at);
  alloc_free(&j->shown);
}

status command_ode(run_context *run) {
  status rc = STATUS_OK;
  ode_job j;
  if (ode_is_coupled(run->o)) return ode_coupled(run);
  memset(&j, 0, sizeof j);
  j.run = run;
  j.error_max = NAN;
  timers_start(&j.timers);
  TRY(comm_agree(run->c, ode_inputs_create(run->o, &j.in)));
  TRY(check_files(&j));
  TRY(comm_agree(run->c, ode_choose(&j)));
  TRY(open_backend(&j));
  TRY(ode_functions_create(&j));
  TRY(ode_check_memory(&j));
  if (options_flag(run->o, "run.dry_run")) {
    rc = comm_agree(run->c, ode_print_plan(&j));
    goto done;
  }
  TRY(ode_start_open(&j));
  TRY(ode_noise_open(&j));
  TRY(ode_saving_open(&j));
  TRY(open_ensemble(&j));
  TRY(run_ensemble(&j));
  TRY(ode_write(&j));
  rc = comm_agree(run->c, ode_outcome(&j));
done:
  close_job(&j);
  return rc;
}
