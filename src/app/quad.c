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
  const options *o = j->run->o;
  if (options_has(o, "quad.data")) return comm_agree(j->run->c, quad_inputs_exactly(o, &j->in));
  TRY(comm_agree(j->run->c, quad_inputs_create(o, &j->in)));
  f->dims = j->in.dims;
  memcpy(f->lower, j->in.lower, sizeof f->lower);
  memcpy(f->upper, j->in.upper, sizeof f->upper);
  f->parameters = j->in.value;
  f->break_count = options_reals(j->run->o, "quad.breaks", &f->breaks);
done:
  return rc;
}

/* From so many evaluations on `auto` takes a GPU: they are a second's work of 16 cores, and
 * starting a GPU with a kernel to compile takes as long (docs/performance.md). */
static const int64_t GPU_FROM = 4000000000;

/* Evaluations that are known in advance; 0: they are not. */
static int64_t known_evaluations(const quad_job *j) {
  const options *o = j->run->o;
  const char *why;
  double count = 1.0;
  if (!options_has(o, "quad.n") && !options_has(o, "quad.intervals")) return 0;
  const quad_rule *rule = quad_rule_choose(options_text(o, "quad.rule"), j->in.dims, 1, &why);
  const double n = options_has(o, "quad.n") ? (double)options_integer(o, "quad.n")
                                            : (double)options_integer(o, "quad.intervals") + 1.0;
  const double panels = (double)options_integer(o, "quad.panels");
  for (int d = 0; d < j->in.dims; d++) count *= n * panels;
  if (rule->flags & QUAD_RULE_SAMPLING) count = n;
  if (quad_is_sweep(j)) count *= (double)j->in.swept.grid.members;
  return count < 1e18 ? (int64_t)count : INT64_C(1000000000000000000);
}

static status open_backend(quad_job *j) {
  status rc = STATUS_OK;
  comm *c = j->run->c;
  const problem_size size = {known_evaluations(j), "evaluations known in advance", GPU_FROM};
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

static const double USUAL_ATOL = 1e-14;

/* Tolerances nobody gave: a rule's own, and what single precision can be asked for. */
static double usual_rtol(const quad_rule *rule, int single) {
  if (rule->flags & QUAD_RULE_SAMPLING) return 1e-4;
  return single ? 1e-5 : 1e-10;
}

/* What becomes of an unusual number of points. */
static void say_count(const quad_job *j) {
  const int64_t n = j->quad.limits.n;
  if (strcmp(j->rule->name, "simpson") != 0 || n == 0 || n % 2 == 1) return;
  log_warning(n == 2 ? "simpson: n = %lld points make a single interval: a trapezoid"
                     : "simpson: n = %lld points make an odd number of intervals: the last three "
                       "are summed by the 3/8 rule",
              (long long)n);
}

static void take_limits(quad_job *j) {
  const options *o = j->run->o;
  quad_limits *limits = &j->quad.limits;
  limits->single = strcmp(options_text(o, "quad.precision"), "float") == 0;
  limits->rtol = options_has(o, "quad.rtol") ? options_real(o, "quad.rtol")
                                             : usual_rtol(j->rule, limits->single);
  limits->atol = options_has(o, "quad.atol") ? options_real(o, "quad.atol") : USUAL_ATOL;
  limits->max_evaluations = options_integer(o, "quad.max_evaluations");
  limits->n = options_has(o, "quad.n") ? options_integer(o, "quad.n") : 0;
  if (options_has(o, "quad.intervals")) limits->n = options_integer(o, "quad.intervals") + 1;
  limits->panels = options_integer(o, "quad.panels");
  limits->seed = (uint64_t)options_integer(o, "run.seed");
  limits->demanded = limits->n > 0 && (options_has(o, "quad.rtol") || options_has(o, "quad.atol"));
}

static status integrate(quad_job *j) {
  const options *o = j->run->o;
  const int counted = options_has(o, "quad.n") || options_has(o, "quad.intervals");
  j->rule = quad_rule_choose(options_text(o, "quad.rule"), j->in.dims, counted, &j->why);
  take_limits(j);
  say_count(j);
  timers_switch(&j->timers, PHASE_COMPUTE);
  status rc = quad_is_sweep(j) ? run_sweep(j) : quad_integrate(&j->quad, j->rule);
  timers_switch(&j->timers, PHASE_SETUP);
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
  timers_start(&j.timers);
  TRY(run_files_check(run, NULL, 0));
  TRY(read_integral(&j));
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
