/* What a run of `ode` is going to do: method, steps, memory; and --dry-run, which says it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "log.h"
#include "memory.h"
#include "ode_job.h"

static const char *chosen_method(const ode_job *j, const char **why) {
  const ode_system *b = j->in.builtin;
  if (options_has(j->run->o, "ode.noise")) {
    *why = "there is noise";
    return "euler-maruyama";
  }
  if (b != NULL && (b->flags & SYSTEM_STIFF) != 0 && ode_method_find("rodas4") != NULL) {
    *why = "the system is stiff";
    return "rodas4";
  }
  *why = "nothing is known of stiffness: explicit, adaptive";
  return "tsit5";
}

/* Two numbers in the order they are met. */
static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static int descending(const void *a, const void *b) { return ascending(b, a); }

static status take_saves(const options *o, ode_plan *plan, double **save_at) {
  status rc = STATUS_OK;
  const double *at;
  const int saves = options_reals(o, "ode.save_at", &at);
  TRY(alloc_array(save_at, saves, sizeof **save_at, "saved times"));
  if (saves > 0) memcpy(*save_at, at, (size_t)saves * sizeof *at);
  qsort(*save_at, (size_t)saves, sizeof **save_at,
        plan->t_end < plan->t_start ? descending : ascending);
  for (int i = 1; i < saves; i++) {
    if ((*save_at)[i] != (*save_at)[i - 1]) continue;
    return fail(STATUS_USAGE, "%s: %.17g twice", options_where(o, "ode.save_at"), (*save_at)[i]);
  }
  plan->saves = saves;
done:
  return rc;
}

/* Those of noisy methods are all of one length. */
static status take_noise_steps(const options *o, ode_plan *plan) {
  if (plan->t_end < plan->t_start) {
    return fail(STATUS_USAGE, "%s = %g: found t_start = %g after it; with noise time runs forwards",
                options_where(o, "ode.t_end"), plan->t_end, plan->t_start);
  }
  plan->steps = ode_noise_steps(plan->t_start, plan->t_end, plan->dt);
  if (plan->steps == 0) {
    return fail(
        STATUS_USAGE,
        "%s = %.17g: found %.17g steps from %g to %g; expected a whole number of them, 2^48 "
        "at most: paths of noise have equal steps",
        options_where(o, "ode.dt"), plan->dt, (plan->t_end - plan->t_start) / plan->dt,
        plan->t_start, plan->t_end);
  }
  return STATUS_OK;
}

/* The steps of methods that do not adapt them. */
static status take_steps(const options *o, ode_plan *plan) {
  if (plan->kind == ODE_NOISY) {
    status rc = take_noise_steps(o, plan);
    if (rc != STATUS_OK) return rc;
  } else {
    plan->steps = ode_step_count(plan->t_start, plan->t_end, plan->dt);
  }
  if (plan->steps == 0) {
    return fail(STATUS_USAGE, "%s = %g: that makes more than 2^52 steps from %g to %g",
                options_where(o, "ode.dt"), fabs(plan->dt), plan->t_start, plan->t_end);
  }
  if (fabs(plan->dt) > fabs(plan->t_end - plan->t_start)) {
    log_warning("dt = %g is longer than the whole run: one step of %g", fabs(plan->dt),
                fabs(plan->t_end - plan->t_start));
  }
  if (plan->steps > plan->max_steps) {
    return fail(STATUS_USAGE, "%s = %g makes %lld steps, and max_steps is %lld",
                options_where(o, "ode.dt"), fabs(plan->dt), (long long)plan->steps,
                (long long)plan->max_steps);
  }
  return STATUS_OK;
}

status ode_plan_steps(const options *o, ode_plan *plan, double **save_at) {
  status rc = STATUS_OK;
  plan->t_start = options_real(o, "ode.t_start");
  plan->t_end = options_real(o, "ode.t_end");
  plan->dt_min = options_real(o, "ode.dt_min");
  plan->rtol = options_real(o, "ode.rtol");
  plan->atol = options_real(o, "ode.atol");
  plan->max_steps = options_integer(o, "ode.max_steps");
  if (options_has(o, "ode.dt")) {
    plan->dt = copysign(options_real(o, "ode.dt"), plan->t_end - plan->t_start);
  }
  if (plan->adaptive && plan->rtol == 0.0 && plan->atol == 0.0) {
    return fail(STATUS_USAGE, "ode: rtol and atol are both 0: expected one above");
  }
  if (plan->adaptive && fabs(plan->dt) > fabs(plan->t_end - plan->t_start)) {
    plan->dt = plan->t_end - plan->t_start;
  }
  if (!plan->adaptive) TRY(take_steps(o, plan));
  rc = take_saves(o, plan, save_at);
done:
  return rc;
}

