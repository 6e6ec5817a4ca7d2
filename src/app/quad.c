/* halosweep quad: a definite integral with an honest error.
 *
 * check outputs -> open the backend -> make the integrand for it -> the rule -> files, report.
 * Every rank has the whole problem; blocks of samples and regions are what is split. */
#include <math.h>
#include <string.h>

#include "log.h"
#include "quad_job.h"

static status read_integral(quad_job *j) {
  status rc = STATUS_OK;
  quad_integral *f = &j->quad.integral;
  TRY(comm_agree(j->run->c, quad_inputs_create(j->run->o, &j->in)));
  f->dims = j->in.dims;
  memcpy(f->lower, j->in.lower, sizeof f->lower);
  memcpy(f->upper, j->in.upper, sizeof f->upper);
  f->parameters = j->in.value;
done:
  return rc;
}

static status open_backend(quad_job *j) {
  status rc = STATUS_OK;
  comm *c = j->run->c;
  const problem_size size = {0, "evaluations", 1};
  quad_run *q = &j->quad;
  TRY(backend_choose(j->run, &size, &j->chosen));
  q->kernels = j->chosen.kernels;
  q->place = j->chosen.place;
  q->world = c;
  q->timers = &j->timers;
  if (q->kernels->quad == NULL) {
    rc = fail(STATUS_UNAVAILABLE, "quad: backend %s has no quadrature; use --backend omp",
              q->kernels->name);
    goto done;
  }
  TRY(quad_function_create(j));
  rc = q->kernels->quad->create(q->place, q->integral.f, q->integral.dims, &q->work);
  rc = comm_agree(c, rc);
done:
  return rc;
}

/* Results of members are kept where somebody asks for them one by one. */
static status run_sweep(quad_job *j) {
  char text[SWEEP_TEXT];
  quad_sweep *s = &j->members;
  s->swept = &j->in.swept;
  s->fixed_count = j->in.fixed;
  s->keep = options_has(j->run->o, "run.output") || j->in.exact_known ||
            s->swept->grid.members <= QUAD_SHOWN;
  sweep_describe(s->swept, text);
  log_info("sweep: %s", text);
  return quad_sweep_run(&j->quad, j->rule, s);
}

static status integrate(quad_job *j) {
  options *o = j->run->o;
  quad_limits *limits = &j->quad.limits;
  j->rule = quad_rule_find(options_text(o, "quad.rule"));
  if ((j->rule->flags & QUAD_RULE_SAMPLING) && !options_given(o, "quad.rtol")) {
    status rc = options_override(o, "quad.rtol", "1e-4");
    if (rc != STATUS_OK) return rc;
  }
  limits->rtol = options_real(o, "quad.rtol");
  limits->atol = options_real(o, "quad.atol");
  limits->max_evaluations = options_integer(o, "quad.max_evaluations");
  limits->n = options_has(o, "quad.n") ? options_integer(o, "quad.n") : 0;
  limits->panels = 1;
  limits->seed = (uint64_t)options_integer(o, "run.seed");
  timers_switch(&j->timers, PHASE_COMPUTE);
  status rc = quad_is_sweep(j) ? run_sweep(j) : quad_integrate(&j->quad, j->rule);
  timers_switch(&j->timers, PHASE_SETUP);
  return rc;
}

static void close_job(quad_job *j) {
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
  timers_start(&j.timers);
  TRY(run_files_check(run, NULL, 0));
  TRY(read_integral(&j));
  TRY(open_backend(&j));
  TRY(integrate(&j));
  TRY(quad_write(&j));
  rc = comm_agree(run->c, quad_outcome(&j));
done:
  close_job(&j);
  return rc;
}
