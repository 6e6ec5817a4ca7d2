/* Which scheme, and which dt: functions of the problem, the end time and the tolerance, the same on
 * every machine (docs/numerics.md). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "heat_job.h"
#include "log.h"
#include "numbers.h"

static const double SAFETY = 0.9;             /* of the largest stable dt */
static const double ROUNDING = 1.0 + 0x1p-48; /* a limit is met but for that */
/* rkl2 without an end time takes a step that so many stages are stable for; and the most there are.
 */
enum { LONG_STAGES = 10, MOST_STAGES = 10000 };

/* Steps that rkl2 makes to the end: its error falls with their square. */
static double steps_for(double rtol) { return ceil(1.0 / sqrt(rtol)); }

/* dt where none is given. */
static double auto_dt(const heat_job *j, const heat_scheme *scheme) {
  const heat_run *run = &j->heat;
  const double single = SAFETY * scheme->limit(0) / run->lambda;
  if (run->lambda == 0.0) return isnan(run->t_end) || run->t_end == 0.0 ? 1.0 : run->t_end;
  if (isfinite(scheme->limit(0))) return single;
  if (isnan(run->t_end)) return SAFETY * scheme->limit(LONG_STAGES) / run->lambda;
  const double by_accuracy = run->t_end / steps_for(options_real(j->run->o, "heat.rtol"));
  return fmax(by_accuracy, SAFETY * scheme->limit(2) / run->lambda);
}

static double stages_to_end(const heat_job *j, const heat_scheme *scheme, double dt) {
  return ceil(j->heat.t_end / dt) * scheme->stages(dt * j->heat.lambda);
}

/* scheme = auto. A given dt decides by itself; without an end time there is nothing to save. */
static const heat_scheme *choose(heat_job *j, double dt) {
  const heat_run *run = &j->heat;
  const heat_scheme *ftcs = heat_scheme_find("ftcs"), *rkl2 = heat_scheme_find("rkl2");
  const double z = dt * run->lambda;
  if (dt > 0.0) {
    const int fits = z <= ftcs->limit(0) * ROUNDING;
    snprintf(j->why, sizeof j->why, "dt lambda_max = %.3g is %s 2, the limit of ftcs", z,
             fits ? "at most" : "above");
    return fits ? ftcs : rkl2;
  }
  if (isnan(run->t_end)) {
    snprintf(j->why, sizeof j->why, "a number of steps is given, and no dt");
    return ftcs;
  }
  const double one = stages_to_end(j, ftcs, auto_dt(j, ftcs));
  const double many = stages_to_end(j, rkl2, auto_dt(j, rkl2));
  snprintf(j->why, sizeof j->why, "to t_end ftcs needs %.0f stages, rkl2 %.0f", one, many);
  return many < one ? rkl2 : ftcs;
}

static status check_stable(const heat_job *j) {
  const heat_run *run = &j->heat;
  const double limit = run->scheme->limit(0), longest = run->scheme->limit(MOST_STAGES);
  if (!isfinite(limit) && run->dt * run->lambda > longest) {
    return fail(STATUS_USAGE,
                "%s = %.17g would take a step of more than %d stages; expected at "
                "most %.17g",
                options_where(j->run->o, "heat.dt"), run->dt, MOST_STAGES, longest / run->lambda);
  }
  if (run->dt * run->lambda <= limit * ROUNDING) return STATUS_OK;
  return fail(STATUS_USAGE,
              "%s = %.17g is unstable with scheme %s: the largest stable dt is %.17g (dt "
              "lambda_max <= %g, lambda_max = %.6g per s); rkl2 takes any",
              options_where(j->run->o, "heat.dt"), run->dt, run->scheme->name, limit / run->lambda,
              limit, run->lambda);
}

static status check_steps(const heat_job *j) {
  const heat_run *run = &j->heat;
  if (isnan(run->t_end) || run->t_end / run->dt <= OPTION_COUNT_MAX) return STATUS_OK;
  return fail(STATUS_USAGE, "%s = %.17g takes %.3g steps of %.17g; expected at most %.3g",
              options_where(j->run->o, "heat.t_end"), run->t_end, run->t_end / run->dt, run->dt,
              OPTION_COUNT_MAX);
}

/* What was decided becomes part of the config, and of the problem that checkpoints are of. */
static status note_decisions(heat_job *j) {
  status rc = STATUS_OK;
  char text[NUMBER_TEXT];
  number_print(j->heat.dt, text);
  TRY(options_override(j->run->o, "heat.scheme", j->heat.scheme->name));
  TRY(options_override(j->run->o, "heat.dt", text));
done:
  return rc;
}

static status decide(heat_job *j) {
  status rc = STATUS_OK;
  heat_run *run = &j->heat;
  const options *o = j->run->o;
  const int given = !options_is_word(o, "heat.dt");
  const char *name = options_text(o, "heat.scheme");
  const heat_scheme *scheme = heat_scheme_find(name);
  run->dt = given ? options_real(o, "heat.dt") : 0.0;
  run->t_end = options_has(o, "heat.t_end") ? options_real(o, "heat.t_end") : NAN;
  run->last = options_has(o, "heat.steps") ? options_integer(o, "heat.steps") : 0;
  if (scheme == NULL) {
    scheme = choose(j, run->dt);
    log_info("scheme %s: %s", scheme->name, j->why);
  } else {
    snprintf(j->why, sizeof j->why, "as asked");
  }
  run->scheme = scheme;
  if (!given) run->dt = auto_dt(j, scheme);
  TRY(check_stable(j));
  TRY(check_steps(j));
  TRY(note_decisions(j));
  TRY(heat_open_scheme(run, scheme));
  heat_plan_steps(run);
done:
  return rc;
}

status heat_choose_scheme(heat_job *j) { return comm_agree(j->run->c, decide(j)); }

void heat_print_plan(const heat_job *j) {
  const heat_run *run = &j->heat;
  const int ranks = comm_size(j->run->c);
  char bytes[REPORT_BYTES];
  if (comm_rank(j->run->c) != 0) return;
  report_bytes((double)(heat_points(&run->slab) * 8 * (2 + run->scheme->fields)), bytes);
  report_print("would solve %lld points, %lld steps of %.6g s\n", (long long)j->points,
               (long long)run->last, run->dt);
  report_print("  scheme %s: %s\n", run->scheme->name, j->why);
  report_print("  backend %s, %d rank%s x %d thread%s; rank 0: %lld planes, fields %s\n",
               run->kernels->name, ranks, ranks == 1 ? "" : "s", j->run->threads,
               j->run->threads == 1 ? "" : "s", (long long)run->slab.planes, bytes);
  report_print("dry run: nothing was computed, nothing written\n");
}
