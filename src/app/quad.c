/* halosweep quad: a definite integral with an honest error.
 *
 * check outputs -> make the integrand -> open the backend -> the rule -> files, report. Every rank
 * has the whole problem; blocks of samples and regions are what is split. */
#include <math.h>
#include <string.h>

#include "log.h"
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
  f->break_count = options_reals(o, "quad.breaks", &f->breaks);
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
  if (q->integral.f == NULL) goto done; /* data */
  rc = q->kernels->quad->create(q->place, q->integral.f, q->integral.dims, &q->work);
  rc = comm_agree(c, rc);
done:
  return rc;
}

/* What single precision can be asked for. */
static const double SINGLE_RTOL = 1e-5;

/* What becomes of an unusual number of points. */
static void say_count(const quad_job *j) {
  const int64_t n = j->quad.limits.n;
  if (strcmp(j->rule->name, "simpson") != 0 || n == 0 || n % 2 == 1) return;
  log_warning(n == 2 ? "simpson: n = %lld points make a single interval: a trapezoid"
                     : "simpson: n = %lld points make an odd number of intervals: the last three "
                       "are summed by the 3/8 rule",
              (long long)n);
}

static status integrate(quad_job *j) {
  const options *o = j->run->o;
  quad_limits *limits = &j->quad.limits;
  j->rule = quad_rule_find(options_text(o, "quad.rule"));
  limits->rtol = options_real(o, "quad.rtol");
  limits->atol = options_real(o, "quad.atol");
  limits->max_evaluations = options_integer(o, "quad.max_evaluations");
  limits->n = options_has(o, "quad.n") ? options_integer(o, "quad.n") : 0;
  if (options_has(o, "quad.intervals")) limits->n = options_integer(o, "quad.intervals") + 1;
  limits->panels = options_integer(o, "quad.panels");
  limits->single = strcmp(options_text(o, "quad.precision"), "float") == 0;
  limits->demanded =
      limits->n > 0 && (options_given(o, "quad.rtol") || options_given(o, "quad.atol"));
  if (limits->single && !options_given(o, "quad.rtol")) limits->rtol = SINGLE_RTOL;
  say_count(j);
  timers_switch(&j->timers, PHASE_COMPUTE);
  status rc = quad_integrate(&j->quad, j->rule);
  timers_switch(&j->timers, PHASE_SETUP);
  return rc;
}

static void close_job(quad_job *j) {
  quad_close_saving(j);
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
  if (!options_has(run->o, "quad.data")) TRY(make_integrand(&j));
  TRY(open_backend(&j));
  TRY(quad_open_saving(&j));
  if (options_has(run->o, "quad.data"))
    TRY(quad_sum_data(&j));
  else
    TRY(integrate(&j));
  TRY(quad_write(&j));
  rc = comm_agree(run->c, quad_outcome(&j));
done:
  close_job(&j);
  return rc;
}
