/* Which scheme, and which dt: functions of the problem, the end time and the tolerance, the same on
 * every machine (docs/numerics.md). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "elementary.h"
#include "heat_job.h"
#include "implicit.h"
#include "log.h"
#include "numbers.h"

static const double SAFETY = 0.9;             /* of the largest stable dt */
static const double ROUNDING = 1.0 + 0x1p-48; /* a limit is met but for that */
/* rkl2 without an end time takes a step that so many stages are stable for; and the most there are.
 */
enum { LONG_STAGES = 10, MOST_STAGES = 10000 };

/* A step of tr-bdf2 costs about as much as so many explicit stages. */
enum { IMPLICIT_STAGES = 200 };
/* The most steps that backward-euler makes by itself. */
static const double MOST_STEPS = 1000.0;
/* The first step of tr-bdf2, over the end time and the cube root of rtol: it finds its own. */
static const double FIRST = 0.1;

/* Steps to the end: an error of first order falls with them, one of second with their square. */
static double steps_for(const heat_scheme *scheme, double rtol) {
  return scheme->order == 1 ? fmin(ceil(1.0 / rtol), MOST_STEPS) : ceil(1.0 / sqrt(rtol));
}

static int adapts(const heat_scheme *scheme) { return strcmp(scheme->name, "tr-bdf2") == 0; }

/* dt where none is given. */
static double auto_dt(const heat_job *j, const heat_scheme *scheme) {
  const heat_run *run = &j->heat;
  const double single = SAFETY * scheme->limit(0) / run->lambda;
  if (run->lambda == 0.0) return isnan(run->t_end) || run->t_end == 0.0 ? 1.0 : run->t_end;
  if (isfinite(scheme->limit(0))) return single;
  if (isnan(run->t_end)) {
    return SAFETY * heat_scheme_find("rkl2")->limit(LONG_STAGES) / run->lambda;
  }
  const double rtol = options_real(j->run->o, "heat.rtol");
  const double by_accuracy = run->t_end / steps_for(scheme, rtol);
  if (adapts(scheme)) return run->t_end * FIRST * elementary_cbrt(rtol);
  if (scheme->implicit) return by_accuracy;
  return fmax(by_accuracy, SAFETY * scheme->limit(2) / run->lambda);
}

static double stages_to_end(const heat_job *j, const heat_scheme *scheme, double dt) {
  return ceil(j->heat.t_end / dt) * scheme->stages(dt * j->heat.lambda);
}

/* scheme = auto. A given dt decides by itself; without an end time there is nothing to save. */
static const heat_scheme *choose(heat_job *j, double dt) {
  const heat_run *run = &j->heat;
  const heat_scheme *ftcs = heat_scheme_find("ftcs"), *rkl2 = heat_scheme_find("rkl2");
  const heat_scheme *implicit = heat_scheme_find("tr-bdf2");
  const double z = dt * run->lambda;
  if (dt > 0.0) {
    const int fits = z <= ftcs->limit(0) * ROUNDING, few = rkl2->stages(z) <= IMPLICIT_STAGES;
    snprintf(j->why, sizeof j->why, "dt lambda_max = %.3g is %s 2, the limit of ftcs%s", z,
             fits ? "at most" : "above",
             fits  ? ""
             : few ? ""
                   : ", and more than 200 stages of rkl2");
    return fits ? ftcs : few ? rkl2 : implicit;
  }
  if (isnan(run->t_end)) {
    snprintf(j->why, sizeof j->why, "a number of steps is given, and no dt");
    return ftcs;
  }
  const double one = stages_to_end(j, ftcs, auto_dt(j, ftcs));
  const double many = stages_to_end(j, rkl2, auto_dt(j, rkl2));
  const double solves = IMPLICIT_STAGES * steps_for(implicit, options_real(j->run->o, "heat.rtol"));
  snprintf(j->why, sizeof j->why,
           "to t_end ftcs needs %.15g stages, rkl2 %.15g, tr-bdf2 the work of %.15g", one, many,
           solves);
  if (solves < one && solves < many) return implicit;
  return many < one ? rkl2 : ftcs;
}