double ode_expected_steps(const ode_job *j) {
  const double each = j->e.plan.adaptive ? 100.0 : (double)j->e.plan.steps;
  return each * (double)j->in.trajectories;
}

status ode_choose(ode_job *j) {
  status rc = STATUS_OK;
  options *o = j->run->o;
  ode_plan *plan = &j->e.plan;
  const char *name = options_text(o, "ode.method");
  if (strcmp(name, "auto") == 0) name = chosen_method(j, &j->why);
  j->method = ode_method_find(name);
  if (j->method == NULL) return fail(STATUS_BUG, "no method %s", name);
  if (options_has(o, "ode.jacobian") && (j->method->flags & METHOD_STIFF) == 0) {
    return fail(STATUS_USAGE,
                "%s: %s makes no use of it; expected method = rodas4 or another "
                "implicit one",
                options_where(o, "ode.jacobian"), j->method->name);
  }
  /* naming it is the same problem to a checkpoint */
  TRY(options_override(o, "ode.method", j->method->name));
  plan->kind = (int32_t)j->method->kind;
  plan->variant = j->method->variant;
  plan->adaptive = (j->method->flags & METHOD_FIXED) == 0;
  plan->order = j->method->error_order;
  plan->components = j->in.components;
  plan->shared = j->in.shared;
  plan->parameters = j->in.own;
  plan->has_event = options_has(o, "ode.event");
  plan->stratonovich = strcmp(options_text(o, "ode.interpretation"), "stratonovich") == 0;
  plan->antithetic = options_flag(o, "ode.antithetic");
  plan->seed = j->in.seed;
  TRY(ode_plan_steps(o, plan, &j->save_at));
  if ((j->method->flags & METHOD_SPLIT) != 0 && plan->components % 2 != 0) {
    return fail(STATUS_USAGE, "%s = %s: %d components; expected positions, then as many velocities",
                options_where(o, "ode.method"), j->method->name, plan->components);
  }
done:
  return rc;
}

status ode_check_memory(const ode_job *j) {
  const double mine = (double)j->in.trajectories / (double)comm_size(j->run->c);
  return memory_check(j->run->c, 1.1 * mine * ode_row_bytes(&j->e.plan), "the ensemble");
}

status ode_print_plan(const ode_job *j) {
  const ode_plan *plan = &j->e.plan;
  const int ranks = comm_size(j->run->c), threads = j->run->threads;
  char members[SWEEP_TEXT];
  if (comm_rank(j->run->c) != 0) return STATUS_OK;
  report_print("would follow %lld trajector%s of %s (%d component%s) from t = %g to %g by %s%s%s\n",
               (long long)j->in.trajectories, j->in.trajectories == 1 ? "y" : "ies",
               j->in.builtin != NULL ? j->in.builtin->name
               : j->in.file != NULL  ? j->in.file
                                     : "[equations]",
               plan->components, plan->components == 1 ? "" : "s", plan->t_start, plan->t_end,
               j->method->name, j->why != NULL ? ": " : "", j->why != NULL ? j->why : "");
  if (j->in.swept.grid.axes > 0) {
    sweep_describe(&j->in.swept, members);
    report_print("  sweep %s, %lld trajector%s each\n", members, (long long)j->in.replicates,
                 j->in.replicates == 1 ? "y" : "ies");
  }
  if (!plan->adaptive) report_print("  %lld steps each\n", (long long)plan->steps);
  report_print("  backend %s, %d rank%s x %d thread%s\n", j->chosen.kernels->name, ranks,
               ranks == 1 ? "" : "s", threads, threads == 1 ? "" : "s");
  report_print("dry run: nothing was computed, nothing written\n");
  return STATUS_OK;
}
