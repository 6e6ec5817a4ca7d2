/* What a run of `quad` is going to do: rule, limits, memory; and --dry-run, which says it. */
#include <stdio.h>
#include <string.h>

#include "fixed_grid.h"
#include "log.h"
#include "memory.h"
#include "quad_job.h"

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

status quad_choose(quad_job *j) {
  status rc = STATUS_OK;
  options *o = j->run->o;
  const int counted = options_has(o, "quad.n") || options_has(o, "quad.intervals");
  if (options_has(o, "quad.data")) return STATUS_OK;
  j->rule = quad_rule_choose(options_text(o, "quad.rule"), j->in.dims, counted, &j->why);
  /* what was chosen where nothing was said: naming it is the same problem to a checkpoint */
  TRY(options_override(o, "quad.rule", j->rule->name));
  take_limits(j);
  say_count(j);
  if (!quad_is_sweep(j)) goto done;
  j->members.swept = &j->in.swept;
  j->members.fixed_count = j->in.fixed;
  /* results of members are kept where somebody asks for them one by one */
  j->members.keep = options_has(o, "run.output") || options_has(o, "checkpoint.file") ||
                    options_has(o, "checkpoint.restart") || j->in.exact_known ||
                    j->in.swept.grid.members <= QUAD_SHOWN;
done:
  return rc;
}

status quad_check_memory(const quad_job *j) {
  const quad_sweep *s = &j->members;
  char text[SWEEP_TEXT];
  if (!quad_is_sweep(j) || !s->keep) return STATUS_OK;
  const double column = options_has(j->run->o, "run.output") ? sizeof(double) : 0.0;
  const double each = QUAD_MEMBER_BYTES + column;
  sweep_describe(s->swept, text);
  return memory_check(j->run->c,
                      each * (double)s->swept->grid.members / (double)comm_size(j->run->c), text);
}

static void print_points(const quad_job *j, int64_t points) {
  const quad_limits *limits = &j->quad.limits;
  if (quad_is_sweep(j)) {
    char text[SWEEP_TEXT];
    sweep_describe(j->members.swept, text);
    report_print("  sweep %s\n", text);
  }
  if (limits->n > 0) {
    report_print("  %lld points%s\n", (long long)points, quad_is_sweep(j) ? " a member" : "");
  } else {
    report_print("  until the error is at most %g |value| or %g, in at most %lld evaluations\n",
                 limits->rtol, limits->atol, (long long)limits->max_evaluations);
  }
}

status quad_print_plan(const quad_job *j) {
  status rc = STATUS_OK;
  const quad_run *q = &j->quad;
  const int ranks = comm_size(j->run->c), threads = j->run->threads;
  int64_t points = q->limits.n;
  if (q->limits.n > 0 && (j->rule->flags & QUAD_RULE_FIXED) != 0) {
    TRY(fixed_grid_count(q, j->rule, &points));
  }
  if (comm_rank(j->run->c) != 0) goto done;
  if (options_has(j->run->o, "quad.data")) {
    report_print("would sum %lld samples by %s\n", (long long)q->evaluations, j->rule->name);
  } else {
    report_print("would integrate %s by %s in %d direction%s%s%s\n", j->in.text, j->rule->name,
                 q->integral.dims, q->integral.dims == 1 ? "" : "s", j->why != NULL ? ": " : "",
                 j->why != NULL ? j->why : "");
    print_points(j, points);
  }
  report_print("  backend %s, %d rank%s x %d thread%s\n", q->kernels->name, ranks,
               ranks == 1 ? "" : "s", threads, threads == 1 ? "" : "s");
  report_print("dry run: nothing was computed, nothing written\n");
done:
  return rc;
}
