/* halosweep quad: a definite integral with an honest error.
 *
 * check outputs -> choose the rule -> open the backend -> make the integrand for it -> the rule ->
 * files, report.
 * Every rank has the whole problem; blocks of samples and regions are what is split. */
#include <string.h>

#include "gpu_worth.h"
#include "log.h"
#include "quad_job.h"

static status read_integral(quad_job *j) {
  status rc = STATUS_OK;
  quad_integral *f = &j->quad.integral;
  const options *o = j->run->o;
  if (options_has(o, "quad.data")) return comm_agree(j->run->c, quad_inputs_exactly(o, &j->in));
  TRY(comm_agree(j->run->c, quad_inputs_create(o, &j->in)));
  f->dims = j->in.dims;
  memcpy(f->lower, j->in.lower, sizeof f->lower);
  memcpy(f->upper, j->in.upper, sizeof f->upper);
  f->parameters = j->in.value;
  f->settled = quad_inputs_settled;
  f->context = &j->in;
  f->break_count = options_reals(j->run->o, "quad.breaks", &f->breaks);
done:
  return rc;
}

problem_size quad_size(const quad_job *j) {
  const quad_limits *limits = &j->quad.limits;
  double count = 1.0;
  if (limits->n == 0) return gpu_worth_evaluations(0.0);
  for (int d = 0; d < j->in.dims; d++) count *= (double)limits->n * (double)limits->panels;
  if (j->rule->flags & QUAD_RULE_SAMPLING) count = (double)limits->n;
  if (quad_is_sweep(j)) count *= (double)j->in.swept.grid.members;
  return gpu_worth_evaluations(count);
}

static status open_backend(quad_job *j) {
  status rc = STATUS_OK;
  comm *c = j->run->c;
  const problem_size size = quad_size(j);
  quad_run *q = &j->quad;
  TRY(backend_choose(j->run, &size, &j->chosen));
  q->kernels = j->chosen.kernels;
  q->place = j->chosen.place;
  q->world = c;
  q->timers = &j->timers;
  if (options_has(j->run->o, "quad.data")) goto done;
  TRY(quad_function_create(j));
  rc = q->kernels->quad->create(q->place, q->integral.f, q->integral.dims, &q->work);
  rc = comm_agree(c, rc);
done:
  return rc;
}

static status run_sweep(quad_job *j) {
  char text[SWEEP_TEXT];
  sweep_describe(j->members.swept, text);
  log_info("sweep: %s", text);
  return quad_sweep_run(&j->quad, j->rule, &j->members);
}

static status integrate(quad_job *j) {
  timers_switch(&j->timers, PHASE_COMPUTE);
  status rc = quad_is_sweep(j) ? run_sweep(j) : quad_integrate(&j->quad, j->rule);
  timers_switch(&j->timers, PHASE_SETUP);
  if (j->progress.printed > 0) progress_end(&j->progress, j->progress.last, NAN);
  return rc;
}

static void close_job(quad_job *j) {
  quad_close_saving(j);
  if (j->quad.work != NULL) j->quad.kernels->quad->release(j->quad.place, &j->quad.work);
  backend_choice_release(&j->chosen);
  quad_function_release(j);
  quad_sweep_release(&j->members);
  quad_inputs_release(&j->in);
}

status command_quad(run_context *run) {
  status rc = STATUS_OK;
  quad_job j;
  memset(&j, 0, sizeof j);
  j.run = run;
  const int data = options_has(run->o, "quad.data");
  timers_start(&j.timers);
  TRY(run_files_check(run, NULL, 0));
  TRY(read_integral(&j));
  TRY(comm_agree(run->c, quad_choose(&j)));
  TRY(open_backend(&j));
  if (data) TRY(quad_sum_data(&j));
  TRY(comm_agree(run->c, quad_check_memory(&j)));
  if (options_flag(run->o, "run.dry_run")) {
    rc = comm_agree(run->c, quad_print_plan(&j));
    goto done;
  }
  TRY(quad_open_saving(&j));
  if (!data) TRY(integrate(&j));
  TRY(quad_write(&j));
  rc = comm_agree(run->c, quad_outcome(&j));
done:
  close_job(&j);
  return rc;
}
