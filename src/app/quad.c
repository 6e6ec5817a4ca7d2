/* halosweep quad: a definite integral with an honest error.
 *
 * check outputs -> make the integrand -> open the backend -> the rule -> files, report. Every rank
 * has the whole problem; blocks of samples and regions are what is split. */
#include <math.h>
#include <string.h>

#include "quad_job.h"

static status make_integrand(quad_job *j) {
  status rc = STATUS_OK;
  options *o = j->run->o;
  const double *lower, *upper;
  const int low = options_reals(o, "quad.lower", &lower);
  const int high = options_reals(o, "quad.upper", &upper);
  quad_integral *f = &j->quad.integral;
  f->dims = options_has(o, "quad.dims") ? (int)options_integer(o, "quad.dims") : low;
  for (int d = 0; d < f->dims; d++) {
    f->lower[d] = lower[low == 1 ? 0 : d];
    f->upper[d] = upper[high == 1 ? 0 : d];
  }
  TRY(quad_function_create(j));
done:
  return rc;
}

static status open_backend(quad_job *j) {
  status rc = STATUS_OK;
  comm *c = j->run->c;
  const device_request request = {
      .threads = j->run->threads, .node_rank = comm_node_rank(c), .first = 0, .total = BLOCK_MAX};
  quad_run *q = &j->quad;
  TRY(backend_choose(j->run, &request, &j->chosen));
  q->kernels = j->chosen.kernels;
  q->place = j->chosen.place;
  q->world = c;
  q->timers = &j->timers;
  if (q->kernels->quad == NULL) {
    rc = fail(STATUS_UNAVAILABLE, "quad: backend %s has no quadrature; use --backend omp",
              q->kernels->name);
    goto done;
  }
  rc = q->kernels->quad->create(q->place, q->integral.f, q->integral.dims, &q->work);
  rc = comm_agree(c, rc);
done:
  return rc;
}

static status integrate(quad_job *j) {
  const options *o = j->run->o;
  quad_limits *limits = &j->quad.limits;
  j->rule = quad_rule_choose(options_text(o, "quad.rule"), j->quad.integral.dims, &j->why);
  limits->rtol = options_real(o, "quad.rtol");
  limits->atol = options_real(o, "quad.atol");
  limits->max_evaluations = options_integer(o, "quad.max_evaluations");
  limits->n = options_has(o, "quad.n") ? options_integer(o, "quad.n") : 0;
  limits->panels = 1;
  timers_switch(&j->timers, PHASE_COMPUTE);
  status rc = quad_integrate(&j->quad, j->rule);
  timers_switch(&j->timers, PHASE_SETUP);
  return rc;
}

static void close_job(quad_job *j) {
  if (j->quad.work != NULL) j->quad.kernels->quad->release(j->quad.place, &j->quad.work);
  backend_choice_release(&j->chosen);
  quad_function_release(j);
}

status command_quad(run_context *run) {
  status rc = STATUS_OK;
  quad_job j;
  memset(&j, 0, sizeof j);
  j.run = run;
  timers_start(&j.timers);
  TRY(run_files_check(run, NULL, 0));
  TRY(make_integrand(&j));
  TRY(open_backend(&j));
  TRY(integrate(&j));
  TRY(quad_write(&j));
  rc = comm_agree(run->c, quad_outcome(&j));
done:
  close_job(&j);
  return rc;
}
