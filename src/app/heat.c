/* halosweep heat: the heat equation on a grid, from a start to an end time.
 *
 * check outputs -> open the backend -> functions -> slab, medium, fields -> scheme and dt -> go on
 * from a checkpoint? -> march -> totals, fingerprint, files, report. */
#include <math.h>
#include <string.h>

#include "gpu_worth.h"
#include "heat_job.h"
#include "memory.h"
#include "run_files.h"

static status check_files(const heat_job *j) {
  const char *inputs[HEAT_FUNCTIONS];
  int count = 0;
  for (int i = 0; i < HEAT_FUNCTIONS; i++) {
    const char *text = j->in.of[i].text;
    if (text != NULL && (function_is_file(text) || field_is_file(text))) inputs[count++] = text;
  }
  return run_files_check(j->run, inputs, count);
}

problem_size heat_size(const options *o, const heat_inputs *in) {
  const heat_grid *g = &in->problem.grid;
  const heat_scheme *scheme = heat_scheme_find(options_text(o, "heat.scheme"));
  const int implicit = scheme != NULL && scheme->implicit; /* auto is decided later */
  return gpu_worth_points(g->n[0] * g->n[1] * g->n[2], implicit);
}

static status open_backend(heat_job *j) {
  status rc = STATUS_OK;
  heat_run *run = &j->heat;
  const problem_size size = heat_size(j->run->o, &j->in);
  j->points = size.count;
  TRY(backend_choose(j->run, &size, &j->chosen));
  if (comm_size(j->run->c) > 1) j->chosen.transport.name = "host";
  run->kernels = j->chosen.kernels;
  run->place = j->chosen.place;
  run->world = j->run->c;
  run->threads = j->run->threads;
  run->timers = &j->timers;
  run->progress = &j->progress;
  run->problem = &j->in.problem;
done:
  return rc;
}

/* Fields of a slab and its halo, coefficients and what the host needs to make them, for even
 * slabs. A scheme that is yet to be chosen may need what rkl2 does. */
static status check_memory(const heat_job *j) {
  const heat_problem *p = &j->in.problem;
  const heat_scheme *scheme = heat_scheme_find(options_text(j->run->o, "heat.scheme"));
  const int dims = p->grid.dims, variable = p->alpha.in_space;
  const int64_t n = p->grid.n[dims - 1], size = comm_size(j->run->c);
  const int64_t planes = (n + size - 1) / size;
  const double points =
      (double)j->points / (double)n * (double)(planes + 2 * heat_halo_for(&j->heat, planes));
  double fields = 2.0 + (scheme == NULL ? 3.0 : scheme->fields) + (p->source.in_space ? 1.0 : 0.0) +
                  (variable ? 1.0 + 2.0 * dims : 0.0);
  if (scheme != NULL && scheme->implicit) { /* levels: half the points in each direction */
    const double levels = dims == 1 ? 2.0 : dims == 2 ? 4.0 / 3.0 : 8.0 / 7.0;
    fields += 3.0 + levels * (4.0 + (variable ? 2.0 * dims : 0.0));
  }
  return memory_check(j->run->c, 8.0 * fields * points, "this grid");
}

static status march(heat_job *j) {
  const options *o = j->run->o;
  progress_start(&j->progress, options_text(o, "run.progress"), options_flag(o, "run.quiet"),
                 comm_rank(j->run->c) == 0, "step", "t =");
  timers_switch(&j->timers, PHASE_COMPUTE);
  status rc = heat_march(&j->heat);
  if (rc == STATUS_OK) rc = j->heat.failure;
  timers_switch(&j->timers, PHASE_SETUP);
  return comm_agree(j->run->c, rc);
}

static void close_job(heat_job *j) {
  heat_outputs_close(&j->outputs);
  heat_files_close(j);
  checkpointing_close(&j->saving);
  heat_close(&j->heat);
  backend_choice_release(&j->chosen);
  heat_inputs_release(&j->in);
}

status command_heat(run_context *run) {
  status rc = STATUS_OK;
  heat_job j;
  memset(&j, 0, sizeof j);
  j.run = run;
  timers_start(&j.timers);
  TRY(comm_agree(run->c, heat_inputs_create(run->o, &j.in)));
  TRY(check_files(&j));
  TRY(heat_open_saving(&j));
  TRY(open_backend(&j));
  TRY(heat_functions_create(&j));
  TRY(heat_files_open(&j));
  TRY(run_stop_early(run, j.saving, "making the functions"));
  TRY(check_memory(&j));
  TRY(heat_open(&j.heat, 0));
  TRY(run_stop_early(run, j.saving, "making the fields"));
  TRY(heat_choose_scheme(&j));
  if (options_flag(run->o, "run.dry_run")) {
    heat_print_plan(&j);
    goto done;
  }
  TRY(heat_outputs_open(&j.outputs, &j.heat, run->o));
  TRY(heat_resume(&j));
  TRY(march(&j));
  TRY(heat_finish_saving(&j));
  TRY(heat_outputs_end(&j.outputs, &j.heat));
  TRY(heat_collect(&j));
  TRY(heat_write(&j));
  rc = comm_agree(run->c, heat_outcome(&j));
done:
  close_job(&j);
  return rc;
}