/* dt lambda_max of an implicit step, beyond which its mass is nothing. */
static const double LONGEST = 1e100;

static status check_stable(const heat_job *j) {
  const heat_run *run = &j->heat;
  const double limit = run->scheme->limit(0), longest = run->scheme->limit(MOST_STAGES);
  if (run->scheme->implicit) {
    if (run->scheme->order == 0 || run->dt * run->lambda <= LONGEST) return STATUS_OK;
    return fail(
        STATUS_USAGE,
        "%s: steps of %g leave nothing of what decays (dt lambda_max = %.3g; expected at "
        "most %g); take scheme steady",
        options_where(j->run->o, options_is_word(j->run->o, "heat.dt") ? "heat.t_end" : "heat.dt"),
        run->dt, run->dt * run->lambda, LONGEST);
  }
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

/* What was decided becomes part of the config, and of the problem that checkpoints are of; a dt
 * that changes is part of their state. */
static status note_decisions(heat_job *j) {
  status rc = STATUS_OK;
  char text[NUMBER_TEXT];
  number_print(j->heat.dt, text);
  TRY(options_override(j->run->o, "heat.scheme", j->heat.scheme->name));
  if (!(j->heat.rtol > 0.0)) TRY(options_override(j->run->o, "heat.dt", text));
done:
  return rc;
}

/* How fast the grid lets anything change decides on every step; 0: there is a single point. */
static status check_rate(const heat_job *j) {
  const double least = 1e-290, most = 1e290, lambda = j->heat.lambda;
  if ((lambda >= least && lambda <= most) || (lambda == 0.0 && j->points == 1)) return STATUS_OK;
  return fail(STATUS_USAGE,
              "%s and %s: the fastest decay on this grid has a rate of %.3g per s; expected %.3g "
              "to %.3g",
              options_where(j->run->o, "heat.alpha"), options_where(j->run->o, "heat.length"),
              lambda, least, most);
}

static status decide(heat_job *j) {
  status rc = STATUS_OK;
  heat_run *run = &j->heat;
  const options *o = j->run->o;
  const int given = !options_is_word(o, "heat.dt");
  const char *name = options_text(o, "heat.scheme");
  const heat_scheme *scheme = heat_scheme_find(name);
  TRY(check_rate(j));
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
  run->solver_rtol = options_real(o, "heat.solver_rtol");
  run->atol = options_real(o, "heat.atol");
  run->rtol = !given && adapts(scheme) ? options_real(o, "heat.rtol") : 0.0;
  if (!given) run->dt = auto_dt(j, scheme);
  if (scheme->order == 0) { /* one step, to the end time */
    run->dt = run->t_end > 0.0 ? run->t_end : 1.0;
    run->t_end = isnan(run->t_end) ? 0.0 : run->t_end;
    run->last = 1;
  }
  TRY(check_stable(j));
  TRY(check_steps(j));
  TRY(note_decisions(j));
  if (scheme->order > 0) heat_plan_steps(run);
done:
  return rc;
}

status heat_choose_scheme(heat_job *j) {
  status rc = STATUS_OK;
  TRY(comm_agree(j->run->c, decide(j)));
  rc = heat_open_scheme(&j->heat, j->heat.scheme);
done:
  return rc;
}

void heat_print_plan(const heat_job *j) {
  const heat_run *run = &j->heat;
  const int ranks = comm_size(j->run->c);
  char bytes[REPORT_BYTES];
  if (comm_rank(j->run->c) != 0) return;
  report_bytes(
      (double)(heat_points(&run->slab) * 8 * (2 + run->scheme->fields + 9 * run->scheme->implicit)),
      bytes);
  report_print("would solve %lld points, %lld steps of %.6g s\n", (long long)j->points,
               (long long)run->last, run->dt);
  report_print("  scheme %s: %s\n", run->scheme->name, j->why);
  report_print("  backend %s, %d rank%s x %d thread%s; rank 0: %lld planes, fields %s\n",
               run->kernels->name, ranks, ranks == 1 ? "" : "s", j->run->threads,
               j->run->threads == 1 ? "" : "s", (long long)run->slab.planes, bytes);
  report_print("dry run: nothing was computed, nothing written\n");
}
