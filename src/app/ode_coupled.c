/* halosweep ode of one large coupled system.
 *
 * check outputs -> open the backend -> points, formulas, vectors -> go on from a checkpoint? ->
 * march
 * -> files, report. */
#include "ode_coupled.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "gpu_worth.h"
#include "log.h"
#include "run_files.h"
#include "run_outcome.h"
#include "run_problem.h"

problem_size coupled_size(const coupled_run *r) {
  gidx n, m, points;
  coupled_points(r, &n, &m);
  if (__builtin_mul_overflow(n, m, &points)) points = INT64_MAX;
  return gpu_worth_points(points, 0);
}

static status open_backend(coupled_job *j) {
  status rc = STATUS_OK;
  coupled_run *r = &j->coupled;
  const problem_size size = coupled_size(r);
  TRY(backend_choose(j->run, &size, &j->chosen));
  if (comm_size(j->run->c) > 1) j->chosen.transport.name = "host";
  r->kernels = j->chosen.kernels;
  r->place = j->chosen.place;
  r->world = j->run->c;
  r->with = j->run->compiler;
  r->threads = j->run->threads;
  r->timers = &j->timers;
  r->progress = &j->progress;
done:
  return rc;
}

static status identify(coupled_job *j) {
  const formula *f[] = {j->coupled.functions.rhs, j->coupled.functions.sums};
  char content[64];
  snprintf(content, sizeof content, "functions = %016" PRIx64 "\n",
           run_formulas_hash(f, sizeof f / sizeof *f));
  return run_identify(j->run, j->saving, "ode", content);
}

static status resume(coupled_job *j) {
  status rc = STATUS_OK;
  coupled_run *r = &j->coupled;
  int64_t number = -1;
  TRY(identify(j));
  r->saving = j->saving;
  TRY(comm_agree(j->run->c, coupled_saving_add(r)));
  TRY(coupled_saving_load(r, &number));
  if (number < 0) goto done;
  log_info("going on from step %lld, time %.17g", (long long)r->clock.attempts[0], r->clock.t[0]);
done:
  j->began = r->clock.attempts[0];
  return rc;
}

static status march(coupled_job *j) {
  status rc = STATUS_OK;
  const options *o = j->run->o;
  coupled_run *r = &j->coupled;
  progress_start(&j->progress, options_text(o, "run.progress"), options_flag(o, "run.quiet"),
                 comm_rank(j->run->c) == 0, "step", "t =");
  TRY(coupled_march(r));
  if (r->clock.status[0] != ODE_RUNNING) {
    TRY(checkpointing_finish(j->saving, r->clock.attempts[0]));
  }
done:
  return rc;
}

static status print_plan(const coupled_job *j) {
  const coupled_run *r = &j->coupled;
  const coupled_layout *l = &r->layout;
  if (comm_rank(j->run->c) != 0) return STATUS_OK;
  report_print("would follow %s: %lld x %lld points, %lld components, from t = %g to %g by %s\n",
               r->system->name, (long long)l->n, (long long)l->m, (long long)r->space.global_rows,
               r->plan.t_start, r->plan.t_end, r->method);
  report_print("  backend %s, %d rank%s x %d thread%s\n", j->chosen.kernels->name,
               comm_size(j->run->c), comm_size(j->run->c) == 1 ? "" : "s", j->run->threads,
               j->run->threads == 1 ? "" : "s");
  report_print("dry run: nothing was computed, nothing written\n");
  return STATUS_OK;
}

static void close_job(coupled_job *j) {
  checkpointing_close(&j->saving);
  coupled_close(&j->coupled);
  backend_choice_release(&j->chosen);
  alloc_free(&j->final);
  coupled_inputs_release(j);
}

status ode_coupled(run_context *run) {
  status rc = STATUS_OK;
  coupled_job j;
  memset(&j, 0, sizeof j);
  j.run = run;
  timers_start(&j.timers);
  TRY(run_files_check(run, NULL, 0));
  TRY(comm_agree(run->c, coupled_inputs_create(run->o, &j)));
  TRY(checkpointing_open(run->c, run->o, j.timers.began, &j.saving));
  checkpointing_time(j.saving, &j.timers);
  TRY(open_backend(&j));
  TRY(coupled_open(&j.coupled));
  TRY(run_stop_early(run, j.saving, "making the initial state"));
  if (options_flag(run->o, "run.dry_run")) {
    rc = comm_agree(run->c, print_plan(&j));
    goto done;
  }
  TRY(resume(&j));
  TRY(march(&j));
  TRY(coupled_write(&j));
  rc = comm_agree(run->c, coupled_outcome(&j));
done:
  close_job(&j);
  return rc;
}
